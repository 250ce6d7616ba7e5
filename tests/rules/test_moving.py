"""The standard library's functions and containers that move values about."""

import bisect
import collections
import contextlib
import copy
import dataclasses
import functools
import heapq
import io
import math
import operator
import random
import statistics
import types
from typing import NamedTuple

import numpy as np
import pytest

import adjoint as ad
from tests.support import Sample, check_sample

XS = [0.3, -0.8, 1.1, 0.6]
GROUPS = collections.defaultdict(list)


def group(name):
    """Collect the functions below by subject."""

    def add(f):
        GROUPS[name].append(f)
        return f

    return add


def weighted(values):
    total = 0.0
    for k, value in enumerate(values):
        total += (k + 1) * math.sin(value)
    return total


# ---- functools, operator -------------------------------------------------------------------------


@group("functools")
def sorted_by_comparison(xs):
    def compare(a, b):
        return (abs(a) > abs(b)) - (abs(a) < abs(b))

    key = functools.cmp_to_key(compare)
    return weighted(sorted(xs, key=key)) * max(xs, key=key)


@group("functools")
def partials(xs):
    def f(a, b, *rest, c=1.0, **named):
        return a * b + c * sum(rest) + sum(named.values())

    g = functools.partial(f, xs[0], c=xs[1])
    h = functools.partial(g, xs[2], d=xs[3])
    return h() * g(2.0, xs[0]) + h(1.0, c=3.0) + g.args[0] * g.keywords["c"]


@group("functools")
def partial_method(xs):
    class Model:
        def __init__(self, a):
            self.a = a

        def scale(self, k, v=1.0):
            return self.a * k * v

        double = functools.partialmethod(scale, 2.0)

    return Model(xs[0]).double() * Model(xs[1]).double(v=xs[2])


@group("functools")
def reduced(xs):
    return functools.reduce(operator.add, (x * x for x in xs), xs[0]) * functools.reduce(
        lambda a, b: a if a > b else b, xs
    )


@group("functools")
def dispatched_method(xs):
    class Reader:
        @functools.singledispatchmethod
        def read(self, value):
            return value * 2

        @read.register
        def _(self, value: list):
            return sum(self.read(v) for v in value)

    return Reader().read(xs) * Reader().read(xs[0])


@group("operator")
def getters(xs):
    point = types.SimpleNamespace(a=xs[0], inner=types.SimpleNamespace(b=xs[1]))
    a, b = operator.attrgetter("a", "inner.b")(point)
    first, rest = operator.itemgetter(0, slice(1, None))(xs)
    return a * b * first + rest[0] * operator.itemgetter(-1)(xs) + operator.attrgetter("a")(point)


@group("operator")
def method_caller(xs):
    class Model:
        def __init__(self, a):
            self.a = a

        def scale(self, k, v=1.0):
            return self.a * k * v

    call = operator.methodcaller("scale", xs[1], v=xs[2])
    array = operator.methodcaller("sum")(np.array(xs) ** 2)
    return call(Model(xs[0])) * call(Model(2.0)) + array


@group("operator")
def sorted_by_getter(xs):
    pairs = [(x * x, x) for x in xs]
    _, x = min(pairs, key=operator.itemgetter(0))
    return weighted(b for _, b in sorted(pairs, key=operator.itemgetter(1))) * x


# ---- copy ----------------------------------------------------------------------------------------


class Node:
    def __init__(self, value, children=()):
        self.value = value
        self.children = list(children)
        self.parent = None
        for child in self.children:
            child.parent = self


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self, a, b):
        self.a = a
        self.b = b


class Guarded:
    """Copies itself in its own way."""

    def __init__(self, a):
        self.a = a

    def __copy__(self):
        return Guarded(self.a * 2)

    def __deepcopy__(self, memo):
        return Guarded(copy.deepcopy(self.a, memo) * 3)


class Stateful:
    def __init__(self, a):
        self.a = a

    def __getstate__(self):
        return {"b": self.a * 2}

    def __setstate__(self, state):
        self.a = state["b"] * 5


