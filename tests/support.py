"""What the tests of whole functions share: copies, finite differences, and comparison of structures.

Nothing here knows how a derivative is computed: a *structure* is any nest of numbers, arrays, lists, tuples, dicts,
objects and closures; its *leaves* are the floating-point numbers and arrays in it.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import adjoint as ad

ATOMS = (
    type(None), bool, int, str, bytes, range, slice, type, types.ModuleType, types.BuiltinFunctionType,
    types.MethodWrapperType, type(Ellipsis), type(NotImplemented), np.ufunc, np.dtype, np.random.Generator,
)  # fmt: skip
CONVERGED = 1e-7
"""Largest disagreement of two step sizes, relative to the derivative's scale, at a point without a kink."""


# ---- walking a structure ---------------------------------------------------------------------------------------


def is_leaf(x: Any) -> bool:
    """Whether `x` is a floating-point number or array, real or complex."""
    if isinstance(x, np.ndarray):
        return x.dtype.kind in "fc"
    return isinstance(x, float | complex | np.inexact)


def fields_of(x: Any) -> dict[str, Any] | None:
    """The fields of an object (or the captured variables of a function), or ``None`` for an atom."""
    if isinstance(x, types.FunctionType):
        return {
            name: cell.cell_contents
            for name, cell in zip(x.__code__.co_freevars, x.__closure__ or (), strict=True)
            if not _is_empty(cell)
        }
    if isinstance(x, ATOMS) or type(x).__module__ in ("functools", "_thread", "_io"):
        return None
    fields: dict[str, Any] = {}
    for cls in reversed(type(x).__mro__):
        slots = cls.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name not in ("__dict__", "__weakref__") and hasattr(x, name):
                fields[name] = getattr(x, name)
    fields.update(getattr(x, "__dict__", {}))
    return fields


