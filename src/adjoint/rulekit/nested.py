"""Operators for rules that differentiate a function that they are given.

The operators stand on the rules, so a rule cannot import them. It calls them by the names of this
module, which they assign when they are imported.
"""

from __future__ import annotations

from typing import Any

gradient: Any
pullback: Any
jacobian: Any
jacobian_forward: Any
hessian: Any
