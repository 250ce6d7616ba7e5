"""Special methods of the user's are called as often as by Python, and in the same order: what a
builtin asks for once is asked for once by what stands in its place (design, section 4)."""

import collections
import copy
import functools
import heapq
import itertools
import math
import operator
import statistics
import sys

import numpy as np
import pytest

import adjoint as ad

X = np.array([0.7, 2.0, 1.3])

asked = []
"""The names of the special methods that were called."""


class Sequence:
    def __init__(self, x):
        self.values = [x[0], x[1], x[2]]

    def __len__(self):
        asked.append("len")
        return len(self.values)

    def __getitem__(self, i):
        asked.append("item")
        return self.values[i]


class Iterator:
    def __init__(self, values):
        self.values, self.k = values, -1

    def __iter__(self):
        asked.append("iter of an iterator")
        return self

    def __next__(self):
        asked.append("next")
        self.k += 1
        if self.k >= len(self.values):
            raise StopIteration
        return self.values[self.k]

    def __length_hint__(self):
        asked.append("hint of an iterator")
        return len(self.values) - self.k - 1


class Iterable:
    def __init__(self, x):
        self.values = [x[0], x[1], x[2]]

    def __iter__(self):
        asked.append("iter")
        return Iterator(self.values)

    def __length_hint__(self):
        asked.append("hint")
        return 3


class Collection(Iterable):
    def __len__(self):
        asked.append("len")
        return len(self.values)

    def __getitem__(self, i):
        asked.append("item")
        return self.values[i]

    def __setitem__(self, i, value):
        asked.append("set item")
        self.values[i] = value

    def __contains__(self, value):
        asked.append("contains")
        return value in self.values

    def __reversed__(self):
        asked.append("reversed")
        return Iterator(self.values[::-1])


class Mapping:
    def __init__(self, x):
        self.entries = {"a": x[0], "b": x[1]}

    def keys(self):
        asked.append("keys")
        return self.entries.keys()

    def __getitem__(self, key):
        asked.append("item")
        return self.entries[key]

    def __iter__(self):
        asked.append("iter")
        return iter(self.entries)

    def __len__(self):
        asked.append("len")
        return 2

    def __contains__(self, key):
        asked.append("contains")
        return key in self.entries


class Number:
    """Has the special methods of numbers, from `_spy`."""

    def __init__(self, value):
        self.value = value


def _spy(name, result):
    def method(self, *others):
        asked.append(name)
        return result(self.value, *(o.value if isinstance(o, Number) else o for o in others))

    setattr(Number, name, method)


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow"):
    _op = getattr(operator, _name)
    _spy(f"__{_name}__", lambda a, b, *rest, op=_op: Number(op(a, b)))
    _spy(f"__r{_name}__", lambda a, b, *rest, op=_op: Number(op(b, a)))
    _spy(f"__i{_name}__", lambda a, b, op=_op: Number(op(a, b)))
for _name in ("lt", "le", "gt", "ge", "eq", "ne"):
    _spy(f"__{_name}__", getattr(operator, _name))
