"""The functions that lowered code calls beyond Python's own `operator`, `getattr` and `setattr`.

Each is an ordinary function with the meaning that Python gives the construct, so the IR can be run
as written; the engine (`adjoint.runtime`) holds the derivative of each.
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
"""A placeholder for an absent value: a missing default, an unset class name."""


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
    """``{k1: v1, k2: v2}``; the arguments are k1, v1, k2, v2."""
    return dict(zip(keys_and_values[::2], keys_and_values[1::2], strict=True))


def build_slice(start: Any, stop: Any, step: Any) -> slice:
    """``start:stop:step`` inside a subscript."""
    return slice(start, stop, step)


def build_string(*parts: Any) -> str:
    """Join the formatted parts of an f-string."""
    return "".join(parts)


def format_value(value: Any, conversion: str | None, spec: str) -> str:
    """Format ``{value!r:spec}`` of an f-string; `conversion` is ``'s'``, ``'r'``, ``'a'`` or
    ``None``."""
    if conversion is not None:
        convert: dict[str, Callable[[Any], str]] = {"s": str, "r": repr, "a": ascii}
        value = convert[conversion](value)
    return format(value, spec)


def list_append(xs: list[Any], value: Any) -> None:
    """Append one element in a list comprehension or in a display with ``*``."""
    xs.append(value)


def list_extend(xs: list[Any], values: Iterable[Any], function: Any = None) -> None:
    """``*values`` in a list display, a tuple display or the arguments of a call. `function` is the
    callee when `values` are the only arguments of a call: the error message names it."""
    if not is_iterable(values):
        _fail_to_extend(values, function)
    xs.extend(values)


def _fail_to_extend(values: Any, function: Any) -> None:
    """Raise Python's own error for `values` that are not iterable."""
    if function is None:
        _ = [*values]
    else:
        function(*values)


def is_iterable(xs: Any) -> bool:
    """Return whether Python can iterate over `xs`, without iterating."""
    kind = type(xs)
    if hasattr(kind, "__iter__"):
        return kind.__iter__ is not None
    try:
        iter(xs)
    except TypeError:
        return False
    return True


class _Begun:
    """Wrap an iterator of a user-defined class so that ``iter`` does not call its ``__iter__``."""

    __slots__ = ("_iterator",)

    def __init__(self, iterator: Any) -> None:
        self._iterator = iterator

    def __iter__(self) -> _Begun:
        return self

    def __next__(self) -> Any:
        return next(self._iterator)


def begin(xs: Any) -> Any:
    """``iter(xs)`` for generator expressions and code in C. A later loop over the result must not
    call a user-defined ``__iter__`` again, which may restart the iteration."""
    iterator = iter(xs)
    return _Begun(iterator) if type(type(iterator).__iter__) is FunctionType else iterator


def list_to_tuple(xs: list[Any]) -> tuple[Any, ...]:
    """Convert a list to a tuple; no other reference to the list exists."""
    return tuple(xs)


def set_add(xs: set[Any], value: Any) -> None:
    """Add one element in a set comprehension."""
    xs.add(value)


def set_update(xs: set[Any], values: Iterable[Any]) -> None:
    """``*values`` in a set display."""
    xs.update(values)


def dict_insert(mapping: dict[Any, Any], key: Any, value: Any) -> None:
    """Insert one entry in a dict comprehension."""
    mapping[key] = value


def dict_update(mapping: dict[Any, Any], other: Any) -> None:
    """``**other`` in a dict display (later keys win)."""
    mapping.update({**other})


def dict_merge(mapping: dict[str, Any], other: Any, function: Any) -> None:
    """``**other`` in the arguments of a call of `function`: string keys only, each at most once."""
    if not hasattr(other, "keys"):
        fail_to_merge(function, other)
    # CPython calls no methods of a dict subclass that does not override `__iter__`.
    plain = type(other) is not dict and isinstance(other, dict)
    plain = plain and type(other).__iter__ is dict.__iter__
    for key in dict.keys(other) if plain else other.keys():
        if not isinstance(key, str):
            raise TypeError("keywords must be strings")
        if key in mapping:
            fail_to_merge(function, {key: None})
        mapping[key] = dict.__getitem__(other, key) if plain else other[key]


def fail_to_merge(function: Any, other: Any) -> None:
    """Raise Python's own error for an `other` that is no mapping or that repeats a keyword."""
    function(**other, **other)


# ---- names ---------------------------------------------------------------------------------------


def new_cell() -> CellType:
    """Make an empty cell for a captured variable."""
    return CellType()


def load_cell(cell: CellType, name: str) -> Any:
    """Read a variable of an enclosing function."""
    try:
        return cell.cell_contents
    except ValueError:
        raise NameError(
            f"cannot access free variable {name!r} where it is not associated with a value"
            " in enclosing scope",
            name=name,
        ) from None


def load_own_cell(cell: CellType, name: str) -> Any:
    """Read a variable of the function itself that inner functions capture."""
    try:
        return cell.cell_contents
    except ValueError:
        raise UnboundLocalError(unassigned_message(name)) from None


def store_cell(cell: CellType, value: Any) -> None:
    """``name = value`` for a captured variable."""
    cell.cell_contents = value


def delete_cell(cell: CellType, name: str) -> None:
    """``del name`` for a variable of an enclosing function."""
    load_cell(cell, name)  # raises for an empty cell, which `del` would accept
    del cell.cell_contents


def delete_own_cell(cell: CellType, name: str) -> None:
    """``del name`` for a variable of the function itself that inner functions capture."""
    load_own_cell(cell, name)
    del cell.cell_contents


def unassigned_message(name: str) -> str:
    """Return the message of Python's error for reading an unassigned variable."""
    return f"cannot access local variable '{name}' where it is not associated with a value"


