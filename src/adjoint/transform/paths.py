"""A pass that turns reads of module members by name into one operand.

Before, after::

    _1 = getattr(np, 'linalg')
    _2 = call_method(_1, 'norm', x)          _2 = np.linalg.norm(x)

The names are still read at run time. A guard checks that `np` is still the module of lowering time.
The members may change, as long as they remain functions, classes or modules.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from types import ModuleType
from typing import Any

from adjoint.ir import primitives
from adjoint.ir.nodes import (
    Assign,
    Call,
    Const,
    For,
    Function,
    Global,
    If,
    Op,
    Operand,
    Path,
    Region,
    Try,
    Var,
    While,
)
from adjoint.ir.walk import STRUCTURED, targets, walk
from adjoint.transform.activity import known_global


def join_paths(function: Function, namespace: dict[str, Any]) -> tuple[Function, dict[str, Any]]:
    """Join the paths of `function`; also return the modules that it relies on, by global name."""
    joiner = _Joiner(function, namespace)
    return replace(function, body=joiner.region(function.body)), joiner.guards


class _Joiner:
    def __init__(self, function: Function, namespace: dict[str, Any]) -> None:
        self._namespace = namespace
        self._paths: dict[str, tuple[Path, Any]] = {}
        self.guards: dict[str, Any] = {}
        self._body = function.body
        self._single: set[str] | None = None  # computed on first use

    def region(self, region: Region) -> Region:
        """Return the region with its paths joined."""
        return tuple(
            [
                self._call(op)
                if type(op) is Call
                else self._structure(op)
                if type(op) in STRUCTURED
                else op
                for op in region
            ]
        )

    def _call(self, op: Call) -> Op:
        callee = op.callee.value if type(op.callee) is Const else None
        if callee is getattr and len(op.operands) == 2:
            return self._read(op)
        if callee is primitives.call_method:
            owner, name = op.operands[:2]
            found = self._member(owner, name)
            if found is not None:
                return Call(op.target, found[0], op.operands[2:], op.keywords, op.span)
        return op

    def _structure(self, op: Op) -> Op:
        region = self.region
        match op:
            case If(condition=condition, body=body, orelse=orelse, span=span):
                return If(condition, region(body), region(orelse), span)
            case For(target=target, iterable=iterable, body=body, orelse=orelse, span=span):
                return For(target, iterable, region(body), region(orelse), span)
            case While(test=test, condition=condition, body=body, orelse=orelse, span=span):
                return While(region(test), condition, region(body), region(orelse), span)
            case Try(body=body, caught=caught, handler=handler, orelse=orelse, final=final):
                parts = region(body), caught, region(handler), region(orelse), region(final)
                return Try(*parts, op.span)
            case _:
                return op

    def _read(self, op: Call) -> Op:
        found = self._member(*op.operands)
        if found is None or op.target is None:
            return op
        path, value = found
        if isinstance(value, ModuleType) and self._is_single(op.target.name):
            self._paths[op.target.name] = found
        return Assign(op.target, path, op.span)

    def _is_single(self, name: str) -> bool:
        """Return whether `name` is a temporary that is bound at one place only."""
        if self._single is None:
            counts = Counter([target.name for op in walk(self._body) for target in targets(op)])
            self._single = {name for name, n in counts.items() if n == 1 and name[0] == "_"}
        return name in self._single

    def _member(self, owner: Operand, name: Operand) -> tuple[Path, Any] | None:
        """Return the path and the value of ``owner.name``, or ``None``. ``None`` if `owner` is no
        module, or if the member may carry a derivative."""
        match owner:
            case Global(name=start):
                module = known_global(self._namespace, start)
                names: tuple[str, ...] = (start,)
            case Var(name=variable) if variable in self._paths:
                path, module = self._paths[variable]
                names = path.names
            case _:
                return None
        if not isinstance(module, ModuleType) or not isinstance(name, Const):
            return None
        member = str(name.value)
        value = vars(module).get(member)
        if not _is_fixed(module, value):
            return None
        self.guards[names[0]] = known_global(self._namespace, names[0])
        return Path((*names, member)), value


def is_constant_path(namespace: dict[str, Any], names: tuple[str, ...]) -> bool:
    """Return whether a path made by `join_paths` still leads to a constant."""
    value = known_global(namespace, names[0])
    for name in names[1:]:
        if not isinstance(value, ModuleType):
            return False
        module, value = value, vars(value).get(name)
        if not _is_fixed(module, value):
            return False
    return True


def _is_fixed(module: ModuleType, value: Any) -> bool:
    return isinstance(value, ModuleType | type) or callable(value) or is_constant(module, value)


CONSTANTS = frozenset({"math", "cmath", "numpy", "scipy"})
"""Libraries whose numbers (``math.pi``) are never reassigned."""


def is_constant(module: ModuleType, value: Any) -> bool:
    """Return whether a member of a module is a number that is never reassigned."""
    return module.__name__.partition(".")[0] in CONSTANTS and isinstance(
        value, int | float | complex | None
    )
