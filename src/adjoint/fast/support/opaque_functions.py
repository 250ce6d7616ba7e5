"""Functions whose calls may be opaque operations of a program.

A program that is left runs again in the generic tier, so an opaque operation has no effect besides
its result. Functions of NumPy and SciPy write to nothing that user code sees but their operands
(`adjoint.primal.packages.LIBRARIES`); those that name files, settings or random generators are left
out, and so are functions that write to operands.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType, MethodDescriptorType, ModuleType
from typing import Any

import numpy as np

from adjoint.rulekit.registry import lookup
from adjoint.runtime.foreign.may_store import is_writer


def may_be_opaque(f: Any) -> bool:
    """Return whether a call of `f` may be an opaque operation: it is a function of NumPy or SciPy
    without a rule of the user that has no effects besides its result."""
    if not has_no_effects(f) or is_writer(f.__name__):
        return False
    rules = lookup(f)
    return rules is None or not rules.overridden


def has_no_effects(f: Any) -> bool:
    """Return whether `f` is a function of NumPy or SciPy that has source or a rule, takes no random
    generator, neither reads nor writes files, and writes to nothing but operands."""
    kind = type(f)
    if kind is FunctionType:
        if str(f.__globals__.get("__name__")).partition(".")[0] not in _LIBRARIES:
            return False
        home = vars(sys.modules.get(str(f.__module__), sys))
        # Others may have captured what user code has given to a function of the library.
        return home.get(f.__name__) is f and _is_pure(f)
    if kind is BuiltinFunctionType and type(f.__self__) not in (ModuleType, np.ufunc):
        return False
    return kind in _KINDS and f is not np.fromfile and _is_pure(f)


_LIBRARIES = ("numpy", "scipy", "statistics")
_DISPATCHER: Any = type(np.mean)
_KINDS = frozenset({FunctionType, BuiltinFunctionType, MethodDescriptorType, np.ufunc, _DISPATCHER})
_ACTING = tuple(
    """numpy.random. numpy.testing. numpy.f2py. numpy.ma. numpy.lib._npyio_impl. numpy.lib.npyio.
    numpy.lib._datasource. numpy.lib._utils_impl. numpy.lib.utils. numpy.lib.format.
    numpy.lib._format_impl. numpy.ctypeslib. numpy.__config__. numpy._core._ufunc_config.
    numpy._core.arrayprint. numpy._core.memmap.
    numpy.core._ufunc_config. numpy.core.arrayprint. numpy.core.memmap. scipy.io. scipy.datasets.
    scipy._lib. scipy.differentiate. scipy.special._ellip_harm.""".split()
)
"""Modules of functions with other effects than their result."""
_TRUSTING = tuple(
    """numpy.lib._stride_tricks_impl. numpy.lib.stride_tricks. scipy.interpolate. scipy.integrate.
    scipy.sparse. scipy.spatial. scipy.odr. scipy.cluster.""".split()
)
"""Modules that trust their operands: made-up examples may read memory that is not theirs."""
_RANDOM = frozenset({"rng", "random_state", "seed"})
"""Parameters for random generators."""


@functools.lru_cache(4096)
def _is_pure(f: Callable[..., Any]) -> bool:
    inner: Any = getattr(f, "__wrapped__", f) if type(f) is _DISPATCHER else f
    if type(inner) is not FunctionType and type(f) is not FunctionType:
        of_numpy = type(f) is np.ufunc or getattr(f, "__objclass__", None) is np.ndarray
        of_numpy = of_numpy or str(getattr(f, "__module__", None)).partition(".")[0] == "numpy"
        of_ufunc = type(getattr(f, "__self__", None)) is np.ufunc
        return of_ufunc or (of_numpy and lookup(f) is not None)
    module = str(inspect.unwrap(inner).__globals__.get("__name__"))
    if module.partition(".")[0] not in _LIBRARIES:
        return False
    if f"{module}.".startswith((*_ACTING, *_TRUSTING)) or inner.__name__.startswith("_"):
        return False  # what is not public may write to its operands
    parameters = inspect.signature(f).parameters
    return _RANDOM.isdisjoint(parameters)
