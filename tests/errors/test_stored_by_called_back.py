"""What a function stores that a search calls, or code in C that cannot be followed, wherever it
puts that: refused where a derivative is needed, in every mode."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import integrate, optimize
from scipy.optimize import _minpack

import adjoint as ad
from adjoint.errors import NoDerivativeError


def hybrid(residual):
    _minpack._hybrd(residual, np.ones(1), (), 1, 1e-8, 400, -10, -10, 1e-16, 100, None)


CALLERS = {
    "search": lambda residual: optimize.brentq(residual, 0.0, 5.0),
    "trajectory": lambda residual: integrate.odeint(lambda y, t: residual(y), 1.0, [0.0, 1.0]),
    "code in C": hybrid,
}
MODES = {
    "gradient": lambda f: ad.gradient(f, 2.0)[0],
    "forward": lambda f: ad.pushforward(f, (2.0,), (1.0,))[1],
    "second": lambda f: ad.hessian(f, 2.0),
}


def in_a_namespace(call, v):
    held = SimpleNamespace(path=[])

    def residual(z):
        held.path.append(v * v)
        return z - v

    call(residual)
    return held.path[0] * v


def as_an_attribute_of_a_namespace(call, v):
    held = SimpleNamespace(last=0.0)

    def residual(z):
        held.last = v * v
        return z - v

    call(residual)
    return held.last * v


def in_a_dict_of_a_namespace(call, v):
    held = SimpleNamespace(known={})

    def residual(z):
        held.known["last"] = v * v
        return z - v

    call(residual)
    return held.known["last"] * v


class Done(Exception):
    pass


def beside_an_exception(call, v):
    held = []

    def residual(z):
        held.append(v * v)
        raise Done

    try:
        call(residual)
    except Done:
        return held[0] * v


PLACES = [
    beside_an_exception,
    in_a_namespace,
    as_an_attribute_of_a_namespace,
    in_a_dict_of_a_namespace,
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("caller", CALLERS)
@pytest.mark.parametrize("place", PLACES)
def test_what_is_stored_is_refused(place, caller, mode):
    call = CALLERS[caller]
    assert place(call, 2.0) == 8.0
    with pytest.raises(NoDerivativeError, match="store|'scipy.optimize._minpack._hybrd'|_hybrd"):
        MODES[mode](lambda v: place(call, v))
