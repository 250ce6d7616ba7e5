"""Calls that the evaluator does not cover, as opaque operations of a program."""

import numpy as np
import pytest
import scipy.interpolate
import scipy.linalg
import scipy.signal
import scipy.stats

import adjoint as ad
from adjoint.fast.build.modes import GRADIENT, PULLBACK, mode_of
from adjoint.fast.evaluate import partial_evaluator
from adjoint.fast.not_covered import NotCovered
from adjoint.fast.programs import store
from adjoint.runtime.dispatch.observed_results import observed
from tests.fast import opaque_functions as user
from tests.fast.agreeing import generic_tier
from tests.fast.agreement import refused

RNG = np.random.default_rng(0)
X = RNG.random(6) + 0.2
A = RNG.random((4, 4))


def histogram(x):
    counts, edges = np.histogram(x, 5, range=(0.0, 2.0), weights=x * x)
    return np.sum(np.sin(counts)) * edges[1]


def of_two_variables(a):
    return np.sum(np.histogram2d(a[0], a[1], bins=3, weights=a[2])[0] * 2.0) + np.cov(a)[0, 1]


def parts_of_a_list(x):
    a, b, c = np.array_split(np.exp(x), 3)
    return np.sum(a * b) + c[0]


def in_a_loop(x):
    total = 0.0
    for i in range(4):
        y = np.unwrap(np.sin(x) * (i + total))
        total = total + y[i] * y[0]
    return total


def in_a_branch(x):
    total = 0.0
    for i in range(len(x)):
        if x[i] > 0.6:
            total = total + scipy.signal.detrend(x * x[i])[1]
        else:
            total = total + x[i]
    return total


def in_no_iteration(x):
    total = x[0]
    for _ in range(len(x) - 6):
        total = total + np.sum(np.unwrap(x))
    return total


def until_it_is_small(x):
    while np.sum(x) > 0.5:
        x = 0.5 * np.unwrap(x)
    return np.sum(x * x)


def written_before_and_after(a):
    z = np.sin(a)
    y = scipy.signal.detrend(z[0])
    z[1] = z[1] * y
    z *= 2.0
    y += z[2]
    z[0] = y
    return np.sum(z * z)


def written_in_a_loop(a):
    z = np.sin(a)
    for i in range(4):
        z[i] = z[i] + np.unwrap(z[i])
    return np.sum(z * z)


def an_option_of_a_ufunc(x):
    y = np.add.reduce(np.outer(x, x), axis=0, keepdims=True, initial=1.0)
    return np.sum(y * y)


def an_option_of_a_reduction(x):
    return np.sum(x * x, where=np.array([True, False, True, True, False, True])) * x[0]


def percentiles(a):
    low, high = np.percentile(a, [20.0, 50.0], axis=0)
    return low @ high


def a_fit(x):
    slope, offset = np.polyfit(np.arange(6.0), x, 1, cov=True)[0]
    return slope * slope + offset


def windowed(x):
    return np.sum(x * scipy.signal.windows.tukey(6) * scipy.signal.savgol_filter(x, 3, 1))


def slopes(a):
    g = np.gradient(a * a, axis=0, edge_order=2)
    return np.sum(g * scipy.linalg.toeplitz(a[2]))


def called_twice(x):
    y = np.unwrap(x)
    z = np.unwrap(y * x)
    return y @ z


def of_constants(x):
    nodes = np.polynomial.chebyshev.chebpts1(6)
    return np.sum(nodes * x * x)


def a_view(x):
    grown = np.atleast_3d(x)
    return np.sum(grown * grown)


def in_a_helper(x):
    def helper(v):
        return np.ediff1d(v * v, to_begin=v[:1])

    return np.sum(helper(x) ** 2)


def of_a_number(t):
    return np.sum(np.vander(np.array([t, t * t, 1.0]), 3)[1])


def of_less_precision(x):
    return np.sum(np.unwrap(x) * x)


CASES = {
    histogram: X,
    of_two_variables: A,
    parts_of_a_list: X,
    in_a_loop: X,
    in_a_branch: X,
    in_no_iteration: X,
    until_it_is_small: X,
    written_before_and_after: A,
    written_in_a_loop: A,
    an_option_of_a_ufunc: X,
    an_option_of_a_reduction: X,
    percentiles: A,
    a_fit: X,
    windowed: X,
    slopes: A,
    called_twice: X,
    of_constants: X,
    a_view: X,
    in_a_helper: X,
    of_a_number: 0.7,
    of_less_precision: X.astype(np.float32),
}


