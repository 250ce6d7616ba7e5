"""Rules for SciPy, one module per package; each is imported on the first call into its package."""
