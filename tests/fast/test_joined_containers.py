"""Lists, dicts and objects of which a variable holds one or another, and that are written to: also
under other names, which have to show the writes."""

import math

import numpy as np
import pytest

import adjoint as ad
from adjoint.fast.programs import store
from tests.fast.agreeing import generic_tier
from tests.structures import difference


class Pair:
    def __init__(self, one, two):
        self.one, self.two = one, two

    def __getitem__(self, i):
        return self.two if i else self.one

    def __setitem__(self, i, value):
        if i:
            self.two = value
        else:
            self.one = value


def a_list(one, two):
    return [one, two]


def a_dict(one, two):
    return {0: one, 1: two}


KINDS = {"list": a_list, "dict": a_dict, "object": Pair}
CASES = {}


def case(f):
    CASES[f.__name__] = f
    return f


@case
def written(make, x, c):
    s = make(1.0, x)
    if c > 0:
        s = make(x, c)
    s[0] = s[0] * 3
    s[1] = s[0] * s[1]
    return s[0] * s[1] * x


@case
def under_another_name(make, x, c):
    s = make(x, 2.0)
    t = s
    if c > 0:
        s = make(c, x)
    s[0] = s[0] * 3
    return s[0] * s[1] + 2 * t[0] * t[1]


@case
def the_other_is_written(make, x, c):
    s = make(x, 2.0)
    t = s
    if c > 0:
        s = make(c, x)
    t[1] = t[0] * 3
    return s[0] * s[1] + 2 * t[0] * t[1]


@case
def read_before(make, x, c):
    s = make(x, 2.0)
    t = s
    if c > 0:
        s = make(c, x)
    total = s[0] * s[1]
    t[0] = t[1] * x * 5
    return total + t[0] * t[1]


@case
def in_a_list(make, x, c):
    s = make(x, 2.0)
    kept = [s]
    if c > 0:
        s = make(c, x)
    s[0] = s[1] * 3
    return kept[0][0] * s[0] + len(kept)


@case
def new_one_in_a_list(make, x, c):
    s = make(x, 2.0)
    kept = [None]
    if c > 0:
        s = make(c, x)
        kept[0] = s
    else:
        kept[0] = make(c, 3.0)
    s[0] = s[1] * x
    return kept[0][0] * s[0]


@case
def in_a_closure(make, x, c):
    first = make(x, 2.0)
    s = first

    def read():
        return first[0] * 2

    if c > 0:
        s = make(c, x)
    s[0] = s[1] * x
    return read() * s[0]


@case
def written_in_one_way(make, x, c):
    s = make(x, 2.0)
    t = s
    if c > 0:
        s = make(c, x)
    if x > 1:
        s[0] = s[1] * 9
    return s[0] * s[1]


@case
def written_in_one_way_and_read(make, x, c):
    s = make(x, 2.0)
    t = s
    if c > 0:
        s = make(c, x)
    if x > 1:
        s[0] = s[1] * 9
    else:
        t[0] = s[0] * 2
    return s[0] * s[1] + t[0]


@case
def is_the_same(make, x, c):
    s = make(x, 2.0)
    t = s
    if c > 0:
        s = make(c, x)
    s[0] = s[0] * x
    return s[0] * (2 if s is t else 3)


@case
def in_two_branches(make, x, c):
    s = make(x, 2.0)
    if c > 0:
        s = make(c, x)
    t = s
    if x > 1:
        t = make(x, x)
    t[0] = t[0] * 7
    return s[0] * t[0] + s[1]


@case
def in_two_branches_alone(make, x, c):
    s = make(x, 2.0)
    if c > 0:
        s = make(c, x)
    if x > 1:
        s = make(x, s[1])
    s[0] = s[0] * 7
    return s[0] * s[1]


@case
def rebuilt(make, x, c):
    s = make(x, 0.5)
    for _ in range(100):
        s = make(0.99 * s[0] + 0.01 * c * s[1], 0.9 * s[1])
    return s[0] * s[1] + s[0]


