"""Functions with neither rule nor source: harmless, needed, or writing where nobody sees it."""

import array
import bisect
import collections
import concurrent.futures
import contextvars
import copy
import ctypes
import decimal
import fractions
import functools
import gzip
import hashlib
import io
import json
import logging
import math
import os
import pickle
import queue
import random
import struct
import sys
import tempfile
import threading
import time
import types
import uuid
import warnings
import weakref

import mpmath
import numpy as np
import pytest
import scipy.fft
import sympy

import adjoint as ad
from adjoint.errors import AdjointError, MutationError, NoDerivativeError
from tests.errors.places import assert_tells, raised

log = logging.getLogger(__name__)
hundred = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(lambda x: 100 * x)
spoken = []


class Plain:
    pass


# ---- no derivative is asked for ------------------------------------------------------------------


def printing(x):
    print("x is", x, f"{x:.2f}", repr(x), end="\n")
    return x * x


def printing_to_a_file(x):
    file = io.StringIO()
    print(x, file=file)
    file.write(f"{x}\n")
    return x * x + len(file.getvalue()) * 0


def printing_compressed(x):
    with tempfile.TemporaryFile() as file, gzip.open(file, "wt") as packed:
        print(x, file=packed)
    return x * x


def logging_it(x):
    log.info("x is %s", x)
    logging.getLogger("other").debug("x is %r", x, extra={"x": x})
    log.warning("x is %s", x)
    return x * x


def hashing(x):
    seen = {hash(x): "seen", hash((x, 1)): "too"}
    digest = hashlib.sha256(str(x).encode()).hexdigest()
    return x * x if seen and digest else x


def hashing_bytes(x):
    return x * x * (hashlib.md5(np.array([1.0, 2.0]).tobytes()).digest_size == 16)


def random_numbers(x):
    random.seed(1)
    noise = random.random() + random.gauss(0, 1) + random.uniform(1, 2) + random.randint(1, 3)
    return x * x + 0 * noise


def random_arrays(x):
    rng = np.random.default_rng(0)
    noise = rng.normal(size=3).sum() + rng.random() + rng.integers(3)
    return x * x + 0 * noise


def legacy_random(x):
    np.random.seed(0)  # noqa: NPY002
    noise = np.random.rand(2).sum() + np.random.randn()  # noqa: NPY002
    return x * x + 0 * noise


def choosing(x):
    return x * random.Random(3).choice([x, x, x])


def timing(x):
    start = time.perf_counter()
    return x * x + 0 * (time.perf_counter() - start) + 0 * time.time()


def looking_around(x):
    return (
        x * x
        if os.getcwd() and sys.getrefcount(x) and os.environ.get("HOME", "") is not None
        else x
    )


def writing_json(x):
    return x * x if json.dumps({"x": x}) else 0.0


def packing(x):
    return x * x if struct.pack("d", x) else 0.0


def identifying(x):
    return x * x if id(x) and uuid.uuid4() and type(x) and sys.getsizeof(x) else 0.0


