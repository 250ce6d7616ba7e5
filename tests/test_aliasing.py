"""Which results look at the memory of an operand: what NumPy gives, and right when either is
written."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from adjoint.errors import ArgumentError
from adjoint.levels.reverse import nested
from tests.fast.agreeing import generic_tier
from tests.support import Sample, check_sample

X = np.array([[2.3, 3.1, 2.7], [3.9, 2.1, 3.3], [2.9, 3.6, 2.5]])

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "copies": lambda x: x.copy(),
    "copies_by_column": lambda x: x.copy("F"),
    "copy_module": copy.copy,
    "deep_copy": copy.deepcopy,
    "flatten": lambda x: x.flatten(),
    "flatten_by_column": lambda x: x.flatten("F"),
    "ravel": np.ravel,
    "ravel_by_column": lambda x: x.ravel("F"),
    "ravel_any": lambda x: x.ravel("A"),
    "reshape": lambda x: x.reshape(-1),
    "reshape_by_column": lambda x: np.reshape(x, 9, order="F"),
    "transposed": lambda x: x.T,
    "swapped": lambda x: x.swapaxes(0, 1),
    "axis_moved": lambda x: np.moveaxis(x, 0, 1),
    "squeezed": lambda x: np.squeeze(x[:1]),
    "expanded": lambda x: np.expand_dims(x, 1),
    "at_least": np.atleast_2d,
    "at_least_3": np.atleast_3d,
    "flipped": np.flip,
    "rotated": np.rot90,
    "not_rotated": lambda x: np.rot90(x, 4),
    "rolled": lambda x: np.roll(x, 0),
    "real": np.real,
    "conjugate": lambda x: x.conj(),
    "conjugate_function": np.conj,
    "asarray": np.asarray,
    "contiguous": np.ascontiguousarray,
    "by_column": np.asfortranarray,
    "required": lambda x: np.require(x, requirements="F"),
    "array": np.array,
    "array_if_needed": lambda x: np.array(x, ndmin=3),
    "astype": lambda x: x.astype(float),
    "astype_if_needed": lambda x: x.astype(float, copy=False),
    "view": lambda x: x.view(),
    "ellipsis": lambda x: x[...],
    "empty_index": lambda x: x[()],
    "slice": lambda x: x[1:, ::-1],
    "places": lambda x: x[[0, 1]],
    "mask": lambda x: x[np.array([True, False, True])],
    "row": lambda x: x[1],
    "diagonal": lambda x: np.diag(np.diag(x)),
    "triangle": np.tril,
    "take": lambda x: np.take(x, [0, 2], 0),
    "repeat": lambda x: np.repeat(x, 1),
    "tile": lambda x: np.tile(x, (1, 1)),
    "broadcast": lambda x: np.broadcast_to(x, (2, 3, 3)),
    "broadcast_pair": lambda x: np.broadcast_arrays(x, np.zeros((3, 3)))[0],
    "split": lambda x: np.split(x, 1)[0],
    "array_split": lambda x: np.array_split(x, 2)[0],
    "columns_split": lambda x: np.hsplit(x, [1])[1],
    "concatenate": lambda x: np.concatenate([x]),
    "stack": lambda x: np.stack([x]),
    "block": np.block,
    "mesh": lambda x: np.meshgrid(x[0], x[1])[1],
    "sparse_mesh": lambda x: np.meshgrid(x[0], x[1], sparse=True, copy=False)[1],
    "nan_to_num": lambda x: np.nan_to_num(x, copy=False),
    "positive": lambda x: +x,
    "sorted_rows": lambda x: np.sort(x, axis=1),
    "sum_over_nothing": lambda x: x.sum(axis=()),
    "clip": lambda x: np.clip(x, -9, 9),
    "where": lambda x: np.where(True, x, x),
    "einsum": lambda x: np.einsum("ij->ij", x),
    "einsum_transposed": lambda x: np.einsum("ij->ji", x),
    "einsum_diagonal": lambda x: np.einsum("ii->i", x),
    "real_if_close": np.real_if_close,
    "no_difference": lambda x: np.diff(x, 0),
    "cumsum": lambda x: x.cumsum(0),
    "flat": lambda x: x.flat[:],
    "list_of_one": lambda x: np.array([x]),
    "windows": lambda x: np.lib.stride_tricks.sliding_window_view(x, 1, 0),
    "added_into": lambda x: np.add(x, 0, out=np.empty_like(x)),
}
LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "rows": lambda x: x * 1.0,
    "columns": lambda x: (x * 1.0).T,
    "strided": lambda x: np.tile(x, (2, 2))[::2, ::2],
}


def described(y: Any, x: Any) -> Any:
    """How `y` is stored, and whether in the memory of `x`."""
    if not isinstance(y, np.ndarray):
        return type(y)
    return (type(y), y is x, np.shares_memory(y, x), y.flags.writeable, y.dtype, y.shape, y.strides)


def weighted(y: Any) -> Any:
    return np.sum(y * y * np.cos(np.arange(np.size(y))).reshape(np.shape(y)))


def written_before(layout: str, name: str) -> Callable[[Any], Any]:
    def program(x):
        f, base = FUNCTIONS[name], LAYOUTS[layout](x)
        base[0] = base[1] * x[2]
        base *= 2.0
        return weighted(f(base)) + np.sum(base)

    return program


def written_after(layout: str, name: str) -> Callable[[Any], Any]:
    def program(x):
        f, base = FUNCTIONS[name], LAYOUTS[layout](x)
        y = f(base)
        before = np.sum(y)
        base[0] = base[1] * x[2]
        base *= 2.0
        return weighted(y) * before + np.sum(base)

    return program


def result_written(layout: str, name: str) -> Callable[[Any], Any]:
    def program(x):
        f, base = FUNCTIONS[name], LAYOUTS[layout](x)
        y = f(base)
        if np.ndim(y) and y.flags.writeable:
            y[...] = y * 2.0 + np.sum(y)
            y *= 1.5
            y[..., :1] = 0.5 * x[0, 0]
        base /= 2.0
        return weighted(y) + weighted(base)

    return program


PROGRAMS = (written_before, written_after, result_written)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_results_are_stored_as_numpy_stores_them(name: str) -> None:
    f = FUNCTIONS[name]
    for layout in LAYOUTS.values():
        x = layout(X)
        (found, _), _ = ad.pullback(lambda x: (described(f(x), x), x.sum()), x)
        assert found == described(f(x), x)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_written_on_either_side(name: str) -> None:
    for i, program in enumerate(PROGRAMS):
        layout = [*LAYOUTS][(i + len(name)) % len(LAYOUTS)]
        check_sample(Sample(program(layout, name), (X,)))


# ---- arguments that look at one array ------------------------------------------------------------


def _moved(q: Any, p: Any) -> Any:
    q += 0.1 * p * p
    p *= q
    return np.sum(q * q * p)


def _scaled_rows(rows: Any) -> Any:
    rows[0][:] *= rows[1]
    rows[2][:] += rows[0]
    return sum((row * row * (i + 1)).sum() for i, row in enumerate(rows))


PARTS: dict[str, Callable[[Any], Any]] = {
    "halves": lambda m: (m.reshape(-1)[:4], m.reshape(-1)[5:]),
    "every_second": lambda m: (m.reshape(-1)[:8:2], m.reshape(-1)[1::2]),
    "columns": lambda m: (m[:, 2], m[:, 0][::-1]),
    "crossing_columns": lambda m: (m[:, :2], m[:, 1:]),
    "twice": lambda m: (m[1], m[1, ::-1]),
}


@pytest.mark.parametrize("name", PARTS)
def test_parts_of_one_array_as_arguments(name: str) -> None:
    """The tangents of parts are those of the whole, where they agree."""
    m, m_dot = X.copy(), np.sin(X * X)

    def of_whole(m: Any) -> Any:
        return _moved(*PARTS[name](m))

    tangents = PARTS[name](m_dot)
    y, y_dot = ad.pushforward(_moved, PARTS[name](m), tangents)
    # a second way: the parts are made inside, of the tangent of what they show
    seen = np.zeros_like(X)
    for part, tangent in zip(PARTS[name](seen), tangents, strict=True):
        part[...] = tangent
    assert ad.pushforward(of_whole, (X.copy(),), (seen,)) == (y, pytest.approx(y_dot, rel=1e-14))
    h = 1e-6
    ahead, behind = of_whole(X + h * seen), of_whole(X - h * seen)
    np.testing.assert_allclose(y_dot, (ahead - behind) / (2 * h), rtol=1e-6)


def test_rows_of_one_array_in_a_list() -> None:
    m_dot = np.cos(X)
    expected = ad.pushforward(_scaled_rows, ([*X.copy()],), ([*m_dot],))
    apart = ad.pushforward(_scaled_rows, ([row.copy() for row in X],), ([*m_dot],))
    assert expected == apart


def test_parts_of_one_array_in_derivatives_of_derivatives() -> None:
    def inner(x: Any, copied: Callable[[Any], Any]) -> Any:
        parts = copied(x[0]), copied(x[1])
        return ad.pushforward(_moved, parts, (x[2] * x[0], x[0] * x[1]))[1]

    whole = ad.gradient(lambda x: inner(x, lambda row: row), X.copy())[0]
    apart = ad.gradient(lambda x: inner(x, np.copy), X.copy())[0]
    np.testing.assert_allclose(whole, apart, rtol=1e-13)
    pushed = ad.pushforward(lambda x: inner(x, lambda row: row), (X.copy(),), (np.ones_like(X),))
    np.testing.assert_allclose(pushed[1], apart.sum(), rtol=1e-13)


# ---- names of one memory: variables of their own until they are written --------------------------


class Part:
    """One of the arrays that look at one memory, as two memories in which the same is written: what
    an argument is by definition."""

    def __init__(self, memories: list[Any], own: int, places: Any) -> None:
        self.memories, self.own, self.places = memories, own, places

    def read(self) -> Any:
        return self.memories[self.own][self.places]

    def write(self, values: Any) -> None:
        for memory in self.memories:
            memory[self.places] = values


def _read_before(q: Any, p: Any) -> Any:
    before = np.sum(p * p * q[0])
    q += 0.1 * p[0]
    return before + np.sum(q * q) + np.sum(p * p * p)


def _read_before_of_parts(q: Part, p: Part) -> Any:
    before = np.sum(p.read() ** 2 * q.read()[0])
    q.write(q.read() + 0.1 * p.read()[0])
    return before + np.sum(q.read() ** 2) + np.sum(p.read() ** 3)


def _written_between(q: Any, p: Any) -> Any:
    p *= q[0]
    return np.sum(q * q) + np.sum(p[::-1] ** 3)


def _written_between_of_parts(q: Part, p: Part) -> Any:
    p.write(p.read() * q.read()[0])
    return np.sum(q.read() ** 2) + np.sum(p.read() ** 3)


def _element(q: Any, p: Any) -> Any:
    for i in range(len(q) - 1):
        q[i] = q[i + 1] * p[0] + np.sin(p[i % len(p)])
    p[1:3] = 0.5
    return np.sum(q * q) + p @ p


def _element_of_parts(q: Part, p: Part) -> Any:
    for i in range(len(q.read()) - 1):
        new = q.read()[i + 1] * p.read()[0] + np.sin(p.read()[i % len(p.read())])
        Part(q.memories, q.own, q.places[i : i + 1]).write(new)
    Part(p.memories, p.own, p.places[1:3]).write(0.5)
    return np.sum(q.read() ** 2) + np.sum(p.read() ** 2)


def _read_only(q: Any, p: Any) -> Any:
    return np.sum(q[:3] * p[:3] ** 2)


def _read_only_of_parts(q: Part, p: Part) -> Any:
    return np.sum(q.read()[:3] * p.read()[:3] ** 2)


NAMED = {
    _read_before: _read_before_of_parts,
    _written_between: _written_between_of_parts,
    _element: _element_of_parts,
    _read_only: _read_only_of_parts,
}
OVERLAPPING: dict[str, Callable[[Any], Any]] = {
    "crossing": lambda v: (v[:4], v[2:6]),
    "equal": lambda v: (v[:5], v[:5]),
    "one array": lambda v: (v, v),
    "reversed": lambda v: (v[:5], v[4::-1]),
    "whole_and_part": lambda v: (v, v[:4]),
    "part_and_whole": lambda v: (v[:4], v),
    "every_second": lambda v: (v[::2], v),
}
V = np.linspace(0.4, 1.3, 7)


def along_parts(f: Callable[..., Any], name: str, dots: Any) -> Callable[[float], float]:
    places = OVERLAPPING[name](np.arange(7))

    def at(h: float) -> float:
        memories = [V.copy(), V.copy()]
        for memory, place, dot in zip(memories, places, dots, strict=True):
            memory[place] += 0.0 if dot is None else h * dot
        return float(NAMED[f](*(Part(memories, i, place) for i, place in enumerate(places))))

    return at


def slope_of_parts(f: Callable[..., Any], name: str, dots: Any) -> float:
    at, h = along_parts(f, name, dots), 1e-4
    return float((8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h))


@pytest.mark.parametrize("name", OVERLAPPING)
@pytest.mark.parametrize("f", NAMED)
def test_arguments_that_look_at_one_memory_are_variables_of_their_own(f: Any, name: str) -> None:
    def given() -> Any:
        return OVERLAPPING[name](V.copy())

    rng = np.random.default_rng(3)
    first, second = (rng.normal(size=part.shape) for part in given())
    y = f(*given())
    grads = [ad.grad(f, (0, 1), tier=tier)(*given()) for tier in ("fast", "generic")]
    grads.append(ad.pullback(f, *given())[1](1.0)[1:])
    grads.append(nested(f, given(), {}, of_function=False)[1](1.0)[1:])
    _, push = ad.linearize(f, *given())
    for dots in ((first, None), (None, second), (first, second)):
        expected = slope_of_parts(f, name, dots)
        found, slope = ad.pushforward(f, given(), dots)
        assert found == pytest.approx(y, rel=1e-14)
        assert slope == pytest.approx(expected, rel=1e-8)
        assert push(*dots) == pytest.approx(expected, rel=1e-8)
        for bars in grads:
            pairs = zip(bars, dots, strict=True)
            total = sum(bar @ dot for bar, dot in pairs if bar is not None and dot is not None)
            assert total == pytest.approx(expected, rel=1e-8)
    left, args = given(), given()
    f(*left)
    ad.gradient(f, *args)
    for one, other in zip(args, left, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", OVERLAPPING)
@pytest.mark.parametrize("f", NAMED)
def test_their_second_derivatives(f: Any, name: str) -> None:
    """Of the sum over both names: that of the function of the whole, by all nestings."""

    def of_whole(v: Any) -> Any:
        return f(*OVERLAPPING[name](v.copy()))

    def slope(v: Any) -> Any:
        v = v.copy()
        bars = ad.gradient(f, *OVERLAPPING[name](v))
        total = np.zeros(7)
        for bar, places in zip(bars, OVERLAPPING[name](np.arange(7)), strict=True):
            total[places] += bar
        return total

    def forward_slope(v: Any) -> Any:
        v = v.copy()
        parts = OVERLAPPING[name](v)
        return ad.pushforward(f, parts, (v[2] * parts[0], np.sin(parts[1])))[1]

    whole = ad.hessian(of_whole, V)
    h = 1e-5
    for i in range(7):
        e = h * np.eye(7)[i]
        by_steps = (ad.gradient(of_whole, V + e)[0] - ad.gradient(of_whole, V - e)[0]) / (2 * h)
        np.testing.assert_allclose(whole[i], by_steps, rtol=1e-6, atol=1e-6)
    for mode in ("forward", "reverse"):
        np.testing.assert_allclose(ad.jacobian(slope, V, mode=mode), whole, rtol=1e-10, atol=1e-10)
        found = ad.jacobian(forward_slope, V, mode=mode)
        steps = [(forward_slope(V + e) - forward_slope(V - e)) / (2 * h) for e in h * np.eye(7)]
        np.testing.assert_allclose(found, steps, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("f", NAMED)
def test_hessian_by_one_array_given_twice(f: Any) -> None:
    dots = np.sin(np.arange(1.0, 8.0)), np.cos(np.arange(1.0, 8.0))
    at, h = along_parts(f, "one array", dots), 1e-3
    expected = (-at(2 * h) + 16 * at(h) - 30 * at(0.0) + 16 * at(-h) - at(-2 * h)) / (12 * h * h)
    for mode in ("forward", "reverse"):
        v = V.copy()
        blocks = ad.hessian(f, v, v, mode=mode)
        np.testing.assert_array_equal(v, V)
        found = sum(a @ block @ b for a, row in zip(dots, blocks) for block, b in zip(row, dots))
        assert found == pytest.approx(expected, rel=1e-6)


def test_what_is_captured_is_another_name() -> None:
    def written(memory: Any) -> Callable[[Any], Any]:
        def f(x: Any) -> Any:
            x[0] = 7.0
            return (memory * x * x).sum()

        return f

    a = np.array([1.0, 2.0, 3.0])
    expected = [0.0, 2.0 * 2.0 * 2.0, 2.0 * 3.0 * 3.0]  # what is captured is constant
    for tier in ("fast", "generic"):
        x = a.copy()
        np.testing.assert_allclose(ad.grad(written(x), tier=tier)(x), expected)
    x = a.copy()
    assert ad.pushforward(written(x), (x,), (np.ones(3),))[1] == pytest.approx(sum(expected))
    x = a.copy()
    f_bar, x_bar = ad.pullback(written(x), x)[1](1.0)
    np.testing.assert_allclose(x_bar, expected)
    np.testing.assert_allclose(f_bar.memory, [0.0, 4.0, 9.0])


def test_a_container_given_twice() -> None:
    def product(p: Any, q: Any) -> Any:
        return p[0] * q[0] ** 2

    same = [3.0]
    assert ad.pushforward(product, (same, same), ([1.0], [1.0])) == (27.0, 27.0)
    assert ad.pushforward(product, (same, same), ([1.0], None)) == (27.0, 9.0)
    assert ad.pushforward(product, (same, same), ([1.0], [2.0])) == (27.0, 9.0 + 36.0)
    array = np.array([2.0, 3.0])
    dots = (array, 0.0 * array), (0.0 * array, array)
    for along in dots:
        assert ad.pushforward(lambda p, q: (p * q).sum(), (array, array), along)[1] == 13.0


def test_second_derivatives_by_one_array_given_twice() -> None:
    def f(p: Any, q: Any) -> Any:
        return (p * p * q).sum()

    x = np.array([0.5, 2.0])
    expected = ad.jacobian(lambda p, q: ad.gradient(f, p, q)[0], x, x)
    np.testing.assert_allclose(expected[0], np.diag(2.0 * x))
    np.testing.assert_allclose(expected[1], np.diag(2.0 * x))
    found = ad.hessian(f, x, x)
    blocks = ((2.0 * x, 2.0 * x), (2.0 * x, 0.0 * x))
    for row, diagonals in zip(found, blocks, strict=True):
        for block, diagonal in zip(row, diagonals, strict=True):
            np.testing.assert_allclose(block, np.diag(diagonal))
    pushed = ad.hvp(lambda pair: f(*pair), (x, x), (np.ones(2), np.ones(2)))
    np.testing.assert_allclose(pushed[0], 6.0 * x)  # inside one argument it is one variable


def test_second_derivatives_by_overlapping_arrays_are_refused() -> None:
    v = np.linspace(0.4, 1.3, 7)
    parts, ones = (v[:4], v[2:6]), (np.ones(4), np.ones(4))
    for differentiate in (
        lambda: ad.hessian(_read_before, *parts),
        lambda: ad.hvp(lambda pair: _read_before(*pair), parts, ones),
        lambda: ad.vhp(lambda pair: _read_before(*pair), parts, ones),
        lambda: ad.hessian_diagonal(lambda pair: _read_before(*pair), parts),
    ):
        with pytest.raises(ArgumentError, match="arrays that overlap"):
            differentiate()
    # parts of one array that share nothing are as good as any
    halves = ad.hvp(lambda pair: _read_before(*pair), (v[:3], v[3:6]), (ones[0][:3], ones[1][:3]))
    apart = (v[:3].copy(), v[3:6].copy())
    copies = ad.hvp(lambda pair: _read_before(*pair), apart, (ones[0][:3], ones[1][:3]))
    np.testing.assert_array_equal(halves, copies)


class OfItsOwn(np.ndarray):
    pass


@pytest.mark.parametrize(
    "make",
    [lambda: V.copy().view(OfItsOwn), lambda: np.frombuffer(bytearray(V.tobytes()))],
    ids=["class", "memory of another object"],
)
def test_an_array_without_another_name(make: Callable[[], Any]) -> None:
    """Where its memory has no second name, levels refuse it at two positions; programs need
    none."""

    def f(q: Any, p: Any) -> Any:
        return np.sum(q * p**2)

    x = make()
    for tier in ("fast", "generic"):
        bars = ad.grad(f, (0, 1), tier=tier)(x, x)
        np.testing.assert_allclose(np.asarray(bars), [V**2, 2.0 * V**2])
    assert float(ad.pushforward(f, (x, make()), (V, None))[1]) == pytest.approx(np.sum(V**3))
    if type(x) is np.ndarray:
        assert float(ad.pushforward(f, (x, x), (V, None))[1]) == pytest.approx(np.sum(V**3))
    with generic_tier():
        for dots in ((V, None), (V, V), (None, V)):
            with pytest.raises(ArgumentError, match="cannot be looked at under two names"):
                ad.pushforward(f, (x, x), dots)
    with pytest.raises(ArgumentError, match="cannot be looked at under two names"):
        nested(f, (x, x), {}, of_function=False)


# ---- one array given twice, with a write that reads where it writes ------------------------------


def _shifted(x, y):
    x[1:] = x[:-1]


def _shifted_through_the_other(x, y):
    y[1:] = x[:-1]


def _reversed(x, y):
    x += x[::-1]


def _cumulated(x, y):
    np.add(x[1:], x[:-1], out=x[1:])


def _exchanged(x, y):
    x[[0, 1]] = x[[1, 0]]


@pytest.mark.parametrize(
    "write", [_shifted, _shifted_through_the_other, _reversed, _cumulated, _exchanged]
)
def test_modes_agree_for_one_array_given_twice(write):
    def f(x, y):
        write(x, y)
        return np.sum(np.sin(x)) + np.sum(y**2)

    def twice():
        x = np.array([0.1, 0.2, 0.3, 0.4])
        return x, x

    dots = np.array([1.0, 2.0, 3.0, 4.0]), np.array([0.5, -1.0, 2.0, 0.3])
    pulled = [
        ad.pullback(f, *twice())[1](1.0)[1:],
        nested(f, twice(), {}, of_function=False)[1](1.0)[1:],
    ]
    expected, on_a_tape = (sum(b @ d for b, d in zip(bars, dots, strict=True)) for bars in pulled)
    assert on_a_tape == pytest.approx(expected, rel=1e-13)
    assert ad.pushforward(f, twice(), dots)[1] == pytest.approx(expected, rel=1e-13)
    assert ad.linearize(f, *twice())[1](*dots) == pytest.approx(expected, rel=1e-13)
