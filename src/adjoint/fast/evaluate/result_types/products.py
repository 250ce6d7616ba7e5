"""Results of products of arrays."""

from __future__ import annotations

import operator
import string
from typing import Any

import numpy as np

from adjoint.fast.evaluate.result_types.lengths import Length, Misfit, Shape, product
from adjoint.fast.evaluate.result_types.records import axes_of, broadcast, dims, integer, shape_of


def _contracted(a: Length, b: Length) -> None:
    if a != b:
        raise Misfit(a, b)


@shape_of(np.dot, np.ndarray.dot, arrays=2)
def _(a: Any, b: Any, out: None = None) -> Shape:
    left, right = dims(a), dims(b)
    if not left or not right:
        return left + right
    _contracted(left[-1], right[-min(len(right), 2)])
    return (*left[:-1], *right[:-2], *right[1:][-1:])


@shape_of(np.matmul, operator.matmul, arrays=2)
def _(a: Any, b: Any, *, dtype: Any = None) -> Shape:
    left, right = dims(a), dims(b)
    if not left or not right:
        raise ValueError("a matrix product of a number")
    _contracted(left[-1], right[-min(len(right), 2)])
    return (*broadcast(left[:-2], right[:-2]), *left[-2:-1], *right[1:][-1:])


@shape_of(np.inner, arrays=2)
def _(a: Any, b: Any) -> Shape:
    left, right = dims(a), dims(b)
    if not left or not right:
        return left + right
    _contracted(left[-1], right[-1])
    return left[:-1] + right[:-1]


if hasattr(np, "vecdot"):

    @shape_of(np.vecdot, arrays=2)
    def vecdot(a: Any, b: Any) -> Shape:
        left, right = dims(a), dims(b)
        _contracted(left[-1], right[-1])
        return broadcast(left[:-1], right[:-1])


@shape_of(np.vdot, arrays=2)
def _(a: Any, b: Any) -> Shape:
    _contracted(product(dims(a)), product(dims(b)))
    return ()


@shape_of(np.outer, arrays=2)
def _(a: Any, b: Any, out: None = None) -> Shape:
    return (product(dims(a)), product(dims(b)))


@shape_of(np.kron, arrays=2)
def _(a: Any, b: Any) -> Shape:
    left, right = dims(a), dims(b)
    rank = max(len(left), len(right))
    left, right = (1,) * (rank - len(left)) + left, (1,) * (rank - len(right)) + right
    return tuple(map(product, zip(left, right, strict=True)))


@shape_of(np.tensordot, arrays=2)
def _(a: Any, b: Any, axes: Any = 2) -> Shape:
    left, right = dims(a), dims(b)
    if isinstance(axes, tuple | list):
        of_left, of_right = axes_of(axes[0], len(left)), axes_of(axes[1], len(right))
    else:
        n = integer(axes)
        if not 0 <= n <= min(len(left), len(right)):
            raise ValueError("more axes than the factors have")
        of_left, of_right = tuple(range(len(left) - n, len(left))), tuple(range(n))
    for i, j in zip(of_left, of_right, strict=True):
        _contracted(left[i], right[j])
    rest = [n for i, n in enumerate(left) if i not in of_left]
    return (*rest, *(n for i, n in enumerate(right) if i not in of_right))


@shape_of(np.einsum, arrays=0)
def _(subscripts: Any, *operands: Any, dtype: Any = None, optimize: Any = False) -> Shape:
    if not isinstance(subscripts, str):
        subscripts, operands = _as_text((subscripts, *operands))
    given, arrow, result = subscripts.replace(" ", "").partition("->")
    terms = given.split(",")
    if not arrow:
        once = sorted(label for label in {*given} - {*",."} if given.count(label) == 1)
        result = "..." * ("." in given) + "".join(once)
    lengths: dict[str, Length] = {}
    rests = []
    for term, x in zip(terms, operands, strict=True):
        shape = dims(x)
        before, dots, after = term.partition("...")
        if len(before + after) > len(shape) or (not dots and len(before) < len(shape)):
            raise ValueError("subscripts for another rank")
        end = len(shape) - len(after)
        rests.append(shape[len(before) : end])
        own: dict[str, Length] = {}
        for label, n in zip(before + after, shape[: len(before)] + shape[end:], strict=True):
            _contracted(own.setdefault(label, n), n)
        for label, n in own.items():
            (lengths[label],) = broadcast((lengths.get(label, 1),), (n,))
    before, dots, after = result.partition("...")
    rest = broadcast(*rests)
    if rest and not dots:
        raise ValueError("axes that the result does not have")
    return (*(lengths[i] for i in before), *rest, *(lengths[i] for i in after))


def _as_text(operands: tuple[Any, ...]) -> tuple[str, tuple[Any, ...]]:
    """Return the subscripts of ``einsum(a, [0, 1], b, [1, 2])`` as text, and the operands."""
    arrays, lists = operands[: len(operands) // 2 * 2 : 2], operands[1::2]
    terms = ["".join("..." if i is ... else string.ascii_letters[i] for i in one) for one in lists]
    result = operands[len(arrays) * 2 :]
    text = ",".join(terms)
    if result:
        text += "->" + "".join("..." if i is ... else string.ascii_letters[i] for i in result[0])
    return text, arrays
