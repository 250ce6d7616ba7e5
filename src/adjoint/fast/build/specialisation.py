"""Construction of a program from a function and the arguments of one call."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from keyword import iskeyword
from types import FunctionType
from typing import Any

from adjoint.diagnostics.dump import stages_of
from adjoint.fast.build import registrations as registrations
from adjoint.fast.build.modes import GRADIENT, Mode
from adjoint.fast.build.program import Program, Task, definite_results
from adjoint.fast.build.tangent_program import (
    hessian_product,
    note_negations,
    product_over_forward,
    pushed_forward,
)
from adjoint.fast.build.tangent_rows import with_rows
from adjoint.fast.evaluate.callees.opaque_calls import demand_other_operations
from adjoint.fast.evaluate.composites import expanded
from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.handlers.cached_functions import demand_unwritten
from adjoint.fast.evaluate.leaves import path_of
from adjoint.fast.evaluate.outside_values import Outside
from adjoint.fast.evaluate.partial_evaluator import PartialEvaluator
from adjoint.fast.evaluate.types import ANYTHING, Array, bar_type, has_integer
from adjoint.fast.evaluate.values import MISSING, Abstract, CellOf, Source
from adjoint.fast.evaluate.writes.adopted_containers import adopt_all
from adjoint.fast.evaluate.writes.adoption import NeedsOwn, Pattern
from adjoint.fast.evaluate.writes.final_contents import (
    globals_stored,
    stored,
    values_stored,
)
from adjoint.fast.evaluate.writes.views import check_views, with_aliases
from adjoint.fast.not_covered import (
    NOT_SCALAR,
    NeedsGlobal,
    NeedsKnown,
    NeedsSize,
    NotCovered,
    SharedWrite,
    UsedAgain,
    WrittenCopy,
)
from adjoint.fast.passes.contraction import contract
from adjoint.fast.passes.outer_products import without_outer_products
from adjoint.fast.passes.plain_floats import with_plain_floats
from adjoint.fast.passes.sequence import together
from adjoint.fast.passes.small_arrays import without_small_arrays
from adjoint.fast.reverse.block_cotangents import Scope
from adjoint.fast.reverse.forward_sweep import both_sweeps
from adjoint.fast.reverse.result import demand_real_scalar, finished, returned
from adjoint.fast.single_assignment.walk import blocks, results, walk
from adjoint.fast.support.printing import new_lines
from adjoint.fast.support.result_structure import Structure
from adjoint.ir import printer
from adjoint.ir.single import Block, Call, Const, Operand, Value
from adjoint.runtime.cache.ir import lowered

MOST_ATTEMPTS = 16
"""How often a function is specialised again because something more has to be known of a call."""


def specialise(
    f: Any,
    args: tuple[Any, ...],
    mode: Mode = GRADIENT,
    *,
    takes_apart: bool = True,
    may_print: bool = True,
    is_plain: bool = True,
    sums_some: bool = True,
) -> Program:
    """Specialise `f` on the types of `args`; the last ones belong to ``mode.names``.

    With `takes_apart`, the program may be for the lengths of small arrays alone. With `is_plain`,
    it computes with numbers of Python where it can. With `sums_some`, it may fail for a sum of no
    numbers.

    Raises
    ------
    NotCovered
        The generic tier has to take the call.
    """
    pinned: set[tuple[Any, ...]] = set()
    sizes: set[int] = set()
    owned: dict[Pattern, set[str]] = {}
    stepped: set[Any] = set()
    shared: set[Any] = set()
    in_globals: dict[tuple[int, str], dict[str, Any]] = {}
    rows, splits, order = True, True, 0
    keeps_lists, may_keep_lists = False, True
    apart = takes_apart and not (mode.has_rows or mode.is_careful)
    for _ in range(MOST_ATTEMPTS):
        outside = Outside(
            pinned=pinned,
            sizes=sizes,
            names=_argument_names(f, mode, len(args)),
            of_function=mode.is_of_function,
            rows=rows,
            splits=splits,
            owned=owned,
            stepped=stepped,
            shared_writes=shared,
            stored_globals=in_globals,
        )
        outside.is_wanted = partial(_is_wanted, mode=mode, count=len(args))  # holds no arguments
        outside.may_print = may_print
        outside.is_run_once = may_print and mode.is_gradient and not mode.has_rows
        outside.shows_twins = mode.is_gradient  # the generic tier adds what pullbacks show
        outside.may_write = partial(_may_write, mode, outside.is_wanted)
        ev = PartialEvaluator(outside)
        ev.is_careful = mode.is_careful
        ev.sums_some = sums_some
        ev.takes_apart = apart
        ev.keeps_lists, ev.may_keep_lists = keeps_lists, may_keep_lists
        ev.orders = 2 if mode.kind == "hvp" else 1
        try:
            made = _specialised(ev, f, args, mode, ORDERS[order])
            if mode.has_rows:
                return with_rows(made)
            is_plain &= not (mode.is_careful or ev.ignored)
            return _with_plain_floats(made) if is_plain else made
        except _OtherOrder:
            order += 1
        except NeedsKnown as error:
            source = next((x.source for x in outside.leaves if x.value is error.value), None)
            if source is None or path_of(source) in pinned:
                raise
            pinned.update(map(path_of, _with_others(outside, source)))
        except NeedsSize as error:
            size = outside.size_of(error.symbol)
            if size is None or (error.most is not None and size > error.most):
                raise
            sizes.add(size)
        except NeedsOwn as error:
            if error.name in owned.get(error.pattern, ()):
                raise
            owned.setdefault(error.pattern, set()).add(error.name)
        except NeedsGlobal as error:
            in_globals[id(error.namespace), error.name] = error.namespace
        except UsedAgain as error:
            if error.place in stepped:
                raise
            stepped.add(error.place)
        except SharedWrite as error:  # what calls the function that writes may be covered
            shared.add(error.place)
        except WrittenCopy:
            keeps_lists, may_keep_lists = True, False
        except NotCovered as error:
            if keeps_lists:
                keeps_lists = False
                continue
            if ev.has_taken_apart:
                apart = False
                continue
            if ev.has_split:
                splits = False  # an exception leaves the program
                continue
            if not rows or not ev.has_rows() or error.reason == NOT_SCALAR:
                raise
            rows = False  # reading lists number by number covers more
    raise NotCovered("too much that has to be known")


def _with_others(outside: Outside, source: Source) -> list[Source]:
    """Return the source of an integer, with those of all constant ones in the same list, or among
    the variables that the same function has captured; of an integer with a derivative, with those
    at the same place in other lists of the same list, or in the same list of integers."""
    others = []
    if source.kind in ("item", "cell"):
        others = [x for x in outside.leaves if x.source.parent is source.parent]
        if outside.is_wanted(source):
            if not all(has_integer(x.type) for x in others):
                others = [x for x in outside.leaves if _is_in_column(x.source, source)]
            return [source, *(x.source for x in others if has_integer(x.type))]
    constant = (x for x in others if has_integer(x.type) and not outside.is_wanted(x.source))
    return [source, *(x.source for x in constant)]


def _is_in_column(x: Source, source: Source) -> bool:
    """Return whether two numbers are at the same place in two lists of one list."""
    above, others = source.parent, x.parent
    if above is None or others is None or (x.kind, x.key) != (source.kind, source.key):
        return False
    return above.kind == "item" and others.kind == "item" and above.parent is others.parent


def _argument_names(f: Any, mode: Mode, count: int) -> tuple[str, ...]:
    """Return the names of the arguments in the program."""
    code, first = getattr(f, "__code__", None), count - len(mode.names)
    names = () if code is None else code.co_varnames[: code.co_argcount][:first]
    others = [f"x{i}" for i in range(len(names), first)]
    # Keywords may be any strings: f(**{"a b": 1.0, "class": 2.0})
    named = [name if name.isidentifier() and not iskeyword(name) else "x" for name in mode.names]
    return (*names, *others, *named)


ORDERS = ("forward over reverse", "reverse over forward", "with opaque rules")
"""How a product with a Hessian is derived, in the order of preference."""


class _OtherOrder(Exception):
    """Raised where a product with a Hessian has to be derived in another order."""


def _specialised(ev: Evaluator, f: Any, args: tuple[Any, ...], mode: Mode, order: str) -> Program:
    outside, one = ev.outside, mode.is_scalar
    name = getattr(f, "__name__", type(f).__name__)
    stages = stages_of(name)
    if type(f) is FunctionType:
        stages("ir", lambda: printer.format_function(lowered(f)))
    function = outside.bring(outside.root("function"), f)
    values: list[Abstract] = [
        outside.bring(outside.root("argument", i), arg) for i, arg in enumerate(args)
    ]
    if outside.owned:
        roots = {("argument", i): arg for i, arg in enumerate(args)} | {("function", None): f}
        adopt_all(outside, roots)
    for key, namespace in outside.stored_globals.items():
        first = outside.global_(namespace, key[1]) if key[1] in namespace else MISSING
        ev.global_cells[key] = ev.allocate(CellOf((first,), key[1]))
    count = len(values) - len(mode.names)
    by_name = dict(zip(mode.names, values[count:], strict=True))
    with ev.writing() as ops:
        y = ev.call(function, values[:count], by_name)
    given, structure = returned(ev, y, one)
    shaped = None if _is_flat(structure) else structure.filled  # type: ignore[union-attr]
    if shaped is not None and mode.has_rows:
        raise NotCovered("a result of another kind")
    changed = stored(ev)
    if changed and shaped is not None:
        raise NotCovered("a result of several parts, which may be stored outside too")
    adopted = tuple(x.source for x in outside.adopted)
    if not all(outside.may_write(source, False) for source in adopted):
        raise NotCovered("a write to a container from outside")
    if mode.kind == "hvp":
        changed, adopted = [], ()  # the function is evaluated at a copy of the point
    in_globals = globals_stored(ev)
    more = values_stored(ev, changed, in_globals)
    if ev.prints:
        ops.insert(0, Call(ev.lines, Const(new_lines), ()))
    leaves = [leaf for leaf in outside.leaves if leaf.type != ANYTHING]
    wanted = [leaf for leaf in leaves if outside.is_wanted(leaf.source)]
    if one:
        demand_real_scalar(given[0], ev)
    ends = (*map(ev.operand, given), *more)
    if any(not ev.locked.isdisjoint(ev.aliased_by(x)) for x in ends):
        raise NotCovered("a read-only array that is seen outside")
    primal = Block(tuple(leaf.value for leaf in outside.leaves), tuple(ops), ends)
    if ev.written:
        primal = with_aliases(ev, primal)
    apart = _shared_by_results(ev, primal)
    task = Task(ev, name, wanted, structure is not None, apart, stages)
    task.show("primal", primal)
    primal = task.simplified(primal)
    demand_unwritten(ev)
    if ev.opaque:
        demand_other_operations(primal)
    if wanted:
        primal = check_views(ev, primal)
    if ev.takes_apart:
        primal = _with_numbers(task, primal)
    assert primal.results is not None
    if mode.kind == "pushforward":
        has_tangents = mode.wanted != ()
        made = pushed_forward(task, expanded(ev, primal), len(given), has_tangents=has_tangents)
        return replace(made, shaped=shaped, values_stored=more)
    try:
        if order == "reverse over forward":
            made = product_over_forward(task, expanded(ev, primal))
        else:
            made = _differentiated(task, primal, given, mode, order)
        made = replace(made, stored=changed, values_stored=more, adopted=adopted, shaped=shaped)
        return replace(made, in_globals=in_globals)
    except NotCovered as error:
        demanding = isinstance(error, NeedsKnown | NeedsSize)
        if mode.kind != "hvp" or order == ORDERS[-1] or demanding:
            raise
        raise _OtherOrder from None


def _with_numbers(task: Task, primal: Block) -> Block:
    """Return the computation of a function with small arrays as separate numbers."""
    made = without_small_arrays(task.ev, primal, task.apart)
    if made is primal:
        return primal
    task.show("small-arrays", made)
    return task.simplified(made)


def _with_plain_floats(program: Program) -> Program:
    """Return a program that computes with numbers of Python where it can; see `plain_floats`."""
    made = with_plain_floats(program.ev, program.forward, program.reverse)
    if made is None:
        return program
    forward, reverse, instead = made
    program.task.show("plain-floats", Block((), (*forward.ops, *reverse.ops), reverse.results))
    ends = tuple(instead.get(x, x) if isinstance(x, Value) else x for x in program.results)
    return replace(program, forward=forward, reverse=reverse, results=ends)


def _is_flat(structure: Structure | None) -> bool:
    """Return whether a result is a number, an array, or a tuple of these."""
    return structure is None or (structure.kind is tuple and not any(structure.parts))


def _differentiated(
    task: Task, primal: Block, given: Sequence[Abstract], mode: Mode, order: str
) -> Program:
    """Return the program with the forward and the reverse sweep of a function."""
    ev, one = task.ev, mode.is_scalar
    assert primal.results is not None
    note_negations(ev, primal)
    y_bars = tuple(
        ev.value(bar_type(ev.types[y]), name=f"{y.name}_bar") if isinstance(y, Value) else None
        for y in (() if one else given)
    )
    ends = primal.results[: len(given)]
    seeds = zip(ends, (Const(1.0),) if one else y_bars, strict=True)
    # The caller of a pullback may write to arrays before the reverse sweep.
    later = () if one else ev.written & {leaf.value for leaf in ev.outside.leaves}
    bars_of = partial(_bars, task, one)
    forward, reverse = both_sweeps(ev, primal, task.moving, seeds, bars_of, later)
    parameters = tuple(y_bar for y_bar in y_bars if y_bar is not None)
    reverse = expanded(ev, replace(reverse, parameters=parameters))
    forward = expanded(ev, forward)
    task.show("forward", forward)
    task.show("reverse", reverse)
    forward, reverse = together(forward, reverse, lambda whole: task.simplified(whole, forward))
    reverse = contract(reverse, ev.totals, ev.types)
    task.show("contract", reverse)
    if mode.kind == "hvp":
        return hessian_product(task, forward, reverse, has_opaque_rules=order == ORDERS[-1])
    reverse = without_outer_products(ev, reverse)
    assert forward.results is not None
    results = forward.results[: len(given)]
    return Program(task, forward, reverse, results, y_bars, definite_results(ev, forward, reverse))


def _bars(task: Task, one: bool, scope: Scope) -> Iterator[Operand]:
    """Yield the cotangents of the wanted leaves; if `one`, of a gradient, zeros for arguments
    without a path."""
    for leaf in task.wanted:
        bar = scope.take(leaf.value)
        if bar is None and one and leaf.source.kind == "argument":
            bar = scope.zeros(leaf.value)
        yield Const(None) if bar is None else finished(task.ev, bar, leaf.value)


def _shared_by_results(ev: Evaluator, primal: Block) -> set[Value]:
    """Return the values that several results may be aliases of: their calls are not shared, because
    the caller may write to one result."""
    found: set[Value] = set()
    values = [y for y in primal.results or () if isinstance(y, Value)]
    arrays = [y for y in values if isinstance(ev.types[y], Array)]
    pending = arrays if len(arrays) > 1 else []
    made = {y: op for op in walk(primal) for y in results(op)}
    while pending:
        y = pending.pop()
        if y in found:
            continue
        found.add(y)
        pending += ev.aliased_by(y) - found
        ends = [block.results or () for block in blocks(made[y])] if y in made else []
        pending += [x for end in ends for x in end if isinstance(x, Value)]
    return found


def _may_write(
    mode: Mode, is_wanted: Callable[[Source], bool], source: Source, is_array: bool
) -> bool:
    """Return whether a program may write to an array, or to a container, from outside."""
    if is_array and mode.has_rows:  # for many tangents, it would write many times
        return False
    if mode.kind == "hvp":
        return is_wanted(source)
    return is_array or mode.kind != "pushforward"


def _is_wanted(source: Source, mode: Mode, count: int) -> bool:
    while source.parent is not None:
        if source.kind in ("global", "class attribute", "member"):
            return False
        source = source.parent
    if source.kind == "argument":
        return source.key in mode.positions(count)
    return source.kind == "function" and mode.is_of_function
