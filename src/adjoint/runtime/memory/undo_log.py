"""The log of what differentiated code has written. A reverse sweep undoes it step by step; at its
end all is written again.

An exception may come at any moment of that: an interrupt does. So a step is one that was not made,
or one that was, as what is left of it tells: the last thing that it does, in one line with what it
writes, is to put what was there into its entry.
"""

from __future__ import annotations

from typing import Any

from adjoint.runtime.memory.log_entries import complete, put, swap_contents

_UNDOING_FAILS = (IndexError, KeyError, AttributeError, ValueError)


class UndoLog:
    """Entries (see `adjoint.runtime.memory.log_entries`), and up to where they stand written.

    Attributes
    ----------
    position
        The number of writes that are not undone.
    """

    __slots__ = ("_log", "_step", "position")

    def __init__(self) -> None:
        self._log: list[list[Any]] = []
        self._step: Any = None
        self.position = 0

    def note(self, *entry: Any) -> int:
        """Log a write: a swap function and what it needs. Returns the position to rewind to."""
        return self.log(list(entry))

    def log(self, entry: list[Any]) -> int:
        """`note` of an entry that is made already."""
        log = self._log
        position = len(log)
        log.append(entry)
        self.position = position + 1
        return position

    def entries(self) -> list[list[Any]]:
        """Everything that was written, in order."""
        return self._log

    def writes(self) -> int:
        """How often something was written so far."""
        return self.position

    def is_untouched(self) -> bool:
        """Whether nothing was written."""
        return not self._log

    def forget(self, position: int) -> None:
        """Drop the entries of the log from `position` on, which is where memory is."""
        del self._log[position:]
        self.position = position

    def exchange_log(self, log: tuple[list[list[Any]], int]) -> tuple[list[list[Any]], int]:
        """Put a log and a position in it in place; returns those that were there."""
        before = self._log, self.position
        self._log, self.position = log
        return before

    def rewind(self, position: int) -> None:
        """Undo the logged writes from the last one down to `position`: memory is as it was just
        before that write."""
        log, cursor = self._log, self.position
        try:
            while cursor > position:
                cursor -= 1
                self._swap(log[cursor], cursor)
        except _UNDOING_FAILS as error:
            raise self._not_undone(cursor) from error

    def undo(self, position: int, entry: list[Any]) -> None:
        """`rewind` to `position`, where `entry` is: at once if nothing was written since."""
        if self.position == position + 1:
            try:
                self._swap(entry, position)
            except _UNDOING_FAILS as error:
                raise self._not_undone(position) from error
        else:
            self.rewind(position)

    def redo(self, position: int) -> None:
        """Make the undone writes again up to `position`; after a step that was not made to its end,
        too."""
        self._settle()
        log = self._log
        while self.position < position:
            entry = log[self.position]
            if entry[0] is swap_contents:
                self._redo_contents(entry[1], position)
            else:
                self._swap(entry, self.position + 1)

    def _swap(self, entry: list[Any], then: int) -> None:
        """Exchange what an entry holds with what is there; `then` is the position after that."""
        self._step = entry, [*entry], then
        entry[0](entry)
        self.position, self._step = then, None

    def _settle(self) -> None:
        """Find out whether the last step was made."""
        if self._step is None:
            return
        entry, before, then = self._step
        if entry is None:
            self._put_contents(before, then)
        elif self.position != then and complete(entry, before):
            self.position = then
        self._step = None

    def _redo_contents(self, array: Any, position: int) -> None:
        """Make the next writes of all of one array again.

        What each wrote is what the next found, so that only the last one touches the array.
        """
        log, end = self._log, self.position
        held = [array.copy()]
        while end < position and log[end][0] is swap_contents and log[end][1] is array:
            held.append(log[end][2])
            end += 1
        self._step = None, held, end
        self._put_contents(held, end)

    def _put_contents(self, held: list[Any], end: int) -> None:
        """Let the entries up to `end` hold what each found; the last of `held` is in the array."""
        for entry, found in zip(self._log[end - len(held) + 1 : end], held, strict=False):
            entry[2] = found
        put(entry[1], ..., held[-1])
        self.position, self._step = end, None

    def _not_undone(self, position: int) -> Exception:
        raise NotImplementedError
