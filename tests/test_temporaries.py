"""Temporaries that share a name."""

import weakref

import numpy as np

import adjoint as ad
from adjoint.frontend import lower
from adjoint.ir.nodes import Call, Try, While
from adjoint.ir.walk import walk
from adjoint.transform.activity import Activity
from adjoint.transform.temporaries import share_temporaries


def calls(f):
    """The targets and operands of the calls of `f`, with shared temporaries."""
    function = lower(f)
    activity = Activity(function, f.__globals__)
    shared = share_temporaries(function, lambda operand: not activity.is_inactive(operand))
    return [
        (op.target.name, [getattr(value, "name", "") for value in op.operands])
        for op in walk(shared.body)
        if isinstance(op, Call) and op.target is not None
    ]


def test_a_chain_has_one_name():
    def f(a, b):
        return ((a * b + a) - b * b) / a

    assert calls(f) == [
        ("_1", ["a", "b"]),
        ("_1", ["_1", "a"]),
        ("_3", ["b", "b"]),
        ("_1", ["_1", "_3"]),
        ("_1", ["_1", "a"]),
    ]


def test_what_is_inactive_stays_apart():
    def f(x):
        for i in range(3):
            x = (2 * i + 1) * x
        return x

    names = [target for target, operands in calls(f) if target.startswith("_")]
    assert len(set(names)) == len(names)


def test_what_is_read_twice_keeps_its_name():
    def f(x):
        return 0.0 < x * x < 1.0

    targets = [target for target, _ in calls(f)]
    assert targets.count("_1") == 1


def test_text_that_may_be_left_keeps_its_names():
    def f(x):
        try:
            x = x * x + x
        finally:
            pass
        while x < 10.0:
            if x > 5.0:
                break
            x = x * x + x
        return x

    shared = share_temporaries(lower(f), lambda operand: True)
    (protected,) = [op.body for op in walk(shared.body) if isinstance(op, Try)]
    (loop,) = [op.body for op in walk(shared.body) if isinstance(op, While)]
    for ops in (protected, loop[-2:]):
        names = [op.target.name for op in ops if isinstance(op, Call)]
        assert len(names) == 2 and names[0] != names[1]


def test_a_temporary_is_let_go_when_the_next_one_is_there():
    seen, most = [], []

    def look(y):
        seen.append(weakref.ref(y))
        most.append(sum(ref() is not None for ref in seen))
        return y

    @ad.rrule.register(look)
    def _(y, /):
        return look(y) + 0.0, lambda y_bar: (None, y_bar)

    def f(x):
        return np.sum(look(look(look(look(x + 1.0) + 1.0) + 1.0) + 1.0))

    np.testing.assert_array_equal(ad.gradient(f, np.ones(2000))[0], np.ones(2000))
    assert max(most) == 1
