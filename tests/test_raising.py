"""What specialised programs make of NumPy's warnings, in place of `numpy.errstate`."""

import contextvars
import threading
import warnings

import numpy as np
import pytest

import adjoint as ad
from adjoint.diagnostics import numpy_warnings as floating
from adjoint.fast.programs import store as tier


def state():
    return np.geterr(), np.geterrcall(), np.getbufsize()


STATES = [
    {},
    {"all": "ignore"},
    {"under": "raise"},
    {"over": "call", "call": lambda *_: None},
    {"divide": "print", "under": "warn"},
]


RAISING = {"divide": "raise", "over": "raise", "invalid": "raise"}


@pytest.mark.parametrize(
    ("begin", "settings"),
    [(floating.begin_raising, RAISING), (floating.begin_ignoring, {"all": "ignore"})],
)
@pytest.mark.parametrize("asked", STATES, ids=lambda asked: "-".join(asked) or "default")
def test_it_is_what_errstate_does(asked, begin, settings):
    with np.errstate(**asked):
        before = state()
        with np.errstate(**settings):
            expected = state()
        token = begin()
        found = state()
        floating.end_handling(token)
        assert state() == before
    assert found == expected


def test_beside_what_logs():
    logging = floating.begin_logging()
    token = floating.begin_raising()
    with pytest.raises(FloatingPointError):
        np.log(np.zeros(1))
    floating.end_handling(token)
    floating.end_logging(logging)
    assert np.geterr()["divide"] == "warn"


def test_without_the_variable():
    """As in versions of NumPy before 2.0."""

    def one():
        before = state()
        settings = floating._beginning(RAISING, None)()
        with pytest.raises(FloatingPointError):
            np.log(np.zeros(1))
        floating._end_by_settings(settings)
        assert state() == before

    contextvars.copy_context().run(one)


def quotient(x):
    return np.sum(1.0 / x)


@pytest.mark.parametrize("asked", STATES[:3], ids=lambda asked: "-".join(asked) or "default")
def test_a_program_leaves_it_as_it_was(asked):
    tier.forget()
    with np.errstate(**asked):
        before = state()
        ad.gradient(quotient, np.ones(2))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ad.gradient(quotient, np.zeros(2))
        assert state() == before


def test_in_threads_and_contexts():
    found = []

    def one():
        with np.errstate(divide="ignore"):
            (bar,) = ad.gradient(quotient, np.full(2, 2.0))
            found.append((bar.tolist(), np.geterr()["divide"]))

    threads = [threading.Thread(target=one) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    contextvars.copy_context().run(one)
    assert found == [([-0.25, -0.25], "ignore")] * 5
    assert np.geterr()["divide"] == "warn"
