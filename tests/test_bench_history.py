"""`make bench-history`: runs are appended, and printed as a table by machine."""

import json
from pathlib import Path

import pytest
from benchmarks import history
from benchmarks.harness import Line

ROOT = Path(__file__).parents[1]


def lines(value):
    return {
        "scalar": [Line("loop", value, "x", 2.0), Line("branch", 3.0, "us")],
        "large": [Line("exp", 1.0, "x")],
    }


@pytest.fixture
def path(tmp_path):
    return tmp_path / "history.jsonl"


def test_a_run_is_appended(path):
    history.append(lines(1.5), path)
    history.append(lines(1.2), path)
    first, second = history.records(path)
    assert [run["figures"][0]["value"] for run in (first, second)] == [1.5, 1.2]
    assert first["figures"][0] == {
        "module": "scalar", "name": "loop", "value": 1.5, "unit": "x", "bar": 2.0,
        "at_least": False,
    }  # fmt: skip
    assert set(first["machine"]) == {"cpu", "cores", "system", "python", "numpy"}
    assert all(first["machine"].values()) and first["date"].endswith("+00:00")


def test_the_commit_is_kept(path, monkeypatch):
    answers = {"rev-parse": "f00dfeed" * 5, "status": " M src/adjoint/errors.py"}
    monkeypatch.setattr(history, "_git", lambda command, *_: answers[command])
    history.append(lines(1.0), path)
    (run,) = history.records(path)
    assert run["commit"] == "f00dfeed" * 5 and run["changed"]
    assert "f00dfee*" in history.table([run])


def test_where_there_is_no_git(path, monkeypatch):
    monkeypatch.setenv("PATH", "")
    history.append(lines(1.0), path)
    (run,) = history.records(path)
    assert run["commit"] is None and "?" in history.table([run])


@pytest.mark.parametrize(
    "rest", ['{"date": "2026-', "{}", "[1]", '"text"', "\xff", "null", '{"date": 3}']
)
def test_a_broken_last_line_is_left_out(path, rest, capsys):
    history.append(lines(1.5), path)
    with open(path, "ab") as file:
        file.write(rest.encode("latin-1"))
    assert len(list(history.records(path))) == 1
    assert "history.jsonl:2 is no record of a run" in capsys.readouterr().err
    history.append(lines(1.2), path)
    assert [run["figures"][0]["value"] for run in history.records(path)] == [1.5, 1.2]


def test_no_file(path):
    assert list(history.records(path)) == []
    assert history.table(history.records(path)) == "no runs: make bench\n"


def run_of(value, cpu="one", commit="aaaaaaaaa", day="01"):
    record = history.record_of(lines(value))
    record |= {"commit": commit, "date": f"2026-01-{day}T00:00:00+00:00", "changed": False}
    return json.loads(json.dumps(record | {"machine": {"cpu": cpu}}))


def test_table():
    runs = [
        run_of(2.0, commit="a" * 40), run_of(7.0, cpu="two"),
        run_of(1.5, commit="b" * 40, day="02"),
    ]  # fmt: skip
    assert history.table(runs) == (
        "cpu one\n"
        "               2026-01-01  2026-01-02\n"
        "                  aaaaaaa     bbbbbbb    change\n"
        "scalar\n"
        "  loop (x)              2         1.5    -25.0%\n"
        "  branch (us)           3           3     +0.0%\n"
        "large\n"
        "  exp (x)               1           1     +0.0%\n"
        "\n"
        "cpu two\n"
        "               2026-01-01\n"
        "                  aaaaaaa    change\n"
        "scalar\n"
        "  loop (x)              7\n"
        "  branch (us)           3\n"
        "large\n"
        "  exp (x)               1\n"
    )


def test_a_run_of_some_modules():
    partial = run_of(1.0)
    partial["figures"] = partial["figures"][:1]
    text = history.table([run_of(2.0), partial], last=2)
    assert "  loop (x)              2           1    -50.0%" in text
    assert "  exp (x)               1\n" in text
    assert "exp" not in history.table([run_of(2.0), partial], ["scalar"])
    assert history.table([partial], ["large"]) == "no runs: make bench\n"
    assert "2026-01-01  2026" not in history.table([run_of(2.0), partial], last=1)


def test_the_file_is_not_tracked():
    assert "/benchmarks/history.jsonl" in (ROOT / ".gitignore").read_text().splitlines()
