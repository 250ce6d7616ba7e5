"""Rules of `functools`; its C functions are substituted by source."""

from __future__ import annotations

import functools
from typing import Any

import adjoint.rules.python.lru_cache  # noqa: F401  registers its rules
from adjoint.ir.primitives import begin
from adjoint.rulekit.registry import primitive, structural, substitute
from adjoint.runtime.memory.log_entries import swap_with
from adjoint.runtime.memory.memory import Memory


@substitute(functools.reduce)
def _(f: Any, xs: Any, *initial: Any) -> Any:
    iterator = begin(xs)
    if initial:
        total = initial[0]
    else:
        total = next(iterator, _NOTHING)
        if total is _NOTHING:
            raise TypeError("reduce() of empty iterable with no initial value")
    for value in iterator:
        total = f(total, value)
    return total


_NOTHING = object()


@substitute((functools.partial, "__call__"))
def _(self: Any, /, *args: Any, **kwargs: Any) -> Any:
    """Call an instance of a derived class."""
    return self.func(*self.args, *args, **{**self.keywords, **kwargs})


@structural(functools.partial)
def _(memory: Memory, f: Any, /, *args: Any, **kwargs: Any) -> Any:
    made = functools.partial(f, *args, **kwargs)
    held = made.args[len(made.args) - len(args) :]
    offset = len(made.args) - len(args)

    def partial_back(_: Any) -> tuple[Any, ...]:
        bars = memory.take_items(made.args, len(made.args))
        named = [memory.take_entry(made.keywords, key) for key in kwargs]
        if isinstance(f, functools.partial):  # a partial of a partial stores the arguments of both
            for i in range(offset):
                memory.add_item(f.args, i, bars[i])
            for key in made.keywords:
                if key not in kwargs:
                    memory.add_entry(f.keywords, key, memory.take_entry(made.keywords, key))
        return (None, None, *bars[offset : offset + len(held)], *named)

    return made, partial_back


@substitute((functools.partial, "__reduce__"))
def _(self: Any) -> Any:
    namespace = self.__dict__ or None
    return type(self), (self.func,), (self.func, self.args, self.keywords, namespace)


@substitute((functools.partial, "__setstate__"))
def _(self: Any, state: Any, /) -> None:
    if not isinstance(state, tuple) or len(state) != 4:
        raise TypeError("invalid partial state")
    func, args, keywords, namespace = state
    if not callable(func) or not isinstance(args, tuple):
        raise TypeError("invalid partial state")
    _set_partial(self, func, functools.partial(_set_partial, *args, **(keywords or {})))
    self.__dict__.clear()
    self.__dict__.update(namespace or {})


def _set_partial(partial: Any, func: Any, other: Any) -> None:
    """Give `partial` the function `func` and the arguments of the partial `other`."""
    partial.__setstate__((func, other.args, other.keywords, partial.__dict__))


@primitive(_set_partial)
def _(record: list[Any], slot: int, partial: Any, func: Any, other: Any) -> None:
    memory: Memory = record[0]
    before = partial.func, partial.args, partial.keywords, partial.__dict__
    undo = functools.partial(partial.__setstate__, before)
    redo = functools.partial(_set_partial, partial, func, other)
    redo()
    position = memory.note(swap_with, undo, redo)

    def become_back(_: Any) -> tuple[Any, ...]:
        memory.rewind(position)
        return None, None, None, None

    record[slot] = become_back


# ---- cmp_to_key ----------------------------------------------------------------------------------


class _SortKey:
    """A sort key that is compared by a function of two values."""

    __slots__ = ("compare", "obj")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, compare: Any, obj: Any) -> None:
        self.compare, self.obj = compare, obj

    def __lt__(self, other: Any) -> Any:
        return self.compare(self.obj, other.obj) < 0

    def __gt__(self, other: Any) -> Any:
        return self.compare(self.obj, other.obj) > 0

    def __eq__(self, other: Any) -> Any:
        return self.compare(self.obj, other.obj) == 0

    def __le__(self, other: Any) -> Any:
        return self.compare(self.obj, other.obj) <= 0

    def __ge__(self, other: Any) -> Any:
        return self.compare(self.obj, other.obj) >= 0


@substitute(functools.cmp_to_key)
def _(mycmp: Any) -> Any:
    return lambda obj: _SortKey(mycmp, obj)
