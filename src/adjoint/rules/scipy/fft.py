"""Rules of `scipy.fft`: Fourier, cosine and sine transforms.

Fourier transforms are NumPy's with other options; see `adjoint.rules.numpy.fft`. A cosine or sine
transform is a multiple of an orthogonal matrix once its first and last elements are scaled as SciPy
does with ``orthogonalize=True``. Its transpose is then the inverse transform with the opposite
scaling (Makhoul, *A fast cosine transform in one and two dimensions* (1980)). Without
``orthogonalize`` the transpose has the scaling on its other side.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import wraps
from typing import Any

import numpy as np
from scipy import fft as sf

from adjoint.rulekit.elementwise_forward import filled
from adjoint.rulekit.projection import as_numeric
from adjoint.rulekit.refusal import NoDerivative, may_be_nonzero, refusal, refused_bar
from adjoint.rulekit.registry import frule, non_differentiable
from adjoint.rulekit.tangents import linear_in
from adjoint.rules.numpy.fft import (
    OPPOSITE,
    fft_bar,
    hfft_bar,
    ifft_bar,
    ihfft_bar,
    irfft_bar,
    resized,
    rfft_bar,
)
from adjoint.rules.numpy.operands import array_rule, linear_rule
from adjoint.rules.scipy.overwrite_options import take_overwritten

ROOT_2 = float(np.sqrt(2.0))


def overwritable(x: Any, overwrite: bool) -> Any:
    """Return `x`, or a copy that SciPy may overwrite."""
    return np.array(x) if overwrite else x


def _keeping(f: Any) -> Any:
    """Return a Fourier transform that does not overwrite its argument, whatever the option."""

    @wraps(f)
    def keeping(x: Any, *others: Any, overwrite_x: bool = False, **named: Any) -> Any:
        return f(x, *others[:3], *[False for _ in others[3:4]], *others[4:], **named)

    return keeping


# ---- one axis ------------------------------------------------------------------------------------


def _one_axis(f: Any, transpose: Any, to_real: bool) -> None:
    def back(
        y_bar, shape, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None
    ):
        length = shape[axis]
        padded = n if n is not None else 2 * (length - 1) if to_real else length
        return transpose(y_bar, length, padded, axis, norm)

    linear_rule(f, back, operand="x", called=_keeping(f))


# ---- several axes --------------------------------------------------------------------------------


def _listed(x: Any) -> list[int] | None:
    return None if x is None else list(x) if isinstance(x, Iterable) else [x]


def _order(shape: tuple[int, ...], s: Any, axes: Any) -> list[tuple[int | None, int]]:
    """Return (length, axis) of each transform; the length is ``None`` where `s` sets none."""
    lengths, axes = _listed(s), _listed(axes)
    if axes is None:
        axes = list(range(len(shape))) if lengths is None else list(range(-len(lengths), 0))
    if lengths is None:
        lengths = [-1] * len(axes)
    pairs = zip(lengths, axes, strict=True)
    return [(None if n == -1 else int(n), int(axis) % len(shape)) for n, axis in pairs]


def _several_axes(f: Any, default: Any, transpose: Any, last: Any, to_real: bool) -> None:
    """Register an n-dimensional transform. `last` is the transpose along the last axis, if that one
    holds half a spectrum."""

    def back(
        y_bar, shape, s=None, axes=default, norm=None, overwrite_x=False, workers=None, *, plan=None
    ):
        steps = [(transpose, n or shape[axis], axis) for n, axis in _order(shape, s, axes)]
        if last is not None:
            _, n, axis = steps[-1]
            steps[-1] = last, 2 * (n - 1) if to_real and s is None else n, axis
            steps = steps[::-1] if to_real else steps
        for step, n, axis in steps:
            y_bar = step(y_bar, shape[axis], n, axis, norm)
        return y_bar

    # a transform of no axes is its argument
    linear_rule(f, back, operand="x", alias=True, called=_keeping(f))


for _name, _transpose, _to_real in (
    ("fft", fft_bar, False),
    ("ifft", ifft_bar, False),
    ("rfft", rfft_bar, False),
    ("irfft", irfft_bar, True),
    ("hfft", hfft_bar, True),
    ("ihfft", ihfft_bar, False),
):
    _one_axis(getattr(sf, _name), _transpose, _to_real)

for _name, _transpose, _last, _to_real in (
    ("fft", fft_bar, None, False),
    ("ifft", ifft_bar, None, False),
    ("rfft", fft_bar, rfft_bar, False),
    ("irfft", ifft_bar, irfft_bar, True),
    ("hfft", fft_bar, hfft_bar, True),
    ("ihfft", ifft_bar, ihfft_bar, False),
):
    _several_axes(getattr(sf, f"{_name}n"), None, _transpose, _last, _to_real)
    _several_axes(getattr(sf, f"{_name}2"), (-2, -1), _transpose, _last, _to_real)


# ---- cosines and sines ---------------------------------------------------------------------------


def _scaled(y: Any, axis: int, ends: str, factor: float) -> Any:
    """Multiply the first or last elements of `y` by `factor`."""
    if not ends:
        return y
    scale = np.ones(y.shape[axis], y.real.dtype)
    if "first" in ends:
        scale[0] *= factor
    if "last" in ends:
        scale[-1] *= factor
    shape = [1] * y.ndim
    shape[axis] = -1
    return y * scale.reshape(shape)


ENDS = {
    ("dct", 1): ("first last", "first last"), ("dct", 2): ("", "first"), ("dct", 3): ("first", ""),
    ("dct", 4): ("", ""), ("dst", 1): ("", ""), ("dst", 2): ("", "last"), ("dst", 3): ("last", ""),
    ("dst", 4): ("", ""),
}  # fmt: skip
"""Ends that ``orthogonalize=True`` multiplies by √2 before a transform and divides by it after."""

INVERSE = {1: 1, 2: 3, 3: 2, 4: 4}


def _wave_bar(
    kind: str, y_bar: Any, length: int, type: int, axis: int, norm: Any, orth: Any
) -> Any:
    """Return the transpose of ``dct`` or ``dst`` along one axis, applied to `y_bar`."""
    orthogonal = norm == "ortho" if orth is None else orth
    before, after = ENDS[kind, type]
    if not orthogonal:
        y_bar = _scaled(y_bar, axis, after, ROOT_2)
    inverse = sf.idct if kind == "dct" else sf.idst
    # SciPy drops `orthogonalize` for complex arrays.
    parts = (np.real(y_bar), np.imag(y_bar)) if np.iscomplexobj(y_bar) else (y_bar,)
    bars = [inverse(p, type, axis=axis, norm=OPPOSITE[norm], orthogonalize=True) for p in parts]
    x_bar = bars[0] if len(bars) == 1 else bars[0] + 1j * bars[1]
    if not orthogonal:
        x_bar = _scaled(x_bar, axis, before, 1 / ROOT_2)
    return resized(x_bar, length, axis)


def _is_ignored(x: Any, norm: Any, orthogonalize: Any) -> bool:
    """Return whether SciPy may ignore `orthogonalize`, as it does for complex arrays."""
    return np.iscomplexobj(x) and orthogonalize not in (None, norm == "ortho")


def _forth(type: int, norm: Any) -> tuple[int, Any]:
    return type, norm


def _inverted(type: int, norm: Any) -> tuple[int, Any]:
    """Return type and scaling of the transform that equals the inverse transform."""
    return INVERSE[type], OPPOSITE[norm]


def _waves(f: Any, kind: str, direction: Any) -> None:
    @array_rule(f, operands="x")
    def _(
        x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, orthogonalize=None
    ):
        if as_numeric(x) is None or _is_ignored(x, norm, orthogonalize):
            return NotImplemented
        y = f(
            overwritable(x, overwrite_x), type, n, axis, norm, overwrite_x, workers, orthogonalize
        )
        length, (other, scaling) = np.shape(x)[axis], direction(type, norm)

        def waves_back(y_bar):
            bar = _wave_bar(kind, y_bar, length, other, axis, scaling, orthogonalize)
            return None, bar

        return y, waves_back

    @frule.register(f)
    def _(
        dots, x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, workers=None,
        orthogonalize=None,
    ):  # fmt: skip
        if as_numeric(x) is None or _is_ignored(x, norm, orthogonalize):
            return NotImplemented
        y = f(
            overwritable(x, overwrite_x), type, n, axis, norm, overwrite_x, workers, orthogonalize
        )
        if dots[0] is None:
            return y, None
        x_dot = filled(dots[0], x)
        return y, f(x_dot, type, n, axis, norm, workers=workers, orthogonalize=orthogonalize)


def _waves_of_several(f: Any, kind: str, direction: Any) -> None:
    @array_rule(f, operands="x", alias=True)
    def _(
        x, type=2, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *,
        orthogonalize=None,
    ):  # fmt: skip
        if as_numeric(x) is None or _is_ignored(x, norm, orthogonalize):
            return NotImplemented
        given = overwritable(x, overwrite_x)
        y = f(given, type, s, axes, norm, overwrite_x, workers, orthogonalize=orthogonalize)
        shape, (other, scaling) = np.shape(x), direction(type, norm)

        def waves_back(y_bar):
            for _, axis in _order(shape, s, axes):
                y_bar = _wave_bar(kind, y_bar, shape[axis], other, axis, scaling, orthogonalize)
            return None, y_bar

        return y, waves_back

    @frule.register(f, alias=True)
    def _(
        dots, x, type=2, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *,
        orthogonalize=None,
    ):  # fmt: skip
        if as_numeric(x) is None or _is_ignored(x, norm, orthogonalize):
            return NotImplemented
        given = overwritable(x, overwrite_x)
        y = f(given, type, s, axes, norm, overwrite_x, workers, orthogonalize=orthogonalize)
        if dots[0] is None:
            return y, None
        x_dot = filled(dots[0], x)
        return y, f(x_dot, type, s, axes, norm, workers=workers, orthogonalize=orthogonalize)


for _kind in ("dct", "dst"):
    linear_in(*(getattr(sf, f"{i}{_kind}{n}") for i in ("", "i") for n in ("", "n")))
    _waves(getattr(sf, _kind), _kind, _forth)
    _waves(getattr(sf, f"i{_kind}"), _kind, _inverted)
    _waves_of_several(getattr(sf, f"{_kind}n"), _kind, _forth)
    _waves_of_several(getattr(sf, f"i{_kind}n"), _kind, _inverted)
    linear_in(*(getattr(sf, f"{way}{_kind}{n}") for way in ("", "i") for n in ("", "n")))


# ---- shifts, frequencies and Hankel transforms ---------------------------------------------------

linear_rule(sf.fftshift, lambda y_bar, shape, axes=None: sf.ifftshift(y_bar, axes), operand="x")
linear_rule(sf.ifftshift, lambda y_bar, shape, axes=None: sf.fftshift(y_bar, axes), operand="x")


def _frequencies(f: Any) -> None:
    """Register multiples of ``1 / (n * d)``, which depend on the sample spacing `d`."""

    @array_rule(f, operands="d")
    def _(n, d=1.0, *, xp=None, device=None):
        y = f(n, d) if device is None else f(n, d, device=device)
        return y, lambda y_bar: (None, -y_bar * np.conj(y / d))

    @frule.register(f)
    def _(dots, n, d=1.0, *, xp=None, device=None):
        y = f(n, d) if device is None else f(n, d, device=device)
        d_dot = dots[1] if len(dots) > 1 else None
        return y, None if d_dot is None else -y / d * d_dot


if sf.fftfreq is not np.fft.fftfreq:  # the same object in older versions
    _frequencies(sf.fftfreq)
    _frequencies(sf.rfftfreq)
CONSTANT = """
    get_workers next_fast_len prev_fast_len register_backend set_backend set_global_backend
    set_workers skip_backend
