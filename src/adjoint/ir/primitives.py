"""The functions that lowered code calls beyond Python's own `operator`, `getattr` and `setattr`.

Each is an ordinary function with the meaning that Python gives the construct, so the IR can be run
as it stands; the engine (`adjoint.runtime`) knows how each is differentiated.
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable, Iterable
from types import CellType, CodeType, FunctionType
from typing import Any

from adjoint.ir.intrinsics import intrinsic
from adjoint.ir.nodes import Span

MISSING: Any = object()
"""Stands where Python would have nothing: an absent default, an unset class name."""


# ---- displays ------------------------------------------------------------------------------------


def build_tuple(*items: Any) -> tuple[Any, ...]:
    """``(a, b)``"""
    return items


def build_list(*items: Any) -> list[Any]:
    """``[a, b]``"""
    return list(items)


def build_set(*items: Any) -> set[Any]:
    """``{a, b}``"""
    return set(items)


def build_dict(*keys_and_values: Any) -> dict[Any, Any]:
    """``{k1: v1, k2: v2}``, given as k1, v1, k2, v2."""
    return dict(zip(keys_and_values[::2], keys_and_values[1::2], strict=True))


def build_slice(start: Any, stop: Any, step: Any) -> slice:
    """``start:stop:step`` inside a subscript."""
    return slice(start, stop, step)


def build_string(*parts: Any) -> str:
    """An f-string from its formatted parts."""
    return "".join(parts)


def format_value(value: Any, conversion: str | None, spec: str) -> str:
    """One ``{value!r:spec}`` of an f-string; `conversion` is ``'s'``, ``'r'``, ``'a'`` or
    ``None``."""
    if conversion is not None:
        convert: dict[str, Callable[[Any], str]] = {"s": str, "r": repr, "a": ascii}
        value = convert[conversion](value)
    return format(value, spec)


def list_append(xs: list[Any], value: Any) -> None:
    """The step of a list comprehension and of a display with ``*``."""
    xs.append(value)


def list_extend(xs: list[Any], values: Iterable[Any], function: Any = None) -> None:
    """``*values`` in a list display, a tuple display or the arguments of a call.

    `function` is what is called with these arguments and no others, which the message names.
    """
    if not is_iterable(values):
        _fail_to_extend(values, function)
    xs.extend(values)


def _fail_to_extend(values: Any, function: Any) -> None:
    """Raise the error of what is not iterable, as Python words it."""
    if function is None:
        _ = [*values]
    else:
        function(*values)


def is_iterable(xs: Any) -> bool:
    """Whether Python can ask `xs` for its elements; those are not asked for."""
    kind = type(xs)
    if hasattr(kind, "__iter__"):
        return kind.__iter__ is not None
    try:
        iter(xs)
    except TypeError:
        return False
    return True


class _Begun:
    """An iterator of the user's that is not asked for itself."""

    __slots__ = ("_iterator",)

    def __init__(self, iterator: Any) -> None:
        self._iterator = iterator

    def __iter__(self) -> _Begun:
        return self

    def __next__(self) -> Any:
        return next(self._iterator)


def begin(xs: Any) -> Any:
    """``iter(xs)`` of a generator expression, and of code in C: a loop over what it gives does not
    call ``__iter__`` once more, which may begin again."""
    iterator = iter(xs)
    return _Begun(iterator) if type(type(iterator).__iter__) is FunctionType else iterator


def list_to_tuple(xs: list[Any]) -> tuple[Any, ...]:
    """A list that nobody else holds, as a tuple."""
    return tuple(xs)


def set_add(xs: set[Any], value: Any) -> None:
    """The step of a set comprehension."""
    xs.add(value)


def set_update(xs: set[Any], values: Iterable[Any]) -> None:
    """``*values`` in a set display."""
    xs.update(values)


def dict_insert(mapping: dict[Any, Any], key: Any, value: Any) -> None:
    """The step of a dict comprehension."""
    mapping[key] = value


def dict_update(mapping: dict[Any, Any], other: Any) -> None:
    """``**other`` in a dict display (later keys win)."""
    mapping.update({**other})


def dict_merge(mapping: dict[str, Any], other: Any, function: Any) -> None:
    """``**other`` among the arguments of a call of `function`: strings only, each at most once."""
    if not hasattr(other, "keys"):
        fail_to_merge(function, other)
    # C asks no methods of a subclass that is iterated as dicts are.
    plain = type(other) is not dict and isinstance(other, dict)
    plain = plain and type(other).__iter__ is dict.__iter__
    for key in dict.keys(other) if plain else other.keys():
        if not isinstance(key, str):
            raise TypeError("keywords must be strings")
        if key in mapping:
            fail_to_merge(function, {key: None})
        mapping[key] = dict.__getitem__(other, key) if plain else other[key]


