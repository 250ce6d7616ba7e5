"""The names of the library that users import, and how each is documented."""

import inspect
import types
from typing import NamedTuple

import numpy as np

import adjoint as ad

MODULES = {
    "adjoint": ad,
    "adjoint.nn": ad.nn,
    "adjoint.nn.datasets": ad.nn.datasets,
    "adjoint.optim": ad.optim,
    "adjoint.testing": ad.testing,
    "adjoint.value": ad.value,
}


class Name(NamedTuple):
    """A public name, such as ``adjoint.nn.mse``."""

    module: str
    name: str

    def __str__(self):
        return f"{self.module}.{self.name}"

    @property
    def object(self):
        return getattr(MODULES[self.module], self.name)

    @property
    def is_module(self):
        return isinstance(self.object, types.ModuleType)

    @property
    def is_error(self):
        return isinstance(self.object, type) and issubclass(self.object, Exception)

    @property
    def is_own(self):
        """Neither NumPy's own function nor the name of a type."""
        return (
            callable(self.object)
            and not isinstance(self.object, np.ufunc | types.GenericAlias)
            and type(self.object).__module__ != "collections.abc"
        )


NAMES = [Name(module, name) for module in MODULES for name in MODULES[module].__all__]
DOCUMENTED = [one for one in NAMES if one.is_own and not one.is_module and not one.is_error]
"""Functions and classes, without errors."""


def code_of(one):
    """The function that a name stands for, or the class."""
    return inspect.unwrap(one.object)
