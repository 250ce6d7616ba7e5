"""What is calculated from constants when a program is made, and what it relies on."""

from __future__ import annotations

import functools
import inspect
import re

import numpy as np
import pytest

import adjoint as ad
from adjoint.fast.programs import store as tier
from tests.fast.agreeing import generic_tier
from tests.support import check_reverse

X = np.array([0.3, -1.2, 2.5, 0.7])


def padded_shape(shape, rank):
    """As SciPy computes shapes: by arrays of integers."""
    whole = np.ones(rank, dtype=int)
    whole[len(whole) - len(shape) :] = shape
    return tuple(whole)


def to_rank(x, s):
    y = np.reshape(x * s, padded_shape(x.shape, 3))
    return np.sum(y**2) * y.ndim


def of_ranks(x, s):
    ranks = np.array([a.ndim for a in (x, np.outer(x, x))])
    if np.all(ranks <= 1):
        return np.sum(x)
    return np.sum(x * x) * s


def written_between(x, s):
    flags = np.array([0, 1])
    if np.any(flags > 1):
        return np.sum(x)
    flags[0] = 2
    return np.sum(x * x) * s if np.any(flags > 1) else np.sum(x)


def written_in_a_loop(x, s):
    flags, total = np.array([0]), s
    for value in x:
        if np.all(flags <= 0):
            total = total + value
        else:
            total = total * value
        flags[0] = 1
    return total


def written_through_a_view(x, s):
    flags = np.zeros((2, 2), dtype=int)
    row = flags[1]
    row[0] = 3
    return np.sum(x * x) * s if np.max(flags) > 2 else np.sum(x)


def of_scalars(x, s):
    total = np.sum(x * s)
    return total.squeeze() * total.astype(np.float64).max() + np.mean(x).copy()


def names_taken(f):
    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        signature = inspect.signature(f)
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        if "scale" not in signature.parameters or f.__name__ == "other":
            return 0.0
        kinds = [p.kind for p in signature.parameters.values()]
        assert inspect.Parameter.VAR_KEYWORD not in kinds
        return f(**bound.arguments) * len(inspect.getfullargspec(f).args)

    return wrapper


@names_taken
def by_name(x, scale, power=2):
    return np.sum(x**power) * scale


WORDS, NAMES = {"sum", "mean"}, frozenset({"mean"})


def by_words(x, s):
    scale = 2.0 if "sum" in WORDS else 3.0
    for name in NAMES:
        scale = scale * len(name)
    return np.sum(x * s) * scale * len(WORDS - NAMES)


def by_class(x, s):
    return np.sum(x * x) * s if "numpy" in str(type(x)) else s


def one_array(x, y):
    return np.sum(x * x) if y is x or y is None else np.sum(x * y)


CALLS = {
    f.__name__: f
    for f in (
        to_rank,
        of_ranks,
        written_between,
        written_in_a_loop,
        written_through_a_view,
        of_scalars,
        by_name,
        by_words,
        by_class,
    )
}


@pytest.mark.parametrize("name", CALLS)
def test_programs(name):
    f = CALLS[name]
    ad.gradient(f, X, 1.3)
    assert ad.tier(f, X, 1.3).tier == "fast", ad.tier(f, X, 1.3)
    for x in (X, X[:3] * 0.7):
        for _ in range(2):
            found = ad.gradient(f, x, 1.3)
            with generic_tier():
                expected = ad.gradient(f, x, 1.3)
            for a, b in zip(found, expected, strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-13)
    check_reverse(f, X, 1.3)
    dots = np.cos(X), 0.3
    for call in (
        lambda: ad.pushforward(f, (X, 1.3), dots),
        lambda: (ad.hvp(lambda x: f(x, 1.3), X, dots[0]),),
    ):
        found = call()
        with generic_tier():
            expected = call()
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-11)


def test_attributes_of_functions():
    def f(x):
        return x

    def of_f(x):
        return getattr(f, "gain", 0.5) * x if hasattr(f, "gain") else getattr(f, "gain", 0.5) * x

    for _ in range(2):
        assert ad.gradient(of_f, 2.0) == (0.5,)
    f.gain = 3.0
    for _ in range(2):
        assert ad.gradient(of_f, 2.0) == (3.0,)
    f.gain = 4.0
    assert ad.gradient(of_f, 2.0) == (4.0,)
    assert ad.tier(of_f, 2.0).tier == "fast"
    del f.gain
    assert ad.gradient(of_f, 2.0) == (0.5,)


def test_sets_that_change():
    words = {"sum"}

    def f(x):
        return x * (2.0 if "mean" in words else 3.0) * len(words)

    assert [ad.gradient(f, 1.0) for _ in range(2)] == [(3.0,)] * 2
    words.add("mean")
    assert [ad.gradient(f, 1.0) for _ in range(2)] == [(4.0,)] * 2
    words.discard("sum")
    assert ad.gradient(f, 1.0) == (2.0,)


