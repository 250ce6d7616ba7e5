"""Lists of unknown length of tuples, lists and dicts in specialised programs."""

from __future__ import annotations

from collections import namedtuple

import numpy as np
import pytest

import adjoint as ad
from tests.fast.agreeing import generic_tier
from tests.fast.test_python_lines import X, _follows

Point = namedtuple("Point", "x y")


def dicts(x):
    found, y = [], x[0] + 2
    while y > 0.1 and len(found) < 500:
        y *= 0.9 + 0.01 * x[1]
        found.append({"i": len(found), "y": y, "name": "a"})
    return sum(r["y"] * r["i"] for r in found)


def read_at_the_end(x):
    found, t = [(0.0, x[0])], 0.0
    while t < 1.0:
        a, b = found[-1]
        found.append((a + 0.01 * b, b - 0.01 * a))
        t += 0.01
    return found[-1][0] * found[-1][1] + max(a for a, _ in found) + len(found) * x[1]


def lists(x):
    found, y = [], x[0]
    for _ in range(100):
        y = y * 0.98 + 0.01 * x[1]
        found.append([y, y * y])
    a, b = np.array([p[0] for p in found]), np.array([p[1] for p in found])
    return a @ b


def named(x):
    found, y = [], x[0]
    for _ in range(100):
        y = y * 0.98 + 0.01 * x[1]
        found.append(Point(y, y * y))
    return sum(p.x * p.y for p in found)


def arrays(x):
    found, y = [], x
    for i in range(100):
        y = y * 0.98 + 0.01 * x[1]
        found.append((i, y))
    return sum(i * (y @ y) for i, y in found)


def arrays_written_to(x):
    found, y = [], x.copy()
    for i in range(50):
        y *= 0.9
        found.append((i, y.copy()))
    return sum(i * (y @ y) for i, y in found)


def nested(x):
    found, y = [], x[0]
    while y > 0.05:
        y = y * 0.9
        found.append({"p": (y, y * x[1]), "n": 1})
    return sum(d["p"][0] * d["p"][1] * d["n"] for d in found[2:]) + found[-1]["p"][0]


def transposed(x):
    found, y = [], x[0]
    while y > 0.05:
        y = y * 0.9
        found.append((y, y * x[1]))
    a, b = zip(*found)  # noqa: B905
    table = np.array(found)
    return sum(a) * sum(b) + table[:, 0] @ table[:, 1] + table.shape[1] * x[2] ** 2


def in_branches(x):
    some, others, y = [], [], x[0]
    while y > 0.01:
        y *= 0.9
        if y > 0.1:
            some.append((y, 1))
        else:
            others.append([y, 2.0])
    total = sum(p * p * q for p, q in some)
    return total + sum(p * q for p, q in others) * len(some) * x[1]


def iterated(x):
    found = [(v * v, v) for v in x if v > 0.25]
    total = sum(i * a * b for i, (a, b) in enumerate(found, 1))
    total += sum(a * d for (a, b), (c, d) in zip(found, found[1:], strict=False))
    return total + sum(k * a for k, (a, b) in enumerate(reversed(found)))


def grows_while_it_is_iterated_over(x):
    found, total = [(v, v * v) for v in x if v > 0.1], 0.0
    for a, b in found:
        total += a * b
        if len(found) < 8:
            found.append((a * 0.5, b))
    return total


def of_a_function(x):
    def add(to, **fields):
        to.append(fields)

    found = {"log": []}
    for v in np.concatenate([x] * 5):
        add(found["log"], v=v, w=v * v)
    return sum(d.get("v", 0.0) * d["w"] for d in found["log"])


def filtered(x):
    found = [{"v": v, "s": v * v} for v in np.concatenate([x] * 20)]
    some = [d for d in found if d["v"] > 0.25]
    last = found.pop()
    return sum(d["s"] * d["v"] for d in some) / len(some) + last["s"] * len(found)


def of_integers_or_floats(x):
    found, y = [], x[0]
    while y > 0.05:
        y = y * 0.9
        found.append((y, 1) if y > 0.1 else (y, 2.5))
    return sum(a * a * b for a, b in found)


