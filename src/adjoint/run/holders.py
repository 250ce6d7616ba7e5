"""Who holds an object: the user's program, or nothing but the engine, which keeps for the reverse
sweep what operations were given."""

from __future__ import annotations

import dis
import gc
import sys
from collections.abc import Iterable, Iterator
from types import BuiltinFunctionType, CodeType, FrameType, FunctionType, ModuleType
from typing import Any

import numpy as np

from adjoint.run.by_code import by_code
from adjoint.run.generate import generated, unit_behind
from adjoint.run.hidden import Hidden
from adjoint.run.kinds import is_objects
from adjoint.run.memory import Memory

__all__ = ["is_near", "only_ours"]

NEAR = 200
"""How many objects `is_near` looks at."""

_PLAIN = frozenset(
    {ModuleType, CodeType, FrameType, BuiltinFunctionType, str, int, float, bool, bytes}
)
"""Types of what is not followed: what they hold is held elsewhere, too, or nothing."""


def is_near(found: Any) -> bool:
    """Whether a running function of the user's holds something, in a variable, in a global one that
    it names or in an expression that it computes, or leads to it."""
    frame: FrameType | None = sys._getframe(2)
    seen: dict[int, Any] = {}
    is_function = type(found) is FunctionType
    while frame is not None and len(seen) < NEAR:
        unit = unit_behind(frame.f_code)
        if unit is not None:
            space, names = unit.namespace, unit.function.code.co_names
            nodes, _ = _variables_by_holder(frame)
            nodes += [space[name] for name in names if name in space]
            for node in nodes:
                if node is found or (is_function and _has_method(node, found)):
                    return True
                if id(node) not in seen and len(seen) < NEAR and type(node) not in _PLAIN:
                    seen[id(node)] = node
                    if not _is_ours(node):
                        nodes += _parts(node)
        frame = frame.f_back
    return False


def _has_method(node: Any, f: FunctionType) -> bool:
    """Whether a function is of the class of an object, which holds it."""
    return any(vars(cls).get(f.__name__) is f for cls in type(node).__mro__)


def only_ours(targets: list[Any]) -> tuple[list[Any], int]:
    """Those of `targets` that would have gone if the engine held nothing; and how many objects were
    looked at.

    Of the references to each object those are taken away that come from the engine. What has none
    left goes, and what it holds loses those, and so on; what holds itself in a cycle stays.
    """
    wanted = {id(value) for value in targets}
    engine: dict[int, int] = {}
    nodes: list[Any] = []
    _look([targets], engine, nodes, wanted, 1)
    _look(_held_by_frames(sys._getframe(1)), engine, nodes, wanted, 1)
    ours = {id(targets)}
    for node in nodes:  # it grows
        if _is_ours(node):
            ours.add(id(node))
            if type(node) is FunctionType and node.__closure__:
                ours.update(map(id, node.__closure__))
        _look(_parts(node), engine, nodes, wanted, int(id(node) in ours))
    del node
    if sys.version_info < (3, 12):
        _look(_in_flight(targets, nodes, engine), engine, nodes, wanted, 1)
    left = {
        id(nodes[i]): sys.getrefcount(nodes[i]) - _OWN - engine[id(nodes[i])]
        for i in range(len(nodes))
        if id(nodes[i]) not in ours
    }
    gone = [node for node in nodes if left.get(id(node), 1) <= 0]
    for node in gone:  # it grows
        for part in _parts(node):
            count = left.get(id(part), 0)
            if count > 0:
                left[id(part)] = count - 1
                if count == 1:
                    gone.append(part)
    return [value for value in targets if left.get(id(value), 1) <= 0], len(nodes)


def _in_flight(targets: list[Any], nodes: list[Any], engine: dict[int, int]) -> list[Any]:
    """What stands in the tuples of arguments that calls are made with: before Python 3.12 a call of
    ``f(*args)`` holds one where nobody sees it, neither a variable nor the collector."""
    known = {*_variables(sys._getframe(1)), *engine}
    held = [*targets, *(node for node in nodes if type(node) is tuple)]
    asked = [one for one in _tuples_of_one_holder(held) if id(one) not in known]
    if not asked:
        return []
    ids, seen = {*map(id, asked)}, set()
    for holder in gc.get_referrers(*asked):
        if holder is not asked:
            seen.update(ids.intersection(map(id, gc.get_referents(holder))))
    return [value for one in asked if id(one) not in seen for value in one]


FEW = 8
"""Up to so many objects it is quickest to let the collector compare each reference with each."""


def _tuples_of_one_holder(held: list[Any]) -> list[Any]:
    """The tuples that hold any of `held` and are held once, among all that there is."""
    once = _OWN + 2  # a variable and the holder, beside the list
    if len(held) <= FEW:
        found = [one for one in gc.get_referrers(*held) if type(one) is tuple]
        return [one for one in found if sys.getrefcount(one) == once]
    all_ = gc.get_objects()
    found = [one for one in all_ if type(one) is tuple and sys.getrefcount(one) == once]
    del all_
    ids = {*map(id, held)}
    return [one for one in found if not ids.isdisjoint(map(id, one))]


