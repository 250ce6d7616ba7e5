"""The verifier finds what it is there to find."""

import pytest

from adjoint.ir.nodes import Parameter
from adjoint.ir.single import (
    Block,
    Call,
    Const,
    Function,
    If,
    Loop,
    Raise,
    Undefined,
    Unpack,
    Value,
)
from tests.fast.verifier import MalformedIR, verify

X, Y, Z = Value("x"), Value("y"), Value("z")
ONE, TRUE, UNSET = Const(1), Const(True), Undefined("u")
EMPTY = Block((), (), ())
COPY = Call(Y, Const(abs), (X,))


def function(*ops, results=(ONE,)):
    return Function("f", (Parameter("x", 1),), (), Block((X,), ops, results), "f.py")


def block(*results, ops=(), parameters=()):
    return Block(parameters, ops, results)


@pytest.mark.parametrize(
    "ops, results",
    [
        ((COPY,), (Y,)),
        ((If((Y,), X, block(ONE), block(UNSET)), Call(None, Const(abs), (Y,))), (Y,)),
        ((Loop((Y,), (UNSET,), X, None, block(Z, parameters=(Z, Value("y")))),), (Y,)),
        ((Loop((), (), None, block(TRUE), EMPTY),), (ONE,)),
        ((Loop((Y,), (), X, None, block(TRUE, parameters=(Z,)), stops=True),), (Y,)),
        ((Raise(X),), None),
        ((If((), X, Block((), (Raise(X),), None), Block((), (Raise(X),), None)),), None),
    ],
)
def test_well_formed(ops, results):
    verify(function(*ops, results=results))


@pytest.mark.parametrize(
    "ops, results, problem",
    [
        ((COPY, COPY), (Y,), "defined twice"),
        ((), (Y,), "not defined here"),
        ((If((), X, Block((), (COPY,), ()), EMPTY),), (Y,), "not defined here"),
        ((Call(None, UNSET, ()),), (X,), "reads what is undefined"),
        ((Call(None, X, (5,)),), (X,), "an operand of a wrong class"),
        ((Call(None, X, (), (("k", X), ("k", X))),), (X,), "a keyword twice"),
        ((Unpack((Y,), X, 1),), (X,), "no such result"),
        ((If((Y,), X, EMPTY, block(ONE)),), (Y,), "results do not fit"),
        ((If((), X, block(parameters=(Y,)), EMPTY),), (X,), "a branch has no parameters"),
        ((Loop((), (), X, None, EMPTY),), (X,), "the parameters do not fit"),
        ((Loop((), (X,), X, None, block(X, parameters=(Y, Z))),), (X,), "results do not fit"),
        ((Loop((), (), X, block(TRUE), block(parameters=(Y,))),), (X,), "neither for nor while"),
        ((Loop((), (), None, EMPTY, EMPTY),), (X,), "results do not fit"),
        ((Loop((Y,), (UNSET,), UNSET, None, block(Z, parameters=(Z, X))),), (X,), "undefined"),
        ((Raise(X), COPY), None, "never reached"),
        ((Raise(X),), (X,), "with results is never reached"),
        ((), None, "without results may be reached"),
        ((), (X, X), "results do not fit"),
    ],
)
def test_malformed(ops, results, problem):
    with pytest.raises(MalformedIR, match=problem):
        verify(function(*ops, results=results))


def test_parameters():
    with pytest.raises(MalformedIR, match="a parameter too many"):
        verify(Function("f", (), (), block(ONE, parameters=(X,)), "f.py"))
