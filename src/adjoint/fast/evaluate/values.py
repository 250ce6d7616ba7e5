"""What the specialiser knows of each value of the program: all of it, its structure, or its type.

A `Value` of the single-assignment IR stands for a number or an array that is computed when the
program runs. Everything else is known while the program is specialised: functions, classes,
modules, constants, and the structure of containers and objects. Those that can be written to are
held in a heap, under an address, so that each branch has its own contents of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import Any, TypeAlias

from adjoint.fast.evaluate.types import Type
from adjoint.ir.node import node
from adjoint.ir.single import Value


@node(eq=False)
class Source:
    """Where something outside the program is read when it is entered.

    Attributes
    ----------
    parent
        ``None`` for a root.
    kind
        ``argument`` (key: the position), ``function`` (the called one itself), ``object`` (key: an
        object that is known), or how it is reached from `parent`: ``item`` (key: the index or key),
        ``attribute`` (the name), ``cell`` (the position among the captured variables), ``self``
        (of a bound method), ``underlying`` (its function), ``default`` (the position), ``global``
        (the name, in the dict `parent`).
    """

    parent: Source | None
    kind: str
    key: Any

    @property
    def argument(self) -> int | None:
        """The position of the argument that it is read from; ``None`` for what the function has
        captured or names."""
        at = self
        while at.parent is not None:
            at = at.parent
        return at.key if at.kind == "argument" else None

    def __repr__(self) -> str:
        return f"{self.parent or ''}.{self.kind}[{self.key}]"


@node(eq=False)
class Known:
    """This very object."""

    value: Any

    def __repr__(self) -> str:
        return f"Known({self.value!r})"


@node(eq=False)
class Flag(Known):
    """A truth value among the arguments: as a number, it would have a cotangent."""

    def __repr__(self) -> str:
        return f"Flag({self.value!r})"


@node(eq=False)
class Tuple:
    """A tuple, or a named tuple of class `kind`."""

    items: tuple[Abstract, ...]
    kind: type = tuple


@node
class Ref:
    """Something in the heap."""

    address: int


@node(eq=False)
class External:
    """A container, an object or a function that came from outside: read part by part, where the
    program needs them, and never written to. `sample` is that of the call for which the program is
    specialised; of it, only what a guard checks is made use of."""

    source: Source
    sample: Any


@node(eq=False)
class Closure:
    """A Python function. `function` is itself, if it is known or was given; `cells` and `defaults`
    are abstract."""

    code: CodeType
    namespace: dict[str, Any]
    defaults: tuple[Abstract, ...]
    named_defaults: tuple[tuple[str, Abstract], ...]
    cells: tuple[Abstract, ...]
    function: FunctionType | None = None

    def __repr__(self) -> str:
        return f"Closure({self.code.co_qualname})"


@node(eq=False)
class Bound:
    """A method and the object that it is bound to."""

    function: Abstract
    owner: Abstract


@node(eq=False)
class Partial:
    """A `functools.partial`."""

    function: Abstract
    args: tuple[Abstract, ...]
    keywords: tuple[tuple[str, Abstract], ...]


@node(eq=False)
class SliceOf:
    start: Abstract
    stop: Abstract
    step: Abstract


@node(eq=False)
class Iterating:
    """``range``, ``zip``, ``enumerate``, ``map``, ``filter`` or ``reversed`` of `operands`, which
    nobody has begun to iterate over; `function` is that of ``map`` and ``filter``. All but
    ``range`` are used up by an iteration: they are in the heap, in an `IteratorOf`."""

    kind: Any
    operands: tuple[Abstract, ...]
    function: Abstract | None = None
    strict: bool = False


@node(eq=False)
class Generating:
    """A generator that nobody has begun to iterate over: its function, and the values of the
    function's parameters."""

    closure: Closure
    values: tuple[Abstract, ...]


@node
class Slot:
    """In a template: a number or an array that differs from one iteration to the next; if `maybe`,
    it may be missing."""

    type: Type
    maybe: bool = False


MISSING = Known(object())
"""A variable that has no value."""
LOST = Known(object())
"""A variable that has no value in one way, and in the other one that no template stands for."""

