"""Lists of numbers of unknown length in specialised programs."""

import math

import numpy as np
import pytest

import adjoint as ad
from adjoint.fast.build.modes import GRADIENT
from adjoint.fast.programs import store as tier
from tests.fast.agreement import agrees, generic
from tests.structures import difference

A = np.array([1.1, 1.9, 3.1, 4.2, 5.3])
XS = [0.1 * i + 0.05 for i in range(20)]
COEFFICIENTS = [(-1.0) ** k / (k + 1.0) for k in range(50)]


# ---- made by the program -------------------------------------------------------------------------


def test_comprehension():
    def f(a, x):
        ys = [t * x for t in a if t > 1.5]
        return sum(ys) + len(ys) * x

    def twice(a, x):
        ys = [t * x for t in a]
        zs = [y * y for y in ys]
        return sum(zs) * ys[0] + sum([z * y for y, z in zip(ys, zs)])  # noqa: B905, C419

    def nested(a, x):
        return sum([sum([s * t * x for s in a]) for t in a])

    for g in (f, twice, nested):
        agrees(g, A, 2.0)


def test_a_history():
    def f(x):
        history = [x, 0.5 * x]
        for _ in range(100):
            history.append(0.6 * history[-1] + 0.3 * history[-2] + 0.1)
        total = 0.0
        for value in history:
            total = total + value
        return total

    def never_read(x):
        history = [x]
        y = x
        for _ in range(100):
            y = y * 0.9
            history.append(y)
        return y * history[0]

    def read_before(x):
        history = [x]
        for _ in range(30):
            history.append(history[-1] * x)
        first = history[3] * history[-1]
        for k in range(30):
            history.append(x * k)
        return first + history[5]

    for g in (f, never_read, read_before):
        agrees(g, 0.9)


def test_items():
    def f(a, x):
        ys = list(map(lambda t: t * x, a))
        ys[1] = ys[0] * x
        ys[-1] += ys[2]
        ys[2] = 4.0
        return ys[-1] * ys[1] + ys[2] * ys[3]

    def by_unknown(a, x, n):
        ys = [0.0, x, x * x]
        for k in range(n):
            ys[k % 3] = ys[(k + 1) % 3] * x + a[k]
        return ys[0] * ys[1] + ys[2]

    agrees(f, A, 2.0)
    agrees(by_unknown, A, 0.7, 5)


def test_under_a_branch():
    def f(a, x):
        ys = []
        for t in a:
            ys.append(t * x)
            if t > 3.0:
                ys[-1] = ys[-1] * x
                ys.append(x)
        return sum(ys) * ys[-1]

    def whole(x):
        ys = [x]
        if x > 1.0:
            ys.append(x * x)
        return ys[-1] * 3.0 + len(ys) * x

    agrees(f, A, 2.0)
    agrees(whole, 2.0)
    agrees(whole, 0.5)


def test_in_a_while_loop():
    def f(x):
        steps = []
        y = x
        while y > 0.01:
            steps.append(y)
            y = y * 0.7 - 0.001
        return sum(steps) + steps[-1] * len(steps)

    agrees(f, 0.9)


def test_left_early():
    def f(a, x):
        ys = []
        for t in a:
            if t * x > 6.0:
                break
            ys.append(t * x)
        return ys[-1] * sum(ys)

    agrees(f, A, 2.0)


def test_a_new_list_in_each_iteration():
    def f(a, x):
        total = 0.0
        for s in a:
            row = [s * t * x for t in a if t < s + 1.0]
            row.append(x)
            total = total + max(row) * row[-1] + row[0]
        return total

    agrees(f, A, 0.7)


