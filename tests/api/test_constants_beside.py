"""Arguments that `argnums` does not name are constants, whatever they are: numbers in other forms,
records, text, arrays of other libraries."""

from array import array
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import adjoint as ad
from adjoint.errors import AdjointError, ArgumentError

HIDDEN = {}


class Elsewhere:
    """An array whose numbers are out of sight, as on another processor."""

    __slots__ = ("__weakref__",)

    def __init__(self, numbers):
        HIDDEN[id(self)] = numbers

    def __dlpack__(self, **options):
        raise BufferError

    def numbers(self):
        return HIDDEN[id(self)]


RECORDS = np.array([(1.5,), (2.0,)], [("mass", float)])
CONSTANTS = [
    (lambda a, t: a * a * float(t), Decimal("1.5")),
    (lambda a, t: a * a * float(sum(t)), [Decimal("1.5"), Decimal(2)]),
    (lambda a, t: a * a * float(t["price"]), {"price": Decimal("1.5")}),
    (lambda a, t: a * a * t, Fraction(1, 2)),
    (lambda a, t: a * a * np.sum(np.array(t)), array("d", [1.0, 2.0])),
    (lambda a, t: a * a * np.frombuffer(t).sum(), np.ones(2).tobytes()),
    (lambda a, t: a * a * np.frombuffer(t.tobytes()).sum(), np.ones(3)),
    (lambda a, t: a * a * float(t), "2.5"),
    (lambda a, t: a * a * t["mass"].sum(), RECORDS),
    (lambda a, t: a * a * sum(row["mass"] for row in t), RECORDS),
    (lambda a, t: a * a * float(t.median()), pd.Series([1.0, 2.0, 4.0])),
    (lambda a, t: a * a * sum(t.numbers()), Elsewhere([1.0, 2.0])),
]


def with_aux(f):
    return lambda a, t: (f(a, t), t)


@pytest.mark.parametrize("place", range(len(CONSTANTS)))
def test_what_is_not_asked_for_may_be_anything(place):
    f, t = CONSTANTS[place]
    expected = 2.0 * f(1.0, t) * 3.0
    value = f(3.0, t)
    assert ad.grad(f)(3.0, t) == pytest.approx(expected)
    assert ad.value_and_grad(f)(3.0, t) == (pytest.approx(value), pytest.approx(expected))
    assert ad.grad(f, argnums=(0,))(3.0, t) == (pytest.approx(expected),)
    assert ad.grad(f, argnums="a")(a=3.0, t=t) == pytest.approx(expected)
    assert ad.grad(f, tier="generic")(3.0, t) == pytest.approx(expected)
    assert ad.jacobian(f, 3.0, t, argnums=0) == pytest.approx(expected)
    assert ad.grad(with_aux(f), has_aux=True)(3.0, t)[0] == pytest.approx(expected)
    assert ad.pushforward(f, (3.0, t), (1.0, None))[1] == pytest.approx(expected)
    swapped = ad.grad(lambda t, a: f(a, t), argnums=-1)
    assert swapped(t, 3.0) == pytest.approx(expected)


@pytest.mark.parametrize("f, t", [CONSTANTS[i] for i in (0, 4, 5, 8, 10, 11)])
def test_what_is_asked_for_is_refused(f, t):
    for derive in (lambda: ad.gradient(f, 3.0, t), lambda: ad.grad(f, argnums=(0, 1))(3.0, t)):
        with pytest.raises(AdjointError):
            derive()


def test_an_array_that_a_constant_holds_as_well_is_constant_there():
    x = np.array([1.0, 2.0])

    def both(x, held):
        return (x * held[0]).sum() + float(held[1])

    np.testing.assert_array_equal(ad.grad(both)(x, [x, Decimal(1)]), x)

    def unknown(x, held):
        return x.sum() + np.frombuffer(held[0].tobytes()).sum()

    for held in ([x], [x.copy()]):
        np.testing.assert_array_equal(ad.grad(unknown)(x, held), [1.0, 1.0])


def test_an_array_of_another_library_is_refused():
    t = Elsewhere([1.0, 2.0])
    for derive in (ad.gradient, ad.withgradient, ad.pullback, lambda f, t: ad.grad(f)(t)):
        with pytest.raises(ArgumentError, match=r"argument 0 is a '.*Elsewhere'"):
            derive(lambda t: sum(t.numbers()), t)
    with pytest.raises(ArgumentError, match="has no tangent"):
        ad.pushforward(lambda t: sum(t.numbers()), (t,), (t,))
    with pytest.raises(ArgumentError, match="has no tangent"):
        ad.pushforward(lambda held: sum(held[0].numbers()), ([t],), ([t],))


def total(t):
    return sum(t.numbers())


@ad.rrule.register(total)
def _(t):
    def total_back(y_bar):
        return None, np.full(2, y_bar)

    return total(t), total_back


def test_what_a_rule_says_of_an_array_of_another_library_has_no_place():
    t = Elsewhere([1.0, 2.0])
    assert ad.grad(lambda a, t: a * total(t), tier="generic")(3.0, t) == 3.0
    assert ad.gradient(lambda a: a * total(t), 3.0) == (3.0,)
    with pytest.raises(AdjointError, match="of another library"):
        ad.gradient(lambda held: held[0] * total(held[1]), [3.0, t])