"""

non_differentiable(*[getattr(sf, name) for name in CONSTANT.split() if hasattr(sf, name)])


CONSTANT_ONLY = NoDerivative("the grid, the order or the bias", "has no rule")


def _of_logarithms(f: Any) -> None:
    """Register the Hankel transform on a logarithmic grid, whose matrix is symmetric.

    The matrix is circulant up to the order of its rows, and a bias scales rows and columns alike
    (Hamilton, *Uncorrelated modes of the non-linear power spectrum* (2000), appendix B).
    """

    @array_rule(f, operands="a dln mu offset bias")
    def _(a, dln, mu, offset=0.0, bias=0.0):
        def back(y_bar):
            refused = refused_bar(f, CONSTANT_ONLY, y_bar)
            return None, f(y_bar, dln, mu, offset, bias), refused, refused, refused, refused

        return f(a, dln, mu, offset, bias), back

    @frule.register(f)
    def _(dots, a, dln, mu, offset=0.0, bias=0.0):
        if as_numeric(a) is None:
            return NotImplemented
        if any(map(may_be_nonzero, dots[1:])):
            raise refusal(f, CONSTANT_ONLY)
        y = f(a, dln, mu, offset, bias)
        return y, None if dots[0] is None else f(filled(dots[0], a), dln, mu, offset, bias)


_of_logarithms(sf.fht)
_of_logarithms(sf.ifht)

take_overwritten(getattr(sf, name) for name in sf.__all__)
