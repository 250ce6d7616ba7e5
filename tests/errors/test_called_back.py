"""The user's code that code in C, or a module that is left alone, enters: nothing that it stores is
lost in silence, and what it does otherwise is allowed."""

import array
import codecs
import collections
import contextlib
import csv
import ctypes
import dataclasses
import enum
import importlib.util
import inspect
import io
import logging
import operator
import pickle
import re
import sqlite3
import sys
import threading
import time
import types
import warnings
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

import adjoint as ad
from adjoint.errors import AdjointError, MutationError
from adjoint.runtime.foreign.may_store import calls_of
from tests.errors.places import assert_tells, raised
from tests.errors.special_methods import PRELUDE, text_of

STEP = 1e-5


def slope(f, x):
    return (f(x + STEP) - f(x - STEP)) / (2 * STEP)


# ---- special methods -----------------------------------------------------------------------------

TEXTS = text_of()


@pytest.fixture(scope="module")
def functions(tmp_path_factory):
    path = tmp_path_factory.mktemp("special") / "special_functions.py"
    path.write_text(PRELUDE + "\n\n" + "\n\n".join(TEXTS.values()))
    spec = importlib.util.spec_from_file_location("special_functions", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", TEXTS)
def test_what_a_special_method_stores_is_not_lost(functions, name):
    f = getattr(functions, name)
    expected = slope(f, 1.3)
    try:
        (bar,) = ad.gradient(f, 1.3)
    except AdjointError as error:
        assert error.hint
    else:
        assert bar == pytest.approx(expected, rel=1e-6)


# ---- what is refused -----------------------------------------------------------------------------


class Handler(logging.Handler):
    def __init__(self, notes):
        super().__init__()
        self.notes = notes

    def emit(self, record):
        self.notes.append(record.args[0] * 2)


def logger_with(handler):
    log = logging.Logger("log")
    log.addHandler(handler)
    return log


class Reading(logging.Handler):
    def emit(self, record):
        return record.args[0] * 2


def by_reading_handler(x):
    logger_with(Reading()).warning("%s", x)
    return x


def by_handler(x):
    notes = []
    logger_with(Handler(notes)).warning("%s", x)
    return sum(notes)


def by_record_that_is_kept(x):
    class Keeping(logging.Handler):
        def emit(self, record):
            notes.append(record)

    notes = []
    logger_with(Keeping()).warning("%s", x)
    return notes[0].args[0] * 2


def by_filter(x):
    notes = []
    log = logger_with(logging.NullHandler())
    log.addFilter(lambda record: notes.append(record.args[0] * x) or True)
    log.warning("%s", x)
    return sum(notes)


def by_shown_warning(x):
    notes = []
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = lambda *args, **kwargs: notes.append(x * 2)
        warnings.warn("shown", stacklevel=1)
    return sum(notes)


def by_standard_output(x):
    notes = []

    class File:
        def write(self, text):
            notes.append(x * len(text))

    before, sys.stdout = sys.stdout, File()
    try:
        print("text")
    finally:
        sys.stdout = before
    return sum(notes)


def by_callback_of_c(x):
    notes = []
    called = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(lambda v: notes.append(v * x) or v)
    called(2.0)
    return sum(notes)


def by_database(x):
    notes = []
    connection = sqlite3.connect(":memory:")
    connection.create_function("noted", 1, lambda v: notes.append(v * x) or 1)
    with contextlib.closing(connection):
        connection.execute("select noted(2)").fetchall()
    return sum(notes)


def by_codec(x):
    notes = []
    codecs.register_error("noting", lambda error: notes.append(x * 2) or ("?", error.end))
    "é".encode("ascii", "noting")
    return sum(notes)


def by_writer(x):
    class File:
        def __init__(self):
            self.total = 0.0

        def write(self, text):
            self.total = self.total + x

    file = File()
    csv.writer(file).writerow([1, 2])
    return file.total


def by_parser(x):
    class Target:
        total = 0.0

        def start(self, tag, attributes):
            Target.total = Target.total + x

        def close(self):
            return None

    parser = ElementTree.XMLParser(target=Target())
    parser.feed("<a><b></b></a>")
    parser.close()
    return Target.total


def by_hash(x):
    class Key:
        loaded = None

        def __hash__(self):
            if self.loaded is None:
                self.loaded = [x * 2]
            return 1

        def __eq__(self, other):
            return self is other

    key = Key()
    found = {key: x}
    return found[key] + key.loaded[0]


def by_slots_and_cells(x):
    class Key:
        __slots__ = ("total",)

        def __init__(self):
            self.total = 0.0

        def __hash__(self):
            nonlocal count
            if not self.total:
                self.total = self.total + x
                count = count + x * x
            return 1

    count = 0.0
    key = Key()
    assert key in {key}
    return key.total + count


class Registry:
    items = []
    last = 0.0


def note(value):
    global LAST
    LAST = value
    Registry.items.append(value)
    Registry.last = value


LAST = 0.0


def by_globals_of_a_helper(x):
    Registry.items.clear()

    class Noting(logging.Handler):
        def emit(self, record):
            note(record.args[0] * 3)

    logger_with(Noting()).warning("%s", x)
    return Registry.items[0]


def by_a_global_variable(x):
    by_globals_of_a_helper(x)
    return LAST * 2


def by_a_class_attribute(x):
    by_globals_of_a_helper(x)
    return Registry.last * 2


def by_an_array(x):
    values = np.zeros(3)

    class Noting(logging.Handler):
        def emit(self, record):
            values[1] = record.args[0]

    logger_with(Noting()).warning("%s", x)
    return (values * 2).sum()


def by_order_of_c(x):
    notes = []
    compare = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object)(lambda v: notes.append(v) or 0)
    compare(x)
    return sum(notes)


