"""Lines of ordinary Python in programs of first and second order, compared with differences."""

from __future__ import annotations

import functools
import math
import operator
import random
from bisect import bisect, bisect_left, bisect_right

import numpy as np
import pytest
from numpy.polynomial import Chebyshev, Polynomial
from scipy import interpolate, linalg, signal, special, stats

import adjoint as ad
from adjoint.fast.programs import store

X = np.array([0.3, 0.7, 0.2, 0.5, 0.9])
V = np.array([1.0, -0.5, 0.3, 0.8, -0.2])
TENORS = [0.1, 0.4, 0.8]
KNOTS = np.arange(5.0)


def _follows(f, *points):
    """Require that one program of `f` serves all points, and that its derivatives are right."""
    store.forget()
    points = [np.asarray(x, float) for x in points]
    directions = [np.resize(V, x.shape) for x in points]
    gradients = [ad.gradient(f, x)[0] for x in points]
    products = [ad.hvp(f, x, v) for x, v in zip(points, directions, strict=True)]
    kept = [*store._kept.values()]
    assert [one.reason for known in kept for one in known.refused.values()] == []
    assert {entry.failures.last for known in kept for entry in known.entries} == {""}
    assert [name for known in kept for entry in known.entries for name in entry.opaque] == []
    h = 1e-6
    for x, v, g, product in zip(points, directions, gradients, products, strict=True):
        np.testing.assert_allclose(g, ad.grad(f, tier="generic")(x), rtol=1e-11, atol=1e-13)
        values = [f(x + sign * h * v) for sign in (1, -1)]
        slope = (values[0] - values[1]) / (2 * h)
        np.testing.assert_allclose(np.sum(g * v), slope, rtol=1e-6, atol=1e-7)
        ends = [ad.gradient(f, x + sign * h * v)[0] for sign in (1, -1)]
        np.testing.assert_allclose(product, (ends[0] - ends[1]) / (2 * h), rtol=1e-5, atol=1e-5)


# ---- unpacking -----------------------------------------------------------------------------------


def test_unpacking_a_generator_of_arrays():
    weights = np.sin(np.arange(48.0)).reshape(3, 4, 4)

    def projected(x):
        q, k, v = (x @ w for w in weights)
        return np.sum(q * k * v)

    def of_rows(x):
        a, b, c = (np.exp(row) for row in x)
        return a @ b + c[0] * c[1]

    def with_the_rest(x):
        a, *others = (row * row for row in x)
        return a @ others[0] * others[-1][2]

    _follows(projected, np.cos(np.arange(8.0)).reshape(2, 4))
    for f in (of_rows, with_the_rest):
        _follows(f, np.cos(np.arange(12.0)).reshape(3, 4))
    with pytest.raises(ValueError, match="unpack"):
        ad.gradient(of_rows, np.ones((4, 3)))


# ---- lists ---------------------------------------------------------------------------------------


def test_a_list_of_unknown_length_is_reversed():
    def path(x):
        best = [int(x.argmax())]
        back = np.argsort(np.outer(x, x), axis=1)
        for t in range(len(x) - 1, 0, -1):
            best.append(back[t, best[-1]])
        best.reverse()
        return np.sum(x[best] ** 2 * np.arange(len(x)))

    def grown(x):
        found = []
        for v in x:
            if v > 0.25:
                found.append(v * v)
        found.reverse()
        found.append(x[0])
        return sum(v * k for k, v in enumerate(found))

    for f in (path, grown):
        _follows(f, X, X[::-1].copy(), X * 1.5)


def test_what_is_gone_through_while_it_is_reversed():
    def f(x):
        found, total = [], 0.0
        for v in x:
            found.append(v * v)
        for v in found:
            total = total * 0.5 + v
            found.reverse()
        return total

    for _ in range(2):
        np.testing.assert_allclose(ad.gradient(f, X)[0], ad.grad(f, tier="generic")(X))


