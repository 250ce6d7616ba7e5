"""What is built of the project has what the texts speak of."""

import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email import message_from_bytes
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
EXTRAS = PYPROJECT["project"]["optional-dependencies"]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A folder with the source distribution and the wheel."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-t", "wheel"]
    subprocess.run([*command, "-d", folder], cwd=ROOT, check=True, capture_output=True)
    return folder


def named_paths():
    """The files and folders of the checkout that CONTRIBUTING.md names."""
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    words = {word for code in re.findall(r"`([^`\n]+)`", text) for word in code.split()}
    words |= set(re.findall(r"\]\(([^)#:]+)", text)) | {"Makefile", "LICENSE", "README.md"}
    return {word.rstrip("/") for word in words if (ROOT / word).exists() and word[0] not in "/."}


def test_the_source_distribution_has_what_contributors_need(built):
    (archive,) = built.glob("*.tar.gz")
    with tarfile.open(archive) as files:
        members = {member.name.partition("/")[2] for member in files}
    inside = {str(folder) for name in members for folder in Path(name).parents} | members
    named = named_paths() - {"build", "dist"}  # outputs, where they exist
    assert {"tests/corpus", "docs/coverage.md", "docs/extending.md", "tools/find-python"} <= named
    assert named <= inside
    assert {"benchmarks/__main__.py", "tools/test-installed", "SECURITY.md"} <= inside


def test_the_wheel_has_the_package_alone(built):
    (archive,) = built.glob("*.whl")
    assert archive.name.startswith("adjoint_ad-")
    with zipfile.ZipFile(archive) as files:
        tops = {name.partition("/")[0] for name in files.namelist()}
        (info,) = tops - {"adjoint"}
        assert "adjoint/py.typed" in files.namelist()
        pages = {f"adjoint/explanation/page.{kind}" for kind in ("css", "js")}
        assert pages <= set(files.namelist())
        metadata = message_from_bytes(files.read(f"{info}/METADATA"))
        entries = files.read(f"{info}/entry_points.txt").decode()
    assert metadata["Name"] == "adjoint-ad"
    assert set(metadata.get_all("Provides-Extra")) == {"scipy", "plots", "progress", "all"}
    assert "pandas = adjoint.extensions.pandas" in entries


def test_extras_that_are_named_exist():
    folders = [ROOT / "src", ROOT / "docs"]
    texts = [path for folder in folders for path in folder.rglob("*.*") if path.suffix != ".png"]
    named = set()
    for path in (*texts, ROOT / "README.md", ROOT / "Makefile", ROOT / "CONTRIBUTING.md"):
        if path.suffix != ".pyc" and not {"_build", "generated"} & {*path.parts}:
            text = path.read_text("utf-8")
            named |= set(re.findall(r"(?:adjoint-ad|'\.)\[([a-z,]+)\]", text))
            assert "pip install adjoint" not in text.replace("pip install adjoint-ad", ""), path
    assert {extra for names in named for extra in names.split(",")} == {*EXTRAS} - {"scipy"}


def test_groups_that_make_installs_exist():
    groups = re.findall(r"--group ([a-z]+)", (ROOT / "Makefile").read_text("utf-8"))
    assert set(groups) == {"test", "bench", "docs", "types"} <= set(PYPROJECT["dependency-groups"])
