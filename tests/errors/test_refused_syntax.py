"""Statements that are not differentiated: refused by name, before their function runs."""

import copy
import itertools
import math
import types

import numpy as np
import pytest

import adjoint as ad
from adjoint.errors import MutationError, NoDerivativeError, UnsupportedSyntaxError
from tests.errors.places import assert_tells, raised

seen = []


async def coroutine(x):
    seen.append("ran")
    return x


def awaiting(x):
    seen.append("ran")

    async def inner():
        await coroutine(x)

    return x * x


def async_for(x):
    seen.append("ran")

    async def inner():
        async for y in x:
            pass

    return x * x


def async_with(x):
    seen.append("ran")

    async def inner():
        async with x:
            pass

    return x * x


def async_comprehension(x):
    seen.append("ran")

    async def inner():
        return [y async for y in x]

    return x * x


def exception_group(x):
    seen.append("ran")
    try:
        x = x * x
    except* ValueError:
        x = 2 * x
    return x


def late(x):
    seen.append("ran")
    if x > 100:
        try:
            x = 2 * x
        except* ValueError:
            pass
    return x


REFUSED = [
    (coroutine, "async def", "async def coroutine(x):"),
    (awaiting, "async def", "async def inner():"),
    (async_for, "async", "async def inner():"),
    (async_with, "async", "async def inner():"),
    (async_comprehension, "async", "async def inner():"),
    (exception_group, "except*", "try:"),
    (late, "except*", "try:"),
]


@pytest.mark.parametrize("f, name, text", REFUSED, ids=lambda f: getattr(f, "__name__", None))
def test_refused_before_it_runs(f, name, text):
    seen.clear()
    for _ in range(2):
        error = raised(UnsupportedSyntaxError, ad.gradient, f, 3.0)
        assert name in error.problem
        assert_tells(error, f, text)
        assert not seen


@pytest.mark.parametrize("f, name, text", REFUSED, ids=lambda f: getattr(f, "__name__", None))
def test_a_callee_is_refused_before_it_runs(f, name, text):
    def caller(x):
        seen.append("caller")
        return f(x) * x

    seen.clear()
    error = raised(UnsupportedSyntaxError, ad.gradient, caller, 3.0)
    assert_tells(error, f, text)
    assert seen == ["caller"]


def either(x, asynchronous):
    if asynchronous:

        async def made():
            return x

    else:

        def made():
            return x * x

    return made()


def test_coroutines_in_a_branch_are_refused_when_they_are_made():
    assert ad.gradient(lambda x: either(x, False), 3.0) == (6.0,)
    assert ad.pushforward(lambda x: either(x, False), (3.0,), (1.0,)) == (9.0, 6.0)
    for _ in range(2):
        error = raised(UnsupportedSyntaxError, ad.gradient, lambda x: either(x, True), 3.0)
        assert_tells(error, either, "async def made():")


def test_a_callee_that_is_not_called_is_no_matter():
    def caller(x):
        return x * x if x > 0 else exception_group(x)

    assert ad.gradient(caller, 3.0) == (6.0,)


def test_a_rule_stands_in_for_what_is_refused():
    def refused(x):
        try:
            y = math.exp(x)
        except* ValueError:
            y = 0.0
        return y

    raised(UnsupportedSyntaxError, ad.gradient, refused, 1.0)

    @ad.rrule.register(refused)
    def _(x):
        y = math.exp(x)

        def refused_back(y_bar):
            return None, y_bar * y

        return y, refused_back

    assert ad.gradient(refused, 1.0) == (math.exp(1.0),)


def test_the_code_of_what_is_refused():
    for look in (ad.ir, ad.code):
        error = raised(UnsupportedSyntaxError, look, exception_group)
        assert_tells(error, exception_group, "try:")


def test_what_cannot_be_written_to_is_said():
    """Memory that is not an array's own."""

    def f(x):
        y = np.frombuffer(bytearray(32))
        y[1] = x
        return y.sum() * x

    with pytest.raises(ad.AdjointError) as info:
        ad.gradient(f, 3.0)
    assert_tells(info.value, f, "y[1] = x")


def test_what_has_no_one_place_is_said():
    def f(x):
        y = np.lib.stride_tricks.as_strided(np.zeros(4), (3, 2), (8, 8))
        y[1, 0] = x
        before = y.sum()
        y[:] = x
        return y.sum() * before

    with pytest.raises(ad.AdjointError) as info:
        ad.gradient(f, 3.0)
    assert_tells(info.value, f, "y[:] = x")


