"""Programs that were once wrong in the fast tier, or are nearly those: the generic tier agrees."""

import numpy as np
import pytest

import adjoint as ad
from adjoint.fast.programs import store as tier
from tests.fast.agreeing import Agreement, cotangent
from tests.structures import difference

X = np.array([0.7, 1.3, -0.4, 2.1])
B = np.array([0.3, -1.1, 0.8, 0.5])


def both_tiers(run):
    """The result of `run` in the fast tier, and in the generic one."""
    results = []
    for enabled in (True, False):
        before, tier.is_enabled[0] = tier.is_enabled[0], enabled
        try:
            results.append(run())
        finally:
            tier.is_enabled[0] = before
    return results


def agree(f, *args):
    fast, generic = both_tiers(lambda: tuple(ad.withgradient(f, *args)))
    assert not difference(fast, generic, rtol=1e-11), (fast, generic)


# ---- writes --------------------------------------------------------------------------------------


def reshaped_before_a_write(x, b):
    y = x * 1
    t = y.reshape(2, 2)
    y[1] = x[0] ** 2
    return np.sum(t * t)


def transposed_before_a_write(x, b):
    y = x * 1
    t = y.T
    y[1] = x[0] ** 2
    return np.sum(t * t)


def raveled_before_a_write(x, b):
    y = x * 1
    t = np.ravel(y)
    y[1] = x[0] ** 2
    return np.sum(t * t)


def flipped_before_a_write(x, b):
    y = x * 1
    t = np.flip(y)
    y[1] = x[0] ** 2
    return np.sum(t * t * b)


def another_name_behind_a_branch(x, b):
    y, z = x * 1, x * 2
    t = y if b[0] > 0 else z
    y[1] = x[0] ** 2
    return np.sum(t * t) + np.sum(y)


def another_name_from_the_last_iteration(x, b):
    y = x * 1
    last = x * b
    total = 0.0
    for i in range(3):
        y[i] = b[i] * x[i + 1]
        total = total + np.sum(last)
        last = y
    return total


def negated_and_overwritten(x, b):
    y = -x
    y[0] = 3.0
    return np.sum(y * b) + np.sum(y * y)


def negated_twice_and_overwritten(x, b):
    y = -x
    z = -y
    y[0] = 3.0
    return np.sum(z * z) + np.sum(y * x)


def negated_and_scaled(x, b):
    y = -x
    total = np.sum(y / 2.0)
    y *= 0.5
    return total + np.sum(y * b)


def rows_while_they_are_written(x, b):
    a = np.outer(x, b)
    total = 0.0
    for row in a:
        a[0, 0] = total
        total = total + np.sum(row)
    return total


def read_by_a_rule_then_overwritten(x, b):
    y = x * b
    p = np.prod(y)
    y[0] = x[1]
    return p + np.sum(y)


@pytest.mark.parametrize(
    "f",
    [
        reshaped_before_a_write,
        transposed_before_a_write,
        raveled_before_a_write,
        flipped_before_a_write,
        another_name_behind_a_branch,
        another_name_from_the_last_iteration,
        negated_and_overwritten,
        negated_twice_and_overwritten,
        negated_and_scaled,
        rows_while_they_are_written,
        read_by_a_rule_then_overwritten,
    ],
)
def test_writes(f):
    agree(f, X, B)


def test_a_factor_is_no_buffer():
    def f(x, b):
        c = np.exp(b)
        t = np.sum(x * x)
        return t + np.sum(x * c)

    agree(f, np.linspace(-1, 1, 1200), np.linspace(-0.5, 1, 1200))


# ---- types ---------------------------------------------------------------------------------------


def test_truth_values_are_no_cotangents():
    def f(x, b):
        return np.sum(np.maximum(0, x)) + np.sum(np.maximum(x, b)) - np.sum(np.minimum(x, 1.0))

    agree(f, X, B)
    assert ad.gradient(lambda x: np.sum(np.maximum(0, x)), X)[0].dtype == np.float64


