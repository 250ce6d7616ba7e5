"""What a function stores that a search calls, or code in C that cannot be followed, wherever it
puts that: refused where a derivative is needed, in every mode."""

from __future__ import annotations

import io
import logging
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import integrate, optimize
from scipy.optimize import _minpack

import adjoint as ad
from adjoint.errors import AdjointError, NoDerivativeError
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
    with pytest.raises(AdjointError, match="store|'scipy.optimize._minpack._hybrd'|_hybrd"):
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


# ---- in what a function, a property, an item gives -----------------------------------------------

ACCESSORS = """
import collections
import contextlib
import copy
import enum
import functools
import operator
import threading
import types
import weakref

import numpy as np


class State:
    made = None

    def __init__(self):
        self.n, self.buf, self.row = 0.0, np.zeros(1), [0.0]

    @classmethod
    def instance(cls):
        if cls.made is None:
            cls.made = cls()
        return cls.made

    @staticmethod
    def current():
        return state


state = State.made = State()
rows, stack = {"s": state}, [state]
mapping, maps = types.MappingProxyType(rows), collections.ChainMap(rows)
user_dict, weak_values = collections.UserDict(rows), weakref.WeakValueDictionary(rows)
reference, proxy = weakref.ref(state), weakref.proxy(state)
local = threading.local()
local.s = state
partial = functools.partial(lambda a: a, state)
by_name = lambda: state


def get():
    return state


def get_top():
    return stack[-1]


def get_row():
    return state.row


@functools.lru_cache
def cached():
    return state


@functools.cache
def kept(key):
    return [state]


cached(), kept(1)


def closure():
    held = state

    def inner():
        return held

    return inner


captured = closure()


def default(s=state):
    return s


def generated():
    while True:
        yield state


endless = generated()
next(endless)


def nested():
    def inner():
        return state

    return inner()


def chained():
    return Held().by_property


@contextlib.contextmanager
def entered():
    yield state


class Descriptor:
    def __get__(self, owner, kind=None):
        return state


class Held:
    described = Descriptor()

    @property
    def by_property(self):
        return state

    @functools.cached_property
    def once(self):
        return state

    def __getitem__(self, key):
        return state

    def __call__(self):
        return state

    def __iter__(self):
        return iter((state,))

    def __enter__(self):
        return state

    def __exit__(self, *_):
        pass


held = Held()


class Delegating:
    def __getattr__(self, name):
        return getattr(state, name)

    def __setattr__(self, name, value):
        setattr(state, name, value)


delegating = Delegating()


class Meta(type):
    def __getattr__(cls, name):
        return state


class Of(metaclass=Meta):
    pass


class Kind(enum.Enum):
    A = state


getter, pair = operator.attrgetter("s"), operator.attrgetter("s", "s.row")
arrays, table, looking = [state.buf], {"a": state.buf}, state.buf[:]
nest = {"a": [state.buf]}
rows_of_names = np.zeros(1, dtype=[("n", float), ("inner", [("m", complex), ("k", int)])])
records = rows_of_names.copy().view(np.recarray)
namespace = {"state": state}
exec("def hidden(): return state", namespace)
hidden = namespace["hidden"]
"""
GIVING = """
get() get_top() cached() kept(1)[0] State.instance() State.current() rows['s'] rows.get('s')
stack[-1] mapping['s'] maps['s'] user_dict['s'] weak_values['s'] weak_values.get('s') reference()
proxy local.s partial() by_name() captured() default() next(generated()) next(endless) nested()
chained() held.described held.by_property held.once held[0] held() next(iter(held)) delegating
Of.any hidden() (lambda:state)() operator.getitem(rows,'s') getattr(local,'s')
globals()['state'] get.__globals__['state'] [*map(Held.__call__,[held])][0]
operator.attrgetter('s')(local) getter(local) pair(local)[0] operator.itemgetter('s')(rows)
Kind.A.value Kind['A'].value [*Kind][0].value
""".split()
"""What gives the object that is stored into."""
STORED = {
    "attribute": ("{}.n = v", lambda state: state.n),
    "by_word": ("setattr({}, 'n', v)", lambda state: state.n),
    "element": ("{}.row[0] = v", lambda state: state.row[0]),
    "array": ("{}.buf[0] = v", lambda state: state.buf[0]),
    "appended": ("{}.row.append(v)", lambda state: state.row[-1]),
}
WITH = {
    "held": "with held as s:\n        s.n = v",
    "entered": "with entered() as s:\n        s.n = v",
    "loop": "for s in held:\n        s.n = v",
    "list": "get_row()[0] = s.row[0] = s.n = v",
}


