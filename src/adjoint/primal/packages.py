"""Facts about packages, by name; code of all other packages is user code, wherever it lies.

`sys.stdlib_module_names` tells which modules are Python's own. A fact holds for the functions of a
package as they are; functions that store their operands are listed separately.
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
"""Packages with their own arrays and derivatives, each with the advice of the error."""

COMPILING = frozenset(FOREIGN) | {"cffi", "llvmlite", "numba", "numexpr"}
"""Packages that compile their operands: neither their code nor their callees are watched."""

INERT = COMPILING | frozenset(
    """IPython _pytest abc ast contextvars fractions gzip hypothesis importlib inspect ipykernel
    lazy_loader
    linecache logging pathlib pytest re shutil sqlite3 subprocess tempfile threading tokenize
    tornado traceback typing unittest urllib warnings zipfile zmq""".split()
)
"""Inert packages: nothing of them is lowered, and they return no reals."""

FOLLOWED = frozenset({"unittest.mock", "_pytest.monkeypatch"})
"""Modules of these packages that are treated like user code: they store what they are told to and
return it later."""

HIDING = frozenset(
    "_pytest gc hypothesis logging pickle pytest signal sqlite3 threading unittest warnings"
    " weakref".split()
)
"""Packages that store user functions and may call them in any later call."""

TRUSTED = INERT | frozenset(
    "codecs datetime dis encodings enum genericpath io json locale ntpath numpy os posixpath stat"
    " string time token types typing_extensions weakref".split()
)
"""Packages whose own code stores nothing out of sight; only their callbacks are watched."""

LIBRARIES = frozenset({"astropy", "narwhals", "numpy", "pandas", "scipy", "sklearn", "statsmodels"})
"""Packages whose modules and classes hold nothing active, and which do not know this library: their
functions store only in their operands. This was checked by reading everything that they assign to
global variables, their elements and class attributes."""

CACHING = frozenset(
    """absl colorama coloredlogs colorlog dateutil jupyter_client markdown_it mpmath pint pygments
    pythonjsonlogger pytz pytz_deprecation_shim rich sympy tqdm traitlets tzlocal""".split()
)
"""Packages that store something when C or `logging` calls them, but give it back to nobody: hashes,
zones by name, what they show. Numbers that they calculate with have no derivatives."""

STORING = {
    "astropy.utils.state": frozenset({"ScienceState.set", "ScienceState.validate"}),
    "scipy.interpolate._fitpack_impl": frozenset({"bisplrep"}),
    "weakref": frozenset(
        f"Weak{kind}Dictionary.{name}"
        for kind in ("Key", "Value")
        for name in ("__setitem__", "setdefault", "update")
    ),
}
"""Functions of trusted or known packages that do store their operands: in a global variable, a
class, or a container of their object."""


def is_of_a_library(module: Any, function: CodeType | None = None) -> bool:
    """Return whether a module is Python's or known, and `function` is not one that stores."""
    name = package(module)
    if function is not None and stores(module, function):
        return False
    return name in LIBRARIES or name in TRUSTED or name in sys.stdlib_module_names


def stores(module: Any, function: CodeType) -> bool:
    """Return whether a function of a module is one of those of known packages that store."""
    return module in FOLLOWED or function.co_qualname in STORING.get(module, ())


def package(module: Any) -> str:
    """Return the package of a module name; empty for a user module that shadows one of Python's."""
    if type(module) is not str:
        return ""
    name = module.partition(".")[0]
    return "" if name in sys.stdlib_module_names and _is_shadowed(name) else name


_STANDARD = os.path.dirname(os.__file__)


@cache
def _is_shadowed(name: str) -> bool:
    """Return whether a module of the user is imported under the name of one of Python's."""
    found = vars(sys.modules.get(name, sys))
    file, own = found.get("__file__") or "", str(found.get("__name__", name)).split(".")
    return file.endswith(".py") and not file.startswith(os.path.join(_STANDARD, *own))