class Reduced:
    def __init__(self, a, b):
        self.a, self.b = a, b

    def __reduce__(self):
        return Reduced, (self.b, self.a)


class Bag(list):
    pass


class Table(dict):
    pass


class Point(NamedTuple):
    x: float
    y: list


@group("copy")
def shallow(xs):
    inner = [xs[0], xs[1]]
    outer = [inner, xs[2]]
    twin = copy.copy(outer)
    inner[0] = inner[0] * 3
    outer[1] = 100.0
    return twin[0][0] * twin[1] + copy.copy(xs)[3] * copy.copy(xs[0])


@group("copy")
def deep(xs):
    inner = [xs[0], (xs[1], {"k": xs[2]})]
    outer = {"a": inner, "b": [inner, inner]}
    twin = copy.deepcopy(outer)
    inner[0] = 100.0
    inner[1][1]["k"] = 200.0
    twin["a"][0] *= 2
    return twin["b"][0][0] * twin["b"][1][1][0] * twin["a"][1][1]["k"]


@group("copy")
def deep_cycle(xs):
    tree = Node(xs[0], [Node(xs[1]), Node(xs[2] * 2)])
    twin = copy.deepcopy(tree)
    tree.value = 100.0
    tree.children[0].value = 100.0
    assert twin.children[1].parent is twin and twin is not tree
    loop = [xs[3]]
    loop.append(loop)
    again = copy.deepcopy(loop)
    return sum(c.value * c.parent.value for c in twin.children) * again[1][1][0]


@group("copy")
def of_arrays(xs):
    a = np.array(xs)
    pair = [a, a[1:3]]
    twin, flat = copy.deepcopy(pair), copy.copy(a)
    a[1] = 5.0
    flat[0] = flat[1]
    assert twin[0] is not a
    return np.sum(twin[0] * flat) + np.sum(twin[1]) * a[1] * a[2]


@group("copy")
def of_objects(xs):
    node, slotted = Node(xs[0], [Node(xs[1])]), Slotted(xs[1], [xs[2]])
    same, deep = copy.copy(node), copy.deepcopy(slotted)
    flat = copy.copy(slotted)
    node.children[0].value *= 2
    slotted.b[0] = slotted.b[0] * 3
    node.value = 7.0
    return same.value * same.children[0].value + deep.a * deep.b[0] + flat.b[0] * flat.a


@group("copy")
def own_way(xs):
    a, b, c = Guarded(xs[0]), Stateful(xs[1]), Reduced(xs[2], xs[3])
    d, e, f = copy.deepcopy([a, b, c])
    g, h, i = copy.copy(a), copy.copy(b), copy.copy(c)
    return d.a * e.a * f.a**2 * f.b + g.a * h.a + i.a**2 * i.b


@group("copy")
def of_subclasses(xs):
    bag, table = Bag(xs), Table(a=xs[0], b=[xs[1]])
    bag.factor = xs[2]
    twin, other = copy.deepcopy(bag), copy.deepcopy(table)
    flat = copy.copy(bag)
    bag[0] = 9.0
    table["b"][0] = 9.0
    assert type(twin) is Bag and type(other) is Table
    return twin[0] * twin.factor + other["b"][0] * other["a"] + flat[0] * flat.factor


@group("copy")
def of_tuples(xs):
    point = Point(xs[0], [xs[1]])
    twin = copy.deepcopy(point)
    point.y[0] = 100.0
    plain = (1.0, "a", xs[2])
    assert type(twin) is Point and copy.copy(plain) is plain
    return twin.x * twin.y[0] * copy.deepcopy(plain)[2]


@group("copy")
def of_containers(xs):
    queue = collections.deque(xs, maxlen=4)
    counts = collections.defaultdict(list, a=[xs[0]])
    ordered = collections.OrderedDict(b=xs[1], a=xs[2])
    q, c, o = copy.deepcopy((queue, counts, ordered))
    queue.append(1.0)
    counts["a"].append(1.0)
    c["new"].append(xs[3])
    assert q.maxlen == 4 and list(o) == ["b", "a"]
    return weighted(q) * sum(c["a"]) * c["new"][0] * o["b"]