def warning(x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.warn(f"x is {x}", stacklevel=1)
    return x * x


def speaking(x):
    spoken.append(str(x))
    return x * x


def unused_result(x):
    hundred(x)
    y = hundred(x)
    del y
    return x * x


def compared_result(x):
    return x * x if hundred(x) > 5.0 else x


def used_in_a_branch_that_is_not_taken(x):
    y = hundred(x)
    return x * x if x > 0 else y


HARMLESS = [
    printing,
    printing_to_a_file,
    printing_compressed,
    logging_it,
    hashing,
    hashing_bytes,
    random_numbers,
    random_arrays,
    legacy_random,
    choosing,
    timing,
    looking_around,
    writing_json,
    packing,
    identifying,
    warning,
    speaking,
    unused_result,
    compared_result,
    used_in_a_branch_that_is_not_taken,
]


@pytest.mark.parametrize("f", HARMLESS, ids=lambda f: f.__name__)
def test_no_derivative_is_asked_for(f, capsys):
    plain = f(3.0)
    out = capsys.readouterr().out
    assert ad.withgradient(f, 3.0) == (plain, (6.0,))
    assert capsys.readouterr().out == out, "what is printed is printed once"


def test_arrays_are_printed_logged_and_hashed(caplog):
    def f(x):
        print(x, x.shape, x.dtype)
        log.warning("x is %s", x)
        hashlib.sha256(x.tobytes()).hexdigest()
        hash(x.shape)
        return (x * x).sum()

    np.testing.assert_array_equal(ad.gradient(f, np.array([1.0, 2.0]))[0], [2.0, 4.0])
    assert "x is [1. 2.]" in caplog.text


# ---- a derivative is needed ----------------------------------------------------------------------


def needed(x):
    y = x * 2
    return hundred(y) + x


def needed_later(x):
    y = hundred(x)
    z = [y, x]
    return z[0] * z[1]


def needed_inside(x):
    return needed(x) * 2


def needed_through_a_container(x):
    return struct.unpack("dd", b"0" * 16)[0] * x + hundred(x)


def needed_through_an_object(x):
    return float(decimal.Decimal(x) * 2)


def needed_of_a_part(x):
    first, second = np.broadcast_arrays(x, np.ones(2))
    return second.sum() * hundred(first[0])


@pytest.mark.parametrize(
    "f, where, text",
    [
        (needed, needed, "return hundred(y) + x"),
        (needed_later, needed_later, "y = hundred(x)"),
        (needed_inside, needed, "return hundred(y) + x"),
        (needed_through_a_container, needed_through_a_container, "hundred(x)"),
        (needed_through_an_object, needed_through_an_object, "decimal.Decimal(x)"),
        (needed_of_a_part, needed_of_a_part, "hundred(first[0])"),
    ],
    ids=lambda f: getattr(f, "__name__", ""),
)
def test_a_derivative_is_needed(f, where, text):
    y, back = ad.pullback(f, 3.0)
    assert y == f(3.0), "no derivative is needed of the value"
    assert back(None) == (None, None)
    error = raised(NoDerivativeError, back, 1.0)
    assert_tells(error, where, text)
    assert "rrule.register" in error.hint and "non_differentiable" in error.hint
    raised(NoDerivativeError, back, 1.0)
    raised(NoDerivativeError, ad.gradient, f, 3.0)


def as_a_fraction(x):
    return float(fractions.Fraction(x)) * x


def as_a_product_of_fractions(x):
    return fractions.Fraction(x) * fractions.Fraction(1, 3) * x


def as_a_decimal(x):
    return float(decimal.Decimal(x) * 2) * x


def as_bytes(x):
    return np.frombuffer(np.array([x]).tobytes())[0] * x


def as_a_packed_struct(x):
    return struct.unpack("d", struct.pack("d", x))[0] * x


def as_an_array_of_c(x):
    return array.array("d", [x])[0] * x


def as_a_pickle(x):
    return pickle.loads(pickle.dumps(x)) * x


def as_a_number_of_mpmath(x):
    return float(mpmath.mpf(x) ** 2)


def beside_a_number_of_mpmath(x):
    return float(mpmath.mpf(2) * x)


def by_a_function_of_mpmath(x):
    return complex(mpmath.mpc(mpmath.sin(x), 1.0)).real * x


def substituted_in_sympy(x):
    a, b = sympy.symbols("a b")
    return float((a**2 * b).subs({a: x, b: 2.0})) * x


def scalar_substituted_in_sympy(x):
    a = sympy.Symbol("a")
    return float((a * a).subs(a, np.float64(x))) * x


def scalar_beside_a_symbol(x):
    a = sympy.Symbol("a")
    return float((np.float32(x) * sympy.Integer(2) + a).subs(a, 1)) * x


def zero_of_sympy(x):
    return float(sympy.Float(x - 3.0) + 1)


@pytest.mark.parametrize(
    "f",
    [
        as_a_number_of_mpmath,
        beside_a_number_of_mpmath,
        by_a_function_of_mpmath,
        substituted_in_sympy,
        scalar_substituted_in_sympy,
        scalar_beside_a_symbol,
        zero_of_sympy,
        as_a_fraction,
        as_a_product_of_fractions,
        as_a_decimal,
        as_bytes,
        as_a_packed_struct,
        as_an_array_of_c,
        as_a_pickle,
    ],
)
def test_numbers_in_other_clothes(f):
    raised(NoDerivativeError, ad.gradient, f, 3.0)
    raised(NoDerivativeError, ad.pushforward, f, (3.0,), (1.0,))
    raised(NoDerivativeError, ad.hessian, f, 3.0)
    raised(NoDerivativeError, ad.gradient, lambda x: ad.gradient(f, x)[0], 3.0)


def test_constants_of_mpmath():
    def f(x):
        print(mpmath.mpf(x), end="")
        return float(mpmath.pi) * x + float(mpmath.mpf(0.25) * 3) * x + float(sympy.sqrt(2.0)) * x

    slope = math.pi + 0.75 + math.sqrt(2.0)
    assert ad.pushforward(lambda x: float(mpmath.mpf(0.25)) * x, (3.0,), (1.0,)) == (0.75, 0.25)
    raised(NoDerivativeError, ad.gradient, f, 3.0)  # what was printed might be what came out
    (found,) = ad.gradient(lambda x: f(2.0) * 0.0 + slope * x, 3.0)
    assert found == pytest.approx(slope)


def test_a_fraction_that_is_given():
    (bar,) = ad.gradient(lambda half: 6.0 * half, fractions.Fraction(1, 2))
    assert dict(bar) == {"_numerator": 3.0, "_denominator": -1.5}


def test_the_name_of_the_function_is_said():
    def f(x):
        return decimal.Decimal(x)

    def g(xs):
        return functools.reduce(hundred_of_two, xs)

    hundred_of_two = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double, ctypes.c_double)(
        lambda x, y: x
    )
    error = raised(NoDerivativeError, ad.gradient, lambda x: float(f(x)), 3.0)
    assert "decimal.Decimal" in str(error)
    raised(NoDerivativeError, ad.gradient, g, [1.0, 2.0])