def _is_empty(cell: types.CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return True
    return False


def mapped(x: Any, leaf: Callable[[Any], Any] = lambda x: x, memo: dict[int, Any] | None = None) -> Any:
    """A deep copy of `x` with `leaf` applied to every leaf once; what was shared in `x` is shared in the copy."""
    memo = {} if memo is None else memo
    if id(x) in memo:
        return memo[id(x)][0]
    if is_leaf(x) and not isinstance(x, np.ndarray):
        return leaf(x)
    y = _container(x, leaf, memo) if isinstance(x, list | dict | set | tuple) else _object(x, leaf, memo)
    memo[id(x)] = y, x  # x stays alive, so that its id stays its own
    return y


def _container(x: Any, leaf: Callable[[Any], Any], memo: dict[int, Any]) -> Any:
    if isinstance(x, list):
        y = _empty_like(x)
        memo[id(x)] = y, x
        y.extend(mapped(item, leaf, memo) for item in x)
    elif isinstance(x, dict):
        y = _empty_like(x)
        memo[id(x)] = y, x
        for key, item in x.items():
            y[key] = mapped(item, leaf, memo)
    elif isinstance(x, set):
        y = {mapped(item, leaf, memo) for item in x}
    else:
        items = [mapped(item, leaf, memo) for item in x]
        y = type(x)(*items) if hasattr(x, "_fields") else type(x)(items)
    if type(x) not in (list, dict, set, tuple) and hasattr(x, "__dict__"):
        for name, item in x.__dict__.items():
            setattr(y, name, mapped(item, leaf, memo))
    return y


def _empty_like(x: Any) -> Any:
    y = type(x).__new__(type(x))
    if hasattr(x, "default_factory"):
        y.default_factory = x.default_factory
    return y


def _object(x: Any, leaf: Callable[[Any], Any], memo: dict[int, Any]) -> Any:
    if isinstance(x, np.ndarray):
        return np.array(leaf(x) if is_leaf(x) else x, copy=True, subok=True)
    if isinstance(x, types.MethodType):
        return types.MethodType(x.__func__, mapped(x.__self__, leaf, memo))
    fields = fields_of(x)
    if not fields:
        return x
    if isinstance(x, types.FunctionType):
        cells = tuple(types.CellType() for _ in x.__code__.co_freevars)
        y = types.FunctionType(x.__code__, x.__globals__, x.__name__, x.__defaults__, cells)
        y.__kwdefaults__ = x.__kwdefaults__
        functools.update_wrapper(y, x)
        memo[id(x)] = y, x
        for name, cell in zip(x.__code__.co_freevars, cells, strict=True):
            if name in fields:
                cell.cell_contents = mapped(fields[name], leaf, memo)
        return y
    y = object.__new__(type(x))
    memo[id(x)] = y, x
    for name, item in fields.items():
        object.__setattr__(y, name, mapped(item, leaf, memo))
    return y


def parts(x: Any) -> Iterator[tuple[Any, Any]] | None:
    """``(key, part)`` of a list, tuple, dict, tangent or object; ``None`` for anything without parts."""
    if isinstance(x, list | tuple):
        return iter(enumerate(x))
    if isinstance(x, Mapping) or hasattr(x, "keys"):
        return iter((key, x[key]) for key in x.keys())  # noqa: SIM118 - a tangent need not iterate
    if isinstance(x, types.MethodType):
        return parts(x.__self__)
    fields = None if isinstance(x, np.ndarray | np.generic | float | complex) else fields_of(x)
    return iter(fields.items()) if fields else None


# ---- comparison ------------------------------------------------------------------------------------------------


def difference(a: Any, b: Any, rtol: float = 0.0, path: str = "", seen: set[Any] | None = None) -> str | None:
    """Where and how two structures differ (types, shapes, dtypes and numbers), or ``None``."""
    seen = set() if seen is None else seen
    if (id(a), id(b)) in seen:
        return None
    seen.add((id(a), id(b)))
    if type(a) is not type(b):
        return f"{path or 'value'}: {type(a).__name__} {a!r} against {type(b).__name__} {b!r}"
    if isinstance(a, np.ndarray | np.generic | float | complex):
        return _difference_of_numbers(a, b, rtol, path)
    inside_a, inside_b = parts(a), parts(b)
    if inside_a is None or inside_b is None:
        equal = a is b or isinstance(a, types.FunctionType) or not isinstance(a, ATOMS) or a == b
        return None if equal else f"{path or 'value'}: {a!r} against {b!r}"
    items_a, items_b = list(inside_a), list(inside_b)
    if [key for key, _ in items_a] != [key for key, _ in items_b]:
        return f"{path or 'value'}: {a!r} against {b!r}"
    for (key, item_a), (_, item_b) in zip(items_a, items_b, strict=True):
        found = difference(item_a, item_b, rtol, f"{path}[{key!r}]", seen)
        if found:
            return found
    return None


def _difference_of_numbers(a: Any, b: Any, rtol: float, path: str) -> str | None:
    x, y = np.asarray(a), np.asarray(b)
    same = x.shape == y.shape and x.dtype == y.dtype
    if same and x.dtype.kind == "O":
        same = bool(np.all(x == y))
    elif same:
        same = np.allclose(x, y, rtol=rtol, atol=0.0, equal_nan=True)
    return None if same else f"{path or 'value'}: {a!r} against {b!r}"


def mismatch(bar: Any, reference: Any, rtol: float, atol: float) -> str | None:
    """Where the cotangent `bar` is not the one in `reference` (shaped like the primal), or ``None``.

    A missing part (``None``) means zero. Parts of the primal that carry no derivative are not looked at.
    """
    return _mismatch(bar, reference, rtol, atol, "", set())


def _mismatch(bar: Any, reference: Any, rtol: float, atol: float, path: str, seen: set[int]) -> str | None:
    if is_leaf(reference):
        return _mismatch_of_leaf(bar, reference, rtol, atol, path)
    inside = parts(reference)
    if inside is None or id(reference) in seen:
        return None
    seen.add(id(reference))
    found_parts = {} if bar is None else dict(parts(bar) or ())
    if bar is not None and isinstance(reference, list | tuple | dict):
        if not isinstance(bar, type(reference)):
            return f"{path}: a {type(reference).__name__} has a cotangent of type {type(bar).__name__}"
        if len(bar) != len(reference):
            return f"{path}: {len(bar)} cotangents of {len(reference)} parts"
    for key, item in inside:
        found = _mismatch(found_parts.get(key), item, rtol, atol, f"{path}[{key!r}]", seen)
        if found:
            return found
    return None


def _mismatch_of_leaf(bar: Any, reference: Any, rtol: float, atol: float, path: str) -> str | None:
    if bar is None:
        small = np.all(np.abs(reference) <= atol)
        return None if small else f"{path}: None, finite differences give {reference!r}"
    if not isinstance(bar, np.ndarray | np.generic | int | float | complex):
        return f"{path}: a cotangent of type {type(bar).__name__}"
    if np.shape(bar) != np.shape(reference):
        return f"{path}: shape {np.shape(bar)} for a primal of shape {np.shape(reference)}"
    if isinstance(reference, np.ndarray) and np.asarray(bar).dtype != reference.dtype:
        return f"{path}: dtype {np.asarray(bar).dtype} for a primal of dtype {reference.dtype}"
    if np.iscomplexobj(bar) and not np.iscomplexobj(reference):
        return f"{path}: a complex cotangent of a real primal"
    if not np.allclose(bar, reference, rtol=rtol, atol=atol):
        return f"{path}: {bar!r}, finite differences give {reference!r}"
    return None


# ---- finite differences ----------------------------------------------------------------------------------------


def random_cotangent(y: Any, rng: np.random.Generator) -> Any:
    """A cotangent of `y`'s structure; ``None`` for the parts that carry no derivative."""
    if isinstance(y, np.ndarray) and y.dtype.kind in "fc" or isinstance(y, np.inexact):
        bar = rng.normal(size=y.shape)
        bar = bar + 1j * rng.normal(size=y.shape) if y.dtype.kind == "c" else bar
        return np.asarray(bar, y.dtype)[()] if y.ndim == 0 else np.asarray(bar, y.dtype)
    if isinstance(y, complex):
        return complex(rng.normal(), rng.normal())
    if isinstance(y, float):
        return float(rng.normal())
    if isinstance(y, dict):
        return {key: random_cotangent(item, rng) for key, item in y.items()}
    if isinstance(y, list | tuple):
        items = [random_cotangent(item, rng) for item in y]
        return type(y)(*items) if hasattr(y, "_fields") else type(y)(items)
    return None


def inner(y_bar: Any, y: Any) -> float:
    """The real inner product of a cotangent and a value."""
    if y_bar is None:
        return 0.0
    if isinstance(y_bar, dict):
        return sum(inner(y_bar[key], y[key]) for key in y)
    if isinstance(y_bar, list | tuple):
        return sum(inner(a, b) for a, b in zip(y_bar, y, strict=True))
    return float(np.sum(np.real(np.conj(np.asarray(y_bar)) * np.asarray(y))))


def widened(x: Any) -> Any:
    """A leaf in double precision: differences of single-precision results would be noise."""
    if isinstance(x, np.ndarray | np.inexact):
        wide = np.asarray(x, np.complex128 if x.dtype.kind == "c" else np.float64)
        return wide[()] if isinstance(x, np.generic) else wide
    return x


@dataclass
class FiniteDifferences:
    """The derivative of ``loss(*point)`` along every entry of every leaf, by two five-point stencils.

    Attributes
    ----------
    reference
        Shaped like the point, each leaf replaced by its derivative.
    error
        How far the two step sizes disagree, relative to the largest derivative (at least 1).
    scale
        The largest derivative.
    """

    loss: Callable[..., float]
    point: tuple[Any, ...]
    step: float = 1e-3
    reference: Any = field(init=False)
    error: float = field(init=False, default=0.0)
    scale: float = field(init=False, default=0.0)

    def __post_init__(self) -> None:
        self._seen = 0
        self.reference = mapped(self.point, self._derivative)
        self.error /= max(1.0, self.scale)

    def _derivative(self, leaf: Any) -> Any:
        number, self._seen = self._seen, self._seen + 1
        values = np.asarray(leaf)
        units = (1.0, 1j) if values.dtype.kind == "c" else (1.0,)
        result = np.zeros(values.shape, np.complex128 if len(units) == 2 else np.float64)
        for index in np.ndindex(values.shape):
            h = self.step * max(1.0, float(abs(values[index])))
            for unit in units:
                coarse = self._along(number, index, unit, h)
                fine = self._along(number, index, unit, h / 2)
                result[index] += fine * unit
                self.error = max(self.error, abs(fine - coarse))
                self.scale = max(self.scale, abs(fine))
        if isinstance(leaf, np.ndarray):
            return result.astype(leaf.dtype)
        return type(leaf)(result[()])

    def _along(self, number: int, index: tuple[int, ...], unit: complex, h: float) -> float:
        near = self._at(number, index, unit * h) - self._at(number, index, -unit * h)
        far = self._at(number, index, 2 * unit * h) - self._at(number, index, -2 * unit * h)
        return (8 * near - far) / (12 * h)

    def _at(self, number: int, index: tuple[int, ...], delta: complex) -> float:
        count = iter(range(1 << 30))

        def perturb(leaf: Any) -> Any:
            if next(count) != number:
                return widened(leaf)
            if isinstance(leaf, np.ndarray):
                moved = np.array(widened(leaf))
                moved[index] += delta
                return moved
            return widened(leaf) + delta

        return self.loss(*mapped(self.point, perturb))


# ---- the check -------------------------------------------------------------------------------------------------


class UnsoundSampleError(Exception):
    """The sample itself is no good: its finite differences do not converge, or it is not deterministic."""


def no_reset() -> None:
    """For functions that leave nothing behind."""


@dataclass(frozen=True)
class Sample:
    """One function at one point.

    Attributes
    ----------
    fixed
        Positions of arguments that are not differentiated: their cotangents are not looked at.
    reset
        Puts the state that the function keeps outside its arguments back; called before every evaluation.
    """

    f: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    fixed: tuple[int, ...] = ()
    reset: Callable[[], None] = no_reset

    def plain(self) -> tuple[Any, tuple[Any, ...]]:
        """The result of calling the function, and the function and its arguments as the call leaves them."""
        self.reset()
        f, *args = mapped((self.f, *self.args))
        return f(*args, **self.kwargs), (f, *args)

    def finite_differences(self, y_bar: Any) -> FiniteDifferences:
        """Derivatives of ``<y_bar, f(*args)>``; integers that are not `fixed` count as real."""

        def loss(f: Callable[..., Any], *args: Any) -> float:
            self.reset()
            held = {i: mapped(self.args[i]) for i in self.fixed}
            args = tuple(held.get(i, arg) for i, arg in enumerate(args))
            return inner(y_bar, f(*args, **self.kwargs))

        point = [None if i in self.fixed else as_real(arg) for i, arg in enumerate(self.args)]
        found = FiniteDifferences(loss, (self.f, *point))
        if found.error > CONVERGED:
            raise UnsoundSampleError(f"two step sizes disagree by {found.error:.1e}")
        return found

    def y_bar(self, y: Any, seed: int = 0) -> Any:
        """A random cotangent of the result."""
        return random_cotangent(float(y) if type(y) is int else y, np.random.default_rng(seed))


def as_real(x: Any) -> Any:
    """An argument as the derivative sees it: an integer is a real number."""
    if type(x) is int:
        return float(x)
    if isinstance(x, np.ndarray) and x.dtype.kind in "iu":
        return x.astype(float)
    return x


def is_single(x: Any) -> bool:
    """Whether a structure holds a leaf in single precision."""
    found = False

    def look(leaf: Any) -> Any:
        nonlocal found
        found = found or (isinstance(leaf, np.ndarray | np.inexact) and leaf.dtype.char in "efF")
        return leaf

    mapped(x, look)
    return found


def check_soundness(sample: Sample) -> FiniteDifferences:
    """Raise `UnsoundSampleError` unless the sample is deterministic and away from kinks."""
    (y, left), (y_again, left_again) = sample.plain(), sample.plain()
    found = difference(y, y_again) or difference(left, left_again)
    if found:
        raise UnsoundSampleError(f"not deterministic: {found}")
    return sample.finite_differences(sample.y_bar(y))


def check_sample(sample: Sample) -> None:
    """Everything that a pullback promises, at one sample; an `AssertionError` says what is broken.

    The result is that of the plain call, the caller's data are what the plain call leaves, the cotangents agree with
    finite differences, a second ``back`` agrees with the first exactly, and the cotangent given is not changed.
    """
    y_plain, left = sample.plain()
    y_bar = sample.y_bar(y_plain)
    differences = sample.finite_differences(y_bar)

    sample.reset()
    f, *args = mapped((sample.f, *sample.args))
    y, back = ad.pullback(f, *args, **sample.kwargs)
    # Some libraries' kernels round by the alignment of their buffers
    _demand("result", difference(y, y_plain, rtol=1e-13))
    _demand("the caller's data after pullback", difference((f, *args), left, rtol=1e-13))
    y_bar_given = mapped(y_bar)
    bars = back(y_bar_given)
    _demand("y_bar after back", difference(y_bar_given, y_bar))
    _demand("the caller's data after back", difference((f, *args), left, rtol=1e-13))
    assert len(bars) == 1 + len(args), f"{len(bars)} cotangents of {len(args)} arguments"

    rtol = 1e-3 if is_single((sample.f, sample.args, y)) else 1e-6
    atol = rtol * 0.1 * max(1.0, differences.scale)
    _demand("gradient", mismatch(bars, differences.reference, rtol, atol))
    first = mapped(materialised(bars))
    _demand("the second back", difference(materialised(back(y_bar_given)), first))
    _demand("the first back's result after the second", difference(materialised(bars), first))


def materialised(bar: Any) -> Any:
    """A cotangent with its tangents as dicts."""
    if isinstance(bar, ad.Tangent):
        return {key: materialised(bar[key]) for key in dict(bar)}
    if isinstance(bar, dict):
        return {key: materialised(item) for key, item in bar.items()}
    if isinstance(bar, list | tuple):
        return [materialised(item) for item in bar]
    return bar


def _demand(what: str, problem: str | None) -> None:
    if problem is not None:
        raise AssertionError(f"{what}: {problem}")
