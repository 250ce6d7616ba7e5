"""`python -m adjoint`: its commands, their output and their exit status."""

import subprocess
import sys
from types import SimpleNamespace

import pytest

import adjoint as ad
from adjoint.command_line import lint
from adjoint.command_line.main import main
from adjoint.command_line.target import loaded
from adjoint.runtime.cache import folder

FILE = """\
import decimal
import sys

import numpy as np
from numpy.random import default_rng


def square(x):
    return np.sum(x * x)


square_example = np.array([1.0, 2.0])


def wrong(x):
    return helper(x)


def helper(x):
    return x * 2.0


def waits(x):
    async def inner():
        return x

    return inner


class Model:
    @staticmethod
    def loss(x):
        return np.sum(np.real_if_close(x)) + sys.getsizeof(x)

    @property
    def size(self):
        def inner(y):
            return sys.getrefcount(y)

        return inner(self)


def points():
    return 3.0, 4.0


def product(x, y):
    return x * y
"""


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    made = tmp_path / "file_of_commands.py"
    made.write_text(FILE, encoding="utf-8")
    yield made
    sys.modules.pop("file_of_commands", None)


def test_code_ir_and_tier(path, capsys):
    assert main(["code", f"{path}:square"]) == 0
    assert "def gradient(x):" in capsys.readouterr().out
    assert main(["code", f"{path}:helper", "--args", "square_example"]) == 0
    assert "def forward(x" in capsys.readouterr().out
    assert main(["code", f"{path}:helper"]) == 0  # for any arguments
    assert "def reverse(rec" in capsys.readouterr().out
    assert main(["ir", f"{path}:square"]) == 0
    assert capsys.readouterr().out.startswith("def square(x):")
    assert main(["tier", f"{path}:product", "--args", "points"]) == 0
    assert capsys.readouterr().out.startswith("gradient of product: fast tier")


def test_check(path, capsys, monkeypatch):
    assert main(["check", f"{path}:square"]) == 0
    assert "reverse mode" in capsys.readouterr().out

    def failing(f, *args):
        raise AssertionError("the gradient is off")

    monkeypatch.setattr(ad.testing, "check_gradient", failing)
    assert main(["check", f"{path}:square"]) == 1
    assert "wrong: the gradient is off" in capsys.readouterr().err


def test_explain(path, capsys, monkeypatch, tmp_path):
    found = SimpleNamespace(save=lambda to: (tmp_path / to).write_text("saved"))
    monkeypatch.setattr(ad, "explain", lambda f, *args: found, raising=False)
    assert main(["explain", f"{path}:square", "--save", "found.txt"]) == 0
    assert str(found) in capsys.readouterr().out
    assert (tmp_path / "found.txt").read_text() == "saved"


def test_export(path, capsys, tmp_path):
    assert main(["export", f"{path}:square"]) == 0
    assert "def value_and_gradient(x):" in capsys.readouterr().out
    made = tmp_path / "made.py"
    assert main(["export", f"{path}:square", "--output", str(made)]) == 0
    assert made.read_text(encoding="utf-8").startswith('"""Value and gradient of `square`')


def test_a_refusal_is_status_1(path, capsys):
    assert main(["export", f"{path}:helper", "--args", "square_example"]) == 1
    assert "NoDerivativeError: 'helper' has no standalone file" in capsys.readouterr().err
    assert main(["ir", f"{path}:waits"]) == 1
    assert "async def" in capsys.readouterr().err


WRONG = [
    [],
    ["nothing"],
    ["code"],
    ["code", "no_file.py:f"],
    ["code", "{path}"],
    ["code", "{path}:nothing"],
    ["tier", "{path}:helper"],
    ["tier", "{path}:helper", "--args", "nothing"],
]


@pytest.mark.parametrize("arguments", WRONG, ids=" ".join)
def test_a_wrong_command_line_is_status_2(arguments, path, capsys):
    with pytest.raises(SystemExit) as caught:
        main([one.format(path=path) for one in arguments])
    assert caught.value.code == 2
    assert "usage: python -m adjoint" in capsys.readouterr().err


BROKEN = {
    "def f(x):\n    return x +\n": ":2:15: cannot be imported: SyntaxError: invalid syntax",
    "import nothing_of_this_name\n": ":1: cannot be imported: ModuleNotFoundError: No module",
    "x = 1\n\ny = 1 / 0\n": ":3: cannot be imported: ZeroDivisionError: division by zero",
    "raise SystemExit(3)\n": ":1: cannot be imported: SystemExit: 3",
    "assert False\n": ":1: cannot be imported: AssertionError",
    "x = '\0'\n": ": cannot be imported: SyntaxError: source code",
}
COMMANDS = ["code", "ir", "tier", "explain", "check", "export", "lint"]


@pytest.mark.parametrize("text", BROKEN)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_file_that_cannot_be_imported_is_status_2(command, text, path, capsys):
    path.write_text(text)
    assert main([command, str(path) if command == "lint" else f"{path}:f"]) == 2
    out, err = capsys.readouterr()
    assert not out and len(err.splitlines()) == 1
    assert err.startswith(str(path)) and BROKEN[text] in err.replace("code string", "code")
    assert "file_of_commands" not in sys.modules


