"""The reverse transform, on a few lines."""

from adjoint.frontend import lower
from adjoint.ir.nodes import Var
from adjoint.ir.sweeps import Clear, Mark, Move, Pull, Recorded, Seed, Traced, Unwind, When
from adjoint.ir.walk import walk
from adjoint.transform.activity import Activity
from adjoint.transform.paths import join_paths
from adjoint.transform.reverse import reverse


def sweeps(f):
    function, _ = join_paths(lower(f), f.__globals__)
    return reverse(function, Activity(function, f.__globals__))


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
