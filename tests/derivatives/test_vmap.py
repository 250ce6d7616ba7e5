"""`adjoint.vmap`: the values of a loop over the rows, its errors, and its derivatives in all modes,
inside other operators and around them."""

from __future__ import annotations

import doctest
import importlib
import traceback
from collections import namedtuple
from functools import partial

import numpy as np
import pytest

import adjoint as ad
from adjoint.errors import ArgumentError

Pair = namedtuple("Pair", "first second")
RNG = np.random.default_rng(5)
X = RNG.normal(size=(3, 2))
CUBE = RNG.normal(size=(3, 2, 4))
W = np.array([0.7, -1.1])


def same(found, expected):
    """Whether two structures are equal: types, dtypes, shapes and numbers."""
    assert type(found) is type(expected)
    if isinstance(expected, np.ndarray):
        assert found.dtype == expected.dtype and found.shape == expected.shape
        np.testing.assert_array_equal(found, expected)
    elif isinstance(expected, dict):
        assert [*found] == [*expected]
        for key in expected:
            same(found[key], expected[key])
    elif isinstance(expected, list | tuple):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            same(one, other)
    else:
        assert found == expected


# ---- values --------------------------------------------------------------------------------------


def powers(row):
    return np.sin(row) * row, row.sum()


@pytest.mark.parametrize("axis", range(-3, 3))
@pytest.mark.parametrize("out", range(-3, 3))
def test_axes_of_an_array(axis, out):
    rows = [np.tanh(row) for row in np.moveaxis(CUBE, axis, 0)]
    same(ad.vmap(np.tanh, axis, out)(CUBE), np.stack(rows, out))


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16", "i4", "i8", "u1", "?", "M8[s]", "U3"])
@pytest.mark.parametrize("shape", [(3,), (3, 2)])
def test_dtypes(dtype, shape):
    x = np.arange(np.prod(shape)).reshape(shape).astype("i8").astype(dtype)
    for f in (lambda r: r, lambda r: (r, [r == r])):
        rows = [f(row) for row in x]
        expected = np.stack([r if isinstance(r, x.dtype.type | np.ndarray) else r[0] for r in rows])
        found = ad.vmap(f)(x)
        same(found[0] if isinstance(found, tuple) else found, expected)


def test_numbers_become_arrays():
    x = np.arange(3.0)
    same(ad.vmap(lambda t: 2 * t)(x), np.array([0.0, 2.0, 4.0]))
    same(ad.vmap(float)(x), x)
    same(ad.vmap(int)(x), np.arange(3))
    same(ad.vmap(lambda t: bool(t > 1))(x), np.array([False, False, True]))
    same(ad.vmap(lambda t: 1j)(x), np.full(3, 1j))
    same(ad.vmap(lambda t: np.float32(2))(x), np.full(3, 2, np.float32))
    same(ad.vmap(lambda t: 1 if t > 1 else 0.5)(x), np.array([0.5, 0.5, 1.0]))  # as NumPy stacks
    same(ad.vmap(lambda t: np.array(t))(x), x)
    rows = []
    ad.vmap(lambda t: rows.append(type(t)) or 0)(x)
    assert rows == [np.float64] * 3  # as a loop gives them


def test_several_arguments():
    y = np.arange(6.0).reshape(2, 3)
    expected = np.stack([a * b for a, b in zip(X, y.T, strict=True)])
    same(ad.vmap(lambda a, b: a * b, (0, 1))(X, y), expected)
    same(ad.vmap(lambda a, b: a * b, [0, -1])(X, y), expected)
    same(ad.vmap(lambda a, b: a * b)(X, y.T), expected)
    same(ad.vmap(lambda a, b: a * b, (0, None))(X, W), X * W)
    same(ad.vmap(lambda a, b: a * b, (None, 0))(W, X), X * W)
    same(ad.vmap(lambda a, b: b, (np.int64(0), None))(X, 2.0), np.full(3, 2.0))


def test_keyword_arguments_are_mapped_along_the_first_axis():
    y = RNG.normal(size=(3, 2))
    same(ad.vmap(lambda a, *, b: a * b)(X, b=y), X * y)
    same(ad.vmap(lambda a, *, b: a * b["c"][0], 1)(X.T, b={"c": [y]}), X * y)
    same(ad.vmap(lambda *, b: b * 2, None)(b=y), y * 2)
    same(ad.vmap(lambda a, b=None: a if b is None else b)(X, b=None), X)


