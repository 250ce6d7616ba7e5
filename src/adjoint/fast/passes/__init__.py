"""Passes over single-assignment functions, which preserve their meaning."""