def test_sets_that_are_written_to():
    words = {"sum"}

    def f(x):
        words.add("mean")
        return x * len(words)

    assert ad.gradient(f, 1.0) == (2.0,)
    assert words == {"sum", "mean"}


def test_a_signature_that_changes():
    tier.forget()

    def power(x, n=2):
        return x**n

    def f(x):
        return x * inspect.signature(power).parameters["n"].default

    assert [ad.gradient(f, 1.0) for _ in range(2)] == [(2.0,)] * 2
    power.__defaults__ = (5,)
    assert ad.gradient(f, 1.0) == (5.0,)
    power = lambda x, n=7: x**n  # noqa: E731
    assert ad.gradient(f, 1.0) == (7.0,)


def test_signatures_that_are_captured():
    def of(signature):
        def f(x):
            bound = signature.bind(x)
            bound.apply_defaults()
            return x * x * bound.arguments["n"]

        return f

    for n in (2.0, 3.0):
        f = of(inspect.signature(lambda x, n=n: x))
        assert [ad.gradient(f, 1.0) for _ in range(2)] == [(2 * n,)] * 2
        assert ad.tier(f, 1.0).tier == "fast"
        check_reverse(f, 1.0)


def test_wrappers_of_the_same_code():
    @names_taken
    def one(x, scale):
        return np.sum(x) * scale

    @names_taken
    def other(x, scale, more=1.0):
        return np.sum(x) * scale * more

    for _ in range(2):
        assert np.all(ad.gradient(one, X, 3.0)[0] == 6.0)
        assert ad.gradient(other, X, 3.0)[1] == 0.0


def test_one_array_or_two():
    y = X.copy()
    for _ in range(2):
        assert np.all(ad.gradient(one_array, X, y)[0] == y)
        with generic_tier():
            expected = ad.gradient(one_array, X, X)
        np.testing.assert_allclose(ad.gradient(one_array, X, X)[0], expected[0])
        assert np.all(ad.gradient(one_array, X, None)[0] == 2 * X)
    assert ad.tier(one_array, X, y).tier == "fast"


def test_captured_options():
    tier.forget()

    def summed(n):
        return lambda x: np.sum(x[: n or len(x)] ** 2)

    for n in (2, 3, 2, 0):
        bar = ad.gradient(summed(n), X)[0]
        assert np.array_equal(bar, np.where(np.arange(4) < (n or 4), 2 * X, 0))


# ---- branches that the program does not keep -----------------------------------------------------


class Scaled:
    def __init__(self, values, scale):
        self.values, self.scale = values, scale


def one_kind_or_another(x, s):
    def f(x):
        if x[0] > 0:
            return x * s, "positive"
        return [x * x, 2.0]

    return np.sum(f(x)[0] ** 2) * s


def objects_of_branches(x, s):
    def f(x):
        return Scaled(x * s, s) if np.sum(x) > 0 else Scaled(x, 2.0)

    found = f(x)
    return np.sum(found.values**2) * found.scale


def returned_early(x, s):
    def f(x):
        if x[0] > 0:
            return Scaled(x * s, s)
        x = x * x
        return Scaled(x, 3.0)

    found = f(x)
    return np.sum(found.values**2) * found.scale


def not_covered_elsewhere(x, s):
    if x[0] < 0:
        exec("x = 2 * x")
        x = np.array([str(v) for v in x]).astype(float)
    return np.sum(x * x) * s


def changed_in_branches(x, s):
    seen = []
    if x[0] > 0:
        seen.append(x * s)
    else:
        seen.extend(["a", x])
    return np.sum(seen[-1] ** 2) * s


@pytest.mark.parametrize(
    "f", [one_kind_or_another, objects_of_branches, returned_early, changed_in_branches]
)
def test_a_branch_that_is_left(f):
    tier.forget()
    ad.gradient(f, X, 1.3)
    assert ad.tier(f, X, 1.3).tier == "fast", ad.tier(f, X, 1.3)
    for x in (X, -X, X[:3], -X):
        for _ in range(2):
            found = ad.gradient(f, x, 1.3)
            with generic_tier():
                expected = ad.gradient(f, x, 1.3)
            for a, b in zip(found, expected, strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-13)
        check_reverse(f, x, 1.3)
        dots = np.cos(x), 0.3
        found = ad.pushforward(f, (x, 1.3), dots)
        with generic_tier():
            expected = ad.pushforward(f, (x, 1.3), dots)
        np.testing.assert_allclose(found, expected, rtol=1e-11)


def test_uncovered_code_that_is_not_reached():
    tier.forget()
    for _ in range(2):
        assert np.array_equal(ad.gradient(not_covered_elsewhere, X, 2.0)[0], 4 * X)
    assert ad.tier(not_covered_elsewhere, X, 2.0).tier == "fast"


