"""Functions with neither rule nor source: they run, and their results are poisoned (design, section
3.4)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Container, Sequence
from types import (
    BuiltinMethodType,
    CellType,
    FunctionType,
    GeneratorType,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any

import numpy as np

from adjoint.errors import NoDerivativeError, Place
from adjoint.run.accumulate import Poison, accumulate, finish
from adjoint.run.caution import doubt
from adjoint.run.compiled import foreign_package
from adjoint.run.dates import are_dates, dates_back, is_plain
from adjoint.run.exposed import arrays_behind, give_away, looks_elsewhere, written_before
from adjoint.run.files import flush, note_file
from adjoint.run.hidden import Hidden
from adjoint.run.holding import (
    CONTAINERS,
    REFERENT,
    globals_of,
    holds_nothing,
    keys_of,
    parts_of,
    reached,
)
from adjoint.run.iterator import Iterator as ActiveIterator
from adjoint.run.kinds import (
    ATOMS,
    by_value,
    is_objects,
    is_partly_c,
    is_record,
)
from adjoint.run.memory import Memory
from adjoint.run.packages import COMPILING, FOREIGN, HIDING, LEFT_ALONE, package
from adjoint.run.place import current_place
from adjoint.run.reach import reaches
from adjoint.run.region import Region
from adjoint.run.unseen import Changes, package_of, run_checked
from adjoint.run.views import is_seen_as_stored, root_of


def name_of(f: Any) -> str:
    """A function as users call it."""
    module = getattr(f, "__module__", None)
    name = getattr(f, "__qualname__", None) or getattr(f, "__name__", None) or repr(f)
    name = str(name).removeprefix("PyCapsule.")  # which pybind11 binds its functions to
    return f"{module}.{name}" if module and module not in ("builtins", "__main__") else name


def _rule_wanted(name: str, place: Place | None) -> str:
    if place is not None and place.called is not None:
        return (
            f"write a rule of '{place.called}', which calls it:"
            f" @ad.rrule.register({place.called}), or of '{name}' itself"
        )
    return (
        f"write a rule: @ad.rrule.register({name}),"
        f" or ad.non_differentiable({name}) if its derivative is zero"
    )


class Reason(str):
    """Why there is no derivative, with what to do about it."""

    hint: str

    def __new__(cls, why: str, hint: str) -> Reason:
        reason = super().__new__(cls, why)
        reason.hint = hint
        return reason


def needed(f: Any, why: str, seen: tuple[Any, ...]) -> NoDerivativeError:
    """The error of a derivative of `f`, which was given, and has returned, what it has `seen`."""
    place = current_place()
    hint = why.hint if isinstance(why, Reason) else _rule_wanted(name_of(f), place)
    if (foreign := foreign_package(f)) is not None:
        hint = FOREIGN[foreign]
    if any(issubclass(type(value), np.ndarray) and value.dtype.hasobject for value in seen):
        why = "works on an array of objects, through which no derivative flows"
        hint = (
            "make an array of floats from the start: np.array(values, dtype=float);"
            " np.vectorize(f, otypes=[float]) instead of np.frompyfunc"
        )
    return NoDerivativeError(
        f"a derivative of '{name_of(f)}' is needed, which {why}", hint=hint, place=place
    )


def looked_at(owner: Any, error: Any) -> NoDerivativeError:
    """The error of a derivative of what an object of C reads from memory that it was not given,
    where `error` is that of what it gives."""
    place = getattr(error, "place", None)
    called = getattr(place, "called", None)
    return NoDerivativeError(
        f"a derivative of what a '{name_of(type(owner))}' reads is needed: it is compiled, and may"
        " look at arrays that were written with values that have a derivative",
        hint=f"write a rule of {'the function that' if called is None else f'{called!r}, which'}"
        " uses it, or take ad.stop_gradient(...) of what it gives if that is a constant",
        place=place,
    )


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
    if memory.files:
        flush(memory)
    if memory.level is not None:
        y = memory.level.run_unknown(f, args, kwargs, why, trusted)
        note_file(memory, y)
        return y
    inputs = (*args, *kwargs.values())
    owner = getattr(f, "__self__", None)
    owner = None if isinstance(owner, type | ModuleType) else owner
    blank = record[slot]
    if are_dates(f, owner, inputs) and is_plain(y := f(*args, **kwargs)):

        def poison_of(bar: Any) -> Poison:
            return bar if type(bar) is Poison else Poison(needed(f, why, (owner, *inputs, y)))

        record[slot] = dates_back(memory, y, owner, inputs, poison_of)
        return y
    region = region_of(memory, f, (owner, *inputs))
    calls_back = region is not None
    if region is not None:
        record[slot] = region.before(blank, len(inputs))
    outside = frozenset(memory.outside)
    checked = () if trusted else (*inputs, owner, *arrays_behind(f, (owner, *inputs)))
    y, changes = run_checked(memory, f, region, args, kwargs, checked)
    note_file(memory, y)
    ran = region is not None and region.ran
    if memory.made and (is_opaque(y) or (owner is not None and may_keep(owner))):
        give_away(memory, reached(inputs))
    writes = [v for v in checked if id(v) in changes.writes and memory.mark_written(v)]
    atom = holds_nothing(y)
    if region is not None and not region.has_effects:
        record[slot], region = blank, None
    if atom and changes.position is None and not writes:
        if trusted or not any(map(may_keep, (*inputs, owner))):
            return y
    if not writes and not changes.kept and _is_view(memory, y, (*inputs, owner)):
        viewed = _view_back(memory, y, len(inputs), changes)
        record[slot] = viewed if region is None else region.before(viewed, len(inputs))
        if type(y) is not np.ndarray:
            from adjoint.run.finalized import adopt  # it needs the calls, which need this

            adopt(record, slot, y, (*inputs, owner))
        return y
    given = any(y is value for value in inputs)
    # What weak references lead to has to be there when it is poisoned.
    kept = [found() for found in memory.caches.get(REFERENT, ())] if calls_back else None

    def unknown_back(y_bar: Any, _: Any = kept) -> tuple[Any, ...]:
        new_bar = changes.undo(memory)
        y_bar = finish(y_bar)
        if y_bar is None:
            y_bar = _kept(memory, (*inputs, owner))
        if isinstance(y, np.ndarray) and memory.is_written(y) and not given:
            y_bar = accumulate(y_bar, memory.take_array(y))
        for array in writes:
            written_bar = memory.take_array(array)
            if written_bar is not None and (type(written_bar) is Poison or _any(written_bar)):
                new_bar = written_bar
        if isinstance(y_bar, np.ndarray) and not _any(y_bar):
            y_bar = None  # nothing needs a derivative
        if y_bar is None:
            y_bar = new_bar  # of what it is does not matter
        if y_bar is None and (given or not _arrived(memory, y, (f, *inputs), outside)):
            y_bar = None if region is None else region.back(None)
            if y_bar is None:
                return (None,) * (len(inputs) + 1)
        elif region is not None:
            y_bar = y_bar if type(y_bar) is Poison else Poison(needed(f, why, (owner, *inputs, y)))
            region.back(y_bar)
        bar = y_bar if type(y_bar) is Poison else Poison(needed(f, why, (owner, *inputs, y)))
        if ran or type(y) is GeneratorType:  # it may have read what its functions name
            _poison_globals(memory, (f, *inputs, *memory.handed), bar)
            for function in memory.handed:
                poison(memory, function, bar)
        if owner is not None:
            poison(memory, owner, bar)
        poison(memory, f, bar)
        bars: list[Any] = [None]
        for value in inputs:
            carries = by_value(value) and type(value) not in (bool, int)
            if issubclass(type(value), np.ndarray) and memory.is_written(value):
                carries = False  # it belongs to the memory
            bars.append(bar if carries else None)
            if not carries:
                poison(memory, value, bar)
        return tuple(bars)

    record[slot] = unknown_back
    return y


def region_of(memory: Memory, f: Any, given: tuple[Any, ...]) -> Region | None:
    """A region, if `f` may enter code of the user's."""
    callee = () if type(f) in _PLAIN_CALLEES else (f,)
    if (home := package_of(f)) in COMPILING:
        return None
    known = memory.handed or home in HIDING
    return Region(memory, f) if known or reaches((*callee, *given)) else None


