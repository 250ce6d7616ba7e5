"""What functions make of an integer that is differentiated in: the same derivative in all modes,
outside and inside."""

import collections
import copy
import functools
import itertools
import math
import operator
import statistics
import typing

import numpy as np
import pytest

import adjoint as ad

FUNCTIONS = {
    "count": lambda n: next(itertools.count(n)) * n * 1.0,
    "count2": lambda n: (lambda c: (next(c) + next(c)) * n * 1.0)(itertools.count(n)),
    "count step": lambda n: (lambda c: (next(c) + next(c)) * n * 1.0)(itertools.count(1, n)),
    "enumerate": lambda n: [i for i, _ in enumerate("ab", n)][0] * n * 1.0,
    "range start": lambda n: range(n, 9)[0] * n * 1.0,
    "range iter": lambda n: next(iter(range(n, 9))) * n * 1.0,
    "range list": lambda n: list(range(n, 9))[0] * n * 1.0,
    "range neg": lambda n: range(9)[n] * n * 1.0,
    "repeat": lambda n: next(itertools.repeat(n)) * n * 1.0,
    "cycle": lambda n: next(itertools.cycle([n])) * n * 1.0,
    "accumulate": lambda n: next(itertools.accumulate([n])) * n * 1.0,
    "len": lambda n: len([0] * n) * n * 1.0,
    "deque maxlen": lambda n: collections.deque([1], n).maxlen * n * 1.0,
    "shape": lambda n: np.zeros((n, 2)).shape[0] * n * 1.0,
    "ndarray.size": lambda n: np.zeros(n).size * n * 1.0,
    "hash": lambda n: hash(n) * n * 1.0,
    "ord": lambda n: ord(chr(n + 60)) * n * 1.0,
    "bool+": lambda n: (bool(n) + n) * n * 1.0,
    "partial": lambda n: functools.partial(lambda a, b: a * b, n)(n) * 1.0,
    "default": lambda n: (lambda a, b=n: a * b)(n) * 1.0,
    "kwdefault": lambda n: (lambda a, *, b=n: a * b)(n) * 1.0,
    "getattr default": lambda n: getattr(3, "nope", n) * n * 1.0,
    "dict.get": lambda n: {}.get(1, n) * n * 1.0,
    "dict.setdefault": lambda n: {}.setdefault(1, n) * n * 1.0,
    "dict pop": lambda n: {1: n}.pop(1) * n * 1.0,
    "dict key": lambda n: [*{n: 1}][0] * n * 1.0,
    "set": lambda n: [*{n}][0] * n * 1.0,
    "sum gen": lambda n: sum(n for _ in range(n)) * 1.0,
    "next default": lambda n: next(iter([]), n) * n * 1.0,
    "min default": lambda n: min([], default=n) * n * 1.0,
    "list.pop": lambda n: [n].pop() * n * 1.0,
    "itemgetter": lambda n: operator.itemgetter(0)([n]) * n * 1.0,
    "copy": lambda n: copy.copy(n) * n * 1.0,
    "deepcopy": lambda n: copy.deepcopy([n])[0] * n * 1.0,
    "typing.cast": lambda n: typing.cast(int, n) * n * 1.0,
    "statistics": lambda n: statistics.mean([n, n + 1]) * n * 1.0,
    "fsum": lambda n: math.fsum([n, n]) * n,
    "sumprod": lambda n: math.prod([n, n]) * 1.0,
    "trunc": lambda n: np.trunc(n) * n * 1.0,
    "rint": lambda n: np.rint(n) * n * 1.0,
    "np.int64": lambda n: np.int64(n) * n * 1.0,
    "np.float64": lambda n: np.float64(n) * n * 1.0,
    "np.array int": lambda n: np.array(n) * n * 1.0,
    "np.array dtype": lambda n: np.array([n], dtype=int)[0] * n * 1.0,
    "np.asarray dtype f": lambda n: np.asarray([n], dtype=float)[0] * n * 1.0,
    "astype chain": lambda n: np.array([n]).astype(float).astype(int)[0] * n * 1.0,
    "array.item": lambda n: np.array([n]).item(0) * n * 1.0,
    "array.sum int": lambda n: np.array([n, n]).sum() * n * 1.0,
    "cumsum": lambda n: np.array([n, n]).cumsum()[1] * n * 1.0,
    "take": lambda n: np.take(np.array([n, n]), 1) * n * 1.0,
    "unique": lambda n: np.unique(np.array([n, n]))[0] * n * 1.0,
    "bincount": lambda n: np.bincount(np.array([n, n]))[n] * n * 1.0,
    "meshgrid": lambda n: np.meshgrid(np.array([n, n]), np.array([n]))[0][0, 0] * n * 1.0,
    "divide int": lambda n: (np.array([n, n]) / 2)[0] * n,
    "floor_divide": lambda n: (np.array([n, n]) // 2)[0] * n * 1.0,
    "mod arr": lambda n: (np.array([n, n]) % 4)[0] * n * 1.0,
    "bit": lambda n: (np.array([n, n]) & 7)[0] * n * 1.0,
    "abs": lambda n: abs(np.array([-n, n]))[0] * n * 1.0,
    "sign": lambda n: np.sign(np.array([-n, n]))[0] * n * 1.0,
    "where": lambda n: np.where(np.array([n, 0]))[0][0] * n * 1.0 + n,
    "einsum": lambda n: np.einsum("i,i", np.array([n, 2]), np.array([n, 2])) * 1.0,
    "outer": lambda n: np.outer(np.array([n, 2]), np.array([n, 2])).sum() * 1.0,
    "sort": lambda n: np.sort(np.array([n, 2]))[1] * n * 1.0,
    "max": lambda n: np.array([n, 2]).max() * n * 1.0,
    "concatenate": lambda n: np.concatenate([[n], [2, 3]])[0] * n * 1.0,
    "pad": lambda n: np.pad(np.array([n]), 1, constant_values=n).sum() * n * 1.0,
    "insert": lambda n: np.insert(np.array([1, 2]), 0, n)[0] * n * 1.0,
    "choose": lambda n: np.choose([0, 1], [np.array([n, n]), np.array([2, 3])])[0] * n * 1.0,
    "vectorize": lambda n: np.vectorize(lambda a: a * a)(np.array([n, n]))[0] * n * 1.0,
    "apply_along": lambda n: np.apply_along_axis(lambda r: r * r, 0, np.array([n, n]))[0] * n * 1.0,
    "fromiter": lambda n: np.fromiter([n, n], int)[0] * n * 1.0,
    "flat": lambda n: np.array([[n, n]]).flat[0] * n * 1.0,
    "nditer": lambda n: sum(x * n for x in np.array([n, n])) * 1.0,
    "memory order": lambda n: np.array([[n, 1], [2, n]], order="F").ravel("K")[0] * n * 1.0,
    "broadcast": lambda n: np.broadcast_to(np.array([n]), (2, 2))[1, 1] * n * 1.0,
    "polyfit": lambda n: np.polyval([n, 1], n) * 1.0,
    "trace": lambda n: np.trace(np.array([[n, 1], [2, n]])) * n * 1.0,
    "det": lambda n: np.linalg.det(np.array([[n, 1], [2, n]])) * n * 1.0,
    "solve": lambda n: np.linalg.solve(np.array([[n, 1], [2, n]]), [1, n])[0] * n * 1.0,
    "norm": lambda n: np.linalg.norm([n, 1]) * n * 1.0,
    "fft": lambda n: np.fft.fft([n, 1, 2]).real[1] * n * 1.0,
    "interp": lambda n: np.interp(n, [1, 5], [2, 20]) * n,
    "cross": lambda n: np.cross([n, 1, 2], [1, n, 3])[0] * n * 1.0,
    "mean dtype": lambda n: np.array([n, 2], np.int8).mean() * n * 1.0,
    "var": lambda n: np.array([n, 2], np.int8).var() * n * 1.0,
    "dot": lambda n: np.array([n, 2]).dot([n, 2]) * 1.0,
    "int8 mul": lambda n: (np.array([n, 2], np.int8) * np.array([n, 2], np.int16)).sum() * 1.0,
}
WAYS = {
    "generic": lambda f: ad.grad(f, tier="generic")(7),
    "forward": lambda f: ad.pushforward(f, (7,), (1.0,))[1],
    "inside": lambda f: ad.pushforward(lambda s: ad.gradient(f, 7)[0], (1.0,), (1.0,))[0],
    "inside reverse": lambda f: ad.gradient(lambda s: ad.gradient(lambda n: s * f(n), 7)[0], 1.0)[
        0
    ],
    "inside forward": lambda f: ad.derivative(lambda s: s * ad.gradient(f, 7)[0])(1.0),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.filterwarnings("ignore")
def test_in_all_modes(name, way):
    f = FUNCTIONS[name]
    expected = ad.grad(f)(7)
    assert WAYS[way](f) == pytest.approx(expected, rel=1e-10)


REAL = {
    "product": lambda x: np.array([x, 2]).prod() * x,
    "quotient": lambda x: (np.array([x, 2]) / x)[1],
    "powers": lambda x: x**3 + 2.0**x + x**-2 + pow(x, 2),
    "remainder": lambda x: x % 4 * x,
    "matrix": lambda x: np.linalg.det(np.array([[x, 1], [2, x]])) + np.linalg.norm([x, 1]),
    "sums": lambda x: sum([x, x * x]) + np.mean([x, 3]) + np.var([x, 1, x * 2]),
    "elements": lambda x: max([x, 3]) * min([x, 9]) + sorted([x, 2])[1],
    "special": lambda x: math.sqrt(x) + math.atan2(x, 2) + math.hypot(x, 1) + np.sin(x),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", REAL)
def test_as_real_numbers(name, way):
    f, h = REAL[name], 1e-5
    slope = (f(7 + h) - f(7 - h)) / (2 * h)
    assert WAYS[way](f) == pytest.approx(slope, rel=1e-6)


@pytest.mark.parametrize("way", [ad.gradient, lambda f, q: (ad.jacobian_forward(f, q),)])
def test_keywords_that_are_numbers(way):
    def f(q):
        rows = np.array([0.5, 0.1]) * q[1]
        return np.sum(rows, initial=q[0]) + np.pad(rows, q[2], constant_values=q[0]).sum()

    assert way(f, [3, 2, 1])[0] == pytest.approx([3.0, 1.2, 0.0])
