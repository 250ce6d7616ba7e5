"""What the derivative of one function is, by library and topic; `registry` is the table of them.

The rules of a library are imported on the first call into it.
"""

from adjoint.rules.registry import library

library("_operator", "adjoint.rules.operators")
library("builtins", "adjoint.rules.builtins")
library("cmath", "adjoint.rules.cmath")
library("math", "adjoint.rules.math")
library("numpy", "adjoint.rules.numpy")
