"""What docs/debugging.md says of its example is what happens."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "docs" / "debugging.md").read_text(encoding="utf-8")


def test_the_wrong_rule(tmp_path):
    (code,) = re.findall(r"^```python\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)
    (message,) = re.findall(r"^```text\n(RuleError.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)
    (tmp_path / "model.py").write_text(code, encoding="utf-8")
    command = [sys.executable, "model.py"]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=False,
        env={"PYTHONPATH": str(ROOT / "src"), "ADJOINT_CACHE": "off"},
    )  # fmt: skip
    error = done.stderr.partition("adjoint.errors.")[2].replace(f"{tmp_path}/", "")
    assert without_precision(error) == without_precision(message)


def without_precision(text):
    """The words without the precision of the differences, which depends on NumPy's instructions."""
    return re.sub(r"\(to [^)]*e-1[23]\)", "", text).split()
