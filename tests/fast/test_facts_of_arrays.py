"""What programs know of arrays: whether these may be written to, and which are one object."""

from __future__ import annotations

import numpy as np
import pytest

import adjoint as ad
from tests.fast.second_order import check_programs

X = np.array([1.5, -0.5, 2.0])


def agree(f, x):
    """Value and gradient of both tiers; return why the call is generic, if it is."""
    y, dx = ad.value_and_grad(f)(x)
    expected, dx_expected = ad.value_and_grad(f, tier="generic")(x)
    assert y == expected == f(x)
    np.testing.assert_array_equal(dx, dx_expected)
    return ad.tier(f, x).reason


# ---- arrays that may be written to ---------------------------------------------------------------


def locked(x):
    y = x * x
    y.setflags(write=False)
    return (y * x).sum() if not y.flags.writeable else y.sum()


def locked_by_its_flag(x):
    y = np.zeros(3)
    y[:] = x * x
    y.flags.writeable = False
    return (y * x).sum()


def imaginary(x):
    return (x.imag + x * x).sum()


def windows(x):
    seen = np.lib.stride_tricks.sliding_window_view(x * x, 2, writeable=True)
    return (seen**2).sum()


@pytest.mark.parametrize("f", [locked, locked_by_its_flag, imaginary, windows])
def test_read_only_arrays(f):
    check_programs(f, X)
    assert agree(f, X) is None


def written(x):
    y = x * x
    y.setflags(write=False)
    y[0] = 1.0
    return y.sum()


def written_by_a_view(x):
    y = x * x
    z = y[1:]
    y.flags.writeable = False
    y[:2][0] = 1.0
    return z.sum()


def written_in_the_next_iteration(x):
    y = np.zeros(3)
    for i in range(3):
        y[i] = x[i]
        y.setflags(write=False)
    return y.sum()


def written_as_one_of_two(x):
    y, z = x * x, x * 2.0
    y.setflags(write=False)
    w = y if x[0] > 0 else z
    w[0] = 1.0
    return w.sum()


def written_imaginary_part(x):
    part = x.imag
    part[0] = 1.0
    return x.sum()


@pytest.mark.parametrize(
    "f",
    [
        written,
        written_by_a_view,
        written_in_the_next_iteration,
        written_as_one_of_two,
        written_imaginary_part,
    ],
)
def test_writes_to_read_only_arrays(f):
    with pytest.raises(ValueError, match="read-only"):
        f(X)
    for _ in range(2):
        with pytest.raises(ValueError, match="read-only"):
            ad.gradient(f, X)


KEPT = {}


def returned(x):
    y = x * x
    y.setflags(write=False)
    return y


def in_a_tuple(x):
    y = x * x
    y.flags.writeable = False
    return x.sum(), [y[1:], y.T]


def stored(x):
    KEPT["y"] = x * x
    KEPT["y"].setflags(write=False)
    return x


@pytest.mark.parametrize("f", [returned, in_a_tuple, stored, lambda x: x.imag])
def test_read_only_results(f):
    """What is seen outside is read-only there, too."""
    for _ in range(2):
        y, _ = ad.pullback(f, X)
        with pytest.raises(ValueError, match="read-only"):
            {"in_a_tuple": lambda: y[1][0], "stored": lambda: KEPT["y"]}.get(
                f.__name__, lambda: y
            )()[:] = 1.0


def test_arguments_stay_locked():
    x = X.copy()

    def f(x):
        x.setflags(write=False)
        return x.sum()

    assert ad.gradient(f, x)[0].tolist() == [1.0, 1.0, 1.0]
    assert not x.flags.writeable


def test_an_array_that_is_unlocked_before_it_is_written():
    def f(x):
        y = x * x
        y.setflags(write=False)
        y.setflags(write=True)
        y[0] = 0.0
        return y.sum()

    agree(f, X)


# ---- identity ------------------------------------------------------------------------------------


def of_a_product(x):
    y = x * 2
    return x.sum() if y is x else (y * x).sum()


def of_an_array_as_it_is(x):
    y = np.asarray(x)
    return x.sum() if y is x else (y * 3).sum()


def of_views(x):
    y = x * 2
    a, b, c = y[:], np.moveaxis(y, 0, 0), y.T
    return x.sum() if y is a or a is b or b is c or y is c else (y * x).sum()


def of_the_last_iteration(x):
    y, z = x * 2, x.copy()
    for _ in range(3):
        if y is z:
            return x.sum()
        z = y
    return (y * x).sum()


@pytest.mark.parametrize("f", [of_a_product, of_an_array_as_it_is, of_views, of_the_last_iteration])
def test_identity(f):
    assert agree(f, X) is None


def of_one_of_two(x):
    y = x * 2
    z = y if x[0] > 5 else x
    return x.sum() if y is z else (y * x).sum()


def of_a_reshaped_array(x):
    y = x * 2
    return x.sum() if np.ravel(y) is y or np.atleast_1d(y) is not y else (y * x).sum()


@pytest.mark.parametrize("f", [of_one_of_two, of_a_reshaped_array])
def test_identity_that_is_not_known(f):
    agree(f, X)
    agree(f, X + 5)


# ---- lengths of ranges ---------------------------------------------------------------------------


def test_ranges_of_floats_that_follow_from_a_length():
    def f(x):
        return (np.arange(0.5, len(x) + 0.5, 0.5).sum() * x).sum()

    for n in (2, 3, 5):
        assert agree(f, np.ones(n)) is None


def test_ranges_of_floats_that_are_not_known():
    f = lambda x: np.arange(0.0, 2.0 * x, 1.0).sum() * x
    for x in (1.3, 2.9):
        assert ad.gradient(f, x)[0] == pytest.approx(np.arange(0.0, 2.0 * x, 1.0).sum())
