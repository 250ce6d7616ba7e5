"""Shadows, the log of writes, and saved states of mutable things."""
