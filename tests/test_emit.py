"""The emitters: names, literals, lines, and text that compiles and can be traced back."""

import linecache
import math

import adjoint as ad
from adjoint.emit.writer import Names, Writer
from adjoint.ir.nodes import Const, Global, Path, Span, Var
from adjoint.runtime.cache.units import unit_of


def test_names_do_not_collide():
    names = Names({"add", "rec"})
    assert names.fresh("rec") == "rec_" and names.fresh("rec") == "rec__"
    assert names.of(max, "add") == "add_" == names.of(max, "other")
    assert names.of(min, "least") == "least"
    assert names.bound == {"add_": max, "least": min}


def test_operands():
    names = Names(set())
    cases = [
        (Var("x"), "x"),
        (Global("np"), "np"),
        (Path(("np", "linalg", "norm")), "np.linalg.norm"),
        (Const(None), "None"),
        (Const("it's"), '"it\'s"'),
        (Const(-1), "(-1)"),
        (Const(-0.0), "(-0.0)"),
        (Const(1e300), "1e+300"),
        (Const((1, "a")), "(1, 'a')"),
        (Const((1,)), "(1,)"),
    ]
    for operand, text in cases:
        assert names.operand(operand) == text
    assert not names.bound
    for value in (math.inf, -math.nan, 1 << 80, ..., 2j, ()):
        name = names.operand(Const(value))
        assert name == "..." or name == "()" or names.bound[name] is value


def test_lines_carry_the_users_line_once():
    writer = Writer(__file__, indent=1)
    writer.line("a = 1", Span(1, 0, 1, 3))
    with writer.block("if a:", Span(1, 0, 1, 3)):
        pass
    writer.line("b = 2")
    first = linecache.getline(__file__, 1).strip()
    assert writer.lines[0].startswith("    a = 1 ") and writer.lines[0].endswith(f"# 1: {first}")
    assert writer.lines[1:] == ["    if a:", "        pass", "    b = 2"]
    assert len(writer.spans) == len(writer.lines)


def awkward(rec, seed, memory, cells):
    """Names that generated code uses itself."""
    forward = rec * seed
    reverse = forward + memory
    add = mul = accumulate = call = reverse * 2.0
    for part1 in [cells]:
        add = add + part1 * mul
    rec_bar = add * accumulate + call
    return rec_bar


def test_names_of_the_user_are_kept_apart():
    ad.testing.check_gradient(awkward, 1.5, 2.5, 3.5, 4.5)
    assert "rec_" in ad.code(awkward)


def test_names_that_end_like_cotangents():
    def f(x, x_bar, seed, taken1, step1, loop1, received):
        for y in [x, x_bar]:
            x = x_bar * y
            x_bar = x + seed * taken1
        return x * x_bar + step1 * loop1 * received

    ad.testing.check_gradient(f, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7)


def test_every_line_has_its_place():
    unit = unit_of(awkward)
    assert len(unit.source.spans) == len(unit.source.text.splitlines())
    lines = {span.line for span in unit.source.spans if span is not None}
    first = awkward.__code__.co_firstlineno
    assert {first + 2, first + 3, first + 4, first + 5, first + 6, first + 7, first + 8} <= lines


def test_generated_code_can_be_read_by_debuggers():
    unit = unit_of(awkward)
    assert unit.filename.startswith("<adjoint awkward (test_emit.py:")
    assert "".join(linecache.getlines(unit.filename)) == unit.source.text
    assert unit.forward.__code__.co_filename == unit.filename
    linecache.checkcache()
    assert linecache.getlines(unit.filename)
