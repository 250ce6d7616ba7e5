"""Views of dicts: iteration over the entries of the dict, and operators of sets."""

from __future__ import annotations

from collections import OrderedDict
from types import MappingProxyType
from typing import Any

from adjoint.primal.container_contents import base_of
from adjoint.primal.value_kinds import mapping_behind
from adjoint.rulekit.registry import non_differentiable, primitive, substitute
from adjoint.runtime.python.builtin_iterators import Entries

KINDS: dict[str, tuple[type, type]] = {
    which: (type(getattr({}, which)()), type(getattr(OrderedDict(), which)()))
    for which in ("keys", "values", "items")
}
"""The types of the views of dicts and of ordered dicts."""


# ---- iteration -----------------------------------------------------------------------------------


def _iterated(which: str, backwards: bool) -> Any:
    def elements(record: list[Any], slot: int, view: Any) -> Any:
        owner = mapping_behind(view)
        # The shadow is keyed, so values are read with their keys.
        seen = view if which == "keys" else base_of(owner).items(owner)
        return Entries(record[0], owner, reversed(seen) if backwards else seen, which)

    return elements


for _which, _kinds in KINDS.items():
    for _kind in _kinds:
        primitive((_kind, "__iter__"))(_iterated(_which, backwards=False))
        primitive((_kind, "__reversed__"))(_iterated(_which, backwards=True))


# ---- as sets -------------------------------------------------------------------------------------


def _is_view(x: Any) -> bool:
    return isinstance(x, KINDS["keys"][0] | KINDS["items"][0])


def _source(view: Any) -> Any:
    """Return what C fills a set from: for keys, the dict, whose size becomes that of the set."""
    if isinstance(view, KINDS["keys"]) and type(owner := mapping_behind(view)) is dict:
        return owner
    return view


def _operator(name: str, method: Any) -> None:
    for kind in (KINDS["keys"][0], KINDS["items"][0]):

        @substitute((kind, f"__{name}__"))
        def _(a: Any, b: Any) -> Any:
            return method(a, b)

        @substitute((kind, f"__r{name}__"))
        def _(a: Any, b: Any) -> Any:
            return method(b, a)


def _in_place(method: Any) -> Any:
    def operate(a: Any, b: Any) -> Any:
        made = set(_source(a))
        method(made, b)
        return made

    return operate


def _intersection(a: Any, b: Any) -> Any:
    """Intersect two operands; of equal elements, the result has that of the smaller operand."""
    if not _is_view(a):
        a, b = b, a
    n = len(a)
    if type(b) is set and n <= len(b):
        return b.intersection(a)
    if _is_view(b) and len(b) > n:
        a, b = b, a
    return {item for item in b if item in a}


_operator("or", _in_place(set.update))
_operator("sub", _in_place(set.difference_update))
_operator("xor", _in_place(set.symmetric_difference_update))
_operator("and", _intersection)
non_differentiable(_is_view, _source)
for _kind in map(type, ({}.keys(), {}.items(), OrderedDict().keys(), OrderedDict().items())):
    non_differentiable((_kind, "isdisjoint"))


# ---- proxies -------------------------------------------------------------------------------------


@substitute((MappingProxyType, "__iter__"))
def _(proxy: Any) -> Any:
    return iter(mapping_behind(proxy))


@substitute((MappingProxyType, "__reversed__"))
def _(proxy: Any) -> Any:
    return reversed(mapping_behind(proxy))


def _forward(name: str) -> None:
    @substitute((MappingProxyType, name))
    def _(proxy: Any, *args: Any) -> Any:
        return getattr(mapping_behind(proxy), name)(*args)


for _name in ("keys", "values", "items", "get", "copy"):
    _forward(_name)


@substitute((MappingProxyType, "__or__"))
def _(a: Any, b: Any) -> Any:
    return _unwrapped(a) | _unwrapped(b)


@substitute((MappingProxyType, "__ror__"))
def _(a: Any, b: Any) -> Any:
    return _unwrapped(b) | _unwrapped(a)


def _unwrapped(x: Any) -> Any:
    return mapping_behind(x) if isinstance(x, MappingProxyType) else x


non_differentiable(mapping_behind, _unwrapped)