@group("copy")
def of_functions(xs):
    def f(v):
        return v * xs[0]

    assert copy.deepcopy(f) is f and copy.copy(Node) is Node
    kept = copy.deepcopy({"f": f, "kind": Node, "none": None, "values": {1, 2}})
    return kept["f"](xs[1]) * len(kept["values"])


@group("copy")
def with_memo(xs):
    memo = {}
    a = copy.deepcopy(xs, memo)
    b = copy.deepcopy(xs, memo)
    assert a is b
    return weighted(b)


# ---- heapq, bisect -------------------------------------------------------------------------------


@group("heapq")
def heap(xs):
    values = []
    for x in xs:
        heapq.heappush(values, x * x)
    first = heapq.heappop(values)
    heapq.heapreplace(values, xs[0])
    second = heapq.heappushpop(values, xs[1] + 2.0)
    return weighted(values) * first + second


@group("heapq")
def heap_of_pairs(xs):
    values = [(abs(x), k, x) for k, x in enumerate(xs)]
    heapq.heapify(values)
    return weighted(heapq.heappop(values)[2] for _ in range(4)) + len(values)


@group("heapq")
def smallest_and_largest(xs):
    return (
        weighted(heapq.nlargest(2, xs)) * weighted(heapq.nsmallest(3, xs))
        + weighted(heapq.nsmallest(2, xs, key=abs))
        + heapq.nlargest(1, xs)[0]
        + heapq.nsmallest(1, xs)[0]
    )


@group("heapq")
def merged(xs):
    a, b = sorted(xs[:2]), sorted(x * 2 for x in xs)
    return weighted(heapq.merge(a, b)) + weighted(heapq.merge(a[::-1], b[::-1], reverse=True))


@group("bisect")
def inserted(xs):
    values = sorted(xs)
    bisect.insort(values, xs[0] * 2.5)
    bisect.insort_left(values, xs[1] * 0.4, key=lambda v: v)
    return weighted(values) * values[bisect.bisect_left(values, 0.5)] + bisect.bisect(values, 9.0)


# ---- collections ---------------------------------------------------------------------------------


@group("collections")
def counter(xs):
    counts = collections.Counter("abca")
    weights = collections.Counter({"a": xs[0], "b": xs[1]})
    weights.update({"a": xs[2]})
    weights["c"] += xs[3]
    weights.subtract(a=0.1)
    total = sum(weights[k] * n for k, n in counts.items())
    return total + weights["missing"] + weights.total() * weights.most_common(1)[0][1]


@group("collections")
def default_dict(xs):
    rows = collections.defaultdict(list)
    sums = collections.defaultdict(float, a=xs[0])
    for k, x in enumerate(xs):
        rows[k % 2].append(x)
        sums["ab"[k % 2]] += x * x
    assert sorted(rows) == [0, 1] and rows.get(5) is None
    return sum(rows[0]) * rows[1][0] * sums["a"] + sums["b"] * sums["c"] + len(sums)


@group("collections")
def ordered_dict(xs):
    d = collections.OrderedDict([("a", xs[0]), ("b", xs[1])])
    d["c"] = xs[2] * d["a"]
    d.move_to_end("a")
    d.move_to_end("c", last=False)
    d.update(e=xs[3])
    d.setdefault("f", xs[0] * xs[1])
    key, value = d.popitem()
    first, other = d.popitem(last=False)
    assert (key, first, list(d)) == ("f", "c", ["b", "a", "e"])
    del d["b"]
    d["b"] = 3.0 * xs[1]
    return weighted(d.values()) * value + other * sum(v for _, v in d.items()) + d.pop("e")


@group("collections")
def ordered_dict_changed_in_place(xs):
    """The order is that of the plain call, also after the sweep."""
    d = collections.OrderedDict(a=xs[0], b=xs[1], c=xs[2])
    total = 0.0
    for _ in range(4):
        total = total * 0.5 + weighted(d.values())
        d.move_to_end(next(iter(d)))
        d["a"] = d.pop("a") * 1.5
    assert list(reversed(d)) == list(d)[::-1]
    return total * sum(reversed(d.values()))


