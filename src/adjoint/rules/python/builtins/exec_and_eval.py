"""``exec`` and ``eval``: their code is differentiated like a function of its namespace."""

from __future__ import annotations

import builtins
from functools import lru_cache
from types import CodeType, FunctionType
from typing import Any

from adjoint.diagnostics.refusals import refused
from adjoint.errors import SourceError
from adjoint.rulekit.registry import primitive
from adjoint.runtime.cache.units import unit_of
from adjoint.runtime.dispatch.linked import linked
from adjoint.runtime.dispatch.unit_call import call_unit
from adjoint.runtime.python.variables import mark_namespace


@primitive(exec)
def _exec(record: list[Any], slot: int, /, *args: Any, **kwargs: Any) -> Any:
    return NotImplemented if kwargs else _run(record, slot, "exec", *args)


@primitive(eval)
def _eval(record: list[Any], slot: int, /, *args: Any, **kwargs: Any) -> Any:
    return NotImplemented if kwargs else _run(record, slot, "eval", *args)


def _run(
    record: list[Any], slot: int, mode: str, source: Any, namespace: Any = None, local: Any = None
) -> Any:
    given = 2 + (namespace is not None) + (local is not None)
    local = namespace if local is None else local
    if type(namespace) is not dict or type(local) is not dict:
        return NotImplemented
    code = source if isinstance(source, CodeType) else _compiled(source, mode)
    if code.co_freevars:
        return NotImplemented
    if _only_defines(code):
        made = eval(code, namespace, local)  # None for statements
        mark_namespace(record[0], namespace)
        return made
    is_bare = "__builtins__" not in namespace
    body = FunctionType(code, {"__builtins__": builtins} if is_bare else namespace, "<exec>")
    try:
        unit_of(body)
    except SourceError as error:
        if mode == "eval":
            return NotImplemented
        raise refused(
            f"text is run by 'exec' that cannot be read ({error.problem}), and may put numbers"
            " under any name",
            "run it before, or put it into a function that has source",
        ) from None
    namespace.setdefault("__builtins__", builtins)
    mark_namespace(record[0], namespace)
    body = FunctionType(code, namespace, "<exec>")
    unit = unit_of(body)
    run: Any = lambda inner, place: call_unit(record[0], inner, place, unit, body, (local,), {})
    result = linked(record, slot, lambda _: (None,) * given, run)
    return result if mode == "eval" else None


@lru_cache(maxsize=256)
def _compiled(source: Any, mode: str) -> Any:
    """Compile each text once, because code objects are known by identity."""
    text = source.lstrip(" \t") if isinstance(source, str) and mode == "eval" else source
    return compile(text, "<string>", mode, dont_inherit=True)


@lru_cache(maxsize=256)
def _only_defines(code: CodeType) -> bool:
    """Return whether the code only makes functions.

    Libraries often generate such text repeatedly, so it is run undifferentiated.
    """
    import dis  # not needed by most programs

    names = {step.opname for step in dis.get_instructions(code)}
    return "MAKE_FUNCTION" in names and names <= _DEFINING


_DEFINING = {
    "RESUME",
    "NOP",
    "CACHE",
    "EXTENDED_ARG",
    "LOAD_CONST",
    "MAKE_FUNCTION",
    "SET_FUNCTION_ATTRIBUTE",
    "STORE_NAME",
    "RETURN_VALUE",
    "RETURN_CONST",
}