def test_logaddexp_of_a_list_that_grows():
    def alignment(x):
        alpha = np.full(4, -np.inf)
        alpha[0] = x[0]
        for t in range(1, 5):
            new = np.full(4, -np.inf)
            for s in range(4):
                terms = [alpha[s]]
                if s > 0:
                    terms.append(alpha[s - 1])
                new[s] = np.logaddexp.reduce(terms) + x[t] * (s + 1)
            alpha = new
        return np.logaddexp(alpha[-1], alpha[-2])

    def along(x):
        m = np.outer(x, x)
        return np.logaddexp.reduce(m, axis=1) @ np.hypot.reduce(m) + np.subtract.reduce(x) ** 2

    for f in (alignment, along):
        _follows(f, X, -X)


@pytest.mark.parametrize("a", [[-np.inf, -np.inf], [np.inf, 1.0], [-np.inf, 0.0], [np.inf, np.inf]])
def test_shares_of_infinite_terms_come_without_a_warning(a):
    shares = ad.gradient(lambda x: np.logaddexp(x[0], x[1]), np.array(a))[0]
    expected = [0.5, 0.5] if a[0] == a[1] else [float(v == max(a)) for v in a]
    np.testing.assert_array_equal(shares, expected)


# ---- searches ------------------------------------------------------------------------------------


def test_bisection():
    def of_constants(x):
        i = bisect_right(TENORS, x[0])
        return x[i] * x[1] + (TENORS[i - 1] if i else 1.0) * x[i] ** 2

    def of_numbers(x):
        held = sorted(x.tolist())
        i, j = bisect_left(held, 0.45), bisect(held, x[3])
        return held[i] * x[j - 1] ** 2

    def of_what_grows(x):
        sums = []
        for v in x:
            sums.append(v * v if not sums else sums[-1] + v * v)
        return sums[bisect_left(sums, 0.5)] ** 2

    def within(x):
        return x[bisect(TENORS, 0.5, 1, 2)] ** 2

    def of_pairs(x):
        return x[bisect([(0.1, 1), (0.4, 2)], (x[0], 3))] ** 3

    for f in (of_constants, of_numbers, of_what_grows, within, of_pairs):
        _follows(f, X, X[[1, 0, 2, 3, 4]], X[::-1].copy())


# ---- loops that return ---------------------------------------------------------------------------


def test_a_loop_that_returns_before_its_end():
    def orbit(x):
        y = x[0]
        while True:
            yield y, y * x[1]
            y = y * 0.9

    def from_a_generator(x):
        before = x[2]
        for k, (y, z) in enumerate(orbit(x)):
            if k > 0 and y < 0.25:
                return before * z + y
            before = z

    def from_an_array(x):
        for v in x:
            if v > 0.6:
                return v * v * x[0]

    for f in (from_a_generator, from_an_array):
        _follows(f, X, X[::-1].copy(), X * 1.2)
    with pytest.raises(ad.NotScalarError):
        ad.gradient(from_an_array, X * 0.1)


def test_a_variable_that_is_none_or_has_no_value():
    def f(x):
        for v in x:
            if v > 0.8:
                y = v * v
        if x[0] > 0.5:
            y = None
        return x[1] if y is None else y * x[1]

    _follows(f, X, X[::-1].copy())
    for _ in range(2):
        with pytest.raises(UnboundLocalError):
            ad.gradient(f, X * 0.5)


def test_a_recursion_in_a_loop_over_a_known_range():
    def series(x, n):
        @functools.lru_cache(maxsize=None)
        def p(k):
            if k == 0:
                return 1.0
            if k == 1:
                return x
            return ((2 * k - 1) * x * p(k - 1) - (k - 1) * p(k - 2)) / k

        return sum(p(k) / (k + 1) for k in range(n))

    for n in (1, 4, 6):
        for x in (0.7, -0.4):
            assert ad.gradient(series, x, n) == pytest.approx(
                ad.grad(series, (0, 1), tier="generic")(x, n)
            )
            assert ad.tier(series, x, n).tier == "fast"
        _follows(lambda x, n=n: series(x[0], n) * x[1], [0.3, 2.0])


# ---- exceptions of numbers -----------------------------------------------------------------------


