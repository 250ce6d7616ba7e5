"""Handlers of some of `itertools`: its functions run at specialisation, on the known items of their
operands. The others are the generators that substitute them."""

from __future__ import annotations

import itertools
import operator
from typing import Any

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.handlers.table import handler
from adjoint.fast.evaluate.item_lists import demand_listed
from adjoint.fast.evaluate.iterables import MOST_UNROLLED, is_stepped, used_again
from adjoint.fast.evaluate.objects.containers import (
    closed,
    fixed_integer,
    guarded,
    opened_element,
)
from adjoint.fast.evaluate.types import Number
from adjoint.fast.evaluate.values import (
    MISSING,
    Abstract,
    CellOf,
    Closure,
    External,
    Generating,
    Iterating,
    IteratorOf,
    Known,
    ListOf,
    Partial,
    Ref,
    Tuple,
)
from adjoint.fast.not_covered import NotCovered
from adjoint.ir.single import Value

_OF_ITERABLES = (
    itertools.product,
    itertools.zip_longest,
    itertools.combinations,
    itertools.permutations,
    itertools.combinations_with_replacement,
    itertools.islice,
    itertools.compress,
)
MOST_ITEMS = 4096


def _items(ev: Evaluator, a: Abstract) -> list[Any]:
    if _runs_code(ev, a):
        raise NotCovered("itertools of an iterator that runs code", ev.span)
    if is_stepped(ev, a):  # Python takes its items later, and maybe not all
        raise NotCovered("itertools of an iterator that is used more than once", ev.span)
    items = demand_listed(ev, a, "itertools of what is not known")
    return [opened_element(ev, x) for x in items]


def _runs_code(ev: Evaluator, a: Abstract) -> bool:
    """Return whether an iterator runs code: then it matters when an item is taken."""
    held = ev.held(a)
    what = held.source if isinstance(held, IteratorOf) else a
    if isinstance(what, Iterating):
        return what.function is not None or any(_runs_code(ev, x) for x in what.operands)
    return isinstance(what, Generating)


def _iterator(ev: Evaluator, items: list[Abstract], *sources: Abstract) -> Abstract:
    """Return an iterator over items made of `sources`, which must not change meanwhile."""
    refs = [x for x in sources if isinstance(x, Ref)]
    watched = tuple((x, ev.held(x)) for x in refs if not isinstance(ev.held(x), IteratorOf))
    made = ev.allocate(ListOf(tuple(items)))
    return ev.allocate(IteratorOf(Iterating(iter, (made,), watched=watched)))


def _known(ev: Evaluator, a: Abstract) -> Any:
    if not isinstance(a, Known):
        raise NotCovered("an option of itertools that is not known", ev.span)
    return a.value


def _tool(f: Any) -> None:
    @handler(f)
    def _(ev: Evaluator, *args: Abstract, **options: Abstract) -> Abstract:
        if f is itertools.islice and isinstance(args[0], Value):
            raise NotCovered("islice of an array", ev.span)
        if f is itertools.islice and (_runs_code(ev, args[0]) or is_stepped(ev, args[0])):
            return _first_items(ev, *args)
        named = {k: opened_element(ev, x) for k, x in options.items()}
        operands = [_known(ev, x) if _is_number(x) else _items(ev, x) for x in args]
        found = guarded(ev, lambda: [*itertools.islice(f(*operands, **named), MOST_ITEMS)])
        if len(found) == MOST_ITEMS:
            raise NotCovered("itertools that give very many items", ev.span)
        return _iterator(ev, [closed(ev, x) for x in found], *args)


def _first_items(ev: Evaluator, xs: Abstract, stop: Abstract, *more: Abstract) -> Abstract:
    """Return ``itertools.islice(xs, stop)``, whose items are taken one by one."""
    held, n = ev.held(xs), _known(ev, stop)
    if more or type(n) is not int or not 0 <= n <= MOST_UNROLLED:
        raise NotCovered("an option of itertools that is not known", ev.span)
    if isinstance(held, IteratorOf) and not is_stepped(ev, xs):
        raise used_again(ev, held)
    return ev.allocate(IteratorOf(Iterating(itertools.islice, (xs, stop)), place=ev.place_now()))


@handler(itertools.count)
def _(ev: Evaluator, start: Abstract = Known(0), step: Abstract = Known(1)) -> Abstract:
    return ev.allocate(IteratorOf(Iterating(itertools.count, (start, step))))


def _is_number(a: Abstract) -> bool:
    return isinstance(a, Known) and (a.value is None or type(a.value) is int)


for _f in _OF_ITERABLES:
    _tool(_f)


@handler(itertools.repeat)
def _(ev: Evaluator, x: Abstract, times: Abstract) -> Abstract:
    n = _known(ev, times)
    if type(n) is not int or n > MOST_UNROLLED:
        raise NotCovered("a repetition that is long", ev.span)
    return _iterator(ev, [x] * n)


def _variables(ev: Evaluator, f: Abstract) -> tuple[Abstract, ...]:
    """Return the cells of the variables that a function has captured; refuse contents that may
    change before it is called."""
    if isinstance(f, Partial):
        return _variables(ev, f.function)
    if isinstance(f, Known):
        return ()
    held = [ev.held(cell) for cell in f.cells] if isinstance(f, Closure) else [None]
    for cell in held:
        x = cell.items[0] if isinstance(cell, CellOf) else MISSING
        is_number = isinstance(x, Value) and isinstance(ev.types[x], Number)
        if x is MISSING or not (is_number or isinstance(x, Known | External)):
            raise NotCovered("itertools of a function with variables", ev.span)
    return f.cells  # type: ignore[union-attr]


@handler(itertools.groupby)
def _(ev: Evaluator, xs: Abstract, key: Abstract = Known(None)) -> Abstract:
    is_plain = isinstance(key, Known) and key.value is None
    groups: list[tuple[Abstract, list[Abstract]]] = []
    items = [closed(ev, x) for x in _items(ev, xs)]
    for x in items:
        k = x if is_plain else ev.call(key, [x], {})
        same = ev.call(Known(operator.eq), [groups[-1][0], k], {}) if groups else Known(False)
        if not isinstance(same, Known):
            for one in (groups[-1][0], k):
                if fixed_integer(ev, one) is None:
                    ev.demand_value(one, "groups that depend on numbers")
            raise NotCovered("groups that depend on numbers", ev.span)
        if same.value:
            groups[-1][1].append(x)
        else:
            groups.append((k, [x]))
    sources = (xs, *items, *_variables(ev, key))  # Python calls `key` later
    found: list[Abstract] = [Tuple((k, _iterator(ev, group, *sources))) for k, group in groups]
    return _iterator(ev, found, *sources)
