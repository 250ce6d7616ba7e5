"""Keys whose hash or comparison stores something: only what it keeps in its own object, once, is no
obstacle. Everything else is right or refused."""

import functools

import numpy as np
import pytest

import adjoint as ad
from adjoint.errors import AdjointError

SEEN = []
TOTALS = {"sum": 0.0}


class Key:
    total = 0.0

    def __init__(self, x):
        self.x, self.kept, self.count = x, 0.0, 0
        self.buffer, self.helper = np.zeros(2), None
        self.other = None

    def __eq__(self, other):
        return self is other


class KeepsANumber(Key):
    def __hash__(self):
        self.kept = self.x
        return 1


class KeepsTheVeryNumber(Key):
    def __init__(self, x):
        super().__init__(x)
        self.kept = x

    def __hash__(self):
        self.kept = self.kept
        return 1


class Counts(Key):
    def __hash__(self):
        self.count += 1
        return 1


class CallsWhatStores(Key):
    def __hash__(self):
        keep(self)
        return 1


class CallsAMethodThatStores(Key):
    def __hash__(self):
        self.keep()
        return 1

    def keep(self):
        self.other.kept = self.x


class CallsWhatStandsInIt(Key):
    def __hash__(self):
        self.helper()
        return 1

    def helper(self):  # hidden by the attribute
        return None


class RebindsItself(Key):
    def __hash__(self):
        self = self.other or self
        self.kept = self.x
        return 1


class StoresByBranch(Key):
    def __hash__(self):
        (self.other if self.other is not None else self).kept = self.x
        return 1


class StoresThroughAProperty(Key):
    def __hash__(self):
        self.shown = self.x
        return 1

    @property
    def shown(self):
        return self.kept

    @shown.setter
    def shown(self, value):
        Key.total = value


class StoresByItsClass(Key):
    def __hash__(self):
        self.kept = 1
        return 1

    def __setattr__(self, name, value):
        if name == "kept" and "x" in self.__dict__ and value == 1:
            TOTALS["sum"] = self.x
        object.__setattr__(self, name, value)


class WritesIntoAnArray(Key):
    def __hash__(self):
        np.copyto(self.buffer, self.x)
        return 1


class WritesByAFunctionOfNumPy(Key):
    def __hash__(self):
        np.put_along_axis(self.buffer, np.array([0]), self.x, 0)
        return 1


class MakesWhatStores(Key):
    def __hash__(self):
        Storing(self)
        return 1


class Storing:
    def __init__(self, key):
        SEEN.append(key.x)


class Meta(type):
    def __call__(cls, key):
        SEEN.append(key.x)
        return 0


class StoresByMetaclass(Key):
    def __hash__(self):
        return Made(self)


class Made(metaclass=Meta):
    pass


class KeepsByACachedProperty(Key):
    @functools.cached_property
    def found(self):
        SEEN.append(self.x)
        return 1

    def __hash__(self):
        return self.found


def keep(key):
    SEEN.append(key.x * 2.0)


KINDS = [
    kind
    for kind in list(globals().values())
    if isinstance(kind, type) and issubclass(kind, Key) and kind is not Key
]


def outcome(kind, used, x):
    """What is computed with what such keys store."""
    SEEN.clear()
    TOTALS["sum"], Key.total = 0.0, 0.0
    key, other = kind(x * x), Key(x)
    key.other = other
    key.helper = lambda: SEEN.append(key.x * 3.0)
    table = {}
    used(table, key, x)
    stored = key.kept + other.kept + Key.total + TOTALS["sum"] + sum(SEEN) + key.buffer.sum()
    return x * stored + sum(table.values()) * x


def written(table, key, x):
    table[key] = x * x


def asked(table, key, x):
    table[0] = x if key in table else x * x * x


def displayed(table, key, x):
    table.update({key: x})


def in_a_set(table, key, x):
    found = {1.0, 2.0}
    found.add(key)
    table[0] = x * len(found)


def hashed(table, key, x):
    table[hash(key)] = x


@pytest.mark.parametrize("used", [written, asked, displayed, in_a_set, hashed])
@pytest.mark.parametrize("kind", KINDS)
def test_right_or_refused(kind, used):
    def f(x):
        return outcome(kind, used, x)

    h = 1e-5
    expected = (f(0.7 + h) - f(0.7 - h)) / (2.0 * h)
    derivatives = [
        lambda: ad.grad(f)(0.7),
        lambda: ad.pushforward(f, (0.7,), (1.0,))[1],
        lambda: ad.gradient(lambda x: ad.withgradient(f, x).value, 0.7)[0],
    ]
    found = []
    for derive in derivatives:
        try:
            found.append(derive())
        except AdjointError:
            continue
    for one in found:
        assert one == pytest.approx(expected, rel=1e-6)
    if kind is KeepsANumber and used is hashed:
        assert len(found) == len(derivatives)  # the hash is code of the function's own there


class WritesIntoTheTable(Key):
    table = None

    def __hash__(self):
        if WritesIntoTheTable.table is not None and self.count == 0:
            self.count = 1
            WritesIntoTheTable.table["found"] = self.x
        return 1


@pytest.mark.parametrize("derive", [ad.grad, ad.derivative])
def test_what_a_hash_writes_into_the_very_dict_is_no_part_of_the_entry(derive):
    def f(x):
        table = WritesIntoTheTable.table = {"found": 0.0}
        table[WritesIntoTheTable(x * x)] = x
        WritesIntoTheTable.table = None
        return table["found"] * x

    assert f(2.0) == 8.0
    with pytest.raises(AdjointError):
        derive(f)(2.0)
