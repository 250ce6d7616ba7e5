"""The rules of SciPy by its packages; each is imported on the first call into its package."""