def load_global(namespace: dict[str, Any], name: str) -> Any:
    """Read a global or builtin name."""
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
    """Return the globals of the running function; the engine substitutes the implementation."""
    raise NotImplementedError


def load_class_name(namespace: Any, name: str, outside: CellType | dict[str, Any]) -> Any:
    """Read a name in a class body: from the class namespace, else from `outside`. `outside` is the
    cell of a captured variable, or the globals."""
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
    """Make the function object of a nested ``def`` or ``lambda``, with the cells that it
    captures."""
    function = FunctionType(code, namespace, code.co_name, defaults, cells or None)
    function.__kwdefaults__ = keyword_defaults
    function.__qualname__ = code.co_qualname
    if annotations:
        function.__annotations__ = annotations
    if "__name__" in namespace:
        function.__module__ = namespace["__name__"]
    return function


def call_method(obj: Any, name: str, /, *args: Any, **kwargs: Any) -> Any:
    """``obj.name(*args, **kwargs)`` as one operation, so that methods of builtin types can have
    rules."""
    return getattr(obj, name)(*args, **kwargs)


def apply(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``function(*args, **kwargs)``: a call with stars. No other reference to `args`, `kwargs`
    exists."""
    return function(*args, **kwargs)


def run_intrinsic(number: int, *operands: Any) -> Any:
    """Run a CPython instruction that creates type parameters."""
    return intrinsic(number, len(operands))(*operands)


def build_class(body: Callable[[Any], Any], name: str, /, *bases: Any, **keywords: Any) -> type:
    """``class name(*bases, **keywords)``; `body` fills the namespace passed to it."""
    make: Callable[..., type] = builtins.__build_class__
    return make(body, name, *bases, **keywords)


def unreachable() -> None:
    """Mark a place whose code the compiler dropped because it never runs."""
    raise AssertionError("this was taken for code that is never run")


unsupported_syntax: Any = None
"""The error class of `refuse_syntax`; `adjoint.errors`, which imports the nodes, sets it."""


def refuse_syntax(construct: str, hint: str, filename: str, *span: int) -> None:
    """Refuse a construct that cannot be differentiated, on those calls that reach it."""
    raise unsupported_syntax(
        f"'{construct}' cannot be differentiated", hint=hint, filename=filename, span=Span(*span)
    )


# ---- with statements, exceptions, imports, patterns ----------------------------------------------


def enter_context(manager: Any) -> Any:
    """Return the value that ``with manager as x`` binds to ``x``. Both methods are looked up on the
    class, and must exist before either is called."""
    kind = type(manager)
    for name, missed in (("__enter__", ""), ("__exit__", " (missed __exit__ method)")):
        if not hasattr(kind, name):
            raise TypeError(
                f"{kind.__name__!r} object does not support the context manager protocol{missed}"
            )
    return kind.__enter__(manager)


def exit_context(manager: Any, *details: Any) -> Any:
    """Leave a ``with`` statement; a true result suppresses the exception in `details`."""
    return type(manager).__exit__(manager, *details)


def exception_of(raised: Any) -> Any:
    """Return the exception that ``raise raised`` raises; instantiate a class."""
    if not (isinstance(raised, type) and issubclass(raised, BaseException)):
        return raised
    error: Any = raised()
    if not isinstance(error, BaseException):
        fail_to_raise(raised)
    return error


def fail_to_raise(kind: type[BaseException]) -> None:
    """Raise Python's own error for an exception class whose call returns no exception."""
    raise kind


def exception_match(caught: BaseException, kinds: Any) -> bool:
    """Return whether ``except kinds`` catches `caught`."""
    members = kinds if isinstance(kinds, tuple) else (kinds,)
    for kind in members:
        if not (isinstance(kind, type) and issubclass(kind, BaseException)):
            raise TypeError(
                "catching classes that do not inherit from BaseException is not allowed"
            )
    return any(kind in type(caught).__mro__ for kind in members)  # `isinstance` calls user code


def import_module(
    namespace: dict[str, Any], name: str, names: tuple[str, ...] | None, level: int
) -> Any:
    """Return the module of ``import name`` or of ``from name import names``. With `names` ``None``,
    the result is the top package."""
    return builtins.__import__(name, namespace, None, names or (), level)


def import_from(module: Any, name: str) -> Any:
    """Return one name of ``from module import name``."""
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
    """Return whether `subject` counts as a sequence for patterns."""
    return bool(type(subject).__flags__ & (1 << 5))  # Py_TPFLAGS_SEQUENCE


def match_mapping(subject: Any) -> bool:
    """Return whether `subject` counts as a mapping for patterns."""
    return bool(type(subject).__flags__ & (1 << 6))  # Py_TPFLAGS_MAPPING


def match_class_attribute(cls: type, position: int, given: int) -> str:
    """Return the attribute that a positional sub-pattern of a class pattern matches. `position` is
    its index among the `given` positional sub-patterns."""
    names = getattr(cls, "__match_args__", ())
    if given > len(names):
        count = 1 if match_self(cls) else len(names)
        plural = "" if count == 1 else "s"
        raise TypeError(
            f"{cls.__name__}() accepts {count} positional sub-pattern{plural} ({given} given)"
        )
    return names[position]  # type: ignore[no-any-return]


def match_self(cls: type) -> bool:
    """Return whether the single positional sub-pattern of ``cls(...)`` matches the subject itself.
    True for ``int(n)``, for example."""
    return bool(cls.__flags__ & (1 << 22)) and not hasattr(
        cls, "__match_args__"
    )  # _Py_TPFLAGS_MATCH_SELF


BUILDING = frozenset({build_tuple, build_list, build_slice})
"""Functions that build a tuple, a list or a slice."""
