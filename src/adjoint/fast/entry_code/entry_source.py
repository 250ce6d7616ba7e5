"""Entry code of a program, as Python source: guards, reads of the leaves, a call of the program,
and the cotangents in the structure of the arguments.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

from adjoint.fast.build.exposure import exposure
from adjoint.fast.build.modes import Mode
from adjoint.fast.build.program import Program
from adjoint.fast.entry_code.cotangent_structure import cotangents
from adjoint.fast.entry_code.finiteness import checked
from adjoint.fast.entry_code.inputs import Reading, indented, raising
from adjoint.fast.entry_code.outside_writes import committing, keeping, undoing
from adjoint.fast.entry_code.tangent_entry import tangent_entry
from adjoint.fast.entry_code.unread_inputs import read_small, read_ties
from adjoint.fast.evaluate.leaves import Leaf
from adjoint.fast.evaluate.types import Array, is_float, may_warn
from adjoint.fast.single_assignment.walk import results, walk
from adjoint.fast.source.expression_text import tuple_text
from adjoint.fast.support import functions as runtime
from adjoint.fast.support.printing import silent


def entry_source(program: Program, count: int, mode: Mode) -> tuple[dict[str, str], dict[str, Any]]:
    """Return the source of ``run(f, args)``, by this name, and the objects of its names.

    For a gradient, `run` returns the value and the cotangents of the arguments. For a pullback, it
    returns

    * the value, the inner pullback, and the wanted leaves;
    * ``arrange``, from the cotangents of the leaves to those of the function and the arguments;
    * the `exposure` (for ``constants``, the arrays that are);
    * a function that reads the leaves again, the leaves, a function that tests whether an object
      occurs twice in an argument, or ``None``, and two functions that return contexts: one with the
      incoming contents, and one in which the generic tier may run the call again.

    `count` is the number of arguments.
    """
    outside, wanted = program.outside, program.wanted
    if mode.has_tangents:
        return tangent_entry(program, count, mode)
    roots = [*mode.positions(count)] if mode.is_gradient else [None, *mode.positions(count)]
    for root in roots:
        if mode.is_scalar and root is not None and not program.writes:
            read_small(outside, root)
        if outside.shows_twins and any(leaf.source.argument == root for leaf in wanted):
            read_ties(outside, root)
    made = Reading(outside)
    made.read_all()
    for root in roots:
        made.distinct(root, wanted)
    ties = " or ".join(test for root in roots for test in made.ties(root))
    if ties and (mode.is_gradient or program.acts):
        made.lines.append(f"if {ties}: return MISS")
    leaves = ", ".join(made.names[id(leaf.source)] for leaf in outside.leaves)
    head = ["def run(f, args):", "    try:"]
    targets = tuple_text(f"a{i}" for i in range(count))
    head.append(f"        {targets} = args" if count else "        if args: return MISS")
    given = cotangents(made, program, mode, count)
    body = indented(2, made.lines)
    read = [*head, *body]
    body += ["    except Exception:", "        return MISS", "    try:"]
    call = f"value, bars{', committed' if program.commits else ''} = program({leaves})"
    run = indented(2, raising([call], _uses_numpy(program)))
    run += indented(2, checked(program, made)) if mode.is_gradient else []
    run += ["    except Exception as error:", "        return failed(error)"]
    if program.writes:
        body[-1:], run = keeping(made, program), undoing(run)
    commit = indented(1, committing(made, program))
    tail = []
    if mode.is_gradient and commit:
        tail += [f"    bars = {given}", *commit, "    return value, bars"]
    elif mode.is_gradient:
        tail.append(f"    return value, {given}")
    else:
        tail += commit
        kept = tuple_text(made.names[id(leaf.source)] for leaf in wanted)
        if commit:
            kept = f"(*{kept}, *committed)"
        shaped = "value" if program.shaped is None else "shaped(value)"
        found = f"{shaped}, bars, {kept}, arrange, {_exposed(made, wanted)}"
        state = made.state()
        tied = f"lambda: {ties}" if ties and not program.acts else None
        in_place = "incoming.in_place" if program.writes else "nullcontext"
        again = "silent" if program.ev.prints else "nullcontext"
        tail.append(f"    return {found}, (state, before, {tied}, {in_place}, {again})")
        run.insert(0, f"        before = ({state})")
        tail += ["def arrange(bars):", f"    return {given}"]
        tail += [line.replace("def run(", "def state(") for line in read]
        tail += [f"        return ({state})", "    except Exception:", "        return None"]
    bound = made.bind_all(
        shaped=program.shaped,
        smaller_square=runtime.smaller_square,
        nullcontext=nullcontext,
        silent=silent,
    )
    return {"run": "\n".join([*head, *body, *run, *tail]) + "\n"}, bound


def _exposed(made: Reading, wanted: Sequence[Leaf]) -> str:
    """Return the source of the `exposure`; for ``constants``, of a tuple of the arrays."""
    found = exposure(made.outside)
    if found != "constants":
        return repr(found)
    known = {id(leaf) for leaf in wanted}
    names = [
        made.names[id(leaf.source)]
        for leaf in made.outside.leaves
        if isinstance(leaf.type, Array) and id(leaf) not in known
    ]
    return f"({''.join(f'{name}, ' for name in names)})"


def _uses_numpy(program: Program) -> bool:
    """Return whether the program may raise NumPy warnings."""
    types = program.ev.types
    for block in (program.forward, program.reverse):
        for op in walk(block):
            for x in results(op):
                t = types.get(x)
                if is_float(t):  # the most frequent case
                    continue
                if may_warn(t):
                    return True
    return False
