"""In-place changes of arrays: ``ufunc.at``, and refusals of other memory layouts."""

from __future__ import annotations

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


non_differentiable(_rounds, _refuse)


# ---- refused -------------------------------------------------------------------------------------


@substitute((np.ndarray, "setfield"))
def _(a, val, dtype, offset=0):
    np.ndarray.view(a.getfield(dtype, offset), np.ndarray)[...] = val


def _refused(name: str, hint: str) -> None:
    @structural((np.ndarray, name))
    def _(memory: Memory, /, a: Any, *args: Any, **kwargs: Any) -> Any:
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
def _(record: list[Any], slot: int, /, x: Any, *args: Any, **kwargs: Any) -> Any:
    note_flag_change(x)
    return NotImplemented