@case
def rebuilt_and_written(make, x, c):
    s = make(x, 0.5)
    for _ in range(100):
        s = make(0.99 * s[0] + 0.01 * c * s[1], 0.9 * s[1])
        s[1] = s[1] + 0.1 * s[0]
    s[0] = s[0] * 3
    return s[0] * s[1] + s[0]


@case
def first_is_kept(make, x, c):
    s = first = make(x, 0.5)
    for _ in range(100):
        s = make(0.99 * s[0] + 0.01 * c * s[1], 0.9 * s[1])
    s[0] = s[0] * 3
    return s[0] * s[1] + s[0] * first[0]


@case
def first_is_written(make, x, c):
    s = first = make(x, 0.5)
    for _ in range(100):
        s = make(0.99 * s[0] + 0.01 * c * first[1], 0.9 * s[1])
        first[1] = first[1] * 0.99 + s[0] * 0.01
    return s[0] * s[1] + s[0] * first[1]


@case
def maybe_no_iteration(make, x, c):
    s = first = make(x, 0.5)
    k = c
    while k > 0:
        s = make(s[1] * x, s[0])
        k -= 0.1
    s[0] = s[0] * 3
    return s[0] * first[0] + s[1]


@case
def maybe_no_iteration_alone(make, x, c):
    s = make(x, 0.5)
    k = c
    while k > 0:
        s = make(s[1] * x, s[0])
        k -= 0.1
    s[0] = s[0] * 3
    return s[0] * s[1]


@case
def two_names_in_the_next_iteration(make, x, c):
    s = t = make(x, 0.5)
    total = 0.0
    for _ in range(100):
        s[0] = s[0] * 0.9 + 0.1 * c
        total += t[0] * t[1]
        new = make(t[0] * 0.9 + x * 0.1, s[1] * 0.99)
        s = t = new
    return total


@case
def two_names_now_and_then(make, x, c):
    s, t = make(x, 0.5), make(c, x)
    total = 0.0
    for i in range(100):
        s[0] = s[0] * 0.9 + 0.1 * c
        total += t[0] * t[1]
        new = make(t[0] * 0.9 + x * 0.1, s[1] * 0.99)
        if i % 3 == 1:
            t = new
        s = new
    return total


@case
def exchanged(make, x, c):
    s, t = make(x, 0.5), make(c, x)
    for _ in range(100):
        s[0] = t[0] * 0.9 + 0.1 * c * t[1]
        s[1] = t[1] * 0.95
        s, t = t, s
    return s[0] * t[1] + t[0]


@case
def exchanged_and_rebuilt(make, x, c):
    s, t = make(x, 0.5), make(c, x)
    for _ in range(100):
        s[0] = t[0] * 0.9 + 0.1 * c * t[1]
        s, t = t, make(s[0], s[1] * 0.9)
    return s[0] * t[1] + t[0]


@case
def back_to_the_first(make, x, c):
    s = first = make(x, 0.5)
    for _ in range(100):
        if s[0] * s[0] > x * x + c:
            s = first
        else:
            s = make(s[0] + 0.1, s[1] * 0.9)
        s[0] = s[0] + 0.01 * x
    return s[0] * first[0] + s[1]


@case
def in_some_iterations(make, x, c):
    s = make(x, 0.5)
    total = 0.0
    for i in range(100):
        if i * x > 30 * c:
            s = make(s[0] * 0.9, s[1] * x)
        s[0] = s[0] + 0.1 * c
        total += s[0] * s[1]
    return total


@case
def made_before_and_in_a_branch(make, x, c):
    total = 0.0
    for i in range(100):
        s = make(x * i, c)
        if i * x > 30 * c:
            s = make(x, s[1])
        s[0] = s[0] * 2
        total += s[0] * s[1]
    return total


