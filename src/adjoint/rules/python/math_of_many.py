"""Rules of functions of `math` that take any number of numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from adjoint.ir.primitives import begin
from adjoint.rulekit.families import elementwise
from adjoint.rulekit.projection import is_numeric, project
from adjoint.rulekit.registry import frule, rrule, substitute
from adjoint.rulekit.tangents import tangent_of
from adjoint.rules.python.math_arguments import real, real_part

# ---- norms ---------------------------------------------------------------------------------------


@rrule.register(math.hypot)
def _(*coordinates):
    if not all(map(is_numeric, coordinates)):
        return NotImplemented
    y = math.hypot(*coordinates)

    def hypot_back(y_bar):
        scale = y_bar / y if y else 0.0  # the norm has slope 0 at 0
        return None, *(project(scale * real_part(x), x) for x in coordinates)

    return y, hypot_back


@frule.register(math.hypot)
def _(dots, *coordinates):
    y, y_dot = math.hypot(*coordinates), 0.0
    for x, x_dot in zip(coordinates, dots, strict=True):
        if x_dot is not None and y:
            y_dot = y_dot + real_part(x) / y * real_part(x_dot)
    return y, y_dot


def _ratio(x: Any, y: Any) -> Any:
    return x / y if y else 0.0


elementwise(math.hypot, lambda y, a, b: _ratio(a, y), lambda y, a, b: _ratio(b, y))
elementwise(
    math.hypot,
    lambda y, a, b, c: _ratio(a, y),
    lambda y, a, b, c: _ratio(b, y),
    lambda y, a, b, c: _ratio(c, y),
)


def _is_vector(xs: Any) -> bool:
    """Return whether `xs` is a sequence of numbers that can be read twice."""
    if isinstance(xs, np.ndarray):
        return xs.ndim == 1 and is_numeric(xs)
    return isinstance(xs, list | tuple) and all(is_numeric(x) and np.ndim(x) == 0 for x in xs)


def _like(bars: list[float], xs: Any) -> Any:
    """Pack one cotangent per element into a cotangent of the sequence `xs`."""
    if isinstance(xs, np.ndarray):
        return project(np.array(bars), xs)
    items = [project(bar, x) for bar, x in zip(bars, xs, strict=True)]
    return items if isinstance(xs, list) else tuple(items)


def _pairs(dots: Any, xs: Any) -> Any:
    """Return pairs of an element and its tangent, for the elements that have one."""
    if dots is None:
        return []
    return [(x, x_dot) for x, x_dot in zip(xs, dots, strict=True) if x_dot is not None]


def _real_pairs(dots: Any, xs: Any) -> Any:
    """Return `_pairs` with the real parts of the tangents."""
    return [(x, real_part(x_dot)) for x, x_dot in _pairs(dots, xs)]


def _gaps(p, q):
    """Return the differences of coordinates; NumPy cannot subtract its booleans."""
    return [
        real_part(a) - (int(b) if type(b) is np.bool_ else real_part(b))
        for a, b in zip(p, q, strict=True)
    ]


@rrule.register(math.dist)
def _(p, q, /):
    if not (_is_vector(p) and _is_vector(q)):
        return NotImplemented
    y = math.dist(p, q)

    def dist_back(y_bar):
        scale = y_bar / y if y else 0.0
        bars = [scale * gap for gap in _gaps(p, q)]
        return None, _like(bars, p), _like([-bar for bar in bars], q)

    return y, dist_back


@frule.register(math.dist)
def _(dots, p, q, /):
    if not (_is_vector(p) and _is_vector(q)):
        return NotImplemented
    y, y_dot = math.dist(p, q), 0.0
    if y:
        gaps = [gap / y for gap in _gaps(p, q)]
        for gap, a_dot in _real_pairs(dots[0], gaps):
            y_dot = y_dot + gap * a_dot
        for gap, b_dot in _real_pairs(dots[1], gaps):
            y_dot = y_dot - gap * b_dot
    return y, y_dot


@tangent_of(math.dist)
def _(dots, y, p, q):
    """Of arrays."""
    p_dot, q_dot = (0.0 if dot is None else dot for dot in dots)
    return float(np.sum((p - q) * (p_dot - q_dot))) / y if y else 0.0


@substitute(math.dist)
def distance(p, q, /):
    """Compute the distance of iterables, or of objects with ``__float__``."""
    p, q = tuple(p), tuple(q)
    if len(p) != len(q):
        raise ValueError("both points must have the same number of dimensions")
    return math.hypot(*[float(a) - float(b) for a, b in zip(p, q, strict=True)])


# ---- sums and products ---------------------------------------------------------------------------


@rrule.register(math.fsum)
def _(xs, /):
    if not _is_vector(xs):
        return NotImplemented
    return math.fsum(xs), lambda y_bar: (None, _like([y_bar] * len(xs), xs))


@frule.register(math.fsum)
def _(dots, xs, /):
    if not _is_vector(xs):
        return NotImplemented
    return math.fsum(xs), None if dots[0] is None else math.fsum(
        [dot for _, dot in _real_pairs(dots[0], xs)]
    )


@substitute(math.fsum)
def _fsum(xs, /):
    """Sum an iterator, or objects with ``__float__``."""
    return math.fsum([real(x) for x in xs])


@rrule.register(math.prod, keyword_bars=True)
def _(xs, /, *, start=1):
    if not (_is_vector(xs) and is_numeric(start) and np.ndim(start) == 0):
        return NotImplemented
    y = math.prod(xs, start=start)

    def prod_back(y_bar):
        before = _running_products(xs)
        after = _running_products(list(xs)[::-1])[::-1]
        slopes = [start * before[i] * after[i + 1] for i in range(len(xs))]
        bars = [y_bar * slope.conjugate() for slope in slopes]
        return None, _like(bars, xs), {"start": project(y_bar * before[-1].conjugate(), start)}

    return y, prod_back


def _running_products(xs: Any) -> list[Any]:
    products = [1]
    for x in xs:
        products.append(products[-1] * x)
    return products


@frule.register(math.prod)
def _(dots, xs, /, *, start=1):
    if not (_is_vector(xs) and is_numeric(start) and np.ndim(start) == 0):
        return NotImplemented
    y, y_dot = start, 0.0
    x_dots = [None] * len(xs) if dots[0] is None else dots[0]
    for x, x_dot in zip(xs, x_dots, strict=True):
        y_dot = y_dot * x if x_dot is None else y_dot * x + y * x_dot
        y = y * x
    return y, y_dot


@substitute(math.prod)
def _prod(xs, /, *, start=1):
    """Multiply the elements of an iterator, or arrays or objects with ``__mul__``."""
    y = start
    for x in xs:
        y = y * x
    return y


_END = object()

sumprod: Any = getattr(math, "sumprod", None)  # new in Python 3.12

if sumprod is not None:

    @rrule.register(sumprod)
    def _(p, q, /):
        if not (_is_vector(p) and _is_vector(q)):
            return NotImplemented
        y = sumprod(p, q)
        return y, lambda y_bar: (
            None,
            _like([y_bar * b.conjugate() for b in q], p),
            _like([y_bar * a.conjugate() for a in p], q),
        )

    @frule.register(sumprod)
    def _(dots, p, q, /):
        if not (_is_vector(p) and _is_vector(q)):
            return NotImplemented
        y_dot = 0.0
        for b, a_dot in _pairs(dots[0], q):
            y_dot = y_dot + b * a_dot
        for a, b_dot in _pairs(dots[1], p):
            y_dot = y_dot + a * b_dot
        return sumprod(p, q), y_dot

    @substitute(sumprod)
    def _sumprod(p, q, /):
        """Sum the products of iterables, or of objects with ``__mul__``."""
        p, q = _side_by_side(begin(p), begin(q))
        if _is_vector(p) and _is_vector(q):
            return sumprod(p, q)
        total = 0
        for a, b in zip(p, q, strict=True):
            total = total + a * b
        return total

    def _side_by_side(ps: Any, qs: Any) -> tuple[list[Any], list[Any]]:
        """List the elements of two iterators, which are advanced in turn."""
        p: list[Any] = []
        q: list[Any] = []
        while True:
            a, b = next(ps, _END), next(qs, _END)
            if (a is _END) is not (b is _END):
                raise ValueError("Inputs are not the same length")
            if a is _END:
                return p, q
            p.append(a)
            q.append(b)