def test_a_number_outside_of_a_domain():
    def entropy(x):
        total = 0.0
        for p in x:
            try:
                total -= p * math.log2(p)
            except ValueError:
                total += p * p
        return total

    def ratio(x):
        try:
            y = x[1] * (float(x[1]) / round(float(x[0])))
        except ZeroDivisionError:
            y = x[1] ** 3
        return y

    def logistic(x):
        try:
            return 1 / (1 + math.exp(-1000 * x[0]))
        except OverflowError:
            return x[0] ** 2

    def root(x):
        try:
            y = math.sqrt(x[0] - 0.5) * math.asin(3 * x[1])
        except ValueError:
            y = x[0] * x[1]
        else:
            y = y * 2
        finally:
            z = x[2]
        return y * z

    _follows(entropy, X, X - 0.4, -X)
    _follows(ratio, X, X + 0.3)
    _follows(logistic, X * 1e-3, -X)
    _follows(root, X, [0.7, 0.1, 0.3], [0.7, -0.9, 0.3])


def test_the_text_of_such_an_exception():
    def f(x):
        try:
            y = math.log(x)
        except ValueError as error:
            y = len(str(error)) * x
        return y

    for x in (0.3, -0.3, 0.4, -2.0):
        assert ad.gradient(f, x) == (ad.grad(f, tier="generic")(x),)


# ---- splines -------------------------------------------------------------------------------------


def test_integrals_of_splines():
    def between_integers(x):
        return interpolate.CubicSpline(KNOTS, x).integrate(0, 4) ** 2

    def to_a_number(x):
        return interpolate.CubicSpline(KNOTS, x).integrate(1, x[0] * 5) ** 2

    def antiderivative(x):
        return interpolate.CubicSpline(KNOTS, x).antiderivative(2)(3.3) ** 2

    def monotone(x):
        found = interpolate.PchipInterpolator(KNOTS, x).antiderivative()
        return np.sum(found(np.array([1.0, 2.5])) ** 2)

    for f in (between_integers, to_a_number, antiderivative, monotone):
        _follows(f, X, X * 1.7)


# ---- random numbers of Python --------------------------------------------------------------------


class Walk:
    def __init__(self, x, seed):
        self.x, self.rng = x, random.Random(seed)

    def step(self):
        return self.x[0] + self.rng.gauss(0, self.x[1])


def test_random_numbers_of_a_known_seed():
    def draws(x):
        r, total = random.Random(1), 0.0
        for _ in range(100):
            total += math.sin(x[0] * r.gauss(x[1], x[2])) * x[r.randint(0, 4)]
        return total + r.random() * x[r.randrange(5)] ** 2

    def distributions(x):
        r = random.Random(2)
        return r.uniform(x[0], 2.0) * r.expovariate(x[1]) * r.normalvariate(0.0, x[2])

    def of_two(x):
        a, b = random.Random(2), random.Random(2)
        return x[0] ** 2 * a.random() + x[1] ** 3 * b.random() + x[0] * a.gauss(1, 2)

    def in_a_branch(x):
        r = random.Random(5)
        if r.random() < x[0]:
            return x[0] ** 2 * r.random()
        return x[1] ** 2 * r.random()

    def shuffled(x):
        r, found = random.Random(5), [v * v for v in x]
        r.shuffle(found)
        return found[0] * found[1] + r.choice(found) ** 2

    def walk(x):
        r, steps, a, b = random.Random(5), [(1, 0), (0, 1), (-1, 0), (0, -1)], 0.0, 0.0
        for _ in range(30):
            right, up = r.choice(steps)
            a, b = a + right * x[0], b + up * x[1]
        return a * a + b * b

    def in_an_object(x):
        one = Walk(x, 42)
        return sum(one.step() ** 2 for _ in range(10))

    for f in (draws, distributions, of_two, in_a_branch, shuffled, walk, in_an_object):
        _follows(f, X, X[::-1].copy())
        assert ad.withgradient(f, X)[0] == pytest.approx(f(X), rel=1e-14)


def test_a_random_integer_below_a_number():
    def f(x, n):
        return x * random.Random(0).randrange(n)

    for _ in range(2):
        assert ad.gradient(f, 2.0, 5) == (f(1.0, 5), 0.0)
    assert ad.tier(f, 2.0, 5).tier == "fast"


# ---- distributions -------------------------------------------------------------------------------


