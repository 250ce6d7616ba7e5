"""Programs of tangents: pushforwards and products with Hessians, beside those of the levels."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import adjoint as ad
from adjoint.errors import ArgumentError
from adjoint.fast.build.modes import mode_of
from adjoint.fast.programs import store
from adjoint.fast.programs.tangents import along_of
from tests.corpus import all_cases
from tests.corpus.registry import Case
from tests.fast.agreeing import generic_tier
from tests.levels import tangents
from tests.structures import difference, mapped

RNG = np.random.default_rng(8)
X, V = RNG.normal(size=6), RNG.normal(size=6)


class Point(NamedTuple):
    x: float
    y: float


class Box:
    def __init__(self, w: Any, b: Any) -> None:
        self.w, self.b = w, b


def outcome(run: Callable[[], Any]) -> tuple[Any, ...]:
    """The result, or the class of the error."""
    try:
        return "result", run()
    except AssertionError:
        raise
    except Exception as error:
        return "error", type(error)


def compare(run: Callable[[], Any]) -> None:
    """The same with programs and on levels."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = outcome(run)
        with generic_tier():
            expected = outcome(run)
    problem = difference(found, expected, rtol=1e-8)
    # a tangent of a Python number is one, that of the levels may be one of NumPy's
    of_numpy = ("float64 np.float64", "complex128 np.complex128")
    assert problem is None or any(one in problem for one in of_numpy), problem


@pytest.mark.parametrize("case", all_cases(), ids=lambda case: case.name)
def test_pushforwards_of_the_corpus(case: Case) -> None:
    sample = case.sample
    dots = tangents(sample, np.random.default_rng(1))

    def run() -> Any:
        sample.reset()
        f, *args = mapped((sample.f, *sample.args))
        return ad.pushforward(f, args, dots, **sample.kwargs)

    compare(run)


def _scalar(f: Callable[..., Any], kwargs: Any, is_array: bool) -> Callable[[Any], Any]:
    if is_array:
        return lambda xs: np.sum(f(*xs, **kwargs))
    return lambda xs: f(*xs, **kwargs)


@pytest.mark.parametrize("case", all_cases(), ids=lambda case: case.name)
def test_hessians_of_the_corpus(case: Case) -> None:
    sample = case.sample
    y, _ = sample.plain()
    if not isinstance(y, float | np.ndarray):
        pytest.skip("a result of several parts")
    is_array = isinstance(y, np.ndarray)
    dots = tangents(sample, np.random.default_rng(1))

    def run() -> Any:
        sample.reset()
        f, *args = mapped((sample.f, *sample.args))
        return ad.gradient_and_hvp(_scalar(f, sample.kwargs, is_array), args, dots)

    compare(run)


@pytest.mark.parametrize("case", all_cases(), ids=lambda case: case.name)
def test_functions_of_the_corpus_inside_another(case: Case) -> None:
    """From the second call on, what has no program is an operation of the one around it."""
    sample = case.sample
    y, _ = sample.plain()
    if not isinstance(y, float | np.ndarray):
        pytest.skip("a result of several parts")
    dots = tangents(sample, np.random.default_rng(1))

    def called() -> tuple[Any, Any]:
        sample.reset()
        f, *args = mapped((sample.f, *sample.args))
        return lambda xs: np.sum(f(*xs, **sample.kwargs)) * 1.0, args

    def gradient() -> Any:
        f, args = called()
        return ad.gradient(f, args)

    def product() -> Any:
        f, args = called()
        return ad.gradient_and_hvp(f, args, dots)

    for run in (gradient, product, gradient, product):
        compare(run)


# ---- what has a program --------------------------------------------------------------------------


