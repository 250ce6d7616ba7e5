"""Entry code of a program of tangents, as Python source.

``run(f, args)`` reads the leaves and returns ``along(dots)``, which takes one tangent per argument.
For a pushforward it returns the result and its tangent, for a product of a Hessian the gradient and
its tangent; its attributes are those of `programs.tangents.Along`. Where the program fails, or
tangents are not those of the arguments, it returns ``None``: the levels say what is wrong with
them. ``once(f, args, dots)`` is ``run(f, args)(dots)``, which also prints.
"""

from __future__ import annotations

import cmath
from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any, TypeGuard

import numpy as np

from adjoint.fast.build.modes import Mode
from adjoint.fast.build.program import Program, definite_results
from adjoint.fast.entry_code.cotangent_structure import cotangents
from adjoint.fast.entry_code.finiteness import square
from adjoint.fast.entry_code.inputs import Reading, indented, raising
from adjoint.fast.entry_code.outside_writes import committing, keeping, undoing
from adjoint.fast.evaluate.leaves import Leaf
from adjoint.fast.evaluate.types import (
    Array,
    Number,
    Row,
    has_complex,
    is_float,
    may_warn,
    number,
)
from adjoint.fast.evaluate.values import Source
from adjoint.fast.not_covered import NotCovered
from adjoint.fast.single_assignment.walk import is_call_of, walk
from adjoint.fast.source.expression_text import tuple_text
from adjoint.fast.support import functions as runtime
from adjoint.fast.support import tangents
from adjoint.fast.support.printing import silent
from adjoint.ir.single import Call, If, Loop, Value


