"""How a function that acts on each element by itself is differentiated, given its partial
derivatives.

The reverse rule takes one of three lanes. Double-precision arrays of one shape, and real Python
scalars, need no projection: nothing stands between the user's operation and the product with the
partial. Everything else (broadcasting, complex, other dtypes, lists) goes through
`_reverse_general`.
"""

from __future__ import annotations

import dis
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite
from typing import Any, TypeAlias

import numpy as np
from numpy import float64, ndarray, vdot, where

from adjoint.rules.projection import FLOAT64, REALS, as_numeric, finite, is_numeric, projector
from adjoint.rules.registry import non_differentiable

__all__ = ["Partial", "Slopes", "filled", "forward", "reverse"]

Partial: TypeAlias = Callable[..., Any] | int | float | None
Rule: TypeAlias = Callable[..., Any]

_POLES = (ZeroDivisionError, OverflowError)
"""What Python raises where IEEE 754, and so `numpy.float64`, has an infinity."""


@dataclass(frozen=True, slots=True)
class Slopes:
    """The partial derivatives of one function.

    Attributes
    ----------
    partials
        One per operand, brought to the signature ``(y, *operands)``; numbers and ``None`` as they
        are.
    reads
        Whether some partial reads ``y``, the first operand, the second, …: what the reverse sweep
        needs.
    singular
        Whether a product with a zero cotangent may fail to be zero.
    """

    partials: tuple[Partial, ...]
    reads: tuple[bool, ...]
    singular: bool

    @classmethod
    def of(cls, partials: tuple[Partial, ...], singular: bool) -> Slopes:
        """Bring the partials to one signature, and see which of their parameters they read."""
        n = len(partials)
        uniform = [_uniform(p, n) for p in partials]
        reads = [any(needs[i] for _, needs in uniform) for i in range(n + 1)]
        return cls(tuple(p for p, _ in uniform), tuple(reads), singular)


def _uniform(p: Partial, n: int) -> tuple[Partial, tuple[bool, ...]]:
    if not callable(p):
        return p, (False,) * (n + 1)
    names = list(inspect.signature(p).parameters)
    read = _names_read(p)
    if names[0] == "y" and len(names) in (1, n + 1):
        needs = (
            "y" in read,
            *(name in read for name in names[1:]),
            *(False,) * (n + 1 - len(names)),
        )
        return (p if len(names) == n + 1 else lambda y, *operands: p(y)), needs
    if len(names) != n:
        raise TypeError(
            f"a partial takes the {n} operands, or y and the operands, not {tuple(names)}"
        )
    return (lambda y, *operands: p(*operands)), (False, *(name in read for name in names))


def _names_read(p: Callable[..., Any]) -> set[str]:
    code = getattr(p, "__code__", None)
    if code is None:  # not a Python function: np.cos given as it is
        return set(inspect.signature(p).parameters)
    read = set(code.co_cellvars)
    for instruction in dis.get_instructions(code):
        if instruction.opname.startswith("LOAD_FAST"):
            read.update(
                instruction.argval
                if isinstance(instruction.argval, tuple)
                else (instruction.argval,)
            )
    return read


# ---- reverse -------------------------------------------------------------------------------------


def reverse(f: Callable[..., Any], slopes: Slopes) -> Rule:
    """The reverse rule of `f`, specialised on the number of operands and on what kind of function
    it is."""
    traits = _Traits.of(f)
    match slopes.partials:
        case (p,) if callable(p):
            return _reverse_unary(f, traits, slopes, p)
        case (p, q) if callable(p) and callable(q):
            return _reverse_binary(f, traits, slopes, p, q)
        case (int() | float() as p, int() | float() as q):
            return _reverse_weighted_sum(f, traits, slopes, p, q)
        case _:
            return _with_arity(
                lambda *operands: _reverse_general(f, traits, slopes, operands),
                len(slopes.partials),
            )


@dataclass(frozen=True, slots=True)
class _Traits:
    """What kind of function it is.

    Attributes
    ----------
    takes_lists
        A list or tuple of numbers is taken for the array it stands for, as NumPy does.
    floats_only
        A function of `math`: operands are converted to float, the result is one.
    scalars
        The types of operand that need no projection: the result of a NumPy function is a NumPy
        scalar, so that the cotangent of a Python number must be converted there.
    """

    takes_lists: bool
    floats_only: bool
    scalars: frozenset[type]

    @classmethod
    def of(cls, f: Callable[..., Any]) -> _Traits:
        module = "numpy" if isinstance(f, np.ufunc) else getattr(f, "__module__", None) or ""
        of_numpy = module.startswith("numpy")
        return cls(of_numpy, module == "math", frozenset({np.float64}) if of_numpy else REALS)


