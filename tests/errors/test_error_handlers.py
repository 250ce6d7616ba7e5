"""What NumPy and `warnings` call on errors and warnings: the user's code, which nobody sees run."""

import warnings

import numpy as np
import pytest

import adjoint as ad
from adjoint.errors import MutationError
from tests.errors.places import assert_tells, raised
from tests.fast.agreeing import generic_tier


def modes(f, x):
    """The derivative in all modes."""
    yield ad.gradient(f, x)[0]
    yield ad.grad(f, tier="generic")(x)
    with generic_tier():
        _, back = ad.pullback(f, x)
        yield back(1.0)[1]
        yield back(1.0)[1]
    yield ad.pushforward(f, (x,), (1.0,))[1]


def by_call(x):
    notes = []
    with np.errstate(divide="call", call=lambda *_: notes.append(x * x)):
        np.array([1.0]) / 0.0
    return notes[0]


def by_log(x):
    class Log:
        def write(self, text):
            self.note = x * x

    log = Log()
    with np.errstate(invalid="log", call=log):
        np.log(np.array([-1.0]))
    return log.note


def by_setting(x):
    notes = []
    before = np.seterrcall(lambda *_: notes.append(x * x))
    np.seterrcall(before)
    return x


@pytest.mark.parametrize(
    ("f", "text"),
    [(by_call, "np.errstate("), (by_log, "np.errstate("), (by_setting, "np.seterrcall(lambda")],
)
def test_handlers_of_floating_point_errors_are_refused(f, text):
    for call in (
        lambda: ad.gradient(f, 1.3),
        lambda: ad.grad(f, tier="generic")(1.3),
        lambda: ad.pushforward(f, (1.3,), (1.0,)),
    ):
        assert_tells(raised(MutationError, call), f, text)


def handled(x):
    with np.errstate(divide="call"):
        np.array([x]) / 0.0
    with np.errstate(invalid="ignore", call=None):
        np.sqrt(np.array([-x]))
    np.seterrcall(np.seterrcall(None))
    return x * x


def test_handlers_that_were_set_before_are_called():
    seen = []
    before = np.seterrcall(lambda *error: seen.append(error))
    try:
        assert handled(1.5) == 2.25
        for slope in modes(handled, 1.5):
            assert slope == 3.0
        assert len(seen) >= 5
    finally:
        np.seterrcall(before)


def by_shown_warning(x):
    notes = []
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = lambda *_, **__: notes.append(x * x)
        warnings.warn("shown", stacklevel=1)
    return notes[0] * x


def counted_warnings(x):
    notes = []
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = lambda *_, **__: notes.append(1)
        warnings.warn("shown", stacklevel=1)
    return x * x * len(notes)


def test_what_shows_warnings_stores_nothing_in_silence():
    for call in (
        lambda: ad.gradient(by_shown_warning, 1.3),
        lambda: ad.grad(by_shown_warning, tier="generic")(1.3),
        lambda: ad.pushforward(by_shown_warning, (1.3,), (1.0,)),
    ):
        error = raised(MutationError, call)
        assert "may store something" in error.problem
        assert_tells(error, by_shown_warning, 'warnings.warn("shown"')
    raised(MutationError, ad.gradient, counted_warnings, 1.5)