def test_structures_of_arguments():
    def f(p, q):
        return p["a"] * p["b"][0] + q.first - q.second

    p, q = {"a": X, "b": [X.T]}, Pair(CUBE[:, :, 0], W)
    expected = X * X + CUBE[:, :, 0] - W
    same(ad.vmap(f, ({"a": 0, "b": [1]}, (0, None)))(p, q), expected)
    same(ad.vmap(f, ({"a": 0, "b": 1}, Pair(0, None)))(p, q), expected)
    same(ad.vmap(f, ({"a": 0, "b": 1}, [-2, None]))(p, q), expected)
    same(ad.vmap(lambda p: p["a"] + p["b"][0])({"a": X, "b": [X]}), 2 * X)
    same(ad.vmap(lambda p: p[0] if p[1] is None else p)((X, None)), X)


def test_unmapped_arguments_are_handed_over_as_they_are():
    class Model:
        scale = 3.0

    model, seen = Model(), []

    def f(row, rest):
        seen.append(rest["part"])
        return row * rest["part"].scale

    same(ad.vmap(f, (0, None))(X, {"part": model}), X * 3.0)
    same(ad.vmap(lambda p: p[0] * p[1].scale, ([0, None],))([X, model]), X * 3.0)
    assert all(one is model for one in seen)


def test_structures_of_results():
    def f(row):
        return {"y": row * 2, "parts": [row[0], (row.sum(), None)], "pair": Pair(1, row)}

    found = ad.vmap(f)(X)
    pair = Pair(np.ones(3, int), X)
    same(found, {"y": X * 2, "parts": [X[:, 0], (X.sum(1), None)], "pair": pair})
    axes = {"y": 1, "parts": [0, (0, None)], "pair": -1}
    found = ad.vmap(f, out_axes=axes)(X)
    same(found["y"], (X * 2).T)
    same(found["pair"], Pair(np.ones(3, int), X.T))
    same(ad.vmap(lambda r: ())(X), ())


def test_results_that_are_the_same_for_all_rows():
    def f(row):
        return row * 2, {"w": W, "n": np.nan, "text": "a"}, 3

    found = ad.vmap(f, out_axes=(0, None, None))(X)
    same(found[0], X * 2)
    assert found[1]["w"] is W and found[1]["text"] == "a" and found[2] == 3


def test_writes_to_rows_are_those_of_a_loop():
    def f(row):
        row *= 2
        return row

    x, y = X.copy(), X.copy()
    found = ad.vmap(f)(x)
    same(found, np.stack([f(row) for row in y]))
    same(x, y)
    assert not np.shares_memory(found, x)


def test_axes_are_copied():
    axes = [0]
    f = ad.vmap(np.sin, axes)
    axes.append(1)
    same(f(X), np.sin(X))


def test_name_and_kinds_of_functions():
    class Scaled:
        def __init__(self, w):
            self.w = w

        def __call__(self, row):
            return row * self.w

        def method(self, row):
            return row + self.w

    assert ad.vmap(powers).__name__ == "powers"
    assert ad.vmap(Scaled(W)).__name__ == "Scaled"
    same(ad.vmap(Scaled(W))(X), X * W)
    same(ad.vmap(Scaled(W).method)(X), X + W)
    same(ad.vmap(partial(np.multiply, 2.0))(X), X * 2)
    same(ad.vmap(np.linalg.norm)(X), np.stack([np.linalg.norm(row) for row in X]))
    assert "fast tier" in str(ad.tier(lambda x: ad.vmap(powers)(x)[0].sum(), X))


def test_examples():
    module = importlib.import_module("adjoint.derivatives.vmap")
    assert doctest.testmod(module) == (0, 5)


# ---- errors --------------------------------------------------------------------------------------


class Box:
    def __init__(self):
        self.a = X