def test_other_arguments_still_have_theirs():
    def f(x, y):
        return hundred(y) + x * x

    y, back = ad.pullback(f, 3.0, 4.0)
    raised(NoDerivativeError, back, 1.0)
    assert ad.gradient(lambda x: f(x, 4.0), 3.0) == (6.0,)
    assert ad.gradient(f, 3.0, y=4.0) == (6.0,)


def by_queue(x):
    q = queue.SimpleQueue()
    q.put(x)
    return q.get() * x


def by_context(x):
    var = contextvars.ContextVar("var")
    var.set(x)
    return var.get() * x


def by_a_copy_of_the_context(x):
    var = contextvars.ContextVar("var")
    var.set(x)
    return contextvars.copy_context()[var] * x


def by_default_of_a_context_variable(x):
    return contextvars.ContextVar("var").get(x) * x


def by_array(x):
    return array.array("d", [x])[0] * x


def by_array_append(x):
    a = array.array("d")
    a.append(x)
    return a[0] * x


def by_decimal(x):
    return float(decimal.Decimal(x)) * x


def by_partial_of_c(x):
    return functools.partial(hundred, x)() * x


def by_bytes(x):
    return np.frombuffer(np.array([x, x]).tobytes())[0] * x


def by_pointer(x):
    return ctypes.c_double(x).value * x


def by_weak_reference(x):
    obj = Plain()
    obj.value = x
    return weakref.ref(obj)().value * x


def by_mapping_proxy(x):
    return types.MappingProxyType({"a": x})["a"] * x


def by_namespace(x):
    return types.SimpleNamespace(a=x).a * x


def by_memoryview(x):
    return memoryview(np.array([x, x]))[0] * x


def by_thread_local(x):
    local = threading.local()
    local.x = x
    return local.x * x


def by_thread_pool(x):
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        return pool.submit(hundred, x).result() * x


def by_a_new_class(x):
    return new_class(x).value * x + new_class(x)().value


new_class = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)(
    lambda value: type("New", (), {"value": value * 2.0})
)


def by_deepcopy(x):
    return copy.deepcopy({"a": [x]})["a"][0] * x


HIDING = [f for name, f in list(globals().items()) if name.startswith("by_")]


@pytest.mark.parametrize("f", HIDING, ids=lambda f: f.__name__)
def test_what_goes_through_objects_of_c_is_not_lost_in_silence(f):
    expected = (f(3.0 + 1e-6) - f(3.0 - 1e-6)) / 2e-6
    try:
        (bar,) = ad.gradient(f, 3.0)
    except AdjointError as error:
        assert error.hint
    else:
        assert bar == pytest.approx(expected, rel=1e-6)


def test_deques_carry_derivatives_or_refuse():
    def f(x):
        d = collections.deque([x])
        d.append(x * x)
        return d[0] * d.pop()

    try:
        assert ad.gradient(f, 3.0)[0] == pytest.approx(27.0)
    except AdjointError as error:
        assert error.hint


