"""The variables, and the contents of the heap, that a loop of the program carries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.joins import contents_template, generalise
from adjoint.fast.evaluate.objects.templates import instantiate, match
from adjoint.fast.evaluate.types import Type
from adjoint.fast.evaluate.values import Abstract, RowOf, Slot
from adjoint.ir.single import Operand, Value


class Carried:
    """State of a loop: templates of its carried variables and of the heap contents that it changes,
    and the lengths of lists that hold in each iteration."""

    def __init__(self, ev: Evaluator, carried: list[Abstract], names: tuple[str, ...]) -> None:
        self.ev, self.names = ev, names
        self.initial = carried
        self.templates: list[Any] = list(carried)
        self.before = dict(ev.heap)
        self.heap: dict[int, Any] = {}
        self.rows: dict[Value, Type] = {}
        self.lengths = dict(ev.row_lengths)
        self.has_lost_lengths = False  # if true, the iterable may have changed its length, too
        self.places: list[int] = []  # addresses that stand for what holds copies, in all iterations

    def begin(self) -> tuple[list[Abstract], tuple[Value, ...]]:
        """Return the carried values at the start of an iteration, and the parameters in them."""
        parameters: list[Value] = []
        name = ""

        def new(slot: Slot) -> Value:
            made = self.ev.slot_value(slot, name)
            parameters.append(made)
            return made

        self.ev.heap = heap = dict(self.before)
        rows = [held.value for held in heap.values() if isinstance(held, RowOf)]
        self.rows = {row: self.ev.types[row] for row in rows}
        now = []
        copies: list[int] = []
        for template, name in zip(self.templates, self.names, strict=True):  # noqa: B007
            now.append(instantiate(template, new, self.ev, copies))
        for address, template in self.heap.items():
            name = getattr(template, "name", "held")
            heap[address] = instantiate(template, new, self.ev, copies)
        self.ev.row_lengths = dict(self.lengths)
        if len(self.places) != len(copies):
            self.places = [self.ev.new_address() for _ in copies]
        self._link(copies)
        self._link(self._copied(self.initial, self.before))
        return now, tuple(parameters)

    def _link(self, addresses: Sequence[int | None]) -> None:
        for place, at in zip(self.places, addresses, strict=True):
            if at is not None:
                self.ev.link(place, at)

    def _copied(self, carried: list[Abstract], heap: dict[int, Any]) -> list[int | None]:
        """Return the addresses of what the copies in the templates are of."""
        copied: list[int | None] = []
        if self.places:
            self.operands(carried, heap, copied)
        return copied

    def _known_copies(self) -> list[frozenset[int]]:
        known = {0, *self.before, *self.places}
        return [self.ev.copies[place] & known for place in self.places]

    def widen(self, found: list[Abstract]) -> bool:
        """Widen the templates by the values at the end of an iteration; return whether anything
        changed."""
        ev, types, lengths = self.ev, self.ev.types, self.ev.row_lengths
        changed = any(types[row] != t for row, t in self.rows.items())
        others = [row for row, n in self.lengths.items() if lengths.get(row) is not n]
        for row in others:
            del self.lengths[row]
            changed = self.has_lost_lengths = True
        made = [
            generalise(t, x, ev, self.before, ev.heap, name)
            for t, x, name in zip(self.templates, found, self.names, strict=True)
        ]
        changed |= any(x is not y and x != y for x, y in zip(made, self.templates, strict=True))
        self.templates = made
        for address, held in self.before.items():
            after = ev.heap[address]
            known = self.heap.get(address)
            if known is not None:
                wider = generalise(known, after, ev, self.before, ev.heap)
            elif after is not held:
                wider = contents_template(address, ev, self.before, ev.heap)
            else:
                continue
            if wider is not known:
                self.heap[address] = wider
                changed = True
        if not changed:
            known_copies = self._known_copies()
            self._link(self._copied(found, ev.heap))
            changed = self._known_copies() != known_copies
        return changed

    def operands(
        self,
        carried: list[Abstract],
        heap: dict[int, Any],
        copied: list[int | None] | None = None,
    ) -> tuple[Operand, ...]:
        """Return the operands for the slots; append the addresses of what is `copied`."""
        found: list[Operand] = []
        for template, x in zip(self.templates, carried, strict=True):
            match(template, x, found, self.ev, heap, copied)
        for address, template in self.heap.items():
            match(template, heap[address], found, self.ev, heap, copied)
        return tuple(found)
