"""What an exception holds that leaves a search, or code in C, was made by code that is not
differentiated: refused where a derivative is needed, in every mode."""

from __future__ import annotations

import pytest
from scipy import integrate, optimize

import adjoint as ad
from adjoint.errors import NoDerivativeError


class Done(Exception):
    def __init__(self, best, **known):
        super().__init__(best)
        self.best, self.known = best, known


CALLERS = {
    "root": lambda f: optimize.brentq(f, 0.0, 5.0),
    "system": lambda f: optimize.fsolve(f, 1.0),
    "minimum": lambda f: optimize.minimize(lambda z: f(z[0]), [1.0], method="Nelder-Mead"),
    "fit": lambda f: optimize.leastsq(f, [1.0]),
    "integral": lambda f: integrate.quad(f, 0.0, 1.0),
    "trajectory": lambda f: integrate.odeint(lambda y, t: f(y), 1.0, [0.0, 1.0]),
}
MODES = {
    "gradient": lambda f: ad.gradient(f, 2.0)[0],
    "forward": lambda f: ad.pushforward(f, (2.0,), (1.0,))[1],
    "second": lambda f: ad.hessian(f, 2.0),
    "twice forward": lambda f: ad.derivative(ad.derivative(f))(2.0),
}


def in_arguments(call, v):
    def f(z):
        raise Done(v * v)

    try:
        call(f)
    except Done as done:
        return done.args[0]


def in_attributes(call, v):
    def f(z):
        raise Done(None, k=[v * v])

    try:
        call(f)
    except Done as done:
        return done.known["k"][0]


def in_its_cause(call, v):
    def f(z):
        try:
            raise Done(v * v)
        except Done as done:
            raise ValueError("no more") from done

    try:
        call(f)
    except ValueError as error:
        return error.__cause__.best


def in_its_context(call, v):
    def f(z):
        try:
            raise Done(v * v)
        except Done:
            raise ValueError("no more")  # noqa: B904

    try:
        call(f)
    except ValueError as error:
        return error.__context__.best


def in_the_cause_of_its_cause(call, v):
    def f(z):
        try:
            raise KeyError("k") from Done(v * v)
        except KeyError as error:
            raise ValueError("no more") from error

    try:
        call(f)
    except ValueError as error:
        return error.__cause__.__cause__.best


PLACES = [
    in_arguments,
    in_attributes,
    in_its_cause,
    in_its_context,
    in_the_cause_of_its_cause,
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("caller", CALLERS)
@pytest.mark.parametrize("place", PLACES)
def test_what_is_raised_is_refused(place, caller, mode):
    call = CALLERS[caller]
    assert place(call, 2.0) == 4.0
    with pytest.raises(NoDerivativeError, match="holds is needed, which was raised by code"):
        MODES[mode](lambda v: place(call, v))


# ---- what has its derivative ---------------------------------------------------------------------


def stopping(v):
    def f(z):
        raise Done(None)

    best = [v * v]
    try:
        optimize.brentq(f, 0.0, 5.0)
    except Done:
        return best[0]


def in_what_was_there(v):
    best = [v * v]

    def f(z):
        raise Done(best)

    try:
        optimize.brentq(f, 0.0, 5.0)
    except Done as done:
        return done.best[0]


def raised_before(v):
    """The context was raised by code that is differentiated."""
    try:
        raise Done(v * v)
    except Done:
        try:
            optimize.brentq(lambda z: {}[z], 0.0, 5.0)
        except KeyError as error:
            return error.__context__.best


def raised_beside(v):
    try:
        raise ValueError("no more") from Done(v * v)
    except ValueError as error:
        return error.__cause__.best


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("f", [stopping, in_what_was_there, raised_before, raised_beside])
def test_what_differentiated_code_has_made_has_its_derivative(f, mode):
    expected = 2.0 if mode in ("second", "twice forward") else 4.0
    assert MODES[mode](f) == expected
