"""The IR as text. After an intended change ``python -m tests.ir.test_printer`` writes it anew."""

import pathlib

import pytest

from adjoint.frontend import lower
from adjoint.ir.nodes import Call, Const, Function, Global, Path, Return, Span, Var
from adjoint.ir.printer import format_function, format_operand
from tests.ir.printed import PRINTED

GOLDEN = pathlib.Path(__file__).parents[1] / "golden" / "ir"


def golden_path(function):
    return GOLDEN / f"{function.__name__}.txt"


@pytest.mark.parametrize("function", PRINTED, ids=lambda f: f.__name__)
def test_text_is_the_golden_one(function):
    expected = golden_path(function).read_text(encoding="utf-8")
    assert format_function(lower(function)) == expected


def test_there_is_no_file_too_many():
    assert {path.name for path in GOLDEN.iterdir()} == {golden_path(f).name for f in PRINTED}


@pytest.mark.parametrize(
    "operand, text",
    [
        (Var("x"), "x"),
        (Global("np"), "np"),
        (Path(("np", "linalg", "norm")), "np.linalg.norm"),
        (Const(1.5), "1.5"),
        (Const("a"), "'a'"),
        (Const(None), "None"),
        (Const(len), "len"),
        (Const(ValueError), "ValueError"),
        (Const(list(range(1000))), repr(list(range(1000)))[:59] + "…"),
    ],
)
def test_operands(operand, text):
    assert format_operand(operand) == text


def test_signatures_and_lines():
    def f(a, /, b, *, c, **d):
        return a

    def g(*a, b):
        return lambda: a

    def h(x):
        def k():
            yield x

        return k

    assert format_function(lower(f)).startswith("def f(a, /, b, *, c, **d):  ")
    assert format_function(lower(g)).startswith("def g(*a, b):  ")
    text = format_function(lower(h(1)))
    assert text.startswith("generator k():    [x: x_cell]")
    line = str(h(1).__code__.co_firstlineno)
    assert text.splitlines()[0].endswith(f"  # {line}")


def test_ir_without_places_can_be_printed():
    code = test_operands.__code__
    body = (Call(None, Const(print), ()), Return(Const(0), Span(7, 0, 7, 1)))
    text = format_function(Function("f", (), (), body, False, code, "x.py"))
    assert text == "def f():\n    print()\n    return 0" + " " * 36 + "  # 7\n"


if __name__ == "__main__":
    GOLDEN.mkdir(parents=True, exist_ok=True)
    for function in PRINTED:
        golden_path(function).write_text(format_function(lower(function)), encoding="utf-8")
