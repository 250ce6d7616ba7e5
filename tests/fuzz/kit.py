"""What the generated programs call: arguments, classes, callees that write, and the digest."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import math
import random
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

WEIGHTS = {
    (4,): np.array([1.0, -0.7, 0.4, 1.3]),
    (2,): np.array([0.9, -1.1]),
    (3,): np.array([0.6, 1.2, -0.8]),
    (3, 4): np.cos(np.arange(12.0)).reshape(3, 4),
    (4, 3): np.sin(np.arange(1.0, 13.0)).reshape(4, 3),
}
MASK = np.array([True, False, False, True])
ORDER = np.array([2, 0, 3, 1])


# ---- exceptions and contexts ---------------------------------------------------------------------


class Stop(Exception):
    def __init__(self, value=0.3):
        self.value = value


class Halt(Stop):
    pass


class Guard:
    def __init__(self, value, log, quiet):
        self.value = value
        self.log = log
        self.quiet = quiet

    def __enter__(self):
        self.log.append(self.value * 0.3)
        return self

    def __exit__(self, kind, error, trace):
        self.log[0] = math.sin(self.value) + 0.2 * self.log[0]
        if self.quiet and isinstance(error, Stop):
            self.log.append(error.value)
            return True
        return False


@contextlib.contextmanager
def scope(value, log):
    log[1] = value
    try:
        yield 0.4 * value
    finally:
        log[2] += value * value * 0.1


# ---- objects -------------------------------------------------------------------------------------


@functools.total_ordering
class Thing:
    """Every object of the programs has this protocol; their classes override parts of it."""

    share = 0.7
    __array_ufunc__ = None

    def __init__(self, k, v=None):
        self.k = k
        self.v = np.array([0.97 * k, 0.2, 0.53 * k, -0.3]) if v is None else v
        self.log = [0.47 * k, 0.1234, 0.9 * k]  # no two numbers of a program are equal

    @property
    def half(self):
        return 0.5 * self.k

    @half.setter
    def half(self, value):
        self.k = 0.9 * value

    @property
    def middle(self):
        return self.v[1:3]

    @functools.cached_property
    def first(self):
        return 0.8 * self.v[0] + 0.1 * self.k

    def step(self, z):
        self.k = 0.6 * self.k + 0.3 * z
        return math.tanh(self.k * z)

    def bump(self, z):
        self.v *= 0.8
        self.v[1:3] += 0.2 * z
        return self

    def swap(self, other):
        self.v, other.v = other.v, self.v

    @classmethod
    def of(cls, k):
        return cls(0.8 * k)

    @staticmethod
    def squash(z):
        return math.sin(0.9 * z)

    def __getattr__(self, name):
        if name != "gamma":
            raise AttributeError(name)
        return 0.4 * self.k

    def __call__(self, z):
        return self.k * self.share + 0.3 * z

    def __getitem__(self, place):
        return self.v[place]

    def __setitem__(self, place, value):
        self.v[place] = 0.9 * value

    def __delitem__(self, place):
        self.v[place] = 0.1 * self.k

    def __len__(self):
        return len(self.log)

    def __iter__(self):
        for value in self.log:
            yield 0.9 * value

    def __contains__(self, z):
        return z > self.k

    def __bool__(self):
        return bool(self.k > 0.1234)

    def __eq__(self, other):
        return self.k == other.k

    def __lt__(self, other):
        return self.k < other.k

    def __neg__(self):
        return type(self)(-self.k, self.v)

    def __add__(self, other):
        return Thing(0.5 * self.k + 0.4 * getattr(other, "k", other), self.v)

    __radd__ = __add__

    def __rsub__(self, other):
        return Thing(0.6 * other - 0.3 * self.k)

    def __mul__(self, other):
        if not isinstance(other, Thing):
            return NotImplemented
        return Thing(self.k * other.k, self.v * other.v)

    def __imul__(self, z):
        self.k *= math.cos(z)
        return self

    def __matmul__(self, other):
        return 0.3 * float(self.v @ other.v)

    def __enter__(self):
        self.log[2] *= 0.5
        return 0.8 * self.k

    def __exit__(self, *error):
        self.k *= 0.9
        return isinstance(error[1], Halt)


class Slotted:
    __slots__ = ("k", "v")

    def __init__(self, k, v=0.2):
        self.k = k
        self.v = v


@dataclasses.dataclass
class Record:
    k: float
    v: float = 0.4
    log: list = dataclasses.field(default_factory=lambda: [0.1, 0.2, 0.3])

    def total(self):
        return 0.5 * self.k + 0.3 * self.v + 0.2 * self.log[0]


@dataclasses.dataclass(frozen=True)
class Frozen:
    k: float
    v: float = 0.6


class Couple(NamedTuple):
    k: float
    v: Any = 0.5

    def total(self):
        return 0.4 * self.k + 0.2 * self.v


# ---- callees that write --------------------------------------------------------------------------


def shrink(a, k):
    a *= np.tanh(k) * 0.5


def add_into(a, b):
    np.add(0.6 * a, 0.4 * b, out=a)
    return a


def write_and_view(a, k):
    a[0] = k
    return a[1:3]


def ends_swapped(a):
    first = a[0]
    a[0] = a[-1]
    a[-1] = 0.9 * first
    return a[::-1]


def fill_rows(m, v):
    for row in m:
        row[...] = 0.5 * row + 0.4 * v
    return m[1]


def either(flag, a, b):
    return a if flag else b


def settled(a, *, steps=2):
    buffer = np.empty_like(a)
    for _ in range(steps):
        np.multiply(a, 0.5, out=buffer)
        buffer[1:] += 0.3 * a[:-1]
        a[:] = buffer
    return buffer


def collect(items, a):
    items.append(a)
    items[0] = 0.9 * items[0]
    return items


def rotate(values, z):
    first = values.pop(0)
    values.append(0.6 * first + 0.3 * z)
    return first


def or_else(value, other):
    if value is None:
        return other
    return 0.6 * value


def apply(f, *args, **kwargs):
    return f(*args, **kwargs)


def windows(values, n=2):
    kept = deque(maxlen=n)
    for value in values:
        kept.append(value)
        if len(kept) == n:
            yield 0.5 * sum(kept)


# ---- arguments and results -----------------------------------------------------------------------


def arguments(names: str, seed: int) -> tuple[Any, ...]:
    """New arguments under the names that the programs use; some share memory for some seeds."""
    rng = random.Random(seed)
    drawn: set[float] = set()

    def number() -> float:  # of equal numbers sets keep one, and the least has no derivative
        value = round(rng.uniform(-1.3, 1.3), 3)
        near = {value, round(0.5 * value, 4), round(2 * value, 4)}
        if drawn & near or value == round(value, 1):  # the programs write such numbers themselves
            return number()
        drawn.update(near)
        return value

    def array(*shape: int) -> np.ndarray:
        return np.array([number() for _ in range(math.prod(shape))]).reshape(shape)

    def numbers() -> list[float]:
        return [number() for _ in range(3)]

    x, y = array(4), array(4)
    made: dict[str, Callable[[], Any]] = {
        "x": lambda: x,
        "y": lambda: x if seed % 11 == 5 else y,
        "xs": numbers,
        "m": lambda: array(3, 4),
        "items": lambda: [x if seed % 5 == 2 else array(4), y if seed % 7 == 3 else array(4)],
        "named": lambda: {"a": array(4), "b": y if seed % 3 == 1 else array(4), "c": array(4)},
        "table": lambda: {"a": number(), "b": number(), "c": number()},
        "thing": lambda: Thing(number(), x if seed % 6 == 4 else array(4)),
        "rows": lambda: [numbers()] * 2 if seed % 9 == 4 else [numbers(), numbers()],
        "book": lambda: {"a": numbers(), "b": numbers(), "c": numbers()},
        "couple": lambda: Couple(number(), array(4)),
        "rec": lambda: Record(number(), number(), numbers()),
    }
    return tuple(made.get(name, number)() for name in names.split())


def digest(*values):
    """A number that depends on everything in `values`, smoothly."""
    total = 0.0
    for place, value in enumerate(values):
        total = total + (1.0 - 0.3 * place / len(values)) * gist(value)
    return total


def gist(value):
    if isinstance(value, float | np.floating):
        return math.sin(value)
    if isinstance(value, np.ndarray):
        return float(np.sum(np.sin(value) * WEIGHTS[value.shape]))
    if isinstance(value, list | tuple | deque):
        return weighted(value)
    if isinstance(value, dict):
        return weighted(value.values())
    if isinstance(value, set):
        return sum(value)
    if isinstance(value, Slotted | Frozen):
        return gist(value.k) - 0.5 * gist(value.v)
    if isinstance(value, Thing | Record):
        return weighted(vars(value).values())
    return 0.0


def weighted(values):
    total, weight = 0.0, 1.0
    for value in values:
        total += weight * (value if type(value) is float else gist(value))
        weight *= 0.8
    return total


def check(program, args) -> None:
    """What a generated module does when it is run."""
    from tests.support import Sample, check_sample

    check_sample(Sample(program, args))
