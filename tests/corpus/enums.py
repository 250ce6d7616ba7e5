"""Enumerations: made inside the function, used as values, keys, indices, and holding numbers."""

import dataclasses
import enum
import functools
import math
import operator
from enum import Enum, Flag, IntEnum, IntFlag, StrEnum, auto

import numpy as np

from tests.corpus.registry import case


@case(1.5)
def enum_in_function(x):
    class Color(Enum):
        RED = auto()
        BLUE = auto()

        @property
        def factor(self):
            return self.value * 2.0

        @classmethod
        def default(cls):
            return cls.RED

        def __str__(self):
            return self.name.lower()

    return (
        x * Color.RED.factor
        + x * x * Color.default().value * Color["BLUE"].value
        + len(str(Color.RED)) * x
    )


@case(1.5)
def enum_members_as_keys(x):
    class K(Enum):
        A = "a"
        B = "b"

    d = {K.A: x, K.B: x * x}
    d[K("a")] *= x
    return sum(d[k] * i for i, k in enumerate(K, 1)) + d[K.B] * d[K.A]


@case(1.5)
def int_enum(x):
    class N(IntEnum):
        ONE = 1
        TWO = 2

    a = [x, x * x, x**3]
    return a[N.ONE] * N.TWO + x**N.TWO + a[N(2)] * (N.ONE < N.TWO) + sum(N) * x + x * N.TWO


@case(1.5)
def flags(x):
    class P(Flag):
        R = auto()
        W = auto()
        X = auto()
        RW = R | W

    s = 0.0
    for p in P.RW:
        s += x * p.value
    for p in P:
        if p in (P.R | P.X):
            s += x * x
    if P.R & P.RW:
        s *= x
    return s * (~P.R).value + (P.R ^ P.W).value * x


@case(1.5)
def int_flag(x):
    class P(IntFlag):
        R = 4
        W = 2
        X = 1

    p = P.R | P.W
    return x * p + x ** int(P.W) + (x if p & P.X else x * x) + (p & 4) * x


@case(1.5)
def str_enum(x):
    class S(StrEnum):
        A = auto()
        B = "bee"

    d = {"a": x, "bee": x * x}
    return d[S.A] * d[S.B.value] * len(S.B) + d[S("a")]


class F(float, Enum):
    P = 2.5
    Q = 0.5


@case(1.5)
def enum_with_float_mixin(x):
    return F.P * x + x * F.Q + x**F.P + F.P / x + math.sin(x * F.Q) + np.sin(F.P * x)


class Planet(Enum):
    EARTH = (5.97, 6.37)
    MARS = (0.64, 3.39)

    def __init__(self, mass, radius):
        self.mass = mass
        self.radius = radius

    @property
    def gravity(self):
        return self.mass / (self.radius * self.radius)

    def weight(self, m):
        return m * self.gravity


@case(1.5)
def enum_with_init(x):
    return sum(p.weight(x) for p in Planet) + Planet.EARTH.mass * x * x


@case(1.5)
def enum_missing(x):
    class L(Enum):
        LO = 1.0
        HI = 2.0

        @classmethod
        def _missing_(cls, v):
            return cls.HI if v > 1.5 else cls.LO

    return x * L(x * 2).value + x * x * L(0.1).value


@case(1.5)
def enum_generate(x):
    class N(Enum):
        def _generate_next_value_(name, start, count, last):
            return count * 2.0 + 1.0

        A = auto()
        B = auto()

    return x * N.A.value + x * x * N.B.value


@case(1.5)
def enum_dispatch(x):
    class Op(Enum):
        ADD = enum.member(staticmethod(lambda a, b: a + b)) if hasattr(enum, "member") else 0
        MUL = enum.member(functools.partial(operator.mul))

        def __call__(self, a, b):
            return self.value(a, b)

    return Op.MUL(x, x) * Op.ADD(x, 2.0)


@case(1.5)
def enum_unique_verify(x):
    @enum.unique
    class A(Enum):
        P = 1
        Q = 2

    class B(Enum):
        _ignore_ = "tmp"
        tmp = 3
        P = 1
        ALIAS = 1

    return x * A.Q.value * B.ALIAS.value * (B.ALIAS is B.P) * len(B)


@case(1.5)
def enum_match(x):
    class C(Enum):
        A = 1
        B = 2

    def f(c):
        match c:
            case C.A:
                return x * x
            case C.B:
                return x * 3

    return f(C.A) * f(C.B)


@case(1.5)
def enum_functional(x):
    A = Enum("A", "P Q")
    B = IntEnum("B", {"R": 3})
    return x * A.Q.value * B.R + x**B.R


class Mode(Enum):
    SQ = "sq"
    CU = "cu"

    def apply(self, v):
        return v * v if self is Mode.SQ else v * v * v


@case(1.5, Mode.SQ, fixed=1)
def enum_argument(x, m):
    return m.apply(x) + Mode.CU.apply(x)


@case(1.5)
def enum_attr_set(x):
    class E(Enum):
        A = 1
        B = 2

    E.A.weight = x
    E.B.weight = x * x
    return sum(e.weight * e.value for e in E)


@dataclasses.dataclass
class D:
    m: float
    n: float = 2.0


class E(D, Enum):
    A = 1.0, 3.0
    B = 2.0


@case(1.5)
def enum_data_class(x):
    return x * E.A.m * E.A.n + x * E.B.n


@case(0.7)
def missing_member_noted(x):
    notes = []

    class Color(Enum):
        RED = 1

        @classmethod
        def _missing_(cls, value):
            notes.append(x * value)
            return cls.RED

    return Color(5).value * sum(notes) * Color(x * 9).value + sum(notes)


@case(0.7)
def members_made_when_missing(x):
    class Grade(Enum):
        ONE = 1.0

        @classmethod
        def _missing_(cls, value):
            member = object.__new__(cls)
            member._value_ = value * 2
            member._name_ = "made"
            return member

    return Grade(x * 3).value * x + Grade(1.0).value * x


@case(0.7)
def no_such_member(x):
    class Level(Enum):
        LOW = 1.0

        def __eq__(self, other):
            return self is other

        __hash__ = object.__hash__

    total = x
    for value in (x, Level, 1.0):
        try:
            total *= Level(value).value * x
        except ValueError:
            total += x
    return total
