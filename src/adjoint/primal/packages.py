"""What is known of packages, by their names: everything that is not named here is the user's code,
wherever it lies.

`sys.stdlib_module_names` says which modules are Python's own. What is said of a package holds for
its functions as they are; modules whose functions store what they are given stand beside it.
"""

from __future__ import annotations

import os
import sys
from functools import cache
from types import CodeType
from typing import Any

_VJP = (
    "differentiate it by {0} itself, as the rule of a function that takes and returns NumPy's"
    " arrays: @ad.rrule.register(f), with the value and the pullback by {1}"
)
FOREIGN = {
    "jax": _VJP.format("JAX", "'y, vjp = jax.vjp(g, x)'"),
    "jaxlib": _VJP.format("JAX", "'y, vjp = jax.vjp(g, x)'"),
    "tensorflow": _VJP.format("TensorFlow", "'tf.GradientTape'"),
    "torch": _VJP.format("PyTorch", "'torch.autograd.grad(y, x, y_bar)'"),
}
"""Packages with arrays and derivatives of their own, with what to do about that."""

COMPILING = frozenset(FOREIGN) | {"cffi", "llvmlite", "numba", "numexpr"}
"""Packages that compile what they are given: neither that nor what they call is watched."""

LEFT_ALONE = COMPILING | frozenset(
    """IPython _pytest abc ast contextvars fractions gzip hypothesis importlib inspect ipykernel
    lazy_loader
    linecache logging pathlib pytest re shutil sqlite3 subprocess tempfile threading tokenize
    tornado traceback typing unittest urllib warnings zipfile zmq""".split()
)
"""Packages of which nothing is lowered: they return no reals."""

FOLLOWED = frozenset({"unittest.mock", "_pytest.monkeypatch"})
"""Modules of those packages that are code like any other: they put things where they are told, and
give them out again."""

HIDING = frozenset(
    "_pytest gc hypothesis logging pickle pytest signal sqlite3 threading unittest warnings"
    " weakref".split()
)
"""Packages that keep functions of the user's, and call them whatever they are given."""

TRUSTED = LEFT_ALONE | frozenset(
    "codecs datetime dis encodings enum genericpath io json locale ntpath numpy os posixpath stat"
    " string time token types weakref".split()
)
"""Packages whose own code stores nothing unseen; what they call back is watched."""

GIVING = frozenset({"_weakrefset", "logging", "weakref"})
"""Modules whose own code stores nothing unseen, but gives what it holds to who asks for it."""

LIBRARIES = frozenset({"astropy", "numpy", "pandas", "scipy", "sklearn", "statsmodels"})
"""Packages whose modules and classes hold nothing that carries a derivative, and which know nothing
of this library: their functions store in what they are given, as far as they store anything. All
of what they assign to global variables, to elements of these and to attributes of classes was read
for that, which is little."""

STORING = {
    "astropy.utils.state": frozenset({"ScienceState.set", "ScienceState.validate"}),
    "scipy.interpolate._fitpack_impl": frozenset({"bisplrep"}),
    "weakref": frozenset(
        f"Weak{kind}Dictionary.{name}"
        for kind in ("Key", "Value")
        for name in ("__setitem__", "setdefault", "update")
    ),
}
"""Functions of packages that are trusted or known which do store what they are given: in a global
variable, in a class, or in a container that is their object's own."""


def is_of_a_library(module: Any, function: CodeType | None = None) -> bool:
    """Whether a module of that name is Python's own or of a package that is known, and a function
    of it is not one of those that store."""
    name = package(module)
    if function is not None and stores(module, function):
        return False
    return name in LIBRARIES or name in TRUSTED or name in sys.stdlib_module_names


def stores(module: Any, function: CodeType) -> bool:
    """Whether a function of a module is one of those of known packages that store."""
    return module in FOLLOWED or function.co_qualname in STORING.get(module, ())


def package(module: Any) -> str:
    """The package that a module of that name belongs to; none for one of the user's that bears the
    name of one of Python's."""
    if type(module) is not str:
        return ""
    name = module.partition(".")[0]
    return "" if name in sys.stdlib_module_names and _is_shadowed(name) else name


_STANDARD = os.path.dirname(os.__file__)


@cache
def _is_shadowed(name: str) -> bool:
    """Whether what is imported by the name of one of Python's modules is another one."""
    found = vars(sys.modules.get(name, sys))
    file, own = found.get("__file__") or "", str(found.get("__name__", name)).split(".")
    return file.endswith(".py") and not file.startswith(os.path.join(_STANDARD, *own))
