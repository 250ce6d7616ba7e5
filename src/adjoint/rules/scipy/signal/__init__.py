"""The rules of `scipy.signal` by topic; imported on the first call into it."""
