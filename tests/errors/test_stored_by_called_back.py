"""What a function stores that a search calls, or code in C that cannot be followed, wherever it
puts that: refused where a derivative is needed, in every mode."""

from __future__ import annotations

from contextvars import ContextVar
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import integrate, optimize
from scipy.optimize import _minpack

import adjoint as ad
from adjoint.errors import NoDerivativeError
from tests import support


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


def by_a_method(call, v):
    held = []

    class Model:
        def residual(self, z):
            held.append(v * v)
            return z - v

    model = Model()
    call(lambda z: model.residual(z))
    return held[0] * v


def by_a_property(call, v):
    held = []

    class Model:
        @property
        def k(self):
            held.append(v * v)
            return v

    model = Model()
    call(lambda z: z - model.k)
    return held[0] * v


class Model:
    best = 0.0
    v = 1.0

    def residual(self, z):
        type(self).best = self.v**2
        return z - self.v


class Derived(Model):
    pass


def in_its_class(call, v):
    Model.best, model = 0.0, Model()
    model.v = v
    call(lambda z: model.residual(z))
    return model.best * v


def in_a_base_of_its_class(call, v):
    Derived.best, model = 0.0, Derived()
    model.v = v
    call(lambda z: model.residual(z))
    return model.best * v


def by_a_method_of_the_class(call, v):
    class Local:
        held = []  # noqa: RUF012

        @classmethod
        def add(cls, x):
            cls.held.append(x)

    local = Local()

    def residual(z):
        local.add(v * v)
        return z - v

    call(residual)
    return Local.held[0] * v


def in_a_captured_module(call, v):
    import tests.support as module

    module.last = 0.0

    def residual(z):
        module.last = v * v
        return z - v

    call(residual)
    return module.last * v


def in_a_module(call, v):
    support.last = 0.0

    def residual(z):
        support.last = v * v
        return z - v

    call(residual)
    return support.last * v


VARIABLE = ContextVar("variable", default=0.0)


def in_a_context_variable(call, v):
    def residual(z):
        VARIABLE.set(v * v)
        return z - v

    call(residual)
    return VARIABLE.get() * v


LAST = None


def in_a_variable_that_was_empty(call, v):
    global LAST
    LAST = None

    def residual(z):
        global LAST
        LAST = v * v
        return z - v

    call(residual)
    return LAST * v


PLACES = [
    by_a_method,
    by_a_property,
    in_its_class,
    in_a_base_of_its_class,
    by_a_method_of_the_class,
    in_a_captured_module,
    in_a_module,
    in_a_context_variable,
    in_a_variable_that_was_empty,
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


# ---- integrals: the integrand is called at points of their own -----------------------------------


def with_a_memory(v):
    known = {}

    def f(z):
        if z not in known:
            known[z] = z * v
        return known[z]

    return integrate.quad(f, 0.0, 1.0)[0]


def with_a_list(v):
    held = []

    def f(z):
        held.append(v * v)
        return z

    return integrate.quad(f, 0.0, 1.0)[0] * held[0]


def with_several_values(v):
    held = []

    def f(z):
        held.append(v * v)
        return np.array([z, z])

    return integrate.quad_vec(f, 0.0, 1.0)[0][0] * held[0]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("f", [with_a_memory, with_a_list, with_several_values])
def test_what_an_integrand_stores_is_refused(f, mode):
    with pytest.raises(NoDerivativeError, match="stores something, at points of its own"):
        MODES[mode](f)


def with_a_workspace(v):
    work = np.zeros(2)

    def f(z):
        work[:] = z * v, z * z
        return work.sum()

    return integrate.quad(f, 0.0, 1.0)[0]


def with_an_attribute(v):
    held = SimpleNamespace(calls=0)

    def f(z):
        held.calls += 1
        held.rate = z * v
        return held.rate**2

    return integrate.quad(f, 0.0, 1.0)[0]


@pytest.mark.parametrize("f, slope", [(with_a_workspace, 0.5), (with_an_attribute, 4.0 / 3.0)])
def test_an_integrand_may_keep_what_it_overwrites(f, slope):
    assert ad.gradient(f, 2.0)[0] == pytest.approx(slope)
    assert ad.derivative(f)(2.0) == pytest.approx(slope)
