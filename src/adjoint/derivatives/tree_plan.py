"""One walk over a model: a plan of its parts, found once, and a copy with other leaves.

The plan is made of values and is constant for a derivative; what reads along it is differentiated.
"""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from adjoint.errors import ArgumentError
from adjoint.primal.value_kinds import by_value, is_objects, is_plain_object
from adjoint.rulekit.registry import non_differentiable
from adjoint.runtime.leaves import object_fields
from adjoint.tangent import Tangent, tangent_of

Path: TypeAlias = "tuple[tuple[str, Any], ...]"
"""Steps ``("[]", key)`` and ``(".", name)`` from the root to a part."""


@dataclass(frozen=True)
class Node:
    """A part of a structure.

    Attributes
    ----------
    kind
        ``"leaf"``, ``"constant"``, ``"again"`` (a part that contains this place), or the kind of a
        container.
    number
        The same for two places that share a part.
    ways
        How the parts beside this one are read from those beside its parent: ``"[]"``, ``"."``, or
        ``""`` where there is none.
    changes
        Whether a leaf is in it, or a part that contains it.
    """

    kind: str
    number: int
    children: tuple[tuple[Any, Node], ...] = ()
    ways: tuple[str, ...] = ()
    changes: bool = True


class Leaf(NamedTuple):
    """A leaf of a structure, and what stands beside it in other structures."""

    number: int
    path: Path
    value: Any
    beside: Sequence[Any]


@dataclass
class Plan:
    """The parts of a structure, and its leaves in order."""

    is_leaf: Callable[[Any], bool]
    ties: bool = True
    leaves: list[Leaf] = field(default_factory=list)
    _known: dict[int, list[tuple[Sequence[Any], Node]]] = field(default_factory=dict)
    _open: dict[int, int] = field(default_factory=dict)
    _count: int = 0

    def node(self, value: Any, others: Sequence[Any], path: Path, ways: tuple[str, ...]) -> Node:
        """Return the node of a part; `others` are the parts beside it."""
        if type(value) in (float, complex, int):
            return self._leaf(value, others, path, ways)
        if id(value) in self._open:
            return Node("again", self._open[id(value)], (), ways)
        for beside, known in self._known.get(id(value), ()):
            if all(map(_same, beside, others)):
                return replace(known, ways=ways)
        if self.is_leaf(value):
            found = self._leaf(value, others, path, ways)
        else:
            found = self._container(value, others, path, ways)
        if self.ties:
            self._known.setdefault(id(value), []).append((others, found))
        return found

    def _leaf(self, value: Any, others: Sequence[Any], path: Path, ways: tuple[str, ...]) -> Node:
        if not self.is_leaf(value):
            return _constant(ways)
        for other in others:
            if other is not None and not is_number(other) and type(other) is not bool:
                raise _misfit(path, value, other)
        number = self._next()
        self.leaves.append(Leaf(number, path, value, others))
        return Node("leaf", number, (), ways)

    def _next(self) -> int:
        self._count += 1
        return self._count

    def _container(
        self, value: Any, others: Sequence[Any], path: Path, ways: tuple[str, ...]
    ) -> Node:
        kind, parts = parts_of(value)
        if kind == "constant":
            if value is None:
                _check_nothing(others, path)
            return _constant(ways)
        for other in others:
            _check_beside(kind, value, parts, other, path)
        number = self._open[id(value)] = self._next()
        step = "." if kind == "object" else "[]"
        children = []
        for key, part in parts.items():
            below = tuple(_way(other, key) for other in others)
            beside = [
                part_beside(way, other, key) for way, other in zip(below, others, strict=True)
            ]
            children.append((key, self.node(part, beside, (*path, (step, key)), below)))
        del self._open[id(value)]
        changes = any(child.changes for _, child in children)
        if kind == "object" and not changes:
            return _constant(ways)
        return Node(kind, number, tuple(children), ways, changes)


def _constant(ways: tuple[str, ...]) -> Node:
    return Node("constant", -1, (), ways, False)


def parts_of(value: Any) -> tuple[str, dict[Any, Any]]:
    """Return the kind of a container and its parts by key or name; ``"constant"`` for others."""
    if isinstance(value, list | tuple | deque):
        return "tuple" if isinstance(value, tuple) else "list", dict(enumerate(value))
    if isinstance(value, dict):
        return "dict", value
    if isinstance(value, Tangent):
        return "tangent", dict(value)
    if is_objects(value):
        return "array of objects", dict(np.ndenumerate(value))
    if is_plain_object(value):
        return "object", object_fields(value)
    return "constant", {}


def is_number(value: Any) -> bool:
    """Return whether `ad.gradient` gives a number or an array for `value`."""
    if not by_value(value) or type(value) is bool:
        return False
    return not isinstance(value, np.ndarray | np.generic) or value.dtype.kind in "fciub"


def is_variable(value: Any) -> bool:
    """Return whether `value` is a float or a complex number, or an array of them."""
    if isinstance(value, np.ndarray | np.generic):
        return value.dtype.kind in "fc"
    return isinstance(value, float | complex)


def path_text(root: str, path: Path) -> str:
    """Return the expression that reads a part: ``model.layers[0]``."""
    return root + "".join(f"[{key!r}]" if step == "[]" else f".{key}" for step, key in path)


# ---- structures beside each other ----------------------------------------------------------------


