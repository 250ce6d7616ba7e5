"""What is to happen when an object goes is refused, unless it could not be noticed."""

import functools
import weakref
from typing import ClassVar

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


def by_proxy(x):
    notes = []
    thing = Plain()
    proxy = weakref.proxy(thing, lambda _: notes.append(x))
    proxy.a = x
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
        (by_proxy, "weakref.proxy(thing"),
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


def left_within_a_generator(x):
    log = []
    for value in (2.0 * value for value in ticking(x, log)):
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


def let_go_by_a_list(x):
    log = []
    holder = [ticking(x, log)]
    first = next(holder[0])
    holder.clear()
    return first + sum(log)


def let_go_by_a_dict(x):
    log = []
    holder = {"values": ticking(x, log)}
    first = next(holder["values"])
    holder["values"] = None
    return first + sum(log)


def let_go_by_an_object(x):
    log = []
    thing = Plain()
    thing.values = ticking(x, log)
    first = next(thing.values)
    del thing
    return first + sum(log)


def let_go_without_a_name(x):
    log = []
    first = next(ticking(x, log))
    return first + sum(log)


def let_go_by_zip(x):
    log = []
    pairs = [a * b for a, b in zip(ticking(x, log), [1.0, 2.0])]
    return sum(pairs) + sum(log)


def let_go_by_a_function(x):
    def within(x, log):
        holder = [ticking(x, log)]
        return next(holder[0])

    log = []
    return within(x, log) + sum(log)


def let_go_by_an_iterator(x):
    log = []
    holders = iter([ticking(x, log)])
    for holder in holders:
        first = next(holder)
    del holder, holders
    return first + sum(log)


def let_go_and_only_noted(x):
    noted = {"done": False}

    def once():
        try:
            yield x
        finally:
            noted["done"] = True

    holder = [once()]
    y = next(holder[0])
    holder = None
    return y * y if noted["done"] else y


def let_go_by_enumerate(x):
    log = []
    for _, first in enumerate(ticking(x, log)):
        break
    return first + sum(log)


def let_go_by_map(x):
    log = []
    for first in map(lambda value: 2.0 * value, ticking(x, log)):
        break
    return first + sum(log)


def let_go_by_any(x):
    log = []
    found = any(value > 2.0 for value in ticking(x, log))
    return found * x + sum(log)


def returning(x, log):
    try:
        yield x
        yield x * x
    finally:
        log.append(x * x)
    return x


def let_go_in_the_middle_of_a_call(x):
    def within(values, log):
        first = next(values)
        del values
        return first + sum(log)

    log = []
    return within(ticking(x, log), log) * x


def let_go_in_the_middle_of_a_method(x):
    class Reading:
        def __init__(self, values):
            self.values = values

        def first(self, log):
            y = next(self.values)
            self.values = None
            return y + sum(log)

    log = []
    return Reading(ticking(x, log)).first(log) * x


def let_go_beside_one_that_returned(x):
    log = []

    def all_of_it():
        return (yield from returning(x, []))

    total = sum(all_of_it())
    for _, first in enumerate(returning(x, log)):
        break
    return first + total + sum(log)


LET_GO = [
    let_go, let_go_by_another, let_go_at_a_return, let_go_by_a_list, let_go_by_a_dict,
    let_go_by_an_object, let_go_without_a_name, let_go_by_zip, let_go_by_a_function,
    let_go_by_an_iterator, let_go_and_only_noted, let_go_by_enumerate, let_go_by_map, let_go_by_any,
    let_go_beside_one_that_returned, let_go_in_the_middle_of_a_call,
    let_go_in_the_middle_of_a_method,
]  # fmt: skip


@pytest.mark.parametrize("f", LET_GO)
def test_a_generator_that_is_let_go_at_a_yield(f):
    for run in (
        lambda: ad.pullback(f, 3.0),
        lambda: ad.pushforward(f, (3.0,), (1.0,)),
        lambda: ad.hessian(f, 3.0),
    ):
        for _ in range(2):
            with pytest.raises(MutationError, match="was let go at a 'yield'"):
                run()


def test_a_generator_that_another_one_goes_through():
    f = left_within_a_generator
    with pytest.raises(MutationError, match="was let go at a 'yield'"):
        ad.pullback(f, 3.0)
    try:
        found = ad.pushforward(f, (3.0,), (1.0,))
    except MutationError as error:
        assert "was let go at a 'yield'" in str(error)
    else:
        assert found == (f(3.0), 8.0)


def held_to_the_end(x):
    log = []
    holder = [ticking(x, log)]
    first = next(holder[0])
    return first * x, holder


KEPT = []


def held_elsewhere(x):
    KEPT.append(ticking(x, []))
    return next(KEPT[-1]) * x


@pytest.mark.parametrize("f", [held_to_the_end, held_elsewhere])
def test_a_generator_that_somebody_holds_is_not_told_from_one_that_was_let_go(f):
    with pytest.raises(MutationError, match="was let go at a 'yield'"):
        ad.pullback(f, 3.0)
    KEPT.clear()


def held_to_the_end_with_nothing_to_write(x):
    def printing():
        try:
            yield x
            yield x
        finally:
            print(end="")

    values = printing()
    return next(values) * x, values


