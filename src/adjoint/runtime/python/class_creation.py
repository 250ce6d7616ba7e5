"""Creation of class objects by `type` and by inert metaclasses.

A class copies its namespace, so the cotangent of a class attribute belongs to the entry of the
namespace that holds the same object.
"""

from __future__ import annotations

import abc
import builtins
import sys
import threading
from collections.abc import Callable
from types import FunctionType
from typing import Any

from adjoint.cotangents.poison import Poison
from adjoint.diagnostics.user_place import current_module, current_place
from adjoint.errors import NoDerivativeError
from adjoint.primal.container_contents import ABSENT
from adjoint.primal.special_methods import special_of
from adjoint.primal.value_kinds import by_value
from adjoint.rulekit.registry import primitive
from adjoint.runtime.dispatch.call import call_keywords
from adjoint.runtime.dispatch.linked import linked
from adjoint.runtime.foreign.native_call import run_monitored
from adjoint.runtime.foreign.user_code_reach import reaches
from adjoint.runtime.memory.active_iterator import STAND_IN_CLASSES, ActiveIterator
from adjoint.runtime.memory.class_shadow import class_dict
from adjoint.runtime.memory.collect import collect
from adjoint.runtime.memory.log_entries import swap_with
from adjoint.runtime.memory.memory import Memory
from adjoint.runtime.memory.poisoning import poison
from adjoint.runtime.python.class_call import construct


def class_problem(text: str) -> Poison:
    """Return poison for values that foreign code computes while a class is created."""
    return Poison(
        NoDerivativeError(
            text,
            hint="compute the value before the class statement, or set the attribute after it",
            place=current_place(),
        )
    )


def make_class(
    make: Callable[..., Any], record: list[Any], slot: int, args: tuple[Any, ...], kwargs: Any
) -> Any:
    """Run ``make(…, name, bases, namespace, **kwargs)``; `make` itself is foreign code."""
    memory: Memory = record[0]
    name, bases, namespace = args[-3:]
    what = f"what the creation of class {name!r} computes"
    problem = class_problem(f"a derivative of {what} is needed")
    inner: list[Any] = [memory, None]
    hooks = _Hooks(memory, kwargs)
    if make in _TYPES:
        args = (*args[:-1], hooks.hold_back(bases, namespace))
    try:
        made = _run(make, inner, args, kwargs, problem)
    finally:
        hooks.restore()

    def made_back(_: Any) -> tuple[Any, ...]:
        bars = hooks.back()
        if inner[1] is not None:
            inner[1](None)
        if _move_cotangents(memory, made, namespace):
            for source in (namespace, *kwargs.values()):
                if not by_value(source):
                    poison(memory, source, problem)
            bars = tuple(problem if by_value(value) else None for value in kwargs.values())
        return (*(None,) * (len(args) + 1), *bars)

    record[slot] = made_back
    memory.note(swap_with, _nothing, _nothing)  # the attributes of the class may be active
    hooks.run(made)
    return made


def _nothing() -> None:
    pass


def _run(
    make: Callable[..., Any], inner: list[Any], args: tuple[Any, ...], kwargs: Any, problem: Poison
) -> Any:
    # `type` takes ``__module__`` from the globals of the calling frame.
    namespace_of_call = {"__name__": current_module(), "__builtins__": builtins}
    call: Any = FunctionType(_call.__code__, namespace_of_call)
    bases, namespace = args[-2:]
    asked = (*bases, *namespace.values()) if isinstance(namespace, dict) else args
    if reaches(asked):
        return run_monitored(inner, 1, make, call, (make, args, kwargs), {}, problem.error)
    return call(make, args, kwargs)


def _call(make: Any, args: Any, kwargs: Any) -> Any:
    return make(*args, **kwargs)


_TYPES = (type, type.__new__)


# ---- hooks of a new class ----------------------------------------------------------------------


