"""What the derivative of one function is, by library and topic; `registry` is the table of them.

The rules of a library are imported on the first call into it.
"""

from adjoint.rules.registry import library

library("_bisect", "adjoint.rules.bisect")
library("_collections", "adjoint.rules.builtins")
library("_contextvars", "adjoint.rules.opaque")
library("_functools", "adjoint.rules.functools")
library("_heapq", "adjoint.rules.heapq")
library("_operator", "adjoint.rules.operators")
library("_statistics", "adjoint.rules.statistics")
library("_thread", "adjoint.rules.opaque")
library("bisect", "adjoint.rules.bisect")
library("builtins", "adjoint.rules.builtins")
library("cmath", "adjoint.rules.cmath")
library("collections", "adjoint.rules.builtins")
library("contextvars", "adjoint.rules.opaque")
library("copy", "adjoint.rules.copy")
library("dataclasses", "adjoint.rules.classes")
library("functools", "adjoint.rules.functools")
library("heapq", "adjoint.rules.heapq")
library("itertools", "adjoint.rules.itertools")
library("math", "adjoint.rules.math")
library("numpy", "adjoint.rules.numpy")
library("numpy.fft", "adjoint.rules.numpy.fft")
library("numpy.linalg", "adjoint.rules.numpy.linalg")
library("operator", "adjoint.rules.operators")
library("scipy.spatial", "adjoint.rules.scipy.distance")
library("scipy.linalg", "adjoint.rules.scipy.linalg")
library("scipy.special", "adjoint.rules.scipy.special")
library("statistics", "adjoint.rules.statistics")
library("sys", "adjoint.rules.frames")
library("threading", "adjoint.rules.opaque")
library("types", "adjoint.rules.builtins")
library("typing", "adjoint.rules.typing")