_PLAIN_CALLEES = frozenset(
    {BuiltinMethodType, MethodDescriptorType, MethodWrapperType, WrapperDescriptorType}
)
"""Types of callees that hold nothing, apart from what they are bound to."""


def _is_view(memory: Memory, y: Any, inputs: tuple[Any, ...]) -> bool:
    """Whether a result looks at the memory of an array that went in, which `f` did not change: then
    its elements are that array's, and from now on their cotangents belong to the memory."""
    if not isinstance(y, np.ndarray) or y.dtype.kind not in "fc":
        return False
    root = root_of(y)
    if memory.owner(y) is not root:
        return memory.is_written(y)
    for value in inputs:
        array = value.obj if type(value) is memoryview else value
        if isinstance(array, np.ndarray) and root_of(array) is root:
            return root.base is None and is_seen_as_stored(y, root) and memory.mark_written(y)
    return False


def _view_back(
    memory: Memory, y: np.ndarray[Any, Any], n: int, changes: Changes
) -> Callable[[Any], tuple[Any, ...]]:
    def view_back(y_bar: Any) -> tuple[Any, ...]:
        changes.undo(memory)
        memory.add_array(y, finish(y_bar))
        return (None,) * (n + 1)

    return view_back


def may_keep(value: Any) -> bool:
    """Whether something of C may keep what it is given where nobody sees it: a file, a queue."""
    return not by_value(value) and type(value) not in _IMMUTABLE and is_opaque(value)


_IMMUTABLE = ATOMS | {bytes, np.dtype}


