"""What is the same in every iteration is computed before the loop."""

from __future__ import annotations

from adjoint.fast.passes.loop_invariants import move_invariant
from tests.fast.interpreter import converted
from tests.fast.passes.running import is_arithmetic, lines
from tests.fast.verifier import verify


def text(function, is_safe=is_arithmetic):
    changed = move_invariant(converted(function), is_arithmetic, is_safe)
    verify(changed)
    return lines(changed)


def test_out_of_all_loops():
    def f(x, y, n):
        z = 0
        for i in n:
            for j in n:
                a = x * y
                b = i * a
                z = z + b * j
        return z

    assert text(f) == [
        "a = mul(x, y)",
        "z.1 = for i in n with z.2 = 0",
        "    b = mul(i, a)",
        "    z.3 = for j in n with z.4 = z.2",
        "        _1 = mul(b, j)",
        "        z.5 = add(z.4, _1)",
        "        -> z.5",
        "    -> z.3",
        "return z.1",
    ]


def test_out_of_tests():
    def f(x, y):
        while x * y > 3 * x:
            y = y + x * 2
        return y

    assert text(f)[:3] == ["_2 = mul(3, x)", "_5 = mul(x, 2)", "y.2 = while with y.3 = y.1"]


def test_not_out_of_branches():
    def f(x, n):
        z = 0
        for i in n:
            if i > 0:
                for j in n:
                    z = z + x * 2
        return z

    found = text(f)
    place = found.index("        _3 = mul(x, 2)")
    assert found[place - 1].startswith("    z.3 = if _2")
    assert found[place + 1].startswith("        z.4 = for j in n")


def test_what_may_raise_or_act_stays():
    def f(x, n):
        z = 0
        for i in n:
            z = z + x * 2 + len(x)
        return z

    plain = lines(converted(f))
    assert text(f, is_safe=lambda call: False) == plain
    assert text(f)[0] == "_1 = mul(x, 2)" and "    _3 = len(x)" in text(f)
