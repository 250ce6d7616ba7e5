"""Code in C calls the user's functions: whatever these get at that has a derivative, that of the
result is refused."""

from __future__ import annotations

import weakref
from collections import deque
from functools import partial
from operator import attrgetter, itemgetter, methodcaller

import numpy as np
import pytest
from scipy.optimize import _minpack

import adjoint as ad
from adjoint.errors import AdjointError

hybrid = _minpack._hybrd
MODES = {
    "gradient": lambda f: ad.gradient(f, 2.0)[0],
    "forward": lambda f: ad.pushforward(f, (2.0,), (1.0,))[1],
    "second": lambda f: ad.hessian(f, 2.0),
}


def root(residual, start=None):
    """A root by code in C, which has no rule: those of `scipy.optimize` above it have."""
    start = np.array([1.0]) if start is None else start
    return hybrid(residual, start, (), 1, 1e-8, 400, -10, -10, 1e-16, 100, None)[0][0]


class Box:
    def get(self):
        return self.k


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


class Derived(Model):
    pass


class Meta(type):
    k = 1.0
    shared = [1.0]

    def looked_up(cls):
        return parameters["k"]

    @property
    def found(cls):
        return parameters["k"]


class Made(metaclass=Meta):
    def of_metaclass(self, u):
        return u * u - type(self).k

    def of_shared(self, u):
        return u * u - type(self).shared[0]

    def of_property(self, u):
        return u * u - type(self).found


class Keys:
    def __getitem__(self, key):
        return key[0]

    def get(self, k):
        return k[0]

    @property
    def k(self):
        return parameters["k"]


class Slotted:
    __slots__ = ("__weakref__", "k")


known = weakref.WeakValueDictionary()
number = 1.0
parameters = {"k": 1.0}
row, queue, numbers, box = [1.0], deque([1.0]), np.ones(2), Box()


@pytest.fixture(autouse=True)
def as_before():
    yield
    globals()["number"] = 1.0
    parameters["k"] = row[0] = queue[0] = numbers[0] = Model.k = Model.shared[0] = 1.0
    Meta.k = Meta.shared[0] = 1.0


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


def in_a_base(x):
    Model.k = x
    return root(lambda u: u * u - Derived.k) * x


def in_a_metaclass(x):
    Meta.k = x
    return root(Made().of_metaclass) * x


def in_what_a_metaclass_holds(x):
    Meta.shared[0] = x
    return root(Made().of_shared) * x


def behind_a_method_of_a_metaclass(x):
    parameters["k"] = x
    return root(lambda u: u * u - Made.looked_up()) * x


def behind_a_property_of_a_metaclass(x):
    parameters["k"] = x
    return root(Made().of_property) * x


def behind_attrgetter(x):
    parameters["k"] = x
    return root(partial(lambda get, u: u * u - get(Keys()), attrgetter("k"))) * x


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


def as_an_attribute_of_a_metaclass(x):
    class Local(type):
        def __call__(cls, u):
            return u * u - cls.k

    Local.k = x
    return root(Local("Callable", (), {})) * x


def captured_by_a_metaclass(x):
    class Local(type):
        @property
        def k(cls):
            return x

    class Callable(metaclass=Local):
        def __call__(self, u):
            return u * u - type(self).k

    return root(Callable()) * x


def in_a_slice(x):
    held = slice(x, None)
    return root(lambda u: u * u - held.start) * x


def in_a_list_in_a_slice(x):
    held = slice(None, [x])
    return root(lambda u: u * u - held.stop[0]) * x


def in_itemgetter(x):
    return root(partial(lambda get, u: u * u - get(Keys()), itemgetter([x]))) * x


def in_methodcaller(x):
    return root(partial(lambda get, u: u * u - get(Keys()), methodcaller("get", [x]))) * x


def in_methodcaller_by_name(x):
    return root(partial(lambda get, u: u * u - get(Keys()), methodcaller("get", k=[x]))) * x


def behind_a_reference(x):
    held = Box()
    held.k = x
    reference = weakref.ref(held)
    return root(lambda u: u * u - reference().k) * x


def behind_a_reference_to_an_array(x):
    held = np.array([x, x])
    reference = weakref.ref(held)
    return root(lambda u: u * u - reference()[0]) * x


def behind_a_reference_to_a_method(x):
    held = Box()
    held.k = x
    reference = weakref.WeakMethod(held.get)
    return root(lambda u: u * u - reference()()) * x


def behind_references_by_name(x):
    held = known["it"] = Box()
    held.k = x
    return root(lambda u: u * u - known["it"].k) * x