@case
def outer_one_in_a_branch(make, x, c):
    first = make(x, 0.5)
    total = 0.0
    for i in range(100):
        s = first
        if i * x > 30 * c:
            s = make(x, s[1])
        s[0] = s[0] * 0.99
        total += s[0] * s[1]
    return total


@case
def kept_and_written(make, x, c):
    log = []
    s = make(x, 0.5)
    for _ in range(100):
        s = make(0.99 * s[0], 0.9 * s[1] + c)
        log.append(s)
        s[0] = s[0] * 0.99
    return sum(one[0] * one[1] for one in log)


@case
def best(make, x, c):
    found = make(-1.0, 0.0)
    for i in range(100):
        one = make(x * math.sin(i * c), c + i)
        if one[0] > found[0]:
            found = one
    return found[0] * found[1]


@case
def best_is_written(make, x, c):
    found = last = make(-1.0, 0.0)
    total = 0.0
    for i in range(100):
        one = make(x * math.sin(i * c), c + i)
        if one[0] > found[0]:
            found = one
        found[1] = found[1] + x
        total += last[1]
        last = one
    return found[0] * found[1] + total


@case
def stepped_in_place_or_not(make, x, c):
    def step(s):
        if s[0] > 0.5 * x:
            s[0] = s[0] * 0.9
            return s
        return make(s[0] + c * c, s[1] * 0.99)

    s = make(x, 0.5)
    total = 0.0
    for _ in range(100):
        s = step(s)
        total += s[0] * s[1]
    return total


@case
def inside_another(make, x, c):
    inner = make(x, 2.0)
    outer = [inner, make(c, x)]
    if c > 0:
        outer = [inner, make(x, x)]
    outer[0][0] = outer[1][0] * 3
    outer[1][1] = x * 5
    return inner[0] * outer[1][0] + outer[1][1] * outer[0][1]


@case
def inside_a_rebuilt_one(make, x, c):
    s = make(make(x, 0.5), [x])
    for _ in range(100):
        s = make(make(s[0][1], 0.9 * s[0][0]), [s[1][0] * 0.9 + c])
    s[0][0] = s[0][0] * x
    s[1][0] = s[1][0] * x
    return s[0][0] * s[1][0] + s[0][1]


@case
def parts_that_are_one(make, x, c):
    part = make(x, c)
    s = make(part, part)
    if c > 0:
        part = make(c, x * x)
        s = make(part, part)
    s[0][0] = x * 3
    return s[1][0] * s[0][1] + part[0]


@case
def while_iterated_over(make, x, c):
    s = t = make(x, 2.0)
    total = 0.0
    for k in (0, 1):
        if c > 0:
            s = make(c, x)
        s[1] = s[1] * 3
        total += t[k]
    return total


POINTS = [(1.313, 0.437), (1.313, -0.437), (0.719, 0.437), (0.719, -0.437)]
REFUSED = {
    "under_another_name",
    "the_other_is_written",
    "in_a_list",
    "in_a_closure",
    "written_in_one_way_and_read",
    "is_the_same",
    "in_two_branches",
    "first_is_kept",
    "maybe_no_iteration",
    "two_names_in_the_next_iteration",
    "two_names_now_and_then",
    "exchanged_and_rebuilt",
    "back_to_the_first",
    "outer_one_in_a_branch",
    "kept_and_written",
    "best_is_written",
    "parts_that_are_one",
    "while_iterated_over",
}
"""They read what may have been written to under another name."""
IN_BRANCHES = {
    "under_another_name",
    "the_other_is_written",
    "in_a_list",
    "in_a_closure",
    "written_in_one_way_and_read",
    "is_the_same",
    "in_two_branches",
    "parts_that_are_one",
    "while_iterated_over",
}
"""With dicts, the program is left where the other branch is taken."""