_spy("__matmul__", lambda a, b: Number(a * b))
_spy("__divmod__", lambda a, b: (a // b, a % b))
_spy("__rdivmod__", lambda a, b: (b // a, b % a))
_spy("__neg__", lambda a: Number(-a))
_spy("__pos__", lambda a: Number(+a))
_spy("__abs__", lambda a: Number(abs(a)))
_spy("__round__", lambda a, *digits: Number(a * 1.0))
_spy("__floor__", lambda a: Number(a * 1.0))
_spy("__ceil__", lambda a: Number(a * 1.0))
_spy("__bool__", lambda a: True)
_spy("__float__", float)
_spy("__int__", int)
_spy("__trunc__", int)
_spy("__complex__", complex)
_spy("__str__", lambda a: "a number")
_spy("__repr__", lambda a: "Number")
_spy("__format__", lambda a, spec: "a number")
_spy("__copy__", Number)
_spy("__deepcopy__", lambda a, memo: Number(a))


class Index:
    def __init__(self, i):
        self.i = i

    def __index__(self):
        asked.append("index")
        return self.i


def total(result):
    """A number of every result, which asks nothing of the objects."""
    if isinstance(result, Number):
        return result.value
    if isinstance(result, dict):
        result = list(result.values())
    if isinstance(result, list | tuple | collections.deque):
        return sum([total(part) * (k + 1.0) for k, part in enumerate(result)])
    if isinstance(result, np.ndarray):
        return result.sum()
    return result * 1.0 if isinstance(result, int | float) else 1.0


def changed(make, change):
    """What `change`, a statement or a method, makes of a new container and `b`."""

    def use(b):
        made = make()
        change(made, b)
        return made

    return use


def extend_in_place(xs, b):
    xs += b


def write_slice(xs, b):
    xs[0:1] = b


def write_strided(xs, b):
    xs[::2] = b


def unpacked(b):
    p, q, r = b
    return p * q + r


def looped(b):
    y = 0.0
    for v in b:
        y = y + v * v
    else:
        y = y * v
    return y


def delegated(b):
    def items():
        yield from b

    return list(items())


def matched(b):
    match b:
        case [p, q, r]:
            return p * q * r
        case {"a": p}:
            return p * p
    return 2.0


COLLECTIONS = {
    "sum": sum,
    "sum with a start": lambda b: sum(b, 0.5),
    "list": list,
    "tuple": tuple,
    "max": max,
    "min": min,
    "max with a key": lambda b: max(b, key=lambda v: -v),
    "min with a default": lambda b: min(b, default=0.0),
    "sorted": sorted,
    "any": any,
    "all": all,
    "enumerate": lambda b: [i * v for i, v in enumerate(b)],
    "zip": lambda b: [v * w for v, w in zip(b, b)],
    "strict zip": lambda b: [v for v, _ in zip(b, "abc", strict=True)],
    "map": lambda b: list(map(lambda v, w: v * w, b, b)),
    "filter": lambda b: list(filter(None, b)),
    "arguments": lambda b: (lambda *values: values[0] * values[-1])(*b),
    "display of a list": lambda b: [0.5, *b],
    "display of a tuple": lambda b: (*b, 0.5),
    "iter": lambda b: next(iter(b)),
    "comprehension": lambda b: [v * v for v in b],
    "generator expression": lambda b: sum(v * v for v in b),
    "unpacking": unpacked,
    "loop": looped,
    "yield from": delegated,
    "match": matched,
    "in": lambda b: 99.0 in b,
    "list.extend": changed(lambda: [1.0], list.extend),
    "+= of a list": changed(lambda: [1.0], extend_in_place),
    "deque": collections.deque,
    "deque of two": lambda b: collections.deque(b, 2),
    "deque.extend": changed(lambda: collections.deque([1.0]), collections.deque.extend),
    "deque.extendleft": changed(lambda: collections.deque([1.0]), collections.deque.extendleft),
    "+= of a deque": changed(lambda: collections.deque([1.0]), extend_in_place),
    "math.fsum": math.fsum,
    "math.prod": math.prod,
    "math.dist": lambda b: math.dist(b, [0.0, 0.0, 0.0]),
    "math.sumprod": lambda b: math.sumprod(b, b) if sys.version_info >= (3, 12) else 1.0,
    "statistics.mean": statistics.mean,
    "statistics.fmean": statistics.fmean,
    "statistics.stdev": statistics.stdev,
    "statistics.pvariance": statistics.pvariance,
    "statistics.median": statistics.median,
    "statistics.geometric_mean": statistics.geometric_mean,
    "statistics.harmonic_mean": statistics.harmonic_mean,
    "reduce": lambda b: functools.reduce(operator.mul, b),
    "reduce with a start": lambda b: functools.reduce(operator.mul, b, 1.5),
    "accumulate": lambda b: list(itertools.accumulate(b, initial=1.0)),
    "chain": lambda b: list(itertools.chain(b, b)),
    "chain.from_iterable": lambda b: list(itertools.chain.from_iterable([b])),
    "islice": lambda b: list(itertools.islice(b, 2)),
    "cycle": lambda b: list(itertools.islice(itertools.cycle(b), 5)),
    "tee": lambda b: list(itertools.tee(b)[1]),
    "product": lambda b: [u * v for u, v in itertools.product(b, repeat=2)],
    "permutations": lambda b: [u * v for u, v in itertools.permutations(b, 2)],
    "combinations": lambda b: [u * v for u, v in itertools.combinations(b, 2)],
    "pairwise": lambda b: [u * v for u, v in itertools.pairwise(b)],
    "zip_longest": lambda b: [u * v for u, v in itertools.zip_longest(b, [1.0], fillvalue=2.0)],
    "takewhile": lambda b: list(itertools.takewhile(lambda v: v < 4.0, b)),
    "groupby": lambda b: [sum(g) for _, g in itertools.groupby(b, lambda v: v > 1.0)],
    "compress": lambda b: list(itertools.compress(b, [1, 0, 1])),
    "nsmallest": lambda b: heapq.nsmallest(2, b),
    "nlargest": lambda b: heapq.nlargest(5, b),
    "merge": lambda b: list(heapq.merge(b, [1.5])),
    "np.fromiter": lambda b: np.fromiter(b, float),
    "fromkeys": lambda b: dict.fromkeys(b, 2.0),
    "set": lambda b: len(set(b)),
    "isdisjoint": lambda b: {9.0}.isdisjoint(b),
    "namedtuple._make": lambda b: collections.namedtuple("P", "a b c")._make(b).b,
    "length_hint": operator.length_hint,
    "partial": lambda b: functools.partial(lambda *values: values[0] * values[1], *b)(),
}
"""Functions of something with elements."""

SIZED = {
    "write of a slice": changed(lambda: [1.0, 2.0], write_slice),
    "write of a strided slice": changed(lambda: [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], write_strided),
    "bool": bool,
    "not": lambda b: not b,
    "conditional": lambda b: 1.0 if b else 2.0,
    "and": lambda b: b and 3.0,
    "reversed": lambda b: list(reversed(b)),
    "item": lambda b: b[1],
    "itemgetter": lambda b: operator.itemgetter(0, 2)(b),
    "copy": lambda b: copy.copy(b).values,
    "deepcopy": lambda b: copy.deepcopy(b).values,
}
"""Functions of a collection."""

MAPPINGS = {
    "dict": dict,
    "dict with more": lambda m: dict(m, c=2.0),
    "display": lambda m: {**m},
    "arguments": lambda m: (lambda a, b: a * b)(**m),
    "update": changed(dict, dict.update),
    "|=": changed(dict, operator.ior),
    "OrderedDict": collections.OrderedDict,
    "defaultdict": lambda m: collections.defaultdict(float, m),
    "ChainMap": lambda m: collections.ChainMap(m)["a"],
    "partial": lambda m: functools.partial(lambda a, b: a * b, **m)(),
    "loop": lambda m: [m[key] for key in m],
    "sorted": lambda m: [m[key] for key in sorted(m)],
    "in": lambda m: "a" in m,
    "match": matched,
    "bool": bool,
}
"""Functions of a mapping."""

NUMBERS = {
    **{
        name: getattr(operator, name)
        for name in "add sub mul truediv floordiv mod pow matmul lt eq ne iadd imul".split()
    },
    **{name: getattr(math, name) for name in "hypot atan2 pow fmod copysign isclose".split()},
    **{
        f.__name__: lambda n, m, f=f: f(n)
        for f in (abs, float, int, bool, complex, round, str, repr, format, math.sin, math.floor)
    },
    "from the right": lambda n, m: total([1.0 + n, 2 - n, 1.0 / n, 2.0**n, divmod(2.0, n)]),
    "signs": lambda n, m: total([-n, +n]),
    "divmod": divmod,
    "round to digits": lambda n, m: round(n, 2),
    "chained comparison": lambda n, m: n < m < n,
    "max": max,
    "max of a list": lambda n, m: max([n, m, n]),
    "min with a key": lambda n, m: min(3.0, 1.0, key=lambda v: n),
    "sorted": lambda n, m: sorted([n, m, n]),
    "sorted backwards": lambda n, m: sorted([n, m, n], reverse=True),
    "cmp_to_key": lambda n, m: sorted(
        [n, m], key=functools.cmp_to_key(lambda a, b: 1 - 2 * (a < b))
    ),
    "sum": lambda n, m: sum([n, m], 0.5),
    "fsum": lambda n, m: math.fsum([n, m]),
    "prod": lambda n, m: math.prod([n, m]),
    "reduce": lambda n, m: functools.reduce(operator.mul, [n, m]),
    "accumulate": lambda n, m: list(itertools.accumulate([n, m, n])),
    "groupby": lambda n, m: [total(key) for key, _ in itertools.groupby([n, n, m])],
    "in": lambda n, m: m in [n, m],
    "not in": lambda n, m: m in [n, n],
    "index": lambda n, m: [n, m].index(m),
    "count": lambda n, m: (n, m).count(n),
    "remove": lambda n, m: changed(lambda: [n, m], list.remove)(m),
    "equal lists": lambda n, m: [n] == [m],
    "ordered tuples": lambda n, m: (n, 1) < (m, 2),
    "any": lambda n, m: any([n, m]),
    "all": lambda n, m: all([n, m]),
    "filter": lambda n, m: list(filter(None, [n, m])),
    "and": lambda n, m: n and m,
    "or": lambda n, m: n or m,
    "not": lambda n, m: not n,
    "conditional": lambda n, m: 1.0 if n else 2.0,
    "fields": lambda n, m: f"{n}{n!r}{n:>3}",
    "percent": lambda n, m: "%s" % n,
    "copy": lambda n, m: copy.copy(n),
    "deepcopy": lambda n, m: copy.deepcopy([n, m]),
    "nsmallest": lambda n, m: heapq.nsmallest(2, [n, m, n]),
    "nlargest": lambda n, m: heapq.nlargest(1, [n, m, n]),
    "merge": lambda n, m: list(heapq.merge([n], [m])),
    "fmean": lambda n, m: statistics.fmean([n, m]),
    "median": lambda n, m: statistics.median([n, m, n]),
    "takewhile": lambda n, m: list(itertools.takewhile(lambda v: v, [n, m])),
    "array of objects": lambda n, m: sum(np.array([n, m], dtype=object)),
    "deque.index": lambda n, m: collections.deque([n, m]).index(m),
    "equal dicts": lambda n, m: {1: n} == {1: m},
}
"""Functions of two numbers in classes of the user's."""

INDICES = {
    "list": lambda i, x: [x[0], x[1], x[2]][i],
    "array": lambda i, x: x[i],
    "slice": lambda i, x: [x[0], x[1], x[2]][i:],
    "slice of an array": lambda i, x: x[:i:i],
    "range": lambda i, x: sum([x[k] for k in range(i)]),
    "pop": lambda i, x: [x[0], x[1]].pop(i),
    "repeated": lambda i, x: [x[0]] * i,
    "float": lambda i, x: float(i),
    "islice": lambda i, x: list(itertools.islice(x, i)),
    "repeat": lambda i, x: list(itertools.repeat(x[0], i)),
    "tee": lambda i, x: [list(one) for one in itertools.tee([x[0]], i)],
    "zeros": lambda i, x: np.zeros(i) + x[0],
    "reshape": lambda i, x: x.reshape(3, i),
    "rotate": lambda i, x: changed(lambda: collections.deque(x), collections.deque.rotate)(i),
    "insert": lambda i, x: changed(lambda: [x[0]], lambda xs, k: xs.insert(k, x[1]))(i),
    "combinations": lambda i, x: [u for (u,) in itertools.combinations(x, i)],
    "enumerate": lambda i, x: [k * v for k, v in enumerate(x, i)],
    "operator.index": lambda i, x: operator.index(i) * x[0],
    "slice.indices": lambda i, x: slice(0, i).indices(3),
}
"""Functions of an index and an array."""


def _cases():
    for kind in (Sequence, Iterable, Collection, Iterator):
        for name, use in COLLECTIONS.items():
            given = (lambda x: Iterator([x[0], x[1], x[2]])) if kind is Iterator else kind
            yield f"{kind.__name__}: {name}", lambda x, use=use, given=given: use(given(x))
    for name, use in SIZED.items():
        yield f"Collection: {name}", lambda x, use=use: use(Collection(x))
    for name, use in MAPPINGS.items():
        yield f"Mapping: {name}", lambda x, use=use: use(Mapping(x))
    for name, use in NUMBERS.items():
        yield f"Number: {name}", lambda x, use=use: use(Number(x[0]), Number(x[1]))
    for name, use in INDICES.items():
        yield f"Index: {name}", lambda x, use=use: use(Index(1), x)


CASES = dict(_cases())
ASKED_IN_C = (
    *(f"{kind}: isdisjoint" for kind in ("Iterable", "Collection", "Iterator")),
    *(f"Index: {name}" for name in ("zeros", "reshape", "slice.indices")),
)
"""Where code in C asks, a method that notes that it is asked is refused."""


def asked_by(run):
    """What is asked while `run` runs, and the kind of the error that it raises."""
    asked.clear()
    error = None
    try:
        run()
    except Exception as caught:
        error = type(caught)
    return [*asked], error


@pytest.mark.parametrize("name", CASES)
def test_asked_as_by_python(name):
    def f(x):
        return total(CASES[name](x)) * x[0]

    expected = asked_by(lambda: f(X.copy()))
    for run in (
        lambda: ad.grad(f, tier="generic")(X.copy()),
        lambda: ad.grad(f)(X.copy()),
        lambda: ad.jvp(f, (X.copy(),), (np.ones(3),)),
    ):
        found = asked_by(run)
        assert found == expected or (name in ASKED_IN_C and found[1] is ad.MutationError)


def test_sequence_that_has_ended_stays_so():
    """Python's iterator over a sequence does not ask again after the end."""

    def f(x):
        xs = Sequence(x)
        iterator = iter(xs)
        first = sum(list(iterator))
        xs.values.append(x[0] * 5.0)
        return first * x[1] + next(iterator, x[2])

    assert f(X) == sum(X) * X[1] + X[2]
    for tier in ("generic", None):
        given = {} if tier is None else {"tier": tier}
        np.testing.assert_allclose(ad.grad(f, **given)(X), [2.0, X.sum() + 2.0, 3.0])
