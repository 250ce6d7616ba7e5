"""Variables that hold ``None`` until a number or an array is known, in specialised programs."""

import numpy as np
import pytest

import adjoint as ad
from adjoint.fast.programs import store


def least(x):
    best = None
    for v in x:
        c = v * v - v
        if best is None or c < best:
            best = c
    return best * 3


def steps(x):
    previous, total = None, 0.0
    for v in x:
        if previous is not None:
            total += (v - previous) ** 2
        previous = v
    return total


def arrays(x):
    last, total = None, 0.0
    for i in range(len(x)):
        y = np.sin(x * i)
        if last is not None:
            total = total + ((y - last) ** 2).sum()
        last = y
    return total + last[0]


class Best:
    def __init__(self):
        self.value = None

    def see(self, v):
        if self.value is None or v > self.value:
            self.value = v * 1.5


def in_a_field(x):
    best = Best()
    for v in x:
        best.see(v)
    return best.value**2


def in_a_closure(x):
    last = None

    def see(v):
        nonlocal last
        y = 0.0 if last is None else v * last
        last = v
        return y

    return sum([see(v) for v in x])


def some_of_them(x):
    total = None
    for v in x:
        if v > 0.5:
            total = v if total is None else total + v
    return total * 2 if total is not None else x[0]


def none_of_them(x):
    found = None
    for v in x:
        if v > 50:
            found = v
            break
    return x.sum() if found is None else found


def by_branches(x):
    scale = None
    if x[0] > 0:
        scale = x[1]
    if x[2] > 100:
        scale = None
    return x.sum() * (1.0 if scale is None else scale)


PROGRAMS = [
    least, steps, arrays, in_a_field, in_a_closure, some_of_them, none_of_them, by_branches,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("n", [5, 150])
def test_program(f, n):
    x = np.linspace(0.1, 1.3, n) * np.cos(np.arange(n))
    for point in (x, -x, x * 0.3):
        store.forget()
        g, product = ad.gradient(f, point)[0], ad.hvp(f, point, x)
        kept = [*store._kept.values()]
        assert [one.reason for known in kept for one in known.refused.values()] == []
        assert {entry.failures.last for known in kept for entry in known.entries} == {""}
        np.testing.assert_allclose(g, ad.grad(f, tier="generic")(point), rtol=1e-12)
        h = 1e-6
        ends = [ad.gradient(f, point + sign * h * x)[0] for sign in (1, -1)]
        np.testing.assert_allclose(product, (ends[0] - ends[1]) / (2 * h), rtol=1e-5, atol=1e-5)


def until(x, n):
    found = None
    for i in range(n):
        if x[i] > 0.4:
            found = x[i] * 2
    return found


OTHERS = {
    "index": lambda x, n: np.sum(x[until(x, n)]) if until(x, n) is None else x[0],
    "returned": lambda x, n: x[0] if until(x, n) is None else until(x, n),
    "truth": lambda x, n: x[0] * 3 if not until(x, n) else x[1],
    "or": lambda x, n: (until(x, n) or x[1]) * x[0],
    "equal": lambda x, n: x[0] if until(x, n) == None else x[1],  # noqa: E711
    "array": lambda x, n: x[0] * np.array([until(x, n), 1.0]).size,
    "class": lambda x, n: x[0] * isinstance(until(x, n), float),
    "class of None": lambda x, n: x[1] * (type(until(x, n)) is type(None)) + x[0],
    "list": lambda x, n: x[0] * [until(x, n), until(x, 0)].count(None) + x[1],
    "tuple": lambda x, n: x[1] * sum(v for v in (until(x, n), until(x, 0), x[0]) if v is not None),
    "text": lambda x, n: x[0] * len(str(until(x, n))),
    "dict": lambda x, n: x[0] * {None: 2.0}.get(until(x, n), 3.0),
}  # fmt: skip


@pytest.mark.parametrize("name", OTHERS)
def test_as_in_the_generic_tier(name):
    f = OTHERS[name]
    x = np.array([0.1, 0.3, 0.5, 0.2, 0.7])
    for _ in range(3):
        for n in (2, 5, 0, 3):
            found, expected = ad.gradient(f, x, n)[0], ad.grad(f, tier="generic")(x, n)
            np.testing.assert_allclose(found, expected, rtol=1e-12)


def _named_y(x):
    if x[0] > 0:
        y = None
    elif x[0] < -1:
        y = x[1]
    return x[2] if y is None else y


def _named_returned(x):
    if x[0] > 0:
        returned = None
    elif x[0] < -1:
        returned = x[1]
    return x[2] if returned is None else returned


@pytest.mark.parametrize("f", [_named_y, _named_returned])
def test_a_variable_without_a_value_is_not_none(f):
    for x in ([1.0, 2.0, 3.0], [-2.0, 2.0, 3.0], [-0.5, 2.0, 3.0]) * 2:
        x = np.array(x)
        try:
            expected = ad.grad(f, tier="generic")(x)
        except UnboundLocalError:
            with pytest.raises(UnboundLocalError):
                ad.gradient(f, x)
        else:
            np.testing.assert_allclose(ad.gradient(f, x)[0], expected)