OF_THE_BUFFER = {
    "data": "state.buf.data[0] = v",
    "base": "looking.base[0] = v",
    "of a copy": "arrays.copy()[0][0] = v",
    "of a copied dict": "table.copy()['a'][0] = v",
    "by the module": "copy.copy(arrays)[0][0] = v",
    "of a deep copy": "nest.copy()['a'][0][0] = v",
    "of copies": "copy.copy(nest)['a'].copy()[0][0] = v",
    "of a sum": "(arrays + [])[0][0] = v",
    "of a product": "(arrays * 1)[0][0] = v",
    "of a union": "(nest | {})['a'][0][0] = v",
    "of values": "[*nest.values()][0][0][0] = v",
    "by a partial": "functools.partial(np.multiply, v, 1.0)(state.buf)",
    "by einsum": "np.einsum('i->i', state.buf)[:] = v",
    "named": "c = arrays.copy(); c[0][0] = v",
    "behind a star": "np.add(*(v, 0.0, s.buf))",
    "in a list": "p = [v, 1.0, s.buf]; np.multiply(*p)",
}
OF_ROWS = {
    "field": "rows_of_names['n'][0] = v",
    "field of a row": "rows_of_names[0]['n'] = v",
    "row": "rows_of_names[0] = (v, (0, 1))",
}
OF_RECORDS = {
    "record": "records.n[0] = v",
    "all records": "records.n = v",
    "row of records": "records[0].n = v",
}
INSIDE = {"field inside": "rows_of_names['inner']['m'][:] = v"}
READERS = [
    (OF_THE_BUFFER, lambda space: space["state"].buf[0]),
    (OF_ROWS, lambda space: space["rows_of_names"]["n"][0]),
    (OF_RECORDS, lambda space: space["records"].n[0]),
    (INSIDE, lambda space: space["rows_of_names"]["inner"]["m"][0].real),
]
ELEMENTS = {name: (text, read) for texts, read in READERS for name, text in texts.items()}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ELEMENTS)
def test_elements_that_are_stored_are_refused(name, mode):
    text, read = ELEMENTS[name]
    for again in (True, False):
        space = _written(text)
        log = _logging(space["note"])

        def f(v):
            log.warning("%s", v)
            return read(space) * v

        if again:
            assert f(2.0) == 8.0
        with pytest.raises(AdjointError):
            MODES[mode](f)


COPIES = [
    "c = s.buf + 0.0; c[0] = v",
    "c = np.einsum('i,i->i', s.buf, s.buf); c[0] = v",
    "c = s.buf.copy(); c[0] = v",
    "c = copy.copy(s.buf); c[0] = v",
    "np.hypot(*s.pair)",
]


@pytest.mark.parametrize("text", COPIES)
def test_what_is_copied_counts_as_written(text):
    """Which array a function writes into is not followed."""
    space = _written(text)
    state, log = space["state"], _logging(space["note"])

    def f(v):
        state.buf, state.pair = v * v * np.ones(1), (v, v)
        log.warning("%s", 1.0)
        return state.buf[0] * v

    for mode in ("forward", "gradient"):
        with pytest.raises(AdjointError):
            MODES[mode](f)


class Shown:
    """Its text is asked for by NumPy."""

    def __init__(self, value, note):
        self.value, self.note = value, note

    def __repr__(self):
        self.note(self.value**2)
        return "shown"


ASKED = {
    "array2string": lambda one: np.array2string(np.array([one], dtype=object)),
    "formatter": lambda one: np.array2string(np.ones(1), formatter={"float": lambda x: repr(one)}),
    "str": lambda one: str(np.array([one], dtype=object)),
    "format": lambda one: f"{np.array([one], dtype=object)}",
    "list": lambda one: str([one]),
    "savetxt": lambda one: np.savetxt(io.StringIO(), np.array([one], dtype=object), fmt="%r"),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("stored", STORED)
@pytest.mark.parametrize("ask", ASKED)
def test_what_is_stored_where_something_is_shown(ask, stored, mode):
    """Followed, or refused, in every mode."""
    text, read = STORED[stored]
    space = _written(text.format("state"))
    state, note = space["state"], space["note"]

    def f(v):
        ASKED[ask](Shown(v, note))
        return read(state) * v

    try:
        found = MODES[mode](f)
    except AdjointError:
        return
    slope = found[0] if isinstance(found, tuple) else found
    assert slope == pytest.approx(12.0)


def _written(text):
    space = {"__name__": "elsewhere"}
    exec(ACCESSORS + f"def note(v):\n    s = state\n    {text}\n", space)
    return space


def _logging(note):
    """Something that calls a function from code that is not followed."""

    class Handler(logging.Handler):
        def emit(self, record):
            note(record.args[0] ** 2)

    log = logging.Logger("elsewhere")
    log.addHandler(Handler())
    return log


def _refused(text, read, mode):
    space = _written(text)
    state, log = space["state"], _logging(space["note"])

    def f(v):
        log.warning("%s", v)
        return read(state) * v

    assert f(2.0) == 8.0
    for again in (True, False):
        if not again:
            state.n, state.buf[0], state.row[:] = 0.0, 0.0, [0.0]
        with pytest.raises(AdjointError):
            MODES[mode](f)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("text", WITH.values(), ids=WITH)
def test_what_is_stored_in_what_is_entered_or_gone_through_is_refused(text, mode):
    _refused(text, lambda state: state.n, mode)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("stored", STORED)
@pytest.mark.parametrize("giving", GIVING)
def test_what_is_stored_in_what_a_call_gives_is_refused(giving, stored, mode):
    text, read = STORED[stored]
    _refused(text.format(giving), read, mode)


def test_what_is_not_read_is_refused_too():
    log = _logging(_written("get().n = held.by_property.buf[0] = get_row()[0] = v")["note"])

    def f(v):
        log.warning("%s", v)
        return v**3

    for differentiate in MODES.values():
        with pytest.raises(AdjointError, match="'note' may store something"):
            differentiate(f)
