"""Tables of the functions that generated code calls: by callee of the IR, and by name."""

from __future__ import annotations

import operator
from collections.abc import Callable
from inspect import CO_VARARGS
from types import FunctionType
from typing import Any

from numpy import (
    clongdouble,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    generic,
    longdouble,
    ndarray,
)

from adjoint.cotangents.accumulate import accumulate
from adjoint.diagnostics.public_function import PublicFunction
from adjoint.ir import primitives
from adjoint.primal.argument_copies import is_same
from adjoint.primal.special_methods import special_of
from adjoint.rulekit.loading import load
from adjoint.rulekit.registry import primitive
from adjoint.runtime.arrays.reads import read_array
from adjoint.runtime.arrays.writes import write_array
from adjoint.runtime.cache import generate
from adjoint.runtime.cache import units as functions
from adjoint.runtime.dispatch.call import call, call_keywords, call_left, call_right
from adjoint.runtime.dispatch.linked import HANDLERS, linked
from adjoint.runtime.dispatch.unit_call import call_unit
from adjoint.runtime.memory.memory import Memory
from adjoint.runtime.operators.binary import base_unary, method_operator
from adjoint.runtime.operators.binary_protocol import REFLECTED
from adjoint.runtime.operators.constant_methods import refuse_stored
from adjoint.runtime.operators.in_place import base_updater
from adjoint.runtime.operators.table import BINARY, ONE_SIDED, UNARY, run_divmod
from adjoint.runtime.python.attribute_reads import ATTRIBUTES, attribute, plain_attribute
from adjoint.runtime.python.attribute_writes import delete_plain, write_attribute, write_class
from adjoint.runtime.python.callee_types import call_object
from adjoint.runtime.python.caught_exceptions import caught, pending_refusal
from adjoint.runtime.python.class_call import construct
from adjoint.runtime.python.class_statement import CLASSES
from adjoint.runtime.python.displays import unpack, unpack_starred
from adjoint.runtime.python.loops import iterate, iterator_of, unwind
from adjoint.runtime.python.method_call import method, method_keywords
from adjoint.runtime.python.raise_statement import RAISING
from adjoint.runtime.python.slices import build_slice
from adjoint.runtime.python.subscripts import ITEMS, item
from adjoint.runtime.python.variables import CELLS


def apply(record: list[Any], slot: int, f: Any, args: Any, kwargs: Any) -> Any:
    """Run ``f(*args, **kwargs)``; the cotangents go to the shadows of the two containers."""
    memory: Memory = record[0]
    args = args if type(args) is tuple else tuple(args)

    def arrange(bars: tuple[Any, ...]) -> tuple[Any, ...]:
        for i, bar in enumerate(bars[1 : len(args) + 1]):
            memory.add_item(args, i, bar)
        for key, bar in zip(kwargs, bars[len(args) + 1 :], strict=True):
            memory.add_entry(kwargs, key, bar)
        return None, None, None, None

    return linked(record, slot, arrange, call_keywords, f, args, kwargs or {})


def list_append(record: list[Any], slot: int, xs: list[Any], value: Any) -> None:
    """Append to the list of a comprehension, without a log entry: no other code has the list."""
    memory: Memory = record[0]
    xs.append(value)

    def append_back(_: Any) -> tuple[Any, ...]:
        shadow = memory.shadows.get(id(xs))
        return None, None, None if shadow is None else shadow.pop()

    record[slot] = append_back


def list_extend(record: list[Any], slot: int, xs: list[Any], values: Any, *function: Any) -> None:
    """Extend a list by ``*values`` of a display or of a call."""
    if not primitives.is_iterable(values):
        primitives.list_extend(xs, values, *function)  # Python's own message
    if not function:
        method(record, slot, xs, "extend", values)
        return
    linked(record, slot, lambda bars: (*bars, None), method, xs, "extend", values)


def begin(record: list[Any], slot: int, xs: Any) -> Any:
    """Return the iterator of a generator expression, or of a substitute."""
    return iterator_of(record[0], record, slot, xs)


def dict_update(record: list[Any], slot: int, mapping: dict[Any, Any], other: Any) -> None:
    """Update a dict by ``**other`` of a display."""
    if not hasattr(other, "keys"):
        primitives.dict_update(mapping, other)  # Python's own message
    method(record, slot, mapping, "update", other)


def enter_context(record: list[Any], slot: int, manager: Any) -> Any:
    """Begin a ``with`` statement."""
    kind = type(manager)
    if not hasattr(kind, "__enter__") or not hasattr(kind, "__exit__"):
        primitives.enter_context(manager)  # Python's own message
    return _of_class(record, slot, manager, "__enter__")


