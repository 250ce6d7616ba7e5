"""The heap of a program under construction: what its containers and objects hold."""

from __future__ import annotations

from typing import Any

from adjoint.fast.evaluate.outside_values import Outside
from adjoint.fast.evaluate.plain_classes import changed_by
from adjoint.fast.evaluate.values import (
    HIDDEN,
    ITEMS,
    Abstract,
    DequeOf,
    DictOf,
    External,
    FieldsOf,
    HeapObject,
    Instance,
    Iterating,
    Known,
    ListOf,
    Overtaken,
    Ref,
    SetOf,
    Tuple,
)
from adjoint.fast.evaluate.writes.aliases import Aliases
from adjoint.fast.not_covered import NotCovered, WrittenCopy
from adjoint.ir.nodes import Span

_FROZEN = frozenset({0})
"""The copies of what nothing may write to."""


class Heap(Aliases):
    """The containers and objects of a program.

    Attributes
    ----------
    outside
        The outside values that the program reads, and its guards.
    heap
        By address: the content of a container or an object.
    copies
        By address of a list, dict or object of which a variable holds one or another, in a copy:
        the addresses of it and its copies; 0 among them stands for others.
    keeps_lists, may_keep_lists
        Whether such a variable holds the lists themselves if it can; whether it may.
    shown_fields
        Addresses of objects whose ``__dict__`` has been read.
    span
        The place in the source of what is being evaluated.
    """

    def __init__(self, outside: Outside) -> None:
        super().__init__(outside.types)
        self.outside = outside
        self.heap: dict[int, HeapObject] = {}
        self.copies: dict[int, frozenset[int]] = {}
        self.keeps_lists, self.may_keep_lists = False, True
        self.shown_fields: set[int] = set()
        self.span: Span | None = None
        self._addresses = 0

    def new_address(self) -> int:
        self._addresses += 1
        return self._addresses

    def allocate(self, held: HeapObject) -> Ref:
        made = Ref(self.new_address())
        self.heap[made.address] = held
        return made

    def link(self, *addresses: int) -> None:
        """Note that a variable holds one of several lists, dicts or objects, in a copy (`joins`):
        they may be one, so a write to any overtakes the others, which nothing may read then. Where
        one is from outside, or not known (0), nothing may write to any."""
        linked = frozenset().union(*(self.copies.get(at, {at}) for at in addresses))
        is_outside = any(x.ref.address in linked for x in self.outside.adopted)
        found = _FROZEN if is_outside or 0 in linked else linked
        self.copies |= dict.fromkeys(linked, found)

    def demand_own_list(self, address: int) -> None:
        """Overtake the copies of a list, dict or object that is written to; refuse the write if
        they are not known."""
        linked = self.copies.get(address, frozenset())
        if linked is _FROZEN:
            raise self._written_copy()
        for other in linked:
            if other != address and other in self.heap:
                self.heap[other] = Overtaken()

    def demand_one(self, address: int) -> None:
        """Refuse what tells a list, dict or object from its copies."""
        if address in self.copies:
            raise self._written_copy()

    def _written_copy(self) -> NotCovered:
        kind = WrittenCopy if self.may_keep_lists else NotCovered
        reason = "a write to a list or object that depends on a branch or an iteration"
        return kind(reason, self.span)

    def held(self, a: Any) -> HeapObject | None:
        """Return the content of the heap that `a` refers to; ``None`` if it refers to none."""
        return self.held_in(self.heap, a)

    def held_in(self, heap: dict[int, HeapObject], a: Any) -> HeapObject | None:
        """Return the content of a heap that `a` refers to; ``None`` if it refers to none."""
        found = heap.get(a.address) if isinstance(a, Ref) else None
        if isinstance(found, Overtaken):
            raise self._written_copy()
        return found

    def demand_tree(self, a: Ref) -> None:
        """Refuse a list that holds itself."""
        inside, seen = [*(self.sequence(a) or ())], {a.address}
        while inside:
            x = inside.pop()
            if isinstance(x, Ref):
                if x.address == a.address:
                    raise NotCovered("a list that holds itself", self.span)
                if x.address in seen:
                    continue
                seen.add(x.address)
            inside += self.sequence(x) or ()

    def sequence(self, a: Abstract) -> tuple[Abstract, ...] | None:
        """Return the items of a tuple or list of known length; ``None`` for anything else."""
        if isinstance(a, Tuple):
            return a.items
        if isinstance(a, Known) and isinstance(a.value, tuple):
            return tuple(map(Known, a.value))
        if isinstance(held := self.held(a), ListOf):
            return held.items
        if isinstance(held, Instance) and ITEMS in held.names:
            whole = held.items[held.names.index(ITEMS)]
            return whole.items if isinstance(whole, Tuple) and not changed_by(held.cls) else None
        if isinstance(a, External) and isinstance(a.sample, list | tuple):
            return tuple(self.outside.read(a.source, "item", i, x) for i, x in enumerate(a.sample))
        return None

    def is_list(self, a: Abstract) -> bool:
        return isinstance(getattr(a, "sample", None), list)

    def keys(self, a: Abstract) -> tuple[Any, ...] | None:
        """Return the keys of a dict; ``None`` for anything else."""
        if isinstance(a, External) and type(a.sample) is dict:
            return tuple(a.sample)
        if isinstance(a, FieldsOf):
            held = self.held(a.owner)
            if isinstance(held, Instance):
                return tuple(name for name in held.names if name not in HIDDEN)
            return tuple(vars(a.owner.sample))  # type: ignore[union-attr]
        held = self.held(a)
        return held.keys if isinstance(held, DictOf) else None

    def entries(self, a: Abstract) -> dict[Any, Abstract] | None:
        """Return the entries of a dict; ``None`` for anything else."""
        if isinstance(a, External) and type(a.sample) is dict:
            read = self.outside.read
            return {k: read(a.source, "item", k, x) for k, x in a.sample.items()}
        held = self.held(a)
        if not isinstance(held, DictOf):
            return None
        return dict(zip(held.keys, held.items, strict=True))

    def count(self, a: Abstract) -> int | None:
        """Return the number of items of a container of known structure; ``None`` for others."""
        held = self.held(a)
        if isinstance(a, Iterating) and a.kind in (dict.keys, dict.values, dict.items):
            (a,) = a.operands
        if isinstance(held, DequeOf):
            return len(held.items)
        if isinstance(held, SetOf):
            return len(held.keys)
        if isinstance(a, External) and isinstance(a.sample, set | frozenset):
            return len(a.sample)
        parts = self.sequence(a)
        if parts is None:
            parts = self.keys(a)
        return None if parts is None else len(parts)
