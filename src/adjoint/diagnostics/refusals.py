"""Errors at the place where user code runs now."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from adjoint.diagnostics.user_place import current_place
from adjoint.errors import AdjointError, MutationError, NoDerivativeError
from adjoint.primal.array_memory import names_twice

E = TypeVar("E", bound=AdjointError)

RAISED_AFTER_WRITE = (FloatingPointError, RuntimeWarning)
"""Errors that NumPy raises after writing: by ``np.errstate``, or because warnings are errors."""


def raised_after_write(error: BaseException) -> MutationError:
    """Return the error for a write into an array that raises one of `RAISED_AFTER_WRITE`: code that
    catches it could not rely on the contents, because NumPy has gone through the memory."""
    return refused(
        f"an operation that writes into an array raises an error: {error}",
        "compute the value first, and write it then: y = x / z; x[...] = y",
    )


def changed_since(owner: Any) -> MutationError:
    """Return the error for a sweep over something that was changed after the forward sweep."""
    return MutationError(
        f"the {type(owner).__name__} that the differentiated function wrote to was changed before"
        " 'back' was called",
        hint="call 'back' before the function is called again, or let it write into a copy",
    )


def refuse_names_twice(array: np.ndarray[Any, Any], part: Any = None) -> None:
    """Refuse a write to a view in which elements share memory: their cotangents have no one place.

    `part` is ``array[index]`` where not the whole array is written.
    """
    if array.base is None or not names_twice(array):
        return
    if part is not None:
        if not isinstance(part, np.ndarray):
            return  # one element
        if np.may_share_memory(part, array) and not names_twice(part):
            return
    raise refused(
        "a write goes to a view in which elements share their memory",
        hint="write through slices of it that name each element once, or into the array behind",
    )


def refused(problem: str, hint: str) -> MutationError:
    """Return the error for a write, or another effect, that is refused at the user's place."""
    return _placed(MutationError, problem, hint)


def missing(problem: str, hint: str) -> NoDerivativeError:
    """Return the error for a derivative that does not exist, at the user's place."""
    return _placed(NoDerivativeError, problem, hint)


def _placed(kind: type[E], problem: str, hint: str) -> E:
    return kind(problem, hint=hint, place=current_place())
