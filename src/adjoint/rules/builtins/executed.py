"""``exec`` that makes functions: libraries write them as text, and call them afterwards."""

from __future__ import annotations

from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

from adjoint.rules.registry import primitive
from adjoint.run.memory import refused
from adjoint.run.structure import ATOMS


@primitive(exec)
def _(record: list[Any], slot: int, code: Any, namespace: Any = None, *rest: Any) -> Any:
    """Text carries no derivative; neither do functions and classes that see nothing that does."""
    if rest or type(namespace) is not dict or record[0].globals_written:
        return NotImplemented
    if not all(map(_is_inert, namespace.values())):
        return NotImplemented
    exec(code, namespace)
    for name, value in namespace.items():
        if name != "__builtins__" and not _is_inert(value):
            raise refused(
                f"'exec' inside differentiated code makes {name!r}, a {type(value).__name__}",
                "let it make a function, and call that",
            )
    return None


def _is_inert(value: Any) -> bool:
    """Whether a value is one that no derivative can be read from."""
    if type(value) is FunctionType:
        return value.__closure__ is None and all(map(_is_inert, value.__defaults__ or ()))
    if type(value) is BuiltinFunctionType:
        return value.__self__ is None or type(value.__self__) is ModuleType
    return type(value) in ATOMS or isinstance(value, type)
