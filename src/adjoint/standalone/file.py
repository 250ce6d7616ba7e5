"""The text of a standalone Python file for one derivative."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from adjoint.api.gradients import withgradient
from adjoint.api.program_choice import gradient_mode
from adjoint.diagnostics.no_derivative import name_of
from adjoint.errors import ArgumentError, NoDerivativeError
from adjoint.fast.build.modes import Mode
from adjoint.fast.build.program import Program
from adjoint.fast.build.program_source import written
from adjoint.fast.build.specialisation import specialise
from adjoint.fast.not_covered import NotCovered
from adjoint.fast.single_assignment.walk import walk
from adjoint.fast.support.functions import finished
from adjoint.ir.single import Call, Const, Operand
from adjoint.runtime.session import leaving, session
from adjoint.standalone.arranged_arguments import described_types, in_docstring, input_functions
from adjoint.standalone.helpers import Helpers
from adjoint.standalone.literals import ARRAY, NoLiteral, literal
from adjoint.standalone.not_exported import NotExported
from adjoint.standalone.self_test import SELF_TEST

LONGEST_EXAMPLE = 300_000
"""The greatest number of characters of the arguments that are kept for the self-test."""


IN_ARGUMENTS = (
    "a file takes numbers, arrays, texts, and lists, tuples and dicts of them: give the numbers of"
    " an object as arguments of a function that makes it"
)
IN = (
    "a file holds the program, and copies of rules that are Python and need NumPy and SciPy alone:"
    " write what this one stands for in NumPy, or take the function out"
)


def exported(f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """Return the text of `adjoint.export`."""
    name = in_docstring(getattr(f, "__name__", None) or type(f).__name__)
    if not all(key.isidentifier() for key in kwargs):
        raise ArgumentError("a keyword argument has no name of Python's", hint="rename it")
    given, mode = (*args, *kwargs.values()), gradient_mode(kwargs)
    try:
        with leaving, session:
            text = _file(name, f, given, mode)
        _demand_same(text, f, args, kwargs)
    except NotCovered as error:
        raise NoDerivativeError(
            f"'{name}' has no standalone file for such arguments, because of {error.reason}",
            hint="a file holds one specialised program: ad.tier says what has none",
            filename=error.filename,
            span=error.span,
        ) from None
    except NotExported as error:
        kind, hint = (ArgumentError, IN_ARGUMENTS) if error.is_argument else (NoDerivativeError, IN)
        raise kind(
            f"'{name}' has no standalone file, because of {error}",
            hint=hint,
            filename=error.filename,
            span=error.span,
        ) from None
    return text


def _demand_same(text: str, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Run the file at the point, and refuse it unless it gives what the library gives."""
    scope: dict[str, Any] = {"__name__": "standalone"}
    exec(compile(text, "<standalone>", "exec", dont_inherit=True), scope)
    try:
        found = scope["value_and_gradient"](*args, **kwargs)
    except Exception as error:
        raise NotExported(f"what happens at this point: {type(error).__name__}: {error}") from None
    if not is_same(found, tuple(withgradient(f, *args, **kwargs))):
        raise NotExported("numbers that are not those of the library at this point")


def is_same(a: Any, b: Any) -> bool:
    """Return whether two structures have the same types, shapes and numbers. Linear algebra rounds
    by the place of arrays in memory, so the last bits may differ from one run to the next."""
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return list(a) == list(b) and all(is_same(a[key], b[key]) for key in a)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(is_same, a, b))
    if a is None or isinstance(a, str):
        return bool(a == b)
    a, b = np.asarray(a), np.asarray(b)
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    eps = np.finfo(a.dtype).eps if a.dtype.kind in "fc" else 0.0
    size = np.max(np.abs(b), initial=0.0)
    return bool(np.all(np.abs(a - b) <= 1e4 * eps * size))


def _file(name: str, f: Any, given: tuple[Any, ...], mode: Mode) -> str:
    program = specialise(f, given, mode, may_print=False)
    if program.writes:
        raise NotExported("a write to what the function is given, or refers to")
    writer = written(program)
    helpers = Helpers()
    main = writer.lines[0].partition("(")[0].removeprefix("def ")
    helpers.reserve(writer.bound)
    for key, value in writer.bound.items():
        try:
            helpers.define(key, value)
        except NotExported as error:
            raise _placed(error, program, value) from None
    helpers.define("finished", finished)
    names = {id(leaf.source): writer.name(leaf.value) for leaf in program.outside.leaves}
    parameters = _parameters(f, len(given), mode)
    inputs = input_functions(program, mode, parameters, names, helpers)
    code = "\n".join(writer.lines).replace(f"def {main}(", "def _program(", 1)
    texts = [code, *inputs, *_users(name, parameters, mode, described_types(program, parameters))]
    example = f"{_example(given)}\nNAMES = {mode.names!r}\nCOUNT = {len(given) - len(mode.names)}"
    body = "\n\n\n".join([*helpers.lines, *texts, example, SELF_TEST.strip("\n")])
    head = _head(name, f)
    if "_array(" in body:
        helpers.imports["import base64"] = None
        body = f"{ARRAY.strip()}\n\n\n{body}"
    used = [line for line in helpers.imports if re.search(rf"\b{line.split()[-1]}\b", body)]
    imports = "\n".join(sorted(used, key=lambda line: (line.startswith("from"), line)))
    return f"{head}\n\n{imports}\n\n\n{body}\n"


