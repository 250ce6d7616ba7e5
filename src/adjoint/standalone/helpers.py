"""Copies of what a program calls, with all that these need."""

from __future__ import annotations

import builtins
import functools
import inspect
import sys
from dataclasses import fields, is_dataclass
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from adjoint.errors import AdjointError
from adjoint.primal.packages import package
from adjoint.standalone.copied_code import class_code, function_code, reads
from adjoint.standalone.literals import NoLiteral, literal
from adjoint.standalone.not_exported import NotExported
from adjoint.standalone.numpy_only import SUBSTITUTES, array_rule

PUBLIC = ("numpy", "numpy.linalg", "numpy.fft", "math", "cmath", "operator", "scipy.special",
          "scipy.linalg", "scipy.fft", "scipy.signal", "scipy.ndimage")  # fmt: skip
"""Modules in which public functions of compiled code are looked for."""
OWN_NAMES = ("TYPES", "EXAMPLE", "NAMES", "COUNT", "gradient", "value_and_gradient")
"""Names of a standalone file that nothing else may have; others begin with an underscore."""
ATOMS = (type(None), bool, int, float, complex, str, bytes)
"""Types of constants that may have several names."""
MOST = 200
"""The greatest number of functions, classes and constants that a file holds."""

_CACHED: Any = type(functools.lru_cache(lambda: None))
_DISPATCHER: Any = type(np.mean)


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
        self._names: dict[int, str] = {id(np): "np"}
        self._going: set[int] = set()

    def reserve(self, names: Any) -> None:
        """Keep names for what the program calls by them."""
        self._values.update(dict.fromkeys(names, self))

    def define(self, name: str, value: Any) -> None:
        """Define `name`, which the program uses, as `value`.

        Raises
        ------
        NotExported
            It cannot be written.
        """
        value = SUBSTITUTES.get(id(value), value)
        known = self._names.get(id(value))
        if known is None:
            self._define(name, value)
        elif known != name:
            self._values[name] = value
            self.lines.append(f"{name} = {known}")

    def name_of(self, value: Any, wish: str) -> str:
        """Return the name of `value`; define it if it has none."""
        value = SUBSTITUTES.get(id(value), value)
        if type(value) in ATOMS:
            known = self._values.get(wish, self)
            if type(known) is not type(value) or literal(known) != literal(value):
                wish = self.free(wish)
                self.constant(wish, value)
            return wish
        if id(value) not in self._names:
            self._define(self.free(wish), value)
        return self._names[id(value)]

    def free(self, name: str) -> str:
        """Return a name that nothing has yet."""
        name = name if name.strip("_").isidentifier() else "rule"
        while name in self._values or hasattr(builtins, name):
            name += "_"
        return name

    def constant(self, name: str, value: Any) -> None:
        """Write an assignment of a constant."""
        self._values[name] = value
        self.lines.append(f"{name} = {self._expression(value)}")

    def _define(self, name: str, value: Any) -> None:
        if len(self._values) > MOST:
            raise NotExported("the number of functions that its rules call")
        self._values[name], self._names[id(value)] = value, name
        if isinstance(value, ModuleType):
            self._import_module(name, value)
        elif (path := public_path(value)) is not None:
            self._import(path, name)
        elif isinstance(value, type) and value.__module__ == "builtins":
            self.lines.append(f"{name} = {value.__name__}")
        elif isinstance(value, type) and issubclass(value, AdjointError):
            self.lines.append(_ERROR.format(name, _first_line(value)))
        elif isinstance(value, type) and issubclass(value, ArithmeticError):
            self.lines.append(f'class {name}(ArithmeticError):\n    """{_first_line(value)}"""')
        elif type(value) is FunctionType and (plan := _plan_of(value)) is not None:
            self._array_rule(name, plan)
        elif type(value) is FunctionType or isinstance(value, type):
            self._copy(name, value)
        else:
            self.lines.append(f"{name} = {self._expression(value)}")

    def _expression(self, value: Any) -> str:
        """Return an expression that gives `value`."""
        if isinstance(value, functools.partial):
            self.imports["import functools"] = None
            given = [self.name_of(value.func, "part"), *map(self._part, value.args)]
            named = [f"{key}={self._part(x)}" for key, x in value.keywords.items()]
            return f"functools.partial({', '.join(given + named)})"
        if isinstance(value, _CACHED):
            self.imports["import functools"] = None
            inner = self.name_of(value.__wrapped__, value.__name__)
            return f"functools.lru_cache({value.cache_parameters()['maxsize']})({inner})"
        if isinstance(value, MethodType):
            return f"{self.name_of(value.__self__, 'owner')}.{value.__name__}"
        if isinstance(value, inspect.Parameter):
            self.imports["import inspect"] = None
            has_none = value.default is value.empty
            default = "" if has_none else f", default={self._part(value.default)}"
            return f"inspect.Parameter({value.name!r}, {int(value.kind)}{default})"
        if is_dataclass(value) and not isinstance(value, type):
            own = self.name_of(type(value), type(value).__name__)
            return f"{own}({', '.join(self._part(getattr(value, x.name)) for x in fields(value))})"
        if type(value) in (list, tuple):
            parts = [self._part(x) for x in value]
            text = ", ".join(parts) + "," * (type(value) is tuple and len(parts) == 1)
            return f"[{text}]" if type(value) is list else f"({text})"
        try:
            return literal(value)
        except NoLiteral as error:
            raise NotExported(str(error)) from None

    def _part(self, value: Any) -> str:
        """Return an expression that gives a value inside another one."""
        if isinstance(value, FunctionType | functools.partial | _CACHED | _DISPATCHER | np.ufunc):
            return self.name_of(value, getattr(value, "__name__", "part"))
        return self._expression(value)

    def _import_module(self, name: str, module: ModuleType) -> None:
        path = module.__name__
        if not _is_everywhere(path):
            raise NotExported(f"the module '{path}'")
        self.imports[f"import {path}" + (f" as {name}" if name != path else "")] = None

    def _import(self, path: str, name: str) -> None:
        module, _, own = path.rpartition(".")
        if module.partition(".")[0] == "numpy":
            inside = module.removeprefix("numpy").lstrip(".")
            self.lines.append(f"{name} = np.{inside}{'.' if inside else ''}{own}")
            return
        self.imports[f"from {module} import {own}" + (f" as {name}" if own != name else "")] = None

    def _copy(self, name: str, value: Any) -> None:
        """Write a copy of a function or a class, and of what it reads."""
        self._going.add(id(value))
        passed: dict[str, str] = {}
        for key, needed in reads(value):
            needed = SUBSTITUTES.get(id(needed), needed)
            own = self.name_of(needed, key)
            if own != key:
                if id(needed) in self._going and needed is not value:
                    raise NotExported(f"functions that call each other, as '{key}'")
                passed[key] = own
        code = class_code(value) if isinstance(value, type) else function_code(value, self._part)
        self.lines.append(code.bound(name, passed))
        self._going.discard(id(value))

    def _array_rule(self, name: str, plan: Any) -> None:
        """Define what `adjoint.rules.numpy.operands.array_rule` has made of a rule."""
        adapter, rule = self.name_of(array_rule, "array_rule"), self.name_of(plan.function, name)
        places = tuple(map(plan.order.index, plan.operands))
        self.lines.append(f"{name} = {adapter}({rule}, {places!r}, {plan.nested!r})")


