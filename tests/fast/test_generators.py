"""Generators and other iterators in specialised programs: what asks for their items runs in their
place, and nothing is iterated over twice."""

import operator

import numpy as np
import pytest

import adjoint as ad
from adjoint.fast.build.modes import GRADIENT
from adjoint.fast.programs import store as tier
from tests.fast.agreement import agrees, generic, refused
from tests.structures import difference

A = np.array([1.1, 1.9, 3.1, 4.2, 5.3])


# ---- generator expressions -----------------------------------------------------------------------


def test_sum_of_an_expression():
    def f(a, x):
        return sum(t * x for t in a)

    def filtered(a, x):
        return sum(t * x for t in a if t > 1.5) * x

    def nested(a, x):
        return sum(s * t * x for s in a for t in a if s > t)

    for g in (f, filtered, nested):
        agrees(g, A, 2.0)


def test_an_empty_sum_is_left_to_the_generic_tier():
    def f(a, x):
        return sum(t * x for t in a if t > 100.0)

    assert refused(f, A, 2.0) == []


def test_any_and_all():
    def f(a, x):
        if any(t * x > 9.0 for t in a):
            return x * x
        if all(t * x > -1.0 for t in a):
            return x * x * x
        return x

    for x in (2.0, 1.0, -1.0):
        agrees(f, A, x)


def test_any_stops():
    def f(x):
        asked = 0

        def note(t):
            nonlocal asked
            asked += 1
            return t * x > 3.0

        found = any(note(t) for t in (1.0, 2.0, 3.0))
        return x * asked if found else -x

    for x in (4.0, 2.0, 1.6, 0.5):
        agrees(f, x)


def test_next():
    def f(a, x):
        return next(t * x for t in a if t > 2.5)

    def default(a, x):
        return next((t * x for t in a if t > 2.5), x * x * x)

    agrees(f, A, 2.0)
    agrees(default, A, 2.0)
    agrees(default, A / 10.0, 2.0)
    assert refused(f, A / 10.0, 2.0) == []


def test_max_of_an_expression():
    def f(x):
        return max(x * k for k in (1.0, 3.0, 2.0)) + min([x * k for k in (1.0, 3.0, 2.0)])

    agrees(f, 2.0)
    agrees(f, -2.0)


def test_extremes_of_equal_numbers_share_the_derivative():
    def f(x, y, z):
        return max(x, y, z) * 2.0 + max([x, y, z]) + min(z, x)

    agrees_at_tie(f, 1.0, 1.0, 1.0)
    agrees_at_tie(f, 1.0, 1.0, 0.5)


def agrees_at_tie(f, *args):
    from adjoint.fast.programs import store as tier
    from tests.fast.agreement import generic

    assert tier.run(f, args, GRADIENT) == generic(f, args)


# ---- generator functions -------------------------------------------------------------------------


def _split(a, x):
    for t in a:
        if t > 2.0:
            yield t * x
        else:
            yield x
            yield x * x


def test_function():
    def f(a, x):
        total = 0.0
        for v in _split(a, x):
            total = total + v * v
        return total

    agrees(f, A, 2.0)


def test_left_early():
    def f(a, x):
        total = 0.0
        for v in _split(a, x):
            if v > 6.0:
                break
            total = total + v * v
        else:
            total = total * x
        return total

    for x in (2.0, 0.5, 7.0):
        agrees(f, A, x)


def test_left_by_return():
    def f(a, x):
        for v in _split(a, x):
            if v > 6.0:
                return v * x
        return x

    for x in (2.0, 0.5):
        agrees(f, A, x)


def test_endless():
    def powers(x):
        n = 0
        while True:
            n += 1
            yield x**n

    def f(x):
        total = 0.0
        for v in powers(x):
            total += v
            if v < 1e-3:
                break
        return total

    agrees(f, 0.5)


def test_shared_state():
    def f(x):
        n = [0]

        def generator():
            for k in (1.0, 2.0, 3.0):
                n[0] += 1
                yield k * x
                n[0] += 10

        total = 0.0
        for v in generator():
            total = total + v * n[0]
            if v > 3.0:
                break
        return total * n[0]

    for x in (4.0, 2.0, 1.2, 0.5):
        agrees(f, x)


