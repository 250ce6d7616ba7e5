"""Pages of the reference that no docstring makes: the command line and the environment."""

import re
from pathlib import Path

from adjoint.command_line.main import COMMANDS

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "docs" / "reference"


def page(name):
    return (REFERENCE / name).read_text(encoding="utf-8")


def first_cells(text):
    return re.findall(r"^\| `([^`]+)`", text, re.MULTILINE)


def test_every_environment_variable_has_a_row():
    used = set()
    for path in (ROOT / "src").rglob("*.py"):
        used |= set(re.findall(r"\bADJOINT_[A-Z]+\b", path.read_text(encoding="utf-8")))
    assert sorted(first_cells(page("environment.md"))) == sorted(used)


def test_every_command_has_a_row():
    rows = [row.split()[0] for row in first_cells(page("command_line.md"))]
    assert {*COMMANDS, "lint", "cache"} <= {*rows}


def test_every_option_is_named():
    code = ROOT / "src" / "adjoint" / "command_line"
    options = set()
    for path in (*code.glob("*.py"), ROOT / "src" / "adjoint" / "demo" / "__main__.py"):
        options |= set(re.findall(r'add_argument\(\s*"(--[a-z]+)"', path.read_text("utf-8")))
    assert len(options) >= 6
    assert [one for one in sorted(options) if one not in page("command_line.md")] == []
