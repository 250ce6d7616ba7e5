"""Derivatives taken inside code that reverse mode differentiates: what goes in and comes out by
other ways than arguments and results, arrays under several names, and arrays that are written.

Each function finds the operators by name, as its text shows, and by ways that nobody sees before
they are called. It is compared with differences and with forward mode.
"""

from contextvars import ContextVar
from types import FunctionType, SimpleNamespace

import numpy as np
import pytest

import adjoint as ad
from adjoint.errors import MutationError, NoDerivativeError
from adjoint.levels.foreign.mentions import mentions_operator

op = ad
HIDDEN = SimpleNamespace(**vars(ad))

X = np.array([0.7, 1.3, 2.1])
V = np.array([0.3, -1.1, 0.8])


def cubes(q):
    return np.sum(q**3)


class Energy:
    def __init__(self, k):
        self.k = k

    def of(self, q):
        return np.sum(q**3) * self.k

    def of_two(self, q, p):
        return np.sum(q * q * self.k * p)


# ---- one array under several names ---------------------------------------------------------------


def given_twice(x):
    return np.sum(op.gradient(lambda z, y: np.sum(z * z * y), x, x)[0])


def given_twice_forward(x):
    return np.sum(op.pushforward(lambda z, y: z * z * y, (x, x), (V, None))[1])


def given_twice_in_a_list(x):
    return np.sum(op.gradient(lambda m: np.sum(m[0] * m[1] ** 2), [x, x])[0][0])


def captured_and_given(x):
    return np.sum(op.pullback(lambda z: z * x * x, x)[1](V)[1])


def of_a_bound_method(x):
    energy = Energy(x[0])
    q, p = x * 1, x * 2
    for _ in range(2):
        p = p - 0.1 * op.grad(energy.of_two, 0)(q, p)
        q = q + 0.1 * op.grad(energy.of_two, 1)(q, p)
    return np.sum(q * p) + np.sum(op.grad(Energy(x[1]).of)(x))


# ---- arrays that were written --------------------------------------------------------------------


def written_before(x):
    z = np.array([x[0], 0, 0])
    z[1] = x[1] ** 2
    return op.withgradient(cubes, z)[0]


def written_before_and_after(x):
    z = np.zeros(3)
    z[:] = x * x
    z[2] = x[0]
    r = np.sum(op.gradient(cubes, z)[0] * x)
    z[0] = x[1]
    return r + np.sum(op.hvp(cubes, z, V) * z) + np.sum(op.jacobian(lambda q: q**2 * x, z) @ z)


def descent_in_place(x):
    z = x * 1
    for i in range(2):
        z -= 0.1 * op.grad(cubes)(z)
        z[i] *= x[i]
    return np.sum(z * x)


# ---- arrays that the inner function writes -------------------------------------------------------


class Workspace:
    """Of a model that computes in arrays of its own."""

    def __init__(self, n):
        self.buffer, self.parts = np.zeros(n), [np.zeros(2)]

    def energy(self, q, k):
        np.multiply(q, k, out=self.buffer)
        self.buffer[1:] += self.buffer[:-1] ** 2
        self.parts[0][:] = self.buffer[:2] * q[2]
        return np.sum(self.buffer**2) + self.parts[0] @ self.parts[0]


def a_workspace(x):
    work = Workspace(3)
    slope = op.grad(work.energy)(x * 1, x[0])
    first = np.sum(work.buffer * slope) + work.parts[0][1]
    return first * np.sum(op.grad(work.energy)(slope * 0.1, x[1]))


def the_argument(x):
    def inner(v, k):
        v[0] = v[1] * k
        v[1:] = v[1:] * v[0]
        return np.sum(v**2)

    z = x * 2
    z[2] = x[0] * x[1]
    slopes = op.gradient(inner, z, x[0])
    z[1] *= x[2]
    return np.sum(slopes[0] * z) + slopes[1]


def a_captured_array(x):
    z = x * x

    def inner(v):
        z[1:] = z[:2] * v
        return np.sum(z * x)

    for _ in range(2):
        z[0] = np.sum(op.jacobian(inner, x[:2] * 1.0) * z[1])
    return np.sum(z)


def a_view_of_it(x):
    z = np.concatenate([x, x * x])
    even, total = z[::2], 0.0

    def inner(v):
        even[:] = even[::-1] * v
        return np.sum(z[:4] ** 2)

    for i in range(2):
        total = total + op.grad(inner)(x * z[i]) @ x
    return total + np.sum(z**2)


def the_same_numbers(x):
    z = x * x

    def inner(v):
        z[:] = np.array([z[0], z[1], z[2]]) + 0.0 * v
        z[0] = v[0] * 1.0
        return np.sum(z * v)

    return np.sum(op.grad(inner)(z * 1.0)) + np.sum(z**2)


def only_constants(x):
    z = x * x

    def inner(v):
        z[1] = 3.0
        return np.sum(z * v)

    return np.sum(op.gradient(inner, x * 1.0)[0] * x) + np.sum(z**2)