def fail_to_merge(function: Any, other: Any) -> None:
    """Raise the error of what is no mapping, or is there already, as Python words it."""
    function(**other, **other)


# ---- names ---------------------------------------------------------------------------------------


def new_cell() -> CellType:
    """The cell of a captured variable that has no value yet."""
    return CellType()


def load_cell(cell: CellType, name: str) -> Any:
    """A variable of an enclosing function."""
    try:
        return cell.cell_contents
    except ValueError:
        raise NameError(
            f"cannot access free variable {name!r} where it is not associated with a value"
            " in enclosing scope",
            name=name,
        ) from None


def load_own_cell(cell: CellType, name: str) -> Any:
    """A variable of the function itself that inner functions capture."""
    try:
        return cell.cell_contents
    except ValueError:
        raise UnboundLocalError(unassigned_message(name)) from None


def store_cell(cell: CellType, value: Any) -> None:
    """``name = value`` for a captured variable."""
    cell.cell_contents = value


def delete_cell(cell: CellType, name: str) -> None:
    """``del name`` for a variable of an enclosing function."""
    load_cell(cell, name)  # an empty cell could be emptied
    del cell.cell_contents


def delete_own_cell(cell: CellType, name: str) -> None:
    """``del name`` for a variable of the function itself that inner functions capture."""
    load_own_cell(cell, name)
    del cell.cell_contents


def unassigned_message(name: str) -> str:
    """Python's own words for the read of a variable without a value."""
    return f"cannot access local variable '{name}' where it is not associated with a value"


def load_global(namespace: dict[str, Any], name: str) -> Any:
    """A global name, or a builtin one."""
    if name in namespace:
        return namespace[name]
    if hasattr(builtins, name):
        return getattr(builtins, name)
    raise NameError(f"name {name!r} is not defined", name=name)


def store_global(namespace: dict[str, Any], name: str, value: Any) -> None:
    """``name = value`` under ``global name``."""
    namespace[name] = value


def delete_global(namespace: dict[str, Any], name: str) -> None:
    """``del name`` under ``global name``."""
    try:
        del namespace[name]
    except KeyError:
        raise NameError(f"name {name!r} is not defined", name=name) from None


def current_globals() -> dict[str, Any]:
    """The globals of the function being run; the engine puts them in."""
    raise NotImplementedError


def load_class_name(namespace: Any, name: str, outside: CellType | dict[str, Any]) -> Any:
    """A name read in a class body: in the class's own namespace, then `outside`, which is the cell
    of a captured variable or the globals."""
    try:
        return namespace[name]
    except KeyError:
        pass
    if isinstance(outside, CellType):
        return load_cell(outside, name)
    return load_global(outside, name)


def delete_class_name(namespace: Any, name: str) -> None:
    """``del name`` in a class body."""
    try:
        del namespace[name]
    except KeyError:
        raise NameError(f"name {name!r} is not defined", name=name) from None


# ---- functions, calls, classes -------------------------------------------------------------------


def make_function(
    code: CodeType,
    namespace: dict[str, Any],
    defaults: tuple[Any, ...] | None,
    keyword_defaults: dict[str, Any] | None,
    annotations: dict[str, Any] | None,
    *cells: CellType,
) -> FunctionType:
    """A nested ``def`` or ``lambda``: the real function object, with the real cells of what it
    captures."""
    function = FunctionType(code, namespace, code.co_name, defaults, cells or None)
    function.__kwdefaults__ = keyword_defaults
    function.__qualname__ = code.co_qualname
    if annotations:
        function.__annotations__ = annotations
    if "__name__" in namespace:
        function.__module__ = namespace["__name__"]
    return function


def call_method(obj: Any, name: str, *args: Any, **kwargs: Any) -> Any:
    """``obj.name(*args, **kwargs)`` as one operation, so that methods of builtin types have
    rules."""
    return getattr(obj, name)(*args, **kwargs)


