"""The table of rules and their cases.

A file of tests has a dict ``CASES`` from what a rule is registered for to a list of argument
tuples, one line per rule, and ``test_rule = table(CASES)``. `case` gives keyword arguments or
tolerances.
"""

from __future__ import annotations

import copy
import importlib.util
import pkgutil
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import adjoint.extensions
import adjoint.rules
from adjoint.cotangents.finiteness import UNFIT
from adjoint.cotangents.poison import Poison
from adjoint.cotangents.structural_zeros import Cotangent, marked
from adjoint.derivatives.differences import leaves, perturbed, random_like
from adjoint.rulekit import loading, registry
from adjoint.rulekit.registry import rrule
from adjoint.testing import check_gradient, check_rule


class Case(NamedTuple):
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    tolerances: dict[str, float]


def case(*args, tolerances=None, **kwargs):
    """One call of the function; `tolerances` are ``rtol`` and ``atol`` of `check_rule`, and a false
    ``step`` where the function itself is known to few digits of complex numbers.
    """
    return Case(args, kwargs, tolerances or {})


def table(cases):
    """A test that checks every line of the table."""
    params = [
        pytest.param(key, call if isinstance(call, Case) else case(*call), id=f"{name_of(key)}-{i}")
        for key, calls in cases.items()
        for i, call in enumerate(calls)
    ]

    @pytest.mark.parametrize("key, call", params)
    def test_rule(key, call):
        tolerances = {"rtol": 1e-7, **call.tolerances}
        if tolerances.pop("step", True):
            check_complex_step(key, *call.args, **call.kwargs)
        check_rule(key, *call.args, **tolerances, **call.kwargs)
        check_nothing_hides(key, *call.args, **call.kwargs)
        check_marked(key, *call.args, **call.kwargs)

    return test_rule


def followed(cases):
    """A test that checks every line of a table of functions without a rule: those whose own source
    is differentiated."""
    params = [
        pytest.param(key, call if isinstance(call, Case) else case(*call), id=f"{name_of(key)}-{i}")
        for key, calls in cases.items()
        for i, call in enumerate(calls)
    ]

    @pytest.mark.parametrize("key, call", params)
    def test_source(key, call):
        check_gradient(lambda *args: key(*args, **call.kwargs), *call.args, **call.tolerances)

    return test_source


# ---- complex steps -------------------------------------------------------------------------------

STEP = 1e-30


def check_complex_step(f, *args, **kwargs):
    """Im f(x + ih)/h, which has no rounding, for one entry of each real argument.

    It is the derivative where NumPy computes the analytic function; where it does not (moduli,
    comparisons, real parts), this is far off, and says nothing.
    """
    call = getattr(*f) if isinstance(f, tuple) else f
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        y, back = rrule(f, *copy.deepcopy(args), **kwargs)
        if not _is_double(y) or any(_is_single(leaf.value) for leaf in leaves(args)):
            return
        y_bar, rng = random_like(y, np.random.default_rng(0)), np.random.default_rng(3)
        bars = back(y_bar)[1:]
        for position, (x, bar) in enumerate(zip(args, bars, strict=False)):
            if not _is_double(x) or not np.size(x) or type(bar) is Poison or bar is None:
                continue
            index = tuple(int(rng.integers(n)) for n in np.shape(x))
            z, given = np.array(x, complex), list(copy.deepcopy(args))
            z[index] += STEP * 1j
            given[position] = z if isinstance(x, np.ndarray) else complex(z)
            try:
                moved = call(*given, **copy.deepcopy(kwargs))
            except (*UNFIT, TypeError, NotImplementedError):
                continue  # not of complex numbers
            if np.shape(moved) == np.shape(y) and np.iscomplexobj(moved):
                _compare_step(f, y_bar * np.imag(moved) / STEP, np.asarray(bar)[index])


def _is_double(x):
    return isinstance(x, float | np.ndarray) and np.asarray(x).dtype == float


def _is_single(x):
    return getattr(x, "dtype", None) in (np.float32, np.complex64)


def _compare_step(f, terms, found):
    expected, size = np.sum(terms), np.sum(np.abs(terms))
    if abs(expected - found) <= 1e-3 * abs(found):
        assert abs(expected - found) <= 1e-9 * (size + 1e-3), (
            f"a complex step in {name_of(f)} gives {expected:.15g}, the rule {found:.15g}"
        )


# ---- what is not finite ------------------------------------------------------------------------