def pulled_back_later(x):
    z = x * x

    def inner(v):
        z[:2] = v[1:] * z[0]
        return z * v

    y, back = op.pullback(inner, x * 2.0)
    w = np.sum(y * z)
    return np.sum(back(x * w)[1]) + np.sum(z * back(z * 1.0)[1])


def made_inside_and_written_afterwards(x):
    box = []

    def inner(v):
        b = np.zeros(3)
        b[0] = v @ x
        b[1] = b[0] * v[0]
        b[:2] = b[:2] * b[1]
        box.append(b)
        return b[1] * b[0]

    d = op.gradient(inner, x * 1.0)[0]
    b = box[0]
    c = b * b
    b[0] = b[0] * c[1]
    b[2] = d[0]
    e = np.sin(b * 1e-2)
    b[:] = b * c
    return np.log1p(np.sum(b * e) ** 2)


def only_a_view_is_given(x):
    a = x * 1.0

    def inner(p):
        p[0] = p[1] * 2.0
        return np.sum(p * p)

    op.grad(inner)(a[:2])
    return np.sum(a)


def only_a_view_is_captured(x):
    a, total = np.outer(x, x), 0.0
    row = a[1]

    def inner(p):
        row[:] = p * a[0]
        return np.sum(row * row)

    for _ in range(2):
        total = total + np.sum(op.grad(inner)(a[2] * 1.0))
    return np.sum(a) + total


def added_in_place(x):
    a = x * x

    def inner(p):
        p[1:] += a[:-1]
        b = a[1:]
        b *= 2.0
        return np.sum(p * a)

    return np.sum(op.grad(inner)(a))


def written_before_it_is_pulled_back(x):
    a = x * 1.0
    y, back = op.pullback(lambda p: p * p * a, a)
    a[1:] = x[:2] * a[0]
    total = np.sum(back(np.ones(3))[1] * x)
    a *= 2
    return total + np.sum(back(x)[1] * a) + np.sum(y)


def pushed_forward_later(x):
    z = x * x

    def inner(q):
        z[:] = q * z
        return z * q

    y, push = op.linearize(inner, x * 1.0)
    return np.sum(push(x)) + np.sum(y)


def tangents_of_it(x):
    z = x * x

    def inner(v):
        z[1:] = z[:2] * v[0]
        return np.sum(z * v)

    value, dot = op.pushforward(inner, (x * 1.0,), (V,))
    return value * dot + z @ x


# ---- what the inner function stores, raises and returns ------------------------------------------


def stored_in_a_variable(x):
    total = 0.0

    def inner(z):
        nonlocal total
        total += np.sum(z * x)
        return np.sum(z * z * x)

    return np.sum(op.gradient(inner, x * 1.0)[0]) * total


def stored_in_containers(x):
    box, named = [], {}

    def inner(z):
        box.append(z * x)
        named["a"] = [np.sum(z * x), np.sum(z)]
        return np.sum(z * z)

    slopes = op.derivative(lambda t: inner(t * x))(1.0)
    return slopes * np.sum(box[0]) * named["a"][0] + named["a"][1]


def stored_in_an_object(x):
    energy = Energy(x[0])

    def inner(z):
        energy.k = energy.k * z[0]
        return np.sum(z * z * x)

    return np.sum(op.gradient(inner, x * 1.0)[0]) * energy.k


def raised(x):
    def inner(z):
        raise ValueError(z * x)

    try:
        op.gradient(inner, x * 1)
    except ValueError as error:
        return np.sum(error.args[0] * x)


class Diverged(Exception):
    pass


def raised_with_what_it_had(x):
    z = x * x

    def inner(v):
        error = Diverged(z, {"tail": z[1:]})
        error.state = v * x
        raise error

    try:
        op.grad(inner)(x * 1.0)
    except Diverged as error:
        error.args[0][1] *= x[0]
        held = error.args[1]["tail"] ** 2
        return np.sum(z**2) + np.sum(error.state**2) + np.sum(held) + (error.args[0] is z)


def returned(x):
    y = x * 2
    r = op.grad(lambda z: (np.sum(z**2 * x), [y, y[1:]]), has_aux=True)(x * 1)[1]
    y[1] = x[0]
    r[1][1] = x[2] ** 2
    return np.sum(y * r[0]) + r[1].sum()


def returned_and_written(x):
    y = x * 2
    value, _ = op.pushforward(lambda z: y, (x * 1,), (V,))
    value[0] = x[1]
    return np.sum(y * y)


def with_operators(f, operators):
    """The function, of a code of its own, which finds the operators there."""
    made = FunctionType(f.__code__.replace(), {**f.__globals__, "op": operators}, f.__name__)
    return made