def tangent_entry(
    program: Program, count: int, mode: Mode
) -> tuple[dict[str, str], dict[str, Any]]:
    """Return the sources of `run` and `once`, and the objects of the names; see `entry_source`."""
    outside, wanted = program.outside, program.wanted
    made = Reading(outside)
    made.read_all()
    positions = [*mode.positions(count)]
    for root in positions:
        made.distinct(root, wanted)
    ties = " or ".join(test for root in positions for test in made.ties(root))
    if ties:
        made.lines.append(f"if {ties}: return MISS")
    leaves = [made.names[id(leaf.source)] for leaf in outside.leaves]
    dots = [f"d{i}" for i in range(len(wanted))]
    arrays = [
        made.names[id(leaf.source)] for leaf in outside.leaves if isinstance(leaf.type, Array | Row)
    ]
    arrays += [dot for dot, leaf in zip(dots, wanted, strict=True) if isinstance(leaf.type, Array)]
    if mode.has_rows:
        given, results = [], "values, outs"
    elif mode.kind == "hvp":
        given = [f"def arrange(bars): return {cotangents(made, program, mode, count)}"]
        results = "arrange(values), arrange(outs)"
    else:
        given = []
        results = "values, outs" if program.task.is_tuple else "values[0], outs[0]"
        if program.shaped is not None:
            results = "shaped(values), shaped(outs)"
    reads = [f"{tuple_text(dots)} = dots"]
    written = program.written
    if not mode.has_rows:
        reads = [*_fitting(made, count), *_reads(made, wanted, dots)]
        reads += [
            f"{dot} = {dot}.copy()  # written to, or it may share memory with what is"
            for dot, leaf in zip(dots, wanted, strict=True)
            if written and isinstance(leaf.type, Array)
        ]
    head = [
        "    try:",
        f"        {tuple_text(f'a{i}' for i in range(count))} = args"
        if count
        else "        if args: return MISS",
        *(f"        {line}" for line in made.lines),
        "    except Exception:",
        "        return MISS",
    ]
    uses_numpy = not _is_plain(program)
    found = f"values, outs{', committed' if program.commits else ''}"
    commit = indented(1, committing(made, program))
    checked = _checked(program, arrays, mode)
    lines = [
        "def run(f, args):",
        *head,
        "    try:",
        *indented(2, raising([f"push = program({', '.join(leaves)})"], uses_numpy)),
        "    except Exception as error:",
        "        return failed(error)",
        *(f"    {line}" for line in given),
        *(["    committed = ()"] if commit else []),
        "    def along(dots):",
        *(["        nonlocal committed"] if commit else []),
        "        try:",
        *indented(3, reads),
        *indented(3, raising([f"{found} = push({', '.join(dots)})"], uses_numpy)),
        *indented(3, checked),
        "        except Exception as error:",
        "            failed(error)",
        "            return None",
        f"        return {results}",
        f"    along.most_rows = {program.most_rows}",
        "    def commit():",
        *(f"    {line}" for line in commit or ["    pass"]),
        f"    along.commit, along.again = commit, {'silent' if commit else 'nullcontext'}",
    ]
    if mode.kind == "pushforward":
        state = made.state()
        lines += [
            f"    before = ({state})",
            "    along.is_unchanged = lambda: unchanged(state(f, args), before)",
            "    return along",
            "def state(f, args):",
            *head[:-2],
            f"        return ({state})",
            "    except Exception:",
            "        return None",
        ]
    else:
        lines.append("    return along")
    if written:  # which would happen once for each of the tangents
        lines = ["def run(f, args):", "    return FAILED"]
    sources = {"run": lines}
    if not mode.has_rows:
        call = f"{found} = program({', '.join(leaves)})({', '.join(dots)})"
        once = [
            *indented(2, reads),
            *indented(2, raising([call], uses_numpy)),
            *indented(2, checked),
            "    except Exception as error:",
            "        failed(error)",
            "        return None",
        ]
        begin = ["    try:"]
        if written:
            begin, once = keeping(made, program, "None"), undoing(once)
        sources["once"] = [
            "def once(f, args, dots):",
            *head,
            *(f"    {line}" for line in given),
            *begin,
            *once,
            # a product with a Hessian evaluates the function at a copy of the point
            *(["    incoming.put_back()"] if written and mode.kind == "hvp" else []),
            *commit,
            f"    return {results}",
        ]
    bound = made.bind_all(
        shaped=program.shaped,
        is_finite_complex=cmath.isfinite,
        unchanged=tangents.unchanged,
        fits=tangents.fits,
        number_of=tangents.number_of,
        complex_of=tangents.complex_of,
        single_of=tangents.single_of,
        array_of=tangents.array_of,
        row_of=tangents.row_of,
        part_of=tangents.part_of,
        both_finished=tangents.both_finished,
        nullcontext=nullcontext,
        silent=silent,
    )
    return {name: "\n".join(lines) + "\n" for name, lines in sources.items()}, bound


def _checked(program: Program, arrays: Sequence[str], mode: Mode) -> list[str]:
    """Return the lines that test that derivatives are finite, and copy those that share memory."""
    given = "".join(f"{x}, " for x in arrays)
    slow = [f"outs = finished(outs, ({given}*values,))"]
    names = [f"outs[{i}]" for i in range(program.count)]
    if mode.kind == "hvp":
        names = [*(f"values[{i}]" for i in range(program.count)), *names]
        slow = [f"values, outs = both_finished(values, outs, ({given}))"]
    slow += ["if outs is None:", "    failed(None)", "    return None"]
    ev, results = program.ev, (program.reverse.results or ())[: 2 * program.count]
    definite = definite_results(ev, program.forward, program.reverse)[: len(results)]
    terms = []
    for name, x, own in zip(names[::-1], results[::-1], definite[::-1], strict=False):
        if own is False:
            return slow
        if isinstance(x, Value):
            t = ev.types[x]
            if isinstance(t, Array) and not has_complex(t):
                terms.append(f"isfinite({square(t, name)})")
                continue
            test = "is_finite_complex" if has_complex(t) else "isfinite"
            terms.append(f"{test}({f'vdot({name}, {name})' if isinstance(t, Array) else name})")
    if not terms:
        return []
    return [f"if not ({' and '.join(terms)}):", *(f"    {line}" for line in slow)]


