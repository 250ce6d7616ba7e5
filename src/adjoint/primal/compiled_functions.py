"""Functions that another package has compiled. Those of Numba are differentiated through the Python
function that they hold; those of packages with their own arrays and derivatives are refused.

Neither package is imported: classes are told by their module names.
"""

from __future__ import annotations

import functools
from types import FunctionType
from typing import Any

import numpy as np

from adjoint.errors import NoDerivativeError
from adjoint.primal.numba_loops import each, generalized
from adjoint.primal.packages import FOREIGN, package


def python_of(f: Any) -> Any:
    """Return a callable for the Python function of an object of Numba; ``None`` for others."""
    kind = type(f)
    home = f.__module__ if kind is type else kind.__module__
    if type(home) is not str or not home.startswith("numba."):
        return None
    if kind is type:
        return range if f.__name__ == "prange" else None
    if home.startswith("numba.core.types"):
        return getattr(np, str(f), None)
    builder = getattr(f, "gufunc_builder", None)
    if builder is not None:
        return functools.partial(generalized, builder.py_func, f.signature)
    if home == "numba.np.ufunc.dufunc":
        return functools.partial(each, f._dispatcher.py_func, f.nin)
    python = getattr(f, "py_func", None) or getattr(f, "_pyfunc", None)
    return python if type(python) is FunctionType else None


def is_closed_and_compiled(f: Any) -> bool:
    """Return whether `f` is a function of Numba without captured variables."""
    return type(python := python_of(f)) is FunctionType and python.__closure__ is None


def refuse_compiled_containers(module: Any, f: Any) -> None:
    """Refuse to make or fill containers that only compiled code can read."""
    if type(module) is str and module.startswith(("numba.typed", "numba.experimental")):
        raise NoDerivativeError(
            f"'{f.__qualname__}' is of '{module}': what compiled objects hold is not seen",
            hint="use a plain class, a list or a dict: functions of Numba's are differentiated by"
            " their Python",
        )


# ---- packages that differentiate themselves ------------------------------------------------------


def foreign_package(value: Any) -> str | None:
    """Return the package with its own arrays that a function or an object belongs to."""
    for home in (
        value.__globals__.get("__name__")
        if type(value) is FunctionType
        else type(value).__module__,
        getattr(type(getattr(value, "__self__", None)), "__module__", None),
        vars(value).get("__module__") if issubclass(type(value), type) else None,
    ):
        if (name := package(home)) in FOREIGN:
            return name
    return None


def refuse_foreign_arrays(f: Any, args: tuple[Any, ...]) -> None:
    """Refuse functions and arrays of a package with its own arrays."""
    for value in (f, *args):
        name = foreign_package(value)
        if name is not None:
            what = getattr(value, "__qualname__", None) or type(value).__qualname__
            raise NoDerivativeError(
                f"'{what}' is of '{name}', whose functions and arrays are not differentiated here",
                hint=FOREIGN[name],
            )
