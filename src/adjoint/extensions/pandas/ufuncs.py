"""Ufuncs of series and frames, which C hands to their operators."""

from __future__ import annotations

from typing import Any

from adjoint.rulekit.registry import substitute


def register(ops_dispatch: Any) -> None:
    """Register the rules of a module of pandas."""
    reflected = dict(ops_dispatch.REVERSED_NAMES)
    names, unary = dict(ops_dispatch.UFUNC_ALIASES), frozenset(ops_dispatch.UNARY_UFUNCS)
    taken = frozenset(ops_dispatch.DISPATCHED_UFUNCS)

    @substitute(ops_dispatch.maybe_dispatch_ufunc_to_dunder_op)
    def dispatch(self, ufunc, method, *inputs, **kwargs):
        name = names.get(ufunc.__name__, ufunc.__name__)
        if kwargs or ufunc.nin > 2 or method != "__call__" or name not in taken:
            return NotImplemented
        if inputs[0] is self:
            special = getattr(self, f"__{name}__", None)
            if special is None:
                return NotImplemented
            return special() if name in unary else special(inputs[1])
        if inputs[1] is self:
            special = getattr(self, reflected.get(name, f"__r{name}__"), None)
            return NotImplemented if special is None else special(inputs[0])
        return NotImplemented
