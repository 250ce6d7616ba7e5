"""The worked examples of CONTRIBUTING.md run, in the order of the text."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def test_python_blocks_run(tmp_path):
    blocks = re.findall(r"^```python\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)
    assert len(blocks) >= 3
    script = tmp_path / "examples.py"
    script.write_text("\n".join(blocks), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "error", str(script)],
        capture_output=True,
        check=False,
        env=os.environ | {"PYTHONUTF8": "1", "PYTHONPATH": str(ROOT / "src")},
    )
    assert (done.returncode, done.stderr.decode()) == (0, "")


def test_make_targets_and_folders_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"^make ([a-z-]+)", TEXT, re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_folders_and_files_exist():
    package = ROOT / "src" / "adjoint"
    rows = "\n".join(re.findall(r"^\| (`.*?) \|", TEXT, re.MULTILINE))
    folders = re.findall(r"`([\w/]+)/`", rows)
    assert {"frontend", "ir", "transform", "runtime", "rules", "tests/corpus"} <= set(folders)
    for folder in folders:
        assert (ROOT / folder if folder.startswith("tests/") else package / folder).is_dir(), folder
    for file in re.findall(r"`(\w+\.py)`", TEXT):
        assert (package / file).is_file(), file
    listed = {folder.split("/")[0] for folder in folders}
    assert {path.name for path in package.iterdir() if (path / "__init__.py").is_file()} <= listed
