"""In-place changes of arrays: ``ufunc.at``, shuffles, and refusals of other memory layouts."""

from __future__ import annotations

import random
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from adjoint.diagnostics.refusals import refuse_names_twice
from adjoint.diagnostics.user_place import current_place
from adjoint.errors import MutationError
from adjoint.primal.array_memory import note_flag_change, root_of
from adjoint.rulekit.projection import as_numeric, project
from adjoint.rulekit.registry import leveled, non_differentiable, primitive, structural, substitute
from adjoint.runtime.dispatch.number_protocols import AS_ELEMENT, converts
from adjoint.runtime.memory.deposit import deposit
from adjoint.runtime.memory.log_entries import swap_array
from adjoint.runtime.memory.memory import Memory

# ---- ufunc.at ------------------------------------------------------------------------------------

SIGNS: dict[Any, int] = {np.add: 1, np.subtract: -1}


@structural((np.ufunc, "at"))
def _(memory: Memory, self: Any, a: Any, indices: Any, *operand: Any) -> Any:
    """Add or subtract in place: old contents keep their cotangent, each summand has its place's."""
    if self not in SIGNS or not operand or not isinstance(a, np.ndarray) or a.dtype.kind == "O":
        return NotImplemented
    if as_numeric(operand[0]) is None or converts(AS_ELEMENT, operand[0]):
        return NotImplemented
    refuse_names_twice(a)
    a = np.ndarray.view(a, np.ndarray)  # no calls of a subclass
    b, sign, index = operand[0], SIGNS[self], _copied_index(indices)
    saved = np.array(a[index])
    carries = memory.mark_written(a)
    written = isinstance(b, np.ndarray) and memory.is_written(b)
    self.at(a, index, b)
    position = memory.note(swap_array, a, index, saved)

    def at_back(_: Any) -> tuple[Any, ...]:
        memory.rewind(position)
        if not carries:
            return (None,) * 5
        bar = memory.shadows.get(("poison", id(root_of(a))))
        if bar is None:
            part = np.array(sign * memory.array_shadow(a)[index])
            if np.ndim(b) > part.ndim:
                part = part.reshape((1,) * (np.ndim(b) - part.ndim) + part.shape)
            bar = project(part, b)
        if written:
            memory.add_array(b, bar)
            return (None,) * 5
        return None, None, None, None, deposit(memory, b, bar)

    return None, at_back


def _copied_index(index: Any) -> Any:
    """Copy an index, which user code may change."""
    if isinstance(index, tuple):
        return tuple(map(_copied_index, index))
    if isinstance(index, list):
        return np.array(index) if index else np.zeros(0, int)
    return index.copy() if isinstance(index, np.ndarray) else index


@substitute((np.ufunc, "at"))
def at(self, a, indices, *operand):
    """Apply any ufunc in rounds in which no element occurs twice."""
    a = np.ndarray.view(a, np.ndarray)  # no calls of a subclass
    places, rounds, shape = _rounds(a, indices)
    # copies, because NumPy reads all operands before it writes
    values = [np.ravel(np.array(np.broadcast_to(np.asarray(b), shape))) for b in operand]
    for chosen in rounds:
        place = tuple([axis[chosen] for axis in places])
        y = self(a[place], *[value[chosen] for value in values])
        if not np.can_cast(y.dtype, a.dtype, "same_kind"):
            _refuse(self, a, indices, operand)
        a[place] = y


@leveled((np.ufunc, "at"))
def _(level, record, slot, self, a, indices, *operand):
    """Run `at` on a level."""
    if not set("".join(self.types)) - set("O->"):  # it calls a foreign function
        return level.run_unknown(
            self.at, (a, indices, *operand), {}, "works on an array of objects", False
        )
    return level.run(at, self, a, indices, *operand)


def _rounds(a: Any, indices: Any) -> tuple[Any, list[Any], tuple[int, ...]]:
    """Return the subscripts of the indexed elements, the elements of each round, and the shape of
    the index.

    The k-th mention of an element is in round k.
    """
    positions = np.asarray(np.arange(a.size).reshape(a.shape)[indices])
    flat = positions.ravel()
    order = np.argsort(flat, kind="stable")
    ranked = flat[order]
    first = np.searchsorted(ranked, ranked)
    mention = np.empty(flat.size, int)
    mention[order] = np.arange(flat.size) - first
    by_round = np.argsort(mention, kind="stable")
    sizes = np.bincount(mention)
    rounds = np.split(by_round, np.cumsum(sizes)[:-1]) if flat.size else []
    return np.unravel_index(flat, a.shape), rounds, positions.shape


