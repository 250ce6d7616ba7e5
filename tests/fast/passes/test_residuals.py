"""What the reverse sweep is given, and what it computes again."""

from __future__ import annotations

import itertools
import math
import operator
import random

import numpy as np
import pytest

from adjoint.fast.build.modes import GRADIENT
from adjoint.fast.build.specialisation import specialise
from adjoint.fast.passes.residuals import AT_ONCE, select_residuals
from adjoint.fast.programs import store as tier
from adjoint.fast.reverse import residuals
from adjoint.fast.single_assignment.walk import walk
from adjoint.fast.support import functions as runtime
from adjoint.ir import primitives
from adjoint.ir.single import Block, Call, Const, Function, Value
from adjoint.runtime.entries import basics
from tests.fast import numeric
from tests.fast.agreeing import outcome
from tests.fast.agreement import generic
from tests.fast.interpreter import Activation
from tests.fast.jumping import jumping
from tests.fast.representative import newton_root, pendulum, recurrence
from tests.fast.verifier import verify
from tests.structures import difference

BINARY = (operator.add, operator.sub, operator.mul)


def straight(seed, count, parameters=2):
    """Random arithmetic: the parameters, the calls, and which of all values a reverse reads."""
    rng = random.Random(seed)
    values = given = [Value(f"x{i}") for i in range(parameters)]
    ops = []
    for i in range(count):
        y = Value(f"t{i}")
        near = values[-6:]
        ops.append(Call(y, Const(rng.choice(BINARY)), (rng.choice(near), rng.choice(near))))
        values = [*values, y]
    return given, ops, rng.sample(values, min(len(values), 1 + count // 2))


def priced(seed):
    """Prices for the values and the calls of a program, the same for the same value."""
    known = {}

    def price(x):
        key = x.result if isinstance(x, Call) else x
        found = known.setdefault((type(x), key), random.Random(f"{seed} {len(known)}").randrange(9))
        return None if isinstance(x, Call) and found == 8 else found

    return price


def cost(ops, needed, saving, again, repeated):
    """What it costs to repeat these calls and to save the rest that is read; what is saved."""
    read = dict.fromkeys(needed)
    for op in ops:
        if op.result in repeated:
            read.update(dict.fromkeys(op.operands))
    saved = [v for v in read if v not in repeated]
    return sum(map(saving, saved)) + sum(again(op) for op in ops if op.result in repeated), saved


@pytest.mark.parametrize("seed", range(60))
def test_nothing_is_cheaper(seed):
    _, ops, needed = straight(seed, 8)
    price = priced(seed)
    prices = {x: price(x) for x in (*needed, *(v for op in ops for v in (op, *op.operands)))}
    again = prices.__getitem__
    saved, calls = select_residuals(ops, needed, prices.__getitem__, again)
    may = [op.result for op in ops if again(op) is not None]
    possible = itertools.chain.from_iterable(
        itertools.combinations(may, n) for n in range(len(may) + 1)
    )
    best = min(
        cost(ops, needed, prices.__getitem__, again, set(repeated))[0] for repeated in possible
    )
    found, read = cost(ops, needed, prices.__getitem__, again, {op.result for op in calls})
    assert found == best
    assert set(saved) == set(read)


def given_as_one(given, ops, results):
    whole = Value("whole")
    made = Call(whole, Const(primitives.build_tuple), tuple(results))
    return Block(tuple(given), (*ops, made), (whole,))


@pytest.mark.parametrize("count", [5, 30, 3 * AT_ONCE])
def test_the_same_bits_come_out(count):
    """What is computed again by an interpreter, from what was saved, is what was computed first."""
    for seed in range(10):
        given, ops, needed = straight(seed, count)
        saved, calls = select_residuals(ops, needed, lambda v: 4, lambda op: 1)
        run, rng = Activation(None, False), random.Random(seed)
        (expected,) = run.block(
            given_as_one(given, ops, needed), [rng.uniform(-1.0, 1.0) for _ in given]
        )
        again = given_as_one(saved, calls, needed)
        verify(Function("again", tuple(v.name for v in saved), (), again, ""))
        (found,) = Activation(None, False).block(again, [run.read(v) for v in saved])
        assert [x.hex() for x in found] == [x.hex() for x in expected]
        assert len(saved) <= len(needed) and (count < 30 or len(saved) < len(needed))


def test_ties_are_saved():
    """Memory is cheaper than what has to be read and followed once more."""
    x, y = Value("x"), Value("y")
    op = Call(y, Const(operator.neg), (x,))
    assert select_residuals([op], [x, y], lambda v: 3, lambda op: 3) == ([x, y], [])
    assert select_residuals([op], [x, y], lambda v: 3, lambda op: 2) == ([x], [op])


def test_a_large_body_is_decided_on_piece_by_piece():
    """One value leads to all of them, and no cut is of more than a few calls."""
    x = Value("x")
    ops, last = [], x
    for i in range(4 * AT_ONCE):
        op = Call(Value(f"t{i}"), Const(operator.neg), (last,))
        ops.append(op)
        last = op.result
    needed = [x, *(op.result for op in ops)]
    saved, calls = select_residuals(ops, needed, lambda v: 2, lambda op: 1)
    assert saved == [x] and calls == ops


# ---- in programs ---------------------------------------------------------------------------------


def per_iteration(f, *args):
    """How many values each loop of a program saves in an iteration, from the first loop on."""
    program = specialise(f, args)
    return [
        len(op.operands) - 1
        for op in walk(program.forward)
        if isinstance(op, Call) and op.callee == Const(runtime.push)
    ]


def orbit(x, v, mass, steps):
    for _ in range(steps):
        r = math.sqrt(x * x + 1.0)
        a = -mass * x / (r * r * r)
        v = v + 0.01 * a
        x = x + 0.01 * v
    return x * v


def grid(a, b, n):
    total = 0.0
    for i in range(n):
        for j in range(i):
            total = total + a * i * j + b * (i - j)
    return total


def clipped(x, n):
    for _ in range(n):
        y = 1.5 * x * (1.0 - x)
        if y > 0.6:
            y = y * y + x
        x = y
    return x


def logistic(u, n):
    for _ in range(n):
        u = u + 0.3 * u * (1.0 - u)
    return np.sum(u)


def products(a, b):
    total = 0.0
    for i in range(len(a)):
        total = total + a[i] * b[i]
    return total


def overwritten(u, n):
    v, total = u * 1.0, 0.0
    for i in range(n):
        w = v[i] * v[i]
        v[i] = w + u[i]
        total = total + w * u[i] * v[i]
    return total


def rows_of(W, xs):
    h = np.zeros(len(W))
    for t in range(len(xs)):
        h = np.tanh(W @ h + xs[t] * xs[t])
    return np.sum(h * h)


@pytest.mark.parametrize(
    ("f", "args", "most"),
    [
        (newton_root, (2.0,), [1]),
        (pendulum, (0.4, 1.3, 20), [1]),
        (recurrence, (0.9, np.ones(4)), [1]),
        (orbit, (1.0, 0.2, 2.0, 10), [1]),
        (grid, (0.3, 0.2, 4), []),
        (clipped, (0.3, 10), [1]),
        (logistic, (np.linspace(0.0, 0.1, 500), 4), [1]),
        (logistic, (np.linspace(0.0, 0.1, 5), 4), [2]),  # saving takes less time than a call
        (products, (np.ones(4), np.ones(4)), []),
        (overwritten, (np.ones(4), 3), [5]),  # nothing of `v` is read a second time
        (rows_of, (np.ones((3, 3)), np.ones((4, 3))), [2]),
    ],
)
def test_no_more_is_saved(f, args, most):
    assert per_iteration(f, *args) == most


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (logistic, (np.linspace(0.0, 0.1, 5000), 4)),
        (logistic, (np.linspace(0.0, 0.1, 5), 0)),
        (products, (np.linspace(0.0, 1.0, 4), np.linspace(2.0, 1.0, 4))),
        (overwritten, (np.linspace(0.5, 1.0, 6), 4)),
        (rows_of, (np.linspace(0.0, 1.0, 9).reshape(3, 3), np.linspace(0.0, 1.0, 6).reshape(2, 3))),
        (orbit, (1.0, 0.2, 2.0, 10)),
        (grid, (0.3, 0.2, 4)),
        (clipped, (0.3, 10)),
    ],
)
def test_loops_have_the_same_bits(f, args, monkeypatch):
    basics.load()
    tier.forget()
    found = tier.run(f, args, GRADIENT)
    assert found is not tier.MISS
    tier.forget()
    monkeypatch.setattr(residuals, "_again", lambda ev, op: None)
    assert difference(found, tier.run(f, args, GRADIENT), rtol=0.0) is None
    expected = generic(f, args)
    assert not difference(found[0], expected[0], rtol=1e-13)
    assert not difference(found[1], expected[1], rtol=1e-11)


@pytest.mark.parametrize("make", [numeric.numeric, jumping], ids=["numbers", "jumps"])
def test_programs_that_save_everything_give_the_same_bits(make, monkeypatch):
    def results():
        tier.forget()
        found = []
        for seed in range(60):
            made = make(seed)
            f = made
            args = numeric.arguments(seed) if make is numeric.numeric else (2.0, 3.0)
            if make is jumping:

                def f(a, b, made=made):
                    n, x = made(a, b)
                    return a * x + b * n

            found.append(outcome((f, *args), {}, None))
        return found

    chosen = results()
    monkeypatch.setattr(residuals, "_again", lambda ev, op: None)
    for seed, (a, b) in enumerate(zip(chosen, results(), strict=True)):
        if isinstance(a, Exception):
            assert repr(a) == repr(b)
        else:
            assert difference((a.value, a.bars), (b.value, b.bars), rtol=0.0) is None, seed