def _all(f, x, v):
    y, back = ad.pullback(f, x)
    first = back(1.5)[1]
    found = [y, ad.gradient(f, x)[0], first, back(1.5)[1]]
    return [*found, *ad.pushforward(f, (x,), (v,)), ad.hvp(f, x, v)]


@pytest.mark.parametrize("f", CASES, ids=lambda f: f.__name__)
def test_all_modes_agree_with_the_generic_tier_and_with_differences(f):
    check_all_modes(f, CASES[f])


def check_all_modes(f, x):
    v = np.cos(np.arange(np.size(x)) + 1.0).reshape(np.shape(x)).astype(np.asarray(x).dtype)
    v = float(v) if isinstance(x, float) else v
    found = _all(f, x, v)
    is_single = np.asarray(x).dtype == np.float32
    modes = [GRADIENT, mode_of("pushforward", (0,)), mode_of("hvp", (0,), is_single=True)]
    for mode in modes if is_single else [*modes, PULLBACK]:
        kept = store.known(f, mode)
        assert kept is not None and kept.entries, (mode, kept and kept.refused)
        assert [entry.failures.last for entry in kept.entries] == [""]
    with generic_tier():
        expected = _all(f, x, v)
    for a, b in zip(found, expected, strict=True):
        assert type(a) is type(b) and np.asarray(a).dtype == np.asarray(b).dtype
        np.testing.assert_allclose(a, b, rtol=2e-5 if is_single else 1e-10, atol=1e-12)
    if is_single:
        return
    step = 1e-6
    difference = (f(x + step * v) - f(x - step * v)) / (2 * step)
    np.testing.assert_allclose(np.sum(found[1] * v), difference, rtol=1e-5, atol=1e-7)
    slope = (ad.gradient(f, x + step * v)[0] - ad.gradient(f, x - step * v)[0]) / (2 * step)
    np.testing.assert_allclose(found[-1], slope, rtol=1e-4, atol=1e-6)


def test_the_report_names_opaque_operations_and_the_code_shows_them():
    report = ad.tier(a_fit, X)
    (said,) = report.opaque
    assert said.startswith("polyfit at ") and "because of " in said
    assert f"opaque: {said}" in str(report)
    assert "pullback(np.polyfit, " in str(ad.code(a_fit, X))


def test_a_type_that_was_not_foreseen():
    def f(x):
        return np.sum(np.unique(np.round(x), return_counts=True)[0] * x[0])

    a, b = np.array([1.0, 2.0, 3.0]), np.array([1.0, 1.0, 3.0])
    for x in (a, b, a):
        np.testing.assert_allclose(ad.gradient(f, x)[0][0], np.sum(np.unique(x)))


def test_an_exception_is_raised_at_the_line_of_the_user():
    def f(x, n):
        return np.sum(np.array_split(x, n)[0] * x[0])

    np.testing.assert_allclose(ad.gradient(f, X, 1)[0][1], X[0])
    with pytest.raises(ValueError, match="number sections must be larger than 0"):
        ad.gradient(f, X, 0)


def test_a_warning_is_given_as_without_derivative():
    def f(x):
        return np.sum(np.nan_to_num(np.unwrap(x) / np.ediff1d(x, to_begin=x[0])))

    assert ad.tier(f, X).tier == "fast"
    x = np.array([1.0, 1.0])
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        f(x)
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        ad.gradient(f, x)


def test_random_numbers_and_writes_to_operands_are_no_opaque_operations():
    def draws(x):
        return np.sum(x * np.random.vonmises(0.0, 4.0, size=6))  # noqa: NPY002

    def fills(x):
        y = x * x
        np.put(y, [1], x[0], mode="wrap")
        return np.sum(y)

    def saves(x):
        np.set_printoptions(precision=8)
        return np.sum(x)

    for f in (draws, fills, saves):
        assert refused(f, X)


def test_what_the_result_is_an_alias_of_is_not_written_to():
    def f(x):
        z = np.sin(x)
        view = np.atleast_3d(z)
        z[0] = 0.0
        return np.sum(view * view)

    assert refused(f, X) == ["a view that is read after a write to what it looks at"]
    expected = np.sin(2 * X)
    expected[0] = 0.0
    np.testing.assert_allclose(ad.gradient(f, X)[0], expected)


