"""Functions that `functools` has wrapped, imports inside functions, other idioms of libraries."""

from __future__ import annotations

import enum
import functools
import threading

import numpy as np
import pytest
import scipy.special  # noqa: F401  a function imports it

import adjoint as ad
from adjoint.fast.programs import store as tier
from tests.fast.agreement import agrees, refused

V = np.array([0.4, 1.3, -0.7])


@pytest.fixture(autouse=True)
def _no_programs():
    tier.forget()


# ---- cached functions ----------------------------------------------------------------------------

MODE = "sine"
calls = []


@functools.lru_cache
def is_sine(name="sine"):
    return name == "sine"


@functools.cache
def asked_mode():
    return MODE


@functools.lru_cache(maxsize=2)
def squared(x):
    return x * x


def test_a_cached_function_of_constants():
    def f(x):
        return np.sin(x) if is_sine() and not is_sine(name="cosine") else x

    agrees(f, 1.5)


def test_each_differentiated_call_has_a_cache_of_its_own():
    global MODE

    def f(x):
        return x * x if asked_mode() == "sine" else x

    for MODE, expected in (("sine", 6.0), ("cosine", 1.0), ("sine", 6.0)):
        assert ad.gradient(f, 3.0) == (expected,)
        assert ad.grad(f, tier="generic")(3.0) == expected


def test_cached_functions_of_numbers():
    def f(x, y):
        @functools.lru_cache(maxsize=None)
        def power(x, n):
            return 1.0 if n == 0 else x * power(x, n - 1)

        @functools.cache
        def both(a, b):
            return a * b, a + b

        p, s = both(x, y)
        return squared(x) * squared(y) + power(x, 4) + power(x, 3) + p * s

    agrees(f, 1.5, 0.5)


@pytest.mark.parametrize("typed", [False, True])
def test_cached_functions_of_equal_constants_of_different_types(typed):
    def f(x):
        @functools.lru_cache(typed=typed)
        def g(v, k=1):
            return v * v if isinstance(v, float) and isinstance(k, int) else v * 10

        return (g(1) + 3 * g(1.0) + 5 * g(True) + 7 * g(2.0, k=1) + 9 * g(2.0, k=1.0)) * x

    assert ad.value_and_grad(f)(2.0) == (f(2.0), f(1.0))


class Plan:
    def __init__(self, axis, order):
        self.axis, self.order = axis, order


@functools.lru_cache(256)
def plan_of(pattern, rank):
    return Plan(pattern.index("x"), [*reversed(range(rank))])


@functools.lru_cache(1024)
def lengths_of(plan, lengths):
    return tuple(lengths[i] for i in plan.order)


def test_cached_plans():
    def f(x):
        plan = plan_of("yx", 2)
        total = np.sum(np.transpose(x, plan.order) ** 2) * lengths_of(plan, x.shape)[0]
        return total + np.sum(np.sum(x, plan_of("yx", 2).axis) ** 3)

    agrees(f, np.arange(6.0).reshape(2, 3))


def test_a_cached_plan_that_is_changed_is_left_to_the_generic_tier():
    @functools.cache
    def steps():
        return [1.0, 2.0]

    def f(x):
        steps().append(3.0)
        return x * sum(steps())

    assert ad.gradient(f, 2.0) == (6.0,)
    assert "a write to what a cached function takes or returns" in refused(f, 2.0)


def test_a_recursion_that_is_cached_is_linear():
    def f(x):
        @functools.cache
        def sequence(n):
            return x if n < 2 else sequence(n - 1) + x * sequence(n - 2)

        return sequence(30)

    agrees(f, 0.2)


def test_cached_functions_in_branches_and_loops():
    def f(x, n):
        @functools.cache
        def term(k):
            return x * k

        total = term(1.0)
        if x > 1.0:
            total = total + term(2.0)
        for k in range(n):
            total = total + term(2.0) * squared(x + k)
        return total + term(2.0)

    for n in (0, 3):
        agrees(lambda x, n=n: f(x, n), 1.5)
        agrees(lambda x, n=n: f(x, n), 0.5)


def test_cached_functions_whose_state_matters():
    def rebound(x):
        scale = 1.0

        @functools.cache
        def scaled(k):
            return k * scale * x

        total = scaled(2.0)
        scale = 5.0
        return total + scaled(2.0)

    def returns_a_list(x):
        @functools.cache
        def items(k):
            return [k * x]

        items(1)[0] = 3.0 * x
        return items(1)[0]

    def counts(x):
        seen = []

        @functools.cache
        def noted(k):
            seen.append(k)
            return k * x

        noted(1.0)
        return noted(1.0) * len(seen)

    def reads_an_array(x):
        state = np.array([x, x])

        @functools.cache
        def first(k):
            return k * state[0]

        total = 0.0
        for _ in range(2):
            total += first(2.0)
            state[0] = 5.0 * x
        return total

    for f, expected in (
        (rebound, 4.0),
        (returns_a_list, 3.0),
        (counts, 1.0),
        (reads_an_array, 4.0),
    ):
        assert "cached" in refused(f, 1.5)[0]
        assert ad.gradient(f, 1.5) == (expected,)


# ---- dispatch on types ---------------------------------------------------------------------------


def dispatching():
    @functools.singledispatch
    def size(x, scale=1.0):
        raise TypeError("no size")

    @size.register
    def _(x: float, scale=1.0):
        return x * x * scale

    @size.register(np.ndarray)
    def _(x, scale=1.0):
        return np.sum(x * x * x) * scale

    return size


