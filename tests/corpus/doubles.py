"""Doubles of `unittest.mock`: what they are told to do and to return."""

from unittest import mock
from unittest.mock import MagicMock, Mock

import numpy as np
import pytest

from tests.corpus.registry import case, refused


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


@case(1.3)
def doubles_told_by_assignment(x):
    double, many = Mock(), MagicMock()
    double.return_value = x * x
    many.scaled.return_value = x
    many.side_effect = lambda q: q * x
    double.a, double.b.c = x**3, 2.0
    double.configure_mock(**{"f.return_value": x})
    total = double() * double.return_value + many.scaled() * many(x) + double.a * double.b.c
    double.reset_mock(return_value=True)
    double.return_value = 3.0 * x
    return total + double() * many.scaled()


@refused(1.3)
def doubles_asked_what_they_were_called_with(x):
    double = Mock()
    double(x * x, k=x)
    double.f(x**3)
    _, args, kwargs = double.mock_calls[0]
    return double.call_args.args[0] * kwargs["k"] + args[0] * double.f.call_args_list[0][0][0]


@case(1.3)
def doubles_with_special_methods(x):
    double = MagicMock()
    double.__getitem__.side_effect = lambda i: i * x
    double.__len__.return_value = 3
    double.__float__.return_value = 4.0
    double.__enter__.return_value = x
    double.__add__ = lambda self, other: other * x * x
    with double as held:
        return double[2.0] * len(double) + held * float(double) + (double + x)


@case(1.3)
def doubles_like_a_class(x):
    made = mock.create_autospec(Scaling)
    made.return_value.scaled.return_value = x * x
    with mock.patch.object(Scaling, "growing", new_callable=mock.PropertyMock, return_value=x):
        return made(2.0).scaled(3.0) * Scaling(4.0).growing


TABLE = {"a": 1.0, "b": 2.0}


class Settings:
    k = 3.0
    table = TABLE

    def scaled(self, x):
        return self.k * x


@case(1.3)
def patched_attributes(x):
    settings = Settings()
    with mock.patch.object(Settings, "k", x * x), mock.patch.object(settings, "n", x, create=True):
        total = settings.scaled(x) * settings.n
    return total + settings.scaled(x) + hasattr(settings, "n")


@case(1.3)
def patched_methods(x):
    total = Settings().scaled(x)
    with mock.patch.object(
        Settings, "scaled", autospec=True, side_effect=lambda self, q: self.k * q * x
    ) as double:
        total += Settings().scaled(x * x) * double.call_count
    return total * Settings().scaled(1.0)


@case(1.3)
def patched_items(x):
    with mock.patch.dict(TABLE, {"a": x * x}, c=x):
        total = TABLE["a"] * TABLE["b"] * TABLE["c"]
    with mock.patch.dict(Settings.table, clear=True, z=x):
        total += sum(TABLE.values()) * len(TABLE)
    return total * TABLE["a"] * len(TABLE)


@case(1.3)
def patched_several(x):
    with mock.patch.multiple(Settings, k=x, scaled=mock.DEFAULT) as doubles:
        doubles["scaled"].return_value = 4.0
        total = Settings.k * Settings().scaled(1.0) * x
    return total * Settings.k


@case(1.3)
def patched_until_stopped(x):
    patch = mock.patch.object(Settings, "k", x)
    patch.start()
    try:
        return Settings().scaled(x)
    finally:
        patch.stop()


@case(1.3)
def patched_by_a_decorator(x):
    @mock.patch.object(Settings, "k", x * x)
    @mock.patch.dict(TABLE, {"a": 4.0})
    def meanwhile(v):
        return Settings().scaled(v) * x + TABLE["a"] * v

    return meanwhile(x)


@case(1.3)
def patched_in_a_callback(x):
    def changed(v):
        with mock.patch.object(Settings, "k", v):
            return Settings().scaled(v)

    return sum(map(changed, [x, 2.0 * x])) * max([1.0, -2.0], key=changed)


@case(1.3)
def patched_by_monkeypatch(x):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Settings, "k", x * x)
        patch.setitem(TABLE, "a", x)
        patch.delitem(TABLE, "b")
        total = Settings().scaled(x) * TABLE["a"] * len(TABLE)
    return total * TABLE["b"]


@case(1.3)
def patched_by_constants(x):
    with mock.patch.object(Settings, "k", 5.0), mock.patch.object(Scaling, "scaled") as double:
        double.return_value = 2.0
        total = Settings().scaled(x) * Scaling(x).scaled(x)
    return total + Scaling(x).scaled(x)
