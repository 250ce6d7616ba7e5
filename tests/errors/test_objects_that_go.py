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
