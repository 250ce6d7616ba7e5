"""The public extension points: they check their arguments, and hide frames of the library."""

from __future__ import annotations

import operator
from collections.abc import Callable
from types import FunctionType, GetSetDescriptorType, MemberDescriptorType
from typing import Any, TypeVar

import numpy as np

from adjoint.api.rule_pullback import RulePullback
from adjoint.diagnostics.public_function import public
from adjoint.errors import ArgumentError
from adjoint.fast.programs.store import forget
from adjoint.rulekit import registry
from adjoint.runtime.foreign.entry_monitor import vouch_for

F = TypeVar("F", bound=Callable[..., Any])


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

    def __repr__(self) -> str:
        return f"<adjoint.{self._name}>"

    def __reduce__(self) -> str:
        return self._name  # of this module

    @public
    def register(self, *keys: Any, **options: Any) -> Callable[[F], F]:
        """Register the decorated function as the rule of each of `keys`.

        The rule that was registered last is asked first. A rule may have annotated parameters, and
        is then for arguments of these types only; or it returns ``NotImplemented`` to decline.
        A pullback that takes ``wanted`` by name, one boolean per positional argument, need not
        compute the other cotangents: ``def cube_back(y_bar, *, wanted)``.

        Parameters
        ----------
        *keys : callable or (type, name)
            Functions, classes, or ``(type, name)`` for methods of types that are written in C:
            ``(list, "index")``.
        **options
            ``alias=True``: the result may be an argument, or share memory with it.
            ``keyword_bars=True``: ``back`` returns one entry more, a dict of the cotangents of
            keyword arguments. ``partwise=True``: the result is a tuple or list, each part of which
            depends only on the argument at its position.

        Returns
        -------
        callable
            A decorator, which returns the function that it is given.

        Raises
        ------
        ArgumentError
            A key is no function, or it is an operator of Python's own types; or what is decorated
            is no function.

        Examples
        --------
        >>> import adjoint as ad
        >>> def cube(x):
        ...     return x * x * x
        >>> @ad.rrule.register(cube)
        ... def _(x):
        ...     def cube_back(y_bar):
        ...         return None, 3 * x**2 * y_bar
        ...     return cube(x), cube_back
        >>> ad.gradient(cube, 2.0)
        (12.0,)
        """
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


class ReverseRules(Extension):
    """Apply the reverse rule of a function; ``rrule.register(f)`` adds one.

    A rule takes the arguments of the function and returns its value and its pullback. Where there
    is one, differentiated code calls it in place of the function; all other functions are
    differentiated by their source.

    Parameters
    ----------
    f : callable or (type, name)
        The function.
    *args, **kwargs
        Its arguments.

    Returns
    -------
    tuple or None
        ``(y, back)``: the value, and ``back(y_bar)``, which returns ``(f_bar, *arg_bars)``, the
        cotangents of the function itself (``None``, unless it is a callable object) and of each
        positional argument, shaped like it; ``None`` is zero. ``None`` in place of the pair where
        no rule is registered for `f` with such arguments.

    See Also
    --------
    custom : a function with its rule, without a registry.
    scalar_rule : both rules of an elementwise function in one line.
    adjoint.testing.check_rule : compares a rule with finite differences.

    Notes
    -----
    Forward mode follows from a reverse rule, unless the function has a forward rule, too. The form
    is that of `rrule` in ChainRules.jl, with ``None`` in the place of ``NoTangent()`` and
    ``ZeroTangent()``.

    Examples
    --------
    The rule that the library has for `math.sin`, at a point:

    >>> import adjoint as ad, math
    >>> y, back = ad.rrule(math.sin, 0.0)
    >>> y, back(2.0)
    (0.0, (None, 2.0))

    A rule for a function that calls C, and whose source therefore says nothing:

    >>> from decimal import Decimal
    >>> def exact_log(x):
    ...     return float(Decimal(x).ln())
    >>> @ad.rrule.register(exact_log)
    ... def _(x):
    ...     def exact_log_back(y_bar):
    ...         return None, y_bar / x
    ...     return exact_log(x), exact_log_back
    >>> ad.gradient(lambda x: 2 * exact_log(x), 4.0)
    (0.5,)
    """

    @public
    def __call__(self, f: Any, *args: Any, **kwargs: Any) -> Any:
        found = self._own(f, *args, **kwargs)
        if found is None:
            return None
        y, back = found
        return y, RulePullback(back, getattr(f, "__name__", None) or type(f).__name__)


class ForwardRules(Extension):
    """Apply the forward rule of a function; ``frule.register(f)`` adds one.

    A rule takes the tangents, then the arguments of the function; it returns its value and its
    tangent. It serves forward mode alone: reverse mode takes the reverse rule of the function, else
    its source. `custom` makes both modes of one forward rule.

    Parameters
    ----------
    f : callable or (type, name)
        The function.
    dots : tuple
        One tangent per positional argument, shaped like it; ``None`` is zero.
    *args, **kwargs
        The arguments of the function.

    Returns
    -------
    tuple or None
        ``(y, y_dot)``, the value and its tangent, ``None`` for zero; ``None`` in place of the pair
        where no rule is registered for `f` with such arguments.

    Notes
    -----
    The form is that of `frule` in ChainRules.jl, without the tangent of the function itself.

    Examples
    --------
    >>> import adjoint as ad
    >>> def bisect(a):  # solves x**3 + x = a for x in [0, 1]
    ...     low, high = 0.0, 1.0
    ...     for _ in range(60):
    ...         x = (low + high) / 2
    ...         low, high = (x, high) if x**3 + x < a else (low, x)
    ...     return x

    Its code has derivative zero: ``a`` is only compared. The implicit function theorem gives
    ``(3 * x**2 + 1) * x_dot = a_dot``:

    >>> @ad.frule.register(bisect)
    ... def _(dots, a):
    ...     x = bisect(a)
    ...     return x, None if dots[0] is None else dots[0] / (3 * x**2 + 1)
    >>> x, x_dot = ad.pushforward(bisect, (0.625,), (1.0,))
    >>> round(x, 6), round(x_dot, 6)  # 1 / (3 / 4 + 1)
    (0.5, 0.571429)
    """

    @public
    def __call__(self, f: Any, dots: Any, *args: Any, **kwargs: Any) -> Any:
        return self._own(f, dots, *args, **kwargs)


rrule: ReverseRules = ReverseRules(registry.rrule, "rrule")
frule: ForwardRules = ForwardRules(registry.frule, "frule")


@public
def non_differentiable(*keys: Any) -> Any:
    """Declare that functions have derivative zero, or return no reals: they run as they are.

    Parameters
    ----------
    *keys : callable or (type, name)
        Functions that store and change nothing that carries a derivative. They are not read, so
        they may contain anything.

    Returns
    -------
    callable or None
        The function, if it is one, so that this serves as a decorator.

    Raises
    ------
    ArgumentError
        A key is no function, or an operator of Python's own types.

    See Also
    --------
    stop_gradient : holds one value constant, not a function.

    Examples
    --------
    >>> import adjoint as ad
    >>> @ad.non_differentiable
    ... def scale(x):
    ...     return 2.0 ** np.ceil(np.log2(np.max(np.abs(x))))
    >>> ad.gradient(lambda x: np.sum(x / scale(x)), np.array([1.0, 3.0]))  # the scale is 4
    (array([0.25, 0.25]),)
    """
    prepared(*keys)
    found = registry.non_differentiable(*keys)
    for key in keys:
        if type(key) is FunctionType and "<locals>" not in key.__qualname__:
            vouch_for(key.__code__)  # no other function has this code
    registered()
    return found
