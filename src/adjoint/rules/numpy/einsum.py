"""The rule of `np.einsum`: the cotangent of each operand is an einsum of the result's with the
other operands.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.rules.projection import as_numeric, project
from adjoint.rules.registry import rrule

Labels = list[int]


def _read(subscripts: str, letters: dict[str, int], ellipsis: Labels) -> Labels:
    """The labels of one operand; those of an ellipsis stand where it stands."""
    labels: Labels = []
    rest = subscripts.replace(" ", "")
    while rest:
        if rest.startswith("..."):
            labels, rest = labels + ellipsis, rest[3:]
        else:
            labels, rest = [*labels, letters.setdefault(rest[0], len(letters))], rest[1:]
    return labels


def parse(subscripts: str, ndims: list[int]) -> tuple[list[Labels], Labels]:
    """The labels of the operands and of the result, as numbers; an ellipsis is spelled out.

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


def operands_of(args: tuple[Any, ...]) -> tuple[str, list[Any], list[int]] | None:
    """Subscripts, operands and where among the arguments these are, for both ways to call
    `np.einsum`.
    """
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
def _(*operands, optimize=False):
    found = operands_of(operands)
    if found is None:
        return NotImplemented
    subscripts, arrays, places = found
    values = [as_numeric(array) for array in arrays]
    if any(value is None for value in values):
        return NotImplemented
    inputs, output = parse(subscripts, [np.ndim(value) for value in values])
    sizes: dict[int, int] = {}
    for labels, value in zip(inputs, values, strict=True):
        for label, size in zip(labels, np.shape(value), strict=True):
            sizes[label] = max(size, sizes.get(label, 1)) if size else 0

    def einsum_back(y_bar):
        bars: list[Any] = [None] * (len(operands) + 1)
        for i, place in enumerate(places):
            bars[place + 1] = project(
                _operand_bar(i, values, inputs, output, sizes, y_bar, optimize), operands[place]
            )
        return tuple(bars)

    return np.einsum(*operands, optimize=optimize), einsum_back


def _operand_bar(
    i: int,
    values: list[Any],
    inputs: list[Labels],
    output: Labels,
    sizes: dict[int, int],
    y_bar: Any,
    optimize: Any,
) -> Any:
    shape, labels = np.shape(values[i]), inputs[i]
    unique = list(dict.fromkeys(labels))
    own = dict(zip(labels, shape, strict=True))
    elsewhere = {label for j, other in enumerate(inputs) if j != i for label in other} | set(output)
    # A label of length 1 here and longer elsewhere was broadcast, so it is summed over.
    present = [label for label in unique if label in elsewhere and own[label] == sizes[label]]
    terms: list[Any] = [y_bar, output]
    for j, (value, other) in enumerate(zip(values, inputs, strict=True)):
        if j != i:
            terms += [np.conj(value), other]
    bar = np.einsum(*terms, present, optimize=optimize)
    # A label of this operand alone was summed over in the forward direction: the cotangent is
    # constant along it.
    found = dict(zip(present, np.shape(bar), strict=True))
    bar = np.reshape(bar, [found.get(label, 1) for label in unique])
    bar = np.broadcast_to(bar, [own[label] for label in unique])
    if len(unique) == len(labels):
        return bar
    whole = np.zeros(shape, bar.dtype)
    np.einsum(whole, labels, unique)[...] = bar  # a view: the diagonal that was read
    return whole
