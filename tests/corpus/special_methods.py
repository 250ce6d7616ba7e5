"""Special methods that are not plain functions, and operands that they store."""

import copy
import functools
import math
import operator
from collections import OrderedDict, UserList

import numpy as np

from tests.corpus.registry import case


class Bound:
    """A descriptor with its own way of binding."""

    def __init__(self, f):
        self.f = f

    def __get__(self, obj, kind):
        return functools.partial(self.f, obj)


class Times:
    """A callable object, which no instance is bound to."""

    def __init__(self, factor):
        self.factor = factor

    def __call__(self, *operands):
        return sum(operands) * self.factor


def made_by(wrap, x):
    """A class all of whose special methods `wrap` has made of functions."""

    def noting(self, *_):
        self.log.append(self.value)
        return 1

    def returning(self, *rest):
        return self.value * (rest[0] if rest else x)

    def storing(self, *rest):
        self.value = self.value * rest[-1]

    def found(self, name):
        if name != "missing":
            raise AttributeError(name)
        return self.value * x

    class Made:
        def __init__(self, value):
            self.value, self.log = value, []

        def __exit__(self, *error):
            return None

        __hash__ = object.__hash__
        __getitem__ = __add__ = __radd__ = __matmul__ = __rmul__ = __pow__ = wrap(returning)
        __neg__ = __abs__ = __invert__ = __float__ = __floor__ = wrap(returning)
        __call__ = __enter__ = __next__ = __round__ = wrap(returning)
        __setitem__ = __delitem__ = wrap(storing)
        __len__ = __index__ = __contains__ = wrap(noting)
        __bool__ = wrap(lambda self: self.log.append(self.value) is None)
        __complex__ = wrap(lambda self: complex(self.value * x))
        __iter__ = __reversed__ = wrap(lambda self: iter([self.value, x]))
        __getattr__ = wrap(found)
        __array__ = wrap(lambda self, *_, **__: np.array([self.value, x]))
        __format__ = wrap(lambda self, text: self.log.append(x) or "")

    return Made


def used(m, x):
    total = m[x] + (m + x) + (x + m) + m @ x + x * m + m**x
    total += -m + abs(m) + ~m + float(m) + math.floor(m) + m(x) + next(m) + round(m, 2)
    total += complex(m).real + sum(m) + sum(reversed(m)) + m.missing + np.sum(m)
    m[0] = x
    del m[1.5]
    with m as entered:
        total += entered
    counts = [len(m), bool(m), operator.index(m), x in m, f"{m}", [x, x * x][m]]
    total += counts[-1]
    return total + sum(m.log) * m.value


@case(1.5)
def methods_with_arguments_filled_in(x):
    return used(made_by(functools.partialmethod, x)(x * x), x)


@case(1.5)
def methods_that_are_bound_by_descriptors(x):
    return used(made_by(Bound, x)(x * x), x)


@case(1.5)
def methods_that_are_cached(x):
    class Cached:
        def __init__(self, value):
            self.value = value

        __call__ = functools.cache(lambda self, v: self.value * v)
        __getitem__ = functools.lru_cache(None)(lambda self, i: self.value * i)
        __neg__ = functools.cache(lambda self: self.value * x)
        __getattr__ = functools.cache(lambda self, name: self.value * len(name))
        __iter__ = functools.cache(lambda self: [self.value, x].__iter__())

    m = Cached(x * x)
    return m(x) * m(x) * m[2.0] + -m * m.missing + sum(m)


@case(1.5)
def methods_without_object(x):
    class Free:
        __call__ = Times(x)
        __getitem__ = Times(2.0)
        __add__ = Times(x)
        __neg__ = staticmethod(lambda: x * 3)
        __float__ = staticmethod(functools.partial(lambda v: v * 5, x))

    m = Free()
    return m(x, x) * m[x] * (m + x) + -m * float(m)


class Noting:
    def __init__(self):
        self.log = []

    def __contains__(self, value):
        self.log.append(value * 2)
        return True

    def __instancecheck__(self, value):
        self.log.append(value * 3)
        return True

    def __eq__(self, other):
        self.log.append(other * 5)
        return True

    __hash__ = None


@case(1.5)
def questions_that_store_what_is_asked(x):
    noting = Noting()
    if x in noting and x * x not in [1.0] and isinstance(x * 7, noting):
        noting.log.append(x in [2.0, noting])
    return sum(noting.log) * x


