"""What nothing needs is removed, and nothing else."""

from __future__ import annotations

from adjoint.fast.passes.dead_code import remove_dead
from tests.fast.interpreter import converted
from tests.fast.jumping import made
from tests.fast.passes.running import is_arithmetic, lines
from tests.fast.verifier import verify


def text(function, **how):
    changed = remove_dead(converted(function), is_arithmetic, **how)
    verify(changed)
    return [line.strip() for line in lines(changed)]


def test_calls():
    def f(x):
        y = x * x
        z = y + 1
        len(x)
        w = len(x)
        return y

    assert text(f) == ["y = mul(x, x)", "len(x)", "len(x)", "return y"]


def test_results_of_branches():
    def f(x, c):
        y = z = x
        if c:
            y = x * 2
            z = y * 3
        w = z + 1
        return y

    def g(x, c):
        y = x * 2 if c else x * 3
        return x

    assert text(f)[1:] == ["y.1 = if _1", "y.2 = mul(x, 2)", "-> y.2", "else", "-> x", "return y.1"]
    assert text(g) == ["return x"]


def test_what_goes_round_in_a_loop():
    def f(n):
        a = b = c = 0
        for i in range(n):
            a, b = b + i, a + 1
            c = c + i
            i = a
        return c

    assert text(f) == [
        "_1 = range(n)",
        "c.1 = for i in _1 with c.2 = 0",
        "c.3 = add(c.2, i)",
        "-> c.3",
        "return c.1",
    ]


def test_loops_that_may_not_end_stay():
    def f(n):
        a = b = 0
        while a < n:
            a, b = a + 1, a
        return n

    assert text(f) == [
        "a.1 = while with a.2 = 0",
        "_1 = lt(a.2, n)",
        "_2 = truth(_1)",
        "-> _2, a.2",
        "do a.3",
        "_3 = add(a.3, 1)",
        "-> _3",
        "return n",
    ]
    assert text(f, is_finite=lambda loop: True) == ["return n"]


def test_loops_that_are_left():
    def f(n):
        a = b = 0
        for i in n:
            a = a + i
            if i > 3:
                break
            b = b + i
        return a

    kept = text(f)
    assert kept[0] == "ended, a.1 = for i in n with a.2 = 0"
    assert text(f, is_finite=lambda loop: True) == kept


def test_a_block_that_does_not_end():
    def f(x):
        if x > 0:
            y = x * 2
        else:
            raise ValueError(x)
        for i in x:
            z = y + 1
            raise ValueError(i)
        return x

    assert text(f).count("raise _4") == 1
    verify(remove_dead(converted(f), is_arithmetic))


def test_cost_is_linear():
    def calls(size):
        asked = 0

        def is_pure(call):
            nonlocal asked
            asked += 1
            return True

        loops = [f"    for i{k} in range(3):\n        x = x + i{k}" for k in range(size)]
        f = made("\n".join(["def f(x):", *loops, "    return x"]))
        remove_dead(converted(f), is_pure)
        return asked

    assert calls(200) <= 10.5 * calls(20)