def _check_beside(kind: str, value: Any, parts: Any, other: Any, path: Path) -> None:
    if other is None:
        return
    _, found = parts_of(other)
    if kind in ("object", "tangent"):
        fits = isinstance(other, Tangent | dict) or type(other) is type(value)
        fits = fits or (kind == "tangent" and is_plain_object(other))
        superfluous = [name for name in found if name not in parts]
    elif kind == "dict":
        fits = isinstance(other, Mapping) and parts.keys() == found.keys()
        superfluous = []
    elif kind == "array of objects":
        fits, superfluous = is_objects(other) and other.shape == value.shape, []
    else:
        fits = isinstance(other, list | tuple | deque) and len(other) == len(parts)
        superfluous = []
    if not fits:
        raise _misfit(path, value, other)
    if superfluous:
        raise ArgumentError(
            f"the tree beside {path_text('tree', path)} has a field that it has not:"
            f" {superfluous[0]!r}",
            hint="give trees with the same fields",
        )


def _check_nothing(others: Sequence[Any], path: Path) -> None:
    for other in others:
        plan = Plan(is_number)
        plan.node(other, (), (), ())
        if plan.leaves:
            raise ArgumentError(
                f"{path_text('tree', path)} is None, but there are numbers beside it",
                hint="give the tree that has a number in every place as the first one",
            )


def _misfit(path: Path, value: Any, other: Any) -> ArgumentError:
    return ArgumentError(
        f"the trees differ at {path_text('tree', path)}: beside {_described(value)}"
        f" stands {_described(other)}",
        hint="give trees of one structure, such as a model and its gradient; None stands for a"
        " part that is missing",
    )


def _described(value: Any) -> str:
    kind, parts = parts_of(value)
    if kind in ("list", "tuple"):
        return f"a {kind} of {len(parts)}"
    if kind == "dict":
        return f"a dict with the keys {[*parts]}"
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape}"
    return f"a {type(value).__name__}"


def _way(other: Any, key: Any) -> str:
    if other is None:
        return ""
    if isinstance(other, Mapping):
        return "[]" if key in other else ""
    if isinstance(other, list | tuple | deque) or is_objects(other):
        return "[]"
    return "." if key in object_fields(other) else ""


def _same(a: Any, b: Any) -> bool:
    """Return whether two cotangents are equal to the bit, so that a shared part may stay shared."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if is_number(a):
        x, y = np.asarray(a), np.asarray(b)
        return x.shape == y.shape and x.dtype == y.dtype and x.tobytes() == y.tobytes()
    kind, parts = parts_of(a)
    if kind not in ("list", "tuple", "dict", "tangent"):
        return False
    _, others = parts_of(b)
    return parts.keys() == others.keys() and all(_same(parts[key], others[key]) for key in parts)


def refuse_copy(value: Any) -> None:
    """Raise the error for an object that `copy.copy` returns as it is."""
    raise ArgumentError(
        f"a {type(value).__name__} cannot be copied: copy.copy gives the same object",
        hint="keep what there is only one of outside the model, for instance in its class",
    )


# ---- differentiated code -------------------------------------------------------------------------


def found(value: Any, path: Path) -> Any:
    """Return the part of a structure at the end of a path."""
    for step, key in path:
        value = value[key] if step == "[]" else getattr(value, key)
    return value


def part_beside(way: str, other: Any, key: Any) -> Any:
    """Return what stands beside a part: an item or attribute of what stands beside its parent."""
    if way == "[]":
        return other[key]
    return getattr(other, key) if way == "." else None


def rebuilt(node: Node, leaf: Any, value: Any, others: Sequence[Any], made: dict[int, Any]) -> Any:
    """Return a copy of `value` with ``leaf(number, part, *parts beside it)`` for each leaf."""
    if node.kind == "constant":
        return value
    if node.number in made:
        return made[node.number]
    if node.kind == "leaf":
        y = leaf(node.number, value, *others)
        made[node.number] = y
        return y
    if node.kind == "tuple":
        parts = [
            rebuilt(child, leaf, value[key], _beside(child, others, key), made)
            for key, child in node.children
        ]
        y = type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
        made[node.number] = y
        return y
    if node.kind == "tangent":
        fields = {
            key: rebuilt(child, leaf, value[key], _beside(child, others, key), made)
            for key, child in node.children
        }
        y = tangent_of(value, fields)
        made[node.number] = y
        return y
    return _copied(node, leaf, value, others, made)


def _copied(node: Node, leaf: Any, value: Any, others: Sequence[Any], made: dict[int, Any]) -> Any:
    y = copy.copy(value)
    if y is value:
        refuse_copy(value)
    made[node.number] = y
    for key, child in node.children:
        if child.kind != "constant":
            beside = _beside(child, others, key)
            if node.kind == "object":
                part = rebuilt(child, leaf, getattr(value, key), beside, made)
                object.__setattr__(y, key, part)
            else:
                y[key] = rebuilt(child, leaf, value[key], beside, made)
    return y


def _beside(child: Node, others: Sequence[Any], key: Any) -> Sequence[Any]:
    if not others:
        return ()
    return [part_beside(way, other, key) for way, other in zip(child.ways, others, strict=True)]


def plan_of(
    tree: Any, others: Sequence[Any], is_leaf: Callable[[Any], bool], ties: bool
) -> tuple[Node, Plan]:
    """Return the root and the plan of a structure; without `ties`, a shared part counts for each
    place."""
    plan = Plan(is_leaf, ties)
    return plan.node(tree, others, (), ()), plan


non_differentiable(plan_of)