def counted(x):
    class Counting(logging.Handler):
        count = 0

        def emit(self, record):
            Counting.count += 1
            self.last = record.getMessage()

    handler = Counting()
    log = logger_with(handler)
    for _ in range(3):
        log.warning("%s %s", x, [x])
    return x * Counting.count + len(handler.last)


def remembered(x):
    class Keeping(logging.Handler):
        def emit(self, record):
            records.append((record, time.perf_counter()))

    records = []
    model = Model(x)
    logger_with(Keeping()).warning("%s %s", x, model)
    return model(x) * len(records)


def constants_that_are_stored(x):
    class Reading(logging.Handler):
        def emit(self, record):
            values.append(2.0)

    values = []
    logger_with(Reading()).warning("text")
    return x * len(values)


def by_a_hash_that_counts(x):
    class Key:
        asked = 0

        def __hash__(self):
            Key.asked += 1
            return 1

        def __eq__(self, other):
            return self is other

    key = Key()
    table = {}
    table[key] = x
    return table[key] * Key.asked


class Compared:
    asked = 0

    def __init__(self, v):
        self.v = v

    def __hash__(self):
        return hash(self.v)

    def __eq__(self, other):
        Compared.asked += 1
        return self.v == other.v


def by_a_comparison_that_counts(x):
    table = {Compared(1): x}
    return table[Compared(1)] * Compared.asked


REFUSED = [
    (by_handler, 'warning("%s", x)', "Handler.emit", "logging.Logger.warning"),
    (by_record_that_is_kept, 'warning("%s", x)', "Keeping.emit", "logging.Logger.warning"),
    (by_filter, 'log.warning("%s", x)', "<lambda>", "logging.Logger.warning"),
    (by_shown_warning, 'warnings.warn("shown", stacklevel=1)', "<lambda>", "warn"),
    (by_callback_of_c, "called(2.0)", "<lambda>", "CFunctionType"),
    (by_database, 'connection.execute("select noted(2)")', "<lambda>", "Connection.execute"),
    (by_codec, '"é".encode("ascii", "noting")', "<lambda>", "str.encode"),
    (by_writer, "csv.writer(file).writerow([1, 2])", "File.write", "writerow"),
    (by_parser, 'parser.feed("<a><b></b></a>")', "Target.start", "XMLParser.feed"),
    (by_hash, "found = {key: x}", "Key.__hash__", "dict"),
    (by_slots_and_cells, "assert key in {key}", "Key.__hash__", ""),
    (by_globals_of_a_helper, 'warning("%s", x)', "note", "logging.Logger.warning"),
    (by_a_global_variable, None, "note", "logging.Logger.warning"),
    (by_a_class_attribute, None, "note", "logging.Logger.warning"),
    (by_an_array, 'warning("%s", x)', "Noting.emit", "logging.Logger.warning"),
    (by_order_of_c, "compare(x)", "<lambda>", "CFunctionType"),
    (counted, 'log.warning("%s %s", x, [x])', "Counting.emit", "logging.Logger.warning"),
    (remembered, 'warning("%s %s", x, model)', "Keeping.emit", "logging.Logger.warning"),
    (constants_that_are_stored, 'warning("text")', "Reading.emit", "logging.Logger.warning"),
    (by_a_hash_that_counts, "table[key] = x", "Key.__hash__", "dict.__setitem__"),
    (by_a_comparison_that_counts, None, "Compared.__eq__", ""),
]


