"""Every operator gives inside differentiated code what it gives outside: the same structures, types
and values, for integers in arguments of every kind; and its derivative by what is around it is that
of differences."""

from __future__ import annotations

from collections import deque, namedtuple
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pytest

import adjoint as ad

Pair = namedtuple("Pair", "first second")


@dataclass
class Spring:
    length: object
    stiffness: object
    name: str = "spring"


class Slotted:
    __slots__ = ("n", "x")

    def __init__(self, n, x):
        self.n, self.x = n, x


# ---- arguments: by name, a function of an outer variable and of them, and they themselves --------

POINTS = {
    "int": (lambda s, n: s * n**3, 3),
    "zero": (lambda s, n: (s + n) ** 2 * (n + 1), 0),
    "negative": (lambda s, n: s * s * n / 2 + n, -4),
    "large": (lambda s, n: s * n / 1000 + s * s * n**2 / 10**6, 1234),
    "huge": (lambda s, n: s * (n / 2**70) ** 3, 3 * 2**70),
    "list": (lambda s, q: s * q[0] ** 2 * q[1] + s**2 * q[1], [3, 2]),
    "equal ones": (lambda s, q: s * q[0] ** 2 * q[1] + q[2] * s**3, [1, 1, 1]),
    "tuple": (lambda s, q: s * q[0] ** 2 * q[1], (3, 2)),
    "dict": (lambda s, q: s * q["a"] ** 2 * q["b"], {"a": 3, "b": 2}),
    "named tuple": (lambda s, q: s * q.first**2 / q.second, Pair(3, 2)),
    "deque": (lambda s, q: s * q[0] ** 2 * q[-1], deque([3, 2])),
    "object": (lambda s, q: s**2 * q.stiffness * q.length**2 / 2, Spring(3, 2)),
    "slots": (lambda s, q: s * q.n**2 * q.x, Slotted(3, 2.5)),
    "nested": (
        lambda s, q: s * q["a"][0] ** 2 * q["a"][1].length * q["b"][1] + q["b"][0] * s,
        {"a": [3, Spring(2, 7)], "b": (5, 1.5)},
    ),
    "mixed": (lambda s, q: s * q[0] ** 2 * q[1] * q[2].sum(), [3, 2.5, np.array([1.0, 2.0])]),
    "no path": (lambda s, q: s * q[0] ** 2 * q["n"] if 0 in q else s * q["x"] ** 2,
                {"n": 3, "x": 2, "deep": [1, (2.0, {"z": 4})], "v": np.arange(3)}),
    "text and nothing": (lambda s, q: s * q[1] ** 2, ["a", 3, None, len, 2.0]),
    "a count": (lambda s, q: sum(s * q["x"] ** 2 for _ in range(q["n"])), {"n": 3, "x": 2}),
    "an index": (lambda s, q: s**2 * [2.0, 3.0, 5.0][q[0]] * q[1] ** 2, [1, 3]),
    "a shape": (lambda s, q: (s * np.ones(q[0]) * q[1] ** 2).sum(), [3, 2]),
    "a slice": (lambda s, q: (s * np.arange(5.0)[q[0] : q[1]] * q[1] ** 2).sum(), [1, 3]),
    "an axis": (lambda s, q: (s**2 * np.ones((2, 3)).sum(axis=q[0]) * q[1] ** 2)[0], [1, 3]),
    "a key": (lambda s, q: s * {3: 2.0}[q[0]] * q[1] ** 2, [3, 2]),
    "divided": (lambda s, q: s * (q[0] / 2) ** 2 + s * (q[0] // 2) + s * (q[0] % 3) * q[0], [7]),
    "rounded": (lambda s, q: s * int(q[0]) * q[0] + round(q[0]) * abs(q[0]) * s**2, [7]),
    "powers": (lambda s, q: s * 2 ** q[0] + s * q[0] ** -2 + s * q[0] ** q[0], [3]),
    "least": (lambda s, q: s * min(q) ** 2 + s * max(q) * sum(q), [3, 1, 2]),
    "ties": (lambda s, q: s * min(q) ** 2 + s * max(q) * sum(q), [2, 2, 2]),
    "updated": (lambda s, q: _updated(s, q), [3, 2]),
    "array": (lambda s, x: s * (x * x).sum() * x[0], np.array([3, 2])),
    "matrix": (lambda s, x: s * (x @ x.T).sum() * x[0, 1], np.array([[3, 2], [1, 4]])),
    "short": (lambda s, x: s * (x[::-1] * x * 1.0).sum(), np.array([3, 2, 5], np.int16)),
    "unsigned": (lambda s, x: s * (x**2.0).sum(), np.array([3, 2], np.uint8)),
    "scalar of numpy": (lambda s, n: s * n**2 * n, np.int64(3)),
    "scalars in a list": (lambda s, q: s * q[0] ** 2 * q[1], [np.int64(3), np.int32(2)]),
    "indices": (lambda s, x: s * (np.array([2.0, 5.0])[x] * x).sum() * x[1], np.array([1, 0, 1])),
    "converted": (lambda s, x: s * (x.astype(float) ** 3).sum(), np.array([3, 2])),
    "joined": (lambda s, q: s * (np.array([q[0], 2, q[1]]) ** 2).sum(), [3, 2]),
    "written": (lambda s, x: _written(s, x), np.array([3, 2, 4])),
    "array of objects": (lambda s, x: s * x[0] ** 2 * x[1], np.array([3, 2.5], object)),
}  # fmt: skip


def _updated(s, q):
    q = list(q)
    q[0] = q[0] * q[1]
    q[1] += q[0]
    return s * q[0] * q[1]


def _written(s, x):
    v = np.zeros(3)
    v[:2] = x[1:]
    v[2] = x[0]
    return s * (v**3).sum()


# ---- operators -----------------------------------------------------------------------------------


def ones(x):
    """A tangent of ones."""
    if isinstance(x, np.ndarray):
        if x.dtype == object:
            return np.array([ones(part) for part in x], object)
        return np.ones(x.shape)
    if isinstance(x, list | tuple | deque):
        made = [ones(part) for part in x]
        return type(x)(*made) if hasattr(x, "_fields") else type(x)(made)
    if isinstance(x, dict):
        return {key: ones(part) for key, part in x.items()}
    if isinstance(x, Spring | Slotted):
        names = ("length", "stiffness") if isinstance(x, Spring) else ("n", "x")
        return {name: ones(getattr(x, name)) for name in names}
    return 1.0 if isinstance(x, int | float | np.number) else None


OPERATORS = {
    "pullback": lambda f, x: _pulled(f, x),
    "gradient": lambda f, x: ad.gradient(f, x),
    "withgradient": lambda f, x: ad.withgradient(f, x),
    "grad": lambda f, x: ad.grad(f)(x),
    "value_and_grad": lambda f, x: ad.value_and_grad(f)(x),
    "pushforward": lambda f, x: ad.pushforward(f, (x,), (ones(x),)),
    "directional": lambda f, x: ad.directional(f, x, ones(x)),
    "linearize": lambda f, x: _linearized(f, x),
    "jacobian": lambda f, x: ad.jacobian(f, x),
    "jacobian_forward": lambda f, x: ad.jacobian_forward(f, x),
    "hessian": lambda f, x: ad.hessian(f, x),
    "hvp": lambda f, x: ad.hvp(f, x, ones(x)),
    "vhp": lambda f, x: ad.vhp(f, x, ones(x)),
    "hessian_diagonal": lambda f, x: ad.hessian_diagonal(f, x),
}


def _pulled(f, x):
    y, back = ad.pullback(f, x)
    return y, back(1.0)[1]


def _linearized(f, x):
    y, push = ad.linearize(f, x)
    return y, push(ones(x))


OF_NUMBERS = {"derivative": lambda f, x: ad.derivative(f)(x)}


# ---- what is around them -------------------------------------------------------------------------

S = 1.25


def total(found):
    """A weighted sum of all numbers in a structure, as code that is differentiated."""
    sums, weight = 0.0, 1.0
    for part in numbers(found):
        sums = sums + weight * np.sum(part * 1.0)
        weight = weight * -0.7 + 0.1
    return sums


def numbers(found):
    if found is None or isinstance(found, str):
        return []
    if isinstance(found, Mapping):
        return [number for part in found.values() for number in numbers(part)]
    if isinstance(found, list | tuple) or (isinstance(found, np.ndarray) and found.dtype == object):
        return [number for part in found for number in numbers(part)]
    return [found]


def by_pushforward(program):
    (_, found), (slope, _) = ad.pushforward(program, (S,), (1.0,))
    return found, slope


def by_gradient(program):
    ((_, found), slope) = ad.value_and_grad(program, has_aux=True)(S)
    return found, slope


def by_hessian(program):
    """Of a function whose derivative is the sum: s ↦ s² · sum(s₀) has the Hessian 2 sum, and so
    on; what is compared is the value, and the second derivative with differences of the first."""
    second, found = ad.hessian(program, S, has_aux=True)
    return found, second


def by_name(program):
    """Where the text of the program does not show that it differentiates."""
    return by_gradient(HIDDEN.get("program", program))


HIDDEN: dict = {}
AROUND = {"pushforward": by_pushforward, "gradient": by_gradient, "hessian": by_hessian}


def assert_same(found, expected, where=""):
    assert type(found) is type(expected), (where, found, expected)
    if isinstance(expected, Mapping):
        assert found.keys() == expected.keys(), where
        for key in expected:
            assert_same(found[key], expected[key], f"{where}[{key!r}]")
    elif isinstance(expected, list | tuple) or (
        isinstance(expected, np.ndarray) and expected.dtype == object
    ):
        assert len(found) == len(expected), where
        for i, part in enumerate(expected):
            assert_same(found[i], part, f"{where}[{i}]")
    elif expected is not None:
        assert np.asarray(found).dtype == np.asarray(expected).dtype, where
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12, err_msg=where)


def program_of(operator, f, x):
    def program(s):
        found = operator(lambda x: f(s, x), x)
        return total(found), found

    return program


def difference(program, order):
    h = 1e-3
    at = [program(S + k * h)[0] for k in (-2, -1, 0, 1, 2)]
    if order == 1:
        return (at[0] - 8 * at[1] + 8 * at[3] - at[4]) / (12 * h)
    return (-at[0] + 16 * at[1] - 30 * at[2] + 16 * at[3] - at[4]) / (12 * h**2)


CASES = [(name, op) for name in POINTS for op in OPERATORS]
CASES += [(name, "derivative") for name in ("int", "zero", "negative", "scalar of numpy")]


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize(("name", "operator"), CASES, ids=map("-".join, CASES))
def test_the_same_inside(name, operator, around):
    f, x = POINTS[name]
    program = program_of({**OPERATORS, **OF_NUMBERS}[operator], f, x)
    sums, outside = program(S)
    inside, slope = AROUND[around](program)
    assert_same(inside, outside)
    order = 2 if around == "hessian" else 1
    scale = max(1.0, abs(sums))
    np.testing.assert_allclose(
        slope, difference(program, order), rtol=1e-6, atol=(1e-6 if order == 1 else 1e-5) * scale
    )
