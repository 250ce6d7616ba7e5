"""Python's operators, ufuncs and comparisons."""