def public_path(f: Any) -> str | None:
    """Return the dotted name by which everybody finds a function or a class of Python or NumPy."""
    owner = getattr(f, "__self__", None)
    if isinstance(owner, np.ufunc):  # ``np.add.reduce``
        inner = public_path(owner)
        return None if inner is None else f"{inner}.{f.__name__}"
    if not isinstance(f, np.ufunc | BuiltinFunctionType | FunctionType | type | _DISPATCHER):
        return None
    own_module = getattr(f, "__module__", None)
    if isinstance(own_module, str) and not _is_everywhere(own_module):
        return None
    name = f.__name__
    for module in (*PUBLIC, own_module):
        if module in sys.modules and getattr(sys.modules[module], name, None) is f:
            return None if module == "builtins" else f"{module}.{name}"
    return None


def _is_everywhere(module: str) -> bool:
    """Return whether a module is Python's, NumPy's or SciPy's."""
    return package(module) in ("numpy", "scipy") or package(module) in sys.stdlib_module_names


def _plan_of(f: FunctionType) -> Any:
    """Return what a rule of NumPy's array functions is made of; ``None`` for other functions."""
    if f.__qualname__ != "array_rule.<locals>.add.<locals>.placed":
        return None
    return dict(zip(f.__code__.co_freevars, f.__closure__ or (), strict=True))["plan"].cell_contents


_ERROR = '''class {}(ArithmeticError):
    """{}"""

    def __init__(self, problem, *, hint="", place=None):
        super().__init__(problem + (f": {{hint}}" if hint else ""))'''


def _first_line(kind: type) -> str:
    return (kind.__doc__ or kind.__name__).strip().partition("\n")[0]