def test_consumer_changes_what_the_generator_reads():
    def f(x):
        k = x

        def scaled():
            for t in (1.0, 2.0, 3.0):
                yield t * k

        total = 0.0
        for y in scaled():
            total += y
            k = k * 2.0
        return total

    agrees(f, 2.0)


def test_early_return_inside():
    def f(x):
        def until(limit):
            value = x
            for _ in range(50):
                if value > limit:
                    return
                yield value
                value = value * 1.7

        return sum(until(3.0)) + sum(until(9.0)) * x

    agrees(f, 0.7)


def test_behind_others():
    def f(a, x):
        total = 0.0
        for i, v in enumerate(filter(lambda t: t > 2.0, map(lambda t: t * x, _split(a, x))), 1):
            total += i * v
        return total

    agrees(f, A, 2.0)


def test_method_and_object():
    class Steps:
        def __init__(self, x):
            self.x = x

        def __iter__(self):
            for k in range(3):
                yield self.x**k

        def doubled(self):
            for v in self:
                yield 2.0 * v

    def run(steps):
        total = 0.0
        for v in steps:
            total += v * v
        for v in steps.doubled():
            total += v
        return total

    def f(x, steps):
        return run(steps) * x

    agrees(f, 3.0, Steps(2.0))


# ---- iterators are used up -----------------------------------------------------------------------


def test_used_twice():
    def summed_twice(x):
        it = map(lambda t: t * x, (1.0, 2.0))
        return sum(it) + sum(it) * 100

    def pairs(x):
        it = iter((x, 2 * x, 3 * x, 4 * x))
        total = 0.0
        for a, b in zip(it, it):  # noqa: B905
            total += a * b
        return total

    def in_a_loop(x):
        it = (x * k for k in (1.0, 2.0))
        total = 0.0
        for _ in range(2):
            total += sum(it) + 1.0
        return total

    def shorter_than_the_other(x):
        it, other = iter([x, x * x, 3 * x]), map(abs, [x])
        total = sum(a * b for a, b in zip(it, other))  # noqa: B905
        return total + next(it)

    def left_by_one_that_stops(x):
        it = iter([0, 0, 3, x])
        return next(it) * x if any(it) else x + next(it)

    def two_that_share_a_list(x):
        state = [x]

        def scaled(m):
            while True:
                state[0] = state[0] * m
                yield state[0]

        first, second = scaled(2.0), scaled(0.3)
        return next(first) + next(second) * next(first) + state[0]

    for f in (summed_twice, pairs, in_a_loop, left_by_one_that_stops, two_that_share_a_list):
        agrees(f, 2.0)
    (reason,) = refused(shorter_than_the_other, 2.0)
    assert "iterators of different lengths" in reason


def test_a_position_that_depends_on_numbers():
    def f(xs):
        it = iter(xs)
        total = 1.0
        for x in it:
            total *= x
            if x > 2.0:
                break
        return total + sum(it)

    assert any("more than once" in reason for reason in refused(f, [1.0, 2.0, 3.0, 4.0]))


def test_map_is_lazy():
    def f(x):
        k = x

        def g(t):
            return t * k

        total = 0.0
        for y in map(g, (1, 2, 3)):
            total += y
            k = k * 2
        return total

    agrees(f, 2.0)


def test_a_list_that_changes_while_it_is_iterated_over():
    def f(x):
        xs = [x, 2 * x, 3 * x]
        for i, v in enumerate(xs):
            if i < 2:
                xs[i + 1] = xs[i + 1] * v
        return xs[2]

    agrees(f, 2.0)


def test_strict():
    def same(a, b):
        return sum(x * y for x, y in zip(a, b, strict=True))

    def of_tuples(x):
        return sum(a * b for a, b in zip((1.0, 2.0), (x, x * x), strict=True))

    def wrong(x):
        return sum(a * b for a, b in zip((1.0, 2.0), (x,), strict=True))

    agrees(same, A, A * 2.0)
    agrees(of_tuples, 3.0)
    with pytest.raises(ValueError, match="zip"):
        wrong(2.0)
    assert refused(wrong, 2.0)


def test_one_buffer():
    def f(y, k):
        def generate():
            buffer = 0.5 * y
            for _ in range(3):
                yield buffer
                buffer[:] = 0.6 * buffer + k * np.sin(y)

        return np.sum(sum(generate()) * sum(generate(), k))

    agrees(f, A, 0.7)


