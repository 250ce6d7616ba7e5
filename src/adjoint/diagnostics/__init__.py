"""Places in user code, tracebacks, refusals, NumPy's warnings."""
