"""Shadows, the log of writes, and saved states of what can be changed."""
