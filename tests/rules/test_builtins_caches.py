"""`functools.lru_cache` and `cache`, beside the corpus: what is refused, what is left behind."""

import functools
import tracemalloc

import numpy as np
import pytest

import adjoint as ad
from tests.fast.agreeing import generic_tier

CALLS = []


@functools.lru_cache(maxsize=8)
def counted(a, b):
    CALLS.append((a, b))
    return a * b


@pytest.fixture(autouse=True)
def empty():
    counted.cache_clear()
    CALLS.clear()


# ---- the user's own cache ------------------------------------------------------------------------


def test_a_call_begins_with_an_empty_cache_and_leaves_the_users_alone():
    assert counted(3.0, 2.0) == 6.0
    before = counted.cache_info()
    inside = []

    def f(x):
        y = counted(x, 2.0) + counted(x, 2.0)
        inside.append(counted.cache_info())
        return y

    value, back = ad.pullback(f, 3.0)
    assert value == 12.0 and back(1.0) == back(1.0) == (None, 4.0)
    assert CALLS == [(3.0, 2.0)] * 2
    assert counted.cache_info() == before
    assert inside == [before._replace(hits=1, misses=2, currsize=2)]


def test_clearing_clears_the_users_cache():
    counted(3.0, 2.0)

    def f(x):
        y = counted(x, 2.0)
        counted.cache_clear()
        return y * counted(x, 2.0)

    assert ad.gradient(f, 3.0) == (24.0,)
    assert counted.cache_info() == (0, 0, 8, 0)


# ---- refused -------------------------------------------------------------------------------------


def shared_lists(x):
    @functools.cache
    def f(a):
        return [a, a * a]

    return f(x)[0] + f(x)[1]


def shared_lists_of_tuples(x):
    @functools.cache
    def f(t):
        return [t[0]]

    return f((x, 1.0))[0] + f((x, 1.0))[0]


def of_an_integer(x):
    @functools.cache
    def f(a, b):
        return a * b

    return f(2, 3.0) + f(x, 3.0)


def list_of_an_integer(x):
    @functools.cache
    def f(a, b):
        return [a * b]

    return f(2, 3.0)[0] + f(x, 3.0)[0]


@pytest.mark.parametrize("f", [shared_lists, shared_lists_of_tuples, list_of_an_integer])
def test_whose_derivative_it_is_cannot_be_told(f):
    with pytest.raises(ad.AdjointError, match=r"in its arguments is needed, of a (list|float)"):
        ad.grad(f, tier="generic")(2.0)
    h = 1e-6
    for x in (2.0, 3.0):  # a program covers those whose results nothing writes to
        try:
            (found,) = ad.gradient(f, x)
        except ad.AdjointError:
            assert f.__name__ == "of_an_integer"
        else:
            assert found == pytest.approx((f(x + h) - f(x - h)) / (2 * h))


def test_an_integer_that_is_equal_to_what_is_differentiated():
    """A program differentiates each call by itself, as differences do."""
    with generic_tier(), pytest.raises(ad.AdjointError, match="in its arguments is needed"):
        ad.gradient(of_an_integer, 2.0)
    assert ad.gradient(of_an_integer, 2.0) == (3.0,)


def test_nothing_is_refused_where_no_derivative_is_needed():
    def f(x):
        @functools.cache
        def row(a, n):
            return [a * x] * n

        return row(2.0, 3)[0] + row(2.0, 3)[1] + row(2, 3)[2]

    assert ad.gradient(f, 3.0) == (6.0,)


def test_a_generator_from_outside_cannot_be_resumed_twice():
    def f(x):
        it = (x * k for k in range(1, 9))

        @functools.cache
        def g(a):
            return next(it) * a

        return g(x) + g(2.0) + g(x)

    with pytest.raises(ad.AdjointError, match="resumed a generator"):
        ad.gradient(f, 3.0)


# ---- integers, hooks, rules, failures ------------------------------------------------------------


def test_an_integer_that_is_differentiated_in_is_a_number():
    def f(n):
        @functools.cache
        def g(k):
            return k * k * 1.5

        return g(n) * g(3) + g(n)

    assert ad.gradient(f, 3) == (9.0 * 13.5 + 9.0,)


def test_hooks_see_only_cotangents_that_were_given():
    seen = []

    def f(x, y):
        @functools.cache
        def g(a):
            return ad.hook(lambda bar: (seen.append(bar), -bar)[1], a) ** 2

        return g(x) + 3.0 * g(y) + 5.0 * g(x)

    value, back = ad.pullback(f, 2.0, 2.0)
    assert value == 36.0 and seen == []
    assert back(1.0) == back(1.0) == (None, -24.0, -12.0)
    assert set(seen) >= {4.0, 12.0, 20.0}


def test_a_failing_pullback_fails_only_where_it_is_needed():
    def broken(x):
        return x * x

    @ad.rrule.register(broken)
    def _(x):
        def broken_back(y_bar):
            raise ZeroDivisionError("no derivative")

        return x * x, broken_back

    @functools.cache
    def g(a):
        return broken(a)

    assert ad.gradient(lambda x: x * (g(x) > g(x) - 1.0), 2.0) == (1.0,)
    with pytest.raises(ZeroDivisionError, match="no derivative"):
        ad.gradient(lambda x: g(x) + g(x), 2.0)


def test_an_own_rule_of_a_cached_function_is_asked():
    @functools.cache
    def g(a):
        return a * a

    @ad.rrule.register(g)
    def _(a):
        return a * a, lambda y_bar: (None, 100.0 * y_bar)

    assert ad.gradient(lambda x: g(x) + g(x), 2.0) == (200.0,)


# ---- cost ----------------------------------------------------------------------------------------


def test_recursion_as_deep_as_pythons():
    @functools.cache
    def g(n, x):
        return x if n == 0 else g(n - 1, x) * x * 0.5 + 1.0

    (slope,) = ad.gradient(lambda x: g(900, x), 0.5)
    assert slope == pytest.approx(0.5 / (1.0 - 0.25) ** 2)


def test_each_function_runs_once_for_all_who_ask():
    runs = []

    def f(x):
        @functools.cache
        def fib(n, v):
            runs.append(n)
            return v if n < 2 else fib(n - 1, v) * 0.5 + fib(n - 2, v) * v

        return fib(60, x)

    value, back = ad.pullback(f, 0.5)
    assert value > 0.0 and len(runs) == 61
    assert back(1.0) == back(1.0)
    assert len(runs) == 61


def test_what_is_remembered_is_small():
    weights = np.ones(100_000)

    def f(w):
        @functools.cache
        def g(a):
            return float(w @ w) * a

        return sum(g(float(k)) for k in range(40)) + g(2.0)

    tracemalloc.start()
    (bar,) = ad.gradient(f, weights)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert np.allclose(bar, 2.0 * (sum(range(40)) + 2.0))
    assert peak < 20 * weights.nbytes