def _kept(memory: Memory, inputs: tuple[Any, ...]) -> Poison | None:
    """The poison of something of C that an unknown function took something from later."""
    if _OPAQUE in memory.shadows:
        for owner in reached(inputs):
            shadow = memory.shadows.get(id(owner))
            if type(shadow) is not dict or type(bar := shadow.get("*")) is not Poison:
                continue
            if may_keep(owner) or not any(owner is value for value in inputs):
                return bar
    return None


_OPAQUE = "opaque"
"""In the shadows: something of C is poisoned."""


def _arrived(memory: Memory, y: Any, inputs: tuple[Any, ...], outside: frozenset[int]) -> bool:
    """Whether memory holds a cotangent of what `f` made: of what `y` reaches and the inputs do
    not, nor is `outside`, by identity: arrays that were written before."""
    if by_value(y):
        return False
    known: set[int] | None = None
    for owner in reached((y,)):
        if has_arrived(memory, owner):
            if known is None:
                known = {id(owner) for owner in reached(inputs)} | outside
            array = issubclass(type(owner), np.ndarray)
            if id(owner) not in known and not (array and id(memory.owner(owner)) in known):
                return True
    return False


def arrived_in(memory: Memory, values: Sequence[Any], known: Container[int]) -> bool:
    """Whether memory holds a cotangent of what `values` reach and is not `known`, by identity."""
    return any(id(owner) not in known and has_arrived(memory, owner) for owner in reached(values))


def has_arrived(memory: Memory, owner: Any) -> bool:
    """Whether memory holds a cotangent of an array, or of what an object holds."""
    if is_objects(owner):
        owner = root_of(owner)
    elif issubclass(type(owner), np.ndarray):
        return bool(
            memory.is_written(owner)
            and id(root_of(owner)) in memory.buffers
            and _any(memory.array_shadow(owner))
        )
    for place in (id(owner), ("keys", id(owner))):
        shadow = memory.shadows.get(place)
        parts = shadow.values() if isinstance(shadow, dict) else shadow or ()
        if any(part is not None for part in parts):
            return True
    return False


def _any(bar: np.ndarray[Any, Any]) -> bool:
    """Whether a cotangent is not zero everywhere."""
    if bar.dtype.names:
        return any(bar.tobytes())
    doubt(bar)
    return bool(bar.any())


def poison(memory: Memory, value: Any, bar: Poison) -> None:
    """Poison everything that carries a derivative in `value`, through containers, objects and
    closures."""
    seen: set[int] = set()
    stack = [value]
    looking: Any = None
    while stack:
        owner = stack.pop()
        if id(owner) in seen:
            continue
        seen.add(id(owner))
        if isinstance(owner, ActiveIterator):
            stack += owner.poison(bar)
            continue
        if issubclass(type(owner), np.ndarray) and not is_objects(owner):
            if memory.is_written(owner):
                memory.add_array(owner, bar)
            continue
        if is_opaque(owner) and looks_elsewhere(owner):
            looking = owner
        if is_opaque(owner) or (
            (owner is value or _is_left_alone(type(owner)))
            and is_record(owner)
            and not isinstance(owner, CONTAINERS)
        ):
            memory.dict_shadow(owner)["*"] = bar
            memory.shadows[_OPAQUE] = True
        for key in keys_of(owner):
            if by_value(key):
                memory.add_key(owner, key, bar)
            else:
                stack.append(key)
        for key, item, shadow_owner in parts_of(owner):
            if by_value(item):
                if type(item) is bool or type(item) is int:
                    continue
                if issubclass(type(item), np.ndarray) and memory.is_written(item):
                    memory.add_array(item, bar)
                elif type(key) is int and issubclass(type(owner), list | tuple | deque):
                    memory.add_item(owner, key, bar)
                else:
                    memory.add_entry(shadow_owner, key, bar)
            elif not holds_nothing(item):
                stack.append(item)
    for array in () if looking is None else written_before(memory):
        memory.add_array(array, Poison(looked_at(looking, bar.error)))


def _poison_globals(memory: Memory, values: Sequence[Any], bar: Poison) -> None:
    """Poison the global variables of the user's functions that `values` hold."""
    functions: list[FunctionType] = []
    deque(reached(values, functions), maxlen=0)
    for namespace, name, value in globals_of(functions):
        if not by_value(value):
            poison(memory, value, bar)
        elif issubclass(type(value), np.ndarray) and memory.is_written(value):
            memory.add_array(value, bar)
        else:
            memory.add_entry(namespace, name, bar)


def is_opaque(owner: Any) -> bool:
    """An object of a C type, or of a class derived from one, of whose contents only a part may be
    seen."""
    if is_objects(owner):
        return False
    return (not is_record(owner) or is_partly_c(type(owner))) and not isinstance(
        owner,
        list
        | tuple
        | deque
        | dict
        | set
        | frozenset
        | type
        | slice
        | ModuleType
        | FunctionType
        | CellType
        | MethodType
        | BuiltinMethodType
        | MethodWrapperType
        | np.ufunc
        | Hidden
        | np.generic,
    )


def _is_left_alone(kind: type) -> bool:
    """Whether what objects of a class hold is nobody's to see: integers that are a fraction."""
    return package(kind.__module__) in LEFT_ALONE
