"""The partial evaluator: runs a function on abstract arguments, and writes a program.

`evaluator` has what all files share, `partial_evaluator` is at the top. A `handler`
(`handlers.table`) states what a builtin or a library function means in programs; `handlers` holds
them by subject. Calls without a handler or a rule are not covered.
"""
