"""Memory of one differentiated call: shadows of mutable things, and the log of writes (design,
section 3.5).

A cotangent of a mutable thing belongs to the memory, not to the name. One `Memory` accompanies one
top-level `pullback`: it notes the written arrays, logs what each write overwrote, and holds the
shadows during a reverse sweep.

The shadow of a list is a list of the same length, of a dict a dict, of an object a dict by field,
of a cell a dict with one entry. The reverse of each write changes the shadow, too, so that the
shadow always has the structure of its original.
"""

from __future__ import annotations

import sys
import threading
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from adjoint.cotangents.accumulate import accumulate
from adjoint.cotangents.poison import Poison
from adjoint.diagnostics.refusals import changed_since, refused
from adjoint.primal.array_memory import (
    address_of,
    bounds_of,
    is_seen_as_stored,
    owner_of,
    root_of,
    shadow_view,
)
from adjoint.primal.container_contents import (
    any_compares_by_user_code,
    compares_by_user_code,
    place_of_held,
    size_of,
)
from adjoint.primal.engine_object import EngineObject
from adjoint.primal.exposed_arrays import note_written, owner_among
from adjoint.runtime.memory.array_shadow import add_to_shadow
from adjoint.runtime.memory.integers import has_integers
from adjoint.runtime.memory.undo_log import UndoLog