def rosenbrock(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def stepped(x):
    y, k, h = x[0], x[1], 0.05
    for _ in range(20):
        a = -k * y * y
        b = -k * (y + h * a) ** 2
        y = y + h / 2 * (a + b)
    return y


def stencil(x):
    y = np.zeros(6)
    for i in range(1, 5):
        y[i] = x[i - 1] - 2 * x[i] * x[i] + math.sin(x[i + 1])
        y[i] += y[i - 1] * x[i]
    y *= 2.0
    return np.sum(y * y)


def scaled(x):
    y = np.zeros(6)
    y += x * 3.0
    y *= x[2]
    y -= x
    y /= 2.0 + x[1] ** 2
    return np.sum(y * y)


def while_large(x):
    s, t = 0.0, abs(x[0]) + 1.0
    while t > 1e-2:
        t = t / 2 * math.cos(x[1] / 9)
        s = s + t * t
    return s


def branches(x):
    s = 0.0
    for i in range(8):
        if x[0] * i > 0.3:
            s = s + math.sin(x[1] * i)
        elif i % 2:
            s = s + x[0] ** 3 * i
    return s


def nested_loops(x):
    s = 0.0
    for i in range(3):
        t = x[i]
        for j in range(4):
            if t > 0:
                t = t * x[j] - 0.5
            else:
                t = t + x[j] * x[i]
        s = s + t * t
    return s


def appended(x):
    ys = []
    for v in x:
        ys.append(v * v)
    return sum(ys) * max(ys) - min(ys)


def network(x):
    w = np.reshape(x, (2, 3))
    h = np.tanh(INPUTS @ w)
    z = h - np.max(h, axis=1, keepdims=True)
    return -np.mean(z[:, 0] - np.log(np.sum(np.exp(z), axis=1)))


def clipped(x):
    return np.sum(np.clip(x, -0.5, 0.5) ** 3) + np.sum(np.where(x > 0, x**2, np.abs(x)))


def determinant(x):
    return np.linalg.det(np.outer(x, x) + np.diag(x**2 + 1.0))


def constant(x):
    return 3.0


def linear(x):
    return x[1] * 2.0


def views(x):
    m = np.reshape(x, (3, 2)).T
    m = m[::-1] * m[:, :1]
    return np.sum(m[0] * m[1] ** 2)


INPUTS = RNG.normal(size=(5, 2))
FUNCTIONS = [
    rosenbrock, stepped, stencil, while_large, branches, nested_loops, appended, network,
    constant, linear, views,
]  # fmt: skip


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_programs_are_used_and_right(f):
    for along in (along_of("pushforward", f, (X,), {}, (0,)), along_of("hvp", f, (X,), {}, (0,))):
        assert along is not None or f is constant
    compare(lambda: ad.pushforward(f, (X,), (V,)))
    compare(lambda: ad.gradient_and_hvp(f, X, V))
    compare(lambda: ad.hessian(f, X))
    h = 1e-5
    slope = (f(X + h * V) - f(X - h * V)) / (2 * h)
    np.testing.assert_allclose(ad.directional(f, X, V), slope, rtol=1e-6, atol=1e-8)
    bars = [ad.gradient(f, X + s * h * V)[0] for s in (1, -1)]
    moved = (bars[0] - bars[1]) / (2 * h)
    np.testing.assert_allclose(ad.hvp(f, X, V), moved, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("f", [determinant, clipped, scaled])
def test_rules_that_are_called_as_they_are(f):
    assert along_of("pushforward", f, (X,), {}, (0,)) is not None
    assert f is scaled or along_of("hvp", f, (X,), {}, (0,)) is not None
    compare(lambda: ad.pushforward(f, (X,), (V,)))
    compare(lambda: ad.gradient_and_hvp(f, X, V))


def test_many_tangents_at_one_point():
    """The part that depends on the point alone runs once, and nothing is left from one to the
    next."""
    for f in FUNCTIONS:
        along = along_of("hvp", f, (X,), {}, (0,), is_single=True)
        if along is None:
            continue
        first = [along((v,))[1] for v in np.eye(6)]
        again = [along((v,))[1] for v in np.eye(6)]
        np.testing.assert_array_equal(first, again)
        np.testing.assert_allclose(first, np.transpose(first), atol=1e-12)


# ---- structures ----------------------------------------------------------------------------------


def test_structures_of_arguments_and_tangents():
    def f(p, n):
        return {"a": 1.0, "b": p["w"] @ p["v"][0] * n}["b"] + p["v"][1] ** 2

    p = {"w": X, "v": [V, 2.0]}
    for dots in (
        ({"w": V, "v": [X, 1.0]}, None),
        ({"w": None, "v": [None, 1.0]}, None),
        ({"w": V, "v": None}, 1.0),
        (None, 2),
    ):
        compare(lambda dots=dots: ad.pushforward(f, (p, 3), dots))

    def g(box, point):
        return box.w @ box.w * box.b * point.x + point[1] ** 2

    box = Box(X, 2.0)
    compare(lambda: ad.gradient_and_hvp(lambda box: box.w @ box.w * box.b, box, Box(V, 0.5)))
    assert along_of("pushforward", g, (box, Point(0.5, 0.7)), {}, (0, 1)) is not None
    for dots in (
        ({"w": V, "b": 1.0}, Point(1.0, 2.0)),
        (ad.Tangent(Box, {"w": V, "b": None}), None),
        (Box(V, 0.5), Point(1.0, 2.0)),
        (None, [1.0, None]),
    ):
        compare(lambda dots=dots: ad.pushforward(g, (box, Point(0.5, 0.7)), dots))


@pytest.mark.parametrize(
    "dot", [V[:3], np.outer(V, V), "text", V.astype(complex), {"x": V}], ids=repr
)
def test_tangents_that_do_not_fit(dot):
    """The levels say what is wrong."""
    with pytest.raises(ArgumentError):
        ad.pushforward(rosenbrock, (X,), (dot,))
    with pytest.raises(ArgumentError):
        ad.hvp(rosenbrock, X, dot)


def test_tangents_of_other_dtypes():
    for dot in (V.astype(np.float32), (V * 10).astype(int)):
        expected = ad.directional(rosenbrock, X, dot.astype(float))
        np.testing.assert_allclose(ad.directional(rosenbrock, X, dot), expected)


def test_an_unread_argument_is_checked_too():
    with pytest.raises(ArgumentError):
        ad.pushforward(lambda x, y: x * 2.0, (1.0, X), (1.0, V[:2]))


def test_arguments_are_independent():
    def f(x, y):
        return x @ (y * y)

    np.testing.assert_allclose(ad.pushforward(f, (X, X), (V, None))[1], V @ (X * X))
    np.testing.assert_allclose(ad.pushforward(f, (X, X), (None, V))[1], 2 * X * X @ V)
    np.testing.assert_allclose(
        ad.pushforward(lambda x: f(x, X), (X,), (V,))[1], V @ (X * X)
    )  # what is captured is a constant


def test_nothing_is_shared_with_the_caller():
    def f(x, y):
        return x + y, x * 1.0, x

    dots = V.copy(), np.ones(6)
    y, y_dot = ad.pushforward(f, (X, X.copy()), dots)
    arrays = [X, *dots, *y_dot]
    for i, a in enumerate(arrays):
        assert not any(np.shares_memory(a, b) for b in arrays[:i])
    gradient, product = ad.gradient_and_hvp(lambda x: x @ x, X, V)
    for a in (X, V, gradient):
        assert not np.shares_memory(product, a)
    np.testing.assert_array_equal(dots[0], V)


def test_results_of_several_kinds():
    def f(x):
        return x * 2, x.sum(), 5, "text", None, float(x[0]) ** 2

    compare(lambda: ad.pushforward(f, (X,), (V,)))


# ---- edges ---------------------------------------------------------------------------------------


def test_integers_that_count_and_integers_that_do_not():
    def f(p, n):
        return sum(p * n for _ in range(n))

    assert ad.pushforward(f, (2.0, 3), (1.0, 1.0)) == (18.0, 9.0 + 6.0)
    assert ad.pushforward(lambda n: n * n / 2, (3,), (1.0,)) == (4.5, 3.0)
    assert ad.hvp(lambda n: n * n / 2, 3, 1.0) == 1.0


def test_a_branch_that_is_not_selected_contributes_nothing():
    def f(x):
        return np.sum(np.where(x > 0, np.sqrt(np.abs(x)), x))

    x = np.array([0.0, 4.0, -1.0])
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(ad.directional(f, x, np.ones(3)), 1 + 0.25 + 1)
    compare(lambda: ad.pushforward(f, (x,), (np.ones(3),)))


@pytest.mark.parametrize(
    "f",
    [
        lambda x: max(x[0], x[1]) + min(x[0], x[1], x[2]),
        lambda x: np.max(x) * 2.0 + np.min(x),
        lambda x: np.sum(np.maximum(x, x[::-1]) * np.minimum(x, 1.0)),
        lambda x: abs(x[3]) + np.sum(np.abs(x)),
    ],
)
def test_conventions_at_ties(f):
    x = np.array([1.0, 1.0, 1.0, 0.0])
    v = np.array([1.0, 2.0, 4.0, 8.0])
    compare(lambda: ad.pushforward(f, (x,), (v,)))
    compare(lambda: ad.gradient_and_hvp(f, x, v))
    (bar,) = ad.gradient(f, x)
    np.testing.assert_allclose(ad.directional(f, x, v), bar @ v)


def test_warnings_and_errors_are_those_of_the_function():
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        ad.pushforward(lambda x: np.sum(1.0 / x), (np.zeros(2),), (np.ones(2),))
    with pytest.raises(ZeroDivisionError):
        ad.pushforward(lambda x: 1.0 / x, (0.0,), (1.0,))
    with pytest.raises(ad.errors.NotScalarError):
        ad.hvp(lambda x: x * 2, X, V)


def test_single_precision():
    x, v = X.astype(np.float32), V.astype(np.float32)
    weights = RNG.normal(size=(6, 4)).astype(np.float32)

    def loss(x):
        return np.mean(np.tanh(x @ weights) ** 2) * 0.5 + x[0] * np.sqrt(x @ x)

    assert along_of("hvp", loss, (x,), {}, (0,)) is not None
    y, y_dot = ad.pushforward(loss, (x,), (v,))
    product = ad.hvp(loss, x, v)
    assert type(y) is type(y_dot) is np.float32 and product.dtype == np.float32
    exact = X.astype(np.float32).astype(float), v.astype(float)
    np.testing.assert_allclose(y_dot, ad.directional(loss, *exact), rtol=1e-5)
    np.testing.assert_allclose(product, ad.hvp(loss, *exact), rtol=1e-4, atol=1e-5)
    # a number of double precision beside it is no constant of this precision
    mixed = ad.pushforward(lambda x, t: np.sum(x) * t, (x, np.float64(0.1)), (v, 1.0))[1]
    assert mixed == pytest.approx(np.sum(v.astype(float)) * 0.1 + np.sum(x), rel=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.complex128])
def test_further_precisions(dtype):
    x = X.astype(dtype)
    y, y_dot = ad.pushforward(lambda x: x * x, (x,), (np.ones_like(x),))
    assert y.dtype == y_dot.dtype == dtype
    np.testing.assert_allclose(y_dot, 2 * x)
    # a constant of less precision beside a number
    h = np.float32(0.1)
    slope = ad.derivative(lambda t: t * 2.0 * h)(0.7)
    np.testing.assert_allclose(slope, 2.0 * float(h), rtol=1e-15)


def test_equal_calls_are_one_and_their_tangents_are_kept():
    """The passes replace values: a list that is built of an equal one has its tangents."""

    def f(x):
        a = np.array([x[0], x[1] * 2, 1.0])
        b = np.array([[x[0], 2.0], [x[3], x[1]]])
        return np.sum(a) * np.sum(b @ b)

    compare(lambda: ad.pushforward(f, (X,), (V,)))
    compare(lambda: ad.gradient_and_hvp(f, X, V))


def test_the_environment_and_other_tiers():
    with generic_tier():
        assert along_of("pushforward", rosenbrock, (X,), {}, (0,)) is None
    kept = store.known(rosenbrock, mode_of("hvp", (0,)))
    assert kept is None or kept.entries


def test_gradient_functions_have_programs():
    slope = ad.grad(rosenbrock)
    assert along_of("pushforward", slope, (X,), {}, (0,)) is not None
    hessian = ad.hessian(rosenbrock, X)
    for mode in ("forward", "reverse"):
        np.testing.assert_allclose(ad.jacobian(slope, X, mode=mode), hessian, rtol=1e-10)
    np.testing.assert_allclose(ad.pushforward(slope, (X,), (V,))[1], hessian @ V)
    np.testing.assert_allclose(ad.grad(lambda x: ad.grad(rosenbrock)(x) @ V)(X), hessian @ V)
    # another function of the same code is another
    for power in (2, 3):
        f = ad.grad(lambda x, power=power: np.sum(x**power))
        expected = power * (power - 1) * X ** (power - 2) * V
        np.testing.assert_allclose(ad.directional(f, X, V), expected)
    both = ad.value_and_grad(rosenbrock)
    value, slopes = ad.pushforward(both, (X,), (V,))[1]
    np.testing.assert_allclose([value, *slopes], [slope(X) @ V, *hessian @ V])


def test_further_products_with_hessians():
    hessian = ad.hessian(rosenbrock, X)
    np.testing.assert_allclose(ad.vhp(rosenbrock, X, V), hessian @ V)
    np.testing.assert_allclose(ad.hessian_diagonal(rosenbrock, X), np.diag(hessian))
    np.testing.assert_allclose(ad.sparse_hessian(rosenbrock, X).toarray(), hessian)
    for run in (
        lambda: ad.vhp(network, X, V),
        lambda: ad.hessian_diagonal(network, X),
        lambda: ad.hessian_diagonal(lambda p: p[0] ** 3 * np.sum(p[1] ** 2), [2.0, X]),
        lambda: ad.gauss_newton_product(lambda x: np.tanh(x * x), X, V),
    ):
        compare(run)


def test_linearize_and_jacobians():
    def f(x, n):
        return np.outer(x, x).ravel() * n

    y, push = ad.linearize(f, X, 2)
    np.testing.assert_allclose(y, f(X, 2))
    np.testing.assert_allclose(push(V, None), 2 * (np.outer(X, V) + np.outer(V, X)).ravel())
    np.testing.assert_allclose(push(None, 1.0), np.outer(X, X).ravel())
    np.testing.assert_allclose(
        ad.gradient(lambda v: np.sum(push(v, None) ** 2), V)[0],
        2 * ad.pullback(f, X, 2)[1](push(V, None))[1],
        rtol=1e-10,
    )
    with pytest.raises(ArgumentError):
        push(V[:2], None)
    for mode in ("forward", "reverse"):
        compare(lambda mode=mode: ad.jacobian(f, X, 2, mode=mode))


def test_a_linear_map_stays_what_it_was():
    """Where it has to run the function again, what that reads must be unchanged."""
    scale = [2.0]

    def f(x):
        return scale[0] * x * x

    _, push = ad.linearize(f, X)
    expected = push(V)
    integers = np.arange(6)
    np.testing.assert_allclose(push(integers), 4.0 * X * integers)
    _, push = ad.linearize(f, X)
    scale[0] = 5.0
    np.testing.assert_array_equal(push(V), expected)
    with pytest.raises(ad.errors.MutationError, match="has changed since it was linearized"):
        push(integers)
    np.testing.assert_array_equal(push(V), expected)


def test_tangents_of_a_linear_map_are_new_arrays():
    _, push = ad.linearize(lambda x: (np.exp(x), np.ones(2)), X)
    moved, zeros = push(V)
    moved[:], zeros[:] = 9.0, 9.0
    np.testing.assert_allclose(push(V)[0], np.exp(X) * V)
    np.testing.assert_array_equal(push(V)[1], np.zeros(2))


def test_tangents_at_one_point_find_the_same_values():
    def f(x):
        v = x * x
        w = x + np.tanh(v)
        v[2] = x[0]
        return np.tanh(v).sum() + 2 * np.sin(v).sum() + np.tanh(w).sum() * w[0]

    x = np.linspace(-1.0, 1.0, 20)
    with generic_tier():
        expected = ad.hessian(f, x)
    _, push = ad.linearize(ad.grad(f), x)
    for _ in range(2):
        np.testing.assert_allclose([push(v) for v in np.eye(20)], expected, atol=1e-12)
    step = [ad.gradient(f, x + h)[0] for h in (1e-6, -1e-6)]
    np.testing.assert_allclose(push(np.ones(20)), (step[0] - step[1]) / 2e-6, rtol=1e-6)
    np.testing.assert_allclose(ad.hessian_diagonal(f, x), np.diag(expected), atol=1e-12)


def test_types_of_tangents():
    for x in (np.float64(2.0), np.float32(2.0), 2.0, 2):
        y, y_dot = ad.pushforward(lambda x: x * 0.5, (x,), (1.0,))
        assert type(y_dot) is type(y)


def test_a_tangent_of_a_number_may_be_an_array():
    dot = np.array(1.5)
    for x in (0.5, np.float32(0.5), 0.5 + 0.25j):
        dots = (1.5,), (dot,)
        expected, found = [ad.pushforward(lambda x: np.sin(x) * x, (x,), one) for one in dots]
        assert found == expected and type(found[1]) is type(expected[1])
    store.forget()
    assert ad.hvp(lambda x: x**3, 2.0, dot) == 18.0
    (known,) = store._kept.values()
    assert not known.refused and not known.entries[0].failures.last


def started_by_a_number(x):
    s = 0.0
    for _ in range(2):
        s = s + np.sum(x * x)
    return s


def by_a_branch(x):
    return x.sum() if x[0] > 0 else 0.0


def greatest(x):
    m = -1e9
    for v in x:
        m = max(m, v)
    return m


@pytest.mark.parametrize("f", [started_by_a_number, by_a_branch, greatest])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_tangents_have_the_precision_of_results(f, kind):
    x = np.array([1, 2, 3], kind)
    y, y_dot = ad.pushforward(f, (x,), (x,))
    assert type(y) is kind and type(y_dot) is kind
    assert store.known(f, mode_of("pushforward", (0,))).entries
    y, y_dot = ad.pushforward(by_a_branch, (-x,), (x,))
    assert type(y) is float and y_dot == 0
