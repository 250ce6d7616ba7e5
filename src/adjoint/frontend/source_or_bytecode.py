"""The IR of a function, from its source or, without source, from its bytecode."""

from __future__ import annotations

from types import FunctionType

from adjoint.errors import SourceError, UnsupportedSyntaxError
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
    try:
        return lower(function)
    except SourceError as error:
        missing = error
    from adjoint.frontend import bytecode  # loaded only if needed

    try:
        return bytecode.lower(function)
    except UnsupportedSyntaxError as error:
        raise SourceError(
            f"{missing.problem}; {error.problem}",
            hint=missing.hint,
            filename=error.filename,
            span=error.span,
        ) from None
