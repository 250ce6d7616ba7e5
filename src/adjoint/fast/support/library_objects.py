"""Which functions of libraries, and which objects, segments of a program may have steps with.

The functions of `adjoint.primal.packages.LIBRARIES` store in nothing but their operands. Those that
name files, settings or variables of their caller are left out by name.
"""

from __future__ import annotations

import operator
import re
import sys
from types import BuiltinFunctionType, FunctionType
from typing import Any

from adjoint.fast.support.opaque_functions import has_no_effects
from adjoint.fast.support.segments import OPERATORS
from adjoint.primal.packages import LIBRARIES, is_of_a_library, package
from adjoint.rulekit.registry import lookup

HEAP_TYPE = 1 << 9
"""The flag of classes that Python code has made."""
_PACKAGES = LIBRARIES - {"numpy", "scipy"}
_ACTING = re.compile(
    r"(to_(?!numpy$|dict$|list$|frame$|records$|series$|value$|period$|timestamp$|flat_index$|array$"
    r"|string$|datetime$|timedelta$|numeric$)"
    r"|read|write|save|load|fetch|dump|plot|hist$|boxplot|eval$|query$|open|download|export|register"
    r"|enable|disable|add_|print|show|info$|exec|def_unit|use_|import|clear|set_(?!index$|axis$|params$))"
)
"""Names of functions that read or write files, settings, or variables of their caller."""
_READING = frozenset(
    {getattr, hasattr, len, isinstance, type, bool, float, int, complex, abs, round, divmod, list}
    | {operator.getitem, operator.setitem, operator.delitem, setattr, delattr, operator.contains}
    | OPERATORS
)
"""Functions of Python that do nothing but what classes of their operands define."""


def is_acting(name: str) -> bool:
    """Return whether functions of a library of that name may act on more than objects."""
    return _ACTING.match(name.lstrip("_")) is not None


def is_library_class(cls: Any) -> bool:
    """Return whether objects of a class may be left to segments."""
    return package(cls.__module__) in _PACKAGES and not issubclass(cls, type | BaseException)


def is_library_function(f: Any, namespace: dict[str, Any] | None = None) -> bool:
    """Return whether `f` is a function or a class of a library, or code with the globals
    `namespace`."""
    if namespace is not None or type(f) is FunctionType:
        home: Any = (f.__globals__ if namespace is None else namespace).get("__name__")
        return package(home) in _PACKAGES
    if isinstance(f, type):
        return is_library_class(f)
    return type(f) is BuiltinFunctionType and package(f.__module__) in _PACKAGES


def is_public(f: FunctionType) -> bool:
    """Return whether a function is defined in a module under a name for users."""
    found = vars(sys.modules.get(f.__module__, sys)).get(f.__name__)
    return getattr(found, "__code__", None) is f.__code__ and not f.__name__.startswith("_")


def is_quiet(f: Any) -> bool:
    """Return whether a known function or class has no effects but its result and, if it is one of
    the operators, what it does to an object."""
    if isinstance(f, type):
        return not f.__flags__ & HEAP_TYPE or is_of_a_library(f.__module__)
    return may_be_step(f) or (is_library_function(f) and not is_acting(f.__name__))


def may_be_step(f: Any) -> bool:
    """Return whether a function of Python or NumPy may be called with objects of libraries."""
    try:
        if f in _READING:
            return True
    except TypeError:
        return False
    rules = lookup(f)
    return has_no_effects(f) and (rules is None or not rules.overridden)
