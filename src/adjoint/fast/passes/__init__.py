"""Passes over single-assignment functions that preserve their meaning; `optimise` orders them."""
