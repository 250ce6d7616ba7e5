"""No file of src/adjoint imports from a layer above its own; no files import each other in a loop.

Imports inside functions and under `TYPE_CHECKING` count.
"""

import ast
import importlib.util
import re
import sys
from pathlib import Path

import numpy as np

import adjoint as ad
from adjoint.rulekit import loading

ROOT = Path(__file__).parents[1] / "src" / "adjoint"
LAYERS = """ir pictures | errors locks tangent | primal | frontend | transform | emit | diagnostics
| cotangents | rulekit | runtime/memory | runtime/foreign | runtime/cache | runtime/dispatch
| runtime/recompute
| runtime/arrays | runtime/operators | runtime/python | runtime | levels | rules | extensions
| fast/not_covered
| fast/single_assignment | fast/support | fast/evaluate | fast/passes | fast/reverse | fast/forward
| fast/batch | fast/nested
| fast/source | fast/build | fast/entry_code | fast/programs | fast | api | derivatives
| testing standalone | explanation | optim | nn value | __init__ | demo command_line
| profile __main__"""
RANK = {part: i for i, layer in enumerate(LAYERS.split("|")) for part in layer.split()}
FILES = {
    path.relative_to(ROOT).with_suffix("").as_posix().removesuffix("/__init__"): path
    for path in ROOT.rglob("*.py")
}


def rank(name):
    return RANK[max((part for part in RANK if f"{name}/".startswith(f"{part}/")), key=len)]


def imports(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            parts = [f"{node.module}.{alias.name}" for alias in node.names]
            names = parts if all(map(_file, parts)) else [str(node.module), *parts]
        yield from filter(None, map(_file, names))


def _file(name):
    file = name.removeprefix("adjoint.").replace(".", "/")
    return file if file in FILES else None


PAIRS = {(a, b) for a, path in FILES.items() for b in imports(path) if a != b}


def test_no_import_of_a_higher_layer():
    assert sorted(f"{a} -> {b}" for a, b in PAIRS if rank(b) > rank(a)) == []


def test_nobody_imports_an_extension():
    """Neither by a statement nor by name: they are found by the entry points of packages."""
    imported = {(a, b) for a, b in PAIRS if b.startswith("extensions/")}
    assert sorted(f"{a} -> {b}" for a, b in imported if not a.startswith("extensions/")) == []
    named = {
        name
        for name, path in FILES.items()
        if not name.startswith("extensions") and "adjoint.extensions." in path.read_text("utf-8")
    }
    assert named == {"runtime/foreign/user_code_reach"}  # which tells rules from the user's code


def test_no_cycle():
    left = {pair for pair in PAIRS if FILES[pair[1]].name != "__init__.py"}
    while ready := left - _inside(left):
        left -= ready
    assert sorted(left) == []


def _inside(pairs):
    """Those whose importer is imported, and whose imported file imports."""
    importing, imported = ({pair[i] for pair in pairs} for i in (0, 1))
    return {(a, b) for a, b in pairs if a in imported and b in importing}


REGISTERS = re.compile(
    r"^@[\w.]*(formula|register|handler|rule|substitute|primitive|structural|shape_of)", re.M
)
"""A decorator at the beginning of a line that puts what it decorates into a table."""


def test_every_file_that_registers_something_is_loaded():
    loading.find_extensions()
    for package in list(loading._libraries):
        if importlib.util.find_spec(package.partition(".")[0]):
            loading.load(package)
    ad.gradient(lambda x: np.sum(ad.nn.relu(x)), np.ones(2))
    registering = [
        name for name, path in FILES.items() if REGISTERS.search(path.read_text("utf-8"))
    ]
    names = {f"adjoint.{name.replace('/', '.')}" for name in registering}
    names |= {f"adjoint.{name.replace('/', '.')}" for name in FILES if name.startswith(RULES)}
    not_loaded = names - set(sys.modules)
    assert sorted(name for name in not_loaded if not name.startswith(LAZY)) == []


LAZY = "adjoint.frontend.bytecode."
"""A package that is loaded whole when it is needed."""
RULES = ("rules/", "extensions/")
