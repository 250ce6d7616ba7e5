"""An error in the reverse sweep leaves the user's data as `f` left it, and `back` usable."""

import ctypes

import numpy as np
import pytest

import adjoint as ad
from adjoint.errors import NoDerivativeError
from tests.errors.places import raised

hundred = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(lambda x: 100 * x)


class StopError(Exception):
    pass


class Box:
    def __init__(self):
        self.items, self.total = [], 0.0


def gate(x):
    return x * 1.0


failing = [False]


@ad.rrule.register(gate)
def _(x):
    def gate_back(y_bar):
        if failing[0]:
            raise StopError("in the reverse sweep")
        return None, y_bar

    return x * 1.0, gate_back


def writes(x, out, log, table, box):
    """Writes everywhere, before and after the call whose pullback fails."""
    out[0] = x[0] * 2
    log.append(x[1])
    table["a"] = x[0] * x[1]
    box.total = box.total + x[0]
    y = gate(out[0] * log[-1])
    out[1] += y
    out *= 2
    log[0] = y
    log.extend([y, y * y])
    table["b"] = table.pop("a") * y
    box.items.append(y)
    box.total = box.total * y
    return out.sum() + sum(log) + table["b"] + box.total


def fresh():
    return np.array([1.5, 2.5]), np.array([3.0, 4.0]), [1.0], {}, Box()


def state(x, out, log, table, box):
    return out.tolist(), list(log), dict(table), list(box.items), box.total


def test_data_and_pullback_after_an_error():
    args, plain = fresh(), fresh()
    assert writes(*plain) == pytest.approx((value := ad.pullback(writes, *args))[0])
    y, back = value
    expected = state(*plain)
    assert state(*args) == expected
    first = back(1.0)
    assert state(*args) == expected
    for _ in range(3):
        failing[0] = True
        try:
            assert str(raised(StopError, back, 1.0)) == "in the reverse sweep"
        finally:
            failing[0] = False
        assert state(*args) == expected, "as the function left it"
        again = back(1.0)
        assert state(*args) == expected
        np.testing.assert_array_equal(again[1], first[1])
        np.testing.assert_array_equal(again[2], first[2])
        assert again[3] == first[3] and dict(again[5]) == dict(first[5])


def test_what_the_first_gradient_says():
    def f(x):
        return writes(x, *fresh()[1:])

    ad.testing.check_gradient(f, fresh()[0])


def test_poison_in_the_middle():
    def f(x, out):
        out[0] = x
        y = hundred(out[0])
        out[0] = out[0] * x
        out[1] = y
        return out[0], out[1]

    out = [0.0, 0.0]
    y, back = ad.pullback(f, 3.0, out)
    raised(NoDerivativeError, back, (1.0, 1.0))
    assert out == [9.0, 300.0]
    assert back((1.0, None))[1] == 6.0
    assert out == [9.0, 300.0]
    raised(NoDerivativeError, back, (0.0, 1.0))
    assert back((2.0, None))[1] == 12.0


def test_an_error_in_a_hook():
    calls = []

    def on_cotangent(bar):
        calls.append(bar)
        if len(calls) == 1:
            raise StopError
        return bar

    def f(x, out):
        out[0] = ad.hook(on_cotangent, x) * x
        out[0] = out[0] * 2
        return out[0]

    out = np.zeros(1)
    _, back = ad.pullback(f, 3.0, out)
    raised(StopError, back, 1.0)
    assert out.tolist() == [18.0]
    assert back(1.0)[1] == 12.0 and calls == [6.0, 6.0]


def test_another_pullback_is_not_disturbed():
    args = fresh()
    _, back = ad.pullback(writes, *args)
    failing[0] = True
    try:
        raised(StopError, back, 1.0)
    finally:
        failing[0] = False
    assert ad.gradient(lambda x: x * x, 3.0) == (6.0,)
    np.testing.assert_array_equal(args[1].flags.writeable, True)


def test_an_error_of_the_function_leaves_what_it_wrote():
    """As it is without us."""

    def f(x, out, log):
        out[0] = x
        log.append(x)
        raise StopError

    plain, plain_log, out, log = np.zeros(2), [], np.zeros(2), []
    raised(StopError, f, 3.0, plain, plain_log)
    raised(StopError, ad.pullback, f, 3.0, out, log)
    assert out.tolist() == plain.tolist() and log == plain_log


def test_the_errors_of_numpy_do_not_stop_the_sweep():
    """A rule may divide by zero on the way; the user's error state is for the user's code."""
    with np.errstate(all="raise"):
        before = np.geterr()
        (bar,) = ad.gradient(lambda x: np.sqrt(x).sum(), np.array([0.0, 1.0]))
        assert np.isinf(bar[0]) and bar[1] == 0.5 and np.geterr() == before
        with pytest.raises(FloatingPointError):
            ad.gradient(lambda x: np.log(x).sum(), np.array([0.0, 1.0]))