def outcomes(f, v):
    dot = np.array([0.3, -0.7])
    value, back = ad.pullback(f, v)
    _, slope = ad.pushforward(f, (v,), (dot,))
    found = [value, slope, back(1.5)[1], *ad.gradient(f, v), ad.hvp(f, v, dot)]
    return [0.0 if x is None else x for x in found]


def agree(f):
    for point in POINTS:
        v = np.array(point)
        with generic_tier():
            expected = outcomes(f, v)
        store.forget()
        found = outcomes(f, v)
        assert found[0] == pytest.approx(f(v), rel=1e-12)
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)
        slopes = [(f(v + h) - f(v - h)) / 2e-6 for h in 1e-6 * np.eye(2)]
        np.testing.assert_allclose(found[3], slopes, rtol=1e-5, atol=1e-7)
        yield ad.tier(f, v).tier


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", CASES)
def test_writes_are_seen(name, kind):
    is_refused = name in REFUSED and not (kind == "dict" and name in IN_BRANCHES)
    for tier in agree(lambda v: CASES[name](KINDS[kind], *v)):
        assert (tier == "generic") == is_refused


DICTS = {}


def of_dicts(f):
    DICTS[f.__name__] = f
    return f


@of_dicts
def by_comprehension(x, c):
    r = {"x": x, "y": 1.0}
    for _ in range(100):
        r = {k: 0.99 * v + 0.01 * c for k, v in r.items()}
    return r["x"] * r["y"]


@of_dicts
def copied_and_written(x, c):
    r = {"x": x, "y": 1.0}
    for _ in range(100):
        new = dict(r)
        new["x"] += 0.01 * c * r["y"]
        new["y"] *= 0.99
        r = new
    return r["x"] * r["y"]


@of_dicts
def merged(x, c):
    r = {"x": x, "y": 1.0, "kept": c}
    for _ in range(100):
        r = {**r, "x": 0.9 * r["x"] + r["kept"], "y": 0.9 * r["y"] + r["x"]}
        r |= {"y": r["y"] * 0.5}
    return r["x"] * r["y"]


@of_dicts
def descent(x, c):
    params = {"w": np.array([x, c]), "layers": [{"b": x * c}, {"b": c}]}
    for _ in range(80):
        rest = params["w"] * params["layers"][0]["b"] - np.array([0.3, params["layers"][1]["b"]])
        slopes = {"w": rest * 0.5, "layers": [{"b": rest.sum()}, {"b": rest[0]}]}
        params = {
            "w": params["w"] - 0.1 * slopes["w"],
            "layers": [
                {k: p - 0.1 * g[k] for k, p in one.items()}
                for one, g in zip(params["layers"], slopes["layers"], strict=True)
            ],
        }
    return params["w"].sum() * params["layers"][0]["b"] + params["layers"][1]["b"]


@of_dicts
def until_it_settles(x, c):
    r, change = {"x": x, "y": c}, 1.0
    while change > 1e-3:
        new = {"x": 0.5 * r["x"] + 0.1 * c, "y": 0.6 * r["y"] + 0.1 * r["x"]}
        change = sum(abs(new[k] - r[k]) for k in r)
        r = new
    return r["x"] * r["y"]


@of_dicts
def in_another_order(x, c):
    r = {"x": x, "y": c}
    if c > 0:
        r = {"y": x * x, "x": c}
    return sum((i + 1) * v for i, v in enumerate(r.values())) * (2 if [*r][0] == "x" else 3)


@of_dicts
def in_another_order_in_a_loop(x, c):
    r, total = {"x": x, "y": c}, 0.0
    for i in range(100):
        if x * i > 30:
            r = {"y": 0.9 * r["y"], "x": 0.8 * r["x"] + 0.1}
        total += sum((i + 1) * v for i, v in enumerate(r.values()))
    return total


@of_dicts
def gains_a_key(x, c):
    r = {"x": x}
    if c > 0:
        r = {"x": c, "y": x * x}
    r["x"] = r["x"] * 2
    return r["x"] * r.get("y", 3.0) * len(r)


