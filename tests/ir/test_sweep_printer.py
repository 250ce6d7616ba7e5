"""Both sweeps as text."""

import textwrap

import pytest

from adjoint.frontend import lower
from adjoint.ir.sweep_printer import format_sweeps
from adjoint.transform.activity import Activity
from adjoint.transform.reverse import reverse
from tests.corpus import all_cases

FUNCTIONS = {
    getattr(f, "__qualname__", ""): f
    for f in (case.sample.f for case in all_cases())
    if hasattr(f, "__code__") and hasattr(f, "__globals__")
}


def text_of(f):
    function = lower(f)
    return format_sweeps(function, reverse(function, Activity(function, f.__globals__)))


def early(xs, limit):
    total = 0.0
    for x in xs:
        if x > limit:
            return x
        y = total
        total = y + x
    return total


def without_lines(text):
    return "\n".join(line.partition("  #")[0].rstrip() for line in text.splitlines())


def test_text():
    expected = """\
        forward early(xs, limit):
            total = 0.0
            [0.2] for x in xs:
                [1.1] _1 = gt(x, limit)
                [1.2] _2 = truth(_1)
                if _2:
                    [1.3] = True
                    [1.4] = True
                    return x
                y = total
                [1.5] total = add(y, x)
            [0.3] = True
            return total
        reverse:
            if [0.3] is True:
                y_bar -> total
            unwind [0.2]: x -> xs
                pull [1.5]: total -> y, x
                y -> total
                if [1.3] is True:
                    if [1.4] is True:
                        y_bar -> x
                pull [1.2]: _2 -> _
                pull [1.1]: _1 -> x, limit
            clear total
        """
    assert without_lines(text_of(early)) == textwrap.dedent(expected).rstrip()


@pytest.mark.parametrize("name", list(FUNCTIONS)[::7])
def test_every_operation_has_a_text(name):
    try:
        text = text_of(FUNCTIONS[name])
    except SyntaxError:
        pytest.skip("no source of its own")
    assert text.startswith("forward ") and "\nreverse:\n" in text
