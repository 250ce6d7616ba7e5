"""Variables that hold one of several objects, functions, strings or tuples, as numbers decide, in
specialised programs."""

import enum
import math
from dataclasses import dataclass

import numpy as np
import pytest

import adjoint as ad
from adjoint.fast.programs import store


class Body:
    def __init__(self, place, mass, colour="red"):
        self.place, self.mass, self.colour, self.seen = place, mass, colour, 0.0

    def distance(self, x):
        return (x - self.place) ** 2

    def pull(self, x):
        return self.mass * (self.place - x)


class Heavy(Body):
    def pull(self, x):
        return super().pull(x) * self.mass


def bodies(x):
    return [Body(x[0], x[1]), Heavy(x[2], 2.0, "blue"), Body(0.3, x[3], "green")]


FIXED = [Body(0.1, 0.3), Heavy(0.9, 1.5), Body(-0.4, 0.2)]


def nearest(x):
    total = 0.0
    for v in x:
        least, found = math.inf, None
        for b in bodies(x):
            d = b.distance(v)
            if d < least:
                least, found = d, b
        total += least * found.mass + found.pull(v)
    return total


def nearest_by_key(x):
    all_of_them = bodies(x)
    total = 0.0
    for v in x:
        b = min(all_of_them, key=lambda b: b.distance(v))
        b.seen += v * v
        total += b.pull(v) * b.mass
    return total + sum(b.seen * (i + 1) for i, b in enumerate(all_of_them))


def nearest_outside(x):
    return sum(max(FIXED, key=lambda b: b.distance(v)).pull(v) for v in x)


def in_order(x):
    found = sorted(bodies(x), key=lambda b: b.mass)
    return sum(b.pull(x[i]) * (i + 1) for i, b in enumerate(found))


def hit(v, b):
    d = v * v - b.mass * 0.2
    if d < 0:
        return None
    return math.sqrt(d), v * b.place


def first_hit(x):
    total = 0.0
    for v in x:
        best = None
        for b in bodies(x):
            h = hit(v, b)
            if h is not None and (best is None or h[0] < best[0]):
                best = (h[0], h[1], b)
        if best is None:
            continue
        near, shift, b = best
        total += near * shift + b.mass
    return total


def both_or_none(x):
    def roots(v):
        d = v * v - 0.2
        if d < 0:
            return None, None
        return v - math.sqrt(d), v + math.sqrt(d)

    total = x[0] * 0.5
    for v in x:
        a, b = roots(v)
        if a is None:
            continue
        total += a * a * b
    return total


def by_name(x):
    scale = {"low": x[0], "middle": 2.0, "high": x[1] * x[2]}
    count = {"low": 0.0, "middle": 0.0, "high": 0.0}
    total = 0.0
    for v in x:
        name = "low" if v < -0.5 else "middle" if v < 0.5 else "high"
        total += scale[name] * v
        count[name] += v * v
    return total + count["low"] * count["high"] - count["middle"] ** 2


def states(x):
    state, total = "rest", 0.0
    for v in x:
        if state == "rest":
            total += v
            if v > 0.3:
                state = "run"
        elif state == "run":
            total += v * v
            if v < 0:
                state = "fall"
        else:
            total -= v**3
            state = "rest" if v > 0.6 else state
    return total if state != "rest" else total * 2


class Phase(enum.Enum):
    SOLID = 1.0
    LIQUID = 2.0


def phases(x):
    total = 0.0
    for v in x:
        phase = Phase.SOLID if v < 0 else Phase.LIQUID
        match phase:
            case Phase.SOLID:
                total += v
            case _:
                total += v * v * phase.value
    return total


def functions(x):
    a = x[0]
    total = 0.0
    for v in x:
        f = math.sin if v < 0 else (lambda t: a * t * t) if v < 0.5 else math.exp
        g = Body(v, a).distance if v > 0 else FIXED[1].pull
        total += f(v) + g(v * 0.3)
    return total


