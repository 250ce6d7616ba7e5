"""Rules for packages beyond Python, NumPy and SciPy: a file or a folder for each.

They are imported on the first call into the package, which has a line in `adjoint.rules`.
"""
