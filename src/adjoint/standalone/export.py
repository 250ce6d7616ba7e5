"""`export`: a standalone Python file for one derivative."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from adjoint.diagnostics.function_argument import demand_point
from adjoint.diagnostics.public_function import public


@public
def export(
    f: Callable[..., Any], /, *args: Any, path: str | Path | None = None, **kwargs: Any
) -> str:
    """Text of a standalone Python file that computes a function and its gradient.

    The file holds the specialised program (see `code`) and copies of all that it calls, rules of
    this library included. It needs NumPy, and SciPy where the function does, but not this library.
    Its functions ``value_and_gradient`` and ``gradient`` return the same numbers as `withgradient`
    and `gradient`, by the same operations; run as a script, it compares them with finite
    differences.

    Parameters
    ----------
    f : callable
        Returns one real number.
    *args
        The point: numbers, arrays, and lists, tuples and dicts of them. The file takes arguments of
        the same types: arrays of the same dtype and number of axes, containers of the same lengths
        and keys; it keeps the point itself as an example.
    path : str or Path, optional
        Where to write the file, too.
    **kwargs
        Passed through, held constant; keyword arguments of the functions in the file.

    Returns
    -------
    str
        The source. What `f` captures or names, and defaults of arguments that are not given, are
        constants in it, with their present values. Where a number is not finite, or NumPy would
        warn, its functions raise ``FloatingPointError``, and ``ArithmeticError`` where `f` would
        raise an error: such calls take more than one program.

    Raises
    ------
    NoDerivativeError
        The call has no program (see `tier`), or the program calls something that cannot be copied:
        a rule of yours, an object or a function of another package. The message names it, and the
        line that needs it.
    ArgumentError
        An argument is an object of a class, or one array is twice in an argument.

    Examples
    --------
    >>> import math
    >>> text = export(lambda x: math.sin(x) * x, 2.0)
    >>> scope = {}
    >>> exec(text, scope)
    >>> scope["value_and_gradient"](2.0) == withgradient(lambda x: math.sin(x) * x, 2.0)
    True
    """
    from adjoint.standalone.file import exported  # with what makes programs, on first use

    demand_point(f, len(args) + len(kwargs), "export")
    text = exported(f, args, kwargs)
    if path is not None:
        Path(path).write_text(text, encoding="utf-8")
    return text
