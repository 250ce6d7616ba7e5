"""Independence of arguments from each other, and from what the function itself holds.

Numbers and unwritten arrays carry their cotangent by value, so each argument has its own. Lists,
dicts, objects and captured variables carry it by identity. Where one of these is given at two
positions, or is both given and held by the function, the later argument is replaced by a copy that
holds the same arrays while the function runs. A write to either of the two would not be seen
in the other, so the write is refused.

Within one argument, a tuple that stands at several places is replaced by copies as well: literals
that are equal are one object, but separate variables.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from types import BuiltinMethodType, CellType, FunctionType, MappingProxyType, MethodType
from typing import Any

import numpy as np

from adjoint.errors import MutationError
from adjoint.primal.argument_copies import forget, stand_for
from adjoint.primal.array_memory import (
    alias_of_root,
    as_writable_as,
    part_of,
    restore_form,
    root_of,
)
from adjoint.primal.container_contents import ABSENT, elements_of
from adjoint.primal.engine_object import EngineObject
from adjoint.primal.part_exchange import Exchanges, slots_in
from adjoint.primal.rebuild import rebuild
from adjoint.primal.value_kinds import ATOMS, by_value, fields_of, mapping_behind
from adjoint.runtime.memory.detached_copy import Copies
from adjoint.runtime.memory.holdings import Holdings, key_of, named_by, parts_of
from adjoint.runtime.memory.log_entries import swap_item, swap_slice, swap_slot
from adjoint.runtime.memory.memory import Memory
from adjoint.runtime.memory.named_memory import NamedMemory
from adjoint.runtime.memory.saved import same_items
from adjoint.runtime.memory.saved_containers import save

MOST = 4096
"""The number of parts of a function that are searched, nearest first."""


def independent_arguments(
    f: Any,
    args: Sequence[Any],
    kwargs: dict[str, Any],
    wanted: Collection[int] | None = None,
    *,
    arrays: bool = False,
) -> tuple[tuple[Any, ...], Independent | None]:
    """Return arguments for `f` that share no part with a cotangent by identity.

    Parameters
    ----------
    wanted
        The positions that are differentiated; ``None`` for all.
    arrays
        Whether to replace the later of two arguments that are the same array by another array of
        the same memory. Levels do so themselves.

    Returns
    -------
    tuple
        The arguments, and an `Independent` to restore and check after the call, or ``None`` if the
        arguments are unchanged.
    """
    places = [i for i in range(len(args)) if wanted is None or i in wanted]
    if all(map(_has_no_parts, map(args.__getitem__, places))):
        if not arrays or not _shares_memory(f, args, kwargs):
            return tuple(args), None
    held = {i: Holdings((args[i],)) for i in places}
    known: dict[int, str] = {}
    for name, one in _other_holders(f, args, kwargs, places):
        known |= dict.fromkeys((*one.found, *one.arrays), name)
    shared: dict[int, dict[int, str]] = {}
    for i, one in held.items():
        keys = one.carrying.union(one.arrays if arrays else ())
        found = {key: known[key] for key in keys if key in known}
        if found or not one.repeated.isdisjoint(one.carrying):
            shared[i] = found
        known |= dict.fromkeys((*one.found, *one.arrays), f"argument {i}")
    if not shared:
        return tuple(args), None
    apart = Independent(args, held, shared)
    return apart.args, apart


def _has_no_parts(x: Any) -> bool:
    """Return whether `x` is a number, an array, text or a function without captured variables."""
    return by_value(x) or (type(x) in ATOMS and getattr(x, "__closure__", None) is None)


def _shares_memory(f: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> bool:
    """Return whether two arguments share memory, or one shares memory with parts of `f`."""
    given = [id(root_of(x)) for x in (*args, *kwargs.values()) if isinstance(x, np.ndarray)]
    if not given:
        return False
    own = Holdings((f,), MOST)
    held = [*own.arrays.values(), *Holdings(named_by(f, own), MOST).arrays.values()]
    roots = {id(root_of(x)) for x in held}
    return len({*given}) < len(given) or not roots.isdisjoint(given)


def _other_holders(
    f: Any, args: Sequence[Any], kwargs: dict[str, Any], places: list[int]
) -> Iterable[tuple[str, Holdings]]:
    """Yield what else may hold parts of the differentiated arguments, with a name for messages."""
    for i, arg in enumerate(args):
        if i not in places:
            yield f"argument {i}", Holdings((arg,), MOST)
    if kwargs:
        yield "a keyword argument", Holdings(kwargs.values(), MOST)
    name = f"in what '{getattr(f, '__name__', type(f).__name__)}' holds"
    own = Holdings((f,), MOST)
    yield name, own
    yield name, Holdings(named_by(f, own), MOST)


class Independent(EngineObject):
    """The arguments of one call, with copies in place of shared parts.

    Attributes
    ----------
    args
        The arguments to call the function with.
    replacements
        By argument position and identity: the copy that replaces a part of an argument.
    """

    def __init__(
        self, args: Sequence[Any], held: dict[int, Holdings], shared: dict[int, dict[int, str]]
    ) -> None:
        self._exchanges = Exchanges()
        self.replacements: dict[int, dict[int, Any]] = {}
        self._watched: dict[int, str] = {}
        self._kept: list[tuple[Any, str]] = []
        self._names: dict[int, list[Any]] = {}
        self._twins: list[tuple[Any, Any]] = []
        self._standing: list[tuple[Any, Any]] = []
        own = list(args)
        for i, found in reversed(shared.items()):  # before parts of it are exchanged in another
            parts = _Parts(held[i], found, self._exchanges)
            own[i] = parts.of(args[i])
            self.replacements[i] = parts.replacements
            for key, elsewhere in found.items():
                why = f"argument {i} and {elsewhere}"
                if key in parts.roots:
                    self._name(*parts.roots[key], why)
                elif key in held[i].found:
                    self._watch(held[i].found[key], why)
                    self._watch(parts.replacements.get(key), why)
            self._twins += parts.twins
            self._standing += [(x, parts.given[key]) for key, x in parts.replacements.items()]
        self.args: tuple[Any, ...] = tuple(own)
        stand_for(self._standing)

    def _watch(self, x: Any, why: str) -> None:
        for owner in (x, fields_of(x)):
            if owner is not None:
                self._watched[id(owner)] = why
        self._kept += [(kept, why) for kept in save(x, type(x))]

    def _name(self, root: Any, twin: Any, why: str) -> None:
        """Note `twin` as another owner of the memory of `root`; ``None`` forbids writes to it."""
        if twin is None:
            self._watched[id(root)] = why
            return
        names = self._names.setdefault(id(root), [])
        for other in (root, *names):
            self._names.setdefault(id(twin), []).append(other)
            if other is not root:
                self._names[id(other)].append(twin)
        names.append(twin)

    def memory(self) -> Memory:
        """Return a new memory for a call with these arguments."""
        return NamedMemory(self.args, self._names) if self._names else Memory(self.args)

    def original(self, y: Any) -> Any:
        """Return the caller's array if `y` replaces one, else `y`."""
        return next((value for value, twin in self._twins if twin is y), y)

    def restore(self) -> None:
        """Restore the caller's parts; give the caller's arrays the shape and flags of the twins."""
        forget(self._standing)
        self._exchanges.undo()
        for value, twin in self._twins:
            restore_form(value, twin)

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """Let the caller's containers hold the copies: rules deposit into what they hold."""
        try:
            self._exchanges.again()
            yield
        finally:
            self._exchanges.undo()

    def check(self, memory: Memory | None = None) -> None:
        """Raise if a shared part was written, by the log of `memory` or by its saved states."""
        if memory is not None:
            for root in memory.written.values():
                self._refuse(root)
            for entry in memory.entries():
                self.refuse(entry)
        for kept, why in self._kept:
            if kept.differs():
                raise _written(kept.owner, why)

    def refuse(self, entry: list[Any]) -> None:
        """Raise if a log entry changed the contents of a shared part."""
        for x in entry[1:3]:
            owner = x.__self__ if type(x) is BuiltinMethodType else x
            if id(owner) in self._watched and _has_changed(entry):
                self._refuse(owner)

    def _refuse(self, owner: Any) -> None:
        if id(owner) in self._watched:
            raise _written(owner, self._watched[id(owner)])


