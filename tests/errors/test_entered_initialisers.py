"""Objects that entered code makes: their initialisers may fill them, and nothing else."""

import dataclasses

import numpy as np
import pytest

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
