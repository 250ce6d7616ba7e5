"""Functions with neither rule nor source: they run, and their results are poisoned (design, section
3.4)."""

from __future__ import annotations

import array
import gc
import operator
import sys
from collections.abc import Callable, Iterator
from types import (
    BuiltinMethodType,
    CellType,
    CodeType,
    FrameType,
    FunctionType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    TracebackType,
)
from typing import Any

import numpy as np

from adjoint.errors import MutationError, NoDerivativeError
from adjoint.run.accumulate import Poison, accumulate, finish
from adjoint.run.iterator import Iterator as ActiveIterator
from adjoint.run.memory import (
    Memory,
    base_of,
    elements_of,
    entries_of,
    place_of_held,
    root_of,
    swap_contents,
)
from adjoint.run.place import current_place
from adjoint.run.structure import ATOMS, by_value, fields_of, is_partly_c, is_record, slots_of
from adjoint.run.views import same_numbers

__all__ = ["changed", "is_opaque", "name_of", "poison", "run_unknown", "snapshot"]


def name_of(f: Any) -> str:
    """A function as users call it."""
    module = getattr(f, "__module__", None)
    name = getattr(f, "__qualname__", None) or getattr(f, "__name__", None) or repr(f)
    return f"{module}.{name}" if module and module not in ("builtins", "__main__") else str(name)


def run_unknown(
    memory: Memory,
    record: list[Any],
    slot: int,
    f: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    why: str = "has neither a rule nor Python source",
    *,
    trusted: bool = False,
) -> Any:
    """Run `f` as it is; a cotangent that arrives at its result becomes poison of what went in.

    `trusted` is for code that is known to keep its hands off values that carry derivatives.
    """
    inputs = (*args, *kwargs.values())
    owner = getattr(f, "__self__", None)
    owner = None if isinstance(owner, type | ModuleType) else owner
    watched = () if trusted else (*inputs, owner)
    before = [snapshot(value) for value in watched]
    counts = [sys.getrefcount(watched[i]) for i in range(len(watched))]
    y = f(*args, **kwargs)
    position = _check_unchanged(memory, f, watched, before)
    _check_not_stored(f, watched, counts, y)
    atom = type(y) in ATOMS and type(y) is not FunctionType
    if atom and position is None and (trusted or not any(map(_may_keep, (*inputs, owner)))):
        return y
    if _is_view(memory, y, (*inputs, owner)):
        record[slot] = _view_back(memory, y, len(inputs), position)
        return y
    given = any(y is value for value in inputs)

    def unknown_back(y_bar: Any) -> tuple[Any, ...]:
        if position is not None:
            memory.rewind(position)
        y_bar = finish(y_bar)
        if y_bar is None:
            y_bar = _kept(memory, (*inputs, owner))
        if isinstance(y, np.ndarray) and memory.is_written(y) and not given:
            y_bar = accumulate(y_bar, memory.take_array(y))
        if isinstance(y_bar, np.ndarray) and not y_bar.any():
            y_bar = None  # nothing needs a derivative
        if y_bar is None and (given or not _arrived(memory, y, (f, *inputs))):
            return (None,) * (len(inputs) + 1)
        function, span = current_place()
        bar = (
            y_bar
            if type(y_bar) is Poison
            else Poison(
                NoDerivativeError(
                    f"a derivative of '{name_of(f)}' is needed, which {why}",
                    hint=f"write a rule: @ad.rrule.register({name_of(f)}),"
                    f" or ad.non_differentiable({name_of(f)}) if its derivative is zero",
                    filename=None if function is None else function.filename,
                    span=span,
                )
            )
        )
        if owner is not None:
            poison(memory, owner, bar)
        poison(memory, f, bar)
        bars: list[Any] = [None]
        for value in inputs:
            carries = by_value(value) and type(value) not in (bool, int)
            bars.append(bar if carries else None)
            if not carries:
                poison(memory, value, bar)
        return tuple(bars)

    record[slot] = unknown_back
    return y


def _is_view(memory: Memory, y: Any, inputs: tuple[Any, ...]) -> bool:
    """Whether a result looks at the memory of an array that went in, which `f` did not change: then
    its elements are that array's, and from now on their cotangents belong to the memory."""
    if not isinstance(y, np.ndarray) or y.dtype.kind not in "fc":
        return False
    root = root_of(y)
    for value in inputs:
        array = value.obj if type(value) is memoryview else value
        if isinstance(array, np.ndarray) and root_of(array) is root:
            whole = root.base is None and root.dtype.kind in "fc"
            return whole and same_numbers(y.dtype, root.dtype) and memory.mark_written(root)
    return False


def _view_back(
    memory: Memory, y: np.ndarray[Any, Any], n: int, position: int | None
) -> Callable[[Any], tuple[Any, ...]]:
    def view_back(y_bar: Any) -> tuple[Any, ...]:
        if position is not None:
            memory.rewind(position)
        memory.add_array(y, finish(y_bar))
        return (None,) * (n + 1)

    return view_back