def _has_changed(entry: list[Any]) -> bool:
    """Return whether the contents differ from the overwritten ones: ``xs[0] *= 2.0`` of an array
    writes the same array again."""
    if entry[0] is swap_item:
        return dict.get(entry[1], entry[2], ABSENT) is not entry[3]
    if entry[0] is swap_slice:
        _, xs, start, stop, saved = entry
        return not same_items(list.__getitem__(xs, slice(start, stop)), saved)
    if entry[0] is swap_slot:
        return getattr(entry[2], entry[1].__name__, ABSENT) is not entry[3]
    return True


def _written(owner: Any, why: str) -> MutationError:
    kind = type(owner).__name__
    return MutationError(
        f"{'an' if kind[0] in 'aeiou' else 'a'} {kind} is written that is given twice, as {why}",
        hint="give a copy at one of the places: each argument is a variable of its own",
    )


class _Parts(Copies):
    """Copies of the `shared` parts of one argument.

    Attributes
    ----------
    roots
        By identity: an array that owns shared memory, and another array that owns the same.
    twins
        Pairs of an array of the caller and the array that replaces it.
    given
        By identity: the parts that were visited.
    """

    def __init__(self, held: Holdings, shared: Collection[int], exchanges: Exchanges) -> None:
        super().__init__(None)
        self._held, self._shared, self._exchanges = held, shared, exchanges
        self.given: dict[int, Any] = {}
        self.roots: dict[int, tuple[Any, Any]] = {}
        self.twins: list[tuple[Any, Any]] = []

    @property
    def replacements(self) -> dict[int, Any]:
        """By the identity of a part: its replacement."""
        return {key: x for key, x in self._made.items() if x is not self.given.get(key)}

    def of(self, x: Any) -> Any:
        if id(x) in self._made:
            made = self._made[id(x)]
            return self._again(made) if id(x) in self._held.repeated else made
        if by_value(x):
            return self._named(x) if isinstance(x, np.ndarray) else x
        if key_of(x) not in self._held.carrying:
            return x
        self._made[id(x)] = self.given[id(x)] = x
        if key_of(x) in self._shared:
            self._made[id(x)] = self._copied(x)
        elif isinstance(x, _CARRIERS):
            if any([self.of(part) is not part for part in parts_of(x)]):  # noqa: C419  all of them
                self._made[id(x)] = self._copied(x)
        else:
            for read, write in slots_in(x):
                old = read()
                new = self.of(old)
                if new is not old:
                    self._exchanges.put(read, write, old, new)
        return self._made[id(x)]

    def _again(self, x: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return a copy of a tuple, and of the tuples in it, for one more of its places."""
        parts = [self._again(part) if isinstance(part, tuple) else part for part in elements_of(x)]
        return rebuild(x, parts)  # type: ignore[no-any-return]

    def _named(self, x: np.ndarray[Any, Any]) -> Any:
        """Return `x`, or its twin if its memory is shared."""
        root = root_of(x)
        if id(root) not in self._shared:
            return x
        if id(root) not in self.roots:
            self.roots[id(root)] = root, alias_of_root(root) if type(x) is np.ndarray else None
        twin = self.roots[id(root)][1]
        if twin is None:
            return x
        self.given[id(x)] = x
        part = self._made[id(x)] = as_writable_as(part_of(twin, root, x), x)
        self.twins.append((x, part))
        return part

    def _copied(self, x: Any) -> Any:
        if isinstance(x, MappingProxyType):
            return MappingProxyType(self.of(mapping_behind(x)))
        if isinstance(x, CellType):
            made = self._made[id(x)] = CellType()
            made.cell_contents = self.of(x.cell_contents)
            return made
        return super()._copied(x)

    def _cell(self, cell: CellType) -> CellType:
        return self.of(cell)  # type: ignore[no-any-return]


_CARRIERS = (tuple, frozenset, FunctionType, MethodType, MappingProxyType, partial)
"""Immutable types: an instance with replaced parts is replaced itself."""
