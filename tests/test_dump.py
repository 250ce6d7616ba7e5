"""`ADJOINT_DUMP`: each stage as a file, and nothing where the variable is not set."""

import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import adjoint as ad
from adjoint.diagnostics import dump

ROOT = Path(__file__).parents[1]
NAME = re.compile(r"(\d+)-(\d{4})-([\w-]+?)-(\d\d)-([a-z-]+)\.txt")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder that the variable names, which does not exist."""
    made = tmp_path / "a" / "dump"
    monkeypatch.setenv("ADJOINT_DUMP", str(made))
    return made


def written(folder):
    """The stages in the order of their names: ``(number, function, stage)``."""
    found = [NAME.fullmatch(path.name) for path in sorted(folder.iterdir())]
    assert all(match and int(match[1]) == os.getpid() for match in found)
    return [(int(match[2]), match[3], match[5]) for match in found]


HEAT = """\
def heat(x):
    total = 0.0
    for item in x:
        if item > 0.0:
            total += item * item
    return total
"""


@pytest.fixture
def heat(tmp_path):
    """A function that nobody has differentiated."""
    path = tmp_path / "heat.py"
    path.write_text(HEAT)
    scope = {}
    exec(compile(HEAT, str(path), "exec"), scope)
    return scope["heat"]


PASSES = ["common", "dead", "invariant"]


def test_stages_of_the_generic_tier(folder, heat, generic_tier):
    ad.gradient(heat, [1.0, -2.0])
    stages = ["ir", "paths", "temporaries", "sweeps", "source"]
    assert written(folder) == [(1, "heat", stage) for stage in stages]


def test_stages_of_the_fast_tier(folder, heat):
    ad.gradient(heat, np.array([1.0, -2.0]))
    stages = ["ir", "primal", *PASSES, "forward", "reverse", *PASSES, "contract"]
    found = written(folder)
    assert [stage for _, _, stage in found][: len(stages)] == stages
    assert [stage for _, _, stage in found][-2:] == ["source", "entry"]
    (source,) = folder.glob("*-source.txt")
    assert source.read_text(encoding="utf-8") == ad.code(heat, np.array([1.0, -2.0]))


def test_stages_of_a_level(folder, heat, generic_tier):
    ad.pushforward(heat, ([1.0, -2.0],), ([1.0, 1.0],))
    stages = ["ir", "paths", "temporaries", "source"]
    found = [(name, stage) for _, name, stage in written(folder)]
    assert found == [("heat-on-a-level", stage) for stage in stages]


def test_the_texts_are_those_of_the_public_functions(folder, heat, generic_tier):
    ad.gradient(heat, [1.0])
    texts = {path.name.rpartition("-")[2]: path.read_text() for path in folder.iterdir()}
    assert texts["ir.txt"] == ad.ir(heat) and texts["source.txt"] == ad.code(heat)
    assert "unwind [0.2]: item -> x" in texts["sweeps.txt"]


def test_only_the_owner_reads_them(folder, heat, generic_tier):
    ad.gradient(heat, [1.0])
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}


def test_nothing_is_overwritten(folder, heat, generic_tier):
    """Another process takes other names, and so does a later one of the same id."""
    folder.mkdir(parents=True)
    earlier = folder / f"{os.getpid()}-0007-heat-01-ir.txt"
    earlier.write_text("earlier")
    ad.gradient(heat, [1.0])
    assert earlier.read_text() == "earlier"
    assert {number for number, _, _ in written(folder)} == {7, 8}
    before = {path.name for path in folder.iterdir()}
    code = "import adjoint as ad; ad.gradient(lambda x: x * x, 1.0)"
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    subprocess.run([sys.executable, "-c", code], check=True, env=env)
    after = {path.name for path in folder.iterdir()}
    assert after > before and any("-lambda-" in name for name in after - before)


def test_code_on_disk_is_not_taken(folder, tmp_path):
    """It has no stages."""
    (tmp_path / "heat.py").write_text(
        "import adjoint as ad\ndef heat(x):\n    return x * x\nad.grad(heat, tier='generic')(1.0)\n"
    )
    env = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "src"),
        "ADJOINT_CACHE": str(tmp_path / "cache"),
    }
    for _ in range(2):
        subprocess.run([sys.executable, str(tmp_path / "heat.py")], check=True, env=env)
    assert len(list(folder.glob("*-heat-04-sweeps.txt"))) == 2


@pytest.mark.parametrize("tier", ["fast", "generic"])
def test_a_folder_that_cannot_be_written(tier, heat, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ADJOINT_DUMP", str(tmp_path / "file"))
    with pytest.raises(dump.DumpError) as caught:
        ad.grad(heat, tier=tier)(np.array([1.0]))
    assert repr(str(tmp_path / "file")) in str(caught.value) and "ADJOINT_DUMP" in str(caught.value)
    assert isinstance(caught.value, ad.AdjointError)
    monkeypatch.delenv("ADJOINT_DUMP")
    assert ad.grad(heat, tier=tier)(np.array([3.0])).tolist() == [6.0]


def test_a_constant_without_text(folder):
    class Silent:
        def __repr__(self):
            raise ValueError("no repr")

    dump.stages_of("<lambda>")("ir", lambda: repr(Silent()))
    (path,) = folder.iterdir()
    assert path.name.endswith("-0001-lambda-01-ir.txt")
    assert path.read_text() == "no text: ValueError: no repr\n"


def test_nothing_where_the_variable_is_not_set(heat, monkeypatch, tmp_path):
    monkeypatch.delenv("ADJOINT_DUMP", raising=False)
    monkeypatch.chdir(tmp_path)
    ad.gradient(heat, [1.0])
    assert dump.stages_of("heat") is dump._no_stages
    assert [path.name for path in tmp_path.iterdir()] == ["heat.py"]
