"""Rules that are wrong: the number of cotangents, their shapes, their keywords."""

import decimal
import operator

import numpy as np
import pytest
from scipy import special, stats

import adjoint as ad
from adjoint.errors import NoDerivativeError, RuleError
from adjoint.testing import check_gradient
from tests.errors.places import assert_tells, raised


def plain(x, y):
    return np.sum(x) * np.sum(y)


def with_rule(bars):
    """A function of two arguments whose rule returns `bars`."""

    def ruled(x, y):
        return plain(x, y)

    @ad.rrule.register(ruled)
    def _(x, y):
        return plain(x, y), lambda y_bar: bars

    return ruled


ones = np.ones(3)


@pytest.mark.parametrize(
    "bars, said",
    [
        ((ones, ones), "2 cotangents"),
        ((None, ones), "2 cotangents"),
        ((None,), "1 cotangents"),
        ((), "0 cotangents"),
        ((None, ones, ones, ones), "4 cotangents"),
        ([None, ones, ones], "list"),
        (None, "NoneType"),
        (ones, "ndarray"),
        (1.0, "float"),
        ((None, np.ones(2), ones), "(2,)"),
        ((None, ones, np.ones((3, 1))), "(3, 1)"),
        ((None, ones, np.ones((1, 3))), "(1, 3)"),
        ((None, ones, 1.0), "()"),
        ((None, 1.0, ones), "()"),
        ((None, [1.0, 1.0, 1.0], np.ones((1, 3))), "(1, 3)"),
        ((None, "a", ones), "()"),
        ((None, ones, {"a": ones}), "()"),
        ((None, ones, np.array(["a", "b", "c"])), "numeric, not <U1"),
        ((None, np.ones(3, object), ones), "numeric, not object"),
    ],
)
def test_what_a_wrong_rule_returns(bars, said):
    ruled = with_rule(bars)

    def f(x, y):
        return 2 * ruled(x, y)

    _, back = ad.pullback(f, ones, ones)
    error = raised(RuleError, back, 1.0)
    assert said in str(error) and "ruled" in str(error)
    assert_tells(error, f, "ruled(x, y)")


@pytest.mark.parametrize("bars", [(None, ones), (None, np.ones(2), ones)])
def test_a_wrong_rule_of_the_function_itself(bars):
    error = raised(RuleError, ad.gradient, with_rule(bars), ones, ones)
    assert "ruled" in str(error) and error.hint


def test_a_cotangent_of_a_number_must_be_one():
    ruled = with_rule((None, np.ones(1), 1.0))
    raised(RuleError, ad.gradient, ruled, 2.0, 3.0)


@pytest.mark.parametrize("bar", ["a", {"a": 1.0}, object(), np.array(None), b"1"])
def test_a_cotangent_of_a_number_must_be_numeric(bar):
    ruled = with_rule((None, bar, 1.0))

    def f(x, y):
        return 2 * ruled(3 * x, y)

    _, back = ad.pullback(f, 2.0, 3.0)
    error = raised(RuleError, back, 1.0)
    assert "numeric" in str(error)
    assert_tells(error, f, "ruled(3 * x, y)")


def test_cotangents_may_be_any_numbers():
    for bar in (1, True, np.float32(1.0), np.array(1.0), 1.0 + 0.5j):
        assert ad.gradient(with_rule((None, bar, 1.0)), 2.0, 3.0) == (1.0, 1.0)
    for bar in ([1.0, 1.0, 1.0], (1, 1, 1), np.ones(3, int), ones + 0.5j):
        found = ad.gradient(lambda x, bar=bar: with_rule((None, bar, None))(2 * x, x), ones)
        np.testing.assert_array_equal(found[0], 2 * ones)


def test_an_imaginary_part_does_not_flow_through_a_real_number():
    assert ad.gradient(lambda z: with_rule((None, 1.0 + 1.0j, None))(z.real, 2.0), 1 + 2j) == (1.0,)


def test_the_cotangents_of_containers_are_checked():
    for bars in (
        (None, [1.0], 1.0),
        (None, [1.0, 1.0, 1.0], 1.0),
        (None, 1.0, 1.0),
        (None, [1.0, np.ones(2)], 1.0),
        (None, [1.0, "a"], 1.0),
        (None, ["a", 1.0], 1.0),
    ):
        ruled = with_rule(bars)
        raised(RuleError, ad.gradient, ruled, [2.0, 3.0], 3.0)