PROGRAMS = [
    dicts, read_at_the_end, lists, named, arrays, arrays_written_to, nested, transposed,
    in_branches, iterated, grows_while_it_is_iterated_over, of_a_function, filtered,
    of_integers_or_floats,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_program(f):
    _follows(f, X, X * 1.3)
    assert ad.withgradient(f, X)[0] == pytest.approx(f(X), rel=1e-14)


def item_is_written(x):
    found = [{"v": v} for v in np.concatenate([x] * 20)]
    for d in found:
        d["v"] *= x[1]
    return sum(d["v"] for d in found)


def one_in_all_places(x):
    found, d, y = [], {"v": 0.0}, x[0]
    while y > 0.05:
        y = y * 0.9
        d["v"] += y
        found.append(d)
    return sum(d["v"] for d in found)


def written_afterwards(x):
    found, y = [], x[0]
    while y > 0.05:
        y = y * 0.9
        d = {"v": y}
        found.append(d)
        d.update(v=y * x[1])
    return sum(d["v"] for d in found)


def a_list_is_written_afterwards(x):
    found, pair = [], [0.0, x[1]]
    for v in x:
        if v > 0.25:
            found.append(pair)
    pair[0] = 5.0
    return sum(a * b for a, b in found)


def the_last_is_written(x):
    found, y = [], x[0]
    while y > 0.05:
        y = y * 0.9
        found.append([y, 1.0])
    found[-1][1] = x[1]
    return sum(a * b for a, b in found)


def an_item_is_replaced(x):
    found = [(v, 1.0) for v in x if v > 0.1]
    found[0] = (x[1], 2.0)
    return sum(a * b for a, b in found)


def copied(x):
    found = [(1, v) for v in x if v > 0.1]
    other, third = list(found), found.copy()
    other.append((3, x[0]))
    return sum(a * b for a, b in other) + len(found) * x[1] + len(third) * x[1]


def in_a_dict(x):
    found, d = [(1, v) for v in x if v > 0.1], {}
    d.update(found)
    return d[1] * x[0] + dict(found)[1]


def as_a_set(x):
    found = [(int(v > 0.4), v) for v in x if v > 0.1]
    return x[0] * ((1, x[1]) in found) + len(set(found)) * x[1] + found.index((1, x[1]))


def ordered(x):
    found = [(v * v, v) for v in x if v > 0.1]
    found.sort(key=lambda p: -p[0])
    return max(found)[1] + found[0][0] * x[0] + sorted(found)[0][0]


def added(x):
    found = [(1, v) for v in x if v > 0.1]
    return sum(a * b for a, b in found + found[:2]) + (found == found[:]) * x[0]


def empty(x):
    found = [(v, v * v) for v in x if v > 9]
    table = np.array(found)
    return sum(a for a, _ in found) + x[0] * table.ndim if not found else x[1]


def nothing_to_unpack(x):
    a, b = zip(*[(v, v * v) for v in x if v > 0.8])  # noqa: B905
    return sum(a) * sum(b)


OTHERS = [
    item_is_written, one_in_all_places, written_afterwards, a_list_is_written_afterwards,
    the_last_is_written, an_item_is_replaced, copied, in_a_dict, as_a_set, ordered, added, empty,
    nothing_to_unpack,
]  # fmt: skip


@pytest.mark.parametrize("f", OTHERS, ids=lambda f: f.__name__)
def test_as_in_the_generic_tier(f):
    for x in (X, X[::-1].copy(), X * 0.7):
        found = [_outcome(f, x) for _ in range(2)]
        with generic_tier():
            expected = _outcome(f, x)
        for value, slopes in found:
            assert value == expected[0]
            np.testing.assert_allclose(slopes, expected[1], rtol=1e-12)


def _outcome(f, x):
    try:
        value, (slopes,) = ad.withgradient(f, x)
    except (ValueError, TypeError) as error:
        return type(error), 0.0
    return value, slopes


def test_a_list_from_outside_holds_what_was_appended():
    def f(x, log):
        y = x[0]
        while y > 0.05:
            y = y * 0.9
            log.append((y, 1.0))
        return sum(a * b for a, b in log)

    for _ in range(2):
        log = []
        ad.gradient(f, X, log)
        again = []
        assert f(X, again) == pytest.approx(sum(a for a, _ in log))
        assert log == again


def test_a_list_is_returned():
    def f(x):
        return [(v * v, v) for v in x if v > 0.25]

    for _ in range(2):
        y, back = ad.pullback(f, X)
        assert y == f(X)
        np.testing.assert_allclose(back([(1.0, 0.0)] * len(y))[1], 2 * X * (X > 0.25))


def test_a_list_is_empty_while_it_is_sorted():
    def f(values, scale):
        values, seen = [*values], []

        def key(v):
            seen.append(len(values) + v)
            return -v * scale

        values.sort(key=key)
        return values[0] * 2 + values[1] * scale + sum(seen)

    for values in ([0.3, 2.0, 1.0], [0.3, 0.2, 1.0]):
        value, _ = ad.withgradient(f, values, 3.0)
        assert value == f(values, 3.0)


def test_rounded_numbers_in_products_with_hessians():
    def f(x):
        found, y = [], x[0]
        while y > 0.05:
            y *= 0.9
            found.append({"y": y, "shown": round(y, 2)})
        return sum(r["y"] ** 2 * r["shown"] for r in found)

    _follows(f, X, X * 1.3)
