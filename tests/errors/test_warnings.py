"""Warnings come from the user's line, as they do without us, and are filtered as they are."""

import warnings

import numpy as np
import pytest

import adjoint as ad
from adjoint.fast.programs import store

ZERO = np.array([0.0, 0.0])
HAS_VARIABLE = np.lib.NumpyVersion(np.__version__) >= "2.0.0"
pytestmark = pytest.mark.skipif(not HAS_VARIABLE, reason="kept in no context variable before 2.0")


def warned(call, *args, action="always"):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter(action)
        call(*args)
    return [(w.category, str(w.message), w.filename, w.lineno) for w in found]


def by_operators(x):
    y = np.array([1.0, 0.0]) / x
    return (y * 0.0).sum()


def by_ufuncs(x):
    y = np.log(x) + np.sqrt(x - 1.0)
    return (
        y.sum()  # one statement
        + np.exp(x + 1e5)[0]
    )


def by_scalars(x):
    return x[0] ** -3 + np.float64(1e300) * np.exp(x[1]) * 1e300


def by_reductions(x):
    y = x + 1e308
    return np.add.reduce(y) + np.multiply.accumulate(y)[1] + np.dot(y, y)


def through_callees(x):
    return sum(by_operators(part * x) for part in (1.0, 2.0))


def in_place(x):
    y = x + 1.0
    y /= x
    return y.sum()


def of_the_user(x):
    warnings.warn("careful", UserWarning, stacklevel=1)
    return x.sum()


FUNCTIONS = [
    by_operators, by_ufuncs, by_scalars, by_reductions, through_callees, in_place, of_the_user,
]  # fmt: skip


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_the_same_at_the_same_place(f):
    plain = warned(f, ZERO)
    assert plain and {place for _, _, place, _ in plain} == {__file__}
    assert warned(ad.pullback, f, ZERO) == plain
    assert warned(ad.gradient, f, ZERO) == plain


BIG = np.array([1.0, np.inf])


def of_slopes(x):
    m = np.append(x[0], -np.inf).max() + np.sqrt(np.maximum(x - 1.0, 0.0)).sum()
    return m + np.median(np.append(x, [np.inf, -np.inf])) + np.abs(x * 1j)[0]


def of_products(x):
    by_c = (
        np.outer(BIG, x + 1.0)[0] + np.kron(BIG, x + 1.0)[:2] + np.multiply.outer(BIG, x + 1.0)[0]
    )
    return by_c.sum() + np.inner(BIG, x + 1.0) * 0.0 + np.tensordot(BIG * 1j, x + 1.0, 1).real


@pytest.mark.parametrize("is_fast", [True, False])
@pytest.mark.parametrize("f", [*FUNCTIONS, of_slopes, of_products], ids=lambda f: f.__name__)
def test_tangents_warn_of_nothing_else(f, is_fast, monkeypatch):
    """A tangent is often infinite or NaN where the value is not."""
    monkeypatch.setattr(store, "is_enabled", [is_fast])
    plain, dot = warned(f, ZERO), np.array([1.0, -1.0])
    assert warned(ad.pushforward, f, (ZERO,), (dot,)) == plain
    texts = {text for _, text, _, _ in warned(ad.hvp, f, ZERO, dot)}
    assert texts == {text for _, text, _, _ in plain}


def test_once_for_each_line():
    code = "def f(x):\n    a = 1.0 / x\n    b = 1.0 / x\n    return (a + b).sum()\n"
    namespace = {"__name__": "somewhere"}
    exec(compile(code, "somewhere.py", "exec"), namespace)

    def thrice():
        for _ in range(3):
            ad.gradient(namespace["f"], ZERO)

    assert [line for *_, line in warned(thrice, action="default")] == [2, 3]


def test_filters_by_module():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", module=__name__.replace(".", r"\."))
        ad.gradient(by_operators, ZERO)


def test_as_an_error():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning, match="divide by zero encountered in divide"):
            ad.gradient(lambda x: (1.0 / x).sum(), ZERO)


def test_what_the_user_asks_for_holds():
    with np.errstate(all="ignore"):
        assert warned(ad.gradient, by_operators, ZERO) == []
    with np.errstate(all="raise"), pytest.raises(FloatingPointError):
        ad.gradient(by_operators, ZERO)

    def f(x):
        with np.errstate(divide="ignore"):
            return (1.0 / x).sum() + np.log(x - 1.0).sum()

    assert warned(ad.pullback, f, ZERO) == warned(f, ZERO) != []


def test_nothing_remains():
    before = np.geterr(), np.geterrcall()
    ad.pullback(lambda x: x * x, 2.0)
    with pytest.raises(ValueError, match="in the middle"):
        ad.pullback(failing, 2.0)
    assert (np.geterr(), np.geterrcall()) == before


def failing(x):
    raise ValueError("in the middle")


def test_what_the_function_sets_stays():
    def f(x):
        np.seterr(divide="ignore")
        return x * x

    with np.errstate():
        ad.gradient(f, 2.0)
        assert np.geterr()["divide"] == "ignore" and np.geterr()["over"] == "warn"
        assert np.geterrcall() is None


@pytest.mark.parametrize("tier", ["fast", "generic"])
def test_the_settings_are_those_of_the_user(tier):
    usual = {"divide": "warn", "over": "warn", "under": "ignore", "invalid": "warn"}

    def f(x):
        same = np.geterr() == usual and np.geterrcall() is None
        with np.errstate(over="ignore"):
            same = same and np.geterr() == {**usual, "over": "ignore"}
        return x * x if same else x

    with np.errstate(**usual):
        assert ad.grad(f, tier=tier)(3.0) == 6.0
        assert ad.pushforward(f, (3.0,), (1.0,)) == (9.0, 6.0)
        assert ad.hessian(f, 3.0) == 2.0
        assert np.geterr() == usual