def exit_context(record: list[Any], slot: int, manager: Any, *details: Any) -> Any:
    """End a ``with`` statement."""
    return _of_class(record, slot, manager, "__exit__", *details)


def _of_class(record: list[Any], slot: int, obj: Any, name: str, *operands: Any) -> Any:
    """Call a special method of the class, even if the instance has an attribute of that name."""
    if name in getattr(obj, "__dict__", ()) and not isinstance(obj, type):
        return call(record, slot, special_of(type(obj), name), obj, *operands)
    return method(record, slot, obj, name, *operands)


def list_to_tuple(record: list[Any], slot: int, xs: list[Any]) -> tuple[Any, ...]:
    """Convert a temporary list to a tuple."""
    memory: Memory = record[0]
    y = (*xs,)
    if y:

        def tuple_back(_: Any) -> tuple[None, None]:
            for i, bar in enumerate(memory.take_items(y, len(y))):
                memory.add_item(xs, i, bar)
            return None, None

        record[slot] = tuple_back
    return y


def import_from(record: list[Any], slot: int, module: Any, name: str) -> Any:
    """Return one name of ``from module import name``: an attribute, or a module of the package."""
    blank = record[slot]
    try:
        return attribute(record, slot, module, name)
    except AttributeError:
        record[slot] = blank
    return primitives.import_from(module, name)  # outside `except`, so that errors have no context


def _by_method(kind: type, name: str) -> Callable[..., Any]:
    def run(record: list[Any], slot: int, obj: Any, *operands: Any) -> Any:
        return method(record, slot, obj, name, *operands)

    run.__name__ = name
    return run


def format_value(record: list[Any], slot: int, value: Any, conversion: Any, spec: Any) -> str:
    """Format one ``{value!r:spec}`` of an f-string; special methods are differentiated code."""
    inner: list[Any] = [record[0], None, None]

    def format_back(_: Any) -> tuple[None, ...]:
        for back in (inner[2], inner[1]):
            if back is not None:
                back(None)
        return None, None, None, None

    record[slot] = format_back
    if conversion is not None:
        value = call(inner, 1, {"s": str, "r": repr, "a": ascii}[conversion], value)
    y: str = call(inner, 2, format, value, spec)
    refuse_stored(inner, 2, value, "__format__")
    return y


def _lowered(f: FunctionType) -> Callable[..., Any]:
    """Return the function of a primitive that is differentiated by its own source."""

    def run(record: list[Any], slot: int, *operands: Any) -> Any:
        return call_unit(record[0], record, slot, functions.unit_of(f), f, operands, {})

    run.__name__ = f.__name__
    return run