@dataclass
class Point:
    x: float
    y: float

    def __add__(self, other):
        return Point(self.x + other.x, self.y + other.y)


def points(x):
    a, b, c = Point(x[0], x[1]), Point(x[2], 1.0), Point(0.5, x[3])
    total = Point(0.0, 0.0)
    for v in x:
        p = a if v < 0 else b if v < 0.5 else c
        total = total + p
        if p is b:
            total.x += v
        p.y = p.y * 0.9
    return total.x * total.y + a.y


def lists(x):
    short, long = [x[0]], [x[1], x[2] * x[0]]
    total = 0.0
    for v in x:
        chosen = short if v < 0 else long
        total += chosen[0] * v + sum(chosen) * len(chosen)
    return total


def tuples_by_place(x):
    items = [("a", x[0], FIXED[0]), ("b", x[1], FIXED[1]), ("a", x[2], FIXED[2])]
    name, v, body = max(items, key=lambda item: item[1])
    return body.pull(v) * (2.0 if name == "a" else 3.0)


def walks(x):
    p = start = Point(x[0], 1.0)
    for v in x:
        p = p + Point(v * p.y, v)
    return p.x * p.y + start.x


def walks_from_outside(x):
    p = ORIGIN
    for v in x:
        p = p + Point(v * p.y, v + p.x * 0.1)
    return p.x * p.y


ORIGIN = Point(0.5, 2.0)


def made_in_branches(x):
    total = 0.0
    for v in x:
        p = Point(v, x[0]) if v > 0 else Point(x[1], v)
        q = p
        q.x += v * v
        total += p.x * p.y
    return total


def found_or_none(x):
    def find(v):
        if v < 0:
            return None
        return Point(v, x[0]) if v < 1 else Body(v * v, x[1])

    total = x[2]
    for v in x:
        p = find(v)
        if p is None:
            continue
        total += p.x * p.y if isinstance(p, Point) else p.pull(v)
    return total


def classes(x):
    total = 0.0
    for v in x:
        b = Body(v, x[0]) if v < 0 else Heavy(x[1], v)
        total += b.pull(v * v)
    return total


def clusters(x):
    centres = [x[0], x[1], x[2]]
    for _ in range(2):
        found = [[] for _ in centres]
        for v in x:
            k = min(range(len(centres)), key=lambda j: (v - centres[j]) ** 2)
            found[k].append(v)
        centres = [sum(c) / len(c) if c else m for c, m in zip(found, centres, strict=True)]
    return centres[0] * centres[1] + centres[2]


def grouped(x):
    groups = {"low": [x[1]], "high": [x[2] * x[0]]}
    for v in x:
        groups["low" if v < 0 else "high"].append(v * v)
    total = sum(groups["low"]) * len(groups["high"]) + sum(groups["high"])
    for v in groups["low"] if x[0] > 0 else groups["high"]:
        total += v * x[1]
    return total


def greatest_place(x):
    v = [a * a - a for a in x]
    i, j = max(range(len(x)), key=lambda i: v[i]), min(range(len(v)), key=v.__getitem__)
    low = [a for a in x if a < 0]
    return x[i] * 3 + x[j] ** 2 + max(low, default=x[1]) + min(low, key=abs, default=x[2])


def best_made(x):
    best, other = None, (math.inf, Point(0.0, 1.0))
    for v in x:
        p = Point(v * x[0], v * v - v)
        if best is None or p.y < best.y:
            best = p
        if abs(p.x) < other[0]:
            other = (abs(p.x), p)
    while best.y < 1.0:
        best = best + Point(0.1, 0.5) if best.x < x[1] else best + other[1]
        best = Point(best.x, best.y + 0.5) if best.x > 0.2 else best
    return best.x * best.y + other[0] * other[1].y


def texts(x):
    text, last = "none", "none"
    for i in range(40):
        if x[i % 5] > 0.1 * i - 2:
            text = f"iteration {i}"
        if x[0] > 0:
            last = text if x[1] > 0.2 else f"{x[1]}"
    return x[0] * x[1] if last is not None else x[2]