def _variables(frame: FrameType | None) -> Iterator[int]:
    """The identities of what the variables of generated functions hold, from `frame` outwards."""
    while frame is not None:
        if id(frame.f_code) in generated:
            variables = frame.f_locals
            yield from map(id, variables.values())
            if type(variables) is dict:
                variables.clear()
        frame = frame.f_back


def _own_references() -> int:
    """How many references `only_ours` has to an object when it counts them."""
    nodes = [object()]
    return sys.getrefcount(nodes[0])


_OWN = _own_references()


def _look(
    values: Iterable[Any], engine: dict[int, int], nodes: list[Any], wanted: set[int], count: int
) -> None:
    """Take up what is not known yet; each of `values` is referred to by the engine, or (`count` of
    0) by somebody else."""
    for value in values:
        seen = engine.get(id(value))
        if seen is not None:
            engine[id(value)] = seen + count
        elif type(value) not in _PLAIN and (
            gc.is_tracked(value)
            or is_objects(value)
            or type(value) is dict  # that of an object's fields is not told what is put into it
            or id(value) in wanted
        ):
            engine[id(value)] = count
            nodes.append(value)


def _parts(node: Any) -> list[Any]:
    """What an object holds, less what is code."""
    kind = type(node)
    if kind is FunctionType:
        return [*(node.__closure__ or ()), *(node.__defaults__ or ())]
    if is_objects(node):  # the collector does not look into arrays
        whole = node.base is None
        return [*np.ndarray.view(node, np.ndarray).flat] if whole else [node.base]
    if kind is dict and _is_of_module(node):
        return []
    return [] if issubclass(kind, type) else gc.get_referents(node)


def _is_of_module(fields: dict[Any, Any]) -> bool:
    """Whether something is the dictionary of a module, which stays, and leads to all others."""
    module = sys.modules.get(str(fields.get("__name__")))
    return module is not None and getattr(module, "__dict__", None) is fields


def _is_ours(node: Any) -> bool:
    """Whether something is of the engine, whoever holds it."""
    kind = type(node)
    if kind is list:
        return bool(node) and isinstance(node[0], Memory)
    if kind is FunctionType:
        return _is_inner(node.__globals__) or id(node.__code__) in generated
    return issubclass(kind, Hidden)


_INNER = ("adjoint.run.", "adjoint.rules.", "adjoint.levels.")
_OPERATORS = frozenset({"adjoint.levels.transforms", "adjoint.levels.reverse"})
"""What users call: what these hold is given by them, or to them."""


def _is_inner(namespace: dict[str, Any]) -> bool:
    module = namespace.get("__name__")
    return type(module) is str and module.startswith(_INNER) and module not in _OPERATORS


def _held_by_frames(frame: FrameType | None) -> Iterator[Any]:
    """What the engine holds in variables of running functions, from `frame` outwards."""
    while frame is not None:
        if id(frame.f_code) in generated or _is_inner(frame.f_globals):
            yield from _variables_by_holder(frame)[1]
        frame = frame.f_back


def _variables_by_holder(frame: FrameType) -> tuple[list[Any], list[Any]]:
    """What the variables of a frame hold: those of the user's program, and those of the engine.

    Of a generated function, nameless variables belong to the program for as long as they are read:
    they stand for what it computes with.
    """
    variables = frame.f_locals
    values = dict(variables)
    if type(variables) is dict:
        variables.clear()  # a copy, which would hold them for as long as the frame runs
    unit = unit_behind(frame.f_code)
    if unit is None:
        return [], [*values.values()]
    code = unit.function.code
    names = {*code.co_varnames, *code.co_cellvars, *code.co_freevars}
    theirs: list[Any] = []
    ours: list[Any] = []
    for name, value in values.items():
        (theirs if name in names or _is_read(frame, name) else ours).append(value)
    return theirs, ours


def _is_read(frame: FrameType, name: str) -> bool:
    """Whether a variable is read, before it is bound, in what follows."""
    code = frame.f_code
    for offset, is_read in _uses_in(code).get(name, ()):
        if offset > frame.f_lasti:
            return is_read
    return False


@by_code
def _uses_in(code: CodeType) -> dict[str, list[tuple[int, bool]]]:
    """Where the variables of a function stand in its code, and whether they are read there."""
    found: dict[str, list[tuple[int, bool]]] = {}
    for instruction in dis.get_instructions(code):
        kinds = instruction.opname.split("_FAST")[:-1]  # STORE_FAST_LOAD_FAST is two in one
        names = instruction.argval
        if kinds:
            for kind, name in zip(kinds, names if type(names) is tuple else (names,), strict=False):
                found.setdefault(name, []).append((instruction.offset, "LOAD" in kind))
    return found