ERRORS = {
    "in_axes contains 1.5": lambda: ad.vmap(np.sin, 1.5),
    "in_axes contains 'a'": lambda: ad.vmap(np.sin, (0, ["a"])),
    "in_axes contains True": lambda: ad.vmap(np.sin, True),
    "in_axes is a dict": lambda: ad.vmap(np.sin, {"x": 0}),
    "out_axes contains 0.0": lambda: ad.vmap(np.sin, 0, {"x": 0.0}),
    "in_axes has 2 entries, and there are 1 pos": lambda: ad.vmap(np.sin, (0, 0))(X),
    "no argument is mapped": lambda: ad.vmap(np.sin, None)(X),
    "no argument is mapped\nhint: give the axis": lambda: ad.vmap(np.sin, (None,))(X),
    "no argument is mapped\nhint": lambda: ad.vmap(lambda: 0)(),
    "no argument is mapped\nhint: ": lambda: ad.vmap(lambda p: 0)([None]),
    "in_axes is 2 for 'row', which is an array of shape (3, 2)": lambda: ad.vmap(powers, 2)(X),
    "in_axes is -3 for 'row', which is": lambda: ad.vmap(powers, -3)(X),
    "in_axes is 0 for 'row', which is a number (float)": lambda: ad.vmap(powers)(2.0),
    "in_axes is 0 for 'row'[1], which is a number (int)": lambda: ad.vmap(powers)([X, 2]),
    "in_axes is 0 for argument 0, which": lambda: ad.vmap(max)(2.0),
    "in_axes is 0 for 'k', which is a number (int)": lambda: ad.vmap(lambda r, k: r)(X, k=3),
    "in_axes is [0] for 'row', which is an array": lambda: ad.vmap(powers, ([0],))(X),
    "in_axes is [0] for 'row', which is a tuple with 2 parts": (
        lambda: ad.vmap(powers, ([0],))((X, X))
    ),
    "in_axes is {'a': 0} for 'row', which is a dict with the keys ['b']": (
        lambda: ad.vmap(powers, ({"a": 0},))({"b": X})
    ),
    "'a' has 3 along axis 0, 'b' has 2 along axis 1": (
        lambda: ad.vmap(lambda a, b: a, (0, 1))(X, X)
    ),
    "'a'['p'] has 3 along axis 0, 'k' has 2 along axis 0": (
        lambda: ad.vmap(lambda a, k: a)({"p": X}, k=X.T)
    ),
    "'row' has no rows along axis 1": lambda: ad.vmap(powers, 1)(X[:, :0]),
    "'row' is an object of class 'Box'": lambda: ad.vmap(powers)(Box()),
    "'k' is an object of class 'str'": lambda: ad.vmap(lambda r, k: r)(X, k="mean"),
    "'row' is an object of class 'MaskedArray'": lambda: ad.vmap(powers)(np.ma.masked_less(X, 0)),
    "'row' is an array of objects of shape (2,)": (
        lambda: ad.vmap(powers)(np.array([None, 1.0], object))
    ),
    "the result differs between rows 0 and 2: an array of shape (1,), and an array of shape (2,)": (
        lambda: ad.vmap(lambda n: np.zeros(n))(np.array([1, 1, 2]))
    ),
    "the result[0] differs between rows 0 and 1: a number (int), and an array of shape (2,)": (
        lambda: ad.vmap(lambda n: [1 if n == 0 else np.ones(2)])(np.arange(2))
    ),
    "between rows 0 and 1: a tuple with 1 part, and None": (
        lambda: ad.vmap(lambda n: (1,) if n == 0 else None)(np.arange(2))
    ),
    "between rows 0 and 1: a number (float), and a tuple with 1 part": (
        lambda: ad.vmap(lambda n: 1.0 if n == 0 else (1.0,))(np.arange(2))
    ),
    "between rows 0 and 1: a dict with the keys ['a'], and a dict with the keys ['b']": (
        lambda: ad.vmap(lambda n: {"ab"[n]: 1.0})(np.arange(2))
    ),
    "between rows 0 and 1: None, and": lambda: ad.vmap(lambda n: n or None)(np.arange(2)),
    "the result['a'] is an object of class 'Box'": lambda: ad.vmap(lambda r: {"a": Box()})(X),
    "the result is an object of class 'str'": lambda: ad.vmap(lambda r: "a")(X),
    "the result is an integer of more than 64 bits": lambda: ad.vmap(lambda r: 2**70)(X),
    "the result is an object of class 'MaskedArray'": (
        lambda: ad.vmap(lambda r: np.ma.masked_less(r, 0))(X)
    ),
    "out_axes is 2 for the result, which has 2 axes": lambda: ad.vmap(np.sin, 0, 2)(X),
    "out_axes is -2 for the result, which has 1 axis": lambda: ad.vmap(np.sum, 0, -2)(X),
    "out_axes is [0, 0] for the result, which has 1 axis": lambda: ad.vmap(np.sum, 0, (0, 0))(X),
    "out_axes is [0] for the result, which is a tuple with 2 parts": (
        lambda: ad.vmap(powers, 0, (0,))(X)
    ),
    "out_axes is None for the result[1], which is not the same in rows 0 and 1": (
        lambda: ad.vmap(powers, 0, (0, None))(X)
    ),
}