def test_effects_of_a_branch_that_is_left():
    tier.forget()
    calls = []

    def f(x, s):
        calls.append(len(calls))
        y = np.copy(x)
        y[0] = s
        found = (y, 1.0) if s > 1 else [y * 2]
        return np.sum(found[0] ** 2)

    for n, s in enumerate((1.5, 0.5, 1.5, 0.5)):
        bar = ad.gradient(f, X, s)[1]
        assert bar == 2 * s * (1 if s > 1 else 4)
        assert calls == [*range(n + 1)]


def test_tuples_with_fields():
    tier.forget()
    scipy, st = pytest.importorskip("scipy"), pytest.importorskip("scipy.stats")
    y = X[::-1] ** 2

    def slopes(x, s):
        found = st.linregress(x * s, y)
        slope, intercept, *rest = found
        assert isinstance(found, tuple) and len(found) == 5 and found[:2] == (slope, intercept)
        return slope * intercept + found.rvalue + found.intercept_stderr + rest[-1]

    ad.gradient(slopes, X, 1.3)
    if tuple(map(int, scipy.__version__.split(".")[:2])) < (1, 18):  # later, masks of rank 0
        assert ad.tier(slopes, X, 1.3).tier == "fast", ad.tier(slopes, X, 1.3)
    found = ad.gradient(slopes, X, 1.3)
    with generic_tier():
        expected = ad.gradient(slopes, X, 1.3)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9)
    check_reverse(slopes, X, 1.3)


def test_flags_and_scalars():
    tier.forget()

    def f(x):
        return np.sum(x * x) * np.prod(np.array(x.shape)) if x.flags.writeable else np.sum(x)

    fixed = X.copy()
    fixed.flags.writeable = False
    for _ in range(2):
        np.testing.assert_allclose(ad.gradient(f, X)[0], 8 * X)
        assert np.array_equal(ad.gradient(f, fixed)[0], np.ones(4))
    assert ad.tier(f, X).tier == ad.tier(f, fixed).tier == "fast"

    def g(x):
        return 3 * x if np.isscalar(x) else np.sum(x * x)

    assert ad.gradient(g, 2.0) == (3.0,)
    assert np.array_equal(ad.gradient(g, X)[0], 2 * X)
    assert ad.tier(g, X).tier == "fast"


PATTERN = re.compile(r"(\w+)-(\d+)")


def test_patterns():
    def f(x):
        found = re.match(r"([a-z]+)(\d*)", "power2")
        other = PATTERN.search("of scale-3")
        return x ** int(found.group(2)) * int(other.groups()[1]) * len(found.group(1))

    for _ in range(2):
        assert ad.gradient(f, 1.5) == (45.0,)
    assert ad.tier(f, 1.5).tier == "fast", ad.tier(f, 1.5)


@pytest.mark.parametrize("dtype", [float, np.uint8])
def test_files_are_read_at_each_call(tmp_path, dtype):
    path = tmp_path / "limits"

    def f(x):
        return x * x if np.fromfile(path, dtype)[0] > 1 else 3.0 * x

    for limit, slope in ((2, 4.0), (0, 3.0), (2, 4.0)):
        np.array([limit, 7], dtype).tofile(path)
        assert ad.gradient(f, 2.0) == (slope,)


def test_random_numbers_are_drawn_at_each_call():
    def f(x):
        return x * x if np.random.rand(3)[0] > 0.5 else 3.0 * x  # noqa: NPY002

    np.random.seed(1)  # noqa: NPY002
    found = [ad.gradient(f, 2.0)[0] for _ in range(8)]
    np.random.seed(1)  # noqa: NPY002
    assert found == [4.0 if np.random.rand(3)[0] > 0.5 else 3.0 for _ in range(8)]  # noqa: NPY002
    assert len({*found}) == 2


def test_designs_beside_rows():
    def f(x):
        w, v, rows, total = np.kaiser(3, 2.0), np.kaiser(3, 2.0), [], 0.0
        for i in range(40):
            rows.append((x[0] * i, x[1]))
        for a, b in rows:
            total = total + a * b
        return total + w[1] * x[0] + v[0]

    assert ad.gradient(f, np.array([1.5, 0.5]))[0].tolist() == [391.0, 1170.0]
    assert ad.tier(f, np.array([1.5, 0.5])).tier == "fast"


@pytest.mark.parametrize(
    "given",
    [
        (np.array([-128], np.int8), np.array([0], np.int8)),
        (np.array([2**62]), np.array([-(2**62)])),
        (np.array([127], np.int8), np.array([-1], np.int8)),
        (np.array([3, 4]), np.array([3, 5])),
        (3, 3.0 + 1e-9),
    ],
)
def test_close_integers(given):
    def f(x, a, b):
        return x * np.isclose(a, b).sum() + (x if np.allclose(a, b) else 0.0)

    assert ad.gradient(f, 2.0, *given)[0] == f(1.0, *given)


def test_a_number_that_is_fixed():
    f = lambda x: 2.0 * x if isinstance(np.fix(x), np.ndarray) else np.fix(x) * x
    assert ad.gradient(f, np.float64(3.7)) == (3.0,)
    assert ad.gradient(f, np.array([3.7, -1.2]).sum()) == (2.0,)
