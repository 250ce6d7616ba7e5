"""Operators for lower layers, such as rules that differentiate a function among their arguments.

The operators are built on these layers, which cannot import them. They call them by the names of
this module, which the operators assign when they are imported.
"""

from __future__ import annotations

from typing import Any

gradient: Any
withgradient: Any
ValueAndGradient: Any
grad: Any
value_and_grad: Any
pullback: Any
pushforward: Any
pushforward_on_level: Any
derivative: Any
elementwise_derivative: Any
"""See `adjoint.derivatives.elementwise`."""
hvp: Any
gradient_and_hvp: Any
jacobian: Any
jacobian_forward: Any
hessian: Any
vmap: Any
code_of_mapped: Any
"""The code of the functions that `vmap` returns."""
pushed: Any
"""See `adjoint.fast.programs.tangents.pushed`."""
has_program: Any
"""See `adjoint.fast.programs.tangents.has_program`."""