def _refuse(self: Any, a: Any, indices: Any, operand: Any) -> None:
    """Raise NumPy's own error."""
    self.at(np.array(a), indices, *operand)


# ---- shuffles: the same draws of positions -------------------------------------------------------


@substitute((np.random.Generator, "shuffle"))
def _(self, x, axis=0):
    if isinstance(x, np.ndarray):
        order = _shuffled(self, x.shape[axis])
        x[...] = np.take(x, order, axis)
    else:
        _swap(x, _shuffled(self, len(x), axis))


@substitute((np.random.RandomState, "shuffle"))
def _(self, x):
    order = _shuffled(self, len(x))
    if isinstance(x, np.ndarray):
        x[...] = x[order]
    else:
        _swap(x, order)


@substitute(np.random.shuffle)
def _(x):
    np.random.mtrand._rand.shuffle(x)


@substitute((np.random.Generator, "permuted"))
def _(self, x, *, axis=None, out=None):
    y = np.ravel(x)[_permuted(self, np.shape(x), axis)]
    if out is None:
        return y
    out[...] = y
    return out


@substitute((random.Random, "shuffle"))
def _(self, x):
    x[:] = [x[i] for i in _shuffled_list(self, len(x))]


def _swap(x, order):
    """Reorder items; other containers than lists, which may run user code, by NumPy's swaps."""
    if type(x) is list:
        x[:] = [x[i] for i in order.tolist()]
        return
    if not isinstance(x, Sequence):
        warnings.warn(
            f"you are shuffling a '{type(x).__name__}' object which is not a subclass of "
            "'Sequence'; `shuffle` is not guaranteed to behave correctly. E.g., non-numpy "
            "array/tensor objects with view semantics may contain duplicates after shuffling.",
            stacklevel=1,
        )
    for i, j in _swaps(order):
        x[i], x[j] = x[j], x[i]


def _swaps(order: Any) -> list[tuple[int, int]]:
    """Return the swaps of a Fisher-Yates shuffle that gives `order`, from the last place on."""
    wanted = order.tolist()
    items, places = [*range(len(wanted))], [*range(len(wanted))]
    swaps = []
    for i in reversed(range(1, len(wanted))):
        j = places[wanted[i]]
        items[i], items[j] = items[j], items[i]
        places[items[i]], places[items[j]] = i, j
        swaps.append((i, j))
    return swaps


def _shuffled(source: Any, n: int, axis: int = 0) -> Any:
    if axis != 0:
        source.shuffle([], axis)  # NumPy's own error
    order = np.arange(n)
    source.shuffle(order)
    return order


def _permuted(source: Any, shape: tuple[int, ...], axis: Any) -> Any:
    return source.permuted(np.arange(np.prod(shape, dtype=int)).reshape(shape), axis=axis)


def _shuffled_list(source: random.Random, n: int) -> list[int]:
    order = list(range(n))
    source.shuffle(order)
    return order


non_differentiable(_rounds, _refuse, _swaps, _shuffled, _permuted, _shuffled_list)


# ---- refused -------------------------------------------------------------------------------------


@substitute((np.ndarray, "setfield"))
def _(a, val, dtype, offset=0):
    np.ndarray.view(a.getfield(dtype, offset), np.ndarray)[...] = val


def _refused(name: str, hint: str) -> None:
    @structural((np.ndarray, name))
    def _(memory: Memory, a: Any, *args: Any, **kwargs: Any) -> Any:
        if name == "byteswap" and not (kwargs.get("inplace") or any(args)):
            return NotImplemented
        raise MutationError(
            f"'ndarray.{name}' cannot be differentiated: it changes what the array's memory means",
            hint=hint,
            place=current_place(),
        )


_refused("resize", "np.resize(a, shape) and np.pad return a new array")
_refused("byteswap", "a.byteswap() returns a new array")
non_differentiable((np.ndarray, "setflags"))


@primitive((np.ndarray, "setflags"))
def _(record: list[Any], slot: int, x: Any, *args: Any, **kwargs: Any) -> Any:
    note_flag_change(x)
    return NotImplemented
