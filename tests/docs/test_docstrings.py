"""Every public name has a complete docstring, and a place in docs/reference.

That the examples run is the subject of `tests/test_doctests.py`.
"""

import ast
import doctest
import inspect
import re
import textwrap
from pathlib import Path

import pytest

import adjoint as ad
from tests.public_names import DOCUMENTED, NAMES, Name, code_of

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
SECTION = re.compile(r"^([A-Z][A-Za-z ]+)\n(-+)$", re.MULTILINE)
ORDER = (
    "Parameters",
    "Attributes",
    "Returns",
    "Raises",
    "Warns",
    "See Also",
    "Notes",
    "References",
    "Examples",
)


def sections(docstring):
    """Return the text of each section by its heading; the summary is that of ``""``."""
    parts = SECTION.split(docstring)
    return {"": parts[0], **dict(zip(parts[1::3], parts[3::3], strict=True))}


def entries(section):
    """Return the text below each entry of a section, by the entry itself."""
    parts = re.split(r"^(\S.*)$", section, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def described(section):
    """Return the names of the parameters that a section describes, and what it says of each."""
    found = {}
    for head, text in entries(section).items():
        names, _, kind = head.partition(" : ")
        for name in names.split(","):
            found[name.strip().lstrip("*")] = f"{kind} {text.strip()}".strip()
    return found


def parameters(one):
    """Return the names of the parameters of a public function or class."""
    return [*inspect.signature(one.object).parameters]


def own_raises(one):
    """Return whether the code of a function, or the `__init__` of a class, has a ``raise``."""
    code = code_of(one)
    if isinstance(code, type):
        code = vars(code).get("__init__")
    if not inspect.isfunction(code):
        return False
    tree = ast.parse(textwrap.dedent(inspect.getsource(code)))
    inner = {
        node
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef) and function is not tree.body[0]
        for node in ast.walk(function)
    }
    return any(isinstance(node, ast.Raise) and node not in inner for node in ast.walk(tree))


def returns_nothing(one):
    code = code_of(one)
    return isinstance(code, type) or inspect.signature(code).return_annotation in ("None", None)


@pytest.mark.parametrize("one", DOCUMENTED, ids=str)
class TestSections:
    def test_summary(self, one):
        summary = sections(inspect.getdoc(one.object))[""].strip().partition("\n\n")[0]
        assert summary.endswith((".", ":")) and len(summary.splitlines()) <= 2

    def test_order(self, one):
        found = [name for name in sections(inspect.getdoc(one.object)) if name]
        assert found == sorted(found, key=ORDER.index)

    def test_each_parameter_is_described(self, one):
        found = described(sections(inspect.getdoc(one.object)).get("Parameters", ""))
        assert {*found} == {*parameters(one)}
        assert all(found.values()), found

    def test_the_result_is_described(self, one):
        if not returns_nothing(one):
            text = sections(inspect.getdoc(one.object))["Returns"]
            assert text.strip()

    def test_errors_are_named(self, one):
        if own_raises(one):
            assert entries(sections(inspect.getdoc(one.object))["Raises"])

    def test_there_is_an_example(self, one):
        text = sections(inspect.getdoc(one.object))["Examples"]
        assert doctest.DocTestParser().get_examples(text)

    def test_methods(self, one):
        """Public methods and properties of a class say what they do."""
        if isinstance(one.object, type):
            for name, method in vars(one.object).items():
                if callable(method) and not name.startswith("_"):
                    assert inspect.getdoc(method), name


@pytest.mark.parametrize("one", [one for one in NAMES if one.is_error], ids=str)
def test_errors(one):
    """Parameters are those of `AdjointError`."""
    assert vars(one.object)["__doc__"].partition("\n\n")[0].endswith(".")
    assert issubclass(one.object, ad.AdjointError | Warning)


# ---- the reference -------------------------------------------------------------------------------


def listed():
    """Yield the names that the pages of the reference have a place for."""
    for page in REFERENCE.glob("*.md"):
        module = "adjoint"
        for line in page.read_text(encoding="utf-8").splitlines():
            if found := re.fullmatch(r"\.\. currentmodule:: (\S+)", line):
                module = found[1]
            elif found := re.fullmatch(r"   (\w+)|\.\. (?:auto|py:)\w+:: (\w+)(?:\(.*\))?", line):
                yield Name(module, found[1] or found[2])


def test_every_public_name_has_one_place_in_the_reference():
    modules = [one for one in NAMES if one.is_module]
    places = sorted([*listed(), *modules])
    assert places == sorted([*NAMES, Name("adjoint.errors", "Place")])


def test_every_module_has_a_page():
    pages = {page.stem for page in REFERENCE.glob("*.md")}
    assert {one.name for one in NAMES if one.is_module} - {"datasets"} <= pages