def behind_a_proxy(x):
    held = Slotted()
    held.k = x
    proxy = weakref.proxy(held)
    return root(lambda u: u * u - proxy.k) * x


FUNCTIONS = [
    in_a_base,
    in_a_metaclass,
    in_what_a_metaclass_holds,
    behind_a_method_of_a_metaclass,
    behind_a_property_of_a_metaclass,
    behind_attrgetter,
    as_an_attribute_of_a_metaclass,
    captured_by_a_metaclass,
    in_a_slice,
    in_a_list_in_a_slice,
    in_itemgetter,
    in_methodcaller,
    in_methodcaller_by_name,
    behind_a_reference,
    behind_a_reference_to_an_array,
    behind_a_reference_to_a_method,
    behind_references_by_name,
    behind_a_proxy,
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
    with pytest.raises(AdjointError, match="hybr"):
        MODES[mode](f)


# ---- variables that hold what they held ---------------------------------------------------------


def in_a_list_assigned_again(x):
    row[0] = x
    return root(of_row_assigned_again) * x


def of_row_assigned_again(u):
    global row
    row = row if row else [2.0]
    return u * u - row[0]


def in_a_captured_list_assigned_again(x):
    held = [x]

    def residual(u):
        nonlocal held
        held = held or [2.0]
        return u * u - held[0]

    return root(residual) * x


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("f", [in_a_list_assigned_again, in_a_captured_list_assigned_again])
def test_a_list_of_a_variable_that_may_be_assigned_is_refused(f, mode):
    with pytest.raises(AdjointError, match="hybr"):
        MODES[mode](f)


# ---- what starts at its solution -----------------------------------------------------------------


def of_root(x):
    numbers[0] = x
    return root(lambda u: u - numbers[0], np.array([2.0]))


@pytest.mark.parametrize("mode", MODES)
def test_a_solution_that_stood_there_is_no_constant(mode):
    assert of_root(2.0) == 2.0
    with pytest.raises(AdjointError, match="hybr"):
        MODES[mode](of_root)


# ---- constants -----------------------------------------------------------------------------------


def constant_default(x):
    return root(lambda u, k=2.0: u * u - k) * x


def constant_in_a_dict(x):
    parameters["k"] = 2.0
    return root(of_parameters) * x


def constant_in_a_class(x):
    Model.k = 2.0
    return root(Model().of_class) * x


def constant_in_a_metaclass(x):
    Meta.k = 2.0
    return root(Made().of_metaclass) * x


def constant_in_a_slice(x):
    held = slice(2.0, None)
    return root(lambda u: u * u - held.start) * x


def constant_where_it_started(x):
    start = np.array([2.0])
    return root(lambda u: u - 2.0, start) ** 0.5 * start[0] ** 0.0 * x


CONSTANT = [
    constant_where_it_started,
    constant_default,
    constant_in_a_dict,
    constant_in_a_class,
    constant_in_a_metaclass,
    constant_in_a_slice,
]


@pytest.mark.parametrize("f", CONSTANT)
def test_constants_are_not(f):
    slopes = [mode(f) for mode in MODES.values()]
    assert slopes == pytest.approx([2.0**0.5, 2.0**0.5, 0.0])


# ---- what is given itself ------------------------------------------------------------------------

WITHOUT_SOURCE = """
def unknown(read, it):
    try:
        return 2.0 * read(it)
    finally:
        pass
"""
space = {"__name__": "elsewhere"}
exec(WITHOUT_SOURCE, space)
unknown = space["unknown"]


def given_itemgetter(x):
    return unknown(itemgetter([x]), Keys()) * x


def given_methodcaller(x):
    return unknown(methodcaller("get", k=[x]), Keys()) * x


def given_attrgetter(x):
    held = Box()
    held.k = x
    return unknown(attrgetter("k"), held) * x


def given_a_slice(x):
    return unknown(lambda held: held.start, slice(x, None)) * x


def given_a_reference(x):
    held = Slotted()
    held.k = x
    return unknown(lambda reference: reference().k, weakref.ref(held)) * x


GIVEN = [given_itemgetter, given_methodcaller, given_attrgetter, given_a_slice, given_a_reference]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("f", GIVEN)
def test_what_a_function_is_given_is_refused(f, mode):
    with pytest.raises(AdjointError, match="unknown|may store something"):
        MODES[mode](f)


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
    with pytest.raises(AdjointError):
        MODES[mode](lambda x: unknown(x)() * x)
