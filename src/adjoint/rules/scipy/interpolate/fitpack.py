"""Rules of FITPACK's splines of one variable that interpolate, or fit on given knots.

The values are FITPACK's; the derivatives are those of the same splines as B-splines. Where FITPACK
chooses knots until the spline is smooth enough, the derivative is refused.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import interpolate

from adjoint.rulekit.refusal import NoDerivative
from adjoint.rulekit.registry import non_differentiable, plain, substitute
from adjoint.rules.scipy.equivalents import refusing, result_like, with_derivative_of
from adjoint.rules.scipy.interpolate.bsplines import NEAR, fitted, knots_of
from adjoint.rules.scipy.interpolate.splines import (
    evaluating,
    of_points,
    of_positions,
    solving,
    spline,
)

_impl: Any = getattr(interpolate, "_fitpack_impl", None)
_classes: Any = getattr(interpolate, "_fitpack2", None)

SMOOTHED = NoDerivative("the data", "is not known of smoothing: its knots are chosen by trial")
BESIDE = NoDerivative("the data", "is that of something beside knots and coefficients")


# ---- values --------------------------------------------------------------------------------------


def _columns(c, n):
    return np.reshape(c[:n], (n, 1))


def _is_parametric(c: Any) -> bool:
    return np.ndim(c[0]) > 0


non_differentiable(_is_parametric)

_plain_splev, _plain_splint = plain(_impl.splev), plain(_impl.splint)
_plain_spalde, _plain_splrep = plain(_impl.spalde), plain(_impl.splrep)


@substitute(_impl.splev)
def splev(x, tck, der=0, ext=0):
    t, c, k = tck
    if _is_parametric(c):
        return [splev(x, (t, part, k), der, ext) for part in c]
    y, n = _plain_splev(x, tck, der, ext), len(t) - k - 1
    at = np.reshape(np.asarray(x, float), -1)
    first, last = t[k], t[n]
    if ext == 3:
        at = np.clip(at, first, last)
    carrier = spline(t, _columns(c, n), k, at, der, True)[:, 0]
    if ext == 1:
        carrier = np.where((at < first) | (at > last), 0.0, carrier)
    return with_derivative_of(y, np.reshape(carrier, np.shape(x)), _impl.splev, *NEAR)


def _antiderivative(t, c, k):
    n = len(t) - k - 1
    sums = np.cumsum(c[:n] * (t[k + 1 :] - t[:n])) / (k + 1)
    return np.concatenate([t[:1], t, t[-1:]]), np.concatenate([np.zeros(1), sums])


@substitute(_impl.splint)
def splint(a, b, tck, full_output=0):
    t, c, k = tck
    if _is_parametric(c):
        return [splint(a, b, (t, part, k)) for part in c]
    found = _plain_splint(a, b, tck, full_output)
    knots, sums = _antiderivative(t, c, k)
    ends = np.clip(np.stack([a, b]), t[k], t[len(t) - k - 1])
    values = spline(knots, sums[:, None], k + 1, ends, 0, True)[:, 0]
    y = with_derivative_of(
        found[0] if full_output else found, values[1] - values[0], _impl.splint, *NEAR
    )
    return (y, *found[1:]) if full_output else y


@substitute(_impl.spalde)
def spalde(x, tck):
    t, c, k = tck
    if _is_parametric(c):
        return [spalde(x, (t, part, k)) for part in c]
    y, points = _plain_spalde(x, tck), np.reshape(np.asarray(x, float), -1)
    columns = _columns(c, len(t) - k - 1)
    every = [spline(t, columns, k, points, nu, True)[:, 0] for nu in range(k + 1)]
    carriers = np.stack(every, axis=1)
    if len(points) > 1:
        return [
            with_derivative_of(one, carrier, _impl.spalde, *NEAR)
            for one, carrier in zip(y, carriers)  # noqa: B905 (it is lowered)
        ]
    return with_derivative_of(y, carriers[0], _impl.spalde, *NEAR)


# ---- interpolation and least squares -------------------------------------------------------------


def curve(
    x: Any, y: Any, w: Any, t: Any, c: Any, k: Any, ends: Any, *, interpolates: Any, given: Any
) -> Any:
    """Return knots and coefficients with their derivatives. The spline passes through all values
    (`interpolates`), or has the knots `given`; otherwise its knots were chosen by trial."""
    n = len(t) - k - 1
    if interpolates:
        knots = with_derivative_of(t, knots_of(x, k, ends[0], ends[1]), _impl.splrep, *NEAR)
    elif given is not None:
        knots = with_derivative_of(t, given, _impl.splrep, *NEAR)
    else:
        knots = refusing(t, _impl.splrep, SMOOTHED, x, y, w)
        return knots, refusing(c, _impl.splrep, SMOOTHED, x, y, w)
    carrier = fitted(x, np.reshape(y, (len(x), 1)), knots, k, w)[:, 0]
    own = with_derivative_of(c[:n], carrier, _impl.splrep, *NEAR)
    return knots, np.concatenate([own, c[n:]])


def _knots_between(t, k, first, last):
    return np.concatenate([np.full(k + 1, first), t, np.full(k + 1, last)])


@substitute(_impl.splrep)
def splrep(
    x, y, w=None, xb=None, xe=None, k=3, task=0, s=None, t=None, full_output=0, per=0, quiet=1
):
    found = _plain_splrep(x, y, w, xb, xe, k, task, s, t, full_output, per, quiet)
    (knots, c, _), *rest = found if full_output else (found,)
    x, y = np.asarray(x, float), np.asarray(y, float)
    ends = x[0] if xb is None else xb, x[-1] if xe is None else xe
    exact = s == 0 if s is not None else w is None
    weights = np.ones(len(x)) if w is None else np.asarray(w, float)
    given = None if t is None else _knots_between(np.asarray(t, float), k, ends[0], ends[1])
    interpolates = exact and given is None and task == 0 and not per
    known = None if per else given
    knots, c = curve(x, y, weights, knots, c, k, ends, interpolates=interpolates, given=known)
    if not full_output:
        return knots, c, k
    return (knots, c, k), refusing(rest[0], _impl.splrep, BESIDE, x, y, weights), *rest[1:]


# ---- classes -------------------------------------------------------------------------------------
#
# State of the classes: x y w xb xe k s n t c fp fpint nrdata ier. The arrays of knots and
# coefficients have unused space at the end. An ier of -1 means interpolation, -2 one polynomial.


def _data(found, x, y, w, first, last, given):
    k, n, ier = found[5], found[7], found[13]
    x, y = np.asarray(x, float), np.asarray(y, float)
    w = np.ones(len(x)) if w is None else np.asarray(w, float)
    ends = x[0] if first is None else first, x[-1] if last is None else last
    if ier == -2 and given is None:
        given = _knots_between(np.zeros(0), k, ends[0], ends[1])
    knots, c = curve(
        x, y, w, found[8][:n], found[9][:n], k, ends, interpolates=ier == -1, given=given
    )
    kept = [np.concatenate([knots, found[8][n:]]), np.concatenate([c, found[9][n:]])]
    fp = refusing(found[10], _impl.splrep, BESIDE, x, y, w)
    return (x, y, w, *found[3:8], *kept, fp, *found[11:])


_compiled: Any = getattr(_classes, "dfitpack", None)
_fpcurf0, _fpcurfm1 = getattr(_compiled, "fpcurf0", None), getattr(_compiled, "fpcurfm1", None)
_fpcurf1: Any = getattr(_compiled, "fpcurf1", None)
_curfit: Any = getattr(_classes, "_curfit", None)

if _fpcurf0 is not None and _fpcurfm1 is not None:
    _plain_fpcurf0, _plain_fpcurfm1 = plain(_fpcurf0), plain(_fpcurfm1)

    @substitute(_fpcurf0)
    def fpcurf0(x, y, k, w=None, xb=None, xe=None, s=None):
        options = {"w": w, "xb": xb, "xe": xe, "s": s}
        options = {name: value for name, value in options.items() if value is not None}
        found = _plain_fpcurf0(x, y, k, **options)
        return _data(found, x, y, w, xb, xe, None)

    @substitute(_fpcurfm1)
    def fpcurfm1(x, y, k, t, w=None, xb=None, xe=None):
        options = {"w": w, "xb": xb, "xe": xe}
        options = {name: value for name, value in options.items() if value is not None}
        return _data(_plain_fpcurfm1(x, y, k, t, **options), x, y, w, xb, xe, t)


if _fpcurf1 is not None:

    @plain
    def _further(*kept: Any) -> Any:
        return _fpcurf1(
            *[np.array(part) if isinstance(part, np.ndarray) else part for part in kept]
        )

    @substitute(_fpcurf1)
    def fpcurf1(x, y, w, *kept):
        """Continue from the end of another call, until the spline is smooth enough."""
        found = _further(x, y, w, *kept)
        parts = [refusing(part, _impl.splrep, SMOOTHED, x, y, w) for part in found[8:11]]
        return (x, y, w, *found[3:8], *parts, *found[11:])


if _curfit is not None:
    _plain_curfit = plain(_curfit)

    @substitute(_curfit)
    def curfit(x, y, k, w=None, xb=None, xe=None, s=None, nest=None, iopt=0, *more, **named):
        found = _plain_curfit(x, y, k, w, xb, xe, s, nest, iopt, *more, **named)
        given = named.get("t") if iopt == -1 else None
        return _data(found, x, y, w, xb, xe, given)


# ---- what programs call --------------------------------------------------------------------------


@result_like(of_points)
def fitpack_spline(t: Any, c: Any, k: int, x: Any, nu: int, extrapolate: Any) -> Any:
    """Return the values of a spline with one column of coefficients."""
    if len(c) < len(t) - k - 1 or len(t) < 2 * k + 2:
        raise ValueError("knots and coefficients that do not fit")
    return _impl.splev(x, (t, c[:, 0], k), nu)[:, None]


@result_like(of_positions)
def fitpack_coefficients(x: Any, b: Any, k: int, t: Any) -> Any:
    """Return the coefficients of an interpolant with values in one column."""
    return interpolate.splrep(x, b[:, 0], k=k, s=0)[1][: len(x), None]


@result_like(of_positions)
def class_coefficients(x: Any, b: Any, k: int, t: Any) -> Any:
    """Return the coefficients of an `InterpolatedUnivariateSpline` with values in one column."""
    made = interpolate.InterpolatedUnivariateSpline(x, b[:, 0], k=k)
    return made._eval_args[1][: len(x), None]


evaluating(fitpack_spline)
solving(fitpack_coefficients)
solving(class_coefficients)
