"""Memory during differentiation: shadows of what can be mutated, and the log of writes (design,
section 3.5).

A cotangent of something that can be mutated belongs to the memory, not to the name. One `Memory`
accompanies one top-level `pullback`: it knows which arrays have been written, keeps the log of what
every write overwrote, and during a reverse sweep holds the shadows.

The shadow of a list is a list of the same length, of a dict a dict, of an object a dict by field,
of a cell its own entry: each is changed by the reverse of whatever changed the original, so both
stay in step.
"""

from __future__ import annotations

import sys
import threading
from collections import deque
from typing import Any

import numpy as np

from adjoint.cotangents.accumulate import accumulate
from adjoint.cotangents.poison import Poison
from adjoint.diagnostics.refusals import changed_since, refused
from adjoint.primal.array_memory import (
    address_of,
    beside,
    bounds_of,
    is_seen_as_stored,
    owner_of,
    root_of,
)
from adjoint.primal.container_contents import any_asks_user, asks_user, place_of_held, size_of
from adjoint.primal.engine_object import Hidden
from adjoint.primal.exposed_arrays import note_written, owner_among
from adjoint.runtime.memory.array_shadow import add_to_shadow
from adjoint.runtime.memory.integers import has_integers
from adjoint.runtime.memory.undo_log import UndoLog