def test_a_generator_goes_with_the_call_at_the_latest():
    y, back = ad.pullback(held_to_the_end_with_nothing_to_write, 3.0)
    assert y[0] == 9.0
    with pytest.raises(MutationError, match="after the differentiated call that it was made in"):
        next(y[1])
    y[1].close()
    assert back((1.0, None)) == (None, 6.0)


def test_a_generator_that_has_nothing_open_goes_on():
    def counting(x):
        yield x
        yield 2.0 * x

    def f(x):
        values = counting(x)
        return next(values) * x, values

    y, back = ad.pullback(f, 3.0)
    assert back((1.0, None)) == (None, 6.0)
    assert (y[0], next(y[1])) == (9.0, 6.0)


@pytest.mark.parametrize(
    "f, bar",
    [
        (closed, 7.0),
        (exhausted, 7.0),
        (left_by_break, 7.0),
        (unwritten, 6.0),
    ],
)
def test_a_generator_that_comes_to_its_end(f, bar):
    assert ad.withgradient(f, 3.0) == (f(3.0), (bar,))
    assert ad.pushforward(f, (3.0,), (1.0,)) == (f(3.0), bar)


# ---- weak references -----------------------------------------------------------------------------


class Held:
    def __init__(self, value):
        self.value = value

    def squared(self):
        return self.value * self.value

    def __call__(self, x):
        return self.value * x


def let_go_of(x):
    held = [Held(x)]
    reference = weakref.ref(held[0])
    held.clear()
    found = reference()
    return x * x if found is None else x * x * (found.value / x)


def cached(x):
    cache = weakref.WeakValueDictionary()

    def squared():
        if "a" not in cache:
            made = cache["a"] = Held(x * x)
            return made
        return cache["a"]

    return squared().value + squared().value


def never_held(x):
    proxy = weakref.proxy(Held(x))
    try:
        return proxy.value * x
    except ReferenceError:
        return x * x


@pytest.mark.parametrize("f", [let_go_of, cached, never_held])
def test_a_result_that_does_not_depend_on_when_an_object_goes(f):
    """By a weak reference the object may be found, or not."""
    central = (f(3.0 + 1e-6) - f(3.0 - 1e-6)) / 2e-6
    assert ad.withgradient(f, 3.0) == (f(3.0), (pytest.approx(central),))
    assert ad.pushforward(f, (3.0,), (1.0,)) == (f(3.0), pytest.approx(central))
    assert ad.hessian(f, 3.0) == pytest.approx(4.0 if f is cached else 2.0)


class Resource:
    """Goes as resources of users do: by a method that may be called before, too."""

    log: ClassVar[list[float]] = []

    def __init__(self, value):
        self.value, self.is_open = value, True

    def close(self):
        if self.is_open:
            self.flush(1)
        self.is_open = False

    def flush(self, n):
        self.flushed = n

    def __del__(self):
        self.close()


class Cautious(Resource):
    def __del__(self):
        try:
            self.close()
        except Exception:
            pass


class Recursive(Resource):
    def flush(self, n):
        if self.is_open:
            self.is_open = False
            self.close()


class Logging(Resource):
    def flush(self, n):
        self.log.append(n)


class Writing(Resource):
    def flush(self, n):
        self.value[0] = n


def resource(kind):
    def f(v):
        held = kind(v)
        y = held.value * v
        held.close()
        return y

    return f


@pytest.mark.parametrize("kind", [Resource, Cautious, Recursive, Logging, Writing])
def test_a_finalizer_that_changes_something(kind):
    """What it changes, of its own object or of another, is not followed."""
    with pytest.raises(MutationError, match=f"'{kind.__name__}.__del__' may change something"):
        ad.gradient(resource(kind), 3.0)


class Loud:
    def __init__(self, notes):
        self.notes = notes

    def __del__(self):
        self.notes.append(2.0)


@pytest.mark.parametrize(
    "let_go",
    [
        lambda held: held.clear(),
        lambda held: held.pop() and None,
        lambda held: held.__setitem__(0, None),
        lambda held: held.__delitem__(0),
    ],
)
def test_an_object_of_before_that_is_let_go(let_go):
    notes: list[float] = []

    def f(x, held):
        let_go(held)
        return x * sum(notes)

    for run in (
        lambda held: ad.gradient(f, 3.0, held),
        lambda held: ad.pushforward(f, (3.0, held), (1.0, None)),
    ):
        with pytest.raises(MutationError, match="'Loud.__del__' may change something"):
            run([Loud(notes)])
        notes.clear()


def test_an_object_of_before_that_is_removed_and_held_elsewhere():
    loud = Loud([])

    def f(x, held):
        held.clear()
        return x * x

    with pytest.raises(MutationError, match="'Loud.__del__' may change something"):
        ad.gradient(f, 3.0, [loud])
    with pytest.raises(MutationError, match="'Loud.__del__' may change something"):
        ad.pushforward(f, (3.0, [loud]), (1.0, None))


def test_an_object_of_before_that_stays():
    loud = Loud([])

    def f(x, held):
        held[0].factor = 2.0 * x
        return x * held[0].factor

    assert ad.gradient(f, 3.0, [loud])[0] == 12.0
    assert ad.pushforward(f, (3.0, [loud]), (1.0, None)) == (18.0, 12.0)
