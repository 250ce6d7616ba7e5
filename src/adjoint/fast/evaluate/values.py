"""Abstract values of the partial evaluator.

A `Value` of the single-assignment IR stands for a number or an array that the program computes.
Functions, classes, modules, constants, and the structure of containers and objects are known at
specialisation. Mutable containers and objects live in a heap, under an address, so that each branch
has its own version of their contents.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from types import CodeType, FunctionType
from typing import Any, NamedTuple, TypeAlias

from adjoint.fast.evaluate.types import Symbol, Type
from adjoint.ir.node import node
from adjoint.ir.single import Value

Origin: TypeAlias = "tuple[str, int, Origin | None]"
"""A place in source, file and line, and the place of the call that led there, if there is one."""


class RulePair(NamedTuple):
    """The call of a registered rule by a program: that of `f` with result `y`, whose pullback gives
    cotangents of the operands at the places `pulled`."""

    f: Any
    y: Value
    pulled: list[int]


@node(eq=False)
class Source:
    """The place from which the entry of a program reads an outside value.

    Attributes
    ----------
    parent
        ``None`` for a root.
    kind
        Of a root: ``argument`` (key: the position), ``function`` (the called function), ``object``
        (key: a known object). Else the step from `parent`: ``item`` (key: the index or key),
        ``attribute`` (the name), ``cell`` (the position among the captured variables), ``self``
        (of a bound method), ``underlying`` (its function), ``default`` (the position), ``global``
        (the name, in the dict `parent`).
    """

    parent: Source | None
    kind: str
    key: Any

    @property
    def argument(self) -> int | None:
        """The position of the argument at the root; ``None`` for captured variables and globals."""
        at = self
        while at.parent is not None:
            at = at.parent
        return at.key if at.kind == "argument" else None

    def __repr__(self) -> str:
        return f"{self.parent or ''}.{self.kind}[{self.key}]"


@node(eq=False)
class Known:
    """An object that is known at specialisation."""

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
    """A container or an object in the heap."""

    address: int


@node(eq=False)
class External:
    """A container, an object or a function from outside, read part by part and never written to.

    Of `sample`, the object at specialisation, only properties that a guard checks are used.
    """

    source: Source
    sample: Any


@node(eq=False)
class FieldsOf:
    """The ``__dict__`` of an object."""

    owner: Ref | External


@node(eq=False)
class Closure:
    """A Python function with abstract cells; `function` is ``None`` if the program makes it, and
    `source` unless it is read from outside. `fields` are the attributes of one that it makes."""

    code: CodeType
    namespace: dict[str, Any]
    defaults: tuple[Abstract, ...]
    named_defaults: tuple[tuple[str, Abstract], ...]
    cells: tuple[Abstract, ...]
    function: FunctionType | None = None
    source: Source | None = None
    fields: Ref | None = None

    def __repr__(self) -> str:
        return f"Closure({self.code.co_qualname})"


@node(eq=False)
class Bound:
    """A method and the object that it is bound to."""

    function: Abstract
    owner: Abstract


@node(eq=False)
class Super:
    """``super(cls, owner)``."""

    cls: type
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
    """An unused ``range``, dict view or iterator (``zip``, ``map``, …) over `operands`.

    `function` is that of ``map`` and ``filter``. Iterators are in the heap, in an `IteratorOf`.
    `watched` are contents that must not change during the iteration: they were read before.
    """

    kind: Any
    operands: tuple[Abstract, ...]
    function: Abstract | None = None
    strict: bool = False
    watched: tuple[tuple[Ref, Any], ...] = ()


@node(eq=False)
class Rest:
    """What is left of an iterator: `steps` are the `iterables.Steps` that remain; a generator that
    has ended has `returned` a value."""

    steps: Any
    returned: Any = Known(None)


@node(eq=False)
class Generating:
    """An unused generator: its function, and the values of the function's parameters."""

    closure: Closure
    values: tuple[Abstract, ...]


@node(eq=False)
class Later:
    """A field that `function` computes where it is first read."""

    function: Abstract


@node
class Slot:
    """A place in a template for a number or an array; if `maybe`, it may be unassigned, or, with
    `none`, ``None``.

    The lengths `own` differ between the joined arrays, and between iterations.
    """

    type: Type
    maybe: bool = False
    own: frozenset[Symbol] = frozenset()
    none: bool = False


@node(eq=False)
class Either:
    """One of several `items` (objects, functions, strings, tuples, ``None``), each with its number
    in `numbers`; the number `place` of the program says which one."""

    place: Value | Known | Slot
    items: tuple[Abstract, ...]
    numbers: tuple[int, ...]


@node(eq=False)
class Text:
    """A string with unknown numbers in it: nothing in a program reads it. It may be printed if
    `items` holds the call that makes it, a `Partial`."""

    items: Any = None


TEXT = Text()
MISSING = Known(object())
"""The content of an unassigned variable."""
LOST = Known(object())
"""The content of a variable that one branch does not assign and no template can represent."""
ITEMS = "()"
"""The name of what a builtin class holds of an object of a class that derives from it."""
ARGS = "args()"
"""The name of the arguments of an exception."""
FIELDS = "fields()"
"""The name of the dict that an object has been given as its ``__dict__``."""
HIDDEN = frozenset({ITEMS, ARGS, FIELDS})
ENTERED = Known(True)
"""The state of a context manager of `warnings` or NumPy within its ``with``."""

Abstract: TypeAlias = (
    Value
    | Known
    | Tuple
    | Ref
    | External
    | FieldsOf
    | Closure
    | Bound
    | Super
    | Partial
    | SliceOf
    | Iterating
    | Rest
    | Later
    | Either
    | Text
    | Slot
)


# ---- the heap ------------------------------------------------------------------------------------


