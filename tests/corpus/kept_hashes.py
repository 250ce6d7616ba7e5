"""Keys and elements whose ``__hash__`` keeps its result in the object."""

import collections
import functools

from tests.corpus.registry import case, refused


class Unit:
    def __init__(self, name, size=1.0):
        self.name, self.size = name, size
        self._hash = None

    def __hash__(self):
        if self._hash is None:
            self._hash = hash((type(self), self.name))
        return self._hash

    def __eq__(self, other):
        return self is other or (isinstance(other, Unit) and self.is_named(other.name))

    def is_named(self, name):
        return self.name == name


class Derived(Unit):
    """Keeps a second thing, and asks its base."""

    def __hash__(self):
        self.asked = self.name
        return super().__hash__()

    __eq__ = Unit.__eq__


class Cached:
    def __init__(self, name):
        self.name = name

    @functools.cached_property
    def _hash(self):
        return hash(self.name)

    def __hash__(self):
        return self._hash

    def __eq__(self, other):
        return same_name(self, other)


def same_name(a, b):
    return a.name == b.name


UNITS = [Unit("m"), Unit("s"), Derived("kg"), Cached("K")]


@refused(0.7)
def entries_under_kept_hashes(x):
    found = {}
    for i, unit in enumerate(UNITS * 3):
        if unit in found:
            found[unit] = found[unit] * x + i
        else:
            found[unit] = x
    return sum(found.values())


@case(0.7, 1.3)
def entries_under_equal_keys(x, y):
    found = {Unit("m"): x}
    found[Unit("m")] = x * y
    found[Unit("s")] = y
    total = found[Unit("m")] + found.get(Unit("s"), 0.0) * x
    found.setdefault(Unit("kg"), y * y)
    found.update({Unit("s"): x * x, Unit("K"): 2.0 * x})
    total += found.pop(Unit("K")) * y
    del found[Unit("m")]
    return total + sum(found.values())


@case(0.7)
def elements_with_kept_hashes(x):
    first = Unit("m", x * x)
    units = {first, Unit("s", x)}
    units.add(Unit("m", 5.0))
    units.discard(Unit("s"))
    units ^= {Unit("kg", 3.0 * x)}
    return sum(unit.size for unit in units)


@case(0.7)
def elements_that_equal_ones_remove(x):
    units = {Unit(str(i), x * i) for i in range(6)}
    units.remove(Unit("1"))
    units -= {Unit("2"), Unit("9")}
    units ^= {Unit("3"), Unit("7", x * x)}
    units &= {Unit("0"), Unit("4"), Unit("7")}
    return sum(unit.size for unit in units)


@refused(0.7, 1.3)
def other_kinds_of_dicts(x, y):
    counts = collections.Counter()
    ordered = collections.OrderedDict()
    grouped = collections.defaultdict(list)
    for value, unit in ((x, UNITS[0]), (y, Unit("m")), (x * y, Cached("m"))):
        counts[unit] += value
        ordered[unit] = value * y
        grouped[unit].append(value)
    ordered.move_to_end(Unit("m"))
    *_, last = ordered.values()
    return counts[Unit("m")] + last + sum(len(group) * group[0] for group in grouped.values())


@case({"a": 2.0, "b": 0.5})
def units_made_of_the_argument(sizes):
    units = {Unit(name): Unit(name, size) for name, size in sizes.items()}
    return units[Unit("a")].size ** 2 * units[Unit("b")].size