PROGRAMS = [
    texts,
    best_made,
    clusters, grouped, greatest_place,
    walks, walks_from_outside, made_in_branches, found_or_none, classes, nearest, nearest_by_key,
    nearest_outside, in_order, first_hit, both_or_none, by_name, states,
    phases, functions, points, lists, tuples_by_place,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_program(f):
    rng = np.random.default_rng(1)
    store.forget()
    for n in (5, 30):
        for scale in (0.3, 0.6, 1.0, 1.5):
            x, v = rng.normal(size=(2, n)) * scale
            x[1], x[3] = abs(x[1]), abs(x[3])
            g, product = ad.gradient(f, x)[0], ad.hvp(f, x, v)
            np.testing.assert_allclose(g, ad.grad(f, tier="generic")(x), rtol=1e-11)
            h = 1e-6
            ends = [ad.gradient(f, x + sign * h * v)[0] for sign in (1, -1)]
            np.testing.assert_allclose(
                product, (ends[0] - ends[1]) / (2 * h), rtol=1e-4, atol=1e-4 * np.abs(g).max()
            )
    kept = [*store._kept.values()]
    assert [one.reason for known in kept for one in known.refused.values()] == []
    assert {entry.failures.last for known in kept for entry in known.entries} == {""}


@pytest.mark.parametrize("f", [nearest_by_key, first_hit, by_name, walks, found_or_none, clusters])
def test_other_derivatives(f):
    rng = np.random.default_rng(3)
    xs = np.abs(rng.normal(size=(3, 6)))
    xs[:, 4:] *= -1
    x, v = xs[0], xs[1]
    h = 1e-5
    g = [ad.grad(f, tier="generic")(x + h * e) for e in (*np.eye(6), *-np.eye(6))]
    hessian = (np.array(g[:6]) - g[6:]) / (2 * h)
    np.testing.assert_allclose(ad.hessian(f)(x), hessian, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(ad.jacobian(lambda x: np.array([f(x), f(x) ** 2]))(x)[0], g[0], 1e-3)
    y, y_dot = ad.pushforward(f, (x,), (v,))
    assert y == f(x)
    np.testing.assert_allclose(y_dot, ad.grad(f, tier="generic")(x) @ v, rtol=1e-11)
    np.testing.assert_array_equal(ad.vmap(f)(xs), [f(x) for x in xs])
    np.testing.assert_allclose(
        ad.gradient(lambda xs: ad.vmap(f)(xs).sum(), xs)[0], [ad.gradient(f, x)[0] for x in xs]
    )
    np.testing.assert_allclose(
        ad.gradient(lambda x: (ad.gradient(f, x)[0] ** 2).sum(), x)[0],
        2 * hessian @ ad.gradient(f, x)[0],
        rtol=1e-4, atol=1e-4,
    )  # fmt: skip


def chosen(x):
    a, b = Body(x[0], x[1]), Heavy(x[2], 2.0, "blue")
    return a if x[0] < x[2] else b


OTHERS = {
    "in": lambda x: x[0] * (chosen(x).colour in ("red", "pink")) + x[1],
    "not in": lambda x: x[0] * (chosen(x).colour not in {"red": 1}) + x[1],
    "isinstance": lambda x: x[0] * isinstance(chosen(x), Heavy) + x[1],
    "type": lambda x: x[0] * (type(chosen(x)) is Body) + x[1],
    "none": lambda x: x[0] * (chosen(x) is None) + x[1],
    "equal": lambda x: x[0] * (chosen(x) == None) + x[1],  # noqa: E711
    "list in": lambda x: x[0] * (None in [chosen(x), None]) + x[1],
    "count": lambda x: x[0] * [chosen(x).colour, "red", None].count("red") + x[1],
    "index": lambda x: x[["red", "blue"].index(chosen(x).colour)] * x[2],
    "set": lambda x: x[0] * len({chosen(x).colour, "red"}) + x[1],
    "key": lambda x: x[0] * {chosen(x).colour: x[1]}.get("red", 2.0),
    "text": lambda x: x[0] * len(f"{chosen(x).colour}!") + x[1],
    "upper": lambda x: x[0] * len(chosen(x).colour.upper() + "a"),
    "join": lambda x: x[0] * len(",".join([chosen(x).colour, "a"])),
    "sorted": lambda x: x[0] * len(sorted([chosen(x).colour, "green"])[0]),
    "star": lambda x: (lambda *bs: sum(b.pull(x[0]) for b in bs))(chosen(x), chosen(-x)),
    "named": lambda x: (lambda *, b, c="d": b.pull(x[0]) * len(c))(b=chosen(x)),
    "vars": lambda x: vars(chosen(x))["mass"] * x[0],
    "getattr": lambda x: getattr(chosen(x), "mass" if x[0] > 0 else "place") * x[1],
    "hasattr": lambda x: x[1] * hasattr(chosen(x), "mass"),
    "truth": lambda x: x[0] if chosen(x).colour and chosen(x) else x[1],
    "or": lambda x: ((chosen(x) if x[0] > 0 else None) or Body(x[1], 1.0)).pull(x[0]),
    "ternary": lambda x: x[0] * len(chosen(x).colour if x[1] > 0.5 else ""),
    "of a loop": lambda x: sum(v for v in ((x[0],) if x[0] > x[1] else (x[1], x[2]))),
    "class": lambda x: (Heavy if x[0] > 0 else Body)(x[1], x[2]).pull(x[0]),
    "in an array": lambda x: np.array([chosen(x).mass, 1.0]).sum() * x[0],
    "of objects": lambda x: x[0] * np.array([chosen(x), None]).size,
    "new in a branch": lambda x: (Body(x[0], x[1]) if x[0] > 0 else None or FIXED[1]).pull(x[2]),
    "array of one": lambda x: (x if x[0] > 0 else [x[1], x[2]])[0] * x[1],
    "dict": lambda x: x[0] * sum(({"a": x[1]} if x[0] > 0 else {"b": x[2], "c": 2.0}).values()),
    "None as index": lambda x: np.sum(x[(1, None)[int(x[0] > 0)]]) * x[1],
    "number or text": lambda x: x[0] * len(str("ab" if x[0] > 0 else 7)) + x[1],
    "generator": lambda x: next(b for b in bodies(x) if b.place > 0.1).mass * x[0],
    "except": lambda x: _or_else(chosen, x),
    "swap": lambda x: _swapped(x),
    "last": lambda x: _last(x),
}


def _made(x, use):
    a = Point(x[0], x[1])
    b = Point(x[2], x[0]) if x[0] > 0.3 else a
    c = Point(x[1], 2.0) if x[1] > 0.25 else Point(x[2], 1.0)
    d = (c, b, a)
    e = d if x[2] > 0.3 else (b, c, a)
    return use(a, b, c, e)


def _written(a, b, c, e):
    e[0].x = 5.0
    b.y = b.y * 2
    return a.x * a.y + b.x * b.y + c.x * c.y + e[0].x * e[1].y


MADE = {
    "is": lambda a, b, c, e: a.x * ((a is b) + 2 * (e[0] is c) + 4 * (e[1] is b)) + b.y,
    "equal": lambda a, b, c, e: a.x * ((a == b) + 2 * (e[0] == c) + 4 * (e[1] == b)) + b.y,
    "in": lambda a, b, c, e: a.x * ((b in [c, a]) + 2 * (c in e) + 4 * e.index(b)) + b.y,
    "written": _written,
    "id": lambda a, b, c, e: a.x * (id(a) == id(b)) + b.y,
}
OTHERS |= {name: lambda x, f=f: _made(x, f) for name, f in MADE.items()}


class Plain:
    def __init__(self, x, y):
        self.x, self.y = x, y


def _plainly(x, use):
    a = Plain(x[0], x[1])
    b = Plain(x[2], x[0]) if x[0] > 0.3 else a
    p = a
    for v in x:
        p = Plain(p.x + v, p.y * v) if v > 0.35 else p
    return use(a, b, p, x)


def _in_a_dict(a, b, p, x):
    kept = {a: 1.0, b: 2.0, p: 3.0}
    return a.x * kept[a] + b.x * kept[b] + p.x * kept[p] * len(kept)


def _p_written(a, b, p, x):
    p.x = p.x * 3
    b.y += 1
    return a.x * a.y + b.x * b.y + p.x * p.y


PLAIN = {
    "plain is": lambda a, b, p, x: a.x * ((a is b) + 2 * (p is a) + 4 * (p is b)) + p.x,
    "plain equal": lambda a, b, p, x: a.x * ((a == b) + 2 * (p == a) + 4 * (p != b)) + p.x,
    "plain in": lambda a, b, p, x: a.x * ((p in [b, a]) + 2 * [p, a, b].index(a)) + p.x,
    "plain dict": _in_a_dict,
    "plain set": lambda a, b, p, x: a.x * len({a, b, p}) + p.x,
    "plain written": _p_written,
    "plain vars": lambda a, b, p, x: vars(p).update(x=2.0) or p.x * a.x * b.x,
    "plain setattr": lambda a, b, p, x: setattr(p, "y", 2.0) or p.y * a.y * b.x,
    "plain outside": lambda a, b, p, x: _keep(p) or p.x * (KEPT[0] is p) * a.x,
}
KEPT = [None]


def _keep(p):
    KEPT[0] = p


OTHERS |= {name: lambda x, f=f: _plainly(x, f) for name, f in PLAIN.items()}


def _best(x, use):
    best = first = Plain(x[0], x[1])
    for v in x:
        p = Plain(v, x[2])
        if p.x < best.x:
            best = p
    return use(best, first, p, x)


BEST = {
    "best is": lambda b, f, p, x: b.x * ((b is f) + 2 * (b is p)) + b.y,
    "best equal": lambda b, f, p, x: b.x * ((b == f) + 2 * (b == p)) + b.y,
    "best written": lambda b, f, p, x: setattr(b, "x", x[1] * 2) or f.x * p.x * b.x,
    "first written": lambda b, f, p, x: setattr(f, "x", x[1] * 2) or f.x * p.x * b.x,
    "last written": lambda b, f, p, x: setattr(p, "x", x[1] * 2) or f.x * p.x * b.x,
}
OTHERS |= {name: lambda x, f=f: _best(x, f) for name, f in BEST.items()}


def _written_in_the_loop(x):
    best = first = Plain(x[0], x[1])
    for v in x:
        best.y += v
        if v < best.x:
            best = Plain(v, best.y * 0.5)
    return best.x * best.y + first.y


def _seen(x):
    best, seen = None, []
    for v in x:
        p = Plain(v, v * v)
        if best is None or p.x < best.x:
            best = p
        p.y = p.y * 2
        seen.append(p)
    return best.y + seen[0].y * sum(q is best for q in seen)


OTHERS |= {"written in the loop": _written_in_the_loop, "seen": _seen}


def _two_names(x, make, put):
    z = make(x[2])
    if x[0] > 0.3:
        a, b = make(x[0]), z
    else:
        a = b = make(x[1])
    if x[1] > 0.25:
        c = d = make(x[2])
    else:
        c, d = make(x[0]), make(x[1])
    put(a, x[0] * x[1])
    put(c, x[1] * x[1])
    return [a, b, z, c, d]


def _two_lists(x):
    made = _two_names(x, lambda v: [v], lambda one, v: one.__setitem__(0, v))
    return sum((i + 1) * one[0] for i, one in enumerate(made))


def _two_objects(x):
    made = _two_names(x, lambda v: Plain(v, 1.0), lambda one, v: setattr(one, "x", v))
    return sum((i + 1) * one.x for i, one in enumerate(made))


def _two_dicts(x):
    made = _two_names(x, lambda v: {"a": v}, lambda one, v: one.update(a=v))
    return sum((i + 1) * one["a"] for i, one in enumerate(made))


OTHERS |= {"two lists": _two_lists, "two objects": _two_objects, "two dicts": _two_dicts}


def _many(x):
    found = max([Plain(x[0] * i, x[1] - i) for i in range(40)], key=lambda p: p.x * p.y)
    return found.x * found.y


OTHERS["many"] = _many


def _lists(x):
    short, long = [x[0]], [x[1], x[2]]
    chosen = short if x[0] > 0.3 else long
    chosen.append(x[0] * x[1])
    other = chosen if x[1] > 0.25 else short
    other[0] = other[0] * 2
    return sum(short) * 2 + sum(long) * 3 + chosen[-1] * len(other) + (other is short)


def _empty(x):
    try:
        return max((v for v in x if v > 5), key=abs)
    except ValueError:
        return x[0] * 4


def _nan(x):
    v = x * np.where(np.arange(len(x)) == 1, np.nan, 1.0)
    return x[max(range(len(x)), key=lambda i: v[i])] * x[min(range(len(x)), key=lambda i: v[i])]


OTHERS |= {"lists": _lists, "empty": _empty, "nan": _nan}


def _or_else(f, x):
    try:
        return getattr(f(x) if x[0] > 0 else None, "mass") * x[0]
    except AttributeError:
        return x[1] * 3


def _swapped(x):
    a, b = FIXED[0], FIXED[1]
    for v in x:
        if v > 0:
            a, b = b, a
    return a.pull(x[0]) - b.pull(x[1])


def _last(x):
    last = None
    for i, v in enumerate(x):
        if last is not None and last[1] > 0:
            v = v * last[0]
        last = (v, i - 1, "odd" if i % 2 else "even")
    return last[0] * (2 if last[2] == "odd" else 1)


@pytest.mark.parametrize("name", OTHERS)
def test_as_in_the_generic_tier(name):
    f = OTHERS[name]
    for a in (0.1, 0.7, -0.2, 1.5, 0.4):
        for y in ([a, 0.3, 0.9, 0.2], [0.2, a, 0.1, 0.4], [0.3, 0.2, a, 0.1] * 6):
            y = np.array(y)
            np.testing.assert_allclose(
                ad.gradient(f, y)[0], ad.grad(f, tier="generic")(y), rtol=1e-11, err_msg=str(y)
            )


def test_what_is_stored_outside():
    kept = {}

    def f(x):
        b = chosen(x)
        kept["colour"], kept["body"] = b.colour, b
        return b.mass * x[0]

    for x in ([0.1, 0.3, 0.9], [0.9, 0.3, 0.1], [0.2, 0.3, 0.4]) * 2:
        ad.gradient(f, np.array(x))
        assert kept["colour"] == kept["body"].colour == ("red" if x[0] < x[2] else "blue")


def test_objects_of_arguments():
    store.forget()

    @dataclass
    class State:
        place: np.ndarray
        speed: float

        def step(self, dt):
            return State(self.place + dt * self.speed, self.speed - dt * np.sin(self.place).sum())

    def f(state, n):
        for _ in range(n):
            state = state.step(0.1)
        return (state.place**2).sum() * state.speed

    state = State(np.array([0.3, 0.5]), 1.2)
    for _ in range(2):
        found = ad.gradient(f, state, 50)[0]
    (kept,) = store._kept.values()
    assert not kept.refused and {entry.failures.last for entry in kept.entries} == {""}
    expected = ad.grad(f, tier="generic")(state, 50)
    np.testing.assert_allclose(found.place, expected.place, rtol=1e-11)
    np.testing.assert_allclose(found.speed, expected.speed, rtol=1e-11)
    assert (state.place == [0.3, 0.5]).all()
