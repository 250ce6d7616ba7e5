"""Rules for packages beyond Python, NumPy and SciPy, loaded on the first call into a package."""