def test_a_multivariate_distribution_that_is_made_first():
    def of_mean(x):
        return stats.multivariate_normal(x, np.eye(5)).logpdf(x * x)

    def of_covariance(x):
        found = stats.multivariate_normal(x, np.outer(x, x) + np.eye(5))
        return found.pdf(x * x) * found.entropy()

    def of_numbers(x):
        return stats.multivariate_normal(x[0], x[1] ** 2).logpdf(x[2])

    for f in (of_mean, of_covariance, of_numbers):
        _follows(f, X, X * 1.5)


def test_entropies():
    def of_beta(x):
        return stats.beta(x[0], x[1]).entropy() * stats.beta.entropy(2.0, x[2])

    def of_several(x):
        return stats.gamma(x[0] * 3, scale=x[1]).entropy() * stats.norm(x[0], x[1]).entropy()

    for f in (of_beta, of_several):
        _follows(f, X, X * 1.5)
        assert ad.withgradient(f, X)[0] == pytest.approx(f(X), rel=1e-13)


def test_moments():
    def of_frozen(x):
        one, other = stats.norm(loc=x[0], scale=2.0), stats.gamma(x[1], scale=x[2])
        return one.mean() * other.std() + other.mean() * stats.norm(x[3], x[4]).var()

    def of_parameters(x):
        found = stats.gamma.mean(x[0], scale=x[1]) + stats.beta.var(x[1], x[2])
        return found * stats.lognorm.std(x[3], 1.0, x[4]) + stats.poisson.mean(x[4])

    for f in (of_frozen, of_parameters):
        _follows(f, X, X * 1.5)
        assert ad.withgradient(f, X)[0] == pytest.approx(f(X), rel=1e-14)


def test_quantiles():
    def of_numbers(x):
        return stats.norm.ppf(0.9, loc=x[0], scale=x[1]) * stats.t.isf(x[2], 5.0, scale=x[3])

    def of_arrays(x):
        return (stats.norm.ppf(x / 2, x, scale=x[1]) ** 2 * stats.norm(x[2]).isf([0.1] * 5)).sum()

    for f in (of_numbers, of_arrays):
        _follows(f, X, X * 1.1)
        assert ad.withgradient(f, X)[0] == pytest.approx(f(X), rel=1e-14)


def test_quantiles_at_the_ends():
    def f(x):
        return np.sum(stats.uniform.ppf([0.0, 0.5, 1.0], x[0], x[1]))

    value, (x_bar,) = ad.withgradient(f, X)
    assert value == f(X)
    np.testing.assert_allclose(x_bar, [3.0, 1.5, 0.0, 0.0, 0.0], rtol=1e-14)


# ---- lists of numbers in place of arrays ---------------------------------------------------------


def test_matrices_of_numbers():
    def f(x):
        a, b, c = x[0], x[1], x[2]
        m = [[a + 2.0, b], [b, 3.0]]
        y = np.linalg.solve(m, [c, 1.0]) @ [a, b] + np.linalg.det(m) + linalg.expm(m)[0, 1]
        y += np.linalg.inv([[a, 2.0], [b, c]])[0, 1] + np.linalg.eigvalsh(m)[0]
        return y + linalg.solve(m, [c, a])[0] + np.kron([a, b], [1.0, c])[1]

    def diagonals(x):
        rates = []
        for i in range(len(x)):
            rates.append(x[i] ** 2)
        return np.sum((np.diag(rates) + np.diag(rates[:-1], 1)) ** 2)

    def rows(x):
        u, v, w = x[:3], x[1:4] ** 2, np.cross(x[:3], x[2:])
        return np.linalg.det([u, v, w]) * np.linalg.inv([u, v, w])[0, 1]

    for one in (f, diagonals, rows):
        _follows(one, X, X * 1.5)


def test_vectors_of_numbers():
    def f(x):
        a, b, c = x[0], x[1], x[2]
        y = np.cross([a, b, 1.0], (c, a, 2.0))[1] + np.interp(a, [0.0, b, 3.0], [c, a, 1.0])
        y += np.gradient([a * c, b, c])[1] * np.convolve([a, b], [1.0, c])[1]
        return y + np.average([a, b, 1.0], weights=[c, 2.0, 1.0]) + np.polyval([a, b, c], a)

    _follows(f, X, X * 1.1)