def test_stacked_arrays_of_two_precisions():
    def f(x, b):
        return np.sum(np.stack((x, b)) ** 2)

    agree(f, X.astype(np.float32), B)
    assert ad.gradient(f, X.astype(np.float32), B)[0].dtype == np.float32


@pytest.mark.parametrize(
    "f",
    [
        lambda a, b: np.sum(a) * 1.5,
        lambda a, b: np.linalg.norm(a) * b,
        lambda a, b: np.sum(np.where(b > 0, a, b)),
        lambda a, b: np.inner(a, b),
        lambda a, b: np.sum(np.hstack([a, b]) ** 2),
        lambda a, b: np.sum(np.zeros(a) + b),
    ],
)
def test_integers_as_arguments(f):
    agree(f, 3, 0.5)


# ---- structures ----------------------------------------------------------------------------------


def scaled_by(v):
    def f(x, q=5.0):
        return x * v * q

    return f


@pytest.mark.parametrize("g", [scaled_by(2.0), lambda z, q=3.0: z * q])
def test_defaults_are_no_captured_variables(g):
    agree(lambda x, f: f(x) * x, 1.3, g)


@pytest.mark.parametrize(
    "f",
    [
        lambda x, b: np.mean(np.maximum(x, b)),
        lambda x, b: np.sum(np.dot(x, b) * x),
    ],
)
@pytest.mark.parametrize("dtypes", ["ff", "fd", "df", "ee"])
def test_cotangents_have_the_precision_of_their_primals(f, dtypes):
    x, b = X.astype(dtypes[0]), B.astype(dtypes[1])
    fast, generic = both_tiers(lambda: ad.gradient(f, x, b))
    for bar, other, primal in zip(fast, generic, (x, b), strict=True):
        assert bar.dtype == other.dtype == primal.dtype
        np.testing.assert_allclose(bar, other, rtol=1e-2 if "e" in dtypes else 1e-5)


@pytest.mark.filterwarnings("error")
def test_large_cotangents_of_half_precision_do_not_warn():
    x = np.array([1.0, 2.0], np.float16)
    assert np.all(ad.gradient(lambda x: np.sum(x * np.float16(300)), x)[0] == 300)


# ---- options by position -------------------------------------------------------------------------

ORDERS = {
    "ravel": lambda x: np.ravel(x, "F"),
    "ravel of a transpose": lambda x: np.ravel(x.T, "A"),
    "method": lambda x: x.ravel("F"),
    "flatten": lambda x: x.flatten("F"),
    "reshape": lambda x: np.reshape(x, (3, 2), "F"),
}


@pytest.mark.parametrize("name", ORDERS)
def test_an_order_by_position(name):
    """The elements have their own cotangents, not those of the order of C."""
    f, x = ORDERS[name], np.arange(6.0).reshape(2, 3)

    def run():
        y, back = ad.pullback(f, x)
        return back(y)[1], ad.gradient(lambda x: np.sum(f(x) * f(x)), x)[0] / 2

    for found in both_tiers(run):
        np.testing.assert_array_equal(found, (x, x))


# ---- what a function returns out of a loop -------------------------------------------------------


def pair_out_of_a_loop(x):
    for _ in range(3):
        if x > 1.0:
            return 2.0, 3.0
    return x, x


def none_out_of_a_loop(x):
    def found(x):
        for _ in range(3):
            if x > 1.0:
                return None
        return x

    y = found(x)
    return 2.0 * x if y is None else 3.0 * y


def text_out_of_a_loop(x):
    def found(x):
        i = 0
        while i < 2:
            i += 1
            if x > 1.0:
                return "large"
        return x

    y = found(x)
    return 2.0 * x if y == "large" else 3.0 * y


def nested_out_of_a_loop(x):
    def found(x):
        for _ in range(3):
            if x > 1.0:
                return 1.0, (2.0, 3.0)
        return x, (x, x)

    a, (b, c) = found(x)
    return a * x + b * x + c * x


