"""What is to happen when an object goes is refused, unless it could not be noticed."""

import functools
import weakref

import pytest

import adjoint as ad
from adjoint.errors import MutationError
from tests.errors.places import raised


class Plain:
    pass


def by_del(x):
    notes = []

    class Noting:
        def __del__(self):
            notes.append(x)

    Noting()
    return sum(notes)


def by_counting(x):
    class Counted:
        count = 0

        def __del__(self):
            Counted.count += 1

    Counted()
    return x * Counted.count


def by_inherited_del(x):
    class Base:
        def __del__(self):
            self.notes.append(x)

    class Derived(Base):
        def __init__(self, notes):
            self.notes = notes

    notes = []
    Derived(notes)
    return sum(notes)


def by_callback(x):
    notes = []
    thing = Plain()
    reference = weakref.ref(thing, lambda _: notes.append(x))
    del thing
    return sum(notes) if reference() is None else x


def by_finalizer(x):
    notes = []
    thing = Plain()
    weakref.finalize(thing, notes.append, x)
    del thing
    return sum(notes)


def by_partial_of_a_method(x):
    class Noting:
        def __init__(self):
            self.notes = []

        def note(self, value):
            self.notes.append(value)

    noting, thing = Noting(), Plain()
    weakref.finalize(thing, functools.partial(noting.note, x))
    del thing
    return sum(noting.notes)


def by_key(x):
    class Key:
        pass

    notes = []
    key = Key()
    reference = weakref.WeakMethod(Key().__eq__) if x > 100 else weakref.ref(key, notes.append)
    del key
    return len(notes) * x if reference else x


@pytest.mark.parametrize(
    ("f", "line"),
    [
        (by_del, "Noting()"),
        (by_counting, "Counted()"),
        (by_inherited_del, "Derived(notes)"),
        (by_callback, "weakref.ref(thing, lambda"),
        (by_finalizer, "weakref.finalize(thing"),
        (by_partial_of_a_method, "weakref.finalize(thing"),
        (by_key, "weakref.ref(key"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_what_happens_when_an_object_goes_is_refused(f, line):
    error = raised(MutationError, ad.gradient, f, 1.5)
    assert "when" in error.problem and "object goes" in error.problem
    assert line in str(error)
    assert error.hint


def test_a_finalizer_that_changes_nothing_may_be_set():
    def f(x):
        thing = Plain()
        finalizer = weakref.finalize(thing, print, end="")
        finalizer.detach()
        return x * x

    assert ad.gradient(f, 1.5) == (3.0,)


# ---- generators that are let go at a yield -------------------------------------------------------


def ticking(x, log):
    try:
        while True:
            yield x
    finally:
        log.append(x * x)


def let_go(x):
    log = []
    values = ticking(x, log)
    first = next(values)
    del values
    return first + sum(log)


def let_go_by_another(x):
    log = []
    values = ticking(x, log)
    first = next(values)
    values = ticking(2.0 * x, log)
    return first * next(values) + sum(log)


def let_go_at_a_return(x):
    log = []

    def first():
        values = ticking(x, log)
        return next(values)

    return first() + sum(log)


def closed(x):
    log = []
    values = ticking(x, log)
    first = next(values)
    values.close()
    return first + sum(log)


def exhausted(x):
    log = []

    def once():
        try:
            yield x
        finally:
            log.append(x * x)

    return sum(once()) + sum(log)


def left_by_break(x):
    log = []
    for value in ticking(x, log):
        break
    return value + sum(log)


def unwritten(x):
    def once():
        try:
            yield x * x
        finally:
            print(end="")

    values = once()
    first = next(values)
    del values
    return first


@pytest.mark.parametrize("f", [let_go, let_go_by_another, let_go_at_a_return])
def test_a_generator_that_is_let_go_at_a_yield(f):
    y, back = ad.pullback(f, 3.0)
    assert y == f(3.0)
    for _ in range(2):
        with pytest.raises(ad.errors.MutationError, match="was let go at a 'yield'"):
            back(1.0)
    assert ad.pushforward(f, (3.0,), (1.0,))[0] == f(3.0)


@pytest.mark.parametrize(
    "f, bar", [(closed, 7.0), (exhausted, 7.0), (left_by_break, 7.0), (unwritten, 6.0)]
)
def test_a_generator_that_comes_to_its_end(f, bar):
    assert ad.withgradient(f, 3.0) == (f(3.0), (bar,))
