"""What is computed twice is computed once."""

from __future__ import annotations

import operator

import numpy as np

from adjoint.fast.passes.common import share_common
from adjoint.ir.single import Block, Call, Const, Function, Global, Value
from tests.fast.interpreter import converted
from tests.fast.passes.running import is_arithmetic, size
from tests.fast.verifier import verify


def shared(function, is_pure=is_arithmetic):
    """How many calls become fewer."""
    plain = converted(function)
    changed = share_common(plain, is_pure)
    verify(changed)
    return size(plain) - size(changed)


def test_outer_values_are_known_inside():
    def f(x, y, c):
        a = x * y
        if c:
            b = x * y
            d = b + 1
        else:
            d = x * y + 1
        for i in c:
            d = d + (x * y + i)
        while x * y > d:
            d = d + x * y
        return d

    assert shared(f) == 5


def test_inner_values_are_not_known_outside():
    def f(x, y, c):
        if c:
            a = x * y
        else:
            a = x * y
        return a + x * y

    assert shared(f) == 0


def test_only_equal_calls():
    def f(x):
        return x * 1, x * 1.0, x * True, x * 0.0, x * -0.0, 1 * x, x + 1

    def g(x):
        return x * 1.5, x * 1.5, x * "a", x * "a", x + None, x + None

    assert shared(f) == 0
    assert shared(g) == 3


def test_equal_numbers_of_two_classes_are_two():
    x, names = Value("x"), [Value(name) for name in "abcd"]
    constants = [Const(2.0), Const(np.float64(2.0)), Const(2.0), Const(np.float64(2.0))]
    calls = zip(names, constants, strict=True)
    ops = tuple(Call(y, Const(operator.mul), (x, by)) for y, by in calls)
    function = Function("f", (), (), Block((x,), ops, tuple(names)), "")
    a, b, c, d = share_common(function, lambda call: True).body.results
    assert a is c and b is d and a is not b


def test_keywords_and_impure_calls():
    def f(x):
        a = dict(k=x, l=1), dict(l=1, k=x), dict(k=x, l=2), dict(k=x)
        return a, len(x), len(x)

    def is_dict(call):
        return call.callee == Global("dict")

    assert shared(f, is_dict) == 1
    assert shared(f) == 0


def test_what_is_left_out_is_replaced_everywhere():
    def f(x, ys):
        a = x * x
        b = x * x
        if b > 1:
            raise ValueError(b) from b
        p, q = b, b
        (r, s) = [b, *ys]
        for t in b:
            q = q + b
        return b(b, k=b), p, q, r

    plain = converted(f)
    b = [op.result for op in plain.body.ops if isinstance(op, Call)][1]
    changed = share_common(plain, is_arithmetic)
    verify(changed)
    assert b not in [op.result for op in changed.body.ops if isinstance(op, Call)]
    assert Const(1) in changed.body.ops[1].operands