def _placed(error: NotExported, program: Program, value: Any) -> NotExported:
    """Add the function of which `value` is the rule, and the line that calls it, to an error."""
    for op in (*walk(program.forward), *walk(program.reverse)):
        if not isinstance(op, Call) or op.result is None or not _is(op.callee, value):
            continue
        pair, place = program.ev.rule_pairs.get(op.result), program.ev.places.get(op.result)
        placed = (
            error if pair is None else NotExported(f"{error}, in the rule of {name_of(pair.f)!r}")
        )
        if place is not None:
            placed.filename, placed.span = place[0], op.span
        return placed
    return error


def _is(callee: Operand, value: Any) -> bool:
    return isinstance(callee, Const) and callee.value is value


def _head(name: str, f: Any) -> str:
    code = getattr(f, "__code__", None)
    where = f" (line {code.co_firstlineno})" if code is not None else ""
    return (
        f'"""Value and gradient of `{name}`{where}.\n\n'
        "Generated by Adjoint, which is not needed to run it. It is for arguments of the types\n"
        "that `value_and_gradient` names. Run as a script, it compares itself with finite\n"
        "differences.\n"
        '"""'
    )


def _parameters(f: Any, count: int, mode: Mode) -> list[str]:
    """Return the names of the parameters in the user's words, those by keyword last."""
    first = count - len(mode.names)
    try:
        parameters = [*inspect.signature(f).parameters.values()]
    except (TypeError, ValueError):
        parameters = []
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    known = [one.name for one in parameters if one.kind in kinds][:first]
    known += [f"x{i}" for i in range(len(known), first)]
    return [*known, *mode.names]


def _users(name: str, parameters: list[str], mode: Mode, types: list[str]) -> list[str]:
    """Return the definitions of the functions that the file is for."""
    first = len(parameters) - len(mode.names)
    shown = [*parameters[:first], *(["*"] if mode.names else []), *parameters[first:]]
    passed = [*parameters[:first], *(f"{one}={one}" for one in parameters[first:])]
    head, call, plain = ", ".join(shown), ", ".join(passed), ", ".join(parameters)
    listed = "\n".join(f"    {line}" for line in types) or "    (none)"
    behind = f", {plain}" if plain else ""
    value_and_gradient = f'''TYPES = """the types that this file is for (n, m, ... are 2 or more):
{listed}"""
{OTHER}


def value_and_gradient({head}):
    """Return the value of `{name}`, and a tuple with its derivative in each positional argument.

    Parameters
    ----------
{listed}

    Raises
    ------
    TypeError
        The arguments are of other types, lengths or keys.
    FloatingPointError
        A number is not finite, or NumPy would warn.
    ArithmeticError
        The function would raise an error here, or needs another program.
    """
    return _computed(_inputs({plain}){behind})'''
    gradient = f'''def gradient({head}):
    """Return a tuple with the derivative of `{name}` in each positional argument."""
    return value_and_gradient({call})[1]'''
    return [COMPUTED, value_and_gradient, gradient]


OTHER = '''

def _other(name, value):
    """Return the error for an argument that is not of the types that this file is for."""
    what = f"of type {type(value).__name__}"
    if isinstance(value, np.ndarray):
        what = f"an array of {value.dtype}, shape {value.shape}"
    elif isinstance(value, dict):
        what = f"a dict with the keys {list(value)}"
    elif isinstance(value, (list, tuple)):
        what = f"a {type(value).__name__} of length {len(value)}"
    elif isinstance(value, (bool, int, str)):
        what = f"{value!r}, {what}"
    return TypeError(f"{name} is {what}; {TYPES}")
'''


COMPUTED = '''def _computed(leaves, *args):
    """Run the program, and look whether its numbers are finite."""
    with np.errstate(divide="raise", over="raise", invalid="raise"):
        value, bars = _program(*leaves)
    bars = finished(bars, leaves)
    if bars is None:
        raise FloatingPointError("a derivative is not finite")
    return value, _arranged(bars, *args)'''


def _example(given: tuple[Any, ...]) -> str:
    try:
        text = literal(given)
    except NoLiteral as error:
        raise NotExported(f"{error} in the arguments", is_argument=True) from None
    return f"EXAMPLE = {text if len(text) <= LONGEST_EXAMPLE else None}"
