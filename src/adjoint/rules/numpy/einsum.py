"""Rules of `np.einsum`: the cotangent of an operand is an einsum of ȳ and the other operands."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np

from adjoint.rulekit.elementwise_forward import like_result
from adjoint.rulekit.projection import as_numeric, project
from adjoint.rulekit.registry import frule, rrule
from adjoint.rulekit.tangents import linear_in
from adjoint.rules.numpy.operands import conj, dense, severed

Labels = list[int]


def _read(subscripts: str, letters: dict[str, int], ellipsis: Labels) -> Labels:
    """Return the labels of one operand, with those of `ellipsis` in place of ``...``."""
    labels: Labels = []
    rest = subscripts.replace(" ", "")
    while rest:
        if rest.startswith("..."):
            labels, rest = labels + ellipsis, rest[3:]
        else:
            labels, rest = [*labels, letters.setdefault(rest[0], len(letters))], rest[1:]
    return labels


def parse(subscripts: str, ndims: list[int]) -> tuple[list[Labels], Labels]:
    """Return the labels of operands and result as numbers, with ellipses spelled out.

    >>> parse("ij,jk", [2, 2])
    ([[0, 1], [1, 2]], [0, 2])
    """
    text, arrow, output = subscripts.replace(" ", "").partition("->")
    terms = text.split(",")
    named = [len(term.replace("...", "")) for term in terms]
    extra = [
        ndim - n if "..." in term else 0 for term, n, ndim in zip(terms, named, ndims, strict=True)
    ]
    width = max(extra, default=0)
    letters = {letter: i for i, letter in enumerate(sorted(set(text) - set(",.")))}
    broad = list(range(len(letters), len(letters) + width))
    inputs = [
        _read(term, letters, broad[width - n :]) for term, n in zip(terms, extra, strict=True)
    ]
    if arrow:
        return inputs, _read(output, letters, broad)
    every = [label for labels in inputs for label in labels]
    return inputs, broad + [label for label in range(len(letters)) if every.count(label) == 1]


def operands_of(args: tuple[Any, ...]) -> tuple[str, list[Any], list[int]]:
    """Return subscripts, operands and their places in `args`, for both ways to call `np.einsum`."""
    if isinstance(args[0], str):
        return args[0], list(args[1:]), list(range(1, len(args)))
    places = list(range(0, len(args) - 1, 2))
    terms = [_spell(args[i + 1]) for i in places]
    output = "->" + _spell(args[-1]) if len(args) % 2 else ""
    return ",".join(terms) + output, [args[i] for i in places], places


def _spell(sublist: Any) -> str:
    # NumPy numbers its letters like this, so that the implicit order of the result is the same.
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
    return "".join("..." if label is Ellipsis else alphabet[label] for label in sublist)


@rrule.register(np.einsum, alias=True)
def _(*operands, optimize=False, dtype=None, order="K", casting="safe"):
    subscripts, arrays, places = operands_of(operands)
    values = [as_numeric(array) for array in arrays]
    if any(value is None for value in values):
        return NotImplemented
    y = np.einsum(*operands, optimize=optimize, dtype=dtype, order=order, casting=casting)
    if severed(y, *values):
        return y, lambda y_bar: (None,) * (len(operands) + 1)
    bars_of = transposes(subscripts, tuple([np.shape(value) for value in values]))

    def einsum_back(y_bar, *, wanted):
        conjugates = [conj(value) for value in values]
        bars: list[Any] = [None] * (len(operands) + 1)
        for i, (place, bar_of) in enumerate(zip(places, bars_of, strict=True)):
            if wanted[place]:
                others = conjugates[:i] + conjugates[i + 1 :]
                bars[place + 1] = project(bar_of(y_bar, others, optimize), operands[place])
        return tuple(bars)

    return y, einsum_back


@dataclass(frozen=True, slots=True)
class _Transpose:
    """The computation of the cotangent of one operand.

    Attributes
    ----------
    subscripts
        Subscripts of the einsum of ȳ with the conjugates of the other operands.
    expanded, whole
        Shapes of the einsum, with 1 for each label that it lacks, and of the operand's distinct
        labels. A label of this operand alone is summed over, so the cotangent is constant along it.
    diagonal
        For repeated labels: the subscripts that read the diagonal, and the full shape.
    """

    subscripts: str
    expanded: tuple[int, ...]
    whole: tuple[int, ...]
    diagonal: tuple[str, tuple[int, ...]] | None

    def __call__(self, y_bar: Any, others: list[Any], optimize: Any) -> Any:
        bar = np.einsum(self.subscripts, y_bar, *others, optimize=optimize)
        if bar.shape != self.whole:
            bar = np.broadcast_to(np.reshape(bar, self.expanded), self.whole)
        if self.diagonal is None:
            return bar
        read, shape = self.diagonal
        full = np.zeros(shape, bar.dtype)
        np.einsum(read, full)[...] = bar  # a view: the diagonal that was read
        return full


@functools.lru_cache(maxsize=1024)
def transposes(subscripts: str, shapes: tuple[tuple[int, ...], ...]) -> list[_Transpose]:
    """Return the computation of the cotangent of each operand."""
    inputs, output = parse(subscripts, [len(shape) for shape in shapes])
    sizes: dict[int, int] = {}
    for labels, shape in zip(inputs, shapes, strict=True):
        for label, size in zip(labels, shape, strict=True):
            sizes[label] = size if sizes.get(label, 1) == 1 else sizes[label]
    return [_transpose(i, inputs, output, shapes, sizes) for i in range(len(inputs))]


def _transpose(
    i: int,
    inputs: list[Labels],
    output: Labels,
    shapes: tuple[tuple[int, ...], ...],
    sizes: dict[int, int],
) -> _Transpose:
    labels, others = inputs[i], inputs[:i] + inputs[i + 1 :]
    unique = list(dict.fromkeys(labels))
    own = dict(zip(labels, shapes[i], strict=True))
    # A label of length 1 here and longer elsewhere was broadcast, so it is summed over.
    elsewhere = {label for other in (*others, output) for label in other}
    present = [label for label in unique if label in elsewhere and own[label] == sizes[label]]
    # Lengths in the einsum: a label of length 1 in all its operands stays 1.
    found = dict.fromkeys(present, 1)
    longest = [(output, [sizes[label] for label in output])]
    longest += [(inputs[j], list(shapes[j])) for j in range(len(inputs)) if j != i]
    for other, shape in longest:
        found |= {k: n for k, n in zip(other, shape, strict=True) if found.get(k) == 1}
    terms = ",".join(_spell(other) for other in (output, *others))
    return _Transpose(
        f"{terms}->{_spell(present)}",
        tuple(found.get(label, 1) for label in unique),
        tuple(own[label] for label in unique),
        (f"{_spell(labels)}->{_spell(unique)}", shapes[i]) if len(unique) < len(labels) else None,
    )


@frule.register(np.einsum, alias=True)
def _(dots, *operands, optimize=False, dtype=None, order="K", casting="safe"):
    _, arrays, places = operands_of(operands)
    if any(as_numeric(array) is None for array in arrays):
        return NotImplemented
    options = {"optimize": optimize, "dtype": dtype, "order": order, "casting": casting}
    y = np.einsum(*operands, **options)
    if severed(y, *arrays):
        return y, None
    terms = [
        np.einsum(
            *operands[:place],
            np.asarray(dense(dots[place], operands[place])),
            *operands[place + 1 :],
            **options,
        )
        for place in places
        if dots[place] is not None
    ]
    return y, like_result(sum(terms[1:], terms[0]), y) if terms else None


linear_in(np.einsum, places=range(1, 99))
