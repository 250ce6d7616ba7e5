"""The partial evaluator: runs a function on abstract arguments, and writes a program.

What a builtin or a library function means in programs is said by its `handler` (`calls`), in the
file of its subject; calls without a handler or a rule are not covered.
"""
