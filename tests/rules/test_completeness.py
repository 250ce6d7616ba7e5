"""Nothing is registered without a test: of any kind, in extensions too.

Rules (`rrule`, `frule`) have a line in a table of tests/rules. Of the other kinds each key has such
a line, or is named in a test, by its name or by an operator, or is listed in `tests.rules.reached`.
"""

import ast
import re
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import adjoint as ad
from adjoint.rulekit import registry
from tests.rules.harness import all_cases, load_all_extensions, load_all_rules, name_of
from tests.rules.reached import REACHED, UNSEEN

CUSTOM = sys.modules["adjoint.api.custom"].__file__
TESTS = Path(__file__).parents[1]
KINDS = "inactive substitute structural primitive leveled lane".split()


class Unhashable:
    """A callable that is registered by its identity."""

    __hash__ = None

    def __call__(self, x):
        return x


def test_what_tests_register_is_left_out():
    unhashable = Unhashable()
    ad.non_differentiable(unhashable)
    found = [registry.function_of(key) for key in registry.table]
    assert any(f is unhashable for f in found)
    assert all(registry.function_of(key) is not unhashable for key, _ in registered())


def test_every_rule_has_a_case():
    cases = all_cases()
    without = [
        name_of(key)
        for key, rules in registered()
        if (rules.rrules or rules.frules) and key not in cases
    ]
    assert not without, f"rules without a line in tests/rules: {sorted(without)}"


@pytest.mark.parametrize("kind", KINDS)
def test_every_registration_is_tested(kind):
    without = untested(kind) - listed()
    assert not without, f"registered as {kind}, without a test: {sorted(without)}"


def test_nothing_is_listed_that_has_a_test():
    known = {label(key) for key, _ in registered()}
    needed = set().union(*map(untested, KINDS))
    assert sorted(listed() & known - needed) == []
    assert all((TESTS / file).is_file() for file in REACHED)
    assert len(names_in(UNSEEN)) <= MOST_UNSEEN


MOST_UNSEEN = 168
"""How many of the registered functions no measured test meets. This number only shrinks."""


def registered():
    """What the table of rules holds, but for what belongs to tests and examples of documents."""
    load_all_rules()
    load_all_extensions()
    return [(key, rules) for key, rules in registry.table.items() if not is_a_tests(key)]


def is_a_tests(key):
    """Whether it belongs to a test, or to an example in a document that was run before.

    The library registers nothing by its identity.
    """
    if isinstance(key, tuple) and key[0] == "unhashable":
        return True
    module = getattr(key[0] if isinstance(key, tuple) else key, "__module__", None)
    filename = getattr(getattr(key, "__code__", None), "co_filename", "")
    made_here = isinstance(module, str) and (
        module.startswith("tests") or module not in sys.modules
    )
    from_python = isinstance(key, np.ufunc) and key.__name__.endswith("(vectorized)")
    return made_here or from_python or filename.startswith(("<string", CUSTOM))


@cache
def untested(kind):
    """The labels of what is registered as a kind, and neither has a line nor is named."""
    cases, words = all_cases(), named_in_tests()
    return {
        label(key)
        for key, rules in registered()
        if (rules.lane[1] if kind == "lane" else getattr(rules, kind))
        and not module_of(key).startswith("adjoint.")  # steps of rules, which have lines
        and key not in cases
        and re.split(r"[.:]", label(key))[-1] not in words
    }


def module_of(key):
    owner = key[0] if isinstance(key, tuple) else key
    return str(getattr(owner, "__module__", None) or type(owner).__module__)


def label(key):
    """``module:name``, or ``module:Class.name``; names have no spaces, and nothing
    that C++ adds."""
    name = getattr(key, "__qualname__", None) or name_of(key)
    name = re.sub(r"pybind11_[a-z0-9_]+[.]", "", name)
    return f"{module_of(key)}:{name.replace(' ', '_')}"


def listed():
    return set().union(*map(names_in, (*REACHED.values(), UNSEEN)))


def names_in(modules):
    """Labels, from a dict of names by module."""
    return {f"{module}:{name}" for module, names in modules.items() for name in names.split()}


# ---- what the tests name -------------------------------------------------------------------------

OPERATORS = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.MatMult: "matmul",
    ast.Div: "truediv",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Pow: "pow",
    ast.LShift: "lshift",
    ast.RShift: "rshift",
    ast.BitAnd: "and",
    ast.BitOr: "or",
    ast.BitXor: "xor",
    ast.NotEq: "ne",
    ast.GtE: "ge",
}
"""Those whose special methods somebody may call without naming them."""


@cache
def named_in_tests():
    """All names, words in strings, and special methods of operators in files of tests."""
    words = set()
    for path in TESTS.rglob("*.py"):
        if path.name not in ("reached.py", Path(__file__).name):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                words.update(words_of(node))
    return words


def words_of(node):
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.keyword(arg=str(name)):
            return [name]
        case ast.alias(name=name) | ast.Constant(value=str(name)):
            return re.findall(r"\w+", name)
        case ast.BinOp(op=op):
            name = OPERATORS.get(type(op))
            return [f"__{name}__", f"__r{name}__"]
        case ast.AugAssign(op=op):
            return [f"__i{OPERATORS.get(type(op))}__"]
        case ast.Compare(ops=ops):
            return [f"__{OPERATORS.get(type(op))}__" for op in ops]
    return []