@pytest.mark.parametrize("operators", [ad, HIDDEN], ids=["named", "hidden"])
@pytest.mark.parametrize(
    "f",
    [
        given_twice, given_twice_forward, given_twice_in_a_list, captured_and_given,
        of_a_bound_method, written_before, written_before_and_after, descent_in_place,
        a_workspace, the_argument, a_captured_array, a_view_of_it, the_same_numbers,
        only_constants, only_a_view_is_given, only_a_view_is_captured, added_in_place,
        written_before_it_is_pulled_back, pushed_forward_later, raised_with_what_it_had,
        pulled_back_later, made_inside_and_written_afterwards, tangents_of_it,
        stored_in_a_variable, stored_in_containers, stored_in_an_object, raised, returned,
        returned_and_written,
    ],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_inside_reverse_mode(f, operators):
    f = with_operators(f, operators)
    assert mentions_operator(f, (X,)) is (operators is ad)
    y, back = ad.pullback(f, X)
    assert y == pytest.approx(f(X))
    found = back(1.0)[1]
    steps = 1e-6 * np.eye(3)
    differences = [(f(X + step) - f(X - step)) / 2e-6 for step in steps]
    np.testing.assert_allclose(found, differences, rtol=2e-6)
    np.testing.assert_array_equal(back(1.0)[1], found)
    np.testing.assert_allclose(ad.jacobian_forward(f, X), found, rtol=1e-10)


def test_memory_is_as_the_function_left_it():
    left = []

    def inner(v, z):
        z[0] = v[0] * z[1]
        z[1:] *= v[1]
        return np.sum(z * v)

    def f(x):
        z = x * 2
        slope = HIDDEN.gradient(inner, x * 1.0, z)[0]
        z[0] *= slope[1]
        left.append(z)
        return np.sum(z**2)

    f(X)
    back = ad.pullback(f, X)[1]
    for _ in range(2):
        back(1.0)
        np.testing.assert_array_equal(left[1], left[0])


seen, named, total, table = [], {}, 0.0, np.zeros(3)
VARIABLE = ContextVar("variable", default=0.0)


def by_global_containers(x):
    seen.clear()
    named["a"] = x[0] * x[1]

    def inner(v):
        seen.append(v * named["a"])
        named["b"] = np.sum(v)
        return np.sum(v**2 * named["a"])

    return np.sum(HIDDEN.gradient(inner, x * 2)[0] * seen[0]) * named["b"] + named["a"]


def by_a_global_array(x):
    table[0] = x[0] * x[1]

    def inner(v):
        table[1] = v[1] * table[0]
        return np.sum(v**2) * table[1]

    return np.sum(HIDDEN.gradient(inner, x * 2)[0]) * table[1]


@pytest.mark.parametrize("f", [by_global_containers, by_a_global_array])
def test_what_global_variables_hold(f):
    steps = 1e-6 * np.eye(3)
    differences = [(f(X + step) - f(X - step)) / 2e-6 for step in steps]
    back = ad.pullback(f, X)[1]
    np.testing.assert_allclose(back(1.0)[1], differences, rtol=1e-6)
    np.testing.assert_allclose(back(1.0)[1], differences, rtol=1e-6)


def test_what_is_assigned_to_global_variables():
    """A derivative of it is refused where somebody needs one."""

    def inner(v):
        global total
        total = v[0] * 2
        return np.sum(v**2)

    def f(x):
        return np.sum(HIDDEN.gradient(inner, x * 2)[0]) * x[0]

    np.testing.assert_allclose(ad.grad(f)(X), [4 * np.sum(X) + 4 * X[0], 4 * X[0], 4 * X[0]])
    with pytest.raises(NoDerivativeError, match="stores in a global variable"):
        ad.grad(lambda x: f(x) * total)(X)


def from_an_iterator(x):
    values = iter([x[0] ** 2, x[1]])
    return HIDDEN.grad(lambda v: v * v * next(values))(2.0)


def from_a_generator(x):
    values = (part * part for part in x)
    return HIDDEN.grad(lambda v: v * v * next(values))(2.0)


def from_a_context_variable(x):
    VARIABLE.set(x[0] ** 2)
    return HIDDEN.grad(lambda v: v * v * VARIABLE.get())(2.0)


@pytest.mark.parametrize("f", [from_an_iterator, from_a_generator, from_a_context_variable])
def test_what_comes_from_elsewhere_is_refused(f):
    with pytest.raises((NoDerivativeError, MutationError), match="holds|context variable"):
        ad.grad(f, tier="generic")(X)  # programs know what the iterators yield


def test_an_array_that_it_is_given_is_stored():
    def inner(v, kept=[]):  # noqa: B006
        kept[:] = [v[1:]]
        return np.sum(v**2)

    with pytest.raises(MutationError, match="stores an array that it was given"):
        ad.grad(lambda x: np.sum(HIDDEN.gradient(inner, x * 2)[0]), tier="generic")(X)


def test_constants_in_global_variables_are_nobodys():
    def inner(v):
        named["calls"] = named.get("calls", 0) + 1
        return np.sum(v**2)

    def f(x):
        return np.sum(HIDDEN.gradient(inner, x * 2)[0])

    named.clear()
    np.testing.assert_array_equal(ad.grad(f)(X), [4.0, 4.0, 4.0])
    assert named == {"calls": 1}
