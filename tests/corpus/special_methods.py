"""Special methods that are not plain functions, and operands that they store."""

import functools
import math
import operator

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
