"""The partial evaluator: runs a function on abstract arguments, and writes a program."""
