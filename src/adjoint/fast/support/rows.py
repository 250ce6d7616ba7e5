"""Functions of lists of numbers, or of arrays, that programs call."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from adjoint.fast.not_covered import Deoptimize, NothingToSum


def item(xs: Any, index: int) -> Any:
    return xs[index]


def part(xs: Any, index: slice) -> Any:
    """``xs[index]``, a new list or tuple."""
    return xs[index]


def count(xs: Any) -> int:
    return len(xs)


def total(xs: Any) -> Any:
    if not xs:
        raise NothingToSum("a sum of nothing")
    return sum(xs)


def total_or_zero(xs: Any, start: float = 0) -> Any:
    """Return the sum of numbers, of which there may be none."""
    return sum(xs, start)


def greatest(xs: Any) -> Any:
    return max(xs)


def least(xs: Any) -> Any:
    return min(xs)


def exact_total(xs: Any) -> float:
    return math.fsum(xs)


def array_of(xs: Any, dtype: Any) -> Any:
    """Return the numbers of a list as an array."""
    if not xs and dtype != np.float64:
        raise Deoptimize("an array of nothing")  # NumPy makes it an array of float64
    return np.array(xs, dtype)


def stacked(xs: Any) -> Any:
    """Return the arrays of a list as one array."""
    if not xs:
        raise Deoptimize("an array of nothing")  # NumPy makes it an array of rank 1
    return np.array(xs)


def demand_float(xs: Any) -> bool:
    """Check that not all numbers of a list are integers: then its array is one of float64."""
    if not any(isinstance(x, float) for x in xs):
        raise Deoptimize("an array of integers alone")
    return True


def demand_items(xs: Any) -> bool:
    """Check that a list is not empty."""
    if not xs:
        raise Deoptimize("a list of nothing")
    return True


def ties(xs: Any, y: Any) -> list[int]:
    """Return the indices of the items that equal the extremum `y`."""
    found = [i for i, x in enumerate(xs) if x == y]
    if not found:
        raise Deoptimize("an extremum that is no number")
    return found


def mean_at(xs: Any, places: list[int]) -> Any:
    """Return the mean of the items at `places`."""
    return sum([xs[i] for i in places]) / len(places)


def order(descends: bool, xs: Any, *more: Any) -> list[int]:
    """Return the indices of the items in the order that ``sorted`` gives them; an item is a number
    of `xs`, or a tuple of the numbers at one place in all lists."""
    return sorted(range(len(xs)), key=_at(xs, *more), reverse=descends)


def first_greatest(xs: Any, *more: Any) -> int:
    """Return the index of the item that ``max`` returns."""
    return max(range(len(xs)), key=_at(xs, *more))


def first_least(xs: Any, *more: Any) -> int:
    """Return the index of the item that ``min`` returns."""
    return min(range(len(xs)), key=_at(xs, *more))


def _at(*columns: Any) -> Any:
    """Return a function that gives the item at a place."""
    if len(columns) == 1:
        return columns[0].__getitem__
    return [*zip(*columns, strict=True)].__getitem__


def place_of(xs: Any, x: Any) -> int:
    """Return ``xs.index(x)``."""
    return xs.index(x)  # type: ignore[no-any-return]


class Keys(list[Any]):
    """The keys of a dict or a set, each once, in the order of insertion."""

    def __init__(self, items: Any) -> None:
        super().__init__()
        self.places: dict[Any, int] = {}
        for x in items:
            self.append(x)

    def append(self, x: Any) -> None:
        if x != x:
            raise Deoptimize("a key that is no number")  # it equals itself if it is one object
        self.places[x] = len(self)
        super().append(x)


def new_keys(*items: Any) -> Keys:
    return Keys(items)


def set_order(keys: Any) -> list[int]:
    """Return the places of the keys in the order of a set to which they are added one by one."""
    made = set()
    for key in keys:
        made.add(key)
    return [keys.places[key] for key in made]


def key_place(keys: Any, key: Any) -> int:
    """Return the place of a key, or -1."""
    return keys.places.get(key, -1)  # type: ignore[no-any-return]


def known_place(keys: Any, key: Any) -> int:
    """Return the place of a key that must be there."""
    return keys.places[key]  # type: ignore[no-any-return]


def count_of(xs: Any, x: Any) -> int:
    """Return ``xs.count(x)``."""
    return xs.count(x)  # type: ignore[no-any-return]


def append(xs: Any, value: Any) -> None:
    xs.append(value)


def put_item(xs: Any, index: int, value: Any) -> None:
    xs[index] = value


def take_last(xs: Any) -> Any:
    return xs.pop()


def take_first(xs: Any) -> Any:
    return xs.pop(0)


def put_first(xs: Any, value: Any) -> None:
    xs.insert(0, value)


TAKING: dict[Any, Any] = {take_last: append, take_first: put_first}
"""Functions that remove an item, with the one that puts it back."""
PUTTING = {put: take for take, put in TAKING.items()}
RESIZING = frozenset({*TAKING, *PUTTING})


def repeated(xs: Any, n: int) -> Any:
    return xs * n


def add_folded(bars: Any, contributions: Any) -> None:
    """Add the cotangent of ``xs * n`` to `bars`, the cotangent of `xs`."""
    k = len(bars)
    for i in range(k):
        bars[i] = bars[i] + sum(contributions[i::k])


def zeros_of(xs: Any) -> list[float]:
    """Return the zero cotangent of a list of real numbers."""
    return [0.0] * len(xs)


def complex_zeros_of(xs: Any) -> list[complex]:
    """Return the zero cotangent of a list of complex numbers."""
    return [0j] * len(xs)


def array_zeros_of(xs: Any) -> list[Any]:
    """Return the zero cotangent of a list of arrays."""
    return [np.zeros(x.shape, x.dtype) for x in xs]


def complex_items(bars: list[Any]) -> list[Any]:
    """Convert cotangents, some of them real, to those of complex numbers."""
    return [*map(complex, bars)]


def real_items(bars: list[Any]) -> list[Any]:
    """Convert cotangents, some of them complex, to those of real numbers."""
    return [bar.real for bar in bars]


def add_to_all(bars: Any, bar: float) -> None:
    """Add `bar` to the cotangents of all items."""
    bars[:] = [known + bar for known in bars]


def add_item(bars: Any, index: int, bar: Any) -> None:
    """Add `bar` to the cotangent of an array in a list: make a new array."""
    bars[index] = bars[index] + bar


def add_stacked(bars: Any, contributions: Any) -> None:
    """Add the parts of an array to the cotangents of the arrays in a list."""
    pairs = zip(bars, contributions, strict=True)
    bars[:] = [known + bar for known, bar in pairs]


def clear_item(bars: Any, index: int) -> None:
    """Replace the cotangent of an array in a list by zeros: the array has been replaced."""
    bars[index] = np.zeros(bars[index].shape, bars[index].dtype)


def add_each(bars: Any, contributions: Any) -> None:
    """Add the elements of an array to the cotangents of the items."""
    pairs = zip(bars, contributions.tolist(), strict=True)
    bars[:] = [known + bar for known, bar in pairs]


def add_part(bars: Any, index: slice, contributions: Any) -> None:
    """Add to the cotangents of the items in a slice."""
    for i, bar in zip(range(*index.indices(len(bars))), contributions, strict=True):
        bars[i] = bars[i] + bar


def add_shared(bars: Any, places: list[int], bar: float) -> None:
    """Add equal shares of `bar` to the cotangents of the items at `places`."""
    for i in places:
        bars[i] += bar / len(places)


EFFECTS: frozenset[Any] = frozenset(
    {
        add_to_all,
        add_each,
        add_part,
        add_shared,
        add_folded,
        add_item,
        add_stacked,
        clear_item,
    }
)
"""Functions that write to their first operand, the cotangent of a list."""
