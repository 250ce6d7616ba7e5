"""Data classes and named tuples in all their variants."""

import collections
import copy
import dataclasses
from collections import namedtuple
from dataclasses import KW_ONLY, InitVar, asdict, astuple, dataclass, field, replace
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from tests.corpus.registry import case


@case(1.5)
def data_class_slots(x):
    @dataclass(slots=True)
    class P:
        a: float
        b: list = field(default_factory=list)
        c: float = 2.0

        def f(self):
            return self.a * self.c

    p = P(x)
    p.b.append(x)
    p.c *= x
    return p.f() * sum(p.b) * replace(p, a=x * x).f()


@case(1.5)
def data_class_kwonly(x):
    @dataclass(kw_only=True)
    class A:
        a: float
        b: float = 1.0

    @dataclass
    class B:
        p: float
        _: KW_ONLY
        q: float = 2.0

    return A(b=x, a=x * x).a * A(a=x).b * B(x, q=x).q * B(x).p


@case(1.5)
def data_class_initvar(x):
    @dataclass
    class C:
        a: float
        k: InitVar[float] = 2.0
        s: float = field(init=False)

        def __post_init__(self, k):
            self.s = self.a * k

    return C(x).s * C(x, x).s * replace(C(x), k=x * x).s


@case(1.5)
def data_class_default_factory(x):
    @dataclass
    class C:
        a: list = field(default_factory=lambda: [x, 2.0])
        b: dict = field(default_factory=dict)
        w: np.ndarray = field(default_factory=lambda: np.ones(3) * x)

    c, d = C(), C()
    c.a[0] *= x
    c.b["k"] = x
    c.w[0] = 2.0
    return sum(c.a) * sum(d.a) * c.b["k"] * len(d.b) + c.w.sum() * d.w.sum()


@case(1.5)
def data_class_frozen_replace(x):
    @dataclass(frozen=True)
    class S:
        p: float
        v: float
        t: float = 0.0

    def step(s, dt):
        return replace(s, p=s.p + dt * s.v, v=s.v - dt * s.p, t=s.t + dt)

    s = S(x, 0.0)
    for _ in range(4):
        s = step(s, 0.1 * x)
    try:
        s.p = 1.0
    except dataclasses.FrozenInstanceError:
        pass
    return s.p * s.v + s.t


@case(1.5)
def data_class_frozen_slots_post(x):
    @dataclass(frozen=True, slots=True)
    class S:
        p: float
        q: float = field(init=False)

        def __post_init__(self):
            object.__setattr__(self, "q", self.p * self.p)

    return S(x).q * copy.copy(S(x)).p * copy.deepcopy(S(x * x)).q


@case(1.5)
def data_class_inherit(x):
    @dataclass
    class A:
        a: float

        def f(self):
            return self.a

    @dataclass
    class B(A):
        b: float = 2.0

        def f(self):
            return super().f() * self.b

        def __post_init__(self):
            self.b += 1

    return B(x).f() * B(x, x).f()


@case(1.5)
def data_class_order(x):
    @dataclass(order=True, frozen=True)
    class P:
        a: float
        b: float = field(compare=False, default=1.0)

    ps = sorted([P(x * x, x), P(x, 2.0), P(0.1)])
    return (
        sum(p.a * i * p.b for i, p in enumerate(ps))
        + (P(x) == P(x)) * x
        + len({P(1.0), P(1.0)}) * x
    )


@case(1.5)
def data_class_asdict_nested(x):
    @dataclass
    class In:
        v: float

    @dataclass
    class Out:
        i: In
        l: list
        d: dict

    o = Out(In(x), [In(x * x)], {"k": In(2.0)})
    a = asdict(o)
    t = astuple(o)
    a["i"]["v"] *= x
    o.i.v *= 3
    return (
        a["i"]["v"]
        * a["l"][0]["v"]
        * t[0][0]
        * o.i.v
        * asdict(o, dict_factory=collections.OrderedDict)["i"]["v"]
    )


