"""What is not lowered is refused by name, and runs as an unknown function does."""

from __future__ import annotations

import subprocess
import sys

import pytest

import adjoint as ad
from adjoint.errors import NoDerivativeError, SourceError, UnsupportedSyntaxError
from adjoint.frontend import lower_any
from adjoint.frontend.bytecode import lower
from tests.frontend.bytecode.sourceless import made

REFUSED = {
    "try": "try:\n        return x\n    finally:\n        x = 0",
    "with": "with x as y:\n        return y",
    "yield from": "yield from x",
    "match": "match x:\n        case int(y): return y",
}


@pytest.mark.parametrize("construct", REFUSED)
def test_refused_by_name(construct):
    f = made(f"def f(x):\n    {REFUSED[construct]}\n", "f")
    with pytest.raises(UnsupportedSyntaxError, match=f"^'{construct}' .*of 'f' cannot") as caught:
        lower(f)
    assert caught.value.filename == "<string>" and caught.value.span.line in (2, 3)
    assert "rrule" in caught.value.hint


@pytest.mark.parametrize(
    "text",
    [
        "async def f(x):\n    return await x",
        "async def f(x):\n    yield x",
        "import types\n@types.coroutine\ndef f(x):\n    yield x",
    ],
)
def test_coroutines_are_refused(text):
    with pytest.raises(UnsupportedSyntaxError, match="^'async def' "):
        lower(made(text, "f"))


def test_the_code_of_a_module_is_refused():
    module = type(lower)(compile("x = 1", "<string>", "exec"), {})
    with pytest.raises(UnsupportedSyntaxError, match="^'module' "):
        lower(module)


CAREFUL = """
def careful(x):
    try:
        return x * x
    except ValueError:
        return 0.0
"""


def test_what_is_refused_runs_unless_its_derivative_is_needed():
    careful = made(CAREFUL, "careful")
    assert ad.gradient(lambda x: x * (careful(x) > 0.0), 3.0) == (1.0,)
    with pytest.raises(NoDerivativeError) as caught:
        ad.gradient(lambda x: x * careful(x), 3.0)
    assert "'try' (PUSH_EXC_INFO) in the bytecode of 'careful'" in str(caught.value)
    assert "lambda x: x * careful(x)" in str(caught.value), "the user's line"


def test_source_comes_first():
    lowered = lower_any(test_source_comes_first)
    assert lowered.filename == __file__ and lowered.span.column == 0


def test_both_reasons_are_named():
    with pytest.raises(SourceError, match=r"no text of '<string>'; 'try' \(PUSH_EXC_INFO\)"):
        lower_any(made(CAREFUL, "careful"))


# ---- places --------------------------------------------------------------------------------------


def test_the_text_of_another_function_is_not_shown():
    namespace = {}
    exec(compile("\n\n\ndef f(x):\n    yield from x\n", __file__, "exec"), namespace)
    f = namespace["f"]
    with pytest.raises(SourceError, match=r"changed .* 'yield from' .* in the byte") as caught:
        ad.code(f)
    assert "<bytecode of test_refusals.py>:5" in str(caught.value)
    with open(__file__, encoding="utf-8") as file:
        line = file.readlines()[4].strip()
    assert line and line not in str(caught.value)


def test_tracebacks_are_those_of_python():
    text = (
        "def f(x):\n    y = x * 2.0\n    if y > 1.0:\n        raise ValueError(y)\n    return y\n"
    )
    f = made(text, "f")

    def user(x):
        return f(x)

    def frames(call):
        with pytest.raises(ValueError, match=r"^2\.0$") as caught:
            call()
        return [(entry.frame.code.name, entry.lineno) for entry in caught.traceback][-2:]

    assert frames(lambda: ad.gradient(user, 1.0))[-1] == frames(lambda: user(1.0))[-1]
    assert frames(lambda: ad.gradient(user, 1.0))[-2][0] == "user"


# ---- cost ----------------------------------------------------------------------------------------


def test_it_is_not_loaded_before_it_is_needed():
    code = (
        "import sys, colorsys, adjoint as ad\n"
        "ad.pullback(colorsys.rgb_to_yiq, 0.1, 0.2, 0.3)\n"
        "print([name for name in sys.modules if 'frontend.bytecode' in name])\n"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"


def test_long_functions():
    returns = "".join(f"    if n == {i}: return x * {i}.0\n" for i in range(300))
    choices = "".join(f"    elif n == {i}: y = x * {i}.0\n" for i in range(100))
    joins = "".join(f"    if n > {i}: y = y + x\n    else: y = y * x\n" for i in range(200))
    f = made(f"def f(x, n):\n{returns}    return x * x\n", "f")
    g = made(f"def g(x, n):\n    if n < 0: y = x\n{choices}    return y * x\n", "g")
    h = made(f"def h(x, n):\n    y = 0.0\n{joins}    return y\n", "h")
    assert ad.gradient(f, 2.0, 37)[0] == 37.0 and ad.gradient(f, 2.0, -1)[0] == 4.0
    assert ad.gradient(g, 2.0, 37)[0] == 148.0
    assert ad.gradient(h, 1.0, 200)[0] == 200.0


def test_code_without_positions():
    f = made("def f(x):\n    return [x * y for y in (x, 2.0)]", "f")
    bare = type(f)(f.__code__.replace(co_linetable=b""), {})
    assert ad.gradient(lambda x: sum(bare(x)), 3.0) == (8.0,)