@of_dicts
def gains_a_key_in_a_loop(x, c):
    r, total = {"x": x}, 0.0
    for i in range(100):
        if x * i > 30:
            r = {"x": r["x"] * 0.9, "y": c + r.get("y", 2.0)}
        total += r["x"] * len(r) + r.get("y", x)
    return total


@of_dicts
def loses_a_key_in_a_loop(x, c):
    r, total = {"x": x, "y": c}, 0.0
    for i in range(100):
        if x * i > 30:
            r = {"x": r["x"] * 0.9}
        total += r["x"] * len(r) + r.get("y", x)
    return total


@of_dicts
def gains_a_key_in_each_iteration(x, c):
    r = {0: x}
    for i in range(5):
        r = {**r, i + 1: r[i] * c}
    return sum(r.values()) * len(r)


@of_dicts
def number_or_none(x, c):
    r, total = {"x": x, "last": None}, 0.0
    for _ in range(100):
        if r["last"] is not None:
            total += r["last"] * c
        r = {"x": 0.9 * r["x"], "last": r["x"]}
    return total


@of_dicts
def as_fields(x, c):
    d = {"x": x, "y": c}
    if c > 0:
        d = {"x": c, "y": x}
    p = Pair(x, c)
    p.__dict__ = d
    p.x = p.y * 3
    return d["x"] * p.y


@of_dicts
def is_equal(x, c):
    r = first = {"x": x, "y": c}
    if c > 0:
        r = {"x": c, "y": x}
    return x * (2 if r == first else 3) + r["x"]


@of_dicts
def kept_in_a_list(x, c):
    log, r = [], {"x": x, "y": c}
    for _ in range(100):
        r = {"x": 0.9 * r["x"], "y": r["y"] + r["x"]}
        log.append(r)
    return sum(one["x"] * one["y"] for one in log)


@of_dicts
def other_kinds(x, c):
    from collections import OrderedDict

    r = OrderedDict(x=x, y=c)
    for _ in range(100):
        r = OrderedDict(y=0.9 * r["y"] + r["x"], x=0.8 * r["x"])
        r.move_to_end("y")
    return r["x"] + r["y"]


GENERIC = {"other_kinds"}


@pytest.mark.parametrize("name", DICTS)
def test_dicts(name):
    for tier in agree(lambda v: DICTS[name](*v)):
        assert (tier == "generic") == (name in GENERIC)


START = {"x": 0.5, "y": 2.0}


def trained(params, c):
    for _ in range(100):
        slopes = {k: np.tanh(p * c) for k, p in params.items()}
        params = {k: p - 0.1 * slopes[k] for k, p in params.items()}
    return sum(np.sum(p) for p in params.values())


def chosen(params, c):
    best = params
    for i in range(100):
        one = {k: p * np.cos(0.1 * i) for k, p in params.items()}
        if np.sum(one["y"]) * c > np.sum(best["y"]) * c:
            best = one
    return np.sum(best["x"] * best["y"])


def copied(params, c):
    now = dict(params)
    if c > 0:
        now = {"x": now["y"], "y": c}
    now["x"] = now["x"] * 2
    return np.sum(now["x"] * now["y"] * params["x"])


def from_elsewhere(params, c):
    now = START
    for _ in range(100):
        now = {k: 0.9 * p + c * np.sum(params[k]) for k, p in now.items()}
    return np.sum(now["x"] * now["y"])


def written_outside(params, c):
    now = params
    if c > 0:
        now = {"x": params["y"], "y": c}
    now["x"] = now["x"] * 2
    return np.sum(now["x"] * now["y"] * params["x"])


def written_and_rebuilt(params, c):
    for _ in range(100):
        params["x"] = params["x"] * 0.9 + c
        params = {"x": params["x"] * params["y"], "y": params["y"] * 0.99}
    return np.sum(params["x"])


