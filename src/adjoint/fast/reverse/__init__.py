"""The reverse sweep of programs.

A function is differentiated by its rule, or by a `formula`: `formulas` is their table, and the
files of a subject (`linear_functions`, `elementwise`, `rows`, `number_arrays`) register them.
"""