# ---- unknown functions that write ----------------------------------------------------------------


def writes_argument(x):
    ctypes.memmove(x.ctypes.data, np.ones(2).ctypes.data, 16)
    struct.pack_into("d", x, 0, 7.0)
    return (x * x).sum()


def writes_list(x):
    xs = [0.0, 100.0]
    insert_sorted(xs, x[0])
    return xs[1] * x[1]


def reorders_list(x):
    xs = [x[1] * 5, x[0]]
    reverse(xs)
    return xs[0] * x[1]


def pops_list(x):
    xs = [x[0], x[1]]
    return pop_last(xs) * x[1]


def writes_dict(x):
    d = {}
    set_key(d, x[0])
    return d["key"] * x[1]


def writes_object(x):
    obj = Plain()
    set_value(obj, x[0])
    return obj.value * x[1]


one = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)
reverse = one(lambda xs: xs.reverse())
pop_last = one(lambda xs: xs.pop())
store = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.py_object)
insert_sorted = store(lambda xs, value: bisect.insort(xs, value) or 0)
set_key = store(lambda d, value: d.__setitem__("key", value) or 0)
set_value = store(lambda obj, value: setattr(obj, "value", value) or 0)


def puts_a_number_in_a_list(x):
    xs = [1.0, x[0]]
    double_first(xs)
    return xs[0] * x[0]


def puts_a_number_in_a_dict(x):
    d = {"a": x[0]}
    set_value_of_a(d, 2.0)
    return d["a"] * x[0]


double_first = one(lambda xs: xs.__setitem__(0, xs[1] * 2.0))
set_value_of_a = store(lambda d, k: d.__setitem__("a", d["a"] * k) or 0)


@pytest.mark.parametrize(
    "f, text, said",
    [
        (writes_argument, 'struct.pack_into("d", x, 0, 7.0)', "ndarray"),
        (writes_list, "insert_sorted(xs, x[0])", "may store"),
        (reorders_list, "reverse(xs)", "may store"),
        (pops_list, "pop_last(xs)", "may store"),
        (writes_dict, "set_key(d, x[0])", "may store"),
        (writes_object, "set_value(obj, x[0])", "may store"),
        (puts_a_number_in_a_list, "double_first(xs)", "may store"),
        (puts_a_number_in_a_dict, "set_value_of_a(d, 2.0)", "may store"),
    ],
    ids=lambda f: getattr(f, "__name__", ""),
)
def test_unknown_functions_that_write_are_refused_at_once(f, text, said):
    error = raised(MutationError, ad.pullback, f, np.array([1.0, 2.0]))
    if f is not writes_argument:  # the address of an array may be written by anybody
        assert_tells(error, f, text)
    assert said in str(error) and ("copy" in error.hint or "store nothing" in error.hint)


def test_the_array_of_a_written_view():
    def f(x):
        y = np.zeros(4)
        io.BytesIO(np.ones(2).tobytes()).readinto(y[1:3])
        return (y * x).sum()

    try:
        np.testing.assert_array_equal(ad.gradient(f, np.ones(4))[0], [0, 1, 1, 0])
    except MutationError:
        pass


def test_what_a_function_of_c_wraps_is_not_what_it_runs():
    x = np.array([1.0, 2.0, 4.0])
    y, _ = ad.pullback(scipy.fft.dct, x)
    np.testing.assert_array_equal(y, scipy.fft.dct(x))


# ---- what is written can be undone, and what it depends on is known ------------------------------


def reads_bytes(x):
    buffer = np.zeros(2)
    io.BytesIO(x.tobytes()).readinto(buffer)
    return (buffer * x).sum()


def packs(x):
    buffer = np.ones(3)
    struct.pack_into("d", buffer[1:], 0, x[0])
    return (buffer * x[0]).sum()


def overwrites(x):
    y = x * 2.0
    struct.pack_into("d", y, 0, 7.0)
    return (y * x).sum()