def test_lengths_that_change():
    """What is known of a length in front of a loop or a branch does not hold behind a change."""

    def appended(x):
        row, n, out = [], len(x), np.zeros(len(x))
        for v in x:
            row.append(v)  # noqa: PERF402
        for i in range(n):
            out[i] = x[i] if len(row) == n else 10 * x[i]
            row.append(x[i])
        return out.sum()

    def popped(x):
        row, n, out = list(XS), len(XS), np.zeros(len(XS))
        for i in range(n):
            if len(row) < n - 3:
                break
            out[i] = x * row[-1] + x
            row.pop()
        return out.sum()

    def as_arrays(x, n):
        row, out = [], np.zeros(len(x))
        for v in x:
            row.append(v)  # noqa: PERF402
        a = np.array(row)
        for i in range(n):
            b = np.array(row)
            out[i] = (b * b).sum() if len(b) == len(a) else b.sum()
            row.append(x[i])
        return out.sum()

    def in_a_while_loop(x):
        row, n, out, i = [], len(x), np.zeros(len(x)), 0
        for v in x:
            row.append(v)  # noqa: PERF402
        while i < n:
            out[i] = x[i] if len(row) == n else 10 * x[i]
            row.append(1.0)
            i += 1
        return out.sum()

    def in_a_test(x):
        row, n, out = [], len(x), np.zeros(len(x))
        for v in x:
            row.append(v)  # noqa: PERF402
        while len(row) == n or row[-1] > 5:
            out[0] = out[0] + x[1]
            row.append(7.0 if len(row) < n + 3 else 1.0)
        return out.sum()

    def in_a_branch(x, c):
        row = []
        for v in x:
            row.append(v)  # noqa: PERF402
        if c > 0:
            row.append(x[0])
            s = np.array(row).sum()
        else:
            s = (np.array(row) * x).sum()
        after = np.array(row)
        return s + (after.sum() if len(after) == len(x) else 7 * after.sum())

    agrees(appended, A)
    agrees(popped, 2.0)
    agrees(as_arrays, A, 3)
    agrees(in_a_while_loop, A)
    agrees(in_a_test, A)
    agrees(in_a_branch, A, 1.0)
    agrees(in_a_branch, A, -1.0)


def unlike_the_generic_tier(f, *args):
    """Where both tiers differ, whichever a call takes."""
    found = ad.withgradient(f, *args)
    return difference(tuple(found), generic(f, args), rtol=1e-12)


def test_what_changes_while_it_is_gone_through():
    def backwards(xs, x):
        row, s = xs[:], 0.0
        for i, v in enumerate(reversed(row)):
            s += v * x
            if i < len(row) - 1:
                row[len(row) - 2 - i] = v * 1.01
        return s

    def beside_an_array(x, c):
        w, s = [1.0 * c, 2.0 * c, 3.0 * c, 4.0 * c, 5.0 * c], 0.0
        for a, b in zip(w, x):  # noqa: B905
            s += a * b
            w[4] = 10 * a
        return s

    def work_list(x):
        todo, out = [], []
        for v in x:
            todo.append(v)  # noqa: PERF402
        for v in todo:
            out.append(v)
            if len(todo) < 8:
                todo.append(v * 2)  # noqa: B909
        return sum(out) if len(out) == len(x) else 10 * sum(out)

    def shrinking(x):
        todo, out = [], []
        for v in x:
            todo.append(v)  # noqa: PERF402
        for v in todo:
            out.append(v)
            if v > -1:
                todo.pop()  # noqa: B909
        return sum(out) if len(out) == len(x) else 10 * sum(out)

    assert not unlike_the_generic_tier(backwards, XS, 1.3)
    assert not unlike_the_generic_tier(beside_an_array, A, 1.2)
    assert not unlike_the_generic_tier(work_list, A)
    assert not unlike_the_generic_tier(shrinking, A)


def test_how_many_are_gone_through_at_once():
    def filtered(x, c):
        row = [v for v in x if v > c]
        out = [a * b for a, b in zip(row, row)]  # noqa: B905
        return sum(out) * c if len(out) > 1 else 7 * c + sum(out)

    def counted(x, c):
        row = [v for v in x if v > c]
        out = [a * i for i, a in enumerate(row)]
        return sum(out) * c if len(out) > 1 else 7 * c + sum(out)

    def beside_one(x, c):
        out = [a * b for a, b in zip(x, [c])]  # noqa: B905
        return sum(out) if len(out) > 1 else 7 * sum(out)

    for f in (filtered, counted):
        for c in (0.5, 3.5, 5.0, 9.0):
            assert not unlike_the_generic_tier(f, A, c)
    assert not unlike_the_generic_tier(beside_one, A, 1.2)


def test_parts():
    def f(a, x):
        ys = [t * x for t in a]
        zs = ys[1:]
        ws = ys[::-1]
        zs.append(x)
        return sum(u * v for u, v in zip(ys, zs)) + ws[0] * zs[-1] + sum(ys[:]) * ws[1]  # noqa: B905

    agrees(f, A, 2.0)


def test_extremes():
    def f(a, x):
        ys = [math.sin(t) * x for t in a]
        return max(ys) * min(ys) + max(t * x for t in a) + min(t * t for t in a)

    agrees(f, A, 2.0)
    tied = np.array([2.0, 1.0, 2.0, 2.0])

    def g(a):
        return max([t * t for t in a])

    assert np.allclose(tier.run(g, (tied,), GRADIENT)[1][0], [4 / 3, 0.0, 4 / 3, 4 / 3])
    assert np.allclose(generic(g, (tied,))[1][0], [4 / 3, 0.0, 4 / 3, 4 / 3])