class Memory(UndoLog, Hidden):
    """What one differentiated call knows about mutable things.

    Attributes
    ----------
    arguments
        What the call is differentiated in.
    shadows
        During a sweep: cotangents by identity of their owner (lists, dicts, objects, cells,
        iterators …).
    buffers
        During a sweep: cotangents of written arrays, by identity of the array that owns the memory.
    written
        The arrays, as owners of memory, that have been written since the beginning; they are kept
        alive here.
    outside
        Those of them that objects of C may look at (`adjoint.primal.exposed_arrays`).
    made
        References to arrays that the call has made, by identity.
    globals_written
        ``(id(namespace), name)`` of global variables assigned by differentiated code.
    handed
        Functions that code in C has kept, and may call whenever it runs.
    unfinished
        Generators with something to do when they are let go, if there are any.
    late
        What one of them has changed when it was let go, as the error that refuses it.
    longer
        Lists, by identity, that somebody else has appended to since
        (`adjoint.runtime.memory.write_check`).
    odd
        Whether a slice was made of objects that are asked for their ``__index__``.
    position
        That of the next write in the log: rewinding to it undoes all that comes from now on.
    region
        The innermost run of code that is not differentiated
        (`adjoint.runtime.foreign.foreign_run.Region`).
    trial
        Whether what is swept was given no cotangent (`adjoint.runtime.recompute.separate_sweep`).
    careful
        Whether rules look for products with zeros that are not zero
        (`adjoint.cotangents.finiteness`).
    shown
        Whether a sweep runs functions of the user's: hooks, rules from outside, what is computed
        anew.
    owners
        During a part of a sweep that is computed anew (`adjoint.runtime.recompute.rerun`): what got
        a shadow in it, by identity.
    files
        Open files with buffers that were made on the way (`adjoint.runtime.foreign.open_files`).
    often
        After how many calls functions are specialised; ``None``: never.
    calls
        What is noted of calls that are specialised or not, if anything is.
    passed
        What a reverse generator is sent, and what it returns.
    delegate
        What a generator waits for that is at a ``yield from``.
    alive
        During a sweep: what has to be there until its end, for shadows are kept by identity.
    """

    __slots__ = (
        "_lowest",
        "alive",
        "arguments",
        "buffers",
        "caches",
        "calls",
        "careful",
        "delegate",
        "files",
        "globals_written",
        "handed",
        "late",
        "lock",
        "longer",
        "made",
        "odd",
        "often",
        "outside",
        "owners",
        "passed",
        "plain",
        "region",
        "shadows",
        "shown",
        "trial",
        "unfinished",
        "written",
    )

    level: Any = None
    """What runs the numerical operations instead of the reverse mode (`adjoint.levels`)."""

    def __init__(self, arguments: tuple[Any, ...] = ()) -> None:
        super().__init__()
        self.arguments = arguments
        self.shadows: dict[Any, Any] = {}
        self.buffers: dict[int, np.ndarray[Any, Any]] = {}
        self._lowest: dict[int, int] = {}
        self.written: dict[int, np.ndarray[Any, Any]] = {}
        self.outside: dict[int, np.ndarray[Any, Any]] = {}
        self.made: dict[int, Any] = {}
        self.globals_written: dict[tuple[int, str], Any] = {}
        self.caches: dict[Any, Any] = {}
        self.plain: set[int] = set()
        self.handed: list[Any] = []
        self.unfinished: Any = None
        self.late: Exception | None = None
        self.files: list[Any] = []
        self.longer: frozenset[int] | set[int] = frozenset()
        self.odd = False
        self.region: Any = None
        self.trial = False
        self.careful = True
        self.shown = False
        self.owners: dict[int, Any] | None = None
        self.often: int | None = None
        self.calls: Any = None
        self.passed: Any = None
        self.delegate: Any = None
        self.alive: list[Any] = []
        self.lock = threading.RLock()

    # ---- sweeps --------------------------------------------------------------------------------

    def _not_undone(self, position: int) -> Exception:
        """The error where a write cannot be undone: somebody else has taken away what it put."""
        self._step = None
        owner = self._log[position][1]
        return changed_since(getattr(owner, "__self__", owner))

    def __enter__(self) -> None:
        """Begin a reverse sweep, with empty shadows. It is entered twice (``with memory, memory``):
        an interrupt of the end of a sweep leaves the other end to go on."""
        self.redo(len(self._log))  # if the interrupt was in both
        self.exchange_shadows()

    def __exit__(self, *_: object) -> None:
        """Redo every write, so that the user's objects are as the forward sweep left them."""
        self.redo(len(self._log))
        self.exchange_shadows()
        self.alive = []

    def exchange_shadows(self, shadows: tuple[Any, ...] = ()) -> tuple[Any, ...]:
        """Put shadows in place, or none; returns those that were there."""
        before = self.shadows, self.buffers, self._lowest
        self.shadows, self.buffers, self._lowest = shadows or ({}, {}, {})
        return before

    # ---- shadows by identity ---------------------------------------------------------------------

    def list_shadow(self, xs: Any) -> list[Any]:
        """The shadow of a list, tuple or deque: one cotangent per element."""
        shadow = self.shadows.get(id(xs))
        if shadow is None:
            if id(xs) in self.longer:
                raise changed_since(xs)
            empty: list[Any] = [None] * size_of(xs)
            # What is put in and taken out at both ends is, in the shadow, too.
            made: Any = deque(empty) if isinstance(xs, deque) else empty
            shadow = self.shadows[id(xs)] = made
            if self.owners is not None:
                self.owners[id(xs)] = xs
        return shadow  # type: ignore[no-any-return]

    def dict_shadow(self, owner: Any) -> dict[Any, Any]:
        """The shadow of a dict (by key), a set (by element) or an object (by field)."""
        shadow = self.shadows.get(id(owner))
        if shadow is None:
            shadow = self.shadows[id(owner)] = {}
            if self.owners is not None:
                self.owners[id(owner)] = owner
        return shadow

    def add_item(self, xs: Any, i: int, bar: Any) -> None:
        """Add a cotangent of ``xs[i]`` of a list, tuple or deque; `i` is not negative."""
        if bar is not None:
            shadow = self.shadows.get(id(xs))
            if shadow is None:
                shadow = self.list_shadow(xs)
            before = shadow[i]
            shadow[i] = bar if before is None else accumulate(before, bar)

    def add_entry(self, owner: Any, key: Any, bar: Any) -> None:
        """Add a cotangent of one value of a dict, one element of a set, one field of an object."""
        if bar is not None:
            shadow = self.dict_shadow(owner)
            shadow[key] = accumulate(shadow.get(key), bar)

    def place(self, owner: Any, key: Any) -> Any:
        """What the shadow of a dict is keyed by: `key`, or the identity of the key that it holds.

        The hash and the equality of a user's class are the user's code, and may look at fields that
        a sweep has rewound, so such keys are looked up only when an operation is recorded.
        """
        return place_of_held(self.held(owner, key))

    def held(self, owner: Any, key: Any) -> Any:
        """The key of a dict that is equal to `key`. Numbers and text stand for each other, unless
        it holds keys of another kind, too, which may be equal to them."""
        if id(owner) in self.plain and not asks_user(key):
            return key
        keys = self.caches.get(("keys", id(owner)))
        if keys is None:
            if not asks_user(key) and not any_asks_user(owner):
                self.plain.add(id(owner))
                return key
            self.plain.discard(id(owner))
            keys = self.caches["keys", id(owner)] = {held: held for held in dict.__iter__(owner)}
        return keys.setdefault(key, key)  # it may have just been inserted

    def add_key(self, owner: Any, key: Any, bar: Any) -> None:
        """Add a cotangent of a number that is a key of a dict."""
        if bar is not None:
            shadow = self.shadows.setdefault(("keys", id(owner)), {})
            shadow[key] = accumulate(shadow.get(key), bar)
            if self.owners is not None:
                self.owners[id(owner)] = owner

    def take_key(self, owner: Any, key: Any) -> Any:
        """Take the cotangent of a key that is inserted; ``None`` for most."""
        shadow = self.shadows.get(("keys", id(owner)))
        return None if shadow is None else shadow.pop(key, None)

    def take_entry(self, owner: Any, key: Any) -> Any:
        """Take the cotangent of one value of a dict or field of an object out of the shadow."""
        shadow = self.shadows.get(id(owner))
        return None if shadow is None else shadow.pop(key, None)

    def take_items(self, xs: Any, n: int) -> list[Any]:
        """Take the whole shadow of a list or tuple of `n` elements."""
        shadow = self.shadows.pop(id(xs), None)
        return [None] * n if shadow is None else shadow

    # ---- written arrays --------------------------------------------------------------------------

    def mark_written(self, array: np.ndarray[Any, Any]) -> bool:
        """Note that the memory of `array` is about to be written; whether that memory can carry
        derivatives.

        Raises
        ------
        MutationError
            The memory does not belong to an array: a foreign buffer, `as_strided`, or it holds
            objects or records.
        """
        if id(array) in self.written:
            return True
        kind = array.dtype.kind
        if kind not in "fcOV":
            # An integer or boolean view may still look at memory that holds floats.
            root = root_of(array)
            if root.dtype.kind in "fc" and root is not array:
                raise refused(
                    f"a view of type {array.dtype} writes into an array of type {root.dtype}",
                    hint="write through a view of the array's own type, or into a copy",
                )
            return self._is_of_integers(array, root)
        if kind in "OV":
            raise refused(
                f"an array of type {array.dtype} is written inside differentiated code",
                hint="use an array of floats, or a list",
            )
        owner = owner_of(array)
        if owner is not None:
            raise refused(
                f"a write goes through memory that belongs to {owner!r}, not to an array",
                hint="write into a copy: np.array(x) owns its memory",
            )
        root = root_of(array)
        if not is_seen_as_stored(array, root):
            raise refused(
                f"a view of type {array.dtype} writes into an array of type {root.dtype}",
                hint="write through a view of the array's own type, or into a copy",
            )
        note_written(self, root)
        return True

    def owner(self, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """The array that owns the memory of `array`, also where something else stands between them
        and it was written."""
        root = root_of(array)
        return root if root.base is None else owner_among(root, self.outside.values())

    def _is_of_integers(self, array: np.ndarray[Any, Any], root: np.ndarray[Any, Any]) -> bool:
        """Whether integers that are written can carry derivatives; it is noted that they are."""
        real = array.dtype.kind in "iu" and array.dtype == root.dtype and has_integers(self)
        if real and owner_of(array) is None:
            self.written[id(root)] = root
            return True
        return False

    def is_written(self, array: np.ndarray[Any, Any]) -> bool:
        """Whether the memory of `array` has been written since the beginning, and is seen by
        `array` as what it is."""
        root = self.owner(array)
        return id(root) in self.written and (
            array is root
            or array.dtype is root.dtype
            or (array.dtype.kind == "V" and array.dtype == root.dtype)  # seen as records
            or is_seen_as_stored(array, root)
        )

    def array_shadow(self, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """The cotangent of a written array, as a view that can be read and added to.

        It mirrors the array's own view of its owner: same offset, shape and strides.
        """
        root = self.owner(array)
        shadow = self.buffers.get(id(root))
        if shadow is None:
            low, high = bounds_of(root)
            dtype = float if root.dtype.kind in "iu" else root.dtype
            flat = np.zeros(-(-(high - low) // root.itemsize), dtype)
            shadow = beside(root, flat, address_of(root) - low)
            self.buffers[id(root)] = shadow
            self._lowest[id(root)] = low
        if array is root:
            return shadow
        return beside(array, shadow.base, address_of(array) - self._lowest[id(root)])

    def reshape_shadow(self, array: np.ndarray[Any, Any]) -> None:
        """The shape of an array was assigned: its shadow follows."""
        shadow: Any = self.buffers.get(id(array))
        if shadow is not None:
            offset = address_of(array) - self._lowest[id(array)]
            self.buffers[id(array)] = beside(array, shadow.base, offset)

    def move_array(self, old: np.ndarray[Any, Any], new: np.ndarray[Any, Any]) -> None:
        """What was added to the owner of memory `old` belongs to `new`, of the same layout."""
        shadow = self.buffers.pop(id(old), None)
        if shadow is not None:
            self._lowest.pop(id(old))
            note_written(self, new)
            self.array_shadow(new)[...] += shadow

    def forget_written(self, n: int) -> None:
        """Forget which arrays were written, but the first `n` and those that others hold."""
        found = [self.written.popitem() for _ in range(len(self.written) - n)]
        for i in range(len(found) - 1, -1, -1):
            place = found[i][0]
            if sys.getrefcount(found[i][1]) > _BY_US:
                self.written[place] = found[i][1]
                continue
            self.outside.pop(place, None)
            if self.buffers.pop(place, None) is not None:
                self._lowest.pop(place)
                self.shadows.pop(("poison", place), None)

    def add_array(self, array: np.ndarray[Any, Any], bar: Any) -> None:
        """Add a cotangent of a written array to its memory."""
        if bar is None:
            return
        root = self.owner(array)
        if array.dtype.kind in "fc":
            bar = Poison.of_part(bar)
        if type(bar) is Poison:
            self.shadows[("poison", id(root))] = bar
            self.array_shadow(root)  # that there is one says that something arrived
            return
        add_to_shadow(self.array_shadow(array), ..., bar)

    def take_array(self, array: np.ndarray[Any, Any]) -> Any:
        """Take the cotangent of a written array out of its memory; ``None`` where nothing was
        added."""
        root = self.owner(array)
        if id(root) not in self.buffers:
            return self.shadows.get(("poison", id(root)))
        shadow = self.array_shadow(array)
        bar = shadow.copy()
        shadow[...] = 0
        return self.shadows.get(("poison", id(root)), bar)


def _references() -> int:
    found = [(0, object())]
    return sys.getrefcount(found[0][1])


_BY_US = _references()
"""References to an array that nobody but such a list holds."""