def test_a_list_that_the_operand_was():
    def f(x):
        a, b = np.array_split(np.sin(x), 2)
        a[0] = b[1]
        return np.sum(a * b)

    with generic_tier():
        expected = ad.gradient(f, X)
    np.testing.assert_allclose(ad.gradient(f, X)[0], expected[0])


def test_infinite_slopes_are_left_to_the_generic_tier():
    def f(x):
        return np.sum(np.where(x > 0, np.sqrt(np.unwrap(x)), 0.0))

    x = np.array([0.0, 1.0])
    with generic_tier():
        expected = ad.gradient(f, x)
    np.testing.assert_allclose(ad.gradient(f, x)[0], expected[0])


def test_rows():
    def f(x):
        return np.unwrap(x) * x

    with generic_tier():
        expected = ad.jacobian(f, X)
    np.testing.assert_allclose(ad.jacobian(f, X), expected)
    np.testing.assert_allclose(ad.vmap(f)(np.stack([X, 2 * X])), np.stack([f(X), f(2 * X)]))
    np.testing.assert_allclose(ad.hessian(called_twice, X), 2 * np.diag(3 * X), atol=1e-12)


def test_an_operator_around_it():
    def f(x):
        return np.sum(ad.gradient(called_twice, x)[0] ** 2)

    with generic_tier():
        expected = ad.gradient(f, X)
    np.testing.assert_allclose(ad.gradient(f, X)[0], expected[0])


def test_a_recursion_that_ends_by_data_is_one_operation():
    def f(x):
        return np.sum(scipy.signal.cspline1d_eval(x, np.array([-1.3, 0.2, 2.3, 9.7])) * x[0])

    assert [said.partition(" at ")[0] for said in ad.tier(f, X).opaque] == ["cspline1d_eval"]
    with generic_tier():
        expected = ad.gradient(f, X)
    np.testing.assert_allclose(ad.gradient(f, X)[0], expected[0])


# ---- functions of the user -----------------------------------------------------------------------


@pytest.fixture
def uncovered(monkeypatch):
    """Functions of `opaque_functions` that programs call are not covered by themselves."""
    callees = (user.scaled, user.norm, user.collected, user.doubled, user.halves, user.chosen)
    callees += (user.inverse, user.recorded, user.filled, user.of_constants)
    inner = {one.__code__ for one in callees}
    found = partial_evaluator.single_of

    def single_of(closure):
        if closure.code in inner:
            raise NotCovered("a test")
        return found(closure)

    monkeypatch.setattr(partial_evaluator, "single_of", single_of)
    observed.clear()
    yield
    store.forget()


OF_USER = {
    user.a_call: X,
    user.by_keyword: X,
    user.in_a_loop: X,
    user.in_a_branch: X,
    user.of_numbers: X,
    user.a_view: X,
    user.constant: X,
}


@pytest.mark.parametrize("f", OF_USER, ids=lambda f: f.__name__)
def test_functions_of_the_user_from_the_second_call_on(f, uncovered):
    x = OF_USER[f]
    assert refused(f, x) == ["a test"]
    ad.gradient(f, x)
    check_all_modes(f, x)
    assert ad.tier(f, x).opaque


def test_functions_of_the_user_in_forward_mode_alone(uncovered):
    mode = mode_of("pushforward", (0,))
    for _ in range(2):
        ad.pushforward(user.a_call, (X,), (X,))
    assert store.known(user.a_call, mode).entries


def test_other_operands(uncovered):
    def f(x, how):
        return np.sum(user.chosen(x, how) * x)

    for how in ("squared", "squared", "first", "first", "squared", "first"):
        with generic_tier():
            expected = ad.gradient(f, X, how)
        np.testing.assert_allclose(ad.gradient(f, X, how)[0], expected[0])
    assert ad.tier(f, X, "squared").tier == ad.tier(f, X, "first").tier == "fast"


def test_a_result_of_another_class(uncovered):
    for first in (0.9, 0.9, 0.2, 0.9, 0.2):
        x = X.copy()
        x[0] = first
        with generic_tier():
            expected = ad.gradient(user.of_numbers, x)
        np.testing.assert_allclose(ad.gradient(user.of_numbers, x)[0], expected[0])


def test_effects_take_place_once_per_call(uncovered):
    for call in (ad.gradient, ad.gradient, lambda f, x: ad.pullback(f, x)):
        before = len(user.SEEN)
        call(user.with_effects, X)
        assert len(user.SEEN) == before + 1
    assert refused(user.with_effects, X) == ["a test"]


