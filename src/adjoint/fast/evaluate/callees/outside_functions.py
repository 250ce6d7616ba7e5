"""Functions from outside that a program calls: their code is guarded, their parts are read."""

from __future__ import annotations

import abc
from dataclasses import dataclass, field
from types import CodeType, FunctionType
from typing import Any

from adjoint.fast.evaluate.callees.numpy_definitions import definitions
from adjoint.fast.evaluate.handlers.table import handlers
from adjoint.fast.evaluate.objects.guards import Guards, is_of_library
from adjoint.fast.evaluate.stand_ins import axes_of, is_dispatching, is_mapped, rows_of
from adjoint.fast.evaluate.values import Abstract, Closure, External, Known, Partial, Source
from adjoint.fast.not_covered import NotCovered
from adjoint.primal.packages import COMPILING, package
from adjoint.rulekit import nested
from adjoint.rulekit.registry import lookup


@dataclass(eq=False, repr=False)
class OutsideFunctions(Guards, abc.ABC):
    """The sources and guards of one program; functions among the sources."""

    of_function: bool = False
    """Whether the cotangent of captured variables is wanted."""
    compiled: dict[CodeType, Any] = field(default_factory=dict)
    """Functions that Numba compiles, by the code of their Python function."""
    samples: dict[int, Any] = field(default_factory=dict)
    """Containers, objects and functions of the call at specialisation, by identity of source."""
    _cells: dict[tuple[int | None, int], Source] = field(default_factory=dict)
    _read: dict[tuple[int, str, Any], Abstract] = field(default_factory=dict)

    @abc.abstractmethod
    def read(self, parent: Source, kind: str, key: Any, sample: Any) -> Abstract:
        """Return the value at `key` of `parent`, which is `sample` at specialisation."""

    @abc.abstractmethod
    def constant(self, parent: Source, kind: str, key: Any, value: Any) -> Known:
        """Return a number as `Known`, guarded by identity."""

    def function_at(self, source: Source, f: FunctionType) -> Abstract:
        """Return a function: itself if it has a rule or a definition, else its closure."""
        has_meaning = lookup(f) is not None or f in handlers or f in definitions
        if has_meaning or f is nested.derivative:
            self.guard(source, "is", f)
            return Known(f)
        if package(f.__globals__.get("__name__")) in COMPILING:
            raise NotCovered("a function of a package that compiles")
        self.guard(source, "code", f.__code__)
        if is_dispatching(f):
            return External(source, f)
        if is_mapped(f):
            return self._mapped(source, f)
        self.guard(source, "globals", f.__globals__)
        return self.closure(source, f)

    def _mapped(self, source: Source, f: FunctionType) -> Abstract:
        """Return what `vmap` has returned."""
        axes = axes_of(f)
        if axes is None or self.of_function:  # what it refers to has cotangents
            raise NotCovered("rows of structures along several axes, or a function from outside")
        self.samples[id(source)] = f
        self.guard(source, "fact", (axes_of, axes))
        place = f.__code__.co_freevars.index("f")
        cell = External(Source(source, "cell", place), (f.__closure__ or ())[place])
        return Partial(Known(rows_of), (self.of_cell(cell), *map(Known, axes)), ())

    def compiled_at(self, source: Source, value: Any, python: Any) -> Abstract:
        """Return the Python function or class of an object of Numba."""
        self.guard(source, "is", value)
        if isinstance(python, type):
            return Known(python)
        if type(python) is not FunctionType:
            raise NotCovered("a universal function of Numba's")
        name = "py_func" if hasattr(value, "py_func") else "_pyfunc"
        found = self.read(source, "python", name, python)
        self.compiled[python.__code__] = value
        return found

    def closure(self, source: Source, f: FunctionType) -> Closure:
        """Return the closure of a function with guarded code; read its defaults and cells."""
        defaults = f.__defaults__ or ()
        named = f.__kwdefaults__ or {}
        self.samples[id(source)] = f
        if defaults or named:  # else each call gives all arguments, whatever is added later
            self.guard(source, "defaults", (len(defaults), tuple(named)))

        def default(kind: str, key: Any, value: Any) -> Abstract:
            is_known = type(value) is float and is_of_library(f)
            return (self.constant if is_known else self.read)(source, kind, key, value)

        return Closure(
            f.__code__,
            f.__globals__,
            tuple(default("default", i, value) for i, value in enumerate(defaults)),
            tuple((k, default("named default", k, v)) for k, v in named.items()),
            tuple(
                External(Source(source, "cell", i), cell)
                for i, cell in enumerate(f.__closure__ or ())
            ),
            f,
            source,
        )

    def of_cell(self, cell: External) -> Abstract:
        """Return the content of a captured variable."""
        source, sample = cell.source, cell.sample
        assert source.parent is not None
        try:
            content = sample.cell_contents
        except ValueError:
            raise NotCovered("a captured variable without a value") from None
        place = source.argument, id(sample)
        first = self._cells.get(place)
        if first is None or (first.parent is source.parent and first.key == source.key):
            self._cells[place] = source
            return self.read(source.parent, "cell", source.key, content)
        if self.of_function:
            raise NotCovered("a variable that two functions have captured")
        # Two functions share the variable: guard that they still do.
        twin = Source(source.parent, "cell object", source.key)
        assert first.parent is not None
        self.sources.append(twin)
        self.guard(twin, "same cell", first)
        return self._read[id(first.parent), "cell", first.key]