@group("collections")
def chain_map(xs):
    base = {"a": xs[0], "b": xs[1]}
    scope = collections.ChainMap({"a": xs[2]}, base)
    inner = scope.new_child({"c": xs[3]})
    inner["b"] = inner["a"] * inner["b"]
    base["b"] = 5.0
    return inner["a"] * inner["b"] + scope["b"] * inner["c"] + len(inner) + sum(inner.values())


@group("collections")
def deques(xs):
    q = collections.deque((x * x for x in xs), maxlen=5)
    q.extend([xs[0], xs[1]])
    q.appendleft(xs[2])
    q.rotate(2)
    q.extendleft(xs[:2])
    q[1] = q[0] * q[-1]
    q.reverse()
    del q[0]
    q.insert(1, xs[3])
    q.remove(q[2])
    twin = q.copy()
    q += [xs[0]]
    q.popleft()
    return weighted(q) * weighted(reversed(twin)) + sum(collections.deque(xs)) + len(q)


@group("collections")
def deque_window(xs):
    window, total = collections.deque(maxlen=2), 0.0
    for x in xs:
        window.append(x)
        total += math.prod(window) * sum(window)
    a, b = window
    return total * a + b + max(window)


@group("collections")
def named_tuples(xs):
    Pair = collections.namedtuple("Pair", "a b c", defaults=[2.0])
    p = Pair(xs[0], b=xs[1])
    q = p._replace(b=p.a * p.b)
    r = Pair._make([xs[2], q.b, xs[3]])
    return q.b * r.a + sum(r._asdict().values()) * q._asdict()["b"] + Pair(*xs[:3]).c * p.c


@group("collections")
def typed_named_tuple(xs):
    point = Point(y=[xs[0]], x=xs[1])
    moved = point._replace(x=xs[2] * point.x)
    return moved.x * moved.y[0] + Point._make((xs[3], []))[0]


@group("collections")
def user_containers(xs):
    class Doubled(collections.UserDict):
        def __getitem__(self, key):
            return self.data[key] * 2

    class Values(collections.UserList):
        pass

    d = Doubled(a=xs[0])
    d["b"] = xs[1]
    values = Values(xs)
    values.append(d["a"])
    return d["a"] * d.get("b") + weighted(values) + sum(values[1:3])


@group("collections")
def subclass_of_tuple(xs):
    class Vector(tuple):
        def __new__(cls, *values):
            return super().__new__(cls, [v * 2 for v in values])

        def dot(self, other):
            return sum(a * b for a, b in zip(self, other, strict=True))

    return Vector(*xs).dot(Vector(xs[0], 1.0, xs[1], 2.0))


@group("collections")
def subclass_of_list(xs):
    class Stack(list):
        def __init__(self, values):
            super().__init__(v * 2 for v in values)
            self.total = sum(self)

        def push(self, value):
            super().append(value)
            self.total += value

    stack = Stack(xs)
    stack.push(xs[0] * xs[1])
    return stack.total * stack[-1] + sum(stack[1:3])


@group("collections")
def subclass_of_dict(xs):
    class Registry(dict):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            self["sum"] = sum(self.values())

        def __missing__(self, key):
            return self["sum"] * len(key)

    d = Registry({"a": xs[0]}, b=xs[1])
    return d["sum"] * d["missing"] + d["a"] * d.get("b")


# ---- statistics ----------------------------------------------------------------------------------


@group("statistics")
def averages(xs):
    positive = [x * x + 1.0 for x in xs]
    return (
        statistics.mean(xs) * statistics.fmean(xs)
        + statistics.fmean(xs, [1.0, 2.0, positive[0], 3.0])
        + statistics.geometric_mean(positive)
        + statistics.harmonic_mean(positive)
    )


@group("statistics")
def spreads(xs):
    return (
        statistics.variance(xs) * statistics.pvariance(xs)
        + statistics.stdev(xs) * statistics.pstdev(xs)
        + statistics.variance(xs, xbar=xs[0])
    )