@pytest.mark.parametrize(
    "f, text, stored, called", REFUSED, ids=lambda f: getattr(f, "__name__", "")
)
def test_code_that_may_store_something_is_refused(f, text, stored, called):
    for call in (lambda: ad.pullback(f, 3.0), lambda: ad.pushforward(f, (3.0,), (1.0,))):
        error = raised(MutationError, call)
        assert stored in error.problem and called in error.problem
        assert "may store something" in error.problem and "store nothing" in error.hint
        if text is not None:
            assert_tells(error, f, text)


# ---- a function without text, or of C, changes what is far away ----------------------------------


class Plain:
    pass


def changed_far_away(x):
    outer = Plain()
    outer.inner = Plain()
    outer.inner.values = x * 2
    overwrite(outer)
    return outer.inner.values.sum()


def changed_in_a_list(x):
    outer = {"a": [x, [x * 2]]}
    overwrite_element(outer)
    return outer["a"][1][0].sum()


def stored_far_away(x):
    outer = Plain()
    outer.inner = Plain()
    outer.inner.values = []
    keep(outer, x)
    return outer.inner.values[0].sum()


in_c = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object)
overwrite = in_c(lambda outer: outer.inner.values.__setitem__(0, 7.0) or 0)
overwrite_element = in_c(lambda outer: outer["a"][1].__setitem__(0, np.zeros(2)) or 0)
keep = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.py_object)(
    lambda outer, value: outer.inner.values.append(value * 2) or 0
)


@pytest.mark.parametrize("f", [changed_far_away, changed_in_a_list, stored_far_away])
def test_what_is_changed_far_away_is_not_lost(f):
    def run(x):
        y, back = ad.pullback(f, x)
        return back(1.0)

    raised(AdjointError, run, np.array([1.0, 2.0]))


# ---- what is allowed -----------------------------------------------------------------------------


class Model:
    def __init__(self, w):
        self.w, self.shown = w, 0

    def __call__(self, x):
        return self.w * x

    def __repr__(self):
        self.shown += 1
        return f"Model({self.w})"

    def __eq__(self, other):
        return isinstance(other, Model) and self.w == other.w

    def __hash__(self):
        return 7

    def __lt__(self, other):
        return self.w < other.w


def compared_and_hashed(x):
    model, others = Model(x), [Model(2 * x), Model(3 * x)]
    table = {model: x}
    return table[model] * (model in others) + others.index(Model(2 * x)) + min(others)(x)


def pickled_and_measured(x):
    model = Model(x)
    return model(x) * (len(pickle.dumps(model)) > 0) * (sys.getsizeof(model) > 0)


@dataclasses.dataclass(frozen=True, order=True)
class Point:
    a: int
    b: int = 0


def records_as_keys(x):
    table = collections.defaultdict(float)
    for i in range(3):
        table[Point(i % 2)] += x * i
    return table[Point(0)] * table[Point(1)] + sorted([Point(2), Point(1)])[0].a


def enums(x):
    class Mode(enum.Enum):
        A = 1
        B = 2

        def is_first(self):
            return self is Mode.A

    return x * x if Mode(1) == Mode.A and Mode["B"] in (Mode.A, Mode.B) and Mode.A.is_first() else x


ALLOWED = [
    by_standard_output,
    compared_and_hashed,
    pickled_and_measured,
    records_as_keys,
    enums,
]


@pytest.mark.parametrize("f", ALLOWED, ids=lambda f: f.__name__)
def test_reading_counting_and_showing_is_allowed(f):
    assert ad.withgradient(f, 3.0) == (f(3.0), (pytest.approx(slope(f, 3.0), rel=1e-6),))