@pytest.mark.parametrize(
    "f, text",
    [
        (reads_bytes, "io.BytesIO(x.tobytes()).readinto(buffer)"),
        (packs, 'struct.pack_into("d", buffer[1:], 0, x[0])'),
        (overwrites, 'struct.pack_into("d", y, 0, 7.0)'),
    ],
    ids=lambda f: getattr(f, "__name__", ""),
)
def test_what_is_written_is_refused_where_its_derivative_is_needed(f, text):
    x = np.array([1.0, 2.0])
    y, back = ad.pullback(lambda x: (f(x), x.sum())[1], x)
    np.testing.assert_array_equal(back(y)[1], [y, y])
    assert_tells(raised(NoDerivativeError, ad.gradient, f, x), f, text)


def packs_a_constant(x):
    buffer = np.ones(3)
    before = (buffer * x).sum()
    struct.pack_into("d", buffer[1:], 0, 5.0)
    return before + (buffer * x).sum() + buffer[1] * x


def packs_again_and_again(x):
    buffer, total = np.ones(3), 0.0
    for k in range(4):
        struct.pack_into("d", buffer, 8 * (k % 3), float(k))
        total = total + (buffer * x * x).sum()
    return total


def overwrites_what_was_packed(x):
    buffer = np.ones(3)
    struct.pack_into("d", buffer, 0, x)
    buffer[:] = 2.0
    return (buffer * x).sum()


def reads_before_it_is_packed(x):
    buffer = np.ones(3) * x
    total = (buffer * buffer).sum()
    struct.pack_into("d", buffer, 0, 5.0)
    return total


def adds_fortran(x):
    from scipy.linalg import blas

    y = np.zeros(2)
    return blas.daxpy(np.ones(2), y).sum() * x + y.sum() * x * x


def solves(x):
    from scipy.optimize import leastsq, minimize, root

    start = np.ones(2)
    found = root(lambda p: p - 3.0, start).x.sum() + leastsq(lambda p: p - 2.0, start)[0][0]
    bounded = minimize(lambda p: ((p - 1.0) ** 2).sum(), start * 2.0, method="SLSQP").x
    return (found + bounded.sum() + start.sum()) * x


@pytest.mark.parametrize(
    "f",
    [
        packs_a_constant,
        packs_again_and_again,
        overwrites_what_was_packed,
        reads_before_it_is_packed,
        adds_fortran,
        solves,
    ],
    ids=lambda f: f.__name__,
)
def test_what_is_written_has_no_derivative_but_what_went_in(f):
    ad.testing.check_gradient(f, 1.3, modes=("reverse", "forward"))


@pytest.mark.parametrize("f", [packs_again_and_again, reads_before_it_is_packed])
def test_levels_undo_what_is_written(f):
    def slope(x):
        return ad.pushforward(f, (x,), (1.0,))[1]

    second = (ad.gradient(f, 1.3 + 1e-5)[0] - ad.gradient(f, 1.3 - 1e-5)[0]) / 2e-5
    assert ad.gradient(slope, 1.3)[0] == pytest.approx(second)
    assert ad.pushforward(slope, (1.3,), (1.0,))[1] == pytest.approx(second)


# ---- arrays of objects ---------------------------------------------------------------------------


def plain_holder(x):
    holder = Plain()
    holder.x = x
    return holder


def element_kept(x, read):
    kept = np.empty((1, 2), dtype=object)
    kept[0, 0], kept[0, 1] = plain_holder(x), "text"
    return read(kept)


READINGS = {
    "element": lambda kept: kept[0, 0].x * 2,
    "item": lambda kept: kept[0, :1].item().x * 2,
    "list": lambda kept: kept.tolist()[0][0].x * 2,
    "copied": lambda kept: kept.T.ravel()[0].x * 2,
    "unpacked": lambda kept: [*kept[0]][0].x * 2,
}


@pytest.mark.parametrize("name", READINGS)
def test_objects_in_arrays(name):
    def f(x):
        return element_kept(x, READINGS[name])

    def g(x):
        return element_kept(2.0, READINGS[name]) * x + len(element_kept(x, np.ravel))

    assert ad.gradient(f, 3.0) == (2.0,)
    assert ad.pushforward(f, (3.0,), (1.0,)) == (6.0, 2.0)
    assert ad.gradient(g, 3.0) == (4.0,)
    assert ad.pushforward(g, (3.0,), (1.0,)) == (14.0, 4.0)


def by_reduction(x):
    return np.add.reduce(x.astype(object), initial=0.0, where=[True, False])


def one_number_twice(x):
    return np.sort(np.full(2, x[0], dtype=object))[0]


