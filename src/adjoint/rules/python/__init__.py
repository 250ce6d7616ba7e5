"""Rules of Python's standard library."""
