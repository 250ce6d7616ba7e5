"""The cases of the tables of rules with operands of another kind: complex, of no dimensions, empty,
or integers.

What NumPy or SciPy computes of them must have the same value inside differentiated code, in both
modes, and a derivative that agrees with differences, or be refused by an error of the library; what
raises there must raise here.
"""

from __future__ import annotations

import copy
import warnings

import numpy as np

import adjoint as ad
from adjoint.derivatives.differences import (
    Leaf,
    as_type_of,
    inner,
    leaves,
    part_at,
    perturbed,
    random_like,
)
from adjoint.errors import AdjointError
from adjoint.rulekit.projection import is_numeric
from adjoint.testing.value_comparison import same

KINDS = ("complex", "scalar", "empty", "integer")
ENTRIES = 3
TOLERANCE = 1e-4


def variant(args, kind):
    """The arguments with their floating-point numbers and arrays of another kind; ``None`` where
    that is nothing else."""
    made = _of_kind(args, kind, np.random.default_rng(7))
    return None if same(args, made) else made


def _of_kind(x, kind, rng):
    if isinstance(x, list | tuple):
        parts = [_of_kind(part, kind, rng) for part in x]
        return x._make(parts) if hasattr(x, "_make") else type(x)(parts)
    if not is_numeric(x) or np.asarray(x).dtype.kind != "f":
        return x
    if kind == "complex":
        turned = x + 1j * rng.uniform(0.1, 0.6, np.shape(x))
        return turned if isinstance(x, np.ndarray) else complex(turned)
    if kind == "integer":
        if not np.all(np.isfinite(x)):
            return x
        whole = np.rint(np.asarray(x) * 3).astype(int)
        return whole if isinstance(x, np.ndarray) else int(whole)
    if not isinstance(x, np.ndarray) or not x.ndim:
        return x
    return x[..., :0] if kind == "empty" else np.array(x.flat[0]) if x.size else x


def fault(key, args, kwargs, like):
    """What is wrong with the derivatives of one call, or ``None``; `like` are the arguments in
    floating point, which say what moves."""
    f = _callable(key)

    def call(*xs):
        return f(*xs, **copy.deepcopy(kwargs))

    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            plain = call(*copy.deepcopy(args))
        except Exception as error:
            return _raises(call, args, like, error)
        y_bar, dots = random_like(plain, np.random.default_rng(0)), _tangents(args, like)
        bars = y_dot = None
        try:
            y, back = ad.pullback(call, *copy.deepcopy(args))
            bars = None if y_bar is None else back(y_bar)[1:]
        except AdjointError:
            pass
        else:
            if not same(y, plain):
                return f"the value is {y!r}, not {plain!r}"
        if dots is not None:
            try:
                _, y_dot = ad.pushforward(call, copy.deepcopy(args), dots)
            except AdjointError:
                pass
        wrong = None if bars is None else _against_differences(call, args, bars, y_bar, plain)
        if wrong is not None or bars is None or y_dot is None:
            return wrong
        left, right = _inner(y_bar, y_dot), _inner(dots, bars)
        if np.isfinite(left + right) and abs(left - right) > TOLERANCE * (
            1 + abs(left) + abs(right)
        ):
            return f"forward mode gives {left}, reverse mode {right}"
        return None


def _callable(key):
    """The function that is registered under `key`: of a method, one that calls it."""
    if not isinstance(key, tuple):
        return key
    kind, name = key
    if callable(getattr(kind, name)):
        return lambda x, *args, **kwargs: getattr(x, name)(*args, **kwargs)
    return lambda x: getattr(x, name)


def _inner(a, b):
    return 0.0 if a is None or b is None else inner(_known(a, b), b)


def _known(a, b):
    """`a` without the parts for which `b` has nothing."""
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return [_known(p, q) for p, q in zip(a, b, strict=True)]
    if isinstance(a, dict):
        return {key: _known(p, b[key]) for key, p in a.items()} if b is not None else None
    return None if b is None else a


def _tangents(args, like):
    """Random tangents of what is in floating point in the arguments `like`."""
    return _moved(random_like(tuple(args), np.random.default_rng(2)), tuple(like))


def _moved(dot, x):
    if isinstance(x, list | tuple):
        parts = [_moved(d, part) for d, part in zip(dot or [None] * len(x), x, strict=True)]
        return (
            None
            if all(part is None for part in parts)
            else as_type_of(tuple(x), parts)
            if isinstance(x, tuple)
            else parts
        )
    return dot if is_numeric(x) and np.asarray(x).dtype.kind in "fc" else None


def _raises(call, args, like, error):
    """What is wrong where the plain function raises."""
    dots = _tangents(args, like) or (None,) * len(args)
    for mode, run in (
        ("reverse", lambda: ad.pullback(call, *copy.deepcopy(args))),
        ("forward", lambda: ad.pushforward(call, copy.deepcopy(args), dots)),
    ):
        try:
            run()
        except Exception:
            continue
        return f"{mode} mode raises nothing where the function raises {error!r}"
    return None


def _against_differences(call, args, bars, y_bar, plain):
    if any(np.asarray(leaf.value).dtype.char in "efF" for leaf in leaves((plain,))):
        return None  # of less precision than differences need
    rng = np.random.default_rng(1)
    for position, (x, bar) in enumerate(zip(args, bars, strict=True)):
        for leaf in leaves(x, (("[]", position),)):
            dtype = np.asarray(leaf.value).dtype
            if dtype.kind not in "fciu" or dtype.char in "efF" or not np.size(leaf.value):
                continue
            leaf_bar = part_at(bar, leaf.path[1:])
            if leaf_bar is not None and np.shape(leaf_bar) != np.shape(leaf.value):
                return f"the cotangent of {leaf} has shape {np.shape(leaf_bar)}"
            for _ in range(ENTRIES):
                index = tuple(int(rng.integers(n)) for n in np.shape(leaf.value))
                got = 0.0 if leaf_bar is None else complex(np.asarray(leaf_bar)[index])
                for direction in (1.0, 1j) if dtype.kind == "c" else (1.0,):
                    expected = _slope(call, args, leaf, index, direction, y_bar)
                    part = np.real(got) if direction == 1.0 else np.imag(got)
                    if expected is None or not np.isfinite(part):
                        continue
                    if abs(part - expected) > TOLERANCE * (1.0 + abs(expected) + abs(part)):
                        return f"the cotangent of {leaf} at {index} is {part}, not {expected}"
    return None


def _slope(call, args, leaf: Leaf, index, direction, y_bar):
    """The derivative in one entry; ``None`` where differences from both sides do not agree."""

    def along(step):
        return inner(y_bar, call(*perturbed(args, leaf, index, step * direction)))

    h = 1e-6 * max(1.0, abs(np.asarray(leaf.value)[index]))
    try:
        values = [along(step) for step in (-2 * h, -h, 0.0, h, 2 * h)]
        plain = inner(y_bar, call(*copy.deepcopy(args)))
    except Exception:
        return None
    if not np.all(np.isfinite(values)) or abs(values[2] - plain) > 1e-9 * (1 + abs(plain)):
        return None  # of an integer: another function than that of a float
    slopes = np.diff(values) / h
    expected = (8 * (values[3] - values[1]) - (values[4] - values[0])) / (12 * h)
    noise = 1e-15 * max(map(abs, values)) / h
    if np.ptp(slopes) > 1e-3 * (1 + abs(expected)) + 10 * noise or noise > 1e-5 * (
        1 + abs(expected)
    ):
        return None
    return expected