@case(1.5)
def rounded_by_its_class(x):
    class Measured:
        def __init__(self, value):
            self.value = value

        def __floor__(self):
            return self.value * 2

        def __ceil__(self):
            return self.value * 3

        def __trunc__(self):
            return self.value * 5

        def __round__(self, digits=0):
            return self.value * (digits + 7)

    m = Measured(x * x)
    return math.floor(m) * math.ceil(m) + math.trunc(m) * round(m) + round(m, 2)


class Called:
    """A callable object around a function."""

    def __init__(self, f):
        self.f = f

    def __call__(self, *args, **kwargs):
        return self.f(*args, **kwargs)


@case(1.5)
def making_that_is_not_a_function(x):
    def make(factor, cls, value):
        made = object.__new__(cls)
        made.value = factor * value
        return made

    class ByPartial:
        __init__ = functools.partialmethod(lambda self, k, v: setattr(self, "value", k * v), x)

    class ByDescriptor:
        __init__ = Bound(lambda self, v: setattr(self, "value", v * x))

    class ByNew:
        __new__ = staticmethod(functools.partial(make, x))

    return ByPartial(2.0).value * ByDescriptor(x).value * ByNew(x).value


@case(1.5)
def attributes_by_what_is_not_a_function(x):
    log = []

    class Writing:
        __setattr__ = Bound(lambda self, name, v: object.__setattr__(self, name, v * x))
        __delattr__ = Bound(lambda self, name: log.append(getattr(self, name)))

    class Reading:
        __getattribute__ = Bound(lambda self, name: x * len(name))

    writing = Writing()
    writing.value = x
    setattr(writing, "other", writing.value)
    del writing.value
    return writing.other * sum(log) * Reading().abc * Reading().z


@case(1.5)
def properties_of_callables(x):
    class Model:
        def __init__(self, value):
            self.value = value

        plain = property(operator.attrgetter("value"))
        scaled = property(
            functools.partial(lambda k, self: self.value * k, x),
            Called(lambda self, value: setattr(self, "value", value * value)),
        )
        tripled = property(
            Called(lambda self: self.value * 3),
            None,
            Called(lambda self: setattr(self, "value", x)),
        )
        cached = functools.cached_property(Called(lambda self: self.value * x))

    m = Model(x)
    total = m.plain * m.scaled * m.tripled
    m.scaled = x
    total += m.plain * m.cached
    del m.tripled
    return total * m.plain * m.scaled * m.cached


@case(1.5)
def callables_in_a_class(x):
    class Model:
        static = staticmethod(functools.partial(operator.mul, x))
        called = staticmethod(Called(lambda v: v * x))
        plain = Called(lambda v: v * x)

    m = Model()
    return Model.static(2.0) * m.called(x) * m.plain(x) * Model.plain(2.0)


@case(1.5)
def methods_of_metaclasses(x):
    class Meta(type):
        __call__ = functools.partialmethod(lambda cls, factor, v: factor * v, x)
        __getitem__ = Bound(lambda cls, i: i * x)
        __add__ = Bound(lambda cls, other: other * x)
        __iter__ = Bound(lambda cls: iter([x, 2.0]))
        __len__ = Bound(lambda cls: 3)
        __contains__ = Bound(lambda cls, value: True)
        __getattr__ = Bound(lambda cls, name: x * len(name))

    class Made(metaclass=Meta):
        pass

    return Made(x) * Made[2.0] + (Made + x) * sum(Made) * len(Made) * (x in Made) * Made.missing


class Money:
    def __init__(self, amount):
        self.amount = amount

    def __float__(self):
        return float(self.amount)

    def __mul__(self, other):
        return Money(self.amount * float(other))

    __rmul__ = __mul__

    def __add__(self, other):
        return Money(self.amount + float(other))

    __radd__ = __add__


class Point(Money):
    """A number, and coordinates."""

    def __iter__(self):
        return iter([self.amount, self.amount * self.amount])


@case(1.3)
def products_of_objects(x):
    total = (
        math.prod([Money(x), Money(x * x)]) + math.prod(Point(x)) + math.prod([x], start=Point(x))
    )
    if hasattr(math, "sumprod"):  # new in Python 3.12
        total = total + math.sumprod([Money(x), 2.0], iter([Money(x), x]))
    else:
        total = total + x * x + 2.0 * x
    return float(total)


