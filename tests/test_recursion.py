"""Depth and length: recursion of the user, long loops, recursion without an end."""

import gc
import sys

import numpy as np
import pytest

import adjoint as ad


def down(x, n):
    if n == 0:
        return x
    return 1.001 * down(x, n - 1)


class Tree:
    def __init__(self, value, child):
        self.value, self.child = value, child

    def total(self):
        return self.value if self.child is None else self.value + self.child.total()


def tree(n):
    node = None
    for _ in range(n):
        node = Tree(1.0, node)
    return node


def even(x, n):
    return x if n == 0 else odd(x * 1.001, n - 1)


def odd(x, n):
    return x if n == 0 else even(x * 1.001, n - 1)


def walk(x, n):
    if n > 0:
        yield x
        yield from walk(x, n - 1)


def by_comprehension(x, n):
    return x if n == 0 else [by_comprehension(v, n - 1) for v in [x]][0] * 1.0


def by_lambda(x, n):
    f = lambda v, m: v if m == 0 else f(v, m - 1) * 1.0
    return f(x, n)


def by_handlers(x, n):
    try:
        return x if n == 0 else by_handlers(x, n - 1) * 1.0
    finally:
        n = 0


@pytest.fixture(autouse=True)
def same_limit():
    """As a program would find it; pytest itself stands deep already."""
    limit = sys.getrecursionlimit()
    yield
    assert sys.getrecursionlimit() == limit


