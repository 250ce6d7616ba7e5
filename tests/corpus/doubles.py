"""Doubles of `unittest.mock`: what they are told to do and to return."""

from unittest import mock
from unittest.mock import MagicMock, Mock

import numpy as np

from tests.corpus.registry import case


@case(1.3)
def doubles_that_do_something(x):
    notes = []
    scaled = Mock(side_effect=lambda q: q * x)
    noting = Mock(side_effect=lambda q: notes.append(q * 2.0))
    around = MagicMock(wraps=lambda q, k=1.0: q * k * x)
    undecided = Mock(side_effect=lambda: mock.DEFAULT, return_value=x)
    noting(x)
    noting(x * x)
    total = scaled(x) + around(x, k=x * x) + undecided() * around.call_count
    return total + sum(notes) * len(noting.mock_calls)


@case(1.3)
def doubles_that_give_one_after_the_other(x):
    listed = Mock(side_effect=[x, ValueError(3), x * x])
    made = Mock(None, (v * x for v in [x, 2.0]))
    of_array = Mock(side_effect=np.array([x, x * x]))
    total = listed() * made() + of_array()
    try:
        listed()
    except ValueError as error:
        total += error.args[0] * listed()
    try:
        listed()
    except StopIteration:
        total += made() * of_array()
    return total


@case(1.3)
def doubles_that_return(x):
    values = [x, x * x]
    number, held = MagicMock(return_value=x * x), Mock(return_value=values)
    array = Mock(return_value=np.array([x, 2.0]))
    constant = Mock(return_value=4.0)
    values[0] = x**3
    return number() * x + number() + sum(held()) + array().sum() * constant()


@case(1.3)
def doubles_with_attributes(x):
    double = Mock(a=x * x, **{"f.return_value": x, "g.h.b": x**3})
    items = MagicMock(**{"__getitem__.return_value": x * x})
    plain = mock.NonCallableMock(a=x, b=x * x)
    return double.a * double.f(1) + double.g.h.b + items[0] * plain.a * plain.b


class Scaling:
    def __init__(self, factor):
        self.factor = factor

    def scaled(self, x):
        return self.factor * x

    @property
    def growing(self):
        self.factor = self.factor * 2.0
        return self.scaled


class Told(Mock):
    def __init__(self, value=None, **options):
        super().__init__(return_value=mock.DEFAULT if value is None else value * 2.0, **options)


@case(1.3)
def doubles_of_something(x):
    def product(a, b=2.0):
        raise NotImplementedError

    returning = mock.create_autospec(product, return_value=x * x)
    computing = mock.create_autospec(product, side_effect=lambda a, b=2.0: a * b * x)
    around = Mock(wraps=Scaling(x))
    first = around.growing
    total = returning(3.0) * computing(x, b=x) + computing(x) + around.scaled(x) + first(x)
    return total + Told(value=x)() * x


GIVEN = Mock(return_value=3.0)


@case(1.3)
def doubles_from_outside(x):
    with mock.patch.object(Scaling, "scaled", side_effect=lambda q: q * x):
        return GIVEN() * x + Scaling(2.0).scaled(x * x)
