"""Passes over functions in single assignment: each takes a function and gives a smaller or faster
one with the same meaning."""
