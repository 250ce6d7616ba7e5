"""Source is found by position, and believed only if it compiles to the function."""

from __future__ import annotations

import importlib.util
import itertools
import linecache
import os
import subprocess
import sys
import textwrap
import time
import warnings

import pytest

from adjoint.errors import SourceError
from adjoint.frontend import lower
from adjoint.frontend.source import find_source
from adjoint.ir.printer import format_function
from tests.ir.interpreter import interpreted

numbers = itertools.count()


@pytest.fixture
def module(tmp_path):
    """Makes modules out of text."""

    def make(text, *, encoding="utf-8", newline=None):
        path = tmp_path / f"made_{next(numbers)}.py"
        with open(path, "w", encoding=encoding, newline=newline) as file:
            file.write(text)
        spec = importlib.util.spec_from_file_location(path.stem, path)
        loaded = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(loaded)
        return loaded

    return make


def same(function, *args):
    assert interpreted(function)(*args) == function(*args)


# ---- lambdas -------------------------------------------------------------------------------------


def test_lambdas_on_one_line_are_told_apart():
    fs = [lambda x: x + 1, lambda x: x + 2, lambda x: x - 1, lambda x: x + 1]
    for f in fs:
        same(f, 5)
    columns = [lower(f).span.column for f in fs]
    assert columns == sorted(set(columns)), "equal lambdas too"


def test_lambda_in_a_call_of_many_lines():
    def take(*fs):
        return fs

    fs = take(
        lambda x: (
            x
            + 1
        ),
        lambda x, y=(lambda z: z): y(
            x * 2),
        (lambda x:
            {"a": [x, (x)]}),
        lambda x: (x)[0] if isinstance(x, list) else (x),
        lambda: 5,
        lambda x: ")" + '("' + str(x) + f"{x}" "]",
    )  # fmt: skip
    for f in fs:
        same(f, *([3] if f.__code__.co_argcount else []))


def test_lambda_that_returns_a_lambda():
    outer = lambda x: lambda y: x + y; other = lambda y: -y  # fmt: skip
    same(outer(2), 3)
    same(other, 3)
    assert interpreted(outer)(2)(3) == 5


def test_columns_are_bytes(module):
    loaded = module(
        'f, g = ("äöü∂", lambda x: x + 1)[1], (lambda x: x * 2)  # ∂\n'
        'h = {"ü": lambda é: é + "ß"}\n'
    )
    same(loaded.f, 4)
    same(loaded.g, 4)
    same(loaded.h["ü"], "a")


def test_lambda_behind_a_line_continued():
    f = \
        lambda x: x \
        + 3  # fmt: skip
    same(f, 1)


def test_lambda_in_defaults_and_decorators():
    def decorate(f):
        return lambda g: (f, g)

    @decorate(lambda x: x + 10)
    def g(x, f=lambda x: x + 20):
        return f(x)

    first, second = g
    same(first, 1)
    same(second, 1)
    same(second.__defaults__[0], 1)


# ---- functions -----------------------------------------------------------------------------------


def test_decorated_nested_and_methods(module):
    loaded = module(
        textwrap.dedent('''
        import functools

        def keep(*_):
            return lambda f: f

        @keep(1,
              2)
        # a comment
        @functools.wraps(keep)
        def f(x,
              y=3,
        ) -> "int":
            """A text
        that is not indented.
            """
            text = """
        def f(x): return 0
        """
            return (x
        + y, text
        )

        class A:
            __scale = 3

            class B:
                if True:
                    def method(self, x):
                        def inner(__y):
                            return [self.__scale * x * __y, __class__.__name__]
                        return inner(2)
                    __scale = 5

            def other(self): return self.__scale

        def outer():
            __private = 1
            class __C:
                def m(self): return __private
            return __C().m

        def empty(): pass

        def documented():
            """Text."""

        def only_global():
            global functools
        ''')
    )
    same(loaded.f, 1)
    same(loaded.A.B().method.__func__, loaded.A.B(), 4)
    same(loaded.A().other.__func__, loaded.A())
    for name in ("empty", "documented", "only_global"):
        same(getattr(loaded, name))
    for function in (loaded.f, loaded.A.B.method, loaded.A.other):
        line = linecache.getline(loaded.__file__, lower(function).span.line)
        assert line.lstrip().startswith(f"def {function.__code__.co_name}")


