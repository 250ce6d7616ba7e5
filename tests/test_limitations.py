"""What docs/limitations.md says of each example is what happens, in the order of the text."""

import ast
import linecache
import re
from pathlib import Path

import pytest

import adjoint as ad

TEXT = (Path(__file__).parents[1] / "docs" / "limitations.md").read_text(encoding="utf-8")
FILENAME = "<limitations.md>"
LINES = TEXT.splitlines()
EXPECTED = {i: line[4:] for i, line in enumerate(LINES, 1) if line.startswith("# → ")}
"""The results, by line."""


def source():
    """The examples as one file, with an empty line for each line of prose."""
    lines, inside = [], False
    for line in LINES:
        fence = line.startswith("```")
        inside = line == "```python" if fence else inside
        lines.append(line if inside and not fence else "")
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def found():
    """What each example gives: its value, or its error."""
    text, outcomes = source(), {}
    linecache.cache[FILENAME] = (len(text), None, text.splitlines(keepends=True), FILENAME)
    tree = ast.parse(text)
    for i, node in enumerate(tree.body):
        if node.end_lineno + 1 in EXPECTED:
            tree.body[i] = kept(node)
    exec(
        compile(ast.fix_missing_locations(tree), FILENAME, "exec"),
        {"__name__": "limitations", "outcomes": outcomes, "AdjointError": ad.AdjointError},
    )
    return outcomes


def kept(node):
    """The statement, with its value or its error put into `outcomes`."""
    frame = ast.parse(
        "try: outcomes[0] = 0\nexcept AdjointError as error: outcomes[0] = error"
    ).body
    (guarded,) = frame
    for assignment in (guarded.body[0], guarded.handlers[0].body[0]):
        assignment.targets[0].slice.value = node.end_lineno + 1
    guarded.body[0].value = node.value
    return guarded


@pytest.mark.parametrize("line", EXPECTED)
def test_an_example_gives_what_the_text_says(found, line):
    outcome = found[line]
    if isinstance(outcome, ad.AdjointError):
        assert outcome.hint, "a refusal says what to do"
        assert f"{type(outcome).__name__}: {outcome.problem}" == EXPECTED[line]
    else:
        assert repr(outcome) == EXPECTED[line]


def test_links_lead_to_sections():
    links = set(re.findall(r"\]\(#([^)]*)\)", TEXT))
    assert len(links) > 8
    assert sorted(links - anchors()) == []


def test_each_class_of_errors_has_a_section():
    classes = [one for one in vars(ad.errors).values() if isinstance(one, type)]
    errors = [one for one in classes if issubclass(one, ad.AdjointError)]
    assert len(errors) > 8
    links = {one("problem").link for one in errors}
    assert {link.partition("limitations.md#")[2] for link in links} <= anchors()


def anchors():
    headings = re.findall(r"^#+ (.*)$", TEXT, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
