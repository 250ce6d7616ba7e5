"""Writes to what a function is given, and to arrays that a loop carries."""