@pytest.mark.parametrize("message", ERRORS)
def test_errors(message):
    with pytest.raises(ArgumentError) as found:
        ERRORS[message]()
    assert message in str(found.value)
    assert found.value.hint


def test_the_same_errors_inside_differentiated_code():
    for f in (
        lambda x: ad.vmap(powers, 2)(x)[0].sum(),
        lambda x: ad.vmap(lambda n: x[: 1 + (n == 1)])(np.arange(2)).sum(),
    ):
        for run in (f, ad.grad(f), ad.jacobian_forward):
            with pytest.raises(ArgumentError, match="in_axes is 2 for 'row'|between rows 0 and 1"):
                run(f, X) if run is ad.jacobian_forward else run(X)


def fails(row):
    return row[7]


def test_errors_of_the_function_have_no_frames_of_the_library():
    for run in (
        ad.vmap(fails),
        ad.grad(lambda x: np.sum(ad.vmap(fails)(x))),
        ad.vmap(ad.grad(fails)),
    ):
        with pytest.raises(IndexError) as found:
            run(X)
        files = {frame.filename for frame in traceback.extract_tb(found.value.__traceback__)}
        assert files == {__file__}


# ---- derivatives ---------------------------------------------------------------------------------


def wave(row):
    return np.sin(row) * row[0] + row[1] ** 2


def energy(row):
    return np.sum(np.sin(row) * row[0] ** 2) + row[1] ** 3


def writes(row):
    y = np.zeros(2)
    y[0] = row[0] * row[1]
    y[1] = y[0] ** 2 + row[1]
    return y


def branches(t):
    return t * t if t > 0 else np.sin(t)


def structures(x):
    found = ad.vmap(lambda r: {"a": r * r, "b": (r[0] * x[1, 1], Pair(r, 2))})(x)
    return np.sum(found["a"] * W) + np.sum(found["b"][0]) ** 2 + np.sum(found["b"][1].first ** 3)


def captured(x):
    def row_of(row):
        return row * x[0] + np.sum(x)

    return np.sum(ad.vmap(row_of)(np.ones((4, 2)) * np.arange(4.0)[:, None]) ** 2)


class Layer:
    def __init__(self, w):
        self.w = w

    def __call__(self, row):
        return np.tanh(self.w @ row)


def kept(x):
    """A list outside that each row adds to."""
    rows = []
    ad.vmap(lambda r: rows.append(r * r) or 0)(x)
    return np.sum(rows[0] * rows[2])


def in_place(x):
    y = x * x

    def doubled(row):
        row *= row[1]
        return row.sum()

    return np.sum(ad.vmap(doubled)(y) ** 2) + np.sum(y * W)


class Negative(Exception):
    pass


def root(t):
    if t < 0:
        raise Negative(t)
    return t**1.5


def caught(x):
    try:
        return np.sum(ad.vmap(root)(x[0] ** 2)) + np.sum(ad.vmap(root)(x[1]))
    except Negative as error:
        return error.args[0] ** 3 * x[0, 0]


outer_slope, outer_curvature = ad.vmap(ad.grad(energy)), ad.vmap(partial(ad.hessian, energy))
mapped_wave = ad.vmap(wave)

