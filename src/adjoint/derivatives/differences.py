"""Finite differences in the numbers of any structure: containers, objects, arrays.

One entry of one leaf is moved at a time, in a copy of all arguments.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from adjoint.primal.object_array_places import as_objects
from adjoint.primal.value_kinds import is_objects
from adjoint.rulekit.projection import is_numeric
from adjoint.tangent import Tangent


class Leaf(NamedTuple):
    """One number or array in the arguments; path steps are ``("[]", key)`` or ``(".", name)``."""

    path: tuple[tuple[str, Any], ...]
    value: Any

    def __str__(self) -> str:
        (_, position), *rest = self.path
        steps = "".join(f"[{key!r}]" if kind == "[]" else f".{key}" for kind, key in rest)
        return f"argument {position}{steps}"


def leaves(
    tree: Any, path: tuple[tuple[str, Any], ...] = (), above: tuple[int, ...] = ()
) -> Iterator[Leaf]:
    if is_numeric(tree):
        if not isinstance(tree, bool | np.bool_):
            yield Leaf(path, tree)
    elif id(tree) not in above:
        for step, part in _parts(tree):
            yield from leaves(part, (*path, step), (*above, id(tree)))


def _parts(tree: Any) -> Iterator[tuple[tuple[str, Any], Any]]:
    if isinstance(tree, list | tuple):
        yield from ((("[]", i), part) for i, part in enumerate(tree))
    elif isinstance(tree, dict):
        yield from ((("[]", key), part) for key, part in tree.items())
    elif is_objects(tree):
        yield from ((("[]", index), part) for index, part in np.ndenumerate(tree))
    elif not callable(tree) or type(tree).__module__ not in ("builtins", "numpy"):
        yield from (((".", name), part) for name, part in getattr(tree, "__dict__", {}).items())


def part_at(bar: Any, path: tuple[tuple[str, Any], ...]) -> Any:
    """Return the part of a cotangent for the leaf at `path`; ``None`` where a part above it is."""
    for kind, key in path:
        if bar is None:
            return None
        if kind == ".":
            bar = bar.get(key) if isinstance(bar, Tangent) else getattr(bar, key, None)
        else:
            bar = bar.get(key) if isinstance(bar, dict) else bar[key]
    return bar


def _with(tree: Any, path: tuple[tuple[str, Any], ...], value: Any) -> Any:
    """Replace the part at `path` of `tree`, which the caller owns; return the new tree."""
    if not path:
        return value
    (kind, key), *rest = path
    if kind == ".":
        tree.__dict__[key] = _with(tree.__dict__[key], tuple(rest), value)
    elif isinstance(tree, tuple):
        parts = [
            _with(part, tuple(rest), value) if i == key else part for i, part in enumerate(tree)
        ]
        return type(tree)._make(parts) if hasattr(tree, "_make") else tuple(parts)
    else:
        tree[key] = _with(tree[key], tuple(rest), value)
    return tree


def random_like(y: Any, rng: np.random.Generator) -> Any:
    """Return a random cotangent or tangent for `y`, ``None`` for parts that have none."""
    if isinstance(y, list | tuple):
        parts = [random_like(part, rng) for part in y]
        if all(part is None for part in parts):
            return None
        return parts if isinstance(y, list) else _with(tuple(y), (), as_type_of(y, parts))
    if isinstance(y, dict):
        return {key: random_like(part, rng) for key, part in y.items()}
    if is_objects(y):
        return as_objects(y.shape, [random_like(part, rng) for part in y.flat])
    if not is_numeric(y) or isinstance(y, bool | np.bool_) or np.asarray(y).dtype.kind == "b":
        return None
    draw = rng.normal(size=np.shape(y))
    if np.iscomplexobj(y):
        draw = draw + 1j * rng.normal(size=np.shape(y))
    if isinstance(y, np.ndarray):
        return np.asarray(draw, y.dtype if y.dtype.kind in "fc" else float)
    if isinstance(y, np.inexact):
        return y.dtype.type(draw)
    if isinstance(draw, np.ndarray):
        return draw.item()
    return complex(draw) if np.iscomplexobj(y) else float(draw)


def as_type_of(like: tuple[Any, ...], parts: list[Any]) -> tuple[Any, ...]:
    made: tuple[Any, ...] = like._make(parts) if hasattr(like, "_make") else tuple(parts)
    return made


def widened(args: tuple[Any, ...]) -> Any:
    """Copy the arguments in double precision."""
    if all(type(x) in _ATOMS or (type(x) is np.ndarray and not x.dtype.hasobject) for x in args):
        copies: dict[int, Any] = {}
        return tuple([x if type(x) in _ATOMS else _copied(x, copies) for x in args])
    wider: Any = copy.deepcopy(args)
    for leaf in leaves(args):
        if isinstance(leaf.value, np.ndarray | np.inexact) and leaf.value.dtype.kind in "fc":
            dtype = np.result_type(leaf.value.dtype, np.float64)
            if dtype != leaf.value.dtype:
                wider = _with(wider, leaf.path, leaf.value.astype(dtype))
    return wider


_ATOMS = frozenset({float, int, complex, bool, str, type(None), np.float64, np.complex128})
"""Immutable types of full precision."""


def _copied(x: np.ndarray[Any, Any], copies: dict[int, Any]) -> Any:
    wide = _wide(x.dtype)
    if wide != x.dtype:
        return x.astype(wide)
    return copies[id(x)] if id(x) in copies else copies.setdefault(id(x), x.copy("K"))


@cache
def _wide(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return np.result_type(dtype, np.float64) if dtype.kind in "fc" else dtype


def perturbed(args: tuple[Any, ...], leaf: Leaf, index: tuple[int, ...], step: complex) -> Any:
    """Copy the arguments in double precision, with one entry of one leaf moved by `step`."""
    moved = widened(args)
    part = moved
    for kind, key in leaf.path:
        part = part.__dict__[key] if kind == "." else part[key]
    if isinstance(part, np.ndarray):
        if part.dtype.kind not in "fc":
            part = part.astype(float)
            moved = _with(moved, leaf.path, part)
        part[index] += step  # in place: an array that occurs twice moves in both places
        return moved
    return _with(moved, leaf.path, part + (step if step.imag else step.real))


def moved(args: tuple[Any, ...], leaf: Leaf, step: Any) -> Any:
    """Copy the arguments in double precision, with all of one array moved by `step`."""
    copied = widened(args)
    part = part_at(copied, leaf.path)
    if part.dtype.kind not in "fc":
        return _with(copied, leaf.path, part + step)
    part += step  # in place: an array that occurs twice moves in both places
    return copied


def inner(a: Any, b: Any) -> float:
    """Return Re⟨a, b⟩, the sum over all parts of `a` that are not ``None``."""
    if type(a) is np.ndarray and type(b) is np.ndarray and a.dtype == b.dtype == np.float64:
        return float(np.vdot(a, b))
    if a is None or b is None:
        return 0.0
    if isinstance(a, list | tuple):
        return sum(inner(p, q) for p, q in zip(a, b, strict=True))
    if isinstance(a, dict):
        return sum(inner(p, b[key]) for key, p in a.items())
    if is_objects(a):
        return sum(map(inner, a.flat, b.flat))
    wide = np.complex128 if np.iscomplexobj(a) or np.iscomplexobj(b) else np.float64
    return float(np.vdot(np.asarray(a, wide), np.asarray(b, wide)).real)


def slope(along: Callable[[float], float], scale: float, resolution: float) -> tuple[float, float]:
    """Return the derivative at 0 and an estimate of its error.

    It takes five-point differences with shrinking steps. `resolution` is the relative precision of
    the function's values, below which no step is useful.
    """
    smallest = resolution ** (1 / 3) if resolution > 1e-12 else 0.0
    best, best_error, last, worse = np.nan, np.inf, np.nan, 0
    for level in range(9):
        h = max(0.02, 2 * smallest) * scale / 5**level
        if h < smallest * scale:
            break
        try:
            estimate = (8 * (along(h) - along(-h)) - (along(2 * h) - along(-2 * h))) / (12 * h)
        except (ValueError, ArithmeticError):  # the step leads out of the domain: try a smaller one
            continue
        error = abs(estimate - last) if level and not np.isnan(last) else np.inf
        if error < best_error or np.isnan(best):
            best, best_error, worse = estimate, error, 0
        else:
            worse += 1
        if error <= 1e-11 * max(1.0, abs(estimate)):
            break
        if worse == 2 and best_error <= 1e-6 * max(1.0, abs(best)):
            break  # only rounding is left
        last = estimate
    return best, best_error


def bisected(excess: Callable[[int, int], float], start: int, stop: int) -> int:
    """Find the entry between `start` and `stop` that causes an excess, by bisection."""
    while stop - start > 1:
        middle = (start + stop) // 2
        first = excess(start, middle) >= excess(middle, stop)
        start, stop = (start, middle) if first else (middle, stop)
    return start