class Memory(UndoLog, EngineObject):
    """The shadows, the log and the notes of one differentiated call.

    Attributes
    ----------
    arguments
        The differentiated arguments of the call.
    shadows
        During a sweep: cotangents by identity of their owner (lists, dicts, objects, cells,
        iterators …).
    buffers
        During a sweep: cotangents of written arrays, by identity of the array that owns the memory.
    written
        The arrays, as owners of memory, that have been written since the beginning; they are kept
        alive here.
    exposed
        Those of `written` that objects of C may alias (`adjoint.primal.exposed_arrays`).
    created
        References to arrays created by the call, by identity.
    globals_written
        ``(id(namespace), name)`` of global variables assigned by differentiated code.
    stored_functions
        Functions that foreign code has stored and may call in any later foreign run.
    unfinished
        Generators that run code when they are freed, or ``None``.
    freeing_error
        The error that refuses a write by such a generator while it was freed, or ``None``.
    appended_lists
        Identities of lists that other code has appended to since the forward sweep
        (`adjoint.runtime.memory.write_check`).
    has_index_objects
        Whether a slice was made of objects with ``__index__`` in Python.
    position
        The position of the next write in the log; rewinding to it undoes all later writes.
    foreign_run
        The innermost foreign run (`adjoint.runtime.foreign.foreign_run.ForeignRun`).
    trial
        Whether the sweep runs without an incoming cotangent
        (`adjoint.runtime.recompute.separate_sweep`).
    careful
        Whether rules correct products of a zero cotangent that are not finite
        (`adjoint.cotangents.finiteness`).
    runs_user_code
        Whether a sweep runs user code: hooks, external rules, recomputed calls.
    owners
        During a recomputed part of a sweep (`adjoint.runtime.recompute.rerun`): the objects that
        got a shadow in it, by identity.
    files
        Open files with buffers that the call has made (`adjoint.runtime.foreign.open_files`).
    specialise_after
        The number of calls after which a function is specialised; ``None``: never.
    calls
        The log of calls that were specialised or not, or ``None``.
    passed
        The value that is sent to a reverse generator, or that it returns.
    delegate
        The iterator that a generator waits for at a ``yield from``.
    alive
        During a sweep: objects kept alive until its end, because shadows are keyed by identity.
    """

    __slots__ = (
        "_lowest",
        "alive",
        "appended_lists",
        "arguments",
        "buffers",
        "caches",
        "calls",
        "careful",
        "created",
        "delegate",
        "exposed",
        "files",
        "foreign_run",
        "freeing_error",
        "globals_written",
        "has_index_objects",
        "lock",
        "owners",
        "passed",
        "plain_dicts",
        "runs_user_code",
        "shadows",
        "specialise_after",
        "stored_functions",
        "trial",
        "unfinished",
        "written",
    )

    level: Any = None
    """The level that runs numerical operations in place of reverse mode (`adjoint.levels`)."""

    def __init__(self, arguments: tuple[Any, ...] = ()) -> None:
        super().__init__()
        self.arguments: tuple[Any, ...] = arguments
        self.shadows: dict[Any, Any] = {}
        self.buffers: dict[int, np.ndarray[Any, Any]] = {}
        self._lowest: dict[int, int] = {}
        self.written: dict[int, np.ndarray[Any, Any]] = {}
        self.exposed: dict[int, np.ndarray[Any, Any]] = {}
        self.created: dict[int, Any] = {}
        self.globals_written: dict[tuple[int, str], Any] = {}
        self.caches: dict[Any, Any] = {}
        self.plain_dicts: set[int] = set()
        self.stored_functions: list[Any] = []
        self.unfinished: Any = None
        self.freeing_error: Exception | None = None
        self.files: list[Any] = []
        self.appended_lists: frozenset[int] | set[int] = frozenset()
        self.has_index_objects: bool = False
        self.foreign_run: Any = None
        self.trial: bool = False
        self.careful: bool = True
        self.runs_user_code: bool = False
        self.owners: dict[int, Any] | None = None
        self.specialise_after: int | None = None
        self.calls: Any = None
        self.passed: Any = None
        self.delegate: Any = None
        self.alive: list[Any] = []
        self.lock: Any = threading.RLock()

    # ---- sweeps --------------------------------------------------------------------------------

    def _not_undone(self, position: int) -> Exception:
        """Return the error for a write that cannot be undone, because other code changed it."""
        self._step = None
        owner = self._log[position][1]
        return changed_since(getattr(owner, "__self__", owner))

    def __enter__(self) -> None:
        """Begin a reverse sweep with empty shadows.

        Callers enter twice (``with memory, memory``), so that an interrupt of one exit leaves the
        other to complete the replay.
        """
        self.replay(len(self._log))  # if both exits were interrupted
        self.exchange_shadows()

    def __exit__(self, *_: object) -> None:
        """Replay every write: user objects are again as the forward sweep left them."""
        self.replay(len(self._log))
        self.exchange_shadows()
        self.alive = []

    def exchange_shadows(self, shadows: tuple[Any, ...] = ()) -> tuple[Any, ...]:
        """Install `shadows`, or empty ones; return the previous shadows."""
        before = self.shadows, self.buffers, self._lowest
        self.shadows, self.buffers, self._lowest = shadows or ({}, {}, {})
        return before

    # ---- shadows by identity ---------------------------------------------------------------------

    def list_shadow(self, xs: Any) -> list[Any]:
        """Return the shadow of a list, tuple or deque: one cotangent per element."""
        shadow = self.shadows.get(id(xs))
        if shadow is None:
            if id(xs) in self.appended_lists:
                raise changed_since(xs)
            empty: list[Any] = [None] * size_of(xs)
            # Both ends of a deque are written, so those of its shadow are, too.
            made: Any = deque(empty) if isinstance(xs, deque) else empty
            shadow = self.shadows[id(xs)] = made
            if self.owners is not None:
                self.owners[id(xs)] = xs
        return shadow  # type: ignore[no-any-return]

    def dict_shadow(self, owner: Any) -> dict[Any, Any]:
        """Return the shadow of a dict (by key), a set (by element) or an object (by field)."""
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

    def shadow_key(self, owner: Any, key: Any) -> Any:
        """Return the key of the shadow of a dict: `key`, or the identity of the dict's own key.

        The hash and equality of a user class may read fields that a sweep has rewound, so such keys
        are looked up only in the forward sweep.
        """
        return place_of_held(self.key_object(owner, key))

    def key_object(self, owner: Any, key: Any) -> Any:
        """Return the key object of a dict that is equal to `key`; a number or a text as it is,
        unless equality of keys runs user code."""
        if id(owner) in self.plain_dicts and not compares_by_user_code(key):
            return key
        keys = self.caches.get(("keys", id(owner)))
        if keys is None:
            if not compares_by_user_code(key) and not any_compares_by_user_code(owner):
                self.plain_dicts.add(id(owner))
                return key
            self.plain_dicts.discard(id(owner))
            keys = self.caches["keys", id(owner)] = {held: held for held in dict.__iter__(owner)}
        return keys.setdefault(key, key)  # `key` may have just been inserted

    def add_key(self, owner: Any, key: Any, bar: Any) -> None:
        """Add a cotangent of a number that is a key of a dict."""
        if bar is not None:
            shadow = self.shadows.setdefault(("keys", id(owner)), {})
            shadow[key] = accumulate(shadow.get(key), bar)
            if self.owners is not None:
                self.owners[id(owner)] = owner

    def take_key(self, owner: Any, key: Any) -> Any:
        """Take the cotangent of an inserted key out of the shadow."""
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
        """Note that `array` is about to be written; return whether it can carry derivatives.

        Raises
        ------
        MutationError
            The memory does not belong to an array (a foreign buffer, `as_strided`), or it holds
            objects or named fields.
        """
        if id(array) in self.written:
            return True
        kind, root = array.dtype.kind, root_of(array)
        if kind not in "fcOV":
            # An integer or boolean view may alias memory of floats.
            if root.dtype.kind in "fc" and root is not array:
                raise _through_another_type(array, root)
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
        if not is_seen_as_stored(array, root):
            raise _through_another_type(array, root)
        note_written(self, root)
        return True

    def owner(self, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Return the array that owns the memory of `array`, even through a foreign object."""
        root = root_of(array)
        return root if root.base is None else owner_among(root, self.exposed.values())

    def _is_of_integers(self, array: np.ndarray[Any, Any], root: np.ndarray[Any, Any]) -> bool:
        """Return whether written integers can carry derivatives; note the write if so."""
        real = array.dtype.kind in "iu" and array.dtype == root.dtype and has_integers(self)
        if real and owner_of(array) is None:
            self.written[id(root)] = root
            return True
        return False

    def is_written(self, array: np.ndarray[Any, Any]) -> bool:
        """Return whether the memory of `array` was written, and `array` reads it as stored."""
        root = self.owner(array)
        return id(root) in self.written and (
            array is root
            or array.dtype is root.dtype
            or (array.dtype.kind == "V" and array.dtype == root.dtype)  # structured arrays
            or is_seen_as_stored(array, root)
        )

    def array_shadow(self, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Return the shadow of a written array as a writable view of its owner's shadow.

        Offset, shape and strides are those of `array` in its owner.
        """
        root = self.owner(array)
        shadow = self.buffers.get(id(root))
        if shadow is None:
            low, high = bounds_of(root)
            dtype = float if root.dtype.kind in "iu" else root.dtype
            flat = np.zeros(-(-(high - low) // root.itemsize), dtype)
            shadow = shadow_view(root, flat, address_of(root) - low)
            self.buffers[id(root)] = shadow
            self._lowest[id(root)] = low
        if array is root:
            return shadow
        return shadow_view(array, shadow.base, address_of(array) - self._lowest[id(root)])

    def reshape_shadow(self, array: np.ndarray[Any, Any]) -> None:
        """Give the shadow of `array` the shape that was assigned to `array`."""
        shadow: Any = self.buffers.get(id(array))
        if shadow is not None:
            offset = address_of(array) - self._lowest[id(array)]
            self.buffers[id(array)] = shadow_view(array, shadow.base, offset)

    def move_array(self, old: np.ndarray[Any, Any], new: np.ndarray[Any, Any]) -> None:
        """Move the shadow of `old`, which owns memory, to `new`, of the same layout."""
        shadow = self.buffers.pop(id(old), None)
        if shadow is not None:
            self._lowest.pop(id(old))
            note_written(self, new)
            self.array_shadow(new)[...] += shadow

    def forget_written(self, n: int) -> None:
        """Forget all written arrays but the first `n` and those that other code references."""
        found = [self.written.popitem() for _ in range(len(self.written) - n)]
        for i in range(len(found) - 1, -1, -1):
            place = found[i][0]
            if sys.getrefcount(found[i][1]) > _OWN_REFERENCES:
                self.written[place] = found[i][1]
                continue
            self.exposed.pop(place, None)
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
            self.array_shadow(root)  # its presence says that a cotangent arrived
            return
        add_to_shadow(self.array_shadow(array), ..., bar)

    def take_array(self, array: np.ndarray[Any, Any]) -> Any:
        """Take the cotangent of a written array out of its shadow; ``None`` if it has none."""
        root = self.owner(array)
        if id(root) not in self.buffers:
            return self.shadows.get(("poison", id(root)))
        shadow = self.array_shadow(array)
        bar = shadow.copy()
        shadow[...] = 0
        return self.shadows.get(("poison", id(root)), bar)


def _through_another_type(array: Any, root: Any) -> Exception:
    return refused(
        f"a view of type {array.dtype} writes into an array of type {root.dtype}",
        hint="write through a view of the array's own type, or into a copy",
    )


def _references() -> int:
    found = [(0, object())]
    return sys.getrefcount(found[0][1])


_OWN_REFERENCES = _references()
"""The reference count of an array that only the list in `forget_written` holds."""


def undone(
    memory: Memory, position: int, bars: tuple[None, ...]
) -> Callable[[Any], tuple[None, ...]]:
    """Return the pullback of a write that moves no cotangent: it undoes the write at `position`."""

    def undo_back(_: Any) -> tuple[None, ...]:
        memory.rewind(position)
        return bars

    return undo_back