@pytest.mark.parametrize("command", COMMANDS[:-1])
def test_a_function_that_does_not_exist_is_status_2(command, path, capsys):
    with pytest.raises(SystemExit) as caught:
        main([command, f"{path}:squre"])
    assert caught.value.code == 2
    assert "there is no function 'squre'" in (err := capsys.readouterr().err)
    assert "did you mean 'square'?" in err


def test_files_that_are_no_python(tmp_path, path, capsys):
    other = tmp_path / "notes.txt"
    other.write_text("square")
    assert main(["code", f"{other}:f"]) == 2
    assert "no file of Python" in capsys.readouterr().err
    assert main(["lint", str(other), str(path)]) == 2  # the others are read all the same
    out, err = capsys.readouterr()
    assert "no file of Python" in err and "real_if_close" in out + err or "async" in out


def test_what_the_function_raises_is_status_1(path, capsys):
    path.write_text("def f(x):\n    return x['a']\n\n\nexample = 2.0\n")
    assert main(["explain", f"{path}:f"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"{path}:2: f raises TypeError: 'float' object is not subscriptable")


def test_a_path_that_cannot_be_written_is_status_2(path, capsys):
    assert main(["export", f"{path}:square", "--output", "/no/such/folder/a.py"]) == 2
    assert "/no/such/folder/a.py: cannot be written: No such file" in capsys.readouterr().err


def test_as_a_program(path):
    command = [sys.executable, "-m", "adjoint", "tier", f"{path}:square"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "") and "fast tier" in done.stdout


# ---- lint ----------------------------------------------------------------------------------------


def test_lint(path, capsys):
    assert main(["lint", str(path)]) == 1
    lines = capsys.readouterr().out.splitlines()
    found = [line for line in lines if not line.startswith("    ")]
    line_of = {text.strip(): i for i, text in enumerate(FILE.split("\n"), 1)}
    assert found == [
        f"{path}:{line_of['async def inner():']}:5: error: 'async def' cannot be differentiated"
        " (in waits)",
        f"{path}:{line_of['return np.sum(np.real_if_close(x)) + sys.getsizeof(x)']}:46: note:"
        " 'sys.getsizeof' has neither a rule nor Python source: a derivative through it is an"
        " error (in Model.loss)",
        f"{path}:{line_of['return sys.getrefcount(y)']}:20: note: 'sys.getrefcount' has neither a"
        " rule nor Python source: a derivative through it is an error"
        " (in Model.size.<locals>.inner)",
    ]
    assert all(line.startswith("    hint: ") for line in lines if line not in found)


def test_the_status_of_notes(path, capsys):
    path.write_text("import sys\n\ndef f(x):\n    return x * sys.getsizeof(x)\n")
    assert main(["lint", str(path)]) == 0
    assert main(["lint", "--strict", str(path)]) == 1
    path.write_text("import math\n\ndef f(x):\n    print(x)\n    return math.sin(x)\n")
    capsys.readouterr()
    assert main(["lint", "--strict", str(path)]) == 0
    assert capsys.readouterr().out == "nothing found\n"
    assert main(["lint", str(path.parent / "nothing.py")]) == 2


def test_what_lint_says_is_what_a_derivative_says(path):
    """The note of a call, and the error of a derivative through it."""
    path.write_text(
        "import struct\n\ndef f(x):\n    data = struct.pack('d', x)\n"
        "    return struct.unpack('d', data)[0]\n"
    )
    module = loaded(path)
    notes = lint.findings(module)
    assert [(one.line, one.is_error) for one in notes] == [(4, False), (5, False)]
    with pytest.raises(ad.NoDerivativeError, match="pack") as caught:
        ad.grad(module.f, tier="generic")(2.0)
    assert caught.value.span.line in {one.line for one in notes}


# ---- the cache -----------------------------------------------------------------------------------


@pytest.fixture
def cache(tmp_path, monkeypatch):
    made = tmp_path / "cache"
    monkeypatch.setenv("ADJOINT_CACHE", str(made))
    folder.folder.cache_clear()
    yield made
    folder.folder.cache_clear()


def test_where_the_cache_is_and_how_large(cache, capsys):
    inside = cache / ("0" * 16)
    inside.mkdir(parents=True, mode=0o700)
    cache.chmod(0o700)
    (inside / "file").write_bytes(b"x" * (3 << 19))
    own = cache / "mine.txt"
    own.write_text("kept")
    assert main(["cache"]) == 0
    out = capsys.readouterr().out
    assert f"folder: {cache}" in out and "size: 1.5 MB of at most 256.0 MB, in 1 files" in out
    assert main(["cache", "--clear"]) == 0
    assert "removed: 1.5 MB in 1 files" in capsys.readouterr().out
    assert not inside.exists() and own.read_text() == "kept"


def test_no_cache(monkeypatch, capsys):
    monkeypatch.setenv("ADJOINT_CACHE", "off")
    assert main(["cache"]) == 0
    assert "ADJOINT_CACHE is off" in capsys.readouterr().out