def in_fresh_stack(f, *args):
    """Call from a new thread, whose stack is empty."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(f, *args).result()


@pytest.mark.parametrize("run", [lambda f, *args: f(*args), in_fresh_stack])
def test_depth_900(run):
    y, bars = run(ad.withgradient, down, 2.0, 900)
    assert y == pytest.approx(2.0 * 1.001**900) and bars[0] == pytest.approx(1.001**900)


def test_depth_900_of_every_kind():
    assert ad.gradient(even, 2.0, 900)[0] == pytest.approx(1.001**900)
    assert ad.gradient(by_lambda, 2.0, 900)[0] == 1.0
    assert ad.gradient(by_handlers, 2.0, 900)[0] == 1.0
    bar = ad.gradient(Tree.total, tree(900))[0]
    for _ in range(899):
        bar = bar.child
    assert bar.value == 1.0 and bar.child is None
    assert ad.gradient(by_comprehension, 2.0, 450)[0] == 1.0


def test_generators_within_generators():
    assert ad.gradient(lambda x: sum(walk(x, 200)), 2.0) == (200.0,)


def dig(x, n):
    if n > 0:
        yield from dig(x, n - 1)
    else:
        yield x


def climb(x, n):
    for value in climb(x, n - 1) if n > 0 else [x]:
        yield value * 1.0


def dig_for_a_result(x, n):
    result = x
    if n > 0:
        result = yield from dig_for_a_result(x * 1.0, n - 1)
    else:
        yield x
    return result


@pytest.mark.parametrize("f", [lambda x, n: sum(dig(x, n)) * x, lambda x, n: sum(climb(x, n)) * x])
def test_generators_as_deep_as_functions(f):
    assert in_fresh_stack(ad.gradient, f, 3.0, 900)[0] == 6.0


def test_results_of_deep_generators():
    assert in_fresh_stack(ad.gradient, lambda x: sum(dig_for_a_result(x, 900)), 3.0) == (1.0,)


def one_of_many(x, n):
    values = dig_for_a_result(x, n)
    return next(values) * x


def closed(x, n):
    values = dig_for_a_result(x, n)
    first = next(values)
    values.close()
    return first * x


def left(x, n):
    for value in dig_for_a_result(x, n):
        break
    return value * x


@pytest.mark.parametrize("f", [one_of_many, closed, left])
@pytest.mark.filterwarnings("error::pytest.PytestUnraisableExceptionWarning")
def test_deep_generators_that_wait_are_closed(f):
    assert in_fresh_stack(ad.gradient, f, 3.0, 900) == (6.0, 0.0)
    gc.collect()


class Deep:
    def __init__(self, x, n):
        self.x, self.n = x, n

    def __float__(self):
        return self.x if self.n == 0 else float(Deep(self.x, self.n - 1)) * 1.0


def test_numbers_of_objects_as_deep_as_functions():
    depth = 700 if sys.version_info[:2] == (3, 12) else 900  # there Python itself reaches 747
    assert in_fresh_stack(ad.gradient, lambda x: float(Deep(x, depth)) * x, 3.0) == (6.0,)


def test_deep_structures():
    xs = [1.0]
    for _ in range(300):
        xs = [xs]

    def f(xs):
        while isinstance(xs[0], list):
            xs = xs[0]
        return xs[0] * 3

    (bar,) = ad.gradient(f, xs)
    while isinstance(bar[0], list):
        bar = bar[0]
    assert bar == [3.0]


def test_long_chains_of_objects():
    def f(node):
        total = 0.0
        while node is not None:
            total = total + node.value
            node = node.child
        return total

    (bar,) = ad.gradient(f, tree(800))
    assert bar.value == 1.0 and bar.child.child.value == 1.0
    bar, x_bar = ad.gradient(lambda node, x: x * node.value, tree(800), 2.0)
    assert bar.child.child.value == 0.0 and x_bar == 1.0


def test_a_user_deeper_than_the_limit_may_raise_it():
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(5000)
    try:
        assert ad.gradient(down, 2.0, 3000)[0] == pytest.approx(1.001**3000)
    finally:
        sys.setrecursionlimit(limit)


# ---- recursion without an end --------------------------------------------------------------------


def endless(x):
    return endless(x * 1.0) + 1.0


def endless_class(x):
    return Endless(x).value


class Endless:
    def __init__(self, x):
        self.value = Endless(x).value


def endless_property(x):
    return Own().value * x


class Own:
    @property
    def value(self):
        return self.value


@pytest.mark.parametrize("f", [endless, endless_class, endless_property])
@pytest.mark.parametrize("run", [lambda f, *args: f(*args), in_fresh_stack])
def test_endless_recursion_is_a_recursion_error(f, run):
    with pytest.raises(RecursionError):
        run(ad.gradient, f, 2.0)
    assert run(ad.gradient, lambda x: x * x, 3.0) == (6.0,)


def test_a_recursion_error_can_be_caught():
    def f(x):
        try:
            return endless(x)
        except RecursionError:
            return x * x

    assert ad.gradient(f, 3.0) == (6.0,)


# ---- long loops ----------------------------------------------------------------------------------

N = 100_000


def test_a_long_loop():
    def f(x):
        y = x
        for _ in range(N):
            y = y * 1.00001
        return y

    assert ad.gradient(f, 2.0)[0] == pytest.approx(1.00001**N)


def test_a_long_loop_over_a_list():
    def f(xs):
        total = 0.0
        for i in range(len(xs)):
            total += xs[i] * 2.0
        return total

    assert ad.gradient(f, [1.0] * N) == ([2.0] * N,)


def test_a_long_loop_that_writes():
    def f(x):
        y = np.zeros(N)
        for i in range(N):
            y[i] = x
        return y.sum()

    assert ad.gradient(f, 2.0) == (float(N),)


def test_a_long_chain_of_values():
    """What holds each other in a chain is freed without recursion."""

    def f(x):
        node = (x, None)
        for _ in range(20_000):
            node = (node[0] * 1.0, node)
        return node[0]

    assert ad.gradient(f, 2.0) == (1.0,)
    gc.collect()


def test_the_garbage_collector_goes_on():
    assert gc.isenabled()
    ad.gradient(down, 2.0, 10)
    with pytest.raises(RecursionError):
        ad.gradient(endless, 2.0)
    assert gc.isenabled()
