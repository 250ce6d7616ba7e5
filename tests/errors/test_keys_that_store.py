"""Keys whose hash or comparison may store something are refused."""

import functools
import math

import numpy as np
import pytest

import adjoint as ad
from adjoint.errors import AdjointError
from adjoint.runtime.foreign.may_store import hands_out

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


def test_what_a_hash_writes_into_the_very_dict_is_no_part_of_the_entry():
    def f(x):
        table = WritesIntoTheTable.table = {"found": 0.0}
        table[WritesIntoTheTable(x * x)] = x
        WritesIntoTheTable.table = None
        return table["found"] * x

    assert f(2.0) == 8.0
    for derivative in (ad.grad(f), ad.derivative(f)):
        with pytest.raises(AdjointError):
            derivative(2.0)


# ---- what special methods enter without a word ---------------------------------------------------


class Silent:
    """Its hash is that of something else, which stores what it sees."""

    size = None

    def __init__(self, x):
        self.x, self.seen, self.work = x, [], np.zeros(1)
        self.log = self.seen.append  # named as a function of `math` is

    def __eq__(self, other):
        return self is other

    def note(self):
        if self.size is None:
            self.size = self.x * 2.0
        return 1


class ByText(Silent):
    def __str__(self):
        self.note()
        return "text"

    def __hash__(self):
        return hash(str(self))


class ByFormat(Silent):
    def __format__(self, how):
        self.note()
        return "text"

    def __hash__(self):
        return hash(f"{self}")


class ByLength(Silent):
    def __len__(self):
        return self.note()

    def __hash__(self):
        return len(self)


class ByTruth(Silent):
    def __bool__(self):
        return self.note() == 1

    def __hash__(self):
        return 1 if self else 2


class ByNegation(Silent):
    def __neg__(self):
        return self.note()

    def __hash__(self):
        return hash(-self)


class ByItem(Silent):
    def __getitem__(self, i):
        return self.note()

    def __hash__(self):
        return hash(self[0])


class ByIteration(Silent):
    def __iter__(self):
        yield self.note()

    def __hash__(self):
        return hash(tuple(self))


class ByJoining(Silent):
    comma = ","

    def __iter__(self):
        yield str(self.note())

    def __hash__(self):
        return hash(isinstance(self, Silent) and self.comma.join(self))


class ByAMethodOfAKnownName(Silent):
    def copy(self):
        return self.note()

    def __hash__(self):
        return hash(self.copy())


class ByAnAttributeOfAKnownName(Silent):
    def __hash__(self):
        return 1 if self.seen else len((self.log(self.x * 2.0),))


class ByAGenerator(Silent):
    def __hash__(self):
        return 1 if self.seen else len([*(self.seen.append(x * 2.0) for x in (self.x,))])


class ByAKey(Silent):
    def keep(self, x):
        self.seen.append(x * 2.0)
        return x

    def __hash__(self):
        return 1 if self.seen else int(min((self.x,), key=self.keep) > 0.0)


class ByMapping(Silent):
    def __hash__(self):
        return 1 if self.seen else len([*map(self.seen.append, (self.x,))])


class ByAnOutput(Silent):
    def __hash__(self):
        np.sqrt(self.x, self.work)
        return 5


class BySuper(Silent):
    def __hash__(self):
        if self.size is None:
            super().__setattr__("size", self.x)
        return 1


SILENT = [
    kind
    for kind in list(globals().values())
    if isinstance(kind, type) and issubclass(kind, Silent) and kind is not Silent
]


@pytest.mark.parametrize("kind", SILENT)
def test_what_a_hash_enters_is_looked_at(kind):
    def f(x):
        key = kind(x * x)
        table = {key: x}
        stored = (key.size or 0.0) + sum(key.seen) + key.work.sum()
        return table[key] * stored

    h = 1e-5
    expected = (f(0.7 + h) - f(0.7 - h)) / (2.0 * h)
    for derive in (
        ad.grad,
        ad.derivative,
        lambda f: ad.grad(lambda x: ad.withgradient(f, x).value),
    ):
        try:
            found = derive(f)(0.7)
        except AdjointError:
            continue
        assert found == pytest.approx(expected, rel=1e-6)


def test_what_del_enters_is_refused():
    class Going(ByText):
        def __del__(self):
            self.seen.append(str(self))

    with pytest.raises(AdjointError, match="may change something"):
        ad.gradient(lambda x: Going(x).x * x, 2.0)


# ---- keys that are made by what C calls ----------------------------------------------------------


class Unit:
    place = 0

    def __init__(self, place):
        self.place = place

    def __hash__(self):
        return hash(self.place)

    def __eq__(self, other):
        return self.place == other.place


