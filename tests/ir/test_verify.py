"""The verifier finds what it is there to find."""

import pytest

from adjoint.ir.nodes import (
    Assign,
    Break,
    Call,
    Const,
    Continue,
    For,
    Function,
    If,
    Parameter,
    Raise,
    Return,
    Span,
    Try,
    Unpack,
    Var,
    While,
    Yield,
)
from adjoint.ir.walk import operands, regions, targets, walk
from tests.ir.verify import MalformedIR, verify

AT = Span(1, 0, 1, 1)
X, T = Var("x"), Var("_1")
ZERO, TRUE = Const(0), Const(True)
DONE = Return(ZERO, AT)


def code_of(x):
    return x


def function(*body, free=(), parameters=(Parameter("x", 1),)):
    return Function("f", parameters, free, body, False, code_of.__code__, "f.py", AT)


def copy(target, source=ZERO):
    return Assign(target, source, AT)


@pytest.mark.parametrize(
    "body",
    [
        (If(X, (copy(T),), (copy(T, X),), AT), Return(T, AT)),
        (For(Var("y"), X, (Break(AT),), (copy(Var("z")),), AT), DONE),
        (While((copy(T),), T, (Continue(AT),), (), AT), DONE),
        (Try((copy(T),), None, (), (), (copy(Var("y")),), AT), Return(T, AT)),
        (Try((copy(T),), Var("_2"), (Raise(Var("_2"), None, AT),), (), (), AT), Return(T, AT)),
        (Unpack((Var("y"), Var("z")), X, 1, AT), Call(None, Const(print), (X,), (), AT), DONE),
    ],
)
def test_well_formed(body):
    verify(function(*body))


@pytest.mark.parametrize(
    "body, problem",
    [
        ((Return(Var("y"), AT),), "'y' is never bound"),
        ((copy(T), copy(T), DONE), "'_1' is bound twice"),
        ((copy(T), If(X, (copy(T),), (), AT), DONE), "'_1' is bound twice"),
        ((Call(None, T, (), (), AT), copy(T), DONE), "'_1' may be unbound"),
        ((For(X, X, (copy(T), copy(T)), (), AT), DONE), "'_1' is bound twice"),
        ((While((), T, (copy(T),), (), AT), DONE), "the condition may be unbound"),
        ((Break(AT),), "outside a loop"),
        ((For(X, X, (), (Continue(AT),), AT), DONE), "outside a loop"),
        ((Return(ZERO),), "no span"),
        ((DONE, copy(X)), "something stands behind it"),
        ((copy(X, 5), DONE), "an operand of a wrong class"),
        ((copy(Var("a b")), DONE), "a target is no variable"),
        ((Yield(None, X, span=AT), DONE), "not in a generator"),
        ((Call(None, X, (), (("k", X), ("k", X)), AT), DONE), "a keyword twice"),
        ((Unpack((X,), X, 3, AT), DONE), "no such target"),
        ((Try((), None, (copy(X),), (), (), AT), DONE), "a handler that catches nothing"),
        ((If(X, [copy(X)], (), AT), DONE), "a region is no tuple"),
    ],
)
def test_malformed(body, problem):
    with pytest.raises(MalformedIR, match=problem):
        verify(function(*body))


def test_malformed_signatures():
    with pytest.raises(MalformedIR, match="the same name"):
        verify(function(DONE, parameters=(Parameter("x", 1), Parameter("x", 1))))
    with pytest.raises(MalformedIR, match="not those of the code"):
        verify(function(DONE, free=(("k", Var("k_cell")),)))


def test_walk_reaches_every_operation():
    inner = copy(X)
    op = Try((inner,), T, (If(X, (inner,), (inner,), AT),), (inner,), (inner,), AT)
    assert sum(found is inner for found in walk((op,))) == 5
    assert targets(op) == (T,) and operands(op) == () and len(regions(op)) == 4
