"""Handlers of `print` and of clocks.

A program prints when it has finished: each call of `print` makes its texts, of constants, numbers
and arrays, and adds them to a list.
"""

from __future__ import annotations

import io
import sys
import time
from collections.abc import Callable
from operator import itemgetter
from typing import Any

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.handlers.table import handler
from adjoint.fast.evaluate.types import ANYTHING, number
from adjoint.fast.evaluate.values import (
    LOST,
    MISSING,
    TEXT,
    Abstract,
    Either,
    External,
    Known,
    Text,
    Tuple,
)
from adjoint.fast.not_covered import NotCovered
from adjoint.fast.support import functions as runtime
from adjoint.fast.support.printing import line_of, print_texts, write_line
from adjoint.ir.single import Call, Const, Operand, Value


@handler(print)
def _(
    ev: Evaluator,
    *operands: Abstract,
    sep: Abstract = Known(" "),
    end: Abstract = Known("\n"),
    file: Abstract = Known(None),
    flush: Abstract = Known(False),
) -> Abstract:
    options = (sep, end, flush, _name_of(file))
    if not all(isinstance(x, Known) for x in options) or options[-1] is file:
        raise NotCovered("a call of print with such options", ev.span)
    if not ev.outside.may_print:
        raise NotCovered("a call of print", ev.span)
    try:
        texts = Tuple(tuple(ev.call(Known(str), [x], {}) for x in operands))
    except NotCovered as error:
        if type(error) is NotCovered:
            error.reason = f"a call of print: {error.reason}"
        raise
    keep(ev, print_texts, Tuple((texts, *options)))
    return Known(None)


def keep(ev: Evaluator, emit: Callable[..., None], given: Tuple) -> None:
    """Write the call ``emit(*given)``, which is done when the program has finished."""
    leaves: list[Value] = []
    make = _maker(ev, Tuple((Known(emit), given)), leaves)
    line: Operand
    if leaves:
        line = ev.operation(line_of, (Const(make), *leaves), ANYTHING, name="line")
    else:
        line = Const(make(()))
    ev.write(Call(None, Const(write_line), (ev.lines, line), (), ev.span))
    ev.prints = True


@handler(io.TextIOWrapper.write, io.StringIO.write)
def _(ev: Evaluator, file: Abstract, text: Abstract) -> Abstract:
    if ev.class_of(text) is not str or _name_of(file) is file:
        raise NotCovered("a write to a file", ev.span)
    ev.call(Known(print), [text], {"end": Known(""), "file": file})
    return LOST  # the number of characters, which nothing reads


@handler(io.TextIOWrapper.flush, io.StringIO.flush)
def _(ev: Evaluator, file: Abstract) -> Abstract:
    return ev.call(Known(print), [], {"end": Known(""), "file": file, "flush": Known(True)})


def _name_of(file: Abstract) -> Abstract:
    """Return the name in `sys` of a file to print to."""
    if isinstance(file, External) and file.source.kind == "member":
        module = file.source.parent
        if module is not None and module.key is sys and file.source.key in ("stdout", "stderr"):
            return Known(file.source.key)
    return Known("stdout") if isinstance(file, Known) and file.value is None else file


def _maker(
    ev: Evaluator, a: Abstract, leaves: list[Value], *, is_one: bool = False
) -> Callable[[tuple[Any, ...]], Any]:
    """Return the function that makes a constant, a text or a tuple of them from `leaves`; if
    `is_one`, of several things, of which the others may have no value."""
    if isinstance(a, Known) and a is not LOST and a is not MISSING:
        value = a.value
        return lambda given: value
    if isinstance(a, Tuple):
        items, kind = [_maker(ev, x, leaves, is_one=is_one) for x in a.items], a.kind
        return lambda given: tuple.__new__(kind, [make(given) for make in items])
    if isinstance(a, Value):
        if a in ev.maybe and a not in ev.nones and not is_one:
            a = ev.operation(runtime.assigned, (a,), ev.types[a])
        leaves.append(a)
        return itemgetter(len(leaves) - 1)
    if isinstance(a, Either):
        place = _maker(ev, a.place, leaves, is_one=is_one)
        of_number = {
            n: _maker(ev, x, leaves, is_one=True) for n, x in zip(a.numbers, a.items, strict=True)
        }
        return lambda given: of_number[place(given)](given)
    if not isinstance(a, Text) or a is TEXT:
        raise NotCovered("printing of what is not known", ev.span)
    (call,) = a.items
    f = call.function.value
    made = [_maker(ev, x, leaves, is_one=is_one) for x in call.args]
    named = {name: _maker(ev, x, leaves, is_one=is_one) for name, x in call.keywords}
    return lambda given: f(*[x(given) for x in made], **{k: x(given) for k, x in named.items()})


def _clock(f: object, kind: type) -> None:
    @handler(f)
    def _(ev: Evaluator) -> Abstract:
        return ev.operation(runtime.read_clock, (Const(f),), number(kind))


for _name in ("time", "perf_counter", "monotonic", "process_time"):
    _clock(getattr(time, _name), float)
    _clock(getattr(time, f"{_name}_ns"), int)
