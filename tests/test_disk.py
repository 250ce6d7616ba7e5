"""Generated code on disk: a second process starts without lowering, and with nothing else."""

import json
import marshal
import os
import stat
import subprocess
import sys
import textwrap
from types import FunctionType

import pytest

from adjoint.frontend import lower_any
from adjoint.ir.printer import format_function
from adjoint.ir.walk import walk
from adjoint.runtime.cache import disk
from adjoint.runtime.cache.ir import plain, restored
from tests.corpus import all_cases

HELPER = """
SCALE = 2.0


def scaled(x):
    return SCALE * x
"""
PROGRAM = """
import dataclasses
import math

import helper

FACTOR = 3.0


@dataclasses.dataclass
class Line:
    slope: float
    offset: float = 1.0


def made_by_exec(x, factor):
    made = {"FACTOR": factor}
    exec("def scaled(x): return FACTOR * x * Line(x, 2.0).slope", made | {"Line": Line}, made)
    return made["scaled"](x)


def loop(x):
    total = 0.0
    for i in range(3):
        total += x[i] * i
    while total < 1.0:
        total = total * 1.5 + 0.1
    return total + sum(x[1:]) * FACTOR


def inner(x):
    def square(y):
        return y * y + x

    return square(x) + (lambda z: math.sin(z))(x), [v for v in (x, x * x)]


def generator(x):
    def values():
        for k in range(3):
            yield x**k

    return sum(values())


def guarded(x, *rest, scale=1.5, **others):
    try:
        return helper.scaled(x) * scale + len(rest)
    except ZeroDivisionError:
        return x
    finally:
        others.clear()


first, second = (lambda x: x * 2.0), (lambda x: x * 5.0)


def main(x):
    one, two = inner(x)
    return (
        loop([x, x * x, 3.0])
        + one
        + two[1]
        + generator(x)
        + guarded(x, 1, scale=x)
        + first(x) * second(x)
        + made_by_exec(x, x)
    )
"""
DRIVER = """
import json
import sys

import adjoint as ad
from adjoint.frontend import source_or_bytecode
from adjoint.runtime.cache import units as functions

lowered, read = [], []
generate, lower = functions.generate, source_or_bytecode.lower


def counted(f):
    lowered.append(f.__qualname__)
    return generate(f)


def reading(f):
    read.append(f.__qualname__)
    return lower(f)


functions.generate, source_or_bytecode.lower = counted, reading
import program

result = ad.gradient(program.main, 0.7), ad.hvp(program.main, 0.7, 1.0)
made = {"result": result, "lowered": lowered, "read": [*read], "code": ad.code(program.loop)}
print(json.dumps(made))
"""


class Project:
    """A folder with a program, and a cache."""

    def __init__(self, folder):
        self.folder, self.cache = folder, folder / "cache"
        self.write("helper", HELPER)
        self.write("program", PROGRAM)
        self.write("driver", DRIVER)

    def write(self, name, text):
        (self.folder / f"{name}.py").write_text(textwrap.dedent(text), encoding="utf-8")

    def run(self, setting=None):
        # Python's own cache takes a file of equal size for the same within a second.
        run = subprocess.run(
            [sys.executable, "-B", "driver.py"],
            cwd=self.folder,
            env={**os.environ, "ADJOINT_CACHE": setting or str(self.cache)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert not run.returncode, run.stderr
        return json.loads(run.stdout)

    def files(self):
        return sorted(path for path in self.cache.glob("*/*") if path.is_file())

    def generated(self):
        return [path for path in self.files() if path.suffix != ".ir"]


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path)


def test_the_second_process_lowers_nothing(project):
    plain = project.run("off")
    assert not project.cache.exists() and "main" in plain["lowered"]
    first = project.run()
    assert first["result"] == plain["result"] and first["code"] == plain["code"]
    assert len(project.generated()) == len(first["lowered"])
    second = project.run()
    assert second == {**first, "lowered": [], "read": []}


def test_a_changed_text_is_lowered_anew(project):
    before = project.run()
    project.write("program", PROGRAM.replace("x * 5.0", "x * 17.0"))
    after = project.run()
    assert after["result"] != before["result"] and "main" in after["lowered"]
    assert after["result"] == project.run("off")["result"]


def test_a_global_of_another_kind_is_seen(project):
    before = project.run()
    project.write("program", PROGRAM.replace("FACTOR = 3.0", "FACTOR = 4.0"))
    assert project.run()["result"] == project.run("off")["result"] != before["result"]
    # the file of the program stays as it is; what it reads from another one is no function any more
    project.write("program", PROGRAM.replace("helper.scaled(x)", "helper.scaled * x"))
    project.write("helper", HELPER.replace("def scaled(x):", "scaled = 1.0\n\ndef other(x):"))
    changed = project.run()
    assert changed["result"] == project.run("off")["result"] == project.run()["result"]
    project.write("helper", HELPER)
    failed = subprocess.run([sys.executable, "driver.py"], cwd=project.folder, capture_output=True)
    assert failed.returncode


def test_what_was_cut_off_or_changed_is_not_used(project):
    first = project.run()
    for number, path in enumerate(project.files()):
        data = path.read_bytes()
        path.write_bytes(data[: len(data) // 2] if number % 2 else data[:-1] + b"?")
    again = project.run()
    assert again == first
    assert project.run()["lowered"] == []


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="no owners of files")
def test_the_folder_is_private(project):
    project.run()
    for path in project.cache.rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0
    project.cache.chmod(0o777)  # now anybody may have put something there
    again = project.run()
    assert "main" in again["lowered"]


def test_any_part_may_be_deleted(project):
    first = project.run()
    for path in project.files()[::2]:
        path.unlink()
    assert project.run()["result"] == first["result"]
    assert len(project.generated()) == len(first["lowered"])


def test_the_ir_is_what_it_was():
    """Of all functions of the corpus but those with constants that cannot be written down."""
    functions = [case.sample.f for case in all_cases() if type(case.sample.f) is FunctionType]
    kept = 0
    for f in functions:
        function = lower_any(f)
        try:
            written = marshal.dumps(plain(f, function))
        except disk.Unknown:
            continue
        again = restored(f, marshal.loads(written))
        assert again == function and format_function(again) == format_function(function)
        assert [op.span for op in walk(again.body)] == [op.span for op in walk(function.body)]
        kept += 1
    assert kept > 0.98 * len(functions)