def _may_keep(value: Any) -> bool:
    """Whether something of C may keep what it is given where nobody sees it: a file, a queue."""
    return not by_value(value) and type(value) not in _IMMUTABLE and is_opaque(value)


_IMMUTABLE = ATOMS | {bytes, np.dtype}


def _kept(memory: Memory, inputs: tuple[Any, ...]) -> Poison | None:
    """The poison of something of C that an unknown function took something from later."""
    if _OPAQUE in memory.shadows:
        for owner in _reached(inputs):
            shadow = memory.shadows.get(id(owner))
            if type(shadow) is dict and type(bar := shadow.get("*")) is Poison and _may_keep(owner):
                return bar
    return None


_OPAQUE = "opaque"
"""In the shadows: something of C is poisoned."""


def _arrived(memory: Memory, y: Any, inputs: tuple[Any, ...]) -> bool:
    """Whether memory holds a cotangent of what `f` made, taken out here: of what `y` reaches and
    the inputs do not."""
    if by_value(y):
        return False
    old = {id(owner) for owner in _reached(inputs)}
    arrived = False
    for owner in _reached((y,)):
        if id(owner) in old:
            continue
        if isinstance(owner, np.ndarray):
            arrived = arrived or (
                memory.is_written(owner)
                and id(root_of(owner)) in memory.buffers
                and bool(memory.array_shadow(owner).any())
            )
            continue
        for place in (id(owner), ("keys", id(owner))):
            shadow = memory.shadows.get(place)
            parts = shadow.values() if isinstance(shadow, dict) else shadow or ()
            arrived = arrived or any(part is not None for part in parts)
    return arrived


def _reached(values: tuple[Any, ...]) -> Iterator[Any]:
    """Everything that may carry a cotangent by identity and that `values` hold, themselves
    included."""
    seen: set[int] = set()
    stack = list(values)
    while stack:
        owner = stack.pop()
        if id(owner) in seen or (type(owner) in ATOMS and type(owner) is not FunctionType):
            continue
        seen.add(id(owner))
        yield owner
        if not by_value(owner):
            stack += _keys(owner)
            for _, item, shadow_owner in _parts(owner):
                if shadow_owner is not owner and id(shadow_owner) not in seen:
                    seen.add(id(shadow_owner))
                    yield shadow_owner
                stack.append(item)


def poison(memory: Memory, value: Any, bar: Poison) -> None:
    """Poison everything that carries a derivative in `value`, through containers, objects and
    closures."""
    seen: set[int] = set()
    stack = [value]
    while stack:
        owner = stack.pop()
        if id(owner) in seen:
            continue
        seen.add(id(owner))
        if isinstance(owner, ActiveIterator):
            stack += owner.poison(bar)
            continue
        if isinstance(owner, np.ndarray):
            if memory.is_written(owner):
                memory.add_array(owner, bar)
            continue
        if is_opaque(owner) or (owner is value and is_record(owner)):
            memory.dict_shadow(owner)["*"] = bar
            memory.shadows[_OPAQUE] = True
        for key in _keys(owner):
            if by_value(key):
                memory.add_key(owner, key, bar)
            else:
                stack.append(key)
        for key, item, shadow_owner in _parts(owner):
            if by_value(item):
                if type(item) is bool or type(item) is int:
                    continue
                if isinstance(item, np.ndarray) and memory.is_written(item):
                    memory.add_array(item, bar)
                elif type(key) is int and isinstance(owner, list | tuple):
                    memory.add_item(owner, key, bar)
                else:
                    memory.add_entry(shadow_owner, key, bar)
            elif type(item) not in ATOMS or type(item) is FunctionType:
                stack.append(item)


def is_opaque(owner: Any) -> bool:
    """An object of a C type, or of a class derived from one, of whose contents only a part may be
    seen."""
    return (not is_record(owner) or is_partly_c(type(owner))) and not isinstance(
        owner,
        list
        | tuple
        | dict
        | set
        | frozenset
        | type
        | ModuleType
        | FunctionType
        | CellType
        | MethodType
        | BuiltinMethodType
        | MethodWrapperType
        | np.ufunc
        | Memory
        | np.generic,
    )


def _keys(owner: Any) -> list[Any]:
    """The keys of a dict that may carry a derivative."""
    if not isinstance(owner, dict):
        return []
    return [key for key in base_of(owner).__iter__(owner) if type(key) not in ATOMS]