def _reverse_unary(
    f: Callable[..., Any], traits: _Traits, slopes: Slopes, p: Callable[..., Any]
) -> Rule:
    (keep_y, keep_x), singular = slopes.reads, slopes.singular
    scalars, array_lane = traits.scalars, not traits.floats_only

    def rule(x: Any, /) -> Any:
        kind = type(x)
        if kind is ndarray and x.dtype is FLOAT64 and x.ndim and array_lane:
            y = f(x)
            kept_y, kept_x = y if keep_y else None, x if keep_x else None

            def array_back(y_bar: Any) -> Any:
                x_bar = y_bar * p(kept_y, kept_x)
                if singular and not isfinite(vdot(x_bar, x_bar)):
                    x_bar = where(y_bar == 0, 0.0, x_bar)
                return None, x_bar

            return y, array_back
        if kind in scalars:
            y = f(x)

            def scalar_back(y_bar: Any) -> Any:
                try:
                    return None, y_bar and y_bar * p(y, x)
                except _POLES:
                    return None, y_bar * p(float64(y), float64(x))

            return y, scalar_back
        return _reverse_general(f, traits, slopes, (x,))

    return rule


def _reverse_binary(
    f: Callable[..., Any],
    traits: _Traits,
    slopes: Slopes,
    p: Callable[..., Any],
    q: Callable[..., Any],
) -> Rule:
    (keep_y, keep_a, keep_b), singular = slopes.reads, slopes.singular
    scalars, array_lane = traits.scalars, not traits.floats_only

    def rule(a: Any, b: Any, /) -> Any:
        kind_a, kind_b = type(a), type(b)
        if (
            kind_a is ndarray
            and kind_b is ndarray
            and a.dtype is FLOAT64
            and b.dtype is FLOAT64
            and a.shape == b.shape
            and a.ndim
            and array_lane
        ):
            y = f(a, b)
            kept_y, kept_a, kept_b = (
                y if keep_y else None,
                a if keep_a else None,
                b if keep_b else None,
            )

            def array_back(y_bar: Any) -> Any:
                a_bar, b_bar = y_bar * p(kept_y, kept_a, kept_b), y_bar * q(kept_y, kept_a, kept_b)
                # one pass for both: the sum of products is finite only if every entry of both is
                if singular and not isfinite(vdot(a_bar, b_bar)):
                    zero = y_bar == 0
                    a_bar, b_bar = where(zero, 0.0, a_bar), where(zero, 0.0, b_bar)
                return None, a_bar, b_bar

            return y, array_back
        if kind_a in scalars and kind_b in scalars:
            y = f(a, b)

            def scalar_back(y_bar: Any) -> Any:
                if not y_bar:
                    return None, y_bar, y_bar
                try:
                    return None, y_bar * p(y, a, b), y_bar * q(y, a, b)
                except _POLES:
                    floats = float64(y), float64(a), float64(b)
                    return None, y_bar * p(*floats), y_bar * q(*floats)

            return y, scalar_back
        return _reverse_general(f, traits, slopes, (a, b))

    return rule


def _reverse_weighted_sum(
    f: Callable[..., Any], traits: _Traits, slopes: Slopes, p: float, q: float
) -> Rule:
    scalars = traits.scalars

    def direct_back(y_bar: Any) -> Any:
        return None, y_bar if p == 1 else p * y_bar, y_bar if q == 1 else q * y_bar

    def rule(a: Any, b: Any, /) -> Any:
        kind_a, kind_b = type(a), type(b)
        if (
            kind_a is ndarray
            and kind_b is ndarray
            and a.dtype is FLOAT64
            and b.dtype is FLOAT64
            and a.shape == b.shape
            and a.ndim
        ) or (kind_a in scalars and kind_b in scalars):
            return f(a, b), direct_back
        return _reverse_general(f, traits, slopes, (a, b))

    return rule


def _reverse_general(
    f: Callable[..., Any], traits: _Traits, slopes: Slopes, operands: tuple[Any, ...]
) -> Any:
    values = _numeric_operands(traits, operands)
    if values is None:
        return NotImplemented
    y = f(*operands)
    dtype, is_complex = _computing_dtype(y)
    partials, singular = slopes.partials, slopes.singular
    kept = tuple(
        _computing(v, dtype, traits) if read else None
        for v, read in zip((y, *values), slopes.reads, strict=True)
    )
    to_operands = [
        None if p is None else projector(x) for p, x in zip(partials, operands, strict=True)
    ]

    def back(y_bar: Any) -> Any:
        bars: list[Any] = [None]
        for p, to_operand in zip(partials, to_operands, strict=True):
            if to_operand is None:
                bars.append(None)
                continue
            if callable(p):
                slope = p(*kept)
                bar = y_bar * (np.conj(slope) if is_complex else slope)
                if singular and not finite(bar):
                    bar = where(np.equal(y_bar, 0), 0, bar)
            else:
                bar = y_bar if p == 1 else p * y_bar
            bars.append(to_operand(bar))
        return tuple(bars)

    return y, back


