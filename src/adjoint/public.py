"""Functions that users call: an error of the user's own code comes out of them as it would without
us, with no frame of the library in its traceback.

Every Python function that an error passes through leaves a frame in the traceback, which it cannot
take out again. So none is passed through: what is called is a class, whose ``__new__`` runs the
function and catches the error, and whose ``__init__`` raises it again in C.
"""

from __future__ import annotations

import ctypes
import functools
import operator
import os
from collections.abc import Callable
from types import MethodType
from typing import Any, TypeVar

from adjoint.run.place import as_user_error

F = TypeVar("F", bound=Callable[..., Any])

__all__ = ["PublicFunction", "public"]


def public(f: F, run: Callable[[tuple[Any, ...], dict[str, Any]], Any] | None = None) -> F:
    """What the user's code raises inside `f` looks as if nothing had been called between.

    With ``ADJOINT_TRACEBACK=full`` in the environment the frames of the library are shown.

    Parameters
    ----------
    f : callable
    run : callable, optional
        ``f(*args, **kwargs)`` is ``run(args, kwargs)``, which takes less time.
    """
    if os.environ.get("ADJOINT_TRACEBACK") == "full":
        return f
    parts = (_Call, f) if run is None else (_Run, f, run)
    return PublicFunction(*parts)  # type: ignore[return-value]


class PublicFunction(functools.partial):  # type: ignore[type-arg]
    """A function that is called through `_Call`; for the rest it looks like the function."""

    __qualname__: str

    def __init__(self, _: type, f: Callable[..., Any], run: Any = None) -> None:
        functools.update_wrapper(self, f)

    def __repr__(self) -> str:
        return f"<function {self.__module__}.{self.__qualname__}>"

    def __reduce__(self) -> Any:
        return self.__qualname__

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else MethodType(self, instance)


class _Call:
    """The result of a function, or that which raises its error."""

    __slots__ = ("fail",)
    fail: Callable[[], None]

    def __new__(cls, f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        try:
            return f(*args, **kwargs)
        except BaseException as error:
            return _failed(cls, error)

    # Asked for by `type.__call__` if and only if `__new__` returned an instance.
    __init__ = property(operator.methodcaller("fail"))


class _Run(_Call):
    """The same of a function that takes its arguments in one piece."""

    __slots__ = ()

    def __new__(cls, f: Callable[..., Any], run: Any, /, *args: Any, **kwargs: Any) -> Any:
        try:
            return run(args, kwargs)
        except BaseException as error:
            return _failed(cls, error)


def _failed(cls: type[_Call], error: BaseException) -> _Call:
    failed = object.__new__(cls)
    failed.fail = _raising(as_user_error(error))
    return failed


_restore = ctypes.pythonapi.PyErr_Restore
_restore.argtypes, _restore.restype = (ctypes.py_object,) * 3, None
_keep = ctypes.pythonapi.Py_IncRef
_keep.argtypes, _keep.restype = (ctypes.py_object,), None


def _raising(error: BaseException) -> Callable[[], None]:
    """What raises an error as it is: ``raise`` would add a frame, and another context."""
    trace = error.__traceback__
    parts = type(error), error, ctypes.py_object() if trace is None else trace
    for part in parts:
        _keep(part)  # `PyErr_Restore` takes over a reference to each
    return functools.partial(_restore, *parts)