@case(1.5)
def data_class_generic(x):
    T = TypeVar("T")

    @dataclass
    class Box(Generic[T]):
        v: T

        def map(self, f):
            return Box(f(self.v))

    return Box[float](x).map(lambda v: v * v).map(lambda v: v * x).v


@case(1.5)
def data_class_match(x):
    @dataclass
    class P:
        a: float
        b: float

    def f(p):
        match p:
            case P(a=0.0):
                return x
            case P(a, b) if a > b:
                return a * b * b
            case P(a=a, b=b):
                return a * a * b

    return f(P(x, x * x)) * f(P(x * x, x)) * f(P(0.0, 1.0))


@case(1.5)
def data_class_properties(x):
    @dataclass
    class P:
        a: float
        _h: list = field(default_factory=list, repr=False)

        @property
        def b(self):
            return self.a * 2

        @b.setter
        def b(self, v):
            self._h.append(self.a)
            self.a = v / 2

        def __iter__(self):
            return iter(astuple(self)[:1])

    p = P(x)
    p.b = x * x
    (q,) = p
    return p.a * p.b * sum(p._h) * q


@case(1.5)
def data_class_make(x):
    C = dataclasses.make_dataclass(
        "C",
        [("a", float), ("b", float, field(default=2.0))],
        namespace={"f": lambda self: self.a * self.b},
        frozen=True,
    )
    return C(x).f() * C(x, x).f()


@case(1.5)
def data_class_default_active(x):
    @dataclass
    class C:
        a: float = x
        b: float = x * x

    return C().a * C(2.0).b * C(b=x).b


@case(1.5)
def data_class_fields_loop(x):
    @dataclass
    class C:
        a: float = 1.0
        b: float = 2.0
        c: str = "n"

    c = C(x, x * x)
    for f in dataclasses.fields(c):
        if f.type in (float, "float"):
            setattr(c, f.name, getattr(c, f.name) * x)
    return c.a * c.b * dataclasses.is_dataclass(c)


@case(1.5)
def named_tuple_typing(x):
    class P(NamedTuple):
        a: float
        b: float = 2.0

        @property
        def s(self):
            return self.a + self.b

        def dot(self, o):
            return self.a * o.a + self.b * o.b

        @classmethod
        def unit(cls):
            return cls(1.0, 0.0)

        def __add__(self, o):
            return P(self.a + o.a, self.b + o.b)

    p = P(x)
    q = p._replace(b=x * x)
    r = P._make([x, x])
    a, b = p + q
    return (
        p.dot(q) * r.s
        + a * b
        + P.unit().dot(p)
        + q._asdict()["b"]
        + P(b=x, a=2.0)[1]
        + len(p)
        + max(p, q)[1]
        + sum(q)
        + hash(P(1.0, 2.0)) * 0
    )


@case(1.5)
def named_tuple_generic(x):
    T = TypeVar("T")

    class P(NamedTuple, Generic[T]):
        a: T
        b: T

    return P[float](x, x * x).b * P(x, 1.0).a


@case(1.5)
def named_tuple_sub(x):
    class V(namedtuple("V", "x y z", defaults=(0.0,))):
        __slots__ = ()

        def __new__(cls, x, y, z=1.0):
            return super().__new__(cls, x * 2, y, z)

        def __mul__(self, k):
            return V(*(c * k for c in self))

        __rmul__ = __mul__

        @property
        def norm2(self):
            return sum(c * c for c in self)

    v = V(x, x * x)
    w = 2.0 * v * x
    return w.norm2 + v.x * v._replace(z=x).z


@case(1.5)
def named_tuple_copy_pickle(x):
    P = namedtuple("P", "a b")
    p = P([x], x * x)
    c = copy.copy(p)
    d = copy.deepcopy(p)
    c.a[0] *= x
    d.a.append(x)
    return p.a[0] * sum(d.a) * c.b * d.b


@case(1.5)
def named_tuple_match_star(x):
    P = namedtuple("P", "a b c")
    p = P(x, 2.0, x * x)
    match p:
        case P(a, b=bb):
            r = a * bb
    first, *rest = p
    return r * first * sum(rest) * p[-1] * sum(p[1:]) * p.index(2.0) * p._fields.index("b")
