"""Rules for `pandas`, whose series and frames are Python around compiled blocks."""