def none_after_a_break(x):
    for i in range(3):
        if x > i + 1:
            y = None
            break
    else:
        y = x * x
    return x if y is None else y


def nothing_or_one_out_of_a_loop(x):
    def found(x):
        for i in range(3):
            if x > i + 1:
                return ()
        return (x,)

    return x * (1 + len(found(x)))


def zeros_out_of_a_loop(x):
    def found(x):
        for i in range(3):
            if x > i + 1:
                return 0.0, 0.0
        return x, x * x

    return x if found(x)[0] == 0.0 else 2.0 * x


@pytest.mark.parametrize("x", [0.5, 3.0])
@pytest.mark.parametrize(
    "f",
    [
        none_after_a_break,
        nothing_or_one_out_of_a_loop,
        zeros_out_of_a_loop,
        none_out_of_a_loop,
        text_out_of_a_loop,
        nested_out_of_a_loop,
        pair_out_of_a_loop,
    ],
)
def test_constants_out_of_a_loop(f, x):
    agreement = Agreement()
    agreement.compare(f.__name__, lambda: (f, x), y_bar=cotangent(f(x)))
    assert not agreement.problems


# ---- what is written to after it was read --------------------------------------------------------


def a_contribution_itself(x, b):
    a = np.ones(4) * 2.0
    s = (a * x).sum()
    a[0] = 5.0
    return s


def in_a_loop_without_derivatives(x, b):
    a = np.ones(4) * 2.0
    s = (a * x * x).sum()
    for i in range(3):
        a[i] = 5.0
    return s


def forward_substitution(x, b):
    y = np.zeros(4)
    for i in range(4):
        y[i] = (x[i] - b[:i] @ y[:i]) / (2.0 + b[i])
    return y.sum()


def results_that_change(x, b):
    a = x * b
    s = 0.0
    for i in range(3):
        a[i] = 0.5
        a = np.exp(a)
        s = s + (a * b).sum()
    return s


def in_and_out(x, b):
    u, new = x * 1.0, np.empty_like(x)
    for _ in range(4):
        new[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2.0 * u[1:-1] + u[:-2]) * u[1:-1]
        new[0], new[-1] = u[0] * b[0], u[-1]
        u, new = new, u.copy()
    return (u * b).sum()


def a_part_added_to(x, b):
    a = np.zeros((2, 4))
    a[1] = x
    a[:, 1:] -= x[:-1] * b[1:]
    a[0] += a[1] * x
    a[:] *= x
    return (a * a).sum()


@pytest.mark.parametrize(
    "f",
    [
        a_contribution_itself,
        in_a_loop_without_derivatives,
        forward_substitution,
        results_that_change,
        in_and_out,
        a_part_added_to,
    ],
)
def test_contents_as_they_were(f):
    agree(f, X, B)
    assert ad.tier(f, X, B).tier == "fast"


# ---- classes of cotangents -----------------------------------------------------------------------


def doubled_or_not(x, k):
    return x * 2 if k > 1 else x


def to_the_third(x, k):
    items = [x, 1.0]
    s = items[0]
    for _ in range(2):
        s = s * k
    return s * k


@pytest.mark.parametrize("f", [doubled_or_not, to_the_third])
def test_a_cotangent_is_no_integer(f):
    for k in (1, 2):
        assert type(ad.gradient(f, 3.0, k)[0]) is float
        agree(f, 3.0, k)


# ---- variables without a value -------------------------------------------------------------------


@pytest.mark.parametrize("n", [0, 2])
def test_a_variable_of_an_inner_loop(n):
    def f(x, items, n):
        for _ in items:
            for i in range(n):
                break
        return x if i == 1 else 2.0 * x

    if n:
        agree(f, 3.0, [1.0, 2.0], n)
    else:
        with pytest.raises(UnboundLocalError):
            ad.gradient(f, 3.0, [1.0, 2.0], n)