FUNCTIONS = {
    "rows": lambda x: np.sum(ad.vmap(wave)(x) ** 2 * W),
    "made outside": lambda x: np.sum(mapped_wave(x) ** 2 * W),
    "last axis": lambda x: np.sum(ad.vmap(wave, -1, 1)(x.T)[0] ** 2),
    "numbers": lambda x: np.sum(ad.vmap(branches)(x.ravel()) ** 2),
    "python numbers": lambda x: np.sum(ad.vmap(lambda t: float(t) ** 3)(x[:, 0]) ** 2),
    "two arguments": lambda x: np.sum(ad.vmap(lambda a, b: a * b * b, (0, 1))(x, x.T) ** 2),
    "unmapped": lambda x: np.sum(ad.vmap(lambda a, b: a @ b @ a, (0, None))(x, x.T @ x) ** 2),
    "keyword": lambda x: np.sum(ad.vmap(lambda a, b: a * b**2)(x, b=x)),
    "structures": structures,
    "structured argument": lambda x: np.sum(
        ad.vmap(lambda p: p["a"] * p["b"][0] * p["b"][1], ({"a": 0, "b": (0, None)},))(
            {"a": x, "b": (x[::-1], x[0])}
        )
    ),
    "the same for all rows": lambda x: np.sum(
        ad.vmap(lambda r: (r * 2, x[0] ** 2), out_axes=(0, None))(x)[1] * x[1]
    ),
    "captured": captured,
    "object": lambda x: np.sum(ad.vmap(Layer(x.T @ x))(x) ** 2),
    "writes": lambda x: np.sum(ad.vmap(writes)(x) ** 2),
    "writes to rows": in_place,
    "list outside": kept,
    "raises": caught,
    "nested": lambda x: np.sum(
        ad.vmap(lambda a: ad.vmap(lambda b: np.sin(a @ b) * b[0])(x))(x) ** 2
    ),
    "nested over numbers": lambda x: np.sum(ad.vmap(ad.vmap(branches), 1, 1)(x) ** 2),
    "of a gradient": lambda x: np.sum(ad.vmap(ad.grad(energy))(x) ** 2),
    "of a gradient, made outside": lambda x: np.sum(outer_slope(x) ** 2),
    "of a hessian": lambda x: np.sum(ad.vmap(lambda r: ad.hessian(energy, r))(x) ** 2),
    "of a hessian, made outside": lambda x: np.sum(outer_curvature(x) ** 2),
    "of a jacobian": lambda x: np.sum(ad.vmap(lambda r: ad.jacobian(wave, r))(x) ** 2 * W),
    "of a pushforward": lambda x: np.sum(
        ad.vmap(lambda r, v: ad.pushforward(wave, (r,), (v,))[1])(x, x[::-1]) ** 2
    ),
    "of a product": lambda x: np.sum(ad.vmap(lambda r: ad.hvp(energy, r, x[0]))(x) ** 2),
    "of a gradient with something captured": lambda x: np.sum(
        ad.vmap(ad.grad(lambda r: np.sum(np.sin(r * x[0]))))(x) ** 2
    ),
    "gradient of": lambda x: np.sum(ad.grad(lambda z: np.sum(ad.vmap(wave)(z) ** 2))(x) * x[::-1]),
    "jacobian of": lambda x: np.sum(ad.jacobian(lambda z: ad.vmap(energy)(z * x[0]), x) ** 2),
}


def differences(f, x, h):
    x = np.asarray(x)
    columns = []
    for place in np.ndindex(x.shape):
        step = np.zeros(x.shape)
        step[place] = h
        columns.append((np.asarray(f(x + step)) - np.asarray(f(x - step))) / (2 * h))
    return np.reshape(np.stack(columns, -1), np.shape(f(x)) + x.shape)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives_in_all_modes(name):
    f = FUNCTIONS[name]
    x = X[:2] if "hessian" in name else X  # which take long
    expected = differences(f, x, 1e-6)
    for of in (
        ad.grad(f),
        ad.grad(f, tier="generic"),
        lambda z: ad.pullback(f, z)[1](1.0)[1],
        lambda z: ad.jacobian_forward(f, z),
        lambda z: ad.jacobian_reverse(f, z),
    ):
        np.testing.assert_allclose(of(x), expected, rtol=1e-6, atol=1e-7)
    second = differences(ad.grad(f), x, 1e-5)
    v = x[::-1].copy()
    np.testing.assert_allclose(ad.hessian(f, x), second, rtol=1e-5, atol=1e-5)
    along = np.tensordot(second, v, 2)
    for of in (ad.hvp, ad.vhp):
        np.testing.assert_allclose(of(f, x, v), along, rtol=1e-5, atol=1e-5)


def test_reverse_over_reverse():
    for name in ("rows", "captured", "of a gradient, made outside", "nested over numbers"):
        slope = ad.grad(FUNCTIONS[name])
        second = differences(slope, X, 1e-5)
        found = ad.jacobian_reverse(slope, X)
        np.testing.assert_allclose(found, second, rtol=1e-5, atol=1e-5)


