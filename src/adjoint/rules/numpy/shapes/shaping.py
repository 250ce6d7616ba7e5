"""Rules of NumPy's functions that change shapes: linear, each the transpose of another."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from adjoint.primal.value_kinds import is_objects
from adjoint.rulekit.elementwise_forward import filled
from adjoint.rulekit.projection import as_numeric, is_numeric, projector, unbroadcast
from adjoint.rulekit.registry import frule, rrule, substitute
from adjoint.rules.numpy.forward_rules import array_frule, linear_frule, partwise_frule
from adjoint.rules.numpy.operands import (
    array_rule,
    cotangent_dtype,
    linear_rule,
    methods,
    scatter,
    severed,
)

# ---- the same elements in the same order ---------------------------------------------------------


def resolved(a: Any, order: str) -> Any:
    """Resolve the order 'A' or 'K' to 'C' or 'F', or to None if the layout is neither."""
    if order in ("C", "F"):
        return order
    flags = np.asarray(a).flags
    if order == "A":
        return "F" if flags.fnc else "C"
    return "C" if flags.c_contiguous else "F" if flags.f_contiguous else None


def given_copy(copy: bool | None) -> dict[str, Any]:
    """Return the keyword `copy`, which older versions of NumPy lack, if it was given."""
    return {} if copy is None else {"copy": copy}


@array_rule(np.reshape, alias=True, exact=True)
def _(a, shape, order="C", copy=None):
    y = np.reshape(a, shape, order=order, **given_copy(copy))
    old, order = np.shape(a), resolved(a, order)
    return y, lambda y_bar: (None, np.reshape(y_bar, old, order=order))


@rrule.register(*methods("reshape"), alias=True)
def _(a, *shape, order="C", copy=None):
    y = a.reshape(*shape, order=order, **given_copy(copy))
    old, order, none = a.shape, resolved(a, order), (None,) * len(shape)
    if isinstance(a, np.ndarray):
        return y, lambda y_bar: (None, np.reshape(y_bar, old, order=order), *none)
    to_bar = projector(a)
    return y, lambda y_bar: (None, to_bar(np.reshape(y_bar, ())), *none)


@array_rule(np.ravel, *methods("ravel"), alias=True, exact=True)
def _(a, order="C"):
    return np.ravel(a, order), _flat_back(a, resolved(a, order))


def _layout(a):
    """Return the positions of the elements in the order of their memory."""
    where = np.empty_like(a, np.intp)  # in the layout of `a`
    where[...] = np.arange(where.size).reshape(np.shape(a))
    return where.ravel("K")


@array_rule(*methods("flatten"), exact=True)
def _(a, order="C"):
    return a.flatten(order), _flat_back(a, resolved(a, order))


def _flat_back(a, order):
    shape = np.shape(a)
    if order is not None:
        return lambda y_bar: (None, np.reshape(y_bar, shape, order=order))
    where = _layout(a)
    return lambda y_bar: (None, np.reshape(scatter(where, y_bar, a, unique=True), shape))


@array_frule(np.reshape, alias=True)
def _(dots, y, a, shape, order="C", copy=None):
    return np.reshape(dots[0], np.shape(y), order=resolved(a, order))


@frule.register(*methods("reshape"), alias=True)
def _(dots, a, *shape, order="C", copy=None):
    y = a.reshape(*shape, order=order, **given_copy(copy))
    if dots[0] is None:
        return y, None
    return y, np.reshape(filled(dots[0], a), y.shape, order=resolved(a, order))


@array_frule(np.ravel, *methods("ravel"), alias=True)
def _(dots, y, a, order="C"):
    return _flat_dot(dots[0], a, order)


@array_frule(*methods("flatten"))
def _(dots, y, a, order="C"):
    return np.array(_flat_dot(dots[0], a, order))


def _flat_dot(dot, a, order):
    order = resolved(a, order)
    return np.ravel(dot)[_layout(a)] if order is None else np.ravel(dot, order)


linear_rule(
    np.squeeze,
    lambda y_bar, shape, axis=None: np.reshape(y_bar, shape),
    methods="squeeze",
    alias=True,
)
linear_rule(np.expand_dims, lambda y_bar, shape, axis: np.reshape(y_bar, shape), alias=True)


def _atleast(f):
    def rule(*arys):
        if any(as_numeric(a) is None for a in arys):
            return NotImplemented
        y = f(*arys)
        shapes, to_bars = [np.shape(a) for a in arys], [projector(a) for a in arys]

        def atleast_back(y_bar):
            parts = [y_bar] if len(arys) == 1 else y_bar
            return None, *[
                None if part is None else to_bar(np.reshape(part, shape))
                for part, shape, to_bar in zip(parts, shapes, to_bars, strict=True)
            ]

        return y, atleast_back

    rrule.register(f, alias=True, partwise=True)(rule)
    partwise_frule(f)


for _f in (np.atleast_1d, np.atleast_2d, np.atleast_3d):
    _atleast(_f)

# ---- the same elements in another order ----------------------------------------------------------


def inverse(axes: Any, ndim: int) -> tuple[int, ...]:
    """Return the inverse of a permutation of axes."""
    return tuple(int(i) for i in np.argsort([axis % ndim for axis in axes]))


def _transpose(y_bar, shape, axes=None):
    return np.transpose(y_bar, None if axes is None else inverse(axes, len(shape)))


def _transpose_method(y_bar, shape, *axes):
    if len(axes) == 1 and not isinstance(axes[0], (int, np.integer)):
        axes = () if axes[0] is None else tuple(axes[0])
    return _transpose(y_bar, shape, axes or None)


def _rollaxis(y_bar, shape, axis, start=0):
    n = len(shape)
    axis, start = axis % n, start + n if start < 0 else start
    return np.moveaxis(y_bar, start - (axis < start), axis)


def _roll(y_bar, shape, shift, axis=None):
    return np.roll(y_bar, -np.asarray(shift, np.intp), axis)  # unsigned integers have no negative


linear_rule(np.transpose, _transpose, alias=True)
if hasattr(np, "matrix_transpose"):
    linear_rule(
        np.matrix_transpose, lambda y_bar, shape: np.swapaxes(y_bar, -1, -2), operand="", alias=True
    )
linear_rule(
    np.swapaxes,
    lambda y_bar, shape, axis1, axis2: np.swapaxes(y_bar, axis1, axis2),
    methods="swapaxes",
    alias=True,
)
linear_rule(
    np.moveaxis,
    lambda y_bar, shape, source, destination: np.moveaxis(y_bar, destination, source),
    alias=True,
)
linear_rule(np.rollaxis, _rollaxis, alias=True)
linear_rule(np.flip, lambda y_bar, shape, axis=None: np.flip(y_bar, axis), operand="m", alias=True)
linear_rule(np.fliplr, lambda y_bar, shape: np.fliplr(y_bar), operand="m", alias=True)
linear_rule(np.flipud, lambda y_bar, shape: np.flipud(y_bar), operand="m", alias=True)
linear_rule(
    np.rot90,
    lambda y_bar, shape, k=1, axes=(0, 1): np.rot90(y_bar, -k, axes),
    operand="m",
    alias=True,
)
linear_rule(np.roll, _roll)


@rrule.register(*methods("transpose"), alias=True)
def _(a, *axes):
    shape, none = a.shape, (None,) * len(axes)
    return a.transpose(*axes), lambda y_bar: (None, _transpose_method(y_bar, shape, *axes), *none)


@frule.register(*methods("transpose"), alias=True)
def _(dots, a, *axes):
    y = a.transpose(*axes)
    return y, None if dots[0] is None else np.asarray(filled(dots[0], a)).transpose(*axes)[()]


# ---- repetition: the transpose is a sum ----------------------------------------------------------


def _tile(y_bar, shape, reps):
    reps = np.atleast_1d(reps).tolist()
    n = max(len(reps), len(shape))
    reps, padded = [1] * (n - len(reps)) + reps, [1] * (n - len(shape)) + list(shape)
    pairs = [size for pair in zip(reps, padded, strict=True) for size in pair]
    return np.reshape(np.sum(np.reshape(y_bar, pairs), axis=tuple(range(0, 2 * n, 2))), shape)


def _repeat(y_bar, shape, repeats, axis=None):
    if axis is None:
        return np.reshape(_repeat(y_bar, (math.prod(shape),), repeats, 0), shape)
    if not shape:
        return np.sum(y_bar)
    axis %= len(shape)
    counts = np.asarray(repeats)
    if counts.size == 1:
        count = int(counts.reshape(()))
        split = (*shape[:axis], shape[axis], count, *shape[axis + 1 :])
        return np.sum(np.reshape(y_bar, split), axis=axis + 1)
    bar = np.zeros(shape, cotangent_dtype(y_bar))
    np.add.at(bar, (slice(None),) * axis + (np.repeat(np.arange(shape[axis]), counts),), y_bar)
    return bar


def _resize(y_bar, shape, new_shape):
    size = math.prod(shape)
    if size == 0:
        return np.zeros(shape)
    flat = np.ravel(y_bar)
    whole = np.concatenate([flat, np.zeros(-flat.size % size, flat.dtype)])
    return np.reshape(np.sum(np.reshape(whole, (-1, size)), axis=0), shape)


linear_rule(np.tile, lambda y_bar, shape, reps: _tile(y_bar, shape, reps), operand="A")
linear_rule(np.repeat, _repeat, methods="repeat")
linear_rule(np.resize, _resize)


@array_rule(np.broadcast_to, operands="array", alias=True, exact=True)
def _(array, shape, subok=False):
    old = np.shape(array)
    return np.broadcast_to(array, shape, subok=subok), lambda y_bar: (
        None,
        unbroadcast(np.asanyarray(y_bar), old),
    )


@array_frule(np.broadcast_to, operands="array", alias=True)
def _(dots, y, array, shape, subok=False):
    return np.broadcast_to(dots[0], shape)


@rrule.register(np.broadcast_arrays, alias=True, partwise=True)
def _(*args, subok=False):
    if any(as_numeric(a) is None for a in args):
        return NotImplemented
    to_bars = [projector(a) for a in args]

    def broadcast_arrays_back(y_bar):
        return None, *[
            None if bar is None else to_bar(bar) for bar, to_bar in zip(y_bar, to_bars, strict=True)
        ]

    return np.broadcast_arrays(*args, subok=subok), broadcast_arrays_back


partwise_frule(np.broadcast_arrays)


def _broadcast_to(array, shape, subok, readonly):
    """Broadcast one array for `np.broadcast_to` and `np.broadcast_arrays`, subclasses included."""
    array = np.asanyarray(array) if subok else np.asarray(array)
    if is_numeric(array) or is_objects(array):
        return np.broadcast_to(array, shape, subok=subok)
    shape = np.broadcast_to(np.zeros(array.shape, bool), shape).shape  # which also checks it
    steps = [0 if n == 1 else step for n, step in zip(array.shape, array.strides, strict=True)]
    steps = [0] * (len(shape) - array.ndim) + steps
    return np.lib.stride_tricks.as_strided(array, shape, steps, subok, writeable=False)


_tricks: Any = getattr(np.lib, "_stride_tricks_impl", np.lib.stride_tricks)
substitute(_tricks._broadcast_to)(_broadcast_to)

# ---- diagonals and triangles ---------------------------------------------------------------------


def diagonal_of(shape: tuple[int, ...], offset: int, axis1: int, axis2: int, values: Any) -> Any:
    """Return zeros of a shape with `values` on a diagonal, which is the last axis of `values`."""
    bar, offset = np.zeros(shape, cotangent_dtype(values)), int(offset)
    matrices = np.moveaxis(bar, (axis1, axis2), (-2, -1))
    rows, columns = matrices.shape[-2:]
    n = max(0, min(rows + min(offset, 0), columns - max(offset, 0)))
    i = np.arange(n)
    matrices[..., i + max(-offset, 0), i + max(offset, 0)] = values
    return bar


def _diagonal(y_bar, shape, offset=0, axis1=0, axis2=1):
    return diagonal_of(shape, offset, axis1, axis2, y_bar)


@array_rule(np.trace, *methods("trace"))
def _(a, offset=0, axis1=0, axis2=1, dtype=None, out=None):
    if out is not None:
        return NotImplemented
    y, shape = np.trace(a, offset, axis1, axis2, dtype), np.shape(a)
    if severed(y, a):
        return y, lambda y_bar: (None, np.zeros(shape))
    return y, lambda y_bar: (
        None,
        diagonal_of(shape, offset, axis1, axis2, np.asanyarray(y_bar)[..., None]),
    )


linear_frule(np.trace, *methods("trace"))


def _diag(y_bar, shape, k=0):
    return np.diagonal(y_bar, k) if len(shape) == 1 else diagonal_of(shape, k, 0, 1, y_bar)


def _triangle(part):
    def transpose(y_bar, shape, k=0):
        bar = part(y_bar, k)
        return unbroadcast(bar, shape)

    return transpose


linear_rule(np.diagonal, _diagonal, methods="diagonal", alias=True)
linear_rule(np.diag, _diag, operand="v", alias=True)
linear_rule(
    np.diagflat, lambda y_bar, shape, k=0: np.reshape(np.diagonal(y_bar, k), shape), operand="v"
)
linear_rule(np.tril, _triangle(np.tril), operand="m")
linear_rule(np.triu, _triangle(np.triu), operand="m")
