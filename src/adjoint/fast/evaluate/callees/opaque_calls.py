"""Calls that the evaluator cannot resolve, as opaque operations of the program.

An opaque operation calls the function as it is; its derivative is that of the generic tier
(`adjoint.fast.support.opaque`). Only functions without other effects than their result are called
so, because the program may still be left. The type of the result of a library function is inferred
from examples; that of a function of the user is the one that the generic tier has noted. The
program checks both.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Sequence
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

from adjoint.errors import place_text
from adjoint.fast.evaluate.call_frames import Attempt
from adjoint.fast.evaluate.callees.library import checked
from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.objects.guards import is_own
from adjoint.fast.evaluate.plain_classes import is_named_tuple
from adjoint.fast.evaluate.result_types.examples import Run, joined_type, runs_on_examples
from adjoint.fast.evaluate.result_types.inferable_functions import is_inferable, most_operands
from adjoint.fast.evaluate.result_types.inference import sizes_in
from adjoint.fast.evaluate.result_types.observations import observed_run
from adjoint.fast.evaluate.result_types.ones import Constant, name_of
from adjoint.fast.evaluate.types import (
    ANYTHING,
    Array,
    Number,
    Symbol,
    has_integer,
    has_truth_value,
)
from adjoint.fast.evaluate.values import Abstract, HeapObject, ListOf, Tuple
from adjoint.fast.not_covered import (
    NeedsKnown,
    NeedsSize,
    NotCovered,
    Raises,
    TooDeep,
    UnknownSizes,
)
from adjoint.fast.single_assignment.walk import callee_of, walk
from adjoint.fast.support import functions as runtime
from adjoint.fast.support import opaque
from adjoint.fast.support.opaque_functions import may_be_opaque
from adjoint.fast.support.pure_functions import names_of_pure
from adjoint.ir import primitives
from adjoint.ir.single import Block, Call, Const, Loop, Op, Operand, Unpack, Value
from adjoint.rulekit.registry import lookup
from adjoint.runtime.dispatch.observed_results import MOST, ask

# ---- the state of the evaluator ------------------------------------------------------------------


_OF_OUTSIDE = (
    "leaves guards sources fixed adopted row_lengths compiled made shown_members samples twins"
    " _cells _read _roots _symbols _ids _relied _fields _kinds"
).split()
"""The fields of `Outside` that grow when values are read."""


class State(NamedTuple):
    """The state of an evaluator, to which it returns where a call turns out to be opaque."""

    block: list[Op]
    size: int
    heap: dict[int, HeapObject]
    written: set[Value]
    row_writes: int
    copies: dict[int, frozenset[int]]
    copied: set[Value | int]
    inlined: dict[str, None]
    opaque: dict[str, str]
    attempts: list[Attempt]
    caught: list[Raises]
    outside: dict[str, Any]


def state_of(ev: Evaluator, f: Any) -> State:
    """Return the state of an evaluator before a call of `f`."""
    block, size = ev.block, len(ev.block)
    if is_inferable(f):  # only operations are written
        rest = ev.heap, ev.written, ev.row_writes, ev.copies, ev.copied
        return State(block, size, *rest, ev.inlined, ev.opaque, ev.attempts, ev.caught, {})
    return State(
        block,
        size,
        dict(ev.heap),
        set(ev.written),
        ev.row_writes,
        dict(ev.copies),
        set(ev.copied),
        dict(ev.inlined),
        dict(ev.opaque),
        list(ev.attempts),
        list(ev.caught),
        {name: getattr(ev.outside, name).copy() for name in _OF_OUTSIDE},
    )


def restore(ev: Evaluator, state: State) -> None:
    """Return to a state; forget what was written and read since."""
    assert ev.block is state.block
    del ev.block[state.size :]
    ev.heap, ev.written, ev.row_writes, ev.copies, ev.copied = state[2:7]
    ev.inlined, ev.opaque, ev.attempts, ev.caught = state[7:-1]
    vars(ev.outside).update(state.outside)


# ---- operations ----------------------------------------------------------------------------------


def opaque_call(
    ev: Evaluator,
    state: State,
    f: Any,
    args: Sequence[Abstract],
    keywords: dict[str, Abstract],
    error: NotCovered,
) -> Abstract:
    """Write ``f(*args, **keywords)``, of which `error` says why it is not covered, as an opaque
    operation; raise `error` if it cannot be one."""
    read = {name: getattr(ev.outside, name) for name in _OF_OUTSIDE}
    try:
        if _is_demand(ev, f, error) or _writes(f, args, keywords):
            raise error
        restore(ev, state)
        operands = tuple(map(ev.operand, (*args, *keywords.values())))
        callee = opaque.Opaque(f, tuple(keywords), error.reason)
        if may_be_opaque(f):
            return _written(ev, callee, operands, _example_runs(ev, callee, operands))
        callee.is_watched = True
        return _written(ev, callee, operands, _observed_runs(ev, callee, operands, error))
    except NotCovered as found:
        if _is_demand(ev, f, found):
            raise found from None
        if isinstance(error, NeedsKnown):
            vars(ev.outside).update(read)  # where the integer is
        raise error from None
    finally:
        del error  # else this frame, which it holds, would hold it


def _is_demand(ev: Evaluator, f: Any, error: NotCovered) -> bool:
    """Return whether something else than an opaque call of `f` answers to `error`: a handler, an
    evaluation that begins again with what it demands, the outermost call of a recursion."""
    if isinstance(error, TooDeep):
        code = getattr(f, "__code__", None)
        return any(frame.code is code for frame in ev.frames)
    if isinstance(error, NeedsKnown):
        leaves = [leaf for leaf in ev.outside.leaves if leaf.value is error.value]
        return any(not ev.outside.is_wanted(leaf.source) for leaf in leaves)
    if isinstance(error, NeedsSize):
        size = ev.outside.size_of(error.symbol)
        return size is not None and (error.most is None or size <= error.most)
    return type(error) not in (NotCovered, UnknownSizes)


def _writes(f: Any, args: Sequence[Abstract], keywords: dict[str, Abstract]) -> bool:
    """Return whether a call names an array to write to."""
    if any(name in ("out", "copy") or name.startswith("overwrite") for name in keywords):
        return True
    return len(args) > most_operands(f)


def _example_runs(ev: Evaluator, callee: opaque.Opaque, operands: Sequence[Operand]) -> list[Run]:
    """Return the results of the operation for examples; find out whether it has a derivative."""
    types = [*map(ev.type_of, operands)]
    for x, t in zip(operands, types, strict=True):
        _demand_plain(ev, callee.function, x, t)
        _demand_known(ev, callee.function, x, t)
    key = callee.function, callee.names, *map(_key, types)
    if key not in ev.examples:
        first = len(operands) - len(callee.names)
        named = dict(zip(callee.names, types[first:], strict=True))
        with ev.demanding_sizes(operands):
            found = runs_on_examples(callee.function, types[:first], named)
        ev.examples[key] = found, _problem_of(callee.function, found[0])
    runs: list[Run]
    runs, callee.problem = ev.examples[key]
    return runs


def demand_other_operations(block: Block) -> None:
    """Refuse loops of little else than opaque operations, which are slower than in the generic
    tier; functions of libraries in Python cost more than what is lost."""
    for loop in walk(block):
        if not isinstance(loop, Loop):
            continue
        calls = [op for op in walk(loop.body) if isinstance(op, Call) and op.callee not in _CHECKS]
        cheap = [op for op in calls if _is_cheap(op)]
        if len(calls) < len(cheap) * (1 + FEWEST_OTHERS):
            raise NotCovered("a loop of little else than calls of the generic tier", cheap[0].span)


_CHECKS = tuple(
    map(
        Const,
        (
            runtime.apart,
            runtime.foreseen,
            runtime.foreseen_number,
            runtime.length,
            primitives.build_tuple,
        ),
    )
)
FEWEST_OTHERS = 5
"""The number of other operations for each opaque one in a loop."""


def _is_cheap(op: Call) -> bool:
    callee = callee_of(op)
    if not isinstance(callee, opaque.Opaque):
        return False
    inner = getattr(callee.function, "__wrapped__", callee.function)
    return callee.is_watched or type(inner) is not FunctionType


# ---- functions of the user -----------------------------------------------------------------------


def is_of_user(ev: Evaluator, f: Any) -> bool:
    """Return whether `f` is a function of user code that is defined in a module and is not being
    evaluated."""
    if type(f) is not FunctionType or f.__closure__ is not None or is_own(f.__globals__):
        return False
    code, home = f.__code__, f.__globals__
    return home.get(f.__name__) is f and all(frame.code is not code for frame in ev.frames)


def _observed_runs(
    ev: Evaluator, callee: opaque.Opaque, operands: Sequence[Operand], error: NotCovered
) -> list[Run]:
    """Return a result of a pure function of the user for operands of these types, as the generic
    tier has noted it; ask for one if there is none."""
    f: Any = callee.function
    names = names_of_pure(f)
    if names is None or lookup(f) is not None:
        raise error
    types = [*map(ev.type_of, operands)]
    for x, t in zip(operands, types, strict=True):
        _demand_plain(ev, f, x, t)
    found = observed_run(f, callee.names, types)
    if found is not None:
        for namespace, name in names:
            ev.demand_not_stored(namespace, name)
            ev.outside.global_(namespace, name)  # guards what makes the function pure
        return [found]
    count = ask(f.__code__)
    if count < MOST:
        error.awaits.append((f.__code__, count))
    raise error


def _key(t: Any) -> Any:
    if isinstance(t, Constant):
        return type(t.value), repr(t.value)
    return tuple(map(_key, t)) if isinstance(t, tuple) else t


def _demand_plain(ev: Evaluator, f: Any, x: Operand, t: Any) -> None:
    """Refuse operands other than numbers, arrays, lists of these, and plain constants."""
    if isinstance(x, Value) and x in ev.packs:
        for part in ev.packs[x]:
            _demand_plain(ev, f, part, ev.type_of(part))
    elif isinstance(t, Constant):
        if not _is_plain(t.value):
            raise NotCovered(f"such a call of {name_of(f)}", ev.span)
    elif not isinstance(t, Array | Number | Symbol):
        raise NotCovered(f"such a call of {name_of(f)}", ev.span)


def _demand_known(ev: Evaluator, f: Any, x: Operand, t: Any) -> None:
    """Refuse integers that are not known, on which the shape of a result may depend."""
    if isinstance(x, Value) and x in ev.packs:
        for part in ev.packs[x]:
            _demand_known(ev, f, part, ev.type_of(part))
    elif isinstance(x, Value) and isinstance(t, Symbol):
        raise NotCovered(f"such a call of {name_of(f)}", ev.span)
    elif isinstance(x, Value) and (has_integer(t) or has_truth_value(t)):
        raise NeedsKnown(x, f"{name_of(f)} of an integer that is not known", ev.span)


def _is_plain(value: Any) -> bool:
    if type(value) in (tuple, list):
        return all(map(_is_plain, value))
    kinds = (int, float, complex, str, bool, type(None), slice, np.dtype, np.generic)
    return isinstance(value, kinds) or (isinstance(value, type) and issubclass(value, np.generic))


def _written(
    ev: Evaluator, callee: opaque.Opaque, operands: tuple[Operand, ...], found: Sequence[Run]
) -> Abstract:
    """Write the operation, and the checks of its results."""
    f, first = callee.function, found[0].y
    callee.is_alias = any(one.is_alias for one in found)
    _note(ev, callee)
    if not isinstance(first, tuple | list):
        made = ev.operation(callee, operands, ANYTHING)
        return _part(ev, made, callee, operands, found, _arrays_of(ev, operands))
    kind = type(first)
    if kind not in (tuple, list) and not is_named_tuple(kind):
        raise NotCovered(f"{name_of(f)} returns a {kind.__name__}")
    if any(type(one.y) is not kind or len(one.y) != len(first) for one in found):
        raise NotCovered(f"{name_of(f)} returns one thing or another")
    columns = [[one._replace(y=one.y[i]) for one in found] for i in range(len(first))]
    pack = ev.operation(callee, operands, ANYTHING, name="parts")
    parts = [ev.value(ANYTHING) for _ in columns]
    if callee.is_alias:
        ev.note_alias(pack, operands)
    ev.write(Unpack(tuple(parts), pack, None, ev.span))
    items, others = [], _arrays_of(ev, operands)
    for part, column in zip(parts, columns, strict=True):
        items.append(_part(ev, part, callee, operands, column, others, pack))
        if isinstance(ev.types[part], Array):
            others.append(part)
    return ev.allocate(ListOf(tuple(items))) if kind is list else Tuple(tuple(items), kind)


def _note(ev: Evaluator, callee: opaque.Opaque) -> None:
    """Note the operation for the report of the tier."""
    place = ""
    if ev.span is not None and ev.frames:
        place = f" at {place_text(ev.frames[-1].filename, ev.span.line)}"
    ev.opaque[f"{callee.__name__}{place}"] = callee.reason


def _arrays_of(ev: Evaluator, operands: Sequence[Operand]) -> list[Value]:
    """Return the operands that are arrays, also those in lists."""
    found: list[Value] = []
    for x in operands:
        if isinstance(x, Value) and x in ev.packs:
            found += _arrays_of(ev, ev.packs[x])
        elif isinstance(x, Value) and isinstance(ev.types[x], Array):
            found.append(x)
    return found


def _part(
    ev: Evaluator,
    y: Value,
    callee: opaque.Opaque,
    operands: tuple[Operand, ...],
    found: Sequence[Run],
    others: Sequence[Value],
    pack: Value | None = None,
) -> Value:
    """Write the checks of a result, or of a part of the result `pack`: its type, and whether it may
    be an alias of an operand or of a part before it, as in the examples."""
    ev.types[y] = t = _type(ev, callee.function, operands, found)
    made = checked(ev, y, t, operands)
    if not isinstance(t, Array):
        return made
    if callee.is_alias:
        ev.note_alias(y, (*operands, *others) if pack is None else (pack, *others))
        ev.note_alias(made, (y,))
        return made
    return ev.operation(runtime.apart, (made, *others), t)


def _type(ev: Evaluator, f: Any, operands: Sequence[Operand], found: Sequence[Run]) -> Any:
    """Return the type of results; a length that is unknown follows from those of the operands."""
    t = joined_type(f, [(one.y, one.symbols) for one in found], ev.derived)
    known = sizes_in(map(ev.type_of, operands))
    if not isinstance(t, Array) or not known:
        return t
    shape = (
        ev.derived("opaque", object(), *known)
        if isinstance(n, Symbol) and not n.key and n not in known
        else n
        for n in t.shape
    )
    return Array(t.dtype, tuple(shape))


def _problem_of(f: Any, one: Run) -> str | None:
    """Return why a call has no derivative in the generic tier, tried with an example.

    Raises
    ------
    NotCovered
        The call changes an operand.
    """
    before = copy.deepcopy((one.args, one.kwargs))
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            y, back = opaque.pullback(f, *one.args, **one.kwargs)
            back([*map(_ones, y)] if isinstance(y, tuple | list) else _ones(y))
    except opaque.WritesOperand as error:
        raise NotCovered(f"{name_of(f)}: {error}") from None
    except Exception as error:
        return f"{name_of(f)}: {error}"
    finally:
        if not _are_equal(before, (one.args, one.kwargs)):
            raise NotCovered(f"{name_of(f)} writes to an operand")
    return None


def _ones(y: Any) -> Any:
    return np.ones(np.shape(y)) if isinstance(y, np.ndarray) else 1.0


def _are_equal(a: Any, b: Any) -> bool:
    if isinstance(a, dict):
        a, b = [*a.values()], [*b.values()]
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(_are_equal, a, b))
    return not isinstance(a, np.ndarray) or np.array_equal(a, b, equal_nan=True)
