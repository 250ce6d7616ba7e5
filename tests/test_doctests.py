"""The examples in docstrings."""

import doctest
import importlib
import pkgutil

import pytest

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