@pytest.mark.parametrize(
    "f, line", [(by_reduction, "np.add.reduce"), (one_number_twice, "np.sort")]
)
def test_arrays_of_objects_are_named(f, line):
    error = raised(NoDerivativeError, ad.gradient, f, np.array([1.0, 2.0]))
    assert "array of objects" in error.problem and "floats" in error.hint
    assert_tells(error, f, line)


def test_an_array_of_objects_in_a_list_is_named():
    xs = [np.full(2, 1.5, dtype=object)]
    error = raised(NoDerivativeError, ad.gradient, lambda xs: np.sort(xs[0])[0], xs)
    assert "array of objects" in error.problem and "floats" in error.hint


def smallest_in_place(x):
    xs = np.array([3.0, x], dtype=object)
    xs.sort()
    return xs[0] * x


def test_objects_are_put_in_order_by_c():
    class Weighed:
        def __init__(self, weight):
            self.weight = weight

        def __lt__(self, other):
            return self.weight < other.weight

    def f(x):
        least = np.sort(np.array([Weighed(3.0), Weighed(1.0)], dtype=object))[0]
        return np.sort(np.array([3.0, 1.0], dtype=object))[0] * least.weight * x

    def in_place(x):
        xs = np.array([Weighed(3.0), Weighed(x)], dtype=object)
        xs.sort()
        return xs[0].weight * x

    assert ad.gradient(f, 2.0) == (1.0,)
    raised(NoDerivativeError, ad.gradient, smallest_in_place, 2.0)
    assert ad.gradient(in_place, 2.0) == (4.0,)
    assert ad.hessian(in_place, 2.0) == 2.0


def test_an_attribute_is_named():
    error = raised(NoDerivativeError, ad.gradient, lambda x: x.data.tolist() * x, np.float64(3.0))
    assert "'numpy.float64.data'" in error.problem and "register(numpy.float64.data)" in error.hint


# ---- what is written is what was there -----------------------------------------------------------

WORKSPACE = np.zeros(1)


def zero_into_zeros(x):
    y = np.zeros(1)
    struct.pack_into("d", y, 0, x - 2.0)
    return y.sum()


def the_same_as_in_the_last_run(x):
    struct.pack_into("d", WORKSPACE, 0, x)
    return WORKSPACE.sum() * x


@pytest.mark.parametrize("f", [zero_into_zeros, the_same_as_in_the_last_run])
def test_a_write_that_changes_nothing_is_no_silent_zero(f):
    f(2.0)
    with pytest.raises(ad.AdjointError, match="pack_into"):
        ad.gradient(f, 2.0)


def test_arrays_that_are_only_read_stay_as_they_are():
    def f(x):
        first = struct.unpack_from("d", x)[0]
        if first > 100.0:
            return x.sum()
        x[0] = x[1] * 2.0
        return np.sum(x * x)

    x = np.array([1.0, 2.0])
    assert f(x.copy()) == 20.0
    np.testing.assert_array_equal(ad.gradient(f, x)[0], [0.0, 20.0])
    assert x.flags.writeable


def test_views_and_foreign_memory_are_writable_afterwards():
    def f(x):
        first, last = x[:3], x[1:]
        struct.unpack_from("d", last)
        struct.pack_into("d", first, 0, 2.0)
        x[0] = 3.0
        last[0] = 2.0
        return np.sum(x * x)

    x = np.ones(4)
    with pytest.raises(ad.AdjointError):
        ad.gradient(f, x)
    assert x.flags.writeable
    foreign = np.from_dlpack(np.ones(4))
    ad.gradient(lambda x: (struct.unpack_from("d", x), x.sum())[1], foreign)
    assert foreign.flags.writeable == np.from_dlpack(np.ones(4)).flags.writeable


def test_a_call_of_a_number_is_refused():
    class Slope(float):
        def __call__(self, k):
            return self * k

    def f(x):
        return Slope(x)(3.0)

    with pytest.raises(ad.AdjointError, match="a 'Slope' that is called"):
        ad.grad(f, tier="generic")(1.3)
    assert ad.gradient(f, 1.3) == (3.0,)


def test_what_fortran_writes_where_it_was():
    from scipy.linalg import blas

    def f(x):
        z = np.zeros(2)
        blas.daxpy(x, z, a=1.0)
        return z.sum()

    for x in (np.zeros(2), np.ones(2)):
        with pytest.raises(ad.AdjointError, match="daxpy"):
            ad.gradient(f, x)
    constant = np.ones(2)
    (x_bar,) = ad.gradient(lambda x: (blas.ddot(constant, constant) * x).sum(), np.ones(2))
    np.testing.assert_array_equal(x_bar, [2.0, 2.0])