def test_fsum_extend_and_tuples():
    def f(a, x):
        ys = [t * x for t in a]
        zs = [x]
        zs.extend(y * y for y in ys)
        zs += ys
        fixed = tuple(zs)
        return math.fsum(zs) + math.fsum(t * x for t in a) * fixed[2] + len(fixed)

    agrees(f, A, 2.0)


def test_a_stack():
    def f(a, x):
        stack = [x]
        for t in a:
            stack.append(t * x)
            if t > 2.0:
                stack.append(stack.pop() * stack[-1])
        total = 0.0
        while len(stack) > 2:
            total = total * 0.5 + stack.pop() * stack[-1]
        stack.pop()
        return total + sum(stack)

    def unread(a, x):
        ys = [t * x for t in a]
        for _ in range(2):
            ys.pop()
        return sum(ys) * ys[-1]

    def known(x):
        ys = [x, x * x, 2.0] + [x * 3.0]
        last = ys.pop()
        return last * ys[-2] + len(ys)

    agrees(f, A, 0.7)
    agrees(unread, A, 0.7)
    agrees(known, 0.7)


def test_a_queue():
    def averages(a, n):
        window, total = [], 0.0
        for x in a:
            window.append(x * x)
            if len(window) > n:
                window.pop(0)
            total = total * 0.7 + sum(window) / len(window) * window[0]
        return total

    def from_both_ends(a, x):
        line = [x]
        for t in a:
            line.insert(0, t * x)
            if t > 2.0:
                line.insert(0, line.pop() * line[0])
            if t > 4.0:
                line.append(line.pop(0) * line[-1])
        return line[0] * line.pop(0) + sum([k * y for k, y in enumerate(line)])

    def unread(a, x):
        ys = [t * x for t in a]
        for _ in range(2):
            ys.pop(0)
        return sum(ys) * ys[0]

    for n in (1, 3, 7):
        agrees(averages, A, n)
    agrees(from_both_ends, A, 0.7)
    agrees(unread, A, 0.7)
    f = lambda a: from_both_ends(a, 0.7) + averages(a, 2) + unread(a, 0.3)
    np.testing.assert_allclose(
        ad.hessian(f)(A), ad.jacobian(ad.grad(f, tier="generic"))(A), rtol=1e-9, atol=1e-9
    )
    tier.forget()
    expected = ad.hvp(f, A, A)
    assert [len(known.refused) for known in tier._kept.values()] == [0]  # it is a program
    np.testing.assert_allclose(expected, ad.hessian(f)(A) @ A, rtol=1e-9)
    for exhausted in ([], [0.3]):
        with pytest.raises(IndexError):
            ad.gradient(lambda x, ys: sum([ys.pop(0) * x for _ in range(3)]), 2.0, exhausted)


def test_tables():
    def f(a, x, n):
        table = [0.0] * (n + 1)
        table[0] = x
        for i in range(n):
            table[i + 1] = table[i] * 0.5 + a[i] * table[0]
        return table[-1] * sum(table)

    def repeated(a, x):
        ys = [x, x * x] * len(a)
        return sum(y * t for y, t in zip(ys, a)) + ys[-1]  # noqa: B905

    def weights(a, x):
        return sum(w * t * x for w, t in zip([0.1, x, 0.3], a))  # noqa: B905

    agrees(f, A, 0.7, 5)
    agrees(repeated, A, 0.7)
    agrees(weights, A, 0.7)


def test_arrays_of_lists():
    def f(a, x):
        ys = np.array([math.sin(t) * x for t in a])
        return np.sum(ys * a) + ys[0]

    def generated(a, x):
        return np.sum(np.array(list(t * x for t in a)) ** 2)  # noqa: C400

    def of_history(x):
        history = [x]
        for _ in range(40):
            history.append(history[-1] * 0.9)
        path = np.array(history)
        return np.mean(path[1:] * path[:-1]) + path[-1]

    agrees(f, A, 2.0)
    agrees(generated, A, 2.0)
    agrees(of_history, 2.0)


def test_a_captured_list():
    def f(a, x):
        log = []

        def note(t):
            log.append(t * x)
            return log[-1] * t

        total = 0.0
        for t in a:
            total += note(t)
        return total * sum(log)

    agrees(f, A, 2.0)


