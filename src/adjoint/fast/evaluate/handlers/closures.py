"""Closures that the program makes, and their cells."""

from __future__ import annotations

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.handlers.table import handler
from adjoint.fast.evaluate.values import (
    LOST,
    MISSING,
    Abstract,
    CellOf,
    Closure,
    DictOf,
    Either,
    Known,
    Ref,
    parts,
    rebuild,
)
from adjoint.fast.not_covered import NeedsGlobal, NotCovered
from adjoint.fast.single_assignment import primitives as single_primitives
from adjoint.fast.single_assignment.endings import RETURNED
from adjoint.fast.support import functions as runtime
from adjoint.ir import primitives
from adjoint.ir.single import Value


@handler(primitives.current_globals)
def _(ev: Evaluator) -> Abstract:
    return Known(ev.frames[-1].namespace)


@handler(primitives.make_function)
def _(
    ev: Evaluator,
    code: Abstract,
    namespace: Abstract,
    defaults: Abstract,
    named: Abstract,
    annotations: Abstract,
    *cells: Abstract,
) -> Abstract:
    assert isinstance(code, Known) and isinstance(namespace, Known)
    given = () if isinstance(defaults, Known) and defaults.value is None else ev.sequence(defaults)
    by_name = tuple((ev.entries(named) or {}).items())
    if given is None:
        raise NotCovered("defaults of unknown number", ev.span)
    fields = ev.allocate(DictOf((), ()))
    return Closure(code.value, namespace.value, given, by_name, cells, fields=fields)


@handler(primitives.new_cell)
def _(ev: Evaluator) -> Abstract:
    return ev.allocate(CellOf((MISSING,)))


@handler(primitives.load_cell, primitives.load_own_cell)
def _(ev: Evaluator, cell: Abstract, name: Abstract) -> Abstract:
    return _assigned(ev, ev.load_cell(cell), name)


@handler(primitives.store_cell)
def _(ev: Evaluator, cell: Abstract, value: Abstract) -> Abstract:
    if not isinstance(cell, Ref):
        raise NotCovered("a write to a variable of an enclosing function", ev.span)
    ev.heap[cell.address] = CellOf((value,))
    return Known(None)


@handler(single_primitives.assigned)
def _assigned(ev: Evaluator, a: Abstract, name: Abstract) -> Abstract:
    """Return the content of a variable; write a check if it may be unassigned."""
    if a is MISSING or a is LOST or name.value == RETURNED:  # type: ignore[union-attr]
        raise NotCovered("a variable that may have no value", ev.span)
    if isinstance(a, Either):
        return a
    held = ev.heap[a.address] if isinstance(a, Ref) and a.address in ev.copies else a
    inside = parts(held)
    if inside:
        checked = [ev.call(Known(single_primitives.assigned), [x, name], {}) for x in inside]
        if all(x is y for x, y in zip(inside, checked, strict=True)):
            return a
        made = rebuild(held, iter(checked))
        if isinstance(a, Ref):
            ev.heap[a.address] = made
        return a if isinstance(a, Ref) else made
    if not isinstance(a, Value) or a not in ev.maybe or a in ev.nones:
        return a
    return ev.operation(runtime.assigned, (a,), ev.types[a])


@handler(single_primitives.same)
def _(ev: Evaluator, a: Abstract) -> Abstract:
    return a


@handler(primitives.load_global)
def _(ev: Evaluator, namespace: Abstract, name: Abstract) -> Abstract:
    assert isinstance(namespace, Known) and isinstance(name, Known)
    return _assigned(ev, ev.global_(namespace.value, name.value), name)


@handler(primitives.store_global)
def _(ev: Evaluator, namespace: Abstract, name: Abstract, value: Abstract) -> Abstract:
    assert isinstance(namespace, Known) and isinstance(name, Known)
    if not ev.outside.is_run_once or ev.orders > 1:
        raise NotCovered("an assignment to a global variable", ev.span)
    cell = ev.global_cells.get((id(namespace.value), name.value))
    if cell is None:
        raise NeedsGlobal(namespace.value, name.value, ev.span)
    ev.heap[cell.address] = CellOf((value,), name.value)
    return Known(None)


@handler(primitives.delete_global)
def _(ev: Evaluator, *operands: Abstract) -> Abstract:
    raise NotCovered("a deletion of a global variable", ev.span)