def written_and_kept(params, c):
    now = params
    for _ in range(100):
        now = {"x": now["x"] * 0.9, "y": now["y"] + params["x"]}
        params["x"] = params["x"] * 0.99 + c
    return np.sum(params["x"] * now["y"])


OUTSIDE = [trained, chosen, copied, from_elsewhere]
WRITTEN_OUTSIDE = [written_outside, written_and_rebuilt, written_and_kept]


@pytest.mark.parametrize("f", [*OUTSIDE, *WRITTEN_OUTSIDE])
def test_dicts_from_outside(f):
    for x, y in ((0.7, 1.3), (np.array([0.2, 0.9]), np.array([1.5, -0.4]))):
        for c in (0.3, -0.3):
            left = []
            for tier in ("plain", "fast", "generic"):
                store.forget()
                params = {"x": x, "y": y}
                if tier == "plain":
                    left.append((f(params, c), params))
                elif tier == "fast":
                    found = ad.gradient(f, params, c)
                    assert f not in OUTSIDE or ad.tier(f, params, c).tier == "fast"
                else:
                    with generic_tier():
                        value, expected = ad.withgradient(f, params, c)
                    assert value == pytest.approx(left[0][0], rel=1e-12)
                if tier != "plain":
                    assert not difference(params, left[0][1], rtol=1e-12)
            assert not difference(found, expected, rtol=1e-9)
            assert START == {"x": 0.5, "y": 2.0}


# ---- containers from outside that are written under their own name -------------------------------


def list_or_another(a, x):
    q = a["l"] if x[0] > 0 else [x[0], 0.5]
    a["l"][0] = x[1]
    return q[0] * 1.0


def list_or_its_copy(a, x):
    q = a["l"]
    if x[0] < 0:
        q = list(a["l"])
    a["l"].append(x[1])
    return q[0] * x[0] + len(q)


def dict_or_another(a, x):
    q = a["d"] if x[0] > 0 else {"a": x[0], "b": 0.5}
    a["d"].update(a=x[1])
    return q["a"] * 1.0


def dict_that_a_loop_may_rebuild(a, x):
    q = a["d"]
    for _ in range(70):
        if x[0] < 0:
            q = {k: math.sin(v) for k, v in q.items()}
    a["d"]["a"] = x[1]
    return q["a"] + q["b"]


def list_of_arrays_or_another(a, x):
    q = a["v"] if x[0] > 0 else [x]
    a["v"][0] = x * 2
    return q[0].sum()


def of_an_object(a, x):
    q = a["o"] if x[0] > 0 else Pair([x[0]], 0.5)
    a["o"].one[0] = x[1]
    return q.one[0] * 1.0


@pytest.mark.parametrize(
    "f",
    [
        *(list_or_another, list_or_its_copy, dict_or_another, dict_that_a_loop_may_rebuild),
        *(list_of_arrays_or_another, of_an_object),
    ],
)
@pytest.mark.parametrize("first", [0.5, -0.5])
def test_writes_under_the_name_of_an_argument_are_seen(f, first):
    def given():
        held = {"l": [0.1, 0.2], "d": {"a": 0.1, "b": 0.2}, "v": [np.array([0.1, 0.2])]}
        return held | {"o": Pair([0.7], 0.2)}

    x = np.array([first, 0.3])
    store.forget()
    fast, slow = (ad.grad(f, (0, 1), tier=tier) for tier in (None, "generic"))
    y, back = ad.pullback(f, given(), x)
    assert y == f(given(), x)
    found, expected = fast(given(), x), slow(given(), x)
    assert not difference(found, expected, rtol=1e-13)
    step = np.array([0.0, 1e-6])
    slope = (f(given(), x + step) - f(given(), x - step)) / 2e-6
    assert found[1][1] == pytest.approx(slope, abs=1e-8)
    assert back(1.0)[2] is None or back(1.0)[2][1] == pytest.approx(slope, abs=1e-8)