def check_nothing_hides(f, *args, **kwargs):
    """What depends on an entry of the cotangent is not finite where that entry is not.

    It is what sweeps without care rely on (`adjoint.cotangents.finiteness`).
    """
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        y, back = rrule(f, *copy.deepcopy(args), **kwargs)
        y_bar, rng = random_like(y, np.random.default_rng(0)), np.random.default_rng(1)
        for leaf in leaves((y_bar,)):
            if np.asarray(leaf.value).dtype.kind in "fc" and np.size(leaf.value):
                index = tuple(int(rng.integers(n)) for n in np.shape(leaf.value))
                _check_entry(f, back, lambda v, at=(leaf, index): perturbed((y_bar,), *at, v)[0])


def _check_entry(f, back, cotangent):
    try:
        first, second = _numbers(back(cotangent(0.37))), _numbers(back(cotangent(-1.61)))
    except UNFIT:
        return
    scale = 1e-9 * (np.abs(first) + np.abs(second))
    moved = np.isfinite(first) & np.isfinite(second) & ~(np.abs(first - second) <= scale)
    for bad in (np.nan, np.inf):
        try:
            found = _numbers(back(cotangent(bad)))
        except UNFIT:  # the careful sweep follows
            continue
        hidden = np.isfinite(found) & moved if found.shape == moved.shape else True
        assert not np.any(hidden), f"{name_of(f)} hides a cotangent that is {bad}"


def _numbers(bars):
    """All real and imaginary parts in a cotangent."""
    parts = [np.ravel(np.asarray(leaf.value, complex)) for leaf in leaves(bars)]
    return np.concatenate([np.zeros(0, complex), *parts]).view(float)


def check_marked(f, *args, **kwargs):
    """The pullback gives the same for a cotangent whose zeros stay zero
    (`adjoint.cotangents.structural_zeros`)."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        y, back = rrule(f, *copy.deepcopy(args), **kwargs)
        y_bar = random_like(y, np.random.default_rng(0))
        if y_bar is None:
            return
        first, second = _numbers(back(y_bar)), _numbers(_unmarked(back(marked(y_bar))))
    single = any(_is_single(leaf.value) for leaf in (*leaves(args), *leaves((y_bar,))))
    size = np.max(np.abs(first), initial=0.0, where=np.isfinite(first))
    tolerance = (1e-4 if single else 1e-10) * size
    np.testing.assert_allclose(second, first, rtol=0, atol=tolerance, err_msg=name_of(f))


def _unmarked(bar):
    if isinstance(bar, list | tuple):
        parts = [_unmarked(part) for part in bar]
        return type(bar)(*parts) if hasattr(bar, "_fields") else type(bar)(parts)
    if isinstance(bar, dict):
        return {name: _unmarked(part) for name, part in bar.items()}
    return bar.view(np.ndarray) if isinstance(bar, Cotangent) else bar


def name_of(key):
    """A short name for the test's id."""
    if isinstance(key, tuple):
        return f"{key[0].__name__}.{key[1]}"
    return getattr(key, "__name__", repr(key))


def load_all_rules():
    """Import every rule file that there is, also those that load lazily."""
    folder = importlib.import_module("adjoint.rules").__path__  # `adjoint.rules` lists rules
    for module in pkgutil.walk_packages(folder, "adjoint.rules."):
        importlib.import_module(module.name)


def load_all_extensions():
    """Import the packages that extensions are about, as far as they are installed, and these."""
    for name in adjoint.extensions.RULES:
        if importlib.util.find_spec(name.partition(".")[0]):
            importlib.import_module(name)
            loading.load_for(name)
    loading.load_what_is_imported()  # a unit of astropy is no attribute before its module is there


def all_cases():
    """What the tables of all files of tests have a line for."""
    tests = Path(__file__).parent.parent
    keys = set()
    for path in [*sorted((tests / "rules").rglob("test_*.py")), tests / "nn" / "test_rules.py"]:
        name = ".".join(path.relative_to(tests.parent).with_suffix("").parts)
        cases = getattr(importlib.import_module(name), "CASES", {})
        keys.update(registry.key_of(key) for key, calls in cases.items() if calls)
    return keys


# ---- operands ------------------------------------------------------------------------------------


def reals(*shape, low=-2.0, high=2.0, seed=0, dtype=float):
    """An array of distinct numbers in general position."""
    return np.random.default_rng(seed).uniform(low, high, shape).astype(dtype)


def complexes(*shape, seed=0):
    """A complex array in general position."""
    return reals(*shape, seed=seed) + 1j * reals(*shape, seed=seed + 1)
