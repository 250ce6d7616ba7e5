"""Public functions, out of which an error of user code comes without frames of the library in its
traceback.

A Python function that an error passes through adds a frame to the traceback when the error gets
there. A bare ``raise`` adds none: it continues with the traceback that the error has by then, which
is that of the user code.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from types import MethodType
from typing import Any, TypeVar

from adjoint.diagnostics.user_place import as_user_error

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


class PublicFunction(functools.partial):  # type: ignore[type-arg]
    """A function that is called through another one but otherwise looks like it."""

    __qualname__: str
    __wrapped__: Callable[..., Any]

    def __repr__(self) -> str:
        return f"<function {self.__module__}.{self.__qualname__}>"

    def __reduce__(self) -> Any:
        return self.__qualname__

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else MethodType(self, instance)