@case(1.3)
def distances_of_iterables(x):
    return math.dist(Point(x), iter([2.0, x])) + math.dist([Money(x), 1.0], (Point(2 * x), x))


class Readings:
    """A sequence, of which NumPy makes an array."""

    def __init__(self, *values):
        self.values = values
        self.asked = 0

    def __len__(self):
        return len(self.values)

    def __getitem__(self, index):
        self.asked += 1
        return self.values[index]


class TwiceRead(Readings):
    def __iter__(self):
        return iter([2 * value for value in self.values])


@case(1.3)
def sequences_as_arrays(x):
    row, twice, rows = Readings(x, x * x), TwiceRead(x, 1.0), UserList([UserList([x, 1.0])] * 2)
    total = (
        np.sum(row) + np.mean(UserList([x, 2.0])) + np.sum(twice) * x + np.sum(rows) + np.max(row)
    )
    total = (
        total + np.dot(row, [1.0, 2.0]) + np.sin(row)[1] + np.array(row)[0] * np.asarray(rows)[1, 0]
    )
    array = np.zeros(2)
    array[:] = row
    array += np.ones(2) * UserList([x, x * x]) - row
    total = total + np.concatenate([row, [x]]).sum() + np.interp(x, Readings(0.0, 2.0), row)
    return total + array.sum() + np.array([row, twice]).sum() + np.where([True, False], row, 0.0)[0]


@case(1.3)
def sequences_of_arrays(x):
    parts = Readings(np.ones(2) * x, np.ones(1) * x * x)
    copied = copy.copy(parts)
    return np.concatenate(parts).sum() * copied[1][0] + np.linalg.norm(UserList([x, x * x]))


class Length:
    """Says what numbers on its left do with it."""

    def __init__(self, value):
        self.value = value
        self.seen = []

    def reflected(self, number, value):
        self.seen.append(number * self.value)
        return Length(value)

    def __radd__(self, other):
        return self.reflected(other, other + self.value)

    def __rsub__(self, other):
        return self.reflected(other, other - self.value)

    def __rmul__(self, other):
        return self.reflected(other, 3.0 * other * self.value)

    def __rtruediv__(self, other):
        return self.reflected(other, other / self.value)

    def __rpow__(self, other):
        return self.reflected(other, other**self.value)


@case(np.array([1.3, 0.4, 2.1]))
def scalars_of_numpy_before_objects(x):
    b = Length(x[1])
    c = x[0] + b, x[0] - b, x[0] * b, x[0] / b, x[2] ** b, np.int64(3) * b, np.float32(2.0) * b
    total = sum([b], x[2]).value
    for one in c:
        total = total * one.value + x[1]
    return float(total + sum(b.seen))


class Gate:
    """Says what numbers on its left do with it, where operators are no arithmetic."""

    def __init__(self, value):
        self.value = value

    def __ror__(self, other):
        return other * self.value if type(other) is float else self.value * 100.0

    def __rand__(self, other):
        return other * other + self.value

    def __rxor__(self, other):
        return other / self.value

    def __rlshift__(self, other):
        return other - self.value**2

    def __rrshift__(self, other):
        return NotImplemented if other < 0.0 else other + self.value**3

    def __rdivmod__(self, other):
        return other * self.value, abs(other - self.value) * len(type(other).__name__)


@case(np.array([1.3, 0.4, 2.1]))
def scalars_of_numpy_before_gates(x):
    b, c = Gate(x[1]), Gate(0.7)
    total = (x[0] | b) * (x[1] & c) + (x[0] ^ b) * (x[2] << b) + (x[2] >> b) + (np.int64(3) | b)
    total = total + sum(divmod(x[2], b)) * divmod(x[0], c)[0] + abs(divmod(x[2] * 1j, b)[0])
    try:
        return total * (np.float64(-1.0) >> b)
    except TypeError as error:
        return total * len(str(error))


@case(np.float64(1.3))
def a_scalar_of_numpy_before_constant_gates(x):
    return (x | CONSTANT_GATE) * divmod(x, CONSTANT_GATE)[1] + (x & CONSTANT_GATE)


CONSTANT_GATE = Gate(0.7)


