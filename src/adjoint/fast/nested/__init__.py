"""Operators that a program calls: the derivative of an inner function becomes part of the program.

The operators are the names in `adjoint.rulekit.nested`, which the public interface assigns.
"""
