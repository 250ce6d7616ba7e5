"""Repetition of branches and loops in which lists, dicts and sets grow."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.joins import Grows
from adjoint.fast.evaluate.objects.number_keys import as_table
from adjoint.fast.evaluate.objects.queues import as_queue
from adjoint.fast.evaluate.objects.record_templates import Record
from adjoint.fast.evaluate.objects.records import as_records
from adjoint.fast.evaluate.rows import as_row
from adjoint.fast.evaluate.values import DequeOf, DictOf, ListOf, SetOf
from adjoint.fast.not_covered import NotCovered

MOST_GROWING = 16
_GROWING = (ListOf, DequeOf, DictOf, SetOf)
T = TypeVar("T")


@contextmanager
def restorable(ev: Evaluator) -> Iterator[Callable[[], None]]:
    """Return a function that undoes what is written after this point."""
    heap, length, frames, span = dict(ev.heap), len(ev.block), len(ev.frames), ev.span
    block, lengths, copies = ev.block, dict(ev.row_lengths), dict(ev.copies)
    cached = dict(ev.cached)

    def restore() -> None:
        ev.heap = dict(heap)
        ev.row_lengths = dict(lengths)
        ev.copies = dict(copies)
        ev.cached = dict(cached)
        ev.block = block
        del ev.block[length:]
        del ev.frames[frames:]
        ev.span = span

    yield restore


def growing(ev: Evaluator, run: Callable[[], T], is_short: Callable[[], bool] | None = None) -> T:
    """Run a branch or a loop; repeat it with growing lists, and dicts and sets with keys of the
    program, as values of the program.

    If `is_short` returns true, raise `Grows` instead, so that the caller can unroll the loop.
    """
    grown: list[int] = []
    templates: dict[int, Record | None] = {}
    with restorable(ev) as restore:
        for _ in range(MOST_GROWING):
            try:
                return run()
            except Grows as error:
                restore()
                held = ev.heap.get(error.address)
                if not isinstance(held, _GROWING) or error.address in grown:
                    raise
                if is_short is not None and not grown and is_short():
                    raise
                grown.append(error.address)
                templates[error.address] = error.template
                for address in grown:
                    if (template := templates[address]) is not None:
                        as_records(ev, address, template)
                    elif isinstance(ev.heap[address], ListOf):
                        as_row(ev, address, of_arrays=True)
                    elif isinstance(ev.heap[address], DequeOf):
                        as_queue(ev, address)
                    else:
                        as_table(ev, address)
        raise NotCovered("too many lists that grow", ev.span)