def test_what_depends_on_the_order_of_elements_is_said():
    """NumPy copies what overlaps a slice, not what overlaps a mask."""

    def f(x):
        x[:-1] = x[1:]
        x[[0, 2]] = x[:2]
        np.flip(x)[np.array([True, False, False, True])] = x[2:]
        return x @ x

    x = np.array([0.3, 0.5, 0.7, 0.9])
    with pytest.raises(MutationError) as info:
        ad.gradient(f, x)
    assert_tells(info.value, f, "np.flip(x)[np.array([True, False, False, True])] = x[2:]")


def joined(x):
    np.concatenate([x[1:3], x[1:3]], out=x)
    return x @ x


def stacked(x):
    np.stack([x[1:3], x[1:3]], out=x.reshape(2, 2))
    return x @ x


def put_in_order(x):
    np.flip(x).flat[1:3] = x[1:3]
    return x @ x


@pytest.mark.parametrize(
    "f, text",
    [
        (joined, "np.concatenate([x[1:3], x[1:3]], out=x)"),
        (stacked, "np.stack([x[1:3], x[1:3]], out=x.reshape(2, 2))"),
        (put_in_order, "np.flip(x).flat[1:3] = x[1:3]"),
    ],
)
def test_functions_that_write_what_they_read_next_are_refused(f, text):
    x = np.array([0.3, 0.5, 0.7, 0.9])
    with pytest.raises(MutationError) as info:
        ad.gradient(f, x)
    assert_tells(info.value, f, text)
    assert x.tolist() == [0.3, 0.5, 0.7, 0.9]


def handed_out_by_interface(x):
    box = types.SimpleNamespace()
    box.__array_interface__ = x.__array_interface__
    return np.asarray(box).sum() * x[0]


def handed_out_by_struct(x):
    return x.__array_struct__ is not None and x[0]


def handed_out_to_ctypes(x):
    return x.ctypes.data * x[0]


@pytest.mark.parametrize(
    "f, text",
    [
        (handed_out_by_interface, "box.__array_interface__ = x.__array_interface__"),
        (handed_out_by_struct, "return x.__array_struct__ is not None and x[0]"),
        (handed_out_to_ctypes, "return x.ctypes.data * x[0]"),
    ],
)
def test_addresses_of_memory_are_not_handed_out(f, text):
    with pytest.raises(MutationError) as info:
        ad.gradient(f, np.ones(3))
    assert_tells(info.value, f, text)


class Addressed:
    """An object by whose address NumPy finds an array."""

    def __init__(self, array):
        self.array = array

    @property
    def __array_interface__(self):
        return self.array.__array_interface__


@pytest.mark.parametrize("convert", [np.asarray, np.array, np.sum])
def test_arrays_found_by_their_address(convert):
    with pytest.raises(NoDerivativeError):
        ad.gradient(lambda x: convert(Addressed(x)).sum() * x[0], np.ones(3))
    constant = Addressed(np.arange(3.0))
    found = ad.gradient(lambda x: (convert(constant) * x).sum(), np.ones(3))
    assert found[0].tolist() == (convert(constant) * np.ones(3)).tolist()


def copied_list_iterator(x):
    it = iter([x, x * x])
    return next(copy.copy(it)) * next(it)


def copied_counter(x):
    it = itertools.count(x, 2.0)
    return next(copy.deepcopy({"it": it})["it"]) * x


def copied_tee(x):
    it, _ = itertools.tee([x, x * x])
    return next(copy.copy(it)) * next(it)


@pytest.mark.parametrize(
    "f, text",
    [
        (copied_list_iterator, "return next(copy.copy(it)) * next(it)"),
        (copied_counter, 'return next(copy.deepcopy({"it": it})["it"]) * x'),
        (copied_tee, "return next(copy.copy(it)) * next(it)"),
    ],
)
@pytest.mark.filterwarnings("ignore:Pickle, copy, and deepcopy:DeprecationWarning")
def test_copies_of_iterators_are_refused(f, text):
    with pytest.raises(MutationError) as info:
        ad.gradient(f, 1.3)
    assert "iterator" in info.value.problem
    assert_tells(info.value, f, text)


def test_a_copy_of_a_generator_is_the_error_of_python():
    with pytest.raises(TypeError, match="cannot pickle 'generator' object"):
        ad.gradient(lambda x: copy.copy(v for v in [x]), 1.3)


def restrided(x):
    y = x * 1
    y.strides = (0,)
    return y.sum()


def retyped(x):
    y = x * 1
    y.dtype = np.int64
    return y.sum()


def resized(x):
    y = x * 1
    y.resize(5)
    return y.sum()


@pytest.mark.parametrize(
    "f, text",
    [(restrided, "y.strides = (0,)"), (retyped, "y.dtype = np.int64"), (resized, "y.resize(5)")],
)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_what_changes_the_meaning_of_memory(f, text):
    with pytest.raises(ad.AdjointError) as info:
        ad.gradient(f, np.ones(3))
    assert_tells(info.value, f, text)
