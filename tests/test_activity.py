"""What is provably inactive, and what is read from a module, on a few lines."""

import math

import numpy as np

from adjoint.frontend import lower
from adjoint.ir.nodes import Call, Const, Path, Var
from adjoint.ir.walk import walk
from adjoint.transform.activity import Activity
from adjoint.transform.paths import join_paths


def inactive(f, *names):
    activity = Activity(lower(f), f.__globals__)
    return [name for name in names if activity.is_inactive(Var(name))]


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