@pytest.mark.parametrize("f", [user.writes, user.writes_to_constants])
def test_writes_to_operands(f, uncovered):
    for _ in range(3):
        with generic_tier():
            expected = ad.gradient(f, X)
        np.testing.assert_allclose(ad.gradient(f, X)[0], expected[0])
        v = np.ones(6)
        np.testing.assert_allclose(ad.pushforward(f, (X,), (v,))[1], np.sum(expected[0]))
        np.testing.assert_allclose(ad.pullback(f, X)[1](1.0)[1], expected[0])


def test_an_exception_in_a_function_of_the_user(uncovered):
    def f(x):
        return np.sum(user.inverse(x) * x * x)

    for _ in range(3):
        np.testing.assert_allclose(ad.gradient(f, X)[0], 1.0)
    assert ad.tier(f, X).tier == "fast"
    with pytest.raises(ValueError, match="a negative number"):
        ad.gradient(f, -X)


def test_tangents_of_what_is_written_later():
    def f(a):
        z = np.sin(a)
        low, high = np.array_split(np.unwrap(z, axis=0), 2)
        z *= 3.0
        return np.sum(low * high) + np.sum(z)

    v = np.cos(A)
    with generic_tier():
        expected = ad.pushforward(f, (A,), (v,)), ad.gradient(f, A), ad.hvp(f, A, v)
    found = ad.pushforward(f, (A,), (v,)), ad.gradient(f, A), ad.hvp(f, A, v)
    for a, b in zip(found, expected, strict=True):
        for x, y in zip(a, b, strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-10)


def test_a_view_by_a_library_function_is_seen_after_a_write():
    def f(a):
        z = np.sin(a)
        y = np.rot90(z, 4, (0, 1))
        z *= 3.0
        return np.sum(y * z)

    found = ad.pushforward(f, (A,), (A,))[1]
    np.testing.assert_allclose(found, np.sum(9 * np.sin(2 * A) * A))


def test_complex_results():
    def f(b):
        _, h = scipy.signal.freqz(b, worN=8)
        return np.sum(np.abs(h) ** 2)

    v = np.cos(X)
    with generic_tier():
        expected = ad.gradient(f, X)[0], ad.pushforward(f, (X,), (v,))[1], ad.hvp(f, X, v)
    found = ad.gradient(f, X)[0], ad.pushforward(f, (X,), (v,))[1], ad.hvp(f, X, v)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10)
    step = 1e-6 * v
    difference = (f(X + step) - f(X - step)) / 2e-6
    np.testing.assert_allclose(found[1], difference, rtol=1e-6)


def test_functions_are_let_go():
    import gc
    import weakref

    def make():
        large = np.ones(1000)

        def f(x):
            return np.sum(np.unwrap(x) * large[0])

        ad.gradient(f, X)
        return weakref.ref(f)

    found = make()
    gc.collect()
    assert found() is None


def test_loops_of_little_else_are_left_to_the_generic_tier(uncovered):
    def f(x):
        for _ in range(3):
            x = user.scaled(x, 2.0)
        return np.sum(x)

    ad.gradient(f, X)
    assert refused(f, X)[-1] == "a loop of little else than calls of the generic tier"


def test_functions_that_trust_their_operands_are_not_tried_with_examples():
    windows = np.lib.stride_tricks.as_strided

    def of_windows(x):
        return np.sum(windows(np.sin(x), (3, 2), (8, 8)) ** 2)

    def of_knots(x):
        return scipy.interpolate.splint(0.1, 0.4, (x, x, 1)) * x[0]

    for f in (of_windows, of_knots):
        assert ad.tier(f, X).tier == "generic"


def test_functions_of_one_code():
    """The decorator of these functions gives all of them the same code."""
    x = np.array([0.5, 0.9, 1.7, 1.3, 2.2])

    def statistic_of(test):
        return lambda x: test(x, np.sin(x[::-1])).statistic

    names = ("ttest_rel", "f_oneway", "bartlett", "ttest_ind", "ttest_rel")
    for f in (statistic_of(getattr(scipy.stats, name)) for name in names):
        y, (bar,) = ad.withgradient(f, x)
        np.testing.assert_allclose(y, f(x), rtol=1e-12)
        expected = [(f(x + h) - f(x - h)) / 2e-6 for h in 1e-6 * np.eye(5)]
        np.testing.assert_allclose(bar, expected, rtol=1e-5, atol=1e-7)