def test_what_numpy_makes_of_other_arrays_is_said():
    class Doubled(np.ndarray):
        def __array_finalize__(self, obj):
            if obj is not None and type(obj) is not np.ndarray:
                np.asarray(self)[...] += 1.0

    def f(x):
        return np.asarray(np.sqrt(x.view(Doubled))).sum()

    with pytest.raises(MutationError, match="__array_finalize__' may store something"):
        ad.gradient(f, np.array([1.3, 0.4, 2.1]))


def test_attributes_that_numpy_lets_a_class_compute_are_no_constants():
    class Summed(np.ndarray):
        def __array_finalize__(self, obj):
            self.total = float(np.asarray(self).sum())

    class Scaled(np.ndarray):
        def __array_finalize__(self, obj):
            self.width = getattr(obj, "width", 2.0) * 1.5

    def by_width(x):
        y = x.view(Scaled)
        y.width = x[0]
        return (y * x).width * x[1]

    def f(x):
        y = x.view(Summed)
        return np.asarray(y).sum() * y.total

    for g in (f, by_width):
        for differentiate in (
            lambda g: ad.gradient(g, np.ones(3)),
            lambda g: ad.pushforward(g, (np.ones(3),), (np.ones(3),)),
            lambda g: ad.hvp(g, np.ones(3), np.ones(3)),
        ):
            with pytest.raises(NoDerivativeError, match="'__array_finalize__' has computed"):
                differentiate(g)
    assert (
        ad.gradient(lambda x: np.asarray(x.view(Summed)).sum(), np.ones(3))[0].tolist() == [1] * 3
    )


# ---- what functions of C read by way of the user's -----------------------------------------------


class Place:
    number = 1.0


HELD, TOTAL = [1.0], 1.0


class OfAClass:
    def __float__(self):
        return Place.number


class OfAList:
    def __float__(self):
        return HELD[0]


class OfAVariable:
    def __float__(self):
        return TOTAL


@pytest.mark.parametrize("kind", (OfAClass, OfAList, OfAVariable))
def test_what_special_methods_read_for_c(kind):
    """They store nothing, and nobody needs to see them, but that they have run."""

    def f(x):
        global TOTAL
        Place.number = HELD[0] = TOTAL = x * 2.0
        return struct.unpack("d", struct.pack("d", kind()))[0] * 3.0

    assert f(2.0) == 12.0
    for differentiate in (ad.gradient, lambda f, x: ad.pushforward(f, (x,), (1.0,))):
        with pytest.raises(NoDerivativeError, match="_struct"):
            differentiate(f, 2.0)


def test_global_variables_are_looked_at_where_code_of_the_users_has_run(monkeypatch):
    from adjoint.runtime.foreign import unknown_call as unknown

    looked = []
    monkeypatch.setattr(unknown, "_poison_globals", lambda *given: looked.append(given))
    with pytest.raises(NoDerivativeError):  # a class goes by its name
        ad.gradient(lambda x: pickle.loads(pickle.dumps((x, OfAList), 2))[0], 2.0)
    assert not looked
    with pytest.raises(NoDerivativeError):
        ad.gradient(lambda x: struct.unpack("dd", struct.pack("dd", x, OfAList()))[0], 2.0)
    assert looked


def test_values_that_another_thread_holds_for_a_moment(monkeypatch):
    """What stands in a frame is there as long as somebody looks, as profilers do."""
    from adjoint.runtime.foreign import checked_run as unseen

    values, done = (Place(),), threading.Event()
    before = unseen._counts(values)[0]
    held = [values[0]]
    monkeypatch.setattr(unseen.time, "sleep", lambda seconds: None)
    assert not unseen._is_freed_soon(values, 0, before), "nobody else is there"
    thread = threading.Thread(target=done.wait)
    thread.start()
    try:
        assert not unseen._is_freed_soon(values, 0, before), "it is stored"
        monkeypatch.setattr(unseen.time, "sleep", lambda seconds: held.clear())
        assert unseen._is_freed_soon(values, 0, before)
    finally:
        done.set()
        thread.join()
