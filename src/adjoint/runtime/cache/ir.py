"""The IR of a function, read from disk if an earlier process has lowered it.

Specialised programs and units of levels are made from the IR in each process.
"""

from __future__ import annotations

from dataclasses import fields
from types import CodeType, FunctionType
from typing import Any

from adjoint.frontend import lower_any
from adjoint.ir import nodes
from adjoint.ir.nodes import Const, Function
from adjoint.runtime.cache import disk

_ENDING = ".ir"


def lowered(f: FunctionType) -> Function:
    """Return the IR of `f`, from disk or by `lower_any`, whose errors it raises."""
    kept = disk.read(f, _ENDING)
    if kept is not None:
        return restored(f, kept)  # type: ignore[no-any-return]
    function = lower_any(f)
    disk.write(f, lambda: plain(f, function), _ENDING)
    return function


_NODES: tuple[Any, ...] = tuple(
    one for one in (getattr(nodes, name) for name in nodes.__all__) if type(one) is type
)
_NUMBERS = {node: number for number, node in enumerate(_NODES)}
_FIELDS = [tuple(field.name for field in fields(node)) for node in _NODES]
_CONST = _NUMBERS[Const]
_VALUES = frozenset({type(None), bool, int, str})


def plain(f: FunctionType, part: Any) -> Any:
    """Return a part of the IR of `f` as plain values, which `restored` inverts.

    A list represents a tuple; a tuple represents a node or the code of `f`.

    Raises
    ------
    Unknown
        The part contains a constant that has no reference.
    """
    kind = type(part)
    if kind in _VALUES:
        return part
    if kind is tuple:
        return [plain(f, inner) for inner in part]
    if kind is Const:
        return _CONST, disk.constant_reference(f, part.value)
    if kind is CodeType and part is f.__code__:
        return ()
    if kind not in _NUMBERS:
        raise disk.Unknown
    number = _NUMBERS[kind]
    return number, *[plain(f, getattr(part, name)) for name in _FIELDS[number]]


def restored(f: FunctionType, kept: Any) -> Any:
    """Return the part of the IR from which `plain` made `kept`."""
    kind = type(kept)
    if kind is list:
        return tuple([restored(f, inner) for inner in kept])
    if kind is not tuple:
        return kept
    if not kept:
        return f.__code__
    if kept[0] == _CONST:
        return Const(disk.referred(f, kept[1]))
    return _NODES[kept[0]](*[restored(f, inner) for inner in kept[1:]])
