"""Operators for rules that differentiate a function among their arguments.

The operators are built on the rules, so a rule cannot import them. It calls them by the names of
this module, which the operators assign when they are imported.
"""

from __future__ import annotations

from typing import Any

gradient: Any
pullback: Any
jacobian: Any
jacobian_forward: Any
hessian: Any
