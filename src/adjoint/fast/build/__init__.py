"""Construction of a program from a function and its arguments."""
