"""Builtin functions and types of numbers."""

import numpy as np
import pytest

import adjoint as ad
from adjoint.rulekit.registry import rrule
from tests.rules.harness import reals, table

CASES = {
    pow: [(2.0, 1.5), (2, 3), (reals(3, low=0.5), 2.0), (-2.0, 2), (3, 4, 5)],
    round: [(1.3,), (1.34, 1), (np.float64(1.3),), (3,)],
    float: [(1.5,), (2,), (np.float32(1.5),), (np.array(1.5),), (True,), ("1.5",), ()],
    complex: [(1.5, 2.0), (1.5,), (1, np.float32(2)), (1 + 2j, 3 - 1j), (), (np.array(1.5), 2.0)],
    (float, "real"): [(1.5,)],
    (int, "real"): [(2,)],
    (complex, "real"): [(1.5 + 2j,)],
    (float, "imag"): [(1.5,)],
    (int, "imag"): [(2,)],
    (complex, "imag"): [(1.5 + 2j,)],
    (float, "conjugate"): [(1.5,)],
    (int, "conjugate"): [(2,)],
    (complex, "conjugate"): [(1.5 + 2j,)],
}
test_rule = table(CASES)


def test_powers_of_zero():
    assert rrule(pow, 0.0, 0.0)[1](1.0) == (None, 0.0, 0.0)
    assert rrule(pow, 0.0, 2.0)[1](1.0) == (None, 0.0, 0.0)


class Own:
    def __float__(self):
        return 2.0

    def __round__(self, ndigits=None):
        return self

    def __abs__(self):
        return self


def test_objects_with_methods_of_their_own_are_declined():
    for f in (float, round, abs):
        assert rrule(f, Own()) is None
    assert rrule(pow, [1.0], 2) is None


def test_text_has_no_derivative():
    y, back = rrule(float, "1.5")
    assert y == 1.5 and back(1.0) == (None, None)
    with pytest.raises(ValueError, match="could not convert"):
        rrule(float, "x")


@pytest.mark.parametrize("best", [min, max])
@pytest.mark.parametrize("pair", [(np.True_, 1), (np.False_, 0.0), (np.True_, np.True_)])
@pytest.mark.parametrize("tier", ["fast", "generic"])
def test_ties_with_truth_values_of_numpy_are_shared(best, pair, tier):
    for a, b in (pair, pair[::-1]):
        assert ad.grad(lambda a, b: best(a, b) * 2.0, (0, 1), tier=tier)(a, b) == (1.0, 1.0)
        assert ad.grad(lambda a, b: best([a, b]) * 2.0, (0, 1), tier=tier)(a, b) == (1.0, 1.0)
    assert ad.derivative(lambda x: best(x, np.True_))(1.0) == 0.5  # the mean of both slopes


@pytest.mark.parametrize("best", [min, max])
@pytest.mark.parametrize("pair", [(np.float32(0.7), 0.7), (np.float16(0.5), np.float32(0.5))])
def test_ties_of_any_precision_are_shared(best, pair):
    for a, b in (pair, pair[::-1]):
        assert ad.gradient(lambda a, b: best(a, b) * 2.0, a, b) == (1.0, 1.0)
        assert ad.gradient(lambda a, b: best([a, b]) * 2.0, a, b) == (1.0, 1.0)
        dots = type(a)(1.0), type(b)(0.0)
        assert ad.pushforward(lambda a, b: best(a, b) * 2.0, (a, b), dots)[1] == 1.0
