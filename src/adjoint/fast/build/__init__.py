"""From a function and its arguments to a program."""