class _Hooks:
    """The methods that `type.__new__` calls: ``__set_name__`` and ``__init_subclass__``.

    These are user code: they are held back during `type.__new__`, and run afterwards as
    differentiated code.
    """

    def __init__(self, memory: Memory, kwargs: dict[str, Any]) -> None:
        self._memory, self._names = memory, tuple(kwargs)
        self._thread = threading.get_ident()
        self._named: list[tuple[str, Any]] = []
        self._replaced: list[tuple[type, Any]] = []
        self._asked: tuple[Any, dict[str, Any]] | None = None
        self._record: list[Any] = [memory]

    def hold_back(self, bases: tuple[type, ...], namespace: Any) -> Any:
        """Return a namespace without objects that have ``__set_name__``, and replace
        ``__init_subclass__`` of the bases by a stub."""
        for base in {cls: None for given in bases for cls in given.__mro__}:
            hook = vars(base).get("__init_subclass__")
            if type(hook) is classmethod:
                self._replaced.append((base, hook))
                type.__setattr__(base, "__init_subclass__", classmethod(self._stub(hook)))
        if not isinstance(namespace, dict):
            return namespace
        self._named = [
            (name, value)
            for name, value in dict.items(namespace)
            if type(special_of(type(value), "__set_name__")) is FunctionType
        ]
        return {**namespace, **dict.fromkeys([name for name, _ in self._named], _PLACE)}

    def _stub(self, hook: Any) -> Callable[..., Any]:
        def init_subclass(cls: type, /, *args: Any, **kwargs: Any) -> Any:
            if threading.get_ident() != self._thread or self._asked is not None:
                return hook.__get__(None, cls)(*args, **kwargs)
            self._asked = hook.__func__, kwargs
            return None

        return init_subclass

    def restore(self) -> None:
        """Restore ``__init_subclass__`` of the bases."""
        for base, hook in self._replaced:
            type.__setattr__(base, "__init_subclass__", hook)

    def run(self, made: type) -> None:
        """Call the methods that were held back, in Python's order."""
        for name, value in self._named:
            type.__setattr__(made, name, value)
        for name, value in self._named:
            setter = special_of(type(value), "__set_name__")
            try:
                self._call(setter, (value, made, name), {})
            except Exception as error:
                _note_error(error, value, name, made)
                raise
        if self._asked is not None:
            hook, kwargs = self._asked
            self._call(hook, (made,), kwargs)

    def _call(self, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self._record.append(None)
        call_keywords(self._record, len(self._record) - 1, f, args, kwargs)

    def back(self) -> tuple[Any, ...]:
        """Return the cotangents of the keywords of the class statement."""
        bars: dict[str, Any] = {}
        record = self._record
        for i in range(len(record) - 1, 0, -1):
            found = None if record[i] is None else record[i](None)
            if found is not None and self._asked is not None and i == len(self._named) + 1:
                bars = dict(zip(self._asked[1], found[2:], strict=True))
        return tuple(bars.get(name) for name in self._names)


_PLACE = object()
"""Replaces a value with ``__set_name__`` while the class is created."""


def _note_error(error: Exception, value: Any, name: str, made: type) -> None:
    """Show the error of a ``__set_name__`` as this version of Python does."""
    text = f"Error calling __set_name__ on {type(value).__name__!r} instance {name!r}"
    text = f"{text} in {made.__name__!r}"
    if _AS_CAUSE:
        raise RuntimeError(text) from error
    error.add_note(text)


_AS_CAUSE = sys.version_info < (3, 12)


# ---- cotangents of attributes ------------------------------------------------------------------


def _move_cotangents(memory: Memory, made: type, namespace: Any) -> bool:
    """Move the cotangents of class attributes to the namespace; return whether one is left, of a
    value computed while the class was created."""
    attributes = vars(made)
    held = dict(namespace) if isinstance(namespace, dict) else {}
    lost = False
    # A named tuple keeps the defaults of its fields in a dictionary of its own.
    defaults = attributes.get("_field_defaults", {})
    move_default_cotangents(memory, made, defaults)
    for owner, values in (
        (made, attributes),
        (class_dict(made), attributes),
        (defaults, defaults),
    ):
        for key, bar in (memory.shadows.pop(id(owner), None) or {}).items():
            if bar is None:
                continue
            if key in held and values.get(key, ABSENT) is held[key]:
                memory.add_entry(namespace, key, bar)
            else:
                lost = True
    known = {id(value) for value in held.values()}
    for key, value in attributes.items():
        if (
            isinstance(value, list | tuple | dict | set)
            and id(value) not in known
            and not key.startswith("__")
        ):
            lost = collect(memory, value, None) is not None or lost
    return lost


def move_default_cotangents(memory: Memory, made: Any, defaults: dict[str, Any]) -> None:
    """Move the cotangents of the defaults of a named tuple's ``__new__`` to its field defaults."""
    given = getattr(made.__new__, "__defaults__", None) or ()
    if defaults and len(given) == len(defaults):
        bars = memory.take_items(given, len(given))
        for name, bar in zip(defaults, bars, strict=True):
            memory.add_entry(defaults, name, bar)


def metaclass_of(bases: tuple[Any, ...], meta: Any) -> Any:
    """Return the most derived of `meta` and the metaclasses of the bases."""
    if not isinstance(meta, type):
        return meta
    for base in bases:
        if not issubclass(meta, type(base)):
            if not issubclass(type(base), meta):
                raise TypeError(
                    "metaclass conflict: the metaclass of a derived class must be a (non-strict)"
                    " subclass of the metaclasses of all its bases"
                )
            meta = type(base)
    return meta


# ---- calls by name -----------------------------------------------------------------------------


@primitive((type, "__new__"))
def _new(record: list[Any], slot: int, /, *args: Any, **kwargs: Any) -> Any:
    if len(args) != 4:
        return NotImplemented
    making = _making(args[0], args[2])
    if making is not args[0] and making.__new__ is not type.__new__:
        return call_keywords(record, slot, making.__new__, (making, *args[1:]), kwargs)
    return make_class(type.__new__, record, slot, args, kwargs)


@primitive(abc.ABCMeta.__new__)
def _new_abstract(record: list[Any], slot: int, /, *args: Any, **kwargs: Any) -> Any:
    meta = args[0] if args else None
    if len(args) != 4 or not isinstance(meta, type):
        return NotImplemented
    following = meta.__mro__[meta.__mro__.index(abc.ABCMeta) + 1]
    made = call_keywords(record, slot, following.__new__, args, kwargs)
    sys.modules["_abc"]._abc_init(made)
    return made


@primitive(type)
def _type(record: list[Any], slot: int, /, *args: Any, **kwargs: Any) -> Any:
    if len(args) == 1:
        kind = type(args[0])
        stands_in = kind in STAND_IN_CLASSES or issubclass(kind, ActiveIterator)
        return args[0].__class__ if stands_in else kind
    if len(args) != 3:
        return NotImplemented
    making = _making(type, args[1])
    if making is not type:
        return _construct(record, slot, making, args, kwargs)
    return make_class(type, record, slot, args, kwargs)


def _making(meta: Any, bases: Any) -> Any:
    """Return the metaclass that creates a class of `bases`, at least as derived as `meta`."""
    plain = isinstance(bases, tuple) and all(isinstance(base, type) for base in bases)
    return metaclass_of(bases, meta) if plain else meta


@primitive((type, "__call__"))
def _call_class(record: list[Any], slot: int, /, *args: Any, **kwargs: Any) -> Any:
    """Run ``type.__call__(cls, …)``, without a ``__call__`` of the metaclass."""
    if not args or not isinstance(args[0], type):
        return NotImplemented
    return linked(record, slot, lambda bars: (None, *bars), _construct, args[0], args[1:], kwargs)


def _construct(
    record: list[Any], slot: int, cls: type, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    return construct(record, slot, cls, args, kwargs, by_metaclass=False)
