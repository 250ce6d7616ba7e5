"""Handlers of `print` and of clocks.

A program prints when it has finished: what is printed are constants, and numbers and arrays as they
were when the text was made (`values.Text`).
"""

from __future__ import annotations

import time

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.handlers.table import handler
from adjoint.fast.evaluate.types import number
from adjoint.fast.evaluate.values import Abstract, Known, ListOf, Text, Tuple
from adjoint.fast.not_covered import NotCovered
from adjoint.fast.support import functions as runtime
from adjoint.ir.single import Const


@handler(print)
def _(
    ev: Evaluator,
    *operands: Abstract,
    sep: Abstract = Known(" "),
    end: Abstract = Known("\n"),
    file: Abstract = Known(None),
    flush: Abstract = Known(False),
) -> Abstract:
    options = (sep, end, flush)
    is_plain = isinstance(file, Known) and file.value is None
    if not is_plain or not all(isinstance(x, Known) for x in options):
        raise NotCovered("a call of print with such options", ev.span)
    if not ev.outside.is_run_once or ev.orders > 1:
        raise NotCovered("a call of print", ev.span)
    line = Tuple((Tuple(tuple(_text(ev, x) for x in operands)), *options))
    held = ev.heap[ev.printed.address]
    if not isinstance(held, ListOf):
        raise NotCovered("a number of lines that is not known", ev.span)
    ev.demand_own_list(ev.printed.address)
    ev.heap[ev.printed.address] = ListOf((*held.items, line))
    return Known(None)


def _text(ev: Evaluator, x: Abstract) -> Abstract:
    """Return the text of an operand: a constant, or one that is made when it is printed."""
    found = ev.call(Known(str), [x], {})
    if isinstance(found, Text) and found.recipe is None:
        raise NotCovered("printing of what is not known", ev.span)
    return found


def _clock(f: object, kind: type) -> None:
    @handler(f)
    def _(ev: Evaluator) -> Abstract:
        return ev.operation(runtime.read_clock, (Const(f),), number(kind))


for _name in ("time", "perf_counter", "monotonic", "process_time"):
    _clock(getattr(time, _name), float)
    _clock(getattr(time, f"{_name}_ns"), int)
