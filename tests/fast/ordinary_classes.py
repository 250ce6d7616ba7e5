"""Objects of classes that derive from builtin containers and numbers, or that compute attributes:
functions of one array of four floats, which run as programs."""

from __future__ import annotations

import collections
import functools
import math
import typing
from collections.abc import Callable
from typing import Any

import numpy as np

TABLE: dict[str, Callable[[np.ndarray], Any]] = {}


def program(f: Callable[[np.ndarray], Any]) -> Callable[[np.ndarray], Any]:
    TABLE[f.__name__] = f
    return f


class Bunch(dict):
    """A dict whose entries are attributes, as many packages have one."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __setattr__(self, name, value):
        self[name] = value


@program
def entries_as_attributes(a):
    p = Bunch(mass=a[0], length=a[1] * a[2])
    p.gravity = 9.81 * a[3]
    p["mass"] *= 2.0
    more = {**p, "drag": 0.5}
    total = sum(more.values()) + len(p)
    if hasattr(p, "drag"):
        total = 0.0
    return total * p.gravity / p.length * getattr(p, "drag", a[0]) * ("mass" in p)


class Path(list):
    """A list of points that keeps the length of the way."""

    def __init__(self, first):
        super().__init__([first])
        self.length = 0.0

    def append(self, x):
        self.length = self.length + abs(x - self[-1])
        super().append(x)


@program
def list_that_keeps_a_length(a):
    path = Path(a[0])
    for x in a[1:]:
        path.append(x * x)
    return path.length * len(path) + path[0] * sum(path[1:]) + path[-1] * max(path)


@program
def list_of_a_class_in_branches_and_loops(a):
    path = Path(a[0])
    for k in range(3):
        if a[k] > 0.5:
            path.append(a[k + 1])
        else:
            path.length = path.length * a[k]
    return path.length


class Stack(list):
    pass


@program
def derived_list_as_an_array(a):
    stack = Stack([a[0], a[1] * a[2]])
    stack.scale = a[3]
    stack.extend(x * stack.scale for x in a[1:3])
    return np.sum(np.array(stack) ** 2) + np.dot(stack, stack) * math.fsum(stack)


class Vector(typing.NamedTuple):
    x: float
    y: float

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def __bool__(self):
        return False

    def norm(self):
        return (self.x**2 + self.y**2) ** 0.5


@program
def named_tuples_with_operators(a):
    v = Vector(a[0], a[1]) + Vector(a[2] * a[0], a[3])
    x, y = v
    return v.norm() * x + v._replace(x=a[3]).x * y + (5.0 if v else v[0]) + len(v)


class Segment(collections.namedtuple("Segment", "start end")):
    @property
    def middle(self):
        return (self.start + self.end) / 2

    def __new__(cls, start, end):
        return super().__new__(cls, min(start, end), max(start, end))


@program
def named_tuple_made_in_order(a):
    one, other = Segment(a[0], a[1] * a[2]), Segment(a[3], a[0])
    return one.middle * other.middle + one.start - other[1] ** 2


class Defaults(dict):
    def __missing__(self, key):
        self[key] = key * 0.5
        return self[key]


@program
def missing_keys_are_made(a):
    d = Defaults({1: a[0]})
    d[2] += a[1]
    return d[1] * d[2] + d[3] * a[2] + len(d) * a[3] + d.get(7, a[0])


class Window(collections.deque):
    def mean(self):
        return sum(self) / len(self)


@program
def windows_of_a_class(a):
    window, total = Window([], 2), 0.0
    for x in a:
        window.append(x * x)
        total = total + window.mean() * window[0]
    return total


class Length(float):
    def __new__(cls, value, unit=1.0):
        made = super().__new__(cls, value * unit)
        made.unit = unit
        return made

    def __add__(self, other):
        return Length(float(self) + float(other))


@program
def numbers_with_a_unit(a):
    one, other = Length(float(a[0]), 2.0), Length(float(a[1]))
    return (
        (one + other) * float(a[2]) + one * other * one.unit + math.sqrt(other) + 3.0 * one - one**2
    )


class Lazy:
    def __init__(self, v):
        self.v = v

    def __getattr__(self, name):
        if name.startswith("times"):
            return self.v * int(name[5:])
        raise AttributeError(name)


@program
def attributes_that_are_computed(a):
    lazy = Lazy(a[0] * a[1])
    found = lazy.times3 * lazy.v + getattr(lazy, "other", a[2])
    return found * (2.0 if hasattr(lazy, "more") else a[3])


class Counted(list):
    """What C does with a list goes past the methods of its class."""

    def append(self, x):
        super().append(x * 2.0)

    def __iter__(self):
        return iter([3.0 * x for x in super().__iter__()])

    def __len__(self):
        return super().__len__() + 1


@program
def items_as_the_class_says(a):
    xs, plain = Counted([a[0], a[1]]), [a[2]]
    xs.append(a[3])
    plain.extend(xs)
    plain += xs
    copy = list(xs)
    whole = [*xs, *copy]
    first, second, third = xs
    return sum(plain) * first + sum(whole) * second + third * len(xs) + xs[0] + sum(xs[1:])


# ---- decorators ----------------------------------------------------------------------------------


def scaled_by(c):
    def decorate(f):
        @functools.wraps(f)
        def wrapper(*args, **keywords):
            return c * f(*args, **keywords)

        return wrapper

    return decorate


class Counting:
    def __init__(self, f):
        functools.update_wrapper(self, f)
        self.f, self.calls = f, 0

    def __call__(self, x):
        self.calls += 1
        return self.f(x) * self.calls


@program
def decorated_inside(a):
    @scaled_by(a[0])
    def f(x, power=2):
        return x**power

    @Counting
    def g(x):
        return x * a[1]

    return f(a[2]) * g(a[3]) + f(a[1], power=3) * g(a[0]) * g.calls


# ---- fields in a dict of one's own ---------------------------------------------------------------


class Settings(dict):
    """A dict that is its own ``__dict__``."""

    def __init__(self, **entries):
        super().__init__(**entries)
        self.__dict__ = self


@program
def a_dict_that_is_its_own_fields(a):
    s = Settings(rate=a[0], steps=2)
    s.rate *= a[1]
    s["decay"] = a[2] * s.rate
    s.extra = 1.0
    del s.extra
    return s.decay * s["rate"] ** s.steps + len(s) * a[3] + ("extra" in s)


@program
def shared_state(a):
    class Shared:
        state = {}

        def __init__(self):
            self.__dict__ = self.state

    one, other = Shared(), Shared()
    one.total = a[0]
    other.total *= a[1]
    return one.total * a[2] + getattr(other, "more", a[3])


# ---- objects beside arrays and numbers of NumPy's ------------------------------------------------


class Dual:
    def __init__(self, value, slope=1.0):
        self.value, self.slope = value, slope

    def __add__(self, other):
        value, slope = (other.value, other.slope) if isinstance(other, Dual) else (other, 0.0)
        return Dual(self.value + value, self.slope + slope)

    def __mul__(self, other):
        if isinstance(other, Dual):
            slope = self.slope * other.value + self.value * other.slope
            return Dual(self.value * other.value, slope)
        return Dual(self.value * other, self.slope * other)

    def __rsub__(self, other):
        return Dual(other - self.value, -self.slope)

    def __gt__(self, other):
        return self.value > other

    __radd__, __rmul__ = __add__, __mul__


@program
def numbers_of_numpy_before_objects(a):
    x = Dual(a[1])
    y = a[0] * x + a[2] + (a[3] + x * x) * np.float32(2.0) + np.int64(3) * x
    total = (a[3] - y) * (2.0 if a[0] < x else 3.0)
    return total.value * total.slope


class Scaling:
    """Asks arrays on its left to leave it alone."""

    __array_ufunc__ = None

    def __init__(self, factor):
        self.factor = factor

    def __mul__(self, other):
        return self.factor * other

    def __rmatmul__(self, other):
        return np.sum(other) * self.factor

    __rmul__ = __mul__


class Prior:
    __array_priority__ = 100.0

    def __init__(self, shift):
        self.shift = shift

    def __radd__(self, other):
        return other + self.shift


@program
def arrays_beside_objects(a):
    s, p = Scaling(a[0]), Prior(a[1] * a[2])
    return np.sum(a * s) + np.sum((s * a) ** 2) + (a @ s) * np.sum((a + p) ** 2) + a[3] * s
