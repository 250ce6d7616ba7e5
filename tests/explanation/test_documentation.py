"""What docs/explain.md says of its examples is what happens."""

import re
import subprocess
import sys
from pathlib import Path

from adjoint.explanation import events, observed_tape, page, run_graph, value_text

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "explain.md").read_text(encoding="utf-8")


def test_the_examples(tmp_path):
    code = re.findall(r"^```python\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)
    printed = re.findall(r"^```text\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)
    assert len(code) == len(printed) == 5
    (tmp_path / "model.py").write_text("\n".join(code), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "model.py"], cwd=tmp_path, capture_output=True, encoding="utf-8",
        check=True, env={"PYTHONPATH": str(ROOT / "src"), "PYTHONIOENCODING": "utf-8"},
    )  # fmt: skip
    found = done.stdout.replace(f"{tmp_path}/", "")
    assert [line.rstrip() for line in found.splitlines()] == "".join(printed).splitlines()


def test_the_limits():
    assert f"{events.MOST_EVENTS:,} operations" in TEXT and f"{events.MOST_CALLS} calls" in TEXT
    assert f"more than {value_text.KEPT} entries" in TEXT and "less than 1 MB" in TEXT
    assert f"the {run_graph.MOST_NODES} operations" in TEXT and page.MOST_BYTES < 10**6
    assert f"up to {observed_tape.JOURNAL_BYTES >> 20} MB" in TEXT