def _parts(owner: Any) -> Iterator[tuple[Any, Any, Any]]:
    """What `owner` holds: key, value, and the object that the shadow is keyed by.

    The globals of a module are constants, and a traceback shows where something happened: through
    either, everything that there is can be reached.
    """
    if isinstance(owner, FrameType | TracebackType | CodeType) or (
        type(owner) is dict and "__builtins__" in owner
    ):
        return
    if isinstance(owner, list | tuple):
        for i, item in enumerate(elements_of(owner)):
            yield i, item, owner
    elif isinstance(owner, dict):
        for key, item in entries_of(owner):
            yield place_of_held(key), item, owner
    elif isinstance(owner, set | frozenset):
        for item in owner:
            yield item, item, owner
    elif isinstance(owner, FunctionType):
        for cell in owner.__closure__ or ():
            yield None, cell, cell
    elif isinstance(owner, CellType):
        try:
            yield None, owner.cell_contents, owner
        except ValueError:
            return
    elif isinstance(owner, MethodType | BuiltinMethodType | MethodWrapperType):
        yield "__self__", owner.__self__, owner
    elif not isinstance(owner, type | ModuleType | Memory):
        fields = fields_of(owner)
        for name, item in (fields or {}).items():
            yield name, item, fields
        if not is_record(owner) or is_partly_c(
            type(owner)
        ):  # something of C: what the collector sees in it
            for item in gc.get_referents(owner):
                if item is not fields and not isinstance(item, type | ModuleType | str):
                    yield "*", item, owner
        for name, descriptor in slots_of(type(owner)).items():
            try:
                yield name, descriptor.__get__(owner), owner
            except AttributeError:
                continue


# ---- changes that would go unseen ----------------------------------------------------------------


def snapshot(value: Any) -> Any:
    """What `changed` compares a mutable value with; ``None`` for others."""
    kind = type(value)
    if isinstance(value, np.ndarray):
        return np.array(value) if value.dtype.kind in "fciub" else None
    if kind is array.array:
        return array.array(value.typecode, value)
    if isinstance(value, list | dict | set):
        base: Any = next(base for base in (list, dict, set) if isinstance(value, base))
        return base.copy(value)  # not what a subclass makes of it
    fields = fields_of(value) if not isinstance(value, type | FunctionType) else None
    return None if fields is None else dict(fields)


def _check_unchanged(
    memory: Memory, f: Any, inputs: tuple[Any, ...], before: list[Any]
) -> int | None:
    """Refuse a change of what may carry a derivative; log that of integers.

    Returns
    -------
    int or None
        The position in the log, if there was one.
    """
    position = None
    for value, saved in zip(inputs, before, strict=True):
        if saved is None or not changed(value, saved):
            continue
        if isinstance(value, np.ndarray) and value.dtype.kind in "iub":
            noted = memory.note(swap_contents, value, saved)
            position = noted if position is None else position
            continue
        function, span = current_place()
        raise MutationError(
            f"'{name_of(f)}', which has neither a rule nor Python source,"
            f" changed the {type(value).__name__} that it was given",
            hint="give it a copy, or do the change in Python",
            filename=None if function is None else function.filename,
            span=span,
        )
    return position


def _check_not_stored(f: Any, watched: tuple[Any, ...], counts: list[int], y: Any) -> None:
    """A number or an array that is held once more than before, and not by the result, was put
    somewhere unseen."""
    now = [
        sys.getrefcount(watched[i]) for i in range(len(watched))
    ]  # counted as before: no name of its own
    for value, more in zip(watched, map(operator.sub, now, counts), strict=True):
        carries = (
            type(value) is float
            or type(value) in (list, dict, set)
            or is_record(value)
            or (isinstance(value, np.ndarray) and value.dtype.kind in "fc")
        )
        if not carries or y is value:
            continue
        if more > 0 and not _holds(y, value, 2) and not _hides(y):
            function, span = current_place()
            raise MutationError(
                f"'{name_of(f)}', which has neither a rule nor Python source,"
                f" stored the {type(value).__name__} that it was given",
                hint="store it in a list, a dict or an attribute, or store ad.stop_gradient(x)",
                filename=None if function is None else function.filename,
                span=span,
            )


def _hides(y: Any) -> bool:
    """Whether a result may hold what nobody sees: then its own poison stands for it."""
    return not by_value(y) and type(y) not in ATOMS and is_opaque(y)


def _holds(owner: Any, value: Any, depth: int) -> bool:
    """Whether a result holds `value`, or looks at its memory."""
    if isinstance(owner, np.ndarray):
        root = root_of(owner)
        return root.base is value or (isinstance(value, np.ndarray) and root is root_of(value))
    if type(owner) in ATOMS and type(owner) is not FunctionType:
        return False
    parts = gc.get_referents(owner)
    return any(item is value for item in parts) or (
        depth > 0 and any(_holds(item, value, depth - 1) for item in parts)
    )


def changed(value: Any, saved: Any) -> bool:
    """Whether a value is no longer what its `snapshot` says."""
    if isinstance(value, np.ndarray):
        return value.shape != saved.shape or not np.array_equal(value, saved, equal_nan=True)
    if isinstance(value, list):
        return len(value) != len(saved) or any(
            a is not b for a, b in zip(value, saved, strict=True)
        )
    if isinstance(value, set | array.array):
        return bool(value != saved)
    current = value if isinstance(value, dict) else value.__dict__
    return len(current) != len(saved) or any(
        current.get(key, saved) is not item for key, item in saved.items()
    )