def test_tabs_and_line_ends_of_windows(module):
    text = (
        "if True:\n\tdef f(x):\n\t\tif x:\n\t\t\treturn x\n"
        "\t\treturn -1\n\tg = lambda x: x + 1\nclass A:\n def m(self, x):\n  \treturn x\n"
    )
    for newline in ("\n", "\r\n"):
        loaded = module(text, newline=newline)
        same(loaded.f, 0)
        same(loaded.g, 0)
        same(loaded.A.m, None, 5)


def test_other_encodings_and_form_feeds(module):
    loaded = module(
        "# coding: latin-1\nx = 'ä'\n\x0cdef f(é):\n    return é + 'ü'\n", encoding="latin-1"
    )
    same(loaded.f, "a")


def test_free_variables_of_every_kind():
    def outer(a):
        b = a

        class A:
            def get(self):
                nonlocal b
                b += 1
                return __class__, super().__hash__, a, b, self

        return A

    cls = outer(1)
    assert interpreted(cls.get)(cls())[2:4] == (1, 2)


def test_generator_expressions():
    k = 2
    g, h = (x * k for x in [1, 2]), (x + k for x in (y for y in [1, 2]))
    for generator in (g, h):
        assert "_it" in format_function(lower_code(generator.gi_code, k))


def lower_code(code, *values):
    cells = tuple((lambda value: lambda: value)(value).__closure__[0] for value in values)
    return lower(
        type(lower_code)(code, globals(), "<genexpr>", None, cells[: len(code.co_freevars)])
    )


def test_code_that_pytest_rewrote():
    def f(x):
        assert x > 0, "positive"
        y = x + 1
        assert [z for z in range(3)] and y
        return y * 2

    g = lambda x: x + 1
    assert lower(f).name == "f"
    same(f, 3)
    same(g, 3)


def test_module_context_of_names(module):
    loaded = module(
        "import math, os.path as p\nfrom operator import (add,  # one\n"
        "  mul as times)\ntry:\n    import json\nexcept E: pass\n"
        "def f(x):\n    return (math.sqrt(x), p.join('a'), add.__name__.upper(),"
        " times.__name__, json.dumps(x))\n"
    )
    same(loaded.f, 4.0)


# ---- no source -----------------------------------------------------------------------------------


def test_exec_without_a_file():
    namespace = {}
    exec("def f(x):\n    return x", namespace)
    with pytest.raises(SourceError, match=r"the source of 'f' cannot be found") as caught:
        lower(namespace["f"])
    assert "register an rrule for 'f'" in str(caught.value)


@pytest.mark.parametrize("line", [1, 3, 500])
def test_exec_under_the_name_of_a_file(module, line):
    loaded = module("def f(x):\n    return x\ndef f(x):\n    return x + 1\n")
    namespace = {}
    text = "\n" * (line - 1) + "def f(x):\n    return x + 2"
    exec(compile(text, loaded.__file__, "exec"), namespace)
    with pytest.raises(SourceError, match=r"not at .*; the file changed since"):
        lower(namespace["f"])


def test_exec_of_a_lambda_under_the_name_of_a_file(module):
    loaded = module("f = lambda x: x + 1\n")
    namespace = {}
    exec(compile("f = lambda x: x + 2", loaded.__file__, "exec"), namespace)
    with pytest.raises(SourceError):
        lower(namespace["f"])