def apply(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``function(*args, **kwargs)``: a call with stars; both containers are new and nobody
    else's."""
    return function(*args, **kwargs)


def run_intrinsic(number: int, *operands: Any) -> Any:
    """An instruction of CPython's that makes type parameters."""
    return intrinsic(number, len(operands))(*operands)


def build_class(body: Callable[[Any], Any], name: str, /, *bases: Any, **keywords: Any) -> type:
    """A ``class`` statement; `body` fills the namespace that it is given."""
    make: Callable[..., type] = builtins.__build_class__
    return make(body, name, *bases, **keywords)


def unreachable() -> None:
    """Stands where the compiler left something out, because it is never run."""
    raise AssertionError("this was taken for code that is never run")


unsupported_syntax: Any = None
"""The class of the error, which `adjoint.errors` puts here: it needs the nodes."""


def refuse_syntax(construct: str, hint: str, filename: str, *span: int) -> None:
    """Stands where something that cannot be differentiated is reached by some calls only."""
    raise unsupported_syntax(
        f"'{construct}' cannot be differentiated", hint=hint, filename=filename, span=Span(*span)
    )


# ---- with statements, exceptions, imports, patterns ----------------------------------------------


def enter_context(manager: Any) -> Any:
    """What ``with manager as x`` gives to ``x``; both methods are of the class, and there, before
    one of them is called."""
    kind = type(manager)
    for name, missed in (("__enter__", ""), ("__exit__", " (missed __exit__ method)")):
        if not hasattr(kind, name):
            raise TypeError(
                f"{kind.__name__!r} object does not support the context manager protocol{missed}"
            )
    return kind.__enter__(manager)


def exit_context(manager: Any, *details: Any) -> Any:
    """The end of a ``with`` statement: what is true suppresses the exception of `details`."""
    return type(manager).__exit__(manager, *details)


def exception_of(raised: Any) -> Any:
    """What ``raise raised`` raises: of a class, a new instance."""
    if not (isinstance(raised, type) and issubclass(raised, BaseException)):
        return raised
    error: Any = raised()
    if not isinstance(error, BaseException):
        fail_to_raise(raised)
    return error


def fail_to_raise(kind: type[BaseException]) -> None:
    """Raise the error of a class that makes something else, as Python words it."""
    raise kind


def exception_match(caught: BaseException, kinds: Any) -> bool:
    """Whether ``except kinds`` catches `caught`."""
    members = kinds if isinstance(kinds, tuple) else (kinds,)
    for kind in members:
        if not (isinstance(kind, type) and issubclass(kind, BaseException)):
            raise TypeError(
                "catching classes that do not inherit from BaseException is not allowed"
            )
    return any(kind in type(caught).__mro__ for kind in members)  # nobody is asked


def import_module(
    namespace: dict[str, Any], name: str, names: tuple[str, ...] | None, level: int
) -> Any:
    """``import name`` (`names` is ``None``: the top package) or ``from name import names``: the
    module."""
    return builtins.__import__(name, namespace, None, names or (), level)


def import_from(module: Any, name: str) -> Any:
    """One name of ``from module import name``."""
    try:
        return getattr(module, name)
    except AttributeError:
        pass
    full_name = f"{module.__name__}.{name}"
    if full_name not in sys.modules:
        raises_import_error = f"from {module.__name__} import {name}"
        exec(compile(raises_import_error, __file__, "exec"), {})  # Python's own message
    return sys.modules[full_name]


def match_sequence(subject: Any) -> bool:
    """Whether a sequence pattern may match `subject` at all."""
    return bool(type(subject).__flags__ & (1 << 5))  # Py_TPFLAGS_SEQUENCE


def match_mapping(subject: Any) -> bool:
    """Whether a mapping pattern may match `subject` at all."""
    return bool(type(subject).__flags__ & (1 << 6))  # Py_TPFLAGS_MAPPING


def match_class_attribute(cls: type, position: int, given: int) -> str:
    """The attribute that the positional sub-pattern number `position` of a class pattern, of those
    that are `given`, stands for."""
    names = getattr(cls, "__match_args__", ())
    if given > len(names):
        count = 1 if match_self(cls) else len(names)
        plural = "" if count == 1 else "s"
        raise TypeError(
            f"{cls.__name__}() accepts {count} positional sub-pattern{plural} ({given} given)"
        )
    return names[position]  # type: ignore[no-any-return]


def match_self(cls: type) -> bool:
    """Whether the one positional sub-pattern of ``cls(...)`` matches the subject itself
    (``int(n)``)."""
    return bool(cls.__flags__ & (1 << 22)) and not hasattr(
        cls, "__match_args__"
    )  # _Py_TPFLAGS_MATCH_SELF