@group("statistics")
def order(xs):
    return (
        statistics.median(xs) * statistics.median(xs[:3])
        + statistics.median_low(xs)
        + statistics.median_high(xs)
        + weighted(statistics.quantiles(xs, n=3))
    )


@group("statistics")
def relations(xs):
    ys = [x * x for x in xs]
    slope, intercept = statistics.linear_regression(xs, ys)
    return slope * intercept + statistics.covariance(xs, ys) * statistics.correlation(xs, ys)


# ---- contextlib ----------------------------------------------------------------------------------


@group("contextlib")
def managers(xs):
    @contextlib.contextmanager
    def scaled(x):
        state = [x * 2]
        try:
            yield state
        finally:
            state.append(x * x)

    with scaled(xs[0]) as state, contextlib.nullcontext(xs[1]) as y:
        state[0] *= y
    return state[0] * state[1]


@group("contextlib")
def suppressed(xs):
    total = xs[0]
    with contextlib.suppress(ZeroDivisionError, KeyError):
        total = total * xs[1]
        total = total / 0.0
        total = 100.0
    with contextlib.suppress(ValueError):
        total = total * math.exp(xs[2])
    return total


@group("contextlib")
def stacked(xs):
    log = []

    @contextlib.contextmanager
    def level(x):
        yield x * 2
        log.append(x * x)

    with contextlib.ExitStack() as stack:
        values = [stack.enter_context(level(x)) for x in xs[:3]]
        stack.callback(log.append, xs[3] * 3)
        log.append(sum(values))
    return weighted(log)


@group("contextlib")
def closed(xs):
    class Resource:
        def __init__(self, x):
            self.x = x

        def close(self):
            self.x = self.x * 2

    with contextlib.closing(Resource(xs[0])) as resource:
        y = resource.x * xs[1]
    return y * resource.x


@group("contextlib")
def redirected(xs):
    buffer = io.StringIO()
    with contextlib.redirect_stdout(buffer):
        print("value", xs[0])
        y = xs[0] * xs[1]
    return y * len(buffer.getvalue().split())


@group("contextlib")
def as_decorator(xs):
    log = []

    class Logged(contextlib.ContextDecorator):
        def __enter__(self):
            log.append(xs[0])
            return self

        def __exit__(self, *error):
            log.append(log[-1] * 2)
            return False

    @Logged()
    def f(v):
        return v * log[-1]

    return f(xs[1]) * sum(log)


@group("contextlib")
def exceptions_in_managers(xs):
    @contextlib.contextmanager
    def rescue(state):
        try:
            yield state
        except ValueError as error:
            state.append(error.args[0] * 2)

    state = [xs[0]]
    with rescue(state):
        state.append(xs[1] * 3)
        raise ValueError(state[0] * state[1])
    return weighted(state)


# ---- sets, dicts, iterators ----------------------------------------------------------------------


@group("builtins")
def set_operations(xs):
    a, b = {xs[0], xs[1]}, {xs[1], xs[2]}
    union, both, first, one = a | b, a & b, a - b, a ^ b
    a |= {xs[3]}
    a -= {xs[0]}
    b &= {xs[1], 5.0}
    b ^= {xs[3]}
    frozen = frozenset(xs[:2]) | {xs[2]}
    assert type(frozen) is frozenset and {frozen: 1}[frozen] == 1
    return sum(union) * sum(both) + sum(first) * sum(one) + sum(a) * sum(b) + sum(frozen)


@group("builtins")
def set_emptied_and_filled(xs):
    seen = set()
    for k, x in enumerate(xs + xs):
        if x in seen:
            seen.discard(x)
        else:
            seen.add(x)
        if k == 2:
            seen.clear()
    seen.update(xs[:1], [xs[1] * 2])
    seen.remove(xs[0])
    return sum(seen) * xs[0] + seen.pop() * 0.0


@group("builtins")
def dict_from_keys(xs):
    d = dict.fromkeys("abc", xs[0])
    o = collections.OrderedDict.fromkeys("ab", xs[1])
    d["a"] *= 2
    return sum(d.values()) * sum(o.values())