def test_one_state():
    def f(x):
        state = x.copy()

        def steps():
            for k in range(3):
                state[k % 2] *= x[0] + k
                yield state.sum()

        return sum(value * (k + 1) for k, value in enumerate(steps()))

    agrees(f, A)


def _costs(x, calls):
    def cost(v):
        calls[0] += x
        return v * calls[0]

    return cost


def zipped(xs, ys, x):
    calls, s = [0.0], 0.0
    for v, w in zip(map(_costs(x, calls), xs), ys):
        s += v * w
    return s + calls[0]


def zipped_last(xs, ys, x):
    calls, s = [0.0], 0.0
    for v, w in zip(ys, map(_costs(x, calls), xs)):
        s += v * w
    return s + calls[0]


def mapped_twice(xs, ys, x):
    calls = [0.0]
    return sum(map(operator.mul, map(_costs(x, calls), xs), ys)) + calls[0]


def enumerated(xs, ys, x):
    calls, s = [0.0], 0.0
    for (i, v), w in zip(enumerate(map(_costs(x, calls), xs)), ys):
        s += v * w * i
    return s + calls[0]


LONG, LONGER = [0.1 * i for i in range(1, 20)], [0.2 * i for i in range(1, 26)]


@pytest.mark.parametrize("f", [zipped, zipped_last, mapped_twice, enumerated])
@pytest.mark.parametrize(
    ("xs", "ys"),
    [
        (np.linspace(0.2, 1.0, 5), np.ones(3)),
        (np.ones(3), np.linspace(0.2, 1.0, 5)),
        (np.ones(3), np.linspace(0.2, 1.0, 3)),
        (LONG, LONGER),
        (LONGER, LONG),
        ([0.3, 0.5, 0.7], np.ones(2)),
        (np.ones(3), LONG),
    ],
)
def test_iterables_of_different_lengths(f, xs, ys):
    """Of the first one Python asks for an item more than there are pairs."""
    tier.forget()
    value, bars = ad.withgradient(f, xs, ys, 1.5)
    expected_value, expected = generic(f, (xs, ys, 1.5))
    assert value == pytest.approx(f(xs, ys, 1.5), rel=1e-14)
    assert value == pytest.approx(expected_value, rel=1e-14)
    assert not difference(bars, expected, rtol=1e-12)


def test_iterables_of_one_length():
    tier.forget()
    a = np.linspace(0.2, 1.0, 5)
    for f in (zipped, mapped_twice):
        agrees(f, a, 2.0 * a, 1.5)


def test_a_generator_that_can_only_raise_after_its_first_item():
    def items(x):
        yield x * x
        raise ValueError(x)

    def f(x):
        return next(items(x)) * x

    agrees(f, 2.0)


def test_a_loop_of_a_generator_that_can_only_raise_after_its_first_item():
    def items(x):
        y = x
        while True:
            yield y * x
            y = y + x
            raise ValueError(y)

    def f(x):
        found = items(x)
        y = next(found)
        try:
            y = y + next(found)
        except ValueError as error:
            y = y * error.args[0]
        return y

    agrees(f, 2.0)

    def first(x):
        for y in items(x):
            break
        return y * x

    agrees(first, 2.0)


# ---- generators that hand on those of others -----------------------------------------------------


def test_variables_around_those_that_are_handed_on():
    def inner(x):
        yield x
        yield 2.0 * x

    def outer(x):
        item, sent = 10.0 * x, x
        for _ in range(2):
            yield from inner(x)
            item = item + sent
        yield item

    agrees(lambda x: sum(outer(x)), 1.5)


def test_values_that_are_sent_through_to_others():
    def inner(x):
        n = x
        while True:
            given = yield 0.5 * n
            if given is None:
                break
            n = given

    def outer(x):
        yield from inner(x)
        yield x * x

    def once(x):
        steps = outer(x)
        return steps.send(0.6 * next(steps))

    def twice_and_to_the_end(x):
        steps = outer(x)
        a = next(steps)
        a = steps.send(0.6 * a)
        a = a * steps.send(0.7 * a)
        return a * next(steps)

    x, h = 1.5, 1e-6
    for f in (once, twice_and_to_the_end):
        y, (dx,) = ad.withgradient(f, x)
        assert y == f(x)
        assert dx == pytest.approx((f(x + h) - f(x - h)) / (2 * h))
