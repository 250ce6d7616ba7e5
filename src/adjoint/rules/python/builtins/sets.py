"""Sets: the shadow of a set is a dict from elements to cotangents.

Only numbers have entries; other elements have shadows by identity. C makes each result, because it
decides on the order of the elements and on which of equal ones remains.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from adjoint.primal.container_contents import compares_by_user_code
from adjoint.primal.value_kinds import by_value
from adjoint.rulekit.registry import non_differentiable, structural, substitute
from adjoint.runtime.memory.log_entries import swap_with
from adjoint.runtime.memory.memory import Memory

for _kind in (set, frozenset):
    for _name in (
        "__contains__ __len__ __repr__ __eq__ __ne__ __le__ __lt__ __ge__ __gt__"
        " isdisjoint issubset issuperset"
    ).split():
        non_differentiable((_kind, _name))
non_differentiable((frozenset, "__hash__"))


def _base(xs: Any) -> Any:
    return set if isinstance(xs, set) else frozenset


def _is_set(xs: Any) -> bool:
    return isinstance(xs, set | frozenset)


def _is_plain(operand: Any) -> bool:
    """Return whether C reads the elements of an operand without calling its methods."""
    return _is_set(operand) or type(operand) in (list, tuple, dict)


non_differentiable(_is_plain)

# ---- origins of elements -------------------------------------------------------------------------


def _source(memory: Memory, xs: Any) -> tuple[Callable[..., bool], Callable[..., None]]:
    """Return a test whether `xs` contains a number, and a function that adds to its cotangent."""
    if isinstance(xs, dict):
        return partial(dict.__contains__, xs), partial(memory.add_key, xs)
    if _is_set(xs):
        return partial(_base(xs).__contains__, xs), partial(memory.add_entry, xs)
    places: dict[Any, int] = {}
    for i, value in enumerate(xs):
        if by_value(value):
            places.setdefault(value, i)
    return places.__contains__, lambda value, bar: memory.add_item(xs, places[value], bar)


def _deposit(memory: Memory, operands: Iterable[Any], bars: Any) -> None:
    """Add the cotangents of elements to the first operands that contain them."""
    bars = [(value, bar) for value, bar in (bars or {}).items() if bar is not None]
    sources = [_source(memory, xs) for xs in operands] if bars else []
    for value, bar in bars:
        next(add for holds, add in sources if holds(value))(value, bar)


# ---- new sets ------------------------------------------------------------------------------------


def _made(memory: Memory, y: Any, operands: Iterable[Any], n: int) -> Any:
    """Return `y`, a new set of elements of the operands, and the pullback for `n` arguments."""
    if any(y is xs for xs in operands):
        return y, None  # a frozen set is its own copy

    def made_back(_: Any) -> tuple[None, ...]:
        _deposit(memory, operands, memory.shadows.pop(id(y), None))
        return (None,) * (n + 1)

    return y, made_back


def _union(xs: Any, *others: Any) -> Any:
    return _base(xs).union(xs, *others), (xs, *others)


def _intersection(xs: Any, *others: Any) -> Any:
    """Return the intersection and the operand that its elements come from.

    C looks up the elements of the smaller set, or of an operand that is no set, in the other.
    """
    base, made, source = _base(xs), xs, xs
    for other in others:
        if not _is_set(other) or _base(other).__len__(other) <= base.__len__(made):
            source = other
        made = base.intersection(made, other)
    return (made if others else base.copy(xs)), (source,)


def _difference(xs: Any, *others: Any) -> Any:
    return _base(xs).difference(xs, *others), (xs,)


def _symmetric_difference(xs: Any, *others: Any) -> Any:
    return _base(xs).symmetric_difference(xs, *others), (xs, *others)


def _operation(name: str, operator: str, make: Any) -> None:
    @structural((set, name), (frozenset, name))
    def _(memory: Memory, xs: Any, *others: Any) -> Any:
        if not all(map(_is_plain, others)):
            return NotImplemented
        y, operands = make(xs, *others)
        return _made(memory, y, operands, 1 + len(others))

    @structural((set, operator), (frozenset, operator))
    def _(memory: Memory, xs: Any, other: Any) -> Any:
        if not _is_set(other):
            return NotImplemented, None  # the method of the other operand is called
        y, operands = make(xs, other)
        return _made(memory, y, operands, 2)


_operation("union", "__or__", _union)
_operation("intersection", "__and__", _intersection)
_operation("difference", "__sub__", _difference)
_operation("symmetric_difference", "__xor__", _symmetric_difference)


@structural((set, "copy"), (frozenset, "copy"))
def _(memory: Memory, xs: Any) -> Any:
    return _made(memory, _base(xs).copy(xs), (xs,), 1)


@structural((frozenset, "__new__"))
def _(memory: Memory, kind: Any, *operands: Any) -> Any:
    if not all(map(_is_plain, operands)):
        return NotImplemented
    return _made(memory, frozenset.__new__(kind, *operands), operands, 1 + len(operands))


def _elements(operand: Any) -> list[Any]:
    """List the elements of an iterator; each is hashed before the next is read."""
    elements = []
    for value in operand:
        hash(value)
        elements.append(value)
    return elements


@substitute((frozenset, "__new__"))
def _(kind: Any, operand: Any) -> Any:
    return frozenset.__new__(kind, _elements(operand))


def _constructor(kind: Any) -> None:
    @structural(kind)
    def _(memory: Memory, *operands: Any) -> Any:
        if not all(map(_is_plain, operands)):
            return NotImplemented
        return _made(memory, kind(*operands), operands, len(operands))

    @substitute(kind)
    def _(operand: Any) -> Any:
        return kind(_elements(operand))


_constructor(set)
_constructor(frozenset)

# ---- one element more or less --------------------------------------------------------------------


def _exchange(xs: Any, gone: Iterable[Any], added: Iterable[Any]) -> None:
    set.difference_update(xs, gone)
    set.update(xs, added)


def _note(memory: Memory, xs: Any, gone: Iterable[Any], added: Iterable[Any]) -> int:
    """Log which elements were removed and which were added."""
    undo, redo = partial(_exchange, xs, added, gone), partial(_exchange, xs, gone, added)
    return memory.note(swap_with, undo, redo)


@structural((set, "add"))
def _(memory: Memory, xs: Any, value: Any) -> Any:
    if set.__contains__(xs, value):
        return None, None
    set.add(xs, value)
    position = _note(memory, xs, (), (value,))

    def add_back(_: Any) -> tuple[Any, ...]:
        memory.rewind(position)
        return None, None, memory.take_entry(xs, value)

    return None, add_back


def _removal(memory: Memory, xs: Any, gone: Iterable[Any], n: int) -> Any:
    """Log a removal of elements; return the pullback of a method of `n` operands."""
    position = _note(memory, xs, gone, ())

    def removal_back(_: Any) -> tuple[None, ...]:
        memory.rewind(position)
        return (None,) * (n + 1)

    return removal_back


def _removed(xs: Any, gone: Iterable[Any], remove: Callable[[], object]) -> Iterable[Any]:
    """Call `remove`; return the elements of `xs` that it removed, which are equal to `gone`."""
    if not any(map(compares_by_user_code, gone)):
        remove()
        return gone
    before = [*set.__iter__(xs)]
    remove()
    stay = set(map(id, set.__iter__(xs)))
    return [value for value in before if id(value) not in stay]


@structural((set, "remove"), (set, "discard"))
def _(memory: Memory, xs: Any, value: Any) -> Any:
    if not set.__contains__(xs, value):
        return NotImplemented
    gone: Any = [frozenset(value) if isinstance(value, set) else value]
    gone = _removed(xs, gone, partial(set.discard, xs, value))
    return None, _removal(memory, xs, gone, 2)


@substitute((set, "remove"))
def _(xs: Any, value: Any) -> None:
    raise KeyError(value)


@substitute((set, "discard"))
def _(xs: Any, value: Any) -> None:
    return None


@structural((set, "pop"))
def _(memory: Memory, xs: Any) -> Any:
    value = set.pop(xs)
    position = _note(memory, xs, (value,), ())

    def pop_back(y_bar: Any) -> tuple[Any, ...]:
        memory.rewind(position)
        memory.add_entry(xs, value, y_bar)
        return None, None

    return value, pop_back


# ---- many elements more or less ------------------------------------------------------------------


@structural((set, "clear"))
def _(memory: Memory, xs: Any) -> Any:
    gone = set.copy(xs)
    set.clear(xs)
    return None, _removal(memory, xs, gone, 1)


@substitute((set, "__init__"))
def _(xs: Any, operand: Any = (), /) -> None:
    set.clear(xs)
    set.update(xs, operand)


def _update(memory: Memory, xs: Any, *others: Any) -> Any:
    added = set().union(*others).difference(xs)
    set.update(xs, *others)
    return _arrival(memory, xs, (), added, others)


def _symmetric_difference_update(memory: Memory, xs: Any, other: Any) -> Any:
    added, equal = set(other).difference(xs), set.intersection(xs, other)
    gone = _removed(xs, equal, partial(set.symmetric_difference_update, xs, other))
    return _arrival(memory, xs, gone, added, (other,))


def _arrival(memory: Memory, xs: Any, gone: Any, added: set[Any], others: Any) -> Any:
    """Log an update that added elements of `others`; return its pullback."""
    position = _note(memory, xs, gone, added)

    def arrival_back(_: Any) -> tuple[None, ...]:
        memory.rewind(position)
        _deposit(memory, others, {value: memory.take_entry(xs, value) for value in added})
        return (None,) * (2 + len(others))

    return arrival_back


def _difference_update(memory: Memory, xs: Any, *others: Any) -> Any:
    gone: Any = set().union(*[set.intersection(xs, other) for other in others])
    gone = _removed(xs, gone, partial(set.difference_update, xs, *others))
    return _removal(memory, xs, gone, 1 + len(others))


def _intersection_update(memory: Memory, xs: Any, *others: Any) -> Any:
    kept, operands = _intersection(xs, *others)
    gone: Any = set.difference(xs, kept)
    added: Any = ()
    if any(map(compares_by_user_code, kept)):  # equal elements of the others may replace them
        before = {id(value): value for value in set.__iter__(xs)}
        set.intersection_update(xs, *others)
        now = {id(value): value for value in set.__iter__(xs)}
        gone = [value for place, value in before.items() if place not in now]
        added = [value for place, value in now.items() if place not in before]
    else:
        set.intersection_update(xs, *others)
    position = _note(memory, xs, gone, added)

    def intersection_back(_: Any) -> tuple[None, ...]:
        bars = memory.shadows.pop(id(xs), None)
        memory.rewind(position)
        _deposit(memory, operands, bars)
        return (None,) * (2 + len(others))

    return intersection_back


def _in_place(name: str, operator: str, write: Any) -> None:
    @structural((set, name))
    def _(memory: Memory, xs: Any, *others: Any) -> Any:
        if not all(map(_is_plain, others)):
            return NotImplemented
        return None, write(memory, xs, *others)

    @structural((set, operator))
    def _(memory: Memory, xs: Any, other: Any) -> Any:
        if not _is_set(other):
            return NotImplemented, None
        return xs, write(memory, xs, other)


_in_place("update", "__ior__", _update)
_in_place("difference_update", "__isub__", _difference_update)
_in_place("intersection_update", "__iand__", _intersection_update)
_in_place("symmetric_difference_update", "__ixor__", _symmetric_difference_update)


# ---- other operands, which are iterated by their own methods -------------------------------------


@substitute((set, "update"))
def _(xs: Any, *others: Any) -> None:
    for other in others:
        if _is_plain(other):
            set.update(xs, other)
        else:
            for value in other:
                set.add(xs, value)


def _with_lists(kind: Any, name: str) -> None:
    method = getattr(kind, name)

    @substitute((kind, name))
    def _(xs: Any, *others: Any) -> Any:
        lists = [other if _is_plain(other) else _elements(other) for other in others]
        return method(xs, *lists)


for _name in ("union", "intersection", "difference", "symmetric_difference"):
    _with_lists(set, _name)
    _with_lists(frozenset, _name)
for _name in ("intersection_update", "difference_update", "symmetric_difference_update"):
    _with_lists(set, _name)