def test_dispatch_on_the_type_of_an_argument():
    size = dispatching()

    def f(x):
        return size(x) + size(x * 2.0, scale=3.0)

    agrees(f, 1.5)
    agrees(f, V)


def test_a_function_that_is_registered_later():
    size = dispatching()

    def f(x):
        return size(x)

    assert ad.gradient(f, 3.0) == (6.0,)
    size.register(float, lambda x: 5.0 * x)
    assert ad.gradient(f, 3.0) == (5.0,)


def test_no_function_for_a_type():
    size = dispatching()

    def f(x):
        try:
            return x * size("text")
        except TypeError:
            return x * x

    agrees(f, 1.5)


# ---- imports -------------------------------------------------------------------------------------


def test_imports_inside():
    def f(v):
        import os.path
        from math import sqrt as root

        import numpy.linalg as la
        from scipy import special

        assert os.path.sep
        return la.norm(v) * root(v[1]) + np.sum(special.expit(v))

    agrees(f, V)


def test_an_import_that_fails():
    def f(x):
        try:
            from math import no_such_function as g
        except ImportError:
            return x * x
        return g(x)

    agrees(f, 1.5)


def test_a_module_that_is_not_loaded():
    def f(x):
        import this_module_does_not_exist as m

        return m.f(x)

    with pytest.raises(ImportError):
        ad.gradient(f, 1.5)


# ---- state and constants -------------------------------------------------------------------------

local = threading.local()
local.scale = 2.0


def test_values_of_a_thread():
    def f(x):
        return x * local.scale if hasattr(local, "scale") else x

    def run():
        found.append(ad.gradient(f, 3.0)[0])

    agrees(f, 3.0)
    found = []
    other = threading.Thread(target=run)
    other.start()
    other.join()
    assert found == [1.0] and ad.gradient(f, 3.0) == (2.0,)


class Kind(enum.Enum):
    LINEAR = 1
    SQUARE = 2


def test_members_of_enumerations():
    def f(x, kind):
        return x * x if kind is Kind.SQUARE else x

    def g(x):
        return f(x, Kind.SQUARE) + f(x, Kind.LINEAR)

    agrees(g, 1.5)


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self, a, b):
        self.a = a
        self.b = b


def test_slots():
    def f(x):
        pair = Slotted(x, 2.0 * x)
        pair.a = pair.a * pair.b
        try:
            pair.c = x
        except AttributeError:
            pair.b = x
        return pair.a + pair.b

    def g(x):
        pair = Slotted(x, 2.0 * x)
        pair.a = pair.a * pair.b
        return pair.a + pair.b

    agrees(g, 1.5)
    assert ad.gradient(f, 1.5) == (7.0,)


def test_an_object_in_two_places():
    class Model:
        def __init__(self):
            self.scale, self.child = 2.0, None

        def apply(self, x):
            return x * self.scale if self.child is None else self.child.apply(x)

    a, b = Model(), Model()
    a.child = b

    def f(x):
        return SHARED["a"].apply(x) * SHARED["b"].scale

    global SHARED
    SHARED = {"a": a, "b": b}
    agrees(f, 1.5)
    b.scale = 3.0
    assert ad.gradient(f, 1.5) == (9.0,)
    SHARED["b"] = Model()
    assert ad.gradient(f, 1.5) == (6.0,)
    SHARED["a"] = SHARED["b"]
    assert ad.gradient(f, 1.5) == (4.0,)


def test_numbers_of_texts():
    def f(x):
        total = x
        for text in ("2", "x", "2.5"):
            try:
                total = total * int(text)
            except ValueError:
                total = total + x
        return total * float("0.5")

    agrees(f, 1.5)


def test_arrays_that_are_copied_or_not():
    def f(v):
        a = np.array(v, copy=None)
        b = np.array(v, copy=True)
        b[0] = 0.0
        return np.sum(a * a * b) if np.iterable(a) and not np.iterable(a[0]) else a

    agrees(f, V)


def test_arrays_of_single_numbers():
    def products(x):
        a, b = np.asarray(x), np.asarray(2)
        return (a - b) * a

    def by_rank(x):
        a = np.asarray(x, dtype=float)
        if a.ndim == 0:
            a = a.reshape(1)
        return np.sum(np.sin(a) * a)

    def with_arrays(x, v):
        a = np.asarray(x)
        return np.sum(a * v) + np.exp(a)[()] * np.sum(np.atleast_1d(a) * v)

    agrees(products, 1.5)
    agrees(by_rank, 1.5)
    agrees(by_rank, V)
    agrees(with_arrays, 1.5, V)
    assert ad.hvp(products, 1.5, 1.0) == 2.0
    single = np.float32(1.5)
    (bar,) = ad.gradient(products, single)
    assert type(bar) is np.float32 and bar == 1.0


def test_questions_about_dtypes():
    def f(v):
        dtype = np.promote_types(v.dtype, np.float64)
        if not np.issubdtype(dtype, np.inexact) or np.result_type(v, 1.0j).kind != "c":
            return v[0]
        return np.sum(v * v) + np.finfo(dtype).eps * v[0]

    agrees(f, V)


def test_parts_of_slices():
    class Cut:
        def __init__(self, v):
            self.v = v

        def __getitem__(self, key):
            return cut(self.v, key)

    def cut(v, key):
        step = 1 if key.step is None else key.step
        return v[key.start : key.stop : step] * step

    agrees(lambda v: np.sum(Cut(v)[0:2] ** 2), V)
