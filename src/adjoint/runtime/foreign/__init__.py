"""Runs of code that is not differentiated, and what they may change."""
