"""Derivatives of derivatives: each belongs to its own variable, of whatever mode and order."""

from __future__ import annotations

import math

import numpy as np
import pytest

import adjoint as ad
from adjoint.levels.current import entered, in_use


def forward(f):
    return ad.derivative(f)


def reverse(f):
    return lambda x: ad.gradient(f, x)[0]


MODES = {"forward": forward, "reverse": reverse}
both = pytest.mark.parametrize("outer", MODES.values(), ids=MODES)
each = pytest.mark.parametrize("inner", MODES.values(), ids=MODES)


# ---- perturbation confusion ----------------------------------------------------------------------


@both
@each
def test_a_sum_with_the_outer_variable(outer, inner):
    """d/dx [x · d/dy (x + y)] = 1 (Siskind and Pearlmutter 2005)."""
    assert outer(lambda x: x * inner(lambda y: x + y)(1.0))(1.0) == 1.0


@both
@each
def test_a_product_with_the_outer_variable(outer, inner):
    """d/dx [x · d/dy (x y)] = 2 x."""
    assert outer(lambda x: x * inner(lambda y: x * y)(2.0))(3.0) == 6.0


@both
@each
def test_the_inner_point_depends_on_the_outer(outer, inner):
    """d/dx [d/dy (y³ x) at y = x] = d/dx 3 x³ = 9 x²."""
    assert outer(lambda x: inner(lambda y: y**3 * x)(x))(2.0) == pytest.approx(36.0, rel=1e-15)


@both
@each
def test_a_function_that_returns_a_function(outer, inner):
    """The amazing bug of Manzyuk et al. (2019): tangents must not outlive their derivative."""

    def shift(u):
        return lambda f: lambda x: f(x + u)

    shifted = outer(lambda u: inner(lambda x: shift(u)(math.exp)(x))(1.0))(0.0)
    assert shifted == pytest.approx(math.e, rel=1e-15)


@both
def test_a_constant_that_is_equal_to_the_variable(outer):
    """What is known of one number is not known of another that is equal."""
    x = 1.5
    assert outer(lambda y: y * x + x * x)(x) == x


def test_the_same_number_twice_among_the_arguments():
    zero = 0.0
    y, y_dot = ad.pushforward(lambda xs: xs[0] + 3 * xs[1], ([zero, zero],), ([1.0, 0.0],))
    assert (y, y_dot) == (0.0, 1.0)


@both
@each
def test_the_tangent_is_the_outer_variable(outer, inner):
    """d/dv [directional derivative of sin x along v] = cos x."""
    found = outer(lambda v: ad.directional(math.sin, 0.3, v))(2.0)
    assert found == pytest.approx(math.cos(0.3), rel=1e-15)


# ---- orders --------------------------------------------------------------------------------------

