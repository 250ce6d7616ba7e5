"""What entered functions may do: compute, and fill the objects that they make."""

import collections
import dataclasses
import datetime
import decimal
import fractions
import functools
import logging
import math
import operator
import sys
from datetime import timedelta
from math import sqrt

import numpy as np
import pytest
from numpy import clip as np_clip
from numpy import dot, exp
from rich.logging import RichHandler

import adjoint as ad
from adjoint.errors import AdjointError, MutationError


class Base:
    def __init__(self, a):
        self.a = a


class Derived(Base):
    def __init__(self, a, b):
        super().__init__(a)
        self.b = b


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self, a, b):
        self.a, self.b = a, b


@dataclasses.dataclass
class Checked:
    a: float
    b: float

    def __post_init__(self):
        self.b = float(self.b)


@dataclasses.dataclass(frozen=True)
class Frozen:
    a: float
    b: float


class Wrong(Exception):
    def __init__(self, a, b):
        super().__init__(a)
        self.a, self.b = a, b


def differentiated(f, x=1.5):
    """The derivative of `f` in each mode, which must agree."""
    found = ad.gradient(f, x)[0]
    assert ad.pushforward(f, (x,), (1.0,))[1] == pytest.approx(found)
    assert ad.grad(f, tier="generic")(x) == pytest.approx(found)
    return found


@pytest.mark.parametrize("kind", [Derived, Slotted, Checked, Frozen, Wrong])
def test_an_initialiser_may_fill_a_new_object(kind):
    class Key:
        def __hash__(self):
            return int(kind(7.0, 2.0).b)

    def f(x):
        return {Key(): x}.popitem()[1] * x

    assert differentiated(f) == pytest.approx(3.0)


Point = collections.namedtuple("Point", "a b")

COMPUTING = {
    "functions of math": lambda v: sqrt(v) + math.floor(v),
    "functions of NumPy": lambda v: exp(v) + dot(v, v) + np.clip(v, 0.0, 1.0),
    "builtins": lambda v: max(v, 1.0) + sum((v, v), 1.0) + round(v, 1),
    "durations": lambda v: timedelta(v) / datetime.timedelta(1),
    "exact numbers": lambda v: fractions.Fraction(3) / 2 + int(decimal.Decimal(3)),
    "a named tuple": lambda v: Point(v, v).b,
    "a dict": lambda v: len(collections.OrderedDict(a=v)),
    "a reduction": lambda v: functools.reduce(operator.mul, (v, v)),
}


@pytest.mark.parametrize("name", COMPUTING)
def test_what_only_computes_is_entered(name):
    compute = COMPUTING[name]

    class Key:
        def __hash__(self):
            return int(compute(2.0))

    def f(x):
        return {Key(): x}.popitem()[1] * x

    assert differentiated(f) == pytest.approx(3.0)


ONE, HERE, LISTED = np.ones(1), np.zeros(1), []
iadd = operator.iadd

WRITING = {
    "an output of a ufunc": lambda v: exp(ONE, HERE),
    "an output of a function": lambda v: dot(ONE, ONE, HERE),
    "an output under another name": lambda v: np_clip(ONE, ONE, ONE, HERE),
    "an operator in place": lambda v: iadd(LISTED, [v]),
    "a method by name": lambda v: operator.methodcaller("append", v)(LISTED),
}


@pytest.mark.parametrize("name", WRITING)
def test_what_writes_is_refused(name):
    write = WRITING[name]

    class Key:
        def __hash__(self):
            write(2.0)
            return 1

    with pytest.raises(MutationError, match="<lambda>' may store something"):
        ad.gradient(lambda x: {Key(): x}.popitem()[1] * x, 1.5)


@pytest.mark.parametrize("handler", [RichHandler, logging.StreamHandler, None])
def test_messages_to_handlers_of_known_packages(handler, caplog):
    log = logging.getLogger("adjoint.entered")
    if handler is not None:
        log.addHandler(handler())

    def f(x):
        log.warning("%s %s", 1, [2.0])
        logging.warning("%d", 1)
        return x * x

    try:
        assert differentiated(f) == pytest.approx(3.0)
    finally:
        log.handlers.clear()
    assert "1 [2.0]" in caplog.text


def test_output_of_a_shell():
    """`IPython` replaces the standard output by objects of its own."""
    capture = pytest.importorskip("IPython.utils.capture")

    def f(x):
        print("text", file=sys.stdout)
        logging.getLogger("adjoint.shell").warning("%s", 1)
        return x * x

    with capture.capture_output() as captured:
        assert differentiated(f) == pytest.approx(3.0)
    assert "text" in captured.stdout


class Single:
    made = None

    def __new__(cls, *_):
        cls.made = cls.made or object.__new__(cls)
        return cls.made

    def __init__(self, value):
        self.value = value


class Reset:
    def __init__(self, value):
        self.value = value


class OfAnother:
    def __init__(self, other, value):
        other.value = value


class Rebound:
    def __init__(self, other, value):
        self = other
        self.value = value


class Shared:
    def __init__(self, other, value):
        self.others = other
        other.__init__(value)


class Within:
    def __init__(self, other, value):
        self.other = other
        self.other.value = value


class SlottedReset:
    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value


HELD = Reset(0.0)
SLOTTED = SlottedReset(0.0)


@pytest.mark.parametrize(
    "held, store",
    [
        (Single(0.0), lambda x: Single(x)),
        (HELD, lambda x: HELD.__init__(x)),
        (HELD, lambda x: Reset.__init__(HELD, x)),
        (SLOTTED, lambda x: SLOTTED.__init__(x)),
        (HELD, lambda x: OfAnother(HELD, x)),
        (HELD, lambda x: Rebound(HELD, x)),
        (HELD, lambda x: Shared(HELD, x)),
        (HELD, lambda x: Within(HELD, x)),
    ],
)
def test_an_initialiser_that_changes_another_object_is_refused(held, store):
    class Key:
        def __init__(self, x):
            self.x = x

        def __hash__(self):
            store(self.x)
            return 1

    def f(x):
        held.value = 0.0
        {Key(x): 1}
        return held.value * x

    assert f(2.0) == 4.0
    for run in (
        lambda: ad.gradient(f, 2.0),
        lambda: ad.pushforward(f, (2.0,), (1.0,)),
        lambda: ad.grad(f, tier="generic")(2.0),
    ):
        with pytest.raises(MutationError, match="may store something"):
            run()


class Node:
    def __init__(self, value):
        self.value, self.seen = value, [value]

    def touch(self, other):
        self.seen.append(other)


def test_a_method_that_changes_its_object_is_refused():
    class Busy:
        def __hash__(self):
            first = Node(0.0)
            for i in range(3):
                Node(float(i)).touch(first)
            return 7

    with pytest.raises(MutationError, match="may store something"):
        ad.gradient(lambda x: {Busy(): x}.popitem()[1] * x, 2.0)


class Pair:
    def __init__(self, a, b):
        self.a, self.b = a, b

    def __add__(self, other):
        return Pair(self.a + other.a, self.b * other.b)


def test_new_objects_of_ufuncs_are_right_or_refused():
    def f(x):
        pairs = np.array([Pair(x, 1.0), Pair(x * x, 2.0)], dtype=object)
        return np.add.reduce(pairs).a

    try:
        assert ad.gradient(f, 1.5)[0] == pytest.approx(4.0)
    except AdjointError as error:
        assert "derivative" in error.problem
