"""`collections.OrderedDict`: changes of its order, and methods that call those of a subclass."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from adjoint.rulekit.registry import non_differentiable, structural, substitute
from adjoint.runtime.memory.memory import Memory


@structural((OrderedDict, "move_to_end"))
def _(memory: Memory, d: Any, key: Any, last: Any = True) -> Any:
    OrderedDict.move_to_end(d, key, last)
    memory.note(_reorder, d, key, last, True)
    return None, lambda _: (None, None, None, None)


def _reorder(entry: list[Any]) -> None:
    """Replay a change of order, ``[swap, d, key, last, is_done]``; a rewind does not undo it."""
    _, d, key, last, is_done = entry
    if not is_done:
        OrderedDict.move_to_end(d, key, last)
    entry[4] = not is_done


@substitute((OrderedDict, "update"), (OrderedDict, "__init__"))
def _(d: Any, other: Any = (), /, **named: Any) -> None:
    if hasattr(other, "keys"):
        for key in other.keys():
            d[key] = other[key]
    else:
        for key, value in other:
            d[key] = value
    for key, value in named.items():
        d[key] = value


@substitute((OrderedDict, "setdefault"))
def _(d: Any, key: Any, default: Any = None) -> Any:
    if key in d:
        return d[key]
    d[key] = default
    return default


@substitute((OrderedDict, "copy"))
def _(d: Any) -> Any:
    made = type(d)()
    for key in OrderedDict.keys(d):
        made[key] = d[key]
    return made


def _united(kind: Any, a: Any, b: Any) -> Any:
    made = kind(a)
    OrderedDict.update(made, b)
    return made


@substitute((OrderedDict, "__or__"))
def _(a: Any, b: Any) -> Any:
    return _united(type(a), a, b) if isinstance(b, dict) else NotImplemented


@substitute((OrderedDict, "__ror__"))
def _(a: Any, b: Any) -> Any:
    return _united(type(a), b, a) if isinstance(b, dict) else NotImplemented


@substitute((OrderedDict, "__ior__"))
def _(a: Any, b: Any) -> Any:
    OrderedDict.update(a, b)
    return a


@substitute((OrderedDict, "fromkeys"))
def _(keys: Any, value: Any = None) -> Any:
    return OrderedDict((key, value) for key in keys)


@substitute(OrderedDict)
def _(*args: Any, **named: Any) -> Any:
    made = _new()
    made.update(*args, **named)
    return made


def _new() -> Any:
    return OrderedDict()


non_differentiable(_new)


@substitute((OrderedDict, "__reversed__"))
def _(d: Any) -> Any:
    return iter([*OrderedDict.keys(d)][::-1])
