"""Copies of the functions that a program calls, with all that these need."""

from __future__ import annotations

import ast
import builtins
import dis
import inspect
import sys
import textwrap
from collections.abc import Iterator
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from adjoint.primal.packages import package
from adjoint.standalone.literals import NoLiteral, literal
from adjoint.standalone.numpy_only import SUBSTITUTES, array_rule

PUBLIC = ("numpy", "numpy.linalg", "numpy.fft", "math", "cmath", "operator", "scipy.special",
          "scipy.linalg", "scipy.fft", "scipy.signal", "scipy.ndimage")  # fmt: skip
"""Modules in which public functions of compiled code are looked for."""
IMPORTED = frozenset({"numpy", "scipy", "math", "cmath", "operator", "itertools", "functools"})


OWN_NAMES = ("TYPES", "EXAMPLE", "NAMES", "COUNT", "gradient", "value_and_gradient")
"""Names of a standalone file that nothing else may have; others begin with an underscore."""


class NotExported(Exception):
    """What a standalone file cannot hold."""


class Helpers:
    """Statements that define names, each once.

    Attributes
    ----------
    imports
        Lines that import modules and functions.
    lines
        Definitions, in an order in which they can run.
    """

    def __init__(self) -> None:
        self.imports: dict[str, None] = {"import numpy as np": None}
        self.lines: list[str] = []
        self._values: dict[str, Any] = {"np": np, **dict.fromkeys(OWN_NAMES, self)}

    def define(self, name: str, value: Any) -> None:
        """Define `name` as `value`.

        Raises
        ------
        NotExported
            It cannot be written, or the name is another thing already.
        """
        value = SUBSTITUTES.get(id(value), value)
        if name in self._values:
            if self._values[name] is not value:
                raise NotExported(f"two things that are called '{name}'")
            return
        self._values[name] = value
        if isinstance(value, ModuleType):
            self._import_module(name, value)
        elif (path := public_path(value)) is not None:
            module, _, own = path.rpartition(".")
            self._import(module, own, name)
        elif type(value) is FunctionType:
            self._copy(name, value)
        elif isinstance(value, type) and issubclass(value, Exception):
            self.lines.append(f'class {name}(Exception):\n    """{_first_line(value)}"""')
        else:
            self.constant(name, value)

    def free(self, name: str) -> str:
        """Return a name that nothing has yet."""
        while name in self._values or hasattr(builtins, name):
            name += "_"
        return name

    def constant(self, name: str, value: Any) -> None:
        """Write an assignment of a constant."""
        self._values[name] = value
        try:
            self.lines.append(f"{name} = {literal(value)}")
        except NoLiteral as error:
            raise NotExported(str(error)) from None

    def _import_module(self, name: str, module: ModuleType) -> None:
        path = module.__name__
        if package(path) not in IMPORTED:
            raise NotExported(f"the module '{path}'")
        self.imports[f"import {path}" + (f" as {name}" if name != path else "")] = None

    def _import(self, module: str, own: str, name: str) -> None:
        if module == "numpy" or module.startswith("numpy."):
            inside = module.removeprefix("numpy").lstrip(".")
            self.lines.append(f"{name} = np.{inside}{'.' if inside else ''}{own}")
            return
        self.imports[f"from {module} import {own}" + (f" as {name}" if own != name else "")] = None

    def _copy(self, name: str, f: FunctionType) -> None:
        if (plan := _plan_of(f)) is not None:
            self._array_rule(name, plan)
            return
        if name != f.__name__ and f.__name__ != "_":
            self.define(f.__name__, f)
            self.lines.append(f"{name} = {f.__name__}")
            return
        if f.__closure__ or f.__name__ == "<lambda>" or package(f.__module__) != "adjoint":
            raise NotExported(_described(f))
        for needed in _global_names(f.__code__):
            if needed in f.__globals__ and not hasattr(builtins, needed):
                if needed != f.__name__:
                    self.define(needed, f.__globals__[needed])
        self.lines.append(_source(f).replace("def _(", f"def {name}(", 1))

    def _array_rule(self, name: str, plan: Any) -> None:
        """Define what `adjoint.rules.numpy.operands.array_rule` has made of a rule."""
        rule = self.free(f"{name}_rule")
        self.define("array_rule", array_rule)
        self.define(rule, plan.function)
        places = tuple(map(plan.order.index, plan.operands))
        self.lines.append(f"{name} = array_rule({rule}, {places!r}, {plan.nested!r})")


def public_path(f: Any) -> str | None:
    """Return the dotted name by which everybody finds a compiled or a public function."""
    owner = getattr(f, "__self__", None)
    if isinstance(owner, np.ufunc):  # ``np.add.reduce``
        inner = public_path(owner)
        return None if inner is None else f"{inner}.{f.__name__}"
    is_own = type(f) is FunctionType and package(f.__module__) == "adjoint"
    if not isinstance(f, np.ufunc | BuiltinFunctionType | FunctionType | _DISPATCHER) or is_own:
        return None
    name = f.__name__
    for module in PUBLIC:
        if module in sys.modules and getattr(sys.modules[module], name, None) is f:
            return f"{module}.{name}"
    return None


_DISPATCHER: Any = type(np.mean)


def _plan_of(f: FunctionType) -> Any:
    """Return what a rule of NumPy's array functions is made of; ``None`` for other functions."""
    if f.__qualname__ != "array_rule.<locals>.add.<locals>.placed":
        return None
    return inspect.getclosurevars(f).nonlocals["plan"]


def _described(f: FunctionType) -> str:
    what = f.__qualname__.partition(".<locals>")[0]
    if package(f.__module__) == "adjoint":
        names = [
            cell.cell_contents
            for cell in f.__closure__ or ()
            if callable(getattr(cell, "cell_contents", None))
        ]
        of = next((x.__name__ for x in names if public_path(x)), None)
        return f"the rule of '{of}'" if of else f"a rule of the library ('{what}')"
    return f"the function '{f.__module__}.{what}', which the program calls as it is"


def _global_names(code: CodeType) -> Iterator[str]:
    """Yield the global names that a function and its inner functions read, in order."""
    for one in dis.get_instructions(code):
        if one.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            yield one.argval
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _global_names(inner)


def _source(f: FunctionType) -> str:
    """Return the source of a function without its decorators."""
    text = textwrap.dedent(inspect.getsource(f))
    (node,) = ast.parse(text).body
    assert isinstance(node, ast.FunctionDef)
    return "\n".join(text.rstrip("\n").split("\n")[node.lineno - 1 :])


def _first_line(kind: type) -> str:
    return (kind.__doc__ or kind.__name__).strip().partition("\n")[0]