class Compared:
    def __init__(self, x):
        self.x = x

    def __lt__(self, other):
        return self.x * 2

    def __gt__(self, other):
        return self.x * 5

    def __eq__(self, other):
        return self.x * 7

    __hash__ = None


class ComparedAlike(Compared):
    pass


@case(1.5)
def comparisons_with_a_subclass(x):
    """The method of the subclass comes first, also where it is inherited."""
    y = (Compared(x) < ComparedAlike(x * x)) + (Compared(x) == ComparedAlike(x * x))
    return y * (ComparedAlike(x) > Compared(x**3)) + (Compared(x) < Compared(x * x))


@case(1.5)
def rounding_by_its_own_name(x):
    return x.__round__(1) * x + x.__trunc__() * x


class CountsReads:
    def __init__(self, x):
        self.reads = 0
        self.value = x

    def __getattribute__(self, name):
        object.__getattribute__(self, "__dict__")["reads"] += 1
        return object.__getattribute__(self, name)


@case(0.7)
def reads_are_counted(x):
    c = CountsReads(x)
    return c.value * 2 + c.value + c.reads * x


@functools.total_ordering
class CountsComparisons:
    def __init__(self, value):
        self.value, self.seen = value, 0.0

    def __eq__(self, other):
        self.seen += self.value
        return self.value == other.value

    def __lt__(self, other):
        self.seen += self.value
        return self.value < other.value

    __hash__ = None


@case(0.7)
def unequal_asks_equal(x):
    p, q = CountsComparisons(x), CountsComparisons(x * x)
    r = (p > q) + (p >= q) + (p != q) + (p <= q)
    return p.seen * r + q.seen * x


@case(0.7)
def equal_dicts_ask_the_first(x):
    p, q, r = CountsComparisons(x), CountsComparisons(x), CountsComparisons(x)
    equal = {1: p} == {1: q}
    equal += OrderedDict({1: r}) != OrderedDict({1: q})
    return p.seen * 2 + q.seen * 3 + r.seen * 5 + equal * x


class Answers:
    """Compares with anything, and what it says is a number."""

    def __init__(self, value):
        self.value = value

    def __lt__(self, other):
        return self.value * other

    def __ge__(self, other):
        return self.value - other

    def __eq__(self, other):
        return self.value * 5 + other

    __hash__ = None


@case(0.7)
def numpys_numbers_are_compared_with_what_answers(x):
    c = Answers(x)
    return (np.float64(x) > c) + (np.float64(2) <= c) * x + (np.float64(x) == c) + (np.int64(3) > c)


class Reading:
    """Notes that it was asked for its number, or says that it has none."""

    def __init__(self, value, has_number=True):
        self.value, self.has_number, self.log = value, has_number, []

    def __float__(self):
        if not self.has_number:
            error = TypeError("no number")
            error.value = self.value * 5
            raise error
        self.log.append(self.value * 2)
        self.last = self.value * 3
        return self.value


@case(1.5)
def truths_about_numbers_of_objects(x):
    r = Reading(x)
    asked = math.isnan(r) + math.isinf(r) + math.isfinite(r) + math.isclose(r, 2.0, abs_tol=1.0)
    return r.last + sum(r.log) * asked


@case(1.5)
def objects_without_a_number_say_so(x):
    try:
        math.isnan(Reading(x, has_number=False))
    except TypeError as error:
        return error.value * x


class Exact(float):
    def __float__(self):
        return float.__float__(self)


class Whole(int):
    def __float__(self):
        return 2.5


@case(1.5)
def numbers_of_a_class_are_taken_for_themselves(x):
    truths = math.isfinite(Exact(x)) + math.isclose(Exact(x), x) + math.isclose(Whole(1), 2.5)
    return truths * x


@case(1.5)
def objects_are_not_asked_where_the_call_fails(x):
    r = Reading(x)
    for call in (
        lambda: math.isnan(r, 1.0),
        lambda: math.isnan(x=r),
        lambda: math.isclose(r),
        lambda: math.isclose(r, 1.0, tolerance=2.0),
        lambda: math.isclose(10**400, r),
        lambda: math.isclose(r, 1j),
        lambda: math.isclose(None, r),
    ):
        try:
            call()
        except (TypeError, OverflowError) as error:
            r.log.append(x * len(str(error)))
    return sum(r.log)
