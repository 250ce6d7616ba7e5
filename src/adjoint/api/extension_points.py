"""The public extension points: they check their arguments, and hide frames of the library."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from types import FunctionType, GetSetDescriptorType, MemberDescriptorType
from typing import Any, TypeVar, cast

import numpy as np

from adjoint.api.rule_pullback import RulePullback
from adjoint.diagnostics.public_function import public
from adjoint.errors import ArgumentError
from adjoint.fast.programs.store import forget
from adjoint.rulekit import registry
from adjoint.runtime.foreign.entry_monitor import vouch_for

F = TypeVar("F", bound=Callable[..., Any])


def _described_as(own: Callable[..., Any]) -> Callable[[F], F]:
    """Apply `functools.wraps`, keeping the function's own parameters for type checkers."""

    def described(function: F) -> F:
        return cast(F, functools.wraps(own)(function))

    return described


def _check(keys: tuple[Any, ...]) -> None:
    for key in keys:
        if isinstance(key, tuple):
            fits = len(key) == 2 and isinstance(key[0], type) and isinstance(key[1], str)
            if fits and not hasattr(*key):
                raise ArgumentError(
                    f"{key[0].__name__!r} has no method {key[1]!r}",
                    hint="give the type that has it, and its name",
                )
        else:
            fits = callable(key) or isinstance(key, GetSetDescriptorType | MemberDescriptorType)
        if fits and _is_operator(key):
            raise ArgumentError(
                f"{key!r} is Python's own, and has the derivative that it has",
                hint="write a function that calculates it, and its rule; or the special method of"
                " a class, and the rule of that",
            )
        if not fits:
            raise ArgumentError(
                f"rules are of functions, not of {key!r}",
                hint="give a function, or (type, name) for a method of a builtin type",
            )


def _is_operator(key: Any) -> bool:
    """Return whether a key is an operator of numbers or containers, not called by its name."""
    if key is pow or key is divmod:
        return True
    named = registry.key_of(key)
    if isinstance(named, tuple):
        kind, name = named
        return kind in _BUILTIN and name in _SPECIAL
    return getattr(key, "__module__", None) == "_operator"


_BUILTIN = frozenset(
    {float, int, complex, np.generic, np.float64, np.ndarray, list, tuple, dict, str}
)
_SPECIAL = frozenset(vars(operator)) | {f"__r{name[2:]}" for name in vars(operator)}
"""The names of operators and their special methods."""


def _load_rules_of(keys: tuple[Any, ...]) -> None:
    """Load the rules of the library first, which would otherwise replace the user's later."""
    for key in keys:
        registry.lookup(key)


def prepared(*keys: Any) -> None:
    """Check functions that are about to get rules, and load the rules that they have."""
    _check(keys)
    _load_rules_of(keys)


def registered() -> None:
    """Forget specialised programs, which contain the rules of their time."""
    forget()


class Extension:
    """`rrule` and `frule`: called, they apply the registered rule; ``.register`` adds one."""

    def __init__(self, own: Any, name: str) -> None:
        self._own, self._name = own, name
        self.__doc__ = type(own).__doc__

    def __repr__(self) -> str:
        return f"<adjoint.{self._name}>"

    def __reduce__(self) -> str:
        return self._name  # of this module

    @public
    def __call__(self, f: Any, *args: Any, **kwargs: Any) -> Any:
        """Apply the rule of `f`.

        Returns
        -------
        tuple or None
            ``(y, back)``, or ``(y, y_dot)`` for a forward rule, whose first argument are the
            tangents; ``None`` where no rule is registered for `f` with such arguments.
        """
        found = self._own(f, *args, **kwargs)
        if found is None or self._own is not registry.rrule:
            return found
        y, back = found
        return y, RulePullback(back, getattr(f, "__name__", None) or type(f).__name__)

    @public
    @_described_as(registry.rrule.register)
    def register(self, *keys: Any, **options: Any) -> Callable[[F], F]:
        prepared(*keys)
        add = self._own.register(*keys, **options)

        @public
        def add_rule(function: F) -> F:
            if not callable(function):
                raise ArgumentError(
                    f"a rule is a function, not {function!r}",
                    hint="write @ad.rrule.register(f) above a function with the arguments of f",
                )
            add(function)
            registered()
            return function

        return add_rule


rrule: Extension = Extension(registry.rrule, "rrule")
frule: Extension = Extension(registry.frule, "frule")


@public
@_described_as(registry.non_differentiable)
def non_differentiable(*keys: Any) -> Any:
    prepared(*keys)
    found = registry.non_differentiable(*keys)
    for key in keys:
        if type(key) is FunctionType and "<locals>" not in key.__qualname__:
            vouch_for(key.__code__)  # no other function has this code
    registered()
    return found
