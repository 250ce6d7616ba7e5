"""What docs/architecture.md says: its examples, its paths, its names in the code, its sizes; the
names in the code of docs/glossary.md."""

import ast
import contextlib
import io
import linecache
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "adjoint"
TEXT = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```$)?", TEXT, re.M | re.S)
"""Each example, and what it prints."""
GLOSSARY = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
RESULT = "# → "


@pytest.fixture(scope="module")
def found():
    """The results and the output of each example, and what it says of them."""
    space = {"__name__": "architecture"}
    return [ran(f"<architecture.md {i}>", text, space) for i, (text, _) in enumerate(BLOCKS)]


def ran(filename, text, space):
    """Run an example; return what it says and what it gives, line by line, and the output."""
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    lines, results, output = text.splitlines(), [], io.StringIO()
    with contextlib.redirect_stdout(output):
        for node in ast.parse(text).body:
            says = lines[node.end_lineno : node.end_lineno + 1]
            if says and says[0].startswith(RESULT):
                code = compile(ast.Expression(node.value), filename, "eval")
                results.append((says[0].removeprefix(RESULT), repr(eval(code, space))))
            else:
                exec(compile(ast.Module([node], []), filename, "exec"), space)
    return results, output.getvalue()


@pytest.mark.parametrize("i", range(len(BLOCKS)))
def test_an_example_gives_what_the_text_says(found, i):
    text, printed = BLOCKS[i]
    results, output = found[i]
    assert len(results) == text.count(RESULT)
    assert [says for says, _ in results] == [gives for _, gives in results]
    assert [line.rstrip() for line in output.rstrip().splitlines()] == printed.splitlines()


def test_each_text_is_the_output_of_an_example():
    assert TEXT.count("```text\n") == sum(bool(printed) for _, printed in BLOCKS) > 0


def test_paths_exist():
    paths = set(re.findall(r"[\w./]*\w(?:\.py\b|/(?=[` ]))", TEXT))
    assert {"rulekit/registry.py", "runtime/memory/", "tests/test_layers.py"} <= paths
    roots = (
        ROOT,
        PACKAGE,
        PACKAGE / "fast",
        PACKAGE / "rules/python/builtins",
        PACKAGE / "fast/evaluate",
    )
    missing = [path for path in paths if not any((root / path).exists() for root in roots)]
    assert sorted(missing) == []


def test_names_in_the_code_exist():
    names = re.findall(r"in the code: `(\w+)`", TEXT + GLOSSARY)
    assert len(names) > 8
    code = "\n".join(path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py"))
    assert [name for name in names if not re.search(rf"\b{name}\b", code)] == []


# ---- sizes ---------------------------------------------------------------------------------------


def sizes():
    """The number of files and of lines in each folder of the package."""
    folders = sorted(path.parent for path in PACKAGE.glob("*/__init__.py"))
    return {folder.name: _size(folder) for folder in folders}


def _size(folder):
    texts = [path.read_text(encoding="utf-8") for path in folder.rglob("*.py")]
    return len(texts), sum(text.count("\n") for text in texts)


def table():
    """The table of the document, with lines rounded to hundreds."""
    rows = [f"| `{name}/` | {files} | {lines:,} |" for name, (files, lines) in _rounded().items()]
    return "\n".join(["| folder | files | lines |", "|---|---|---|", *rows])


def _rounded():
    return {name: (files, max(round(lines, -2), 100)) for name, (files, lines) in sizes().items()}


def test_sizes():
    """Nearly: a change of a tenth, or of a few files, is none of the document's."""
    rows = re.findall(r"^\| `([\w/]+)/` \| (\d+) \| ([\d,]+) \|$", TEXT, re.M)
    told = {name: (int(files), int(lines.replace(",", ""))) for name, files, lines in rows}
    now = sizes()
    assert told.keys() == now.keys()
    for name, (files, lines) in told.items():
        assert files == pytest.approx(now[name][0], rel=0.1, abs=3), name
        assert lines == pytest.approx(now[name][1], rel=0.1, abs=300), name


if __name__ == "__main__":
    print(table())