# ---- the place that others see -------------------------------------------------------------------


def test_warnings_and_messages_come_from_the_users_lines():
    def inner(x):
        warnings.warn("of the caller", stacklevel=2)
        return x * x

    def f(x):
        warnings.warn("here", stacklevel=1)
        log.warning("here")
        y = inner(x)
        places.append((inspect.stack()[0].function, inspect.currentframe().f_lineno))
        return y

    places, stream = [], io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logging.Formatter("%(filename)s:%(lineno)d %(funcName)s"))
    log = logger_with(handler)
    found = []
    for run in (f, lambda x: ad.gradient(f, x)):
        stream.truncate(0)
        places.clear()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            run(3.0)
        shown = [(w.filename, w.lineno, str(w.message)) for w in caught]
        found.append((shown, stream.getvalue().strip("\0"), list(places)))
    assert found[0] == found[1]


# ---- how it is seen ------------------------------------------------------------------------------


def test_a_profiler_is_left_in_place():
    events = []

    def profile(frame, event, arg):
        if frame.f_code.co_name in ("emit", "by_reading_handler"):
            events.append(event)

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        ad.pullback(by_reading_handler, 3.0)
        assert sys.getprofile() is profile
    finally:
        sys.setprofile(before)
    assert "call" in events


@pytest.mark.skipif(not hasattr(sys, "monitoring"), reason="since Python 3.12")
def test_other_tools_keep_their_events():
    monitoring = sys.monitoring
    seen = []
    ad.pullback(by_reading_handler, 3.0)  # compiled with functions of that name
    monitoring.use_tool_id(2, "test")
    try:
        monitoring.register_callback(
            2, monitoring.events.PY_START, lambda code, offset: seen.append(code.co_name)
        )
        monitoring.set_events(2, monitoring.events.PY_START)
        ad.pullback(by_reading_handler, 3.0)
        ad.pullback(by_reading_handler, 3.0)
        monitoring.set_events(2, 0)
    finally:
        monitoring.free_tool_id(2)
    assert seen.count("emit") == 2


def test_other_threads_are_not_seen():
    notes, stop = [], threading.Event()

    def elsewhere():
        while not stop.is_set():
            note(1.0)
            notes.append(1)

    def f(x):
        class Waiting(logging.Handler):
            def emit(self, record):
                while len(notes) < 3:
                    pass

        logger_with(Waiting()).warning("text")
        return x * x

    worker = threading.Thread(target=elsewhere)
    worker.start()
    try:
        assert ad.gradient(f, 3.0) == (6.0,)
    finally:
        stop.set()
        worker.join()


def test_an_exception_leaves_a_usable_record():
    def f(x):
        notes = []

        def replace(match):
            notes.append(x * 2)
            if len(notes) > 1:
                raise KeyError(x)
            return "b"

        try:
            re.sub("a", replace, "aaa")
        except KeyError as error:
            return notes[0] * notes[1] * error.args[0]
        return x

    assert ad.gradient(f, 3.0)[0] == pytest.approx(12 * 3.0**2)


def test_what_is_lent_may_be_used_later():
    def f(x):
        return np.frompyfunc(lambda v: v * 2, 1, 1), x * x

    (made, _), back = ad.pullback(f, 3.0)
    assert made(2) == 4
    assert back((None, 1.0)) == (None, 6.0)


def test_an_array_of_c_that_is_changed_is_refused():
    values = array.array("d", [1.0])

    class Noting(logging.Handler):
        def emit(self, record):
            values[0] = record.args[0]

    log = logger_with(Noting())

    def f(x):
        log.warning("%s", x)
        return values[0] * x

    raised(AdjointError, ad.gradient, f, 3.0)


def test_rules_of_users_may_keep_state():
    def applied(f, x):
        return f(x)

    class State:
        pass

    @ad.rrule.register(applied)
    def _(f, x):
        state = State()

        def remember():
            state.slope = 2 * x

        remember()

        def applied_back(y_bar):
            return None, None, y_bar * state.slope

        return f(x), applied_back

    assert ad.gradient(lambda x: applied(lambda v: v * v, x) * x, 3.0)[0] == pytest.approx(27.0)