def _plain(f: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function of a primitive without derivative or effect on active values."""

    def run(record: list[Any], slot: int, /, *operands: Any, **keywords: Any) -> Any:
        return f(*operands, **keywords)

    run.__name__ = f.__name__
    return run


ENTRIES: dict[Any, Callable[..., Any]] = {
    **BINARY,
    **ONE_SIDED,
    **UNARY,
    **ATTRIBUTES,
    **ITEMS,
    **CELLS,
    primitives.call_method: method,
    primitives.apply: apply,
    primitives.list_append: list_append,
    primitives.format_value: format_value,
    primitives.build_slice: build_slice,
    primitives.list_to_tuple: list_to_tuple,
    primitives.import_from: import_from,
    **CLASSES,
    primitives.dict_merge: _lowered(primitives.dict_merge),  # type: ignore[arg-type]
    primitives.begin: begin,
    primitives.list_extend: list_extend,
    primitives.enter_context: enter_context,
    primitives.exit_context: exit_context,
    **RAISING,
    primitives.set_add: _by_method(set, "add"),
    primitives.set_update: _by_method(set, "update"),
    primitives.dict_update: dict_update,
    **{
        f: _plain(f)
        for f in (
            primitives.build_string,
            primitives.run_intrinsic,
            primitives.import_module,
            primitives.exception_match,
            primitives.match_sequence,
            primitives.match_mapping,
            primitives.match_class_attribute,
            primitives.match_self,
            operator.is_,
            operator.is_not,
        )
    },
}
RUNTIME: dict[str, Callable[..., Any]] = {
    "call": call,
    "call_left": call_left,
    "call_right": call_right,
    "call_keywords": call_keywords,
    "method_keywords": method_keywords,
    "is_same": is_same,
    "iterate": iterate,
    "unwind": unwind,
    "unpack": unpack,
    "unpack_starred": unpack_starred,
    "accumulate": accumulate,
    "caught": caught,
    "pending_refusal": pending_refusal,
}
generate.entries.update(ENTRIES)
generate.runtime.update(RUNTIME)
HANDLERS[object] = call_object
HANDLERS[type] = construct


# ---- rules, for calls of these functions by user code or by rules --------------------------------


def _as_primitive(f: Any, entry: Callable[..., Any]) -> Callable[..., Any]:
    code = entry.__code__
    most = 1 << 30 if code.co_flags & CO_VARARGS else code.co_argcount - 2
    fewest = code.co_argcount - 2 - len(entry.__defaults__ or ())

    def run(record: list[Any], slot: int, *args: Any) -> Any:
        if not fewest <= len(args) <= most:
            return f(*args)  # Python's own message
        return entry(record, slot, *args)

    return run


for _f in (
    getattr,
    setattr,
    delattr,
    operator.getitem,
    operator.setitem,
    operator.delitem,
    operator.contains,
    operator.truth,
    operator.not_,
    primitives.begin,
):
    primitive(_f)(_as_primitive(_f, ENTRIES[_f]))
for _f in BINARY:
    primitive(_f)(_as_primitive(_f, BINARY[_f]))
for _f in UNARY:
    primitive(_f)(_as_primitive(_f, UNARY[_f]))
primitive(divmod)(_as_primitive(divmod, run_divmod))


@primitive(pow)
def _power(record: list[Any], slot: int, /, *args: Any, **named: Any) -> Any:
    if named or len(args) != 2:
        return NotImplemented
    return BINARY[operator.pow](record, slot, *args)


primitive(slice)(build_slice)
_OF_NUMBERS: tuple[type, ...] = (
    ndarray,
    generic,
    *(float16, float32, float64, longdouble),
    *(complex64, complex128, clongdouble),
    *(float, int, complex),
)
for _f in BINARY:
    # Calls by the name of the method: x.__iadd__(y).
    _special = f"__{_f.__name__.rstrip('_')}__"
    for _kind in _OF_NUMBERS:
        if _special in vars(_kind):
            _in_place = _f.__name__.startswith("i") and _f not in (operator.invert,)
            _run = base_updater(_f, BINARY[_f]) if _in_place else method_operator(_f)
            primitive((_kind, _special))(_run)
for _f in (*BINARY, divmod):
    _special = f"__{REFLECTED.get(_f.__name__.rstrip('_'))}__"
    for _kind in _OF_NUMBERS:
        if _special.startswith("__r") and _special in vars(_kind):
            primitive((_kind, _special))(method_operator(_f, reflected=True))
for _kind in _OF_NUMBERS:
    if "__divmod__" in vars(_kind):
        primitive((_kind, "__divmod__"))(method_operator(divmod))
_OF_ONE: tuple[tuple[Any, str], ...] = (
    (operator.neg, "__neg__"),
    (operator.pos, "__pos__"),
    (abs, "__abs__"),
    (float, "__float__"),
    (complex, "__complex__"),
)
for _one, _special in _OF_ONE:
    for _kind in _OF_NUMBERS:
        if _special in vars(_kind):
            primitive((_kind, _special))(base_unary(_one, _special))
primitive((ndarray, "__getitem__"))(_as_primitive(ndarray.__getitem__, read_array))
primitive((ndarray, "__setitem__"))(_as_primitive(ndarray.__setitem__, write_array))
primitive(object.__getattribute__)(_as_primitive(object.__getattribute__, plain_attribute))
primitive(object.__setattr__)(write_attribute)
primitive(object.__delattr__)(delete_plain)
primitive(type.__setattr__)(write_class)
primitive(type.__delattr__)(delete_plain)


def _item_getter(
    record: list[Any], slot: int, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    keys = f.__reduce__()[1]
    if len(keys) != 1 or len(args) != 1:
        return call_object(record, slot, f, args, kwargs)
    return linked(record, slot, lambda bars: bars[:2], item, args[0], keys[0])


HANDLERS[operator.itemgetter] = _item_getter


def _public_function(
    record: list[Any], slot: int, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    return call_keywords(record, slot, f.__wrapped__, args, kwargs)


HANDLERS[PublicFunction] = _public_function


class _Basics:
    """Loads, on the first differentiated call, the rules that every such call needs."""

    ready: bool = False

    def load(self) -> None:
        load("operator")
        load("builtins")
        self.ready = True


basics: _Basics = _Basics()