@group("builtins")
def dict_popped_to_the_end(xs):
    d, total = dict(zip("abcd", xs, strict=True)), 0.0
    while d:
        _, value = d.popitem()
        total = total * 0.7 + value * len(d)
    return total


@group("builtins")
def dict_views(xs):
    d = dict(zip("abcd", xs, strict=True))
    total = sum(reversed(d.values())) * d["a"]
    for (key, v), (_, w) in zip(d.items(), reversed(d.items()), strict=True):
        total += v * w * ord(key)
    return total + max(d.values()) + sorted(d.values())[0] + d[max(d, key=d.get)]


@group("builtins")
def dict_merged(xs):
    a, b = {"a": xs[0]}, {"a": xs[1], "b": xs[2]}
    c = a | b
    a |= b
    a.update(b, c=xs[3])
    a.update([("z", xs[0])])
    return c["a"] * a["a"] * c["b"] + a["c"] * a["z"]


@group("builtins")
def missing_keys(xs):
    class Lengths(dict):
        def __missing__(self, key):
            self[key] = value = xs[0] * len(key)
            return value

    d = Lengths()
    return d["ab"] * d["ab"] + d["c"] + d.get("zz", xs[1]) + d.setdefault("q", xs[2])


@group("builtins")
def explicit_next(xs):
    it = iter(xs)
    first, step = it.__next__(), it.__next__
    squares = (x * x for x in xs)
    return first * step() * squares.__next__()


@group("heapq")
def shortest_path(xs):
    edges = {(0, 1): abs(xs[0]), (1, 2): abs(xs[1]), (0, 2): 2.0 + xs[2], (2, 3): xs[3]}
    distance, heap = {0: 0.0}, [(0.0, 0)]
    while heap:
        d, node = heapq.heappop(heap)
        for (a, b), length in edges.items():
            if a == node and d + length < distance.get(b, math.inf):
                distance[b] = d + length
                heapq.heappush(heap, (d + length, b))
    return distance[3]


@group("copy")
def of_dataclasses(xs):
    @dataclasses.dataclass
    class Model:
        a: float
        b: list = dataclasses.field(default_factory=list)

    @dataclasses.dataclass(frozen=True)
    class Frozen:
        a: float
        b: np.ndarray

    p, q = Model(xs[0], [xs[1]]), Frozen(xs[2], np.array(xs))
    twin, other = copy.deepcopy(p), copy.deepcopy(q)
    changed, fields = dataclasses.replace(twin, a=xs[2]), dataclasses.asdict(p)
    other.b[0] = 3.0
    p.b[0] = 100.0
    total = twin.a * twin.b[0] * changed.a * changed.b[0] + fields["a"] * fields["b"][0]
    return total + other.a * other.b.sum() * q.b[0]


@group("random")
def drawn(xs):
    source, values = random.Random(3), list(xs)
    source.shuffle(values)
    return (
        values[0] * source.uniform(xs[0], xs[1])
        + source.choice(xs) * source.gauss(xs[0], xs[1])
        + sum(source.sample(xs, 2))
        + sum(source.choices(xs, k=2))
    )


CASES_BY_NAME = {f"{name}/{f.__name__}": f for name, fs in GROUPS.items() for f in fs}


@pytest.mark.parametrize("f", CASES_BY_NAME.values(), ids=CASES_BY_NAME)
def test_as_python_does(f):
    check_sample(Sample(f, (XS,)))


def test_deepcopy_of_an_argument_keeps_it():
    def f(state):
        twin = copy.deepcopy(state)
        twin["w"] *= 2.0
        twin["xs"].append(twin["w"].sum())
        return sum(twin["xs"]) * state["xs"][0]

    state = {"w": np.array([1.0, 2.0]), "xs": [0.5]}
    (bar,) = ad.gradient(f, state)
    np.testing.assert_allclose(bar["w"], [1.0, 1.0])
    assert bar["xs"] == [pytest.approx(0.5 + 6.5)]
    assert state["xs"] == [0.5] and state["w"].tolist() == [1.0, 2.0]
