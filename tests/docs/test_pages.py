"""What the pages of docs/ say is what happens.

The code cells of a page are one program, with its blocks ``{code-block} python``, which stand where
cells cannot: in dropdowns. A comment ``# → …``, behind a `print` or in lines of its own below it,
is what the program prints; below cells the site shows the output itself in its place. Beside the
program are the data files (csv) of the page's folder.
"""

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(
    path
    for path in DOCS.rglob("*.md")
    if "_build" not in path.parts and "{code-cell}" in path.read_text(encoding="utf-8")
)
CELL = re.compile(
    r"^```\{code-(?:cell\}|block\} python)[^\n]*\n((?::[^\n]*\n)*)(.*?)^```$",
    re.DOTALL | re.MULTILINE,
)
EXPECTED = re.compile(r"# → ?(.*)$", re.MULTILINE)


def code(path):
    return "\n".join(cell for _, cell in CELL.findall(path.read_text(encoding="utf-8")))


def ids(path):
    return path.relative_to(DOCS).as_posix()


@pytest.mark.parametrize("path", PAGES, ids=ids)
def test_a_page_prints_what_it_says(path, tmp_path):
    script = tmp_path / "page.py"
    text = code(path)
    script.write_text(text, encoding="utf-8")
    for data in path.parent.glob("*.csv"):
        shutil.copy(data, tmp_path)
    done = subprocess.run(
        [sys.executable, "-W", "error", str(script)],
        capture_output=True,
        check=False,
        cwd=tmp_path,
        env=os.environ | {"PYTHONUTF8": "1", "PYTHONPATH": str(ROOT / "src"), "MPLBACKEND": "agg"},
    )
    assert done.stderr.decode() == ""
    found = [line.rstrip() for line in done.stdout.decode().splitlines()]
    assert found == [line.rstrip() for line in EXPECTED.findall(text)]


TUTORIAL = [path for path in PAGES if path.parent.name == "tutorial"]


@pytest.mark.parametrize("path", TUTORIAL, ids=ids)
def test_every_printed_value_of_the_tutorial_is_compared(path):
    """Each `print` is followed by its result."""
    text = code(path)
    lines = text.splitlines()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and getattr(node.func, "id", None) == "print":
            behind = lines[node.end_lineno - 1 : node.end_lineno + 1]
            assert any("# →" in line for line in behind), lines[node.lineno - 1]


def test_all_chapters_are_there():
    assert [path.name[0] for path in TUTORIAL] == list("1234567")
