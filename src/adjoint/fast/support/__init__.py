"""Functions that the source of programs calls."""
