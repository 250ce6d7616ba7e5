"""The log of writes by differentiated code, which a sweep rewinds entry by entry and then replays.

An interrupt may come between any two lines. Each swap therefore writes to memory and stores the
previous contents in its entry on one last line, so that the entry tells whether the swap was made.
"""

from __future__ import annotations

from typing import Any

from adjoint.primal.container_contents import ABSENT
from adjoint.runtime.memory.log_entries import complete, put, swap_cell, swap_contents

FEW = 64
"""Most writes that `has_only_filled_cells` looks through."""

_UNDOING_FAILS = (IndexError, KeyError, AttributeError, ValueError)


class UndoLog:
    """Log entries (`adjoint.runtime.memory.log_entries`), and how many of them are in effect.

    Attributes
    ----------
    position
        The number of writes that are not undone.
    """

    __slots__ = ("_log", "_step", "position")

    position: int

    def __init__(self) -> None:
        self._log: list[list[Any]] = []
        self._step: Any = None
        self.position = 0

    def note(self, *entry: Any) -> int:
        """Log a write: a swap function and what it needs. Returns the position to rewind to."""
        return self.log(list(entry))

    def log(self, entry: list[Any]) -> int:
        """Append a complete entry; return its position."""
        log = self._log
        position = len(log)
        log.append(entry)
        self.position = position + 1
        return position

    def entries(self) -> list[list[Any]]:
        """Return all entries, in the order of the writes."""
        return self._log

    def writes(self) -> int:
        """Return the number of writes that are in effect."""
        return self.position

    def is_untouched(self) -> bool:
        return not self._log

    def has_only_filled_cells(self) -> bool:
        """Return whether all writes gave new captured variables their first value; ``False`` if
        there are many writes."""
        log = self._log
        return len(log) <= FEW and all(
            entry[0] is swap_cell and entry[2] is ABSENT for entry in log
        )

    def forget(self, position: int) -> None:
        """Drop the entries from `position` on, to which memory was rewound."""
        del self._log[position:]
        self.position = position

    def exchange_log(self, log: tuple[list[list[Any]], int]) -> tuple[list[list[Any]], int]:
        """Install a log and a position in it; return the previous ones."""
        before = self._log, self.position
        self._log, self.position = log
        return before

    def rewind(self, position: int) -> None:
        """Undo the writes from the last one down to `position`, that one included."""
        log, cursor = self._log, self.position
        try:
            while cursor > position:
                cursor -= 1
                self._swap(log[cursor], cursor)
        except _UNDOING_FAILS as error:
            raise self._not_undone(cursor) from error

    def undo(self, position: int, entry: list[Any]) -> None:
        """Rewind to `position`, the position of `entry`; one swap if `entry` is the last write."""
        if self.position == position + 1:
            try:
                self._swap(entry, position)
            except _UNDOING_FAILS as error:
                raise self._not_undone(position) from error
        else:
            self.rewind(position)

    def replay(self, position: int) -> None:
        """Replay the undone writes up to `position`, also after an interrupted swap."""
        self._settle()
        log = self._log
        while self.position < position:
            entry = log[self.position]
            if entry[0] is swap_contents:
                self._redo_contents(entry[1], position)
            else:
                self._swap(entry, self.position + 1)

    def _swap(self, entry: list[Any], then: int) -> None:
        """Exchange the contents in an entry with those in memory; then set the position."""
        self._step = entry, [*entry], then
        entry[0](entry)
        self.position, self._step = then, None

    def _settle(self) -> None:
        """Find out whether the interrupted swap was made, and set the position accordingly."""
        if self._step is None:
            return
        entry, before, then = self._step
        if entry is None:
            self._put_contents(before, then)
        elif self.position != then and complete(entry, before):
            self.position = then
        self._step = None

    def _redo_contents(self, array: Any, position: int) -> None:
        """Replay consecutive writes of one whole array.

        Each wrote the contents that the next overwrote, so only the last contents are copied in.
        """
        log, end = self._log, self.position
        held = [array.copy()]
        while end < position and log[end][0] is swap_contents and log[end][1] is array:
            held.append(log[end][2])
            end += 1
        self._step = None, held, end
        self._put_contents(held, end)

    def _put_contents(self, held: list[Any], end: int) -> None:
        """Store in the entries up to `end` what each overwrote; write the last of `held`."""
        for entry, found in zip(self._log[end - len(held) + 1 : end], held, strict=False):
            entry[2] = found
        put(entry[1], ..., held[-1])
        self.position, self._step = end, None

    def _not_undone(self, position: int) -> Exception:
        raise NotImplementedError
