"""Recomputation of values in the reverse sweep."""
