"""Text of what the library reads of a function and of what it generates for it."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType, MethodType
from typing import Any

from adjoint.diagnostics.public_function import public
from adjoint.errors import SourceError
from adjoint.frontend import lower_any
from adjoint.ir.printer import format_function
from adjoint.pictures.html import text_html
from adjoint.primal.compiled_functions import python_of
from adjoint.primal.special_methods import class_attribute
from adjoint.runtime.cache.units import unit_of


class Code(str):
    """Generated code as text; notebooks show it with its lines."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return text_html("generated code", self)


class IR(str):
    """Intermediate representation as text; notebooks show it with its lines."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return text_html("intermediate representation", self)


def _python_function(f: Any) -> FunctionType:
    while not isinstance(f, FunctionType):
        if isinstance(f, MethodType):
            f = f.__func__
        elif (python := python_of(f)) is not None:
            f = python
        elif hasattr(f, "func") and callable(f.func):
            f = f.func
        elif isinstance(getattr(f, "__wrapped__", None), FunctionType):
            f = f.__wrapped__
        elif isinstance(f, type) and isinstance(class_attribute(f, "__init__"), FunctionType):
            f = class_attribute(f, "__init__")
        elif isinstance(class_attribute(type(f), "__call__"), FunctionType):
            f = class_attribute(type(f), "__call__")
        else:
            raise SourceError(
                f"{f!r} has no Python source", hint="it may have a rule: see ad.rrule"
            )
    return f


@public
def ir(f: Callable[..., Any]) -> IR:
    """Intermediate representation of a function, as text.

    Every operator, attribute, subscript and literal container is a call; these calls are what rules
    are looked up for.

    Parameters
    ----------
    f : callable
        A Python function, method, or object with a ``__call__`` in Python. It does not run.

    Returns
    -------
    IR
        A ``str``; notebooks show it as a block.

    Raises
    ------
    SourceError
        The function has no Python source.
    UnsupportedSyntaxError
        It contains syntax that is not differentiated.

    Examples
    --------
    >>> def area(r):
    ...     return 3.0 * r**2
    >>> print(ir(area).rstrip())
    def area(r):                                      # 1
        _1 = pow(r, 2)                                # 2
        _2 = mul(3.0, _1)
        return _2
    """
    return IR(format_function(lower_any(_python_function(f))))


@public
def code(f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Code:
    """Code that the library generates for a function, as text.

    Parameters
    ----------
    f : callable
        The function.
    *args, **kwargs
        Arguments whose types it is specialised for: see `tier`.

    Returns
    -------
    Code
        A ``str``. Without arguments: its forward and its reverse function. With arguments: the
        program for its value and its gradient (its pullback, if it does not return one real
        number), or the code of the generic tier, if that runs.

    Raises
    ------
    SourceError
        The function has no Python source.

    Examples
    --------
    >>> def area(r):
    ...     return 3.0 * r**2
    >>> print(code(area, 2.0).rstrip())
    def gradient(r):
        # return 3.0 * r**2
        t = 3.0 * r ** 2
        # the reverse sweep
        r_bar = 3.0 * (2 * r)
        return t, (r_bar,)
    """
    if args or kwargs:
        from adjoint.api.tier_report import operator_call_of, report

        found = report(f, args, kwargs)
        if found.source is not None:
            return Code(found.source)
        asked = operator_call_of(f)
        f = f if asked is None else asked.f
    return Code(unit_of(_python_function(f)).source.text)
