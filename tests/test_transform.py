"""Activity, paths and the reverse transform, each on a few lines."""

import math

import numpy as np

from adjoint.frontend import lower
from adjoint.ir.nodes import Call, Const, Path, Var
from adjoint.ir.sweeps import Clear, Mark, Move, Pull, Recorded, Seed, Traced, Unwind, When
from adjoint.transform.activity import Activity, walk
from adjoint.transform.paths import join_paths
from adjoint.transform.reverse import reverse


def inactive(f, *names):
    activity = Activity(lower(f), f.__globals__)
    return [name for name in names if activity.is_inactive(Var(name))]


def sweeps(f):
    function, _ = join_paths(lower(f), f.__globals__)
    return reverse(function, Activity(function, f.__globals__))


def test_what_is_provably_inactive():
    def f(x, n):
        k, s, m = 0, "text", 2.0
        k = k + 1
        both = m * 3
        both = x
        for i in range(n):
            k += i
        held = [k]
        return x * k * len(s) + both + held[0]

    assert inactive(f, "x", "n", "k", "s", "m", "i", "both", "held") == ["k", "s", "m", "i"]


def test_a_loop_makes_active():
    def f(x):
        a = b = c = 0.0
        for _ in range(3):
            c, b, a = b, a, x
        return c

    assert inactive(f, "a", "b", "c") == []


def test_what_may_be_rebound_is_guarded():
    def f(x):
        n = len(x)
        return x * n

    activity = Activity(lower(f), f.__globals__)
    assert activity.is_inactive(Var("n")) and activity.guards == {"len": len}


def test_paths_into_modules_are_one_operand():
    def f(x):
        return np.linalg.norm(x) + math.sin(x) + x.real.sum()

    function, guards = join_paths(lower(f), f.__globals__)
    callees = [op.callee for op in walk(function.body) if isinstance(op, Call)]
    paths = [callee for callee in callees if isinstance(callee, Path)]
    assert paths == [Path(("np", "linalg", "norm")), Path(("math", "sin"))]
    assert guards == {"np": np, "math": math}
    assert sum(callee == Const(getattr) for callee in callees) == 1


def test_the_reverse_of_straight_lines():
    def f(x, y):
        z = x * y
        w = z
        w = w + x
        return w

    result = sweeps(f)
    calls = [op for op in result.forward if isinstance(op, Recorded)]
    pulls = [op for op in result.reverse if isinstance(op, Pull)]
    assert [op.slot for op in calls] == [op.slot for op in reversed(pulls)]
    assert pulls[0].results == (Var("w"),) and pulls[0].operands == (Var("w"), Var("x"))
    moves = [op for op in result.reverse if isinstance(op, Move)]
    assert [(op.target, op.source) for op in moves] == [(Var("w"), Var("z"))]
    assert result.reverse[0] == Seed(Var("w"), result.reverse[0].span)


def test_the_reverse_of_branches_and_loops():
    def f(x):
        y = 1.0
        for v in x:
            if v > 0:
                y = y * v
            else:
                y = 0.0
        return y

    result = sweeps(f)
    (loop,) = [op for op in result.forward if isinstance(op, Traced)]
    (unwind,) = [op for op in result.reverse if isinstance(op, Unwind)]
    assert unwind.loop is loop and unwind.target == Var("v") and unwind.iterable == Var("x")
    branches = [op for op in unwind.body if isinstance(op, When)]
    assert {branch.value for branch in branches} == {True, False}
    assert branches[0].body == (Clear(Var("y")),)


def test_marks_only_where_text_may_be_left():
    def whole(x):
        y = x
        return y

    def left(x):
        for _ in range(2):
            if x > 3:
                break
            y = x
        return y

    def marks(f):
        return [op for op in walk(sweeps(f).forward) if isinstance(op, Mark)]

    assert not marks(whole)
    (loop,) = [op for op in sweeps(left).forward if isinstance(op, Traced)]
    assert any(isinstance(op, Mark) for op in loop.loop.body)
