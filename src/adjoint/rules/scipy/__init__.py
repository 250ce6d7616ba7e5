"""Rules for SciPy, a module or a folder per package, imported on the first call into the package.

The other modules are formulas that several of these share.
"""
