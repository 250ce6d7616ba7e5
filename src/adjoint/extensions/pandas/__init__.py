"""Rules of `pandas`: a series is Python around a block of C."""
