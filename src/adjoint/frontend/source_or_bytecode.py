"""The IR of a function, from its source or, without source, from its bytecode."""

from __future__ import annotations

import inspect
from types import FunctionType

from adjoint.errors import AdjointError, SourceError, UnsupportedSyntaxError
from adjoint.frontend.lowering import lower
from adjoint.ir import nodes as ir


def lower_any(function: FunctionType) -> ir.Function:
    """Lower a function.

    Raises
    ------
    SourceError
        The function has no source, and its bytecode cannot be lowered.
    UnsupportedSyntaxError
        Its source uses a construct that is not differentiated.
    """
    missing: AdjointError | None = None
    if function.__code__.co_flags & inspect.CO_OPTIMIZED:  # not the body of a class, or for `exec`
        try:
            return lower(function)
        except SourceError as error:
            missing = error
    from adjoint.frontend import bytecode  # loaded only if needed

    try:
        return bytecode.lower(function)
    except UnsupportedSyntaxError as error:
        raise SourceError(
            error.problem if missing is None else f"{missing.problem}; {error.problem}",
            hint=(missing or error).hint,
            filename=error.filename,
            span=error.span,
        ) from None