@pytest.mark.parametrize(
    "before, after",
    [
        ("return x + 1", "return x + 2"),
        ("return x + 1", "return x - 1"),
        ("return x + 1", "return x + 1.0"),
        ("return x + 1", "return x + True"),
        ("return 0.0", "return -0.0"),
        ("return x.a", "return x.b"),
        ("return (lambda: 1)()", "return (lambda: 2)()"),
        ("y = 1; return x", "z = 1; return x"),
        ("return x", "yield x"),
        ("try: return x\n    except A: pass", "try: return x\n    finally: pass"),
    ],
)
def test_files_that_changed(module, before, after):
    loaded = module(f"def f(x):\n    {before}\n")
    with open(loaded.__file__, "w", encoding="utf-8") as file:
        file.write(f"def f(x):\n    {after}\n")
    os.utime(loaded.__file__, (time.time() + 5,) * 2)
    with pytest.raises(SourceError):
        lower(loaded.f)


def test_module_that_is_reloaded(module):
    loaded = module("def f(x):\n    return x + 1\n")
    same(loaded.f, 1)
    with open(loaded.__file__, "w", encoding="utf-8") as file:
        file.write("# one more line\ndef f(x):\n    return x + 22\n")
    os.utime(loaded.__file__, (time.time() + 5,) * 2)
    spec = loaded.__spec__
    sys.dont_write_bytecode, before = True, sys.dont_write_bytecode
    try:
        spec.loader.exec_module(loaded)
    finally:
        sys.dont_write_bytecode = before
    same(loaded.f, 1)


def test_text_of_a_notebook_cell():
    text = (
        "import math\ndef f(x):\n    return math.sin(x), (lambda y: y)(x)\n"
        "g = lambda x: math.cos(x)\n"
    )
    linecache.cache["<cell 1>"] = (len(text), None, text.splitlines(True), "<cell 1>")
    namespace = {}
    exec(compile(text, "<cell 1>", "exec"), namespace)
    same(namespace["f"], 1.0)
    same(namespace["g"], 1.0)


def test_warnings_of_the_compiler_are_not_repeated(module):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        loaded = module('def f(x):\n    return x is 5, "\\d"\ng = lambda x: x is "\\d"\n')
    same(loaded.f, 3)
    same(loaded.g, 3)


def test_without_columns(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "from adjoint.frontend import lower\n"
        "from adjoint.errors import SourceError\n"
        "f = lambda x: x + 1\n"
        "g, h = lambda x: x + 1, lambda x: x + 2\n"
        "def k(): return (lambda: 1 + k), (lambda: 2 + k)\n"
        "def m(x): return [y for y in x], (lambda: x)()\n"
        "lower(f), lower(g), lower(m)\n"
        "assert 'value=2' in repr(lower(h))\n"
        "try:\n    lower(k)\nexcept SourceError as error:\n    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-X", "no_debug_ranges", script],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert "cannot be told apart" in done.stdout


# ---- cost ----------------------------------------------------------------------------------------


def test_the_cost_grows_with_the_function_not_with_the_file(module):
    def text(functions, lines):
        body = "".join(f"    x = x * {i} + g{i}(x[{i}], y=[x])\n" for i in range(lines))
        return "".join(f"def f{i}(x):\n{body}    return x\n" for i in range(functions))

    def calls(function):
        """How many functions lowering calls: a measure that no other load disturbs."""
        n = 0

        def count(frame, event, arg):
            nonlocal n
            n += event in ("call", "c_call")

        before = sys.getprofile()
        sys.setprofile(count)
        try:
            lower(function)
        finally:
            sys.setprofile(before)
        return n

    lower(module(text(1, 3)).f0)  # what is imported the first time is not counted
    small, large = module(text(1, 100)), module(text(40, 100))
    assert calls(large.f39) < 1.5 * calls(small.f0)
    assert calls(module(text(1, 1600)).f0) < 20 * calls(small.f0)


def test_sources_of_inner_functions_are_remembered():
    def f(x):
        return lambda y: x + y

    lower(f)
    inner = f(1)
    assert find_source(inner) is find_source(inner)


def test_rewritten_code_that_is_another():
    def f(x):
        assert x
        return x + 1

    def g(x):
        assert x
        return y - 1  # noqa: F821

    other = f.__code__.replace(co_firstlineno=g.__code__.co_firstlineno)
    with pytest.raises(SourceError):
        lower(type(f)(other, globals()))