def test_array_ufunc_called_by_c():
    """`__array_ufunc__` passes on operands by ``*`` and ``**``, which may name outputs."""

    class Doubled(np.ndarray):
        def __array_ufunc__(self, f, method, *operands, **options):
            operands = [np.asarray(one) for one in operands]
            return getattr(f, method)(*operands, **options) * 2.0

    def compared(x):
        return (np.asarray(x.view(Doubled).__gt__(0.5)) * x).sum()

    with pytest.raises(MutationError, match="__array_ufunc__' may store"):
        ad.gradient(compared, np.array([0.3, 0.9]))
    assert ad.gradient(lambda x: (x.view(Doubled) * x).sum(), np.ones(2))[0].tolist() == [4.0, 4.0]


class Appending(list):
    def append(self, value):
        super().append(value)


class Recorder:
    def __init__(self):
        self.series, self.log = {"loss": []}, types.SimpleNamespace(values=[])

    def append(self, name, value):
        self.series[name].append(value)

    def extend(self, value):
        self.log.values.extend((value,))


def by_super(x, call):
    values = Appending()
    call(lambda: values.append(x * x))
    return values[0].sum()


def by_a_method_of_the_same_name(x, call):
    recorder = Recorder()
    call(lambda: recorder.append("loss", x * x))
    return recorder.series["loss"][0].sum()


def deep_in_attributes(x, call):
    recorder = Recorder()
    call(lambda: recorder.extend(x * x))
    return recorder.log.values[0].sum()


def by_a_function_that_is_passed(x, call):
    held = types.SimpleNamespace(value=x)
    call(lambda: list(map(setattr, [held], ["value"], [x * x])))
    return held.value.sum()


def by_an_operator_that_is_passed(x, call):
    held = x * 1.0
    call(lambda: list(map(operator.ipow, [held], [2.0])))
    return held.sum()


def by_a_ufunc_that_is_passed(x, call):
    held = x * 1.0
    call(lambda: list(map(np.multiply, [held], [held], [held])))
    return held.sum()


def by_an_output_in_its_place(x, call):
    held = x * x
    call(lambda: np.cumsum(held, 0, None, held))
    return (held * x).sum()


def by_a_copy_that_is_none(x, call):
    held = x * np.array([np.nan, 1.0])
    call(lambda: np.nan_to_num(held, False))
    return (held * x).sum()


def by_an_element_of_an_iterator(x, call):
    held = types.SimpleNamespace(value=x)
    elements = zip([held], [1], strict=True)

    def store():
        for element, _ in elements:
            element.value = x * x

    call(store)
    return held.value.sum()


def by_a_generator(x, call):
    def summing():
        total = 0.0
        while True:
            value = yield total
            total += value

    total = summing()
    next(total)
    call(lambda: total.send((x * x).sum()))
    return total.send(0.0)


@pytest.mark.parametrize(
    "f",
    [
        by_an_element_of_an_iterator,
        by_a_generator,
        by_super,
        by_a_method_of_the_same_name,
        deep_in_attributes,
        by_a_function_that_is_passed,
        by_an_operator_that_is_passed,
        by_a_ufunc_that_is_passed,
        by_an_output_in_its_place,
        by_a_copy_that_is_none,
    ],
)
def test_ways_to_store_that_are_not_in_sight(f):
    """A filter of a logger is called by code that is not followed."""

    def filtered(run):
        log = logging.Logger("filtered")
        log.addHandler(logging.NullHandler())
        log.addFilter(lambda record: [run()])
        log.warning("")

    x = np.array([1.3, 0.7])
    for differentiate in (
        lambda g: ad.gradient(g, x),
        lambda g: ad.pushforward(g, (x,), (np.ones(2),)),
        lambda g: ad.hessian(g, x),
    ):
        with pytest.raises(AdjointError):
            differentiate(lambda x: f(x, filtered))


def test_functions_of_numbers_that_are_called_are_not_passed_on():
    exp = np.exp
    called = [lambda v: np.exp(v), lambda v: exp2(v), lambda v: exp(v) * np.sin(v)]
    passed = [lambda v: list(map(np.exp, v)), lambda v: list(map(exp2, v))]
    assert [calls_of(f.__code__).stores for f in (*called, *passed)] == [False] * 3 + [True] * 2


exp2 = np.exp2
