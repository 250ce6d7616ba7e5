"""The examples in docstrings, each run once, and as users run them."""

import doctest
import importlib
import re
from pathlib import Path

import numpy as np
import pytest

import adjoint as ad
from tests.public_names import DOCUMENTED, code_of

SOURCE = Path(ad.__file__).parent
MODULES = sorted(
    ".".join(["adjoint", *path.relative_to(SOURCE).with_suffix("").parts])
    for path in SOURCE.rglob("*.py")
    if re.search(r"^ *>>> ", path.read_text(encoding="utf-8"), re.MULTILINE)
)
FINDER = doctest.DocTestFinder(exclude_empty=True)


def examples(name):
    """Return the tests of a module, one for each docstring that has examples.

    They are not code of the module, which is not differentiated; and the public names are known.
    """
    found = FINDER.find(importlib.import_module(name.removesuffix(".__init__")))
    tests = [test for test in found if test.examples]
    for test in tests:
        public = {each: getattr(ad, each) for each in ad.__all__}
        test.globs = {**test.globs, **public, "ad": ad, "np": np, "__name__": "__main__"}
    return tests


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    for test in examples(name):
        runner.run(test, clear_globs=False)  # rules that it registers read them later
    assert runner.failures == 0


def test_those_of_public_names_are_among_them():
    of_module = {code_of(one).__module__: set() for one in DOCUMENTED}
    for name in of_module:
        of_module[name] = {test.name for test in examples(name)}
    for one in DOCUMENTED:
        code = code_of(one)
        code = code if hasattr(code, "__qualname__") else type(code)
        assert f"{code.__module__}.{code.__qualname__}" in of_module[code.__module__]