_DEMANDS = (runtime.demand_finite, runtime.demand_quiet_underflow)


def _is_plain(program: Program) -> bool:
    """Return whether a program computes with numbers of Python alone, which never warn."""
    types = program.ev.types
    for op in (op for block in (program.forward, program.reverse) for op in walk(block)):
        if isinstance(op, If | Loop) or any(is_call_of(op, f) for f in _DEMANDS):
            continue
        x = op.result if isinstance(op, Call) else None
        if is_call_of(op, np.float64) and isinstance(op.operands[0], Value):
            x = op.operands[0]
        t = None if x is None else types.get(x)
        if not isinstance(t, Number) or may_warn(t):
            return False
    return True


def _fitting(made: Reading, count: int) -> list[str]:
    """Return the lines that name the tangents of the arguments and test that they fit.

    Tangents of numbers and of lists of numbers are mostly floats: a short test finds them.
    """
    if not count:
        return ["if not fits(args, dots): return None"]
    tests = []
    parts = Counter(
        leaf.source.parent.key
        for leaf in made.outside.leaves
        if leaf.source.kind == "item" and is_float(leaf.type) and _is_argument(leaf.source.parent)
    )
    arrays = {
        leaf.source.key
        for leaf in made.outside.leaves
        if _is_argument(leaf.source) and isinstance(leaf.type, Array)
    }
    whole = {leaf.source.key for leaf in made.outside.leaves if _is_argument(leaf.source)}
    for i in range(count):
        if i in parts:
            tests.append(
                f"type(t{i}) is list is type(a{i}) and len(t{i}) == len(a{i}) == {parts[i]}"
                f" and {' and '.join(f'type(t{i}[{k}]) is float' for k in range(parts[i]))}"
            )
        elif i in arrays:
            tests.append(
                f"type(t{i}) is ndarray and t{i}.dtype == a{i}.dtype and t{i}.shape == a{i}.shape"
            )
        elif i in whole:
            tests.append(f"(t{i} is None or type(t{i}) is float is type(a{i}))")
        else:
            tests.append(f"t{i} is None")
    return [
        f"{tuple_text(f't{i}' for i in range(count))} = dots",
        f"if not ({' and '.join(tests)}) and not fits(args, dots): return None",
    ]


def _is_argument(source: Source | None) -> TypeGuard[Source]:
    return source is not None and source.parent is None and source.kind == "argument"


def _reads(made: Reading, wanted: list[Leaf], names: list[str]) -> list[str]:
    """Return the lines that read the tangents of leaves."""
    lines = []
    for leaf, name in zip(wanted, names, strict=True):
        dot, x = _place(leaf.source), made.names[id(leaf.source)]
        if isinstance(leaf.type, Array):
            if dot.isidentifier():  # most
                lines.append(f"{name} = array_of(None, {x}) if {dot} is None else {dot}")
            else:
                lines.append(f"{name} = array_of({dot}, {x})")
        elif isinstance(leaf.type, Row):
            lines.append(f"{name} = row_of({dot}, {x})")
        elif leaf.type == number(np.float32):
            lines.append(f"{name} = single_of({dot})")
        elif has_complex(leaf.type):
            lines.append(f"{name} = complex_of({dot})")
        else:
            lines.append(f"{name} = {dot}")
            lines.append(f"if type({name}) is not float: {name} = number_of({name})")
    return lines


def _place(source: Source) -> str:
    """Return the source of a read of the tangent that belongs to `source`."""
    if source.parent is None:
        if source.kind != "argument":
            raise NotCovered("a tangent of something else than an argument")
        return f"t{source.key}"
    if source.kind not in ("item", "attribute"):
        raise NotCovered("a tangent of what an argument refers to")
    if source.kind == "item" and _is_argument(source.parent) and isinstance(source.key, int):
        place = _place(source.parent)
        return f"({place} if {place} is None else {place}[{source.key}])"
    return f"part_of({_place(source.parent)}, {source.key!r})"
