"""The examples in docstrings."""

import doctest
import importlib
import inspect
import pkgutil

import numpy as np
import pytest

import adjoint as ad
import adjoint.explanation
import adjoint.nn
import adjoint.optim
import adjoint.pictures
import adjoint.value

MODULES = [
    "adjoint.derivatives.flat_vector",
    "adjoint.derivatives.tree_functions",
    "adjoint.tangent",
    *(
        module.name
        for package in (
            adjoint.explanation,
            adjoint.nn,
            adjoint.optim,
            adjoint.pictures,
            adjoint.value,
        )
        for module in pkgutil.iter_modules(package.__path__, package.__name__ + ".")
    ),
]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    of_users = {"__name__": "examples"}  # functions of the library itself are not differentiated
    assert doctest.testmod(importlib.import_module(name), extraglobs=of_users).failed == 0


def test_there_are_examples():
    finder = doctest.DocTestFinder(exclude_empty=True)
    tests = [t for name in MODULES for t in finder.find(importlib.import_module(name))]
    assert sum(bool(t.examples) for t in tests) >= 5


@pytest.mark.parametrize("name", sorted({*ad.__all__} - {"nn", "value", "testing", "errors"}))
def test_examples_of_public_functions(name):
    """As a user runs them: not as code of the module that defines the function."""
    public = {each: getattr(ad, each) for each in ad.__all__}
    globs = {**public, "ad": ad, "np": np, "__name__": "__main__"}
    value = inspect.unwrap(getattr(ad, name))
    (test,) = doctest.DocTestFinder(recurse=False).find(value, name, globs=globs)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    runner.run(test)
    assert runner.failures == 0