def _numeric_operands(traits: _Traits, operands: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """The operands as numbers and arrays; ``None`` where one is something else and the rule must
    decline."""
    if all(map(is_numeric, operands)):
        return operands
    # ndarray + list is arithmetic, list + list is not
    if traits.takes_lists or any(type(x) is ndarray for x in operands):
        values = tuple(map(as_numeric, operands))
        if not any(v is None for v in values):
            return values
    return None


def _computing_dtype(y: Any) -> tuple[np.dtype[Any], bool]:
    """In what precision the partials are computed, and whether they are complex."""
    dtype: np.dtype[Any] = y.dtype if hasattr(y, "dtype") else np.dtype(type(y))
    return (dtype if dtype.kind in "fc" else FLOAT64), dtype.kind == "c"


def _computing(x: Any, dtype: np.dtype[Any], traits: _Traits) -> Any:
    """`x` as partials want it: no integers, which overflow, and no Python numbers, which raise at a
    pole."""
    if traits.floats_only:
        return float64(float(x))
    if hasattr(x, "dtype"):
        return x if x.dtype.kind in "fc" else x.astype(FLOAT64)
    return dtype.type(x)


def _with_arity(rule: Rule, n: int) -> Rule:
    operands = [inspect.Parameter(f"x{i}", inspect.Parameter.POSITIONAL_ONLY) for i in range(n)]
    rule.__signature__ = inspect.Signature(operands)  # type: ignore[attr-defined]
    return rule


# ---- forward -------------------------------------------------------------------------------------


def forward(f: Callable[..., Any], slopes: Slopes) -> Rule:
    """The forward rule of `f`: ordinary Python that is itself differentiable, for derivatives of
    higher order."""
    traits, partials, singular = _Traits.of(f), slopes.partials, slopes.singular

    def rule(dots: tuple[Any, ...], /, *operands: Any) -> Any:
        values = _numeric_operands(traits, operands)
        if values is None:
            return NotImplemented
        y = f(*operands)
        y_dot = None
        for p, dot, x in zip(partials, dots, operands, strict=True):
            if p is None or dot is None:
                continue
            term = _product(_slope(p, y, values), filled(dot, x), singular)
            y_dot = term if y_dot is None else y_dot + term
        return y, y_dot if y_dot is None else _tangent(y_dot, y)

    dots = inspect.Parameter("dots", inspect.Parameter.POSITIONAL_ONLY)
    operands = inspect.signature(_with_arity(lambda: None, len(partials))).parameters.values()
    rule.__signature__ = inspect.Signature([dots, *operands])  # type: ignore[attr-defined]
    return rule


def _slope(p: Callable[..., Any] | float, y: Any, operands: tuple[Any, ...]) -> Any:
    if not callable(p):
        return p
    floating = [
        x.astype(FLOAT64) if hasattr(x, "dtype") and x.dtype.kind not in "fc" else x
        for x in (y, *operands)
    ]
    try:
        return p(*floating)
    except _POLES:
        return p(*map(float64, floating))


def filled(dot: Any, x: Any) -> Any:
    """The tangent of a list as that of the array it stands for: parts without one are zero."""
    if dot is None:
        return np.zeros(np.shape(x))
    if isinstance(dot, list | tuple):
        return np.asarray([filled(part, of) for part, of in zip(dot, x, strict=True)])
    return dot


def _product(slope: Any, dot: Any, singular: bool) -> Any:
    term = slope * dot
    if singular and not finite(term):
        # only what is not finite is replaced: elsewhere the product must stay one, for the next
        # derivative
        term = where(np.equal(dot, 0) & ~np.isfinite(term), 0, term)[()]
    return term


def _tangent(y_dot: Any, y: Any) -> Any:
    """`y_dot` in the shape and precision of `y`: an operand without tangent may have widened
    either."""
    if np.shape(y_dot) != np.shape(y):
        y_dot = y_dot + np.zeros(np.shape(y))
    dtype = getattr(y, "dtype", None)
    if dtype is not None and dtype.kind in "fc" and getattr(y_dot, "dtype", dtype) != dtype:
        y_dot = y_dot.astype(dtype)
    return y_dot


non_differentiable(is_numeric, finite)
