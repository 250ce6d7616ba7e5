"""Classes derived from those of C, beside arrays and by themselves."""

import array
import decimal
import functools
import io
import operator
import random
import threading
import types
import typing
import warnings
from collections import deque

import numpy as np

from tests.corpus.registry import case


class Row(list):
    pass


class Fixed(tuple):
    pass


@case(1.3)
def sequences_beside_numbers_of_numpy(x):
    total = 0.0
    for other in (np.float64(2.0), np.int64(2), np.float32(2.0), np.array([1.0, 2.0])):
        for kind in (list, tuple, Row, Fixed):
            for op in (operator.add, operator.sub, operator.truediv, operator.pow):
                total = total + op(other, kind([x, x * x])).sum()
                total = total + 0.5 * op(kind([x, x * x]), other).sum()
    return total


class Scaling(list):
    def __rmul__(self, other):
        return Scaling([other * value for value in self])


@case(1.3)
def arrays_do_not_ask(x):
    return np.sum(np.array([1.0, 2.0]) * Scaling([x, x])) + (2.0 * Scaling([x, x * x]))[1]


@case([0.4, -0.7])
def products_where_positive(xs):
    x = np.array(xs)
    scaled = np.multiply(x, 2.0, where=x > 0, out=None)
    return scaled[0] * x[1] + np.add(x, x, out=None, where=np.array([False, True]))[1]


Metres = typing.NewType("Metres", float)


@case(1.3)
def new_types(x):
    return Metres(x) * x


class Options(types.SimpleNamespace):
    def total(self):
        return sum(vars(self).values())


class Computed(types.SimpleNamespace):
    def __init__(self, a, **rest):
        super().__init__(a=a, **rest)
        self.double = a * 2


@case(1.3)
def namespaces(x):
    made = Computed(x, b=x * x)
    return Options(a=x, b=x * x).total() + made.double * made.b


class Phasor(complex):
    @property
    def doubled(self):
        return 2 * self


@case(1.3)
def complex_numbers(x):
    return abs(Phasor(x, 2.0)) + Phasor(x * x).doubled.real


class Twice(functools.partial):
    def __call__(self, *args):
        return 2 * super().__call__(*args)


@case(1.3)
def partials(x):
    return Twice(max, 0.5)(x * x)


class Described(property):
    pass


class Held:
    def __init__(self):
        self._value = 0.0

    def _get(self):
        return self._value

    def _set(self, value):
        self._value = value * 2

    value = Described(_get, _set)


@case(1.3)
def properties(x):
    held = Held()
    held.value = x * x
    return held.value * x


class Doubled(random.Random):
    def __init__(self, scale):
        super().__init__(3)
        self.scale = scale

    def random(self):
        return super().random() * self.scale


class Page(io.StringIO):
    def __init__(self, weight):
        super().__init__("two lines\n")
        self.weight = weight


class Numbers(array.array):
    def __new__(cls, scale):
        return super().__new__(cls, "d", [2.0, 3.0])

    def __init__(self, scale):
        self.scale = scale


class Exactly(decimal.Decimal):
    def __init__(self, value):
        self.value = value


class Own(threading.local):
    def __init__(self, weight):
        self.weight = weight


@case(1.3)
def fields_of_what_c_has_made(x):
    page, numbers, generator = Page(x), Numbers(x * x), Doubled(x)
    total = page.weight * len(page.getvalue()) + numbers.scale * len(numbers) + Own(x).weight
    return total * Exactly(x).value + generator.random() * x + generator.uniform(x, 2.0)


class Fading:
    """What is moved in it becomes less."""

    def __init__(self, values):
        self.values = values

    def __len__(self):
        return len(self.values)

    def __getitem__(self, i):
        return self.values[i] * 0.9

    def __setitem__(self, i, value):
        self.values[i] = value * value


class FadingList(list):
    def __setitem__(self, i, value):
        super().__setitem__(i, value * 0.9)


def _shuffled(x, kind):
    kept = kind([x, x * x, 2.0 * x, 1.0 - x, 3.0])
    np.random.default_rng(3).shuffle(kept)
    np.random.RandomState(3).shuffle(kept)
    return kept


def _weighted(values):
    return sum([(i + 1.0) * value for i, value in enumerate(values)])


@case(0.7)
def shuffled_by_numpy_in_a_class(x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _weighted(_shuffled(x, Fading).values)


@case(0.7)
def shuffled_by_numpy_in_a_list_of_a_class(x):
    return _weighted(_shuffled(x, FadingList)) + _weighted(_shuffled(x, deque))


@case(0.7)
def shuffled_by_numpy_in_a_dict(x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kept = _shuffled(x, lambda values: dict(enumerate(values)))
    return _weighted(kept.values())


@case(0.7)
def shuffled_by_numpy_with_a_warning(x):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        _shuffled(x, Fading)
    return len(caught) * x * ("subclass of 'Sequence'" in str(caught[0].message))