@node(eq=False)
class ListOf:
    items: tuple[Abstract, ...]


@node(eq=False)
class DequeOf:
    items: tuple[Abstract, ...]
    most: int | None = None


@node(eq=False)
class DictOf:
    """A dict of class `kind`; `factory` makes the missing entries of a `defaultdict`. The keys are
    those of a real dict, with an `Element` for an object (`containers`)."""

    keys: tuple[Any, ...]
    items: tuple[Abstract, ...]
    kind: type = dict
    factory: Abstract = Known(None)


@node(eq=False)
class SetOf:
    """A set of class `kind`, with elements like the keys of a `DictOf`."""

    keys: tuple[Any, ...]
    kind: type = set


@node(eq=False)
class Instance:
    """An object of a user class that the program made, its fields, and what `HIDDEN` names."""

    cls: type
    names: tuple[str, ...]
    items: tuple[Abstract, ...]


@node(eq=False)
class CellOf:
    items: tuple[Abstract, ...]
    name: str = "held"


@node(eq=False)
class IteratorOf:
    """An iterator over `source` (also `suspended_generators.Suspended`); ``None`` if it may have
    been used. `contents` are contents of lists and dicts that must not change before the iteration
    begins; `place` is where it is made."""

    source: Any
    contents: tuple[tuple[Ref, Any, int], ...] = ()
    place: Any = None


@node(eq=False)
class RowOf:
    """A list or a tuple of numbers or arrays of unknown length, as a value of the program."""

    value: Value
    kind: type = list


@node(eq=False)
class Overtaken:
    """The content of a list, dict or object of which a copy has been written to (`Heap.link`)."""


@node(eq=False)
class TableOf:
    """A dict or a set of class `kind` with keys of the program: `items` are the lists of its keys
    and values, if `is_in_order` as inserted. A deque has the list of its items."""

    items: tuple[Abstract, ...]
    kind: type
    factory: Abstract = Known(None)
    is_in_order: bool = True


HeapObject: TypeAlias = (
    ListOf | DequeOf | DictOf | SetOf | TableOf | Instance | CellOf | IteratorOf | RowOf | Overtaken
)


# ---- structure -----------------------------------------------------------------------------------


def parts(a: Abstract | HeapObject) -> tuple[Abstract, ...] | None:
    """Return the parts of a structure; ``None`` if `a` is no structure."""
    match a:
        case Tuple() | ListOf() | DequeOf() | CellOf() | DictOf() | TableOf() | Instance() | Text():
            return a.items
        case SetOf():
            return ()
        case Either():
            return (a.place, *a.items)
        case Closure():
            return (*a.defaults, *(d for _, d in a.named_defaults), *a.cells)
        case Bound():
            return (a.function, a.owner)
        case FieldsOf():
            return (a.owner,)
        case Partial():
            return (a.function, *a.args, *(value for _, value in a.keywords))
        case SliceOf():
            return (a.start, a.stop, a.step)
        case Iterating():
            return (*a.operands, *(() if a.function is None else (a.function,)))
        case _:
            return None


def shape_of(a: Abstract | HeapObject) -> Any:
    """Return a key that is equal for structures that can be joined part by part."""
    match a:
        case Tuple():
            return Tuple, a.kind, len(a.items)
        case ListOf() | CellOf():
            return type(a), len(a.items)
        case DequeOf():
            return DequeOf, len(a.items), a.most
        case DictOf() | SetOf():
            factory = id(getattr(a, "factory", None))
            return type(a), a.kind, factory, (*map(_kind_of, a.keys),), a.keys
        case TableOf():
            return TableOf, a.kind, id(a.factory)
        case Instance():
            return Instance, a.cls, a.names
        case Closure():
            names = tuple(name for name, _ in a.named_defaults)
            return Closure, id(a.code), id(a.namespace), len(a.defaults), names, len(a.cells)
        case Partial():
            return Partial, len(a.args), tuple(name for name, _ in a.keywords)
        case Bound() | SliceOf() | FieldsOf() | Text():
            return type(a)
        case Iterating():
            return Iterating, a.kind, len(a.operands)
        case _:
            return None


def _kind_of(key: Any) -> Any:
    """Return the class of a key; of an integer that may carry a derivative, the value."""
    if type(key) is tuple:
        return (*map(_kind_of, key),)
    value = getattr(key, "abstract", None)
    return value if isinstance(value, Value) else type(key)


def rebuild(a: Any, items: Iterator[Abstract]) -> Any:
    """Return a structure like `a` with the parts `items`, in the order of `parts`."""
    match a:
        case SetOf():
            return a
        case Tuple() | ListOf() | DequeOf() | CellOf() | DictOf() | TableOf() | Instance() | Text():
            return replace(a, items=tuple(next(items) for _ in a.items))
        case Either():
            place: Any = next(items)
            return Either(place, tuple(next(items) for _ in a.items), a.numbers)
        case Closure():
            defaults = tuple(next(items) for _ in a.defaults)
            named = tuple((name, next(items)) for name, _ in a.named_defaults)
            cells = tuple(next(items) for _ in a.cells)
            return Closure(a.code, a.namespace, defaults, named, cells)
        case Bound() | FieldsOf() | SliceOf():
            return type(a)(*(next(items) for _ in parts(a) or ()))  # type: ignore[arg-type]
        case Partial():
            function, args = next(items), tuple(next(items) for _ in a.args)
            return Partial(function, args, tuple((name, next(items)) for name, _ in a.keywords))
        case Iterating():
            operands = tuple(next(items) for _ in a.operands)
            mapped = None if a.function is None else next(items)
            return Iterating(a.kind, operands, mapped, a.strict, a.watched)
    raise TypeError(f"{a!r} has no parts")