Abstract: TypeAlias = (
    Value | Known | Tuple | Ref | External | Closure | Bound | Partial | SliceOf | Iterating | Slot
)


# ---- the heap ------------------------------------------------------------------------------------


@node(eq=False)
class ListOf:
    items: tuple[Abstract, ...]


@node(eq=False)
class DictOf:
    keys: tuple[Any, ...]
    items: tuple[Abstract, ...]


@node(eq=False)
class Instance:
    """An object of a class of the user's that the program made."""

    cls: type
    names: tuple[str, ...]
    items: tuple[Abstract, ...]


@node(eq=False)
class CellOf:
    items: tuple[Abstract, ...]
    name: str = "held"


@node(eq=False)
class IteratorOf:
    """An iterator; of what, is ``None`` where it may have been used. What was `kept` of lists and
    dicts when it was made has to be there when it is begun."""

    what: Iterating | Generating | None
    kept: tuple[tuple[Ref, Any, int], ...] = ()


@node(eq=False)
class RowOf:
    """A list (or a tuple) of numbers whose length is not known: a value of the program."""

    value: Value
    kind: type = list


HeapObject: TypeAlias = ListOf | DictOf | Instance | CellOf | IteratorOf | RowOf


# ---- structure -----------------------------------------------------------------------------------


def parts(a: Abstract | HeapObject) -> tuple[Abstract, ...] | None:
    """What a structure consists of; ``None`` for what is none."""
    match a:
        case Tuple(items=items) | ListOf(items=items) | CellOf(items=items):
            return items
        case DictOf(items=items) | Instance(items=items):
            return items
        case Closure():
            return (*a.defaults, *(d for _, d in a.named_defaults), *a.cells)
        case Bound():
            return (a.function, a.owner)
        case Partial():
            return (a.function, *a.args, *(value for _, value in a.keywords))
        case SliceOf():
            return (a.start, a.stop, a.step)
        case Iterating():
            return (*a.operands, *(() if a.function is None else (a.function,)))
        case _:
            return None


def shape_of(a: Abstract | HeapObject) -> Any:
    """What two structures must have in common to be joined part by part."""
    match a:
        case Tuple():
            return Tuple, a.kind, len(a.items)
        case ListOf():
            return ListOf, len(a.items)
        case CellOf():
            return CellOf, len(a.items)
        case DictOf():
            return DictOf, a.keys
        case Instance():
            return Instance, a.cls, a.names
        case Closure():
            names = tuple(name for name, _ in a.named_defaults)
            return Closure, id(a.code), id(a.namespace), len(a.defaults), names, len(a.cells)
        case Bound():
            return (Bound,)
        case Partial():
            return Partial, len(a.args), tuple(name for name, _ in a.keywords)
        case SliceOf():
            return (SliceOf,)
        case Iterating():
            return Iterating, a.kind, len(a.operands)
        case _:
            return None


def rebuild(a: Any, items: Iterator[Abstract]) -> Any:
    """The structure `a` with other parts, in the order of `parts`."""
    match a:
        case Tuple():
            return Tuple(tuple(next(items) for _ in a.items), a.kind)
        case ListOf():
            return ListOf(tuple(next(items) for _ in a.items))
        case CellOf():
            return CellOf(tuple(next(items) for _ in a.items), a.name)
        case DictOf():
            return DictOf(a.keys, tuple(next(items) for _ in a.items))
        case Instance():
            return Instance(a.cls, a.names, tuple(next(items) for _ in a.items))
        case Closure():
            return Closure(
                a.code,
                a.namespace,
                tuple(next(items) for _ in a.defaults),
                tuple((name, next(items)) for name, _ in a.named_defaults),
                tuple(next(items) for _ in a.cells),
                None,
            )
        case Bound():
            return Bound(next(items), next(items))
        case Partial():
            return Partial(
                next(items),
                tuple(next(items) for _ in a.args),
                tuple((name, next(items)) for name, _ in a.keywords),
            )
        case SliceOf():
            return SliceOf(next(items), next(items), next(items))
        case Iterating():
            operands = tuple(next(items) for _ in a.operands)
            function = None if a.function is None else next(items)
            return Iterating(a.kind, operands, function, a.strict)
    raise TypeError(f"{a!r} has no parts")
