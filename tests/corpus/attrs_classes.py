"""Classes that `attrs` has written."""

import functools

import attr
import attrs
from attrs import Factory, converters, define, evolve, field, frozen, validators

from tests.corpus.registry import case, refused


@define
class AP:
    a: float
    b: float = 2.0
    c: list = field(factory=list)

    def f(self):
        return self.a * self.b


@frozen
class AF:
    a: float = field(converter=lambda v: v * 2)
    b: float = field(default=1.0, validator=validators.instance_of(float))

    @b.validator
    def _check(self, at, v):
        if v < 0:
            raise ValueError


@define(slots=False, kw_only=True)
class AK:
    a: float
    d: float = Factory(lambda self: self.a * 3, takes_self=True)

    def __attrs_post_init__(self):
        self.e = self.a * self.d


@attr.s
class AO:
    a = attr.ib()
    b = attr.ib(default=attr.Factory(list))
    c = attr.ib(init=False, default=4.0)


@case(1.5)
def attrs_define(x):
    p = AP(x)
    p.c.append(x * x)
    p.b = p.a * x
    q = AP(b=x, a=2.0, c=[x])
    return p.f() * sum(p.c) + q.f() * q.c[0]


@case(1.5)
def attrs_frozen(x):
    p = AF(x, x * x)
    q = evolve(p, a=x)
    try:
        p.a = 1.0
    except attrs.exceptions.FrozenInstanceError:
        pass
    try:
        AF(x, -x)
    except ValueError:
        k = 2.0
    return p.a * p.b * q.a * q.b * k


@case(1.5)
def attrs_kwonly(x):
    p = AK(a=x)
    q = AK(a=x, d=x)
    return p.a * p.d * p.e + q.e


@case(1.5)
def attrs_old(x):
    p = AO(x)
    p.b.append(x * p.c)
    p.c = x
    return p.a * p.b[0] * p.c


@case(AP(1.5, 0.5, [0.3]), 0.7)
def attrs_argument(p, x):
    p.c.append(p.a * x)
    p.b *= x
    return p.f() * sum(p.c)


@case(AF(0.7, 0.5))
def attrs_frozen_argument(p):
    return p.a * p.b * p.b


@case(1.5)
def attrs_asdict(x):
    p = AP(x, x * x, [x])
    d = attrs.asdict(p)
    t = attrs.astuple(p)
    return d["a"] * d["c"][0] * t[1] + (p == AP(x, x * x, [x])) * x


@case(1.5)
def attrs_inside(x):
    @define
    class L:
        w: float
        h: list = field(factory=list)
        k: float = field(default=2.0, converter=float)

        def __attrs_post_init__(self):
            self.h.append(self.w)

        @property
        def q(self):
            return self.w * self.k

    l = L(x)
    m = L(x * x, k=x)
    return l.q * m.q * sum(l.h) * m.h[0]


@case(1.5)
def attrs_inside_default(x):
    @define
    class L:
        w: float = x
        z: float = field(default=3.0)

    return L().w * L(2.0).z * x


@case(1.5)
def attrs_inherit(x):
    @define
    class A:
        a: float

    @define
    class B(A):
        b: float = 2.0

        def f(self):
            return self.a * self.b

    return B(x, x).f() * B(x).f()


@case(1.5)
def attrs_onsetattr(x):
    @define
    class A:
        a: float = field(converter=lambda v: v * v, on_setattr=[attrs.setters.convert])

    p = A(x)
    p.a = x * 2
    return p.a


@case(1.5)
def attrs_order(x):
    @define(order=True)
    class A:
        a: float
        b: float = field(eq=False, default=1.0)

    p, q = A(x, 3.0), A(x * x, x)
    return max(p, q).b * min(p, q).a + (p < q) * x


@case(1.5)
def attrs_cached_property(x):
    @define
    class A:
        a: float

        @functools.cached_property
        def sq(self):
            return self.a * self.a

    p = A(x)
    r = p.sq * p.sq
    p.a = 2.0
    return r * p.sq


@case(1.5)
def attrs_make_class(x):
    C = attr.make_class("C", ["a", "b"])
    c = C(x, x * x)
    return c.a * c.b


@refused(1.5)
def attrs_hash_cache(x):
    @frozen(cache_hash=True)
    class A:
        a: int

    d = {A(1): x, A(2): x * x}
    return d[A(1)] * d[A(2)]


@case(1.5)
def attrs_converters(x):
    @define
    class A:
        a: float = field(converter=converters.optional(float), default=None)
        b: float = field(converter=converters.pipe(float, lambda v: v * 2), default=1.0)
        c: float = field(default=None, converter=converters.default_if_none(x))

    return A(x).a * A(b=x).b * A().c
