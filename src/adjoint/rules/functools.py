"""`functools`: written in C there, as source here."""

from __future__ import annotations

import functools
from typing import Any

from adjoint.rules.registry import non_differentiable, structural, substitute
from adjoint.run.memory import Memory


@substitute(functools.reduce)
def _(f: Any, xs: Any, *initial: Any) -> Any:
    iterator = iter(xs)
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


@structural(functools.partial)
def _(memory: Memory, f: Any, *args: Any, **kwargs: Any) -> Any:
    made = functools.partial(f, *args, **kwargs)
    held = made.args[len(made.args) - len(args) :]
    offset = len(made.args) - len(args)

    def partial_back(_: Any) -> tuple[Any, ...]:
        bars = memory.take_items(made.args, len(made.args))
        named = [memory.take_entry(made.keywords, key) for key in kwargs]
        if isinstance(f, functools.partial):  # a partial of a partial holds the arguments of both
            for i in range(offset):
                memory.add_item(f.args, i, bars[i])
            for key in made.keywords:
                if key not in kwargs:
                    memory.add_entry(f.keywords, key, memory.take_entry(made.keywords, key))
        return (None, None, *bars[offset : offset + len(held)], *named)

    return made, partial_back


def remembered(f: Any, cache: Any, args: Any, kwargs: Any) -> Any:
    """What ``lru_cache`` does, for one differentiated call.

    A result is used again only for arguments that carry no derivative by value: two equal floats
    may depend on different inputs.
    """
    key = _key(args, kwargs)
    if key is None:
        return f(*args, **kwargs)
    if key not in cache:
        cache[key] = f(*args, **kwargs)
    return cache[key]


def _key(args: Any, kwargs: Any) -> Any:
    parts = (*args, *kwargs.items())
    return parts if all(map(_is_discrete, parts)) else None


def _is_discrete(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(map(_is_discrete, value))
    return (
        value is None
        or isinstance(value, int | str | bytes | type)
        or vars(object)["__hash__"] is type(value).__hash__
    )


non_differentiable(_key)


# ---- cmp_to_key ----------------------------------------------------------------------------------


class _Compared:
    """A key that is compared by a function of two values; `sorted` asks it as it asks anything."""

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
    return lambda obj: _Compared(mycmp, obj)