def test_a_tuple_of_lists_is_several_operands():
    def f(x):
        return linalg.solve_toeplitz(([4.0, x[0]], [4.0, x[1]]), [1.0, x[2]])[0]

    value, (x_bar,) = ad.withgradient(f, X)
    assert value == f(X)
    np.testing.assert_allclose(x_bar, ad.grad(f, tier="generic")(X), rtol=1e-12)
    ad.testing.check_gradient(f, X)


def test_indices_in_a_default():
    def f(x, places=(0, 1, 1)):
        return np.sum(np.outer(x, x)[np.arange(3), places] ** 2)

    _follows(f, X, X * 1.5)


def test_a_reduction_of_an_iterator():
    def f(x):
        y = functools.reduce(operator.mul, (x[0] * k for k in (1.0, 2.0)))
        return y + functools.reduce(operator.add, map(math.sin, [x[1], x[2]]))

    _follows(f, X, X * 1.5)


def test_a_reduction_of_nothing():
    def f(x):
        return x[0] * functools.reduce(operator.add, iter(()))

    with pytest.raises(TypeError, match="empty"):
        ad.gradient(f, X)


def test_what_is_clipped_in_place():
    def f(x):
        y = x * x
        np.clip(y, 0.1, 0.6, out=y)
        y[1:].clip(x[0] ** 2, y[:-1] * 1.5, out=y[1:])
        return np.sum(y * x)

    _follows(f, X, X * 1.1)


# ---- polynomials ---------------------------------------------------------------------------------


def test_derivatives_and_integrals_of_series():
    def f(x):
        one, other = Polynomial(x), Chebyshev(x * x)
        y = one.deriv()(x[0]) * one.integ(2)(0.3) + one.integ(1, lbnd=0.5)(x[1])
        return y + other.deriv(2)(0.3) * other.integ()(x[2])

    _follows(f, X, X * 1.5)


def test_older_polynomials():
    def f(x):
        y = np.poly1d(x)
        z = y.deriv()(x[0]) * y.integ()(0.3) + (2.0 * y - np.poly1d(x[1:]) * y)(x[1])
        z += (np.poly1d(np.polyfit(KNOTS, x, 2)) * y)(0.5) + np.polymul([x[0], 1.0], x)[1]
        return z + np.sum(np.polyder(x, 2) ** 2) + np.polyadd(x[1:], x)[0] * np.polyint(x)[1]

    _follows(f, X, X * 1.5)


# ---- functions without a derivative in a parameter -----------------------------------------------


def test_special_functions_of_constant_parameters():
    def f(x):
        y = special.hyp2f1(0.5, 1.0, 1.5, x[0]) * special.hyp1f1(1.5, 2.5, x[1] ** 2)
        y += np.sum(special.eval_legendre(3, x) * special.struve(1, x)) * special.hyp0f1(2.0, x[2])
        return y + np.sum(special.hyperu(1.0, 2.0, x))

    _follows(f, X, X * 1.05)


def test_parameters_without_a_derivative():
    def f(x):
        return special.hyp2f1(x[0], 1.0, 1.5, x[1])

    for operator_ in (ad.gradient, lambda g, x: ad.hvp(g, x, V)):
        with pytest.raises(ad.NoDerivativeError, match="a parameter"):
            operator_(f, X)


# ---- filters -------------------------------------------------------------------------------------


def test_filters_in_sections():
    sections = signal.butter(4, 0.2, output="sos")

    def f(x):
        y = signal.sosfilt(sections, np.outer(x, x), axis=0)
        z, state = signal.sosfilt([[x[0], 1.0, 2.0, 1.0, x[1], 0.1]], x, zi=[[x[2], 1.0]])
        return np.sum(y**2) + np.sum(z * x) + np.sum(state)

    x = X.copy()
    value, (x_bar,) = ad.withgradient(f, x)
    assert value == f(x) and ad.tier(f, x).tier == "fast"
    np.testing.assert_allclose(x_bar, ad.grad(f, tier="generic")(x), rtol=1e-12)
    ad.testing.check_gradient(f, x)
    ends = [ad.gradient(f, x + h * V)[0] for h in (1e-6, -1e-6)]
    np.testing.assert_allclose(ad.hvp(f, x, V), (ends[0] - ends[1]) / 2e-6, rtol=1e-6)