def test_a_number_does_not_stand_for_an_array_in_a_container():
    ruled = with_rule((None, [1.0], 1.0))
    raised(RuleError, ad.gradient, ruled, [ones], 3.0)


def test_a_wrong_rule_that_is_not_asked_is_no_matter():
    ruled = with_rule((None,))
    y, back = ad.pullback(lambda x: (ruled(x, x), x)[1].sum(), ones)
    np.testing.assert_array_equal(back(1.0)[1], ones)


def test_a_right_rule_may_leave_out_arguments():
    ruled = with_rule((None, None, ones))
    x_bar, y_bar = ad.gradient(ruled, ones, np.ones(3))
    np.testing.assert_array_equal(x_bar, 0 * ones)
    np.testing.assert_array_equal(y_bar, ones)


def test_rules_that_swallow_keywords_are_refused():
    with pytest.raises(TypeError, match="keyword"):

        @ad.rrule.register(plain)
        def _(x, y, **anything):
            return plain(x, y), None


def test_a_rule_that_returns_no_pair():
    def ruled(x):
        return x

    @ad.rrule.register(ruled)
    def _(x):
        return 3.0

    with pytest.raises((ad.AdjointError, TypeError)):
        ad.gradient(lambda x: ruled(x), 2.0)


# ---- keywords ------------------------------------------------------------------------------------


def scaled(x, *, scale=1.0, name=""):
    return x * scale


@ad.rrule.register(scaled)
def _(x, *, scale=1.0):
    spoken.append(scale)

    def scaled_back(y_bar):
        return None, y_bar * scale

    return x * scale, scaled_back


spoken = []


def test_rules_are_called_with_keywords():
    spoken.clear()
    y, back = ad.rrule(scaled, 2.0, scale=3.0)
    assert y == 6.0 and back(1.0) == (None, 3.0)
    assert ad.gradient(scaled, 2.0, scale=3.0) == (3.0,)
    assert ad.gradient(lambda x: scaled(x, scale=4.0), 2.0) == (4.0,)
    assert spoken == [3.0, 3.0, 4.0]


def test_an_unknown_keyword_is_not_for_the_rule():
    spoken.clear()
    assert ad.rrule(scaled, 2.0, scale=3.0, name="a") is None
    assert ad.gradient(scaled, 2.0, scale=3.0, name="a") == (3.0,), "by its own source"
    assert not spoken


def test_a_needed_derivative_of_a_keyword_that_the_rule_does_not_give():
    def f(x):
        return scaled(2.0, scale=x)

    error = raised(NoDerivativeError, ad.gradient, f, 3.0)
    assert "'scale'" in str(error) and "keyword_bars" in error.hint
    assert_tells(error, f, "scaled(2.0, scale=x)")


def test_parts_of_a_keyword_that_the_rule_does_not_give():
    def f(x):
        return scaled(np.ones(2), scale=[x, 1.0]).sum()

    error = raised(NoDerivativeError, ad.gradient, f, 3.0)
    assert "'scale'" in str(error)
    bar = ad.gradient(lambda x: scaled(x, scale=[1.0, 2.0]).sum(), np.ones(2))[0]
    assert bar.tolist() == [1, 2]


def weighted(x, *, weights=(), name=""):
    return sum(w * x for w in weights)


@ad.rrule.register(weighted, keyword_bars=True)
def _(x, *, weights=()):
    def weighted_back(y_bar):
        named = {"weights": [y_bar * x for w in weights]}
        return None, y_bar * sum(weights), named

    return sum(w * x for w in weights), weighted_back


def test_keyword_cotangents_of_a_list():
    ad.testing.check_gradient(lambda x, w: weighted(x, weights=w), 2.0, [3.0, 4.0])
    ad.testing.check_gradient(lambda x, w: weighted(x, weights=[w * x, w]), 2.0, 3.0)


def test_keyword_cotangents_of_an_array_that_was_written():
    def f(w, a):
        w = w.copy()
        w[0] = 3.0 * w[1]
        total = np.average(a, axis=0, weights=w)
        w[1] = 7.0
        return total

    ad.testing.check_gradient(f, np.array([1.0, 2.0, 3.0]), np.array([4.0, 1.0, 0.5]))


