"""Functions that move, choose or create elements."""