def test_keys_that_keep_their_hash_are_refused():
    def f(x):
        units = {Kept(0, x)}
        return sum(key.x for key in units.intersection([Kept(0, x), Kept(0, x), Kept(1, x)]))

    class Kept:
        def __init__(self, name, x):
            self.name, self.x, self.kept = name, x, None

        def __hash__(self):
            if self.kept is None:
                self.number = float(self.x)
                self.kept = hash(self.name)
            return self.kept

        def __eq__(self, other):
            return self.name == other.name

    for derivative in (ad.grad(f), ad.derivative(f)):
        with pytest.raises(AdjointError, match="'.*__hash__' may store something"):
            derivative(1.3)


def test_sets_beside_views():
    def f(x):
        units = {Unit(0): x, Unit(1): x * x}
        left = {Unit(1), Unit(2)} - units.keys()
        left |= {Unit(5)}
        left &= {Unit(5): 1.0, Unit(2): 2.0}.keys()
        return x * len(left) * units.keys().isdisjoint({Unit(7)})

    assert (ad.grad(f)(1.3), ad.derivative(f)(1.3)) == (2.0, 2.0)


def test_an_empty_dict_does_not_ask():
    def f(x):
        try:
            return {}.pop([], x)
        except TypeError:
            return x * x

    assert (f(3.0), ad.grad(f)(3.0), ad.derivative(f)(3.0)) == (3.0, 1.0, 1.0)


def test_what_is_handed_out():
    """Only attributes and classes are asked for without a special method."""
    plain = [
        lambda self, other: isinstance(other, Key) and self.x == other.x,
        lambda self, other: self.__class__ is other.__class__ and self.x < other.x,
        lambda self, other: hash((type(self), self.x)),
    ]
    others = [
        lambda self, other: isinstance(other, Key) and self.x.join(other),
        lambda self, other: type(self) is type(other) and self == other,
        lambda self, other: str(self),
        lambda self, other: self,
        lambda self, other: -self,
        lambda self, other: 1 if self else 0,
        lambda self, other: [one for one in self],
        lambda self, other: math.hypot(self, other.x),
    ]
    assert [hands_out(f.__code__) for f in plain] == [False] * len(plain)
    assert [hands_out(f.__code__) for f in others] == [True] * len(others)


# ---- dicts that are keys -------------------------------------------------------------------------


class KeepsItsSum(dict):
    total = None

    def __hash__(self):
        if self.total is None:
            self.total = sum(self.values())
        return 1


class CountsEachTime(dict):
    count = 0

    def __hash__(self):
        self.count += 1
        return 1


def _filled(key):
    d = {}
    d[key] = 1


USES = (
    _filled,
    lambda key: set().add(key),
    lambda key: dict.fromkeys([key], 1),
    lambda key: {}.update([(key, 1)]),
    lambda key: {}.get(key),
)


@pytest.mark.parametrize("use", USES)
def test_dicts_as_keys(use):
    def kept(x):
        key = KeepsItsSum(a=x)
        use(key)
        return key.total

    def counted(x):
        key = CountsEachTime()
        use(key)
        return key.count * x

    for f in (kept, counted):
        for derivative in (ad.gradient, lambda f, x: ad.pushforward(f, (x,), (1.0,))):
            with pytest.raises(AdjointError):
                derivative(f, 1.7)


class AddsTo(dict):
    def __radd__(self, other):
        self["x"] = 2.0
        return []


class Named(Key):
    def __init__(self, name):
        self.name = name

    def __hash__(self):
        return hash(name_of(self))


def name_of(key):
    return key.name


def test_dicts_are_not_added_to_lists():
    given = AddsTo({Named("m"): 1})
    assert ad.withgradient(lambda x: x * len(AddsTo(given)), 3.0) == (3.0, (1.0,))
    assert len(given) == 1


def test_what_was_stored_before_an_error():
    """Code that is not differentiated has raised, and what it has stored is unknown all the
    same."""

    def f(x):
        held = [2.0]

        class Raises:
            def __hash__(self):
                held[0] = x * x
                raise KeyError(1)

        try:
            {Raises(): 1}
        except KeyError:
            pass
        return held[0] * x

    for derivative in (ad.gradient, lambda f, x: ad.pushforward(f, (x,), (1.0,))):
        with pytest.raises(AdjointError, match="may store something"):
            derivative(f, 1.7)


def test_functions_of_a_factory_are_not_vouched_for():
    def make(factor):
        box = []

        def keep(v):
            box.append(v * factor)
            return 0

        keep.box = box
        return keep

    ad.non_differentiable(make(1.0))

    def f(x):
        own = make(3.0)

        class Lazy(Key):
            found = None

            def __hash__(self):
                if self.found is None:
                    self.found = own(x)
                return self.found

        {Lazy(x): 1}
        return own.box[0] * x

    for derivative in (ad.gradient, lambda f, x: ad.pushforward(f, (x,), (1.0,))):
        with pytest.raises(AdjointError):
            derivative(f, 1.7)
