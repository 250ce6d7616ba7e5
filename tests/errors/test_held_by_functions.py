"""Code in C calls the user's functions: whatever these get at that has a derivative, that of the
result is refused."""

from __future__ import annotations

from collections import deque
from functools import partial

import numpy as np
import pytest
from scipy import optimize

import adjoint as ad
from adjoint.errors import NoDerivativeError

MODES = {
    "gradient": lambda f: ad.gradient(f, 2.0)[0],
    "forward": lambda f: ad.pushforward(f, (2.0,), (1.0,))[1],
    "second": lambda f: ad.hessian(f, 2.0),
}


def root(residual):
    return optimize.fsolve(residual, 1.0)[0]


class Box:
    pass


class Model:
    k = 1.0
    shared = [1.0]

    def of_class(self, u):
        return u * u - self.k

    def of_shared(self, u):
        return u * u - self.shared[0]

    def of_global(self, u):
        return u * u - parameters["k"]

    def __call__(self, u):
        return u * u - Model.k


number = 1.0
parameters = {"k": 1.0}
row, queue, numbers, box = [1.0], deque([1.0]), np.ones(2), Box()


@pytest.fixture(autouse=True)
def as_before():
    yield
    globals()["number"] = 1.0
    parameters["k"] = row[0] = queue[0] = numbers[0] = Model.k = Model.shared[0] = 1.0


def of_parameters(u):
    return u * u - parameters["k"]


def looked_up():
    return parameters["k"]


# ---- global variables that the function has written ----------------------------------------------


def in_a_variable(x):
    global number
    number = x
    return root(lambda u: u * u - number) * x


def in_a_dict(x):
    parameters["k"] = x
    return root(of_parameters) * x


def in_a_list(x):
    row[0] = x
    return root(lambda u: u * u - row[0]) * x


def in_a_queue(x):
    queue[0] = x
    return root(lambda u: u * u - queue[0]) * x


def in_an_array(x):
    numbers[0] = x
    return root(lambda u: u * u - numbers[0]) * x


def in_an_object(x):
    box.k = x
    return root(lambda u: u * u - box.k) * x


def behind_another_function(x):
    parameters["k"] = x
    return root(lambda u: u * u - looked_up()) * x


def behind_a_partial(x):
    parameters["k"] = x
    return root(partial(lambda a, u: a * u * u - looked_up(), 1.0)) * x


def in_a_class(x):
    Model.k = x
    return root(Model().of_class) * x


def in_what_a_class_holds(x):
    Model.shared[0] = x
    return root(Model().of_shared) * x


def behind_a_method(x):
    parameters["k"] = x
    return root(Model().of_global) * x


def behind_an_object(x):
    Model.k = x
    return root(Model()) * x


# ---- what functions hold -------------------------------------------------------------------------


def captured(x):
    return root(lambda u: u * u - x) * x


def in_a_captured_queue(x):
    held = deque([x])
    return root(lambda u: u * u - held[0]) * x


def as_a_default(x):
    return root(lambda u, k=x: u * u - k) * x


def as_a_named_default(x):
    return root(lambda u, *, k=x: u * u - k) * x


def as_a_default_of_a_method(x):
    class Local:
        def residual(self, u, k=x):
            return u * u - k

    return root(Local().residual) * x


def as_an_attribute(x):
    def residual(u):
        return u * u - residual.k

    residual.k = x
    return root(residual) * x


FUNCTIONS = [
    in_a_variable,
    in_a_dict,
    in_a_list,
    in_a_queue,
    in_an_array,
    in_an_object,
    behind_another_function,
    behind_a_partial,
    in_a_class,
    in_what_a_class_holds,
    behind_a_method,
    behind_an_object,
    captured,
    in_a_captured_queue,
    as_a_default,
    as_a_named_default,
    as_a_default_of_a_method,
    as_an_attribute,
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("f", FUNCTIONS)
def test_what_a_function_gets_at_is_refused(f, mode):
    with pytest.raises(NoDerivativeError, match=r"minpack|fsolve"):
        MODES[mode](f)


# ---- constants -----------------------------------------------------------------------------------


def constant_default(x):
    return root(lambda u, k=2.0: u * u - k) * x


def constant_in_a_dict(x):
    parameters["k"] = 2.0
    return root(of_parameters) * x


def constant_in_a_class(x):
    Model.k = 2.0
    return root(Model().of_class) * x


@pytest.mark.parametrize("f", [constant_default, constant_in_a_dict, constant_in_a_class])
def test_constants_are_not(f):
    slopes = [mode(f) for mode in MODES.values()]
    assert slopes == pytest.approx([2.0**0.5, 2.0**0.5, 0.0])


# ---- what unknown functions return ---------------------------------------------------------------

UNKNOWN = """
def unknown(x):
    try:
        return make(x * x)
    finally:
        pass
"""


def with_default(v):
    return lambda y=v: y


def with_attribute(v):
    def f():
        return f.y

    f.y = v
    return f


def with_property(v):
    return type("Local", (), {"__call__": property(lambda self: lambda: v)})()


def with_static_method(v):
    return type("Local", (), {"__call__": staticmethod(lambda: v)})()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("make", [with_default, with_attribute, with_property, with_static_method])
def test_what_is_returned_holds_what_it_was_made_of(make, mode):
    space = {"make": make, "__name__": "elsewhere"}
    exec(UNKNOWN, space)
    unknown = space["unknown"]
    with pytest.raises(NoDerivativeError):
        MODES[mode](lambda x: unknown(x)() * x)