def test_a_list_of_several_classes():
    def f(a, x):
        ys = [1, x]
        for t in a:
            ys.append(t)
        return ys[0] * ys[1] * ys[-1] * 1.0 + ys[3] * x

    agrees(f, A, 2.0)


def test_long_lists_of_pairs():
    def pairs(a, x):
        ys = [(t, t * x) for t in a]
        return ys[0][1]

    def of_lists(a, x):
        ys = [[t * x] for t in a]
        return ys[0][0]

    for f in (pairs, of_lists):
        agrees(f, A, 2.0)
        agrees(f, np.linspace(0.5, 1.5, 65), 2.0)


def test_what_raises():
    def f(a, x):
        ys = [t * x for t in a]
        return ys[7]

    with pytest.raises(IndexError):
        ad.gradient(f, A, 2.0)


# ---- from outside --------------------------------------------------------------------------------


def test_a_long_argument():
    def f(xs, x):
        total = 0.0
        for v in xs:
            if v > 0.5:
                total = total * x + v
        return total + xs[0] + sum(xs[3:7])

    def g(xs, x):
        return max(xs) * xs[2] + sum(xs) * x + len(xs)

    def h(xs, x):
        return sum(a * b for a, b in zip(xs, xs[1:])) * x  # noqa: B905

    def arrays(xs, x):
        squares = np.array([v * v for v in xs])
        return np.sum(np.array(xs) * squares) * x

    for function in (f, g, h, arrays):
        agrees(function, XS, 0.7)


def test_an_argument_of_another_length_or_class():
    def f(xs):
        return sum(v * v for v in xs)

    for xs in (XS, XS + XS, XS[:3], [1.0, 2], [*XS, 3]):
        before = generic(f, (xs,))
        found = ad.withgradient(f, xs)
        assert found == before
    assert len(tier.known(f, GRADIENT).entries) >= 2


def test_an_argument_twice():
    def f(xs, ys):
        return sum(a * b for a, b in zip(xs, ys))  # noqa: B905

    other = [2.0 * v for v in XS]
    agrees(f, XS, other)
    assert ad.gradient(f, XS, XS) == generic_gradient(f, XS, XS)


def generic_gradient(f, *args):
    return generic(f, args)[1]


def test_an_argument_is_written_to():
    def f(xs):
        xs.append(1.0)
        return sum(xs)

    xs = list(XS)
    assert ad.gradient(f, xs) == ([1.0] * len(XS),)
    assert xs == [*XS, 1.0]
    assert ad.tier(f, list(XS)).tier == "fast"


def test_unpacked_all_the_same():
    def f(xs, b):
        p, q, *rest = xs
        return p * q + b * rest[0]

    agrees(f, XS, 2.0)


def test_a_global():
    def f(x):
        y = 0.0
        for c in COEFFICIENTS:
            y = y * x + c
        return y

    agrees(f, 0.6)


def test_pullback_and_grad():
    def f(xs, x):
        return sum(v * x for v in xs)

    assert ad.grad(f)(XS, 2.0) == [2.0] * len(XS)
    y, back = ad.pullback(f, XS, 2.0)
    assert y == generic(f, (XS, 2.0))[0]
    assert list(back(3.0)[1:]) == [[6.0] * len(XS), pytest.approx(3.0 * sum(XS))]


def test_a_list_beside_an_array_is_an_array():
    def added(a, x):
        ys = [x, 2.0, x * x, x, 1.0]
        ys += a
        return np.sum(ys * a)

    agrees(added, A, 0.7)
    assert np.allclose(ad.gradient(added, A, 0.7)[0], 2 * A + [0.7, 2.0, 0.49, 0.7, 1.0])


def test_an_array_of_no_numbers_is_one_of_doubles():
    def f(x, least):
        kept = []
        for v in x:
            if v > least:
                kept.append(v)
        return np.sum(kept) + np.sum(x)

    x = np.array([1.0, 2.0, 3.0], np.float32)
    for least in (1.5, 5.0, 0.5, 7.0):
        value, bar = ad.value_and_grad(f)(x, least)
        expected = f(x, least)
        assert type(value) is type(expected)
        assert value == expected
        np.testing.assert_array_equal(bar, 1.0 + (x > least).astype(np.float32))
        assert bar.dtype == np.float32


def test_the_rank_of_a_list():
    def f(xs):
        return sum(xs) * np.ndim(xs)

    assert ad.gradient(f, XS) == ([1.0] * len(XS),)
