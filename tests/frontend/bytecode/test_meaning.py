"""The IR of each function's bytecode, run by an interpreter, does what the function does."""

import types

import pytest

from adjoint.errors import UnsupportedSyntaxError
from adjoint.frontend.bytecode import lower
from tests.frontend import cases, class_cases  # noqa: F401  (enters its functions there)
from tests.frontend.test_meaning import name, outcome
from tests.ir.interpreter import interpreted, is_body


def is_lowered(function):
    try:
        lower(function)
    except UnsupportedSyntaxError:
        return False
    return True


def inner(function):
    """The functions and class bodies inside, as far as the interpreter enters them."""
    for code in function.__code__.co_consts:
        if isinstance(code, types.CodeType):
            cells = tuple(types.CellType() for _ in code.co_freevars)
            one = types.FunctionType(code, {}, closure=cells)
            yield from inner(one)
            if is_body(one):
                yield one


LOWERED = [case for case in cases.CASES if is_lowered(case[0])]
DEEPLY = [case for case in LOWERED if all(map(is_lowered, inner(case[0])))]


@pytest.mark.parametrize("case", LOWERED, ids=name)
def test_ir_does_what_the_function_does(case):
    function, args, kwargs = case
    found = outcome(interpreted(function, lower=lower), args, kwargs)
    assert found == outcome(function, args, kwargs)


@pytest.mark.parametrize("case", DEEPLY, ids=name)
def test_so_do_the_functions_inside(case):
    function, args, kwargs = case
    found = outcome(interpreted(function, deep=True, lower=lower), args, kwargs)
    assert found == outcome(function, args, kwargs)


def test_most_functions_are_lowered():
    lowered = {function for function, _, _ in LOWERED}
    deeply = {function for function, _, _ in DEEPLY}
    assert len(lowered) >= 138 and len(deeply) >= 128
