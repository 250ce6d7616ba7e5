"""What README.md says is what happens."""

import ast
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)


def test_python_blocks_print_what_they_say(tmp_path):
    """All blocks form one program; a `# →` behind a `print` is its output, text blocks the rest."""
    script = tmp_path / "readme.py"
    script.write_text("\n".join(blocks("python")), encoding="utf-8")
    expected = re.findall(r"# → (.*)$", script.read_text(encoding="utf-8"), re.MULTILINE)
    expected += "\n".join(blocks("text")).splitlines()
    done = subprocess.run(
        [sys.executable, "-W", "error", str(script)],
        capture_output=True,
        check=False,
        env=os.environ | {"PYTHONUTF8": "1", "PYTHONPATH": str(ROOT / "src")},
    )
    assert done.stderr.decode() == ""
    assert done.stdout.decode().splitlines() == expected


def test_every_value_is_checked():
    prints = [
        node
        for node in ast.walk(ast.parse("\n".join(blocks("python"))))
        if isinstance(node, ast.Call) and getattr(node.func, "id", None) == "print"
    ]
    assert len(prints) == README.count("# →") + len(blocks("text"))


def test_make_targets_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    named = set(re.findall(r"make ([a-z-]+)", README))
    assert {"demo", "test", "bench"} <= named
    for target in named:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_extras_exist():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = {e for names in re.findall(r"'\.\[([a-z,]+)\]'", README) for e in names.split(",")}
    assert extras and extras <= set(project["optional-dependencies"])


def test_links_lead_somewhere():
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        if not target.startswith("https://"):
            assert (ROOT / target).exists(), target
