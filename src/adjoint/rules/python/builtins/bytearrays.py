"""Byte arrays: writes to them are refused, because arrays may alias the bytes."""

from __future__ import annotations

from typing import Any

from adjoint.diagnostics.refusals import refused
from adjoint.rulekit.registry import primitive

_WRITING = ("__delitem__", "__iadd__", "__imul__", "__setitem__", "append", "clear", "extend")
_MOVING = ("insert", "pop", "remove", "reverse")


def _refused(name: str) -> None:
    @primitive((bytearray, name))
    def run(record: list[Any], slot: int, /, *args: Any) -> Any:
        raise refused(
            "a bytearray is written inside differentiated code, whose bytes arrays may alias",
            "use a list, or an array of NumPy",
        )


for _name in _WRITING + _MOVING:
    _refused(_name)