FUNCTIONS = {
    "sin": (math.sin, 0.4, -math.cos(0.4)),
    "exp": (math.exp, 0.4, math.exp(0.4)),
    "log": (math.log, 0.4, 2 / 0.4**3),
    "power": (lambda x: x**2.5, 0.4, 2.5 * 1.5 * 0.5 * 0.4**-0.5),
    "quotient": (lambda x: 1 / x, 0.4, -6 / 0.4**4),
    "tanh": (math.tanh, 0.0, -2.0),
    "loop": (lambda x: sum(x**k for k in range(6)), 0.4, 6 + 24 * 0.4 + 60 * 0.16),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("modes", ["fff", "rrr", "frf", "rfr", "ffr", "rff"])
def test_third_derivatives(name, modes):
    f, x, expected = FUNCTIONS[name]
    for mode in modes:
        f = forward(f) if mode == "f" else reverse(f)
    assert f(x) == pytest.approx(expected, rel=1e-12)


def test_fourth_derivative():
    f = math.sin
    for take in (reverse, forward, reverse, forward):
        f = take(f)
    assert f(0.7) == pytest.approx(math.sin(0.7), rel=1e-13)


# ---- programs ------------------------------------------------------------------------------------


def differences(f, x, h=1e-5):
    bar = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[i] = h
        bar[i] = (f(x + step) - f(x - step)) / (2 * h)
    return bar


@each
def test_physics_informed_loss(inner):
    """The derivative in parameters of a loss that contains derivatives in the input."""

    def loss(w):
        def u(t):
            return w[2] * math.tanh(w[0] * t + w[1])

        total = u(0.0) ** 2
        for t in (0.2, 0.5, 0.9):
            total = total + (inner(inner(u))(t) + u(t)) ** 2
        return total

    w = np.array([0.7, -0.2, 1.3])
    np.testing.assert_allclose(ad.gradient(loss, w)[0], differences(loss, w), rtol=1e-7)
    v = np.array([0.3, 0.5, -0.2])
    assert ad.directional(loss, w, v) == pytest.approx(differences(loss, w) @ v, rel=1e-7)


def test_through_a_minimisation():
    """The hypergradient through twenty steps of gradient descent."""

    def descended(weight):
        theta = np.zeros(2)
        for _ in range(20):
            bar = ad.gradient(lambda t: np.sum((t - 1.0) ** 2) + weight * np.sum(t**2), theta)[0]
            theta = theta - 0.1 * bar
        return np.sum((theta - 0.5) ** 2)

    expected = (descended(0.3 + 1e-5) - descended(0.3 - 1e-5)) / 2e-5
    assert ad.gradient(descended, 0.3)[0] == pytest.approx(expected, rel=1e-8)
    assert ad.derivative(descended)(0.3) == pytest.approx(expected, rel=1e-8)


def test_a_while_loop_that_descends():
    def argument_of_minimum(a):
        x, steps = 1.0, 0
        while abs(slope := ad.derivative(lambda x: (x * x - a) ** 2)(x)) > 1e-10:
            x, steps = x - slope / (8 * a), steps + 1
        return x

    assert ad.derivative(argument_of_minimum)(2.0) == pytest.approx(0.5 / math.sqrt(2.0), rel=1e-6)
    assert ad.gradient(argument_of_minimum, 2.0)[0] == pytest.approx(0.5 / math.sqrt(2.0), rel=1e-6)


def test_a_saddle_by_nested_descent():
    """min over x of max over y of x² + x y c − y², by Newton's method inside."""

    def value(c):
        def best(x):
            y = 0.0
            for _ in range(2):
                first = ad.derivative(lambda y: x * x + x * y * c - y * y)
                y = y - first(y) / ad.derivative(first)(y)
            return x * x + x * y * c - y * y

        x = 1.0
        first = reverse(best)
        return best(x - 0.1 * first(x))

    expected = (value(0.5 + 1e-5) - value(0.5 - 1e-5)) / 2e-5
    assert ad.derivative(value)(0.5) == pytest.approx(expected, rel=1e-8)
    assert ad.gradient(value, 0.5)[0] == pytest.approx(expected, rel=1e-8)


class Layer:
    def __init__(self, weights, bias):
        self.weights, self.bias = weights, bias

    def __call__(self, x):
        return np.tanh(x @ self.weights + self.bias)


def test_a_model_of_objects():
    """The gradient in a model of the norm of its gradient in the input."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=3)

    def penalty(layers):
        def output(x):
            for layer in layers:
                x = layer(x)
            return np.sum(x)

        return np.sum(ad.gradient(output, x)[0] ** 2)

    layers = [
        Layer(rng.normal(size=(3, 4)), rng.normal(size=4)),
        Layer(rng.normal(size=(4, 2)), 0.1),
    ]
    (bars,) = ad.gradient(penalty, layers)

    def moved(weights):
        return penalty([Layer(weights, layers[0].bias), layers[1]])

    expected = differences(moved, layers[0].weights)
    np.testing.assert_allclose(bars[0].weights, expected, rtol=1e-6, atol=1e-9)


def test_a_pullback_that_is_used_elsewhere():
    """A pullback made by one derivative and applied by another: d/dx [x · 2 x · x] = 6 x²."""
    found = ad.gradient(lambda x: ad.pullback(lambda y: y * x * y, x)[1](x)[1], 3.0)
    assert found == (54.0,)


def test_threads_do_not_share_levels():
    from concurrent.futures import ThreadPoolExecutor

    model = [0.5, 0.5]

    def f(xs, t):
        return xs[0] * t + xs[1] * t * t

    def one(t):
        return ad.pushforward(f, (model, t), ([1.0, 0.0], None))[1]

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(one, map(float, range(64)))) == [float(t) for t in range(64)]


# ---- arrays that the function knows otherwise ----------------------------------------------------

POINT = np.array([0.3, -1.2, 2.0])


def test_the_captured_argument_is_a_constant():
    """∇ of |x − x₀|² at x₀, and its Hessian, where the function knows the array x₀ too."""
    ones = np.ones(3)
    assert ad.pushforward(lambda x: np.sum(x * POINT), (POINT,), (ones,))[1] == np.sum(POINT)

    def curvature(v):
        def gradient(x):
            return ad.gradient(lambda z: np.sum((z - POINT) ** 2), x)[0]

        return ad.pushforward(gradient, (POINT,), (v,))[1]

    np.testing.assert_array_equal(curvature(ones), 2 * ones)


def test_the_outer_array_is_a_constant_inside():
    def f(x):
        def g(z):
            z = z.copy()
            z[0] = x[1] * z[1]
            return np.sum(z * z * x)

        return ad.gradient(g, x)[0]

    v, h = np.array([1.0, 2.0, 3.0]), 1e-6
    expected = (f(POINT + h * v) - f(POINT - h * v)) / (2 * h)
    np.testing.assert_allclose(ad.pushforward(f, (POINT,), (v,))[1], expected, rtol=1e-8)
    bars = [ad.gradient(lambda x, i=i: f(x)[i], POINT)[0] @ v for i in range(3)]
    np.testing.assert_allclose(bars, expected, rtol=1e-8)


def test_what_is_written_is_seen_under_every_name():
    point = POINT.copy()

    def f(x):
        x[0] = 2 * x[1]
        return np.sum(point * point)

    y, y_dot = ad.pushforward(f, (point,), (np.array([1.0, 2.0, 3.0]),))
    assert y == pytest.approx(4 * 1.44 + 1.44 + 4)
    assert y_dot == pytest.approx(8 * POINT[1] * 2)  # the rest of what is captured is constant
    assert point[0] == 2 * point[1]


def test_an_argument_that_is_returned_is_the_callers():
    assert ad.pushforward(lambda x: x, (POINT,), (np.ones(3),))[0] is POINT


def test_an_operator_that_has_captured_what_it_is_given():
    """d/dx of 2 a x₀ at a = x, where x and x₀ are one array: only a is the variable."""
    point = POINT.copy()
    slopes = ad.grad(lambda a: np.sum(a * a * point))
    np.testing.assert_allclose(ad.gradient(lambda v: np.sum(slopes(v)), point)[0], 2 * point)

    def of_both(v):
        return np.sum(ad.gradient(lambda a: np.sum(a * a * v), v)[0])

    np.testing.assert_allclose(ad.gradient(of_both, point)[0], 4 * point)


@pytest.mark.parametrize("modes", ["ff", "fr", "rf", "rr", "frf"])
def test_roots_move_with_what_their_function_knows(modes):
    """Derivatives of the cube root by `scipy.optimize.brentq`."""
    from scipy import optimize

    f = lambda t: optimize.brentq(lambda s: s**3 - t, 0, 5)  # noqa: E731
    power, expected = 1 / 3, 1.0
    for mode in modes:
        f = forward(f) if mode == "f" else reverse(f)
        expected, power = expected * power, power - 1
    assert f(2.0) == pytest.approx(expected * 2.0**power, rel=1e-10)


# ---- rules whose values are computed where levels do not look -----------------------------------

MATRIX = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 5.0]])


def _sparse_programs():
    sparse = pytest.importorskip("scipy.sparse")
    linalg = pytest.importorskip("scipy.sparse.linalg")
    a, b = sparse.csr_array(MATRIX), np.array([1.0, 2.0, 3.0])
    return {
        "sum": lambda t: ((a * t) + (a * (t * t))).power(2).sum() * t,
        "product": lambda t: ((a * t) @ (a * t) * (t * t)).sum(),
        "by_elements": lambda t: (a * t).multiply(a * t).sum() * t,
        "vector": lambda t: ((a * t).T @ (a * t) @ (b * t)).sum(),
        "solve": lambda t: linalg.spsolve(a * t + a @ a, b).sum() * t,
        "iterate": lambda t: linalg.cg(a * t + a @ a, b, rtol=1e-13)[0].sum() * t,
        "norm": lambda t: linalg.norm(a * t) ** 3,
    }


@pytest.mark.parametrize("modes", ["ff", "fr", "rf", "rr"])
@pytest.mark.parametrize("name", _sparse_programs())
def test_sparse_arrays_twice(name, modes):
    f, h = _sparse_programs()[name], 1e-5
    expected = (reverse(f)(1.3 + h) - reverse(f)(1.3 - h)) / (2 * h)
    for mode in modes:
        f = forward(f) if mode == "f" else reverse(f)
    assert f(1.3) == pytest.approx(expected, rel=1e-7)


def test_factors_in_an_object():
    sparse = pytest.importorskip("scipy.sparse")
    linalg = pytest.importorskip("scipy.sparse.linalg")
    a = sparse.csc_array(MATRIX)
    f = lambda t: linalg.splu(a * t).solve(np.ones(3)).sum()  # noqa: E731
    expected = 2 * np.linalg.solve(MATRIX, np.ones(3)).sum() / 1.3**3
    for twice in (
        forward(forward(f)),
        forward(reverse(f)),
        reverse(forward(f)),
        reverse(reverse(f)),
    ):
        assert twice(1.3) == pytest.approx(expected, rel=1e-12)


# ---- where the cotangent is zero, its derivative need not be -------------------------------------

AT_ZERO = {
    "maximum": (lambda t: np.maximum(t - 1.0, 3 * (t - 1.0) - 1) ** 2, 1.0, 2.0),
    "max": (lambda t: max(t - 1.0, 3 * (t - 1.0) - 1) ** 2, 1.0, 2.0),
    "product": (lambda t: ((t - 1.0) * t) ** 2, 1.0, 2.0),
    "sine": (lambda t: np.sin(t) ** 2, 0.0, 2.0),
    "logarithm": (lambda t: math.log(t) ** 2, 1.0, 2.0),
    "sum": (lambda t: sum([t - 1.0, t - 1.0]) ** 2, 1.0, 8.0),
    "clip": (lambda t: np.clip(t - 1.0, -1, 1) ** 2, 1.0, 2.0),
    "norm": (lambda t: (np.linalg.norm(np.array([t, 1.0])) - math.sqrt(2)) ** 2, 1.0, 1.0),
}


@pytest.mark.parametrize("modes", ["ff", "fr", "rf", "rr"])
@pytest.mark.parametrize("name", AT_ZERO)
def test_least_squares_at_the_solution(name, modes):
    f, x, expected = AT_ZERO[name]
    for mode in modes:
        f = forward(f) if mode == "f" else reverse(f)
    assert f(x) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("modes", ["ff", "fr", "rf", "rr"])
@pytest.mark.parametrize("name", ["expm", "logm", "cosm", "sqrtm"])
def test_functions_of_matrices_at_the_solution(name, modes):
    linalg = pytest.importorskip("scipy.linalg")
    function, point = getattr(linalg, name), np.array([[2.0, 0.3], [0.1, 1.0]])
    solution, direction, h = function(point), np.ones((2, 2)), 1e-5
    moved = (function(point + h * direction) - function(point - h * direction)) / (2 * h)

    f = lambda t: np.sum((function(point + t * direction) - solution) ** 2)  # noqa: E731
    for mode in modes:
        f = forward(f) if mode == "f" else reverse(f)
    assert f(0.0) == pytest.approx(2 * np.sum(moved**2), rel=1e-7)


@pytest.mark.parametrize("twice", [forward, reverse], ids=["forward", "reverse"])
def test_removable_points_of_special_functions(twice):
    special = pytest.importorskip("scipy.special")
    assert twice(reverse(special.spence))(1.0) == pytest.approx(0.5, rel=1e-12)
    assert twice(reverse(lambda t: special.xlog1py(t, t)))(0.0) == pytest.approx(2.0, rel=1e-12)
    with np.errstate(all="ignore"):
        assert twice(reverse(lambda t: special.it2j0y0(t)[0]))(0.0) == pytest.approx(0.25)
        assert twice(reverse(lambda t: special.it2i0k0(t)[0]))(0.0) == pytest.approx(0.25)


AT_ZEROS_OF_GAMMA = {
    "rgamma": (lambda sp, t: sp.rgamma(t), [(0.0, 1.1544313298030657), (-2.0, -3.691137340393871)]),
    "poch": (lambda sp, t: sp.poch(t, 3.0), [(0.0, 6.0), (-1.0, 0.0), (-2.0, -6.0)]),
    "binom in n": (lambda sp, t: sp.binom(t, 3.0), [(0.0, -1.0), (1.0, 0.0), (2.0, 1.0)]),
    "binom in k": (lambda sp, t: sp.binom(3.0, t), [(-1.0, 25 / 24), (5.0, -77 / 600)]),
}


@pytest.mark.parametrize("modes", ["ff", "fr", "rf", "rr"])
@pytest.mark.parametrize("name", AT_ZEROS_OF_GAMMA)
def test_zeros_of_the_reciprocal_of_gamma(name, modes):
    special = pytest.importorskip("scipy.special")
    function, points = AT_ZEROS_OF_GAMMA[name]
    f = lambda t: function(special, t)  # noqa: E731
    for mode in modes:
        f = forward(f) if mode == "f" else reverse(f)
    for t, expected in points:
        assert f(t) == pytest.approx(expected, rel=1e-10, abs=1e-10)
        h = 1e-3
        five = [-function(special, t + k * h) for k in (-2, 2)]
        three = [16 * function(special, t + k * h) for k in (-1, 1)]
        difference = (sum(five) + sum(three) - 30 * function(special, t)) / (12 * h * h)
        assert difference == pytest.approx(expected, rel=1e-6, abs=1e-7)


EQUAL = {"zero": np.diag([1.0, 0.0, 0.0]), "one": np.ones((3, 3)), "unit": np.eye(3)}


@pytest.mark.parametrize("modes", ["ff", "fr", "rf", "rr"])
@pytest.mark.parametrize("values", [np.linalg.eigvalsh, "svd"])
@pytest.mark.parametrize("name", EQUAL)
def test_second_derivatives_of_equal_values_are_no_numbers(name, values, modes):
    """Of these values alone they are not known, though the sum of squares has some."""
    move = np.array([[0.3, 1.0, -0.4], [1.0, 0.2, 0.9], [-0.4, 0.9, -0.7]])

    def f(t):
        a = EQUAL[name] + t * move
        if values == "svd":
            return np.sum((np.linalg.svd(a, compute_uv=False) - EQUAL[name][1, 1]) ** 2)
        return np.sum((values(a) - EQUAL[name][1, 1]) ** 2)

    for mode in modes:
        f = forward(f) if mode == "f" else reverse(f)
    try:
        assert np.isnan(f(0.0))
    except ad.errors.NoDerivativeError:
        pass


LARGEST = {
    "svd": lambda a: np.linalg.svd(a, compute_uv=False)[0],
    "norm": lambda a: np.linalg.norm(a, 2),
    "eigvalsh": lambda a: np.linalg.eigvalsh(a)[-1],
}


@pytest.mark.parametrize("modes", ["ff", "fr", "rf", "rr"])
@pytest.mark.parametrize("name", LARGEST)
def test_the_largest_beside_values_that_are_equal(name, modes):
    """Of a value that is alone the others need not be told apart."""
    move = np.array([[0.3, 1.0, -0.4], [1.0, 0.2, 0.9], [-0.4, 0.9, -0.7]])
    f = lambda t: LARGEST[name](np.ones((3, 3)) + t * move) ** 2  # noqa: E731
    h = 1e-2
    sums = 16 * (f(h) + f(-h)) - f(2 * h) - f(-2 * h)
    expected = (sums - 30 * f(0.0)) / (12 * h * h)
    for mode in modes:
        f = forward(f) if mode == "f" else reverse(f)
    assert f(0.0) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("modes", ["ff", "fr", "rf", "rr"])
@pytest.mark.parametrize("name, slope", [("struve", -1), ("modstruve", 1)])
def test_functions_of_struve_of_order_zero(name, slope, modes):
    """H0' = 2/pi - H1 and H1' = H0 - H1/x, as in the series (11.2.1)."""
    special = pytest.importorskip("scipy.special")
    f = lambda x: getattr(special, name)(0.0, x)  # noqa: E731
    for mode in modes:
        f = forward(f) if mode == "f" else reverse(f)
    assert f(0.0) == 0
    x, h = 0.5, 1e-3
    values = [getattr(special, name)(1.0, x + k * h) for k in (-2, -1, 1, 2)]
    difference = (values[0] - 8 * values[1] + 8 * values[2] - values[3]) / (12 * h)
    assert f(x) == pytest.approx(slope * difference, rel=1e-9)


class Weighted:
    def __init__(self, weight, slope):
        self.weight, self.slope = weight, slope

    def __call__(self, x):
        return self.weight * x + self.slope


def slope(f, x):
    return ad.gradient(f, x)[0]


def test_an_attribute_is_no_operator_of_its_name():
    """What takes derivatives goes on a tape, where integers in objects are constants."""
    bar = ad.gradient(lambda model, x: model(x), Weighted(2.0, 3), 1.5)[0]
    assert bar.slope == 1.0 and slope(lambda x: x * x, 2.0) == 4.0


# ---- lists that are written into arrays, and changed afterwards ----------------------------------

CHANGES = {
    "reverse": lambda xs: xs.reverse(),
    "pop": lambda xs: xs.pop(),
    "clear": lambda xs: xs.clear(),
    "set": lambda xs: xs.__setitem__(0, 5.0),
}


@pytest.mark.parametrize("index", [slice(None), ..., [0, 1, 2]], ids=repr)
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_list_that_changes_after_it_was_written(index, change):
    def f(v):
        a = np.zeros(3)
        row = [v[0], v[1] * v[1], v[2]]
        a[index] = row
        change(row)
        return (a**2 * np.array([1.0, 3.0, 7.0])).sum()

    v = np.array([0.7, 1.3, 0.45])
    expected = np.diag([2.0, 36.0 * v[1] ** 2, 14.0])
    np.testing.assert_allclose(ad.hessian(f, v), expected)
    np.testing.assert_allclose(ad.jacobian(ad.grad(f), v), expected)
    np.testing.assert_allclose(ad.jacobian_forward(ad.grad(f), v), expected)


def written_by_a_view(z, even, x):
    """Derivatives of a function that writes by one name into an array and reads it by another."""

    def inner(v):
        even[:] = even[::-1] * v
        return np.sum(z**2)

    return ad.grad(inner)(x) + ad.grad(inner)(x * x)


@pytest.mark.parametrize("argnums", [0, 1, 2, (0, 1), (1, 2), (0, 2), (0, 1, 2)])
def test_names_of_one_array_on_every_level(argnums):
    """They are one on the levels above that on which they are given, too."""

    def value(shift, x):
        z = np.arange(1.0, 7.0) + shift
        return written_by_a_view(z, z[::2], x)

    z = np.arange(1.0, 7.0)
    y, bars = ad.value_and_grad(written_by_a_view, argnums=argnums)(z, z[::2], 1.3)
    assert y == pytest.approx(value(0.0, 1.3))
    if isinstance(argnums, tuple) and 2 in argnums:
        slope = (value(0.0, 1.3 + 1e-6) - value(0.0, 1.3 - 1e-6)) / 2e-6
        assert bars[-1] == pytest.approx(slope, rel=1e-6)
    if argnums == (0, 1):
        steps = 1e-6 * np.eye(6)
        slopes = [(value(step, 1.3) - value(-step, 1.3)) / 2e-6 for step in steps]
        total = bars[0].copy()  # what differences move is both of them
        total[::2] += bars[1]
        np.testing.assert_allclose(total, slopes, rtol=1e-6, atol=1e-6)


def test_tangents_of_names_of_one_array_on_every_level():
    def value(shift):
        z = np.arange(1.0, 7.0) + shift
        return written_by_a_view(z, z[::2], 1.3 + shift)

    z = np.arange(1.0, 7.0)
    y, dot = ad.pushforward(written_by_a_view, (z, z[::2], 1.3), (np.ones(6), np.ones(3), 1.0))
    assert y == pytest.approx(value(0.0))
    assert dot == pytest.approx((value(1e-6) - value(-1e-6)) / 2e-6, rel=1e-6)


def test_contexts_of_levels_are_counted_until_they_end():
    counts = []

    def fails(x):
        counts.append(in_use[0])
        raise LookupError

    with pytest.raises(LookupError), entered(None):
        ad.pushforward(fails, (1.0,), (1.0,))
    assert min(counts) > 0
    assert in_use == [0]
