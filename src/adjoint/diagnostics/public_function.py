"""Public functions, out of which an error of user code comes without frames of the library in its
traceback.

A Python function that an error passes through adds a frame to the traceback when the error gets
there. A bare ``raise`` adds none: it continues with the traceback that the error has by then, which
is that of the user code.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import os
from collections.abc import Callable
from types import FunctionType, MethodType
from typing import Any, NamedTuple, TypeVar

from adjoint.diagnostics.user_place import as_user_error
from adjoint.errors import ArgumentError

F = TypeVar("F", bound=Callable[..., Any])


def public(f: F, *, hides_frames: bool = False) -> F:
    """Make errors of user code inside `f` look as if the library had not been called.

    With ``ADJOINT_TRACEBACK=full`` in the environment the frames of the library are shown.

    Parameters
    ----------
    f : callable
    hides_frames : bool
        `f` itself passes its errors to `hide_frames`, which saves a call.
    """
    if _shows_frames():
        return f
    made: Any = PublicFunction(f if hides_frames else _hiding_frames(f))
    functools.update_wrapper(made, f)
    return made  # type: ignore[no-any-return]


def hide_frames(error: BaseException) -> None:
    """Give an error the traceback of plain Python, unless the frames of the library are shown."""
    if not _shows_frames():
        as_user_error(error)


def _shows_frames() -> bool:
    return os.environ.get("ADJOINT_TRACEBACK") == "full"


def _hiding_frames(f: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return f(*args, **kwargs)
        except BaseException as error:
            hide_frames(error)
            raise

    return call


class MadeBy(NamedTuple):
    """The call of an operator that returned a function of the arguments of another function.

    Attributes
    ----------
    operator, args, options
        The call; the function is the first of `args`.
    takes_point
        Whether what was made takes the arguments of the function, not others beside them.
    is_plain
        Whether what was made is Python code that is differentiated as that of users is.
    """

    operator: Any
    args: tuple[Any, ...]
    options: dict[str, Any]
    takes_point: bool = True
    is_plain: bool = False

    def signature(self) -> inspect.Signature:
        """Return the signature of what was made; `ValueError` where it cannot be told."""
        if self.takes_point:
            found = inspect.signature(self.args[0])
            return found.replace(return_annotation=inspect.Signature.empty)
        found = inspect.signature(self.operator)
        return found.replace(parameters=[*found.parameters.values()][1:])


class PublicFunction(functools.partial[Any]):
    """A function that is called through another one but otherwise looks like it.

    Attributes
    ----------
    made_by
        The call that made it, if it is no function of the library itself; it is pickled as this.
    """

    __name__: str
    __qualname__: str
    __wrapped__: Callable[..., Any]

    def __repr__(self) -> str:
        made_by = vars(self).get("made_by")
        if made_by is not None:
            return f"<function {made_by.operator.__name__} of {self.__qualname__}>"
        return f"<function {self.__module__}.{self.__qualname__}>"

    def __reduce__(self) -> Any:
        made_by = vars(self).get("made_by")
        if made_by is not None:
            name = getattr(made_by.args[0], "__module__", None), self.__qualname__
            return (_named, name) if _named(*name) is self else (_made_again, made_by[:3])
        if "<locals>" in self.__qualname__:
            raise ArgumentError(
                f"{self.__name__} cannot be pickled: it holds what one call has computed",
                hint="send the function and its arguments, and differentiate there",
            )
        return self.__qualname__

    def __copy__(self) -> PublicFunction:
        return self  # as functions

    def __deepcopy__(self, _: Any) -> PublicFunction:
        return self

    @property
    def __signature__(self) -> inspect.Signature:
        try:
            return vars(self)["made_by"].signature()  # type: ignore[no-any-return]
        except (KeyError, TypeError, ValueError):
            raise AttributeError("__signature__") from None  # that of `__wrapped__`

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else MethodType(self, instance)


def plain_function(f: Any) -> Any:
    """Return the Python function that stands for a result of an operator such as `vmap`, which is
    differentiated by its code; ``None`` for others."""
    made_by = vars(f).get("made_by") if type(f) is PublicFunction else None
    return f.__wrapped__ if made_by is not None and made_by.is_plain else None


def is_plain(f: Any) -> bool:
    """Return whether a Python function stands for `f` (see `plain_function`)."""
    return plain_function(f) is not None


def named_after(made: Any, made_by: MadeBy) -> Any:
    """Give a function that an operator returns the name and the docstring of the function that it
    was made from, and remember how it was made."""
    if type(made) is FunctionType:
        made = functools.update_wrapper(PublicFunction(made), made)
    f = made_by.args[0]
    made.__name__ = getattr(f, "__name__", None) or type(f).__name__
    made.__qualname__ = getattr(f, "__qualname__", None) or made.__name__
    made.__doc__ = getattr(f, "__doc__", None)
    made.made_by = made_by
    return made


def _named(module: str | None, name: str) -> Any:
    """Return the function of a name, such as one under a decorator; ``None`` if there is none."""
    try:
        found: Any = importlib.import_module(module or "")
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError, ValueError):
        return None
    return found


def _made_again(operator: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    return operator(*args, **options)