def test_derivatives_of_what_vmap_returns():
    jacobian = ad.jacobian(mapped_wave, X)
    assert jacobian.shape == (3, 2, 3, 2)
    np.testing.assert_allclose(jacobian, differences(mapped_wave, X, 1e-6), atol=1e-8)
    y, back = ad.pullback(mapped_wave, X)
    same(y, mapped_wave(X))
    np.testing.assert_allclose(back(y)[1], np.tensordot(y, jacobian, 2))
    y, push = ad.linearize(mapped_wave, X)
    np.testing.assert_allclose(push(X), np.tensordot(jacobian, X, 2))
    total = ad.vmap(lambda p: {"y": p[0] * p[1]}, out_axes=1)
    y, back = ad.pullback(total, [X, X[::-1]])
    of_first, of_second = back({"y": np.ones((2, 3))})[1]
    same(of_first, X[::-1].copy())
    same(of_second, X)


def test_cotangents_of_what_the_function_has_captured():
    def made(w):
        return ad.vmap(lambda row: row * w)

    w = W.copy()
    _, back = ad.pullback(made(w), X)
    np.testing.assert_allclose(back(np.ones((3, 2)))[0].f.w, np.sum(X, 0))
    found = ad.gradient(lambda w: np.sum(made(w)(X) ** 2), w)[0]
    np.testing.assert_allclose(found, 2 * w * np.sum(X**2, 0))
    _, back = ad.pullback(ad.vmap(Layer(np.eye(2))), X)
    assert back(np.ones((3, 2)))[0].f.w.shape == (2, 2)


@pytest.mark.parametrize("dtype", [np.float32, np.complex128, np.int64])
def test_dtypes_of_derivatives(dtype):
    x = (RNG.normal(size=(3, 2)) * 3 + (1j if dtype is np.complex128 else 0)).astype(dtype)

    def by_loop(x):
        return np.sum(np.abs(np.stack([row * row[0] for row in x])) ** 2)

    def by_vmap(x):
        return np.sum(np.abs(ad.vmap(lambda row: row * row[0])(x)) ** 2)

    same(ad.gradient(by_vmap, x)[0], ad.gradient(by_loop, x)[0])
    dot = x.astype(float) if dtype is np.int64 else x
    one, other = (ad.pushforward(f, (x,), (dot,))[1] for f in (by_vmap, by_loop))
    assert one == other and type(one) is type(other)


def test_integers_stay_integers_inside():
    def f(x, n):
        counts = ad.vmap(lambda k, j: k * j, (0, None))(n, 2)
        assert counts.dtype == np.int64 and counts.tolist() == [2, 4, 6]
        return np.sum(ad.vmap(lambda r, k: r**k)(x, n)) * counts[1]

    n = np.arange(1, 4)
    expected = 4 * n * X[:, 0] ** (n - 1)
    for found in (
        ad.gradient(f, X[:, 0], n)[0],
        ad.grad(f)(X[:, 0], n),
        ad.jacobian_forward(lambda x: f(x, n), X[:, 0]),
    ):
        np.testing.assert_allclose(found, expected)


def test_objects_and_models():
    model = Layer(np.array([[0.5, 1.0], [-1.0, 0.2]]))

    def loss(model, x):
        return np.sum(ad.vmap(model)(x) ** 2) + np.sum(ad.vmap(Layer.__call__, (None, 0))(model, x))

    bar = ad.gradient(loss, model, X)[0]
    expected = differences(lambda w: loss(Layer(w), X), model.w, 1e-6)
    np.testing.assert_allclose(bar.w, expected, rtol=1e-6, atol=1e-8)


def test_per_sample_gradients():
    def loss(w, x, y):
        return (np.tanh(w @ x) - y) ** 2

    ys = np.array([0.1, 0.5, -0.3])
    found = ad.vmap(ad.grad(loss), (None, 0, 0))(W, X, ys)
    same(found, np.stack([ad.grad(loss)(W, x, y) for x, y in zip(X, ys, strict=True)]))
    np.testing.assert_allclose(
        found.sum(0), ad.grad(lambda w: np.sum(ad.vmap(loss, (None, 0, 0))(w, X, ys)))(W)
    )
