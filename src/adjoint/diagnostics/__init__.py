"""The user's place in the source, tracebacks, refusals, NumPy's warnings."""