def test_a_keyword_whose_result_is_poisoned():
    def f(w):
        return float(str_free(np.average([1.0, 4.0], weights=[w, 1.0])))

    def str_free(x):
        return decimal.Decimal(float(x))

    assert "Decimal" in str(raised(NoDerivativeError, ad.gradient, f, 3.0))


def test_keyword_cotangents_of_a_rule():
    def powered(x, *, n=1.0):
        return x**n

    @ad.rrule.register(powered, keyword_bars=True)
    def _(x, *, n=1.0):
        y = x**n

        def powered_back(y_bar):
            return None, y_bar * n * x ** (n - 1), {"n": y_bar * np.log(x) * y}

        return y, powered_back

    ad.testing.check_gradient(lambda x, n: powered(x, n=n), 2.0, 3.0)


def test_nonsense_asked_of_a_rule_gives_the_functions_own_message():
    expected = raised(TypeError, operator.add, 1.0)
    error = raised(TypeError, ad.gradient, operator.add, 1.0)
    assert str(error) == str(expected)


@pytest.mark.parametrize("result", [1.0, (1.0, 2.0), [1.0, len], None, (1.0, len, len)])
def test_a_rule_that_does_not_return_a_pair(result):
    def ruled(x):
        return x

    @ad.rrule.register(ruled)
    def _(x):
        return result

    def f(x):
        return ruled(x) * 2.0

    error = raised(RuleError, ad.gradient, f, 1.5)
    assert_tells(error, f, "ruled(x) * 2.0")
    assert f"returned a {type(result).__name__} instead of (value, pullback)" in error.problem


def first_squared(values):
    return values[0] ** 2


@ad.rrule.register(first_squared)
def _(values):
    first = values[0]
    return first**2, lambda bar: (None, [2.0 * first * bar, None])


def in_a_ring(x):
    """A list that holds itself, by way of a tuple, too."""
    ring = [x * x]
    pair = (ring[0], ring)
    ring += [ring, pair]
    return first_squared(ring[:1] + [ring]) * first_squared(pair) * x


def test_a_rule_is_given_what_holds_itself():
    for slope in (ad.grad(in_a_ring), ad.grad(in_a_ring, tier="generic"), ad.derivative(in_a_ring)):
        assert slope(2.0) == 9.0 * 2.0**8  # of x⁹
    for outer in (ad.grad, ad.derivative):
        for inner in (ad.grad, ad.derivative):
            assert outer(inner(in_a_ring))(2.0) == 72.0 * 2.0**7
    ring = [3.0]
    ring.append(ring)
    assert ad.gradient(first_squared, ring) == ([6.0, None],)
    assert ad.pushforward(first_squared, (ring,), ([1.0, None],)) == (9.0, 6.0)


def in_the_freedom(a):
    """Of three results, one has no derivative that is known."""
    share = special.chndtr(1.5, a, 1.0)
    row = np.array([a, 2.0 * a])
    return a * a, share, row.sum() * 3.0


@pytest.mark.parametrize("derive", [ad.pushforward, ad.jvp])
def test_what_is_refused_and_not_needed(derive):
    """In forward mode, too, an error is one where its result is needed."""

    def first(a):
        return in_the_freedom(a)[0] + in_the_freedom(a)[2]

    def second(a):
        return np.array([a, in_the_freedom(a)[1]])

    assert derive(first, (0.7,), (1.0,))[1] == pytest.approx(10.4)
    assert ad.grad(first)(0.7) == pytest.approx(10.4)
    with pytest.raises(NoDerivativeError, match="in the degrees of freedom"):
        derive(second, (0.7,), (1.0,))
    with pytest.raises(NoDerivativeError, match="in the degrees of freedom"):
        derive(lambda a: in_the_freedom(a)[1] * 0.0, (0.7,), (1.0,))
    assert ad.derivative(ad.derivative(first))(0.7) == pytest.approx(2.0)


def test_a_statistic_beside_its_p_value():
    x, y = np.array([0.3, 1.5, 2.5]), np.array([1.0, 2.0, 4.0])

    def f(x):
        return stats.ttest_ind(x, y, equal_var=False).statistic

    expected = ad.grad(f)(x)
    found = [ad.jvp(f, (x,), (e,))[1] for e in np.eye(3)]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    check_gradient(lambda x: stats.ttest_ind(x, y, equal_var=False).pvalue, x)
