"""Calls of bound methods, functions of C, ufuncs, partials and objects with ``__call__``."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from adjoint.diagnostics.refusals import missing
from adjoint.primal.array_classes import has_array_wrap, is_subclassed
from adjoint.primal.compiled_functions import is_closed_and_compiled, python_of
from adjoint.primal.special_methods import C_METHODS, class_attribute, is_cython, special_of
from adjoint.primal.value_kinds import by_value, is_objects
from adjoint.rulekit.registry import Rules, lookup, method_rules, table
from adjoint.runtime.arrays.overrides import UFUNC_METHODS, function_override, ufunc_override
from adjoint.runtime.arrays.subclass_calls import apply_to_plain, call_with_wrap
from adjoint.runtime.arrays.ufunc_keywords import gufunc_along, ufunc_as
from adjoint.runtime.dispatch.call import call_keywords
from adjoint.runtime.dispatch.linked import DECLINED, HANDLERS, NO_KEYWORDS, linked
from adjoint.runtime.dispatch.rule_call import run_rules
from adjoint.runtime.dispatch.source_call import call_function
from adjoint.runtime.foreign.unknown_call import run_unknown
from adjoint.runtime.memory.memory import Memory
from adjoint.runtime.operators.ufunc_output import ufunc_into, ufunc_into_all
from adjoint.runtime.python.class_call import construct
from adjoint.runtime.python.dict_fromkeys import fromkeys_of


def _method_object(
    record: list[Any], slot: int, f: MethodType, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Call a bound method that was read as a value."""
    arrange, operands = _owned_by(record[0], f), (f.__self__, *args)
    return linked(record, slot, arrange, call_keywords, f.__func__, operands, kwargs)


def _static(
    record: list[Any], slot: int, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Call a `staticmethod` object that was not looked up through its class."""
    return call_keywords(record, slot, f.__func__, args, kwargs)


def _owned_by(memory: Memory, f: Any) -> Callable[[tuple[Any, ...]], tuple[Any, ...]]:
    """Return a function that moves the cotangent of ``f.__self__`` to the shadow of `f`."""

    def arrange(bars: tuple[Any, ...]) -> tuple[Any, ...]:
        memory.add_entry(f, "__self__", bars[1])
        return (None, *bars[2:])

    return arrange


def _builtin(
    record: list[Any], slot: int, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Call a function of a C module, or a bound method of a builtin type."""
    owner = f.__self__
    if owner is None or type(owner) is ModuleType:
        rules = table.get(f) or lookup(f)
        return _ruled_or_unknown(record, slot, f, rules, args, kwargs)
    if isinstance(owner, type) and f.__name__ == "__call__":
        return construct(record, slot, owner, args, kwargs, by_metaclass=False)
    if (
        type(f) is types.MethodWrapperType
        and f.__name__ == "__call__"
        and class_attribute(type(owner), "__call__") is vars(f.__objclass__).get("__call__")
    ):
        return call_keywords(record, slot, owner, args, kwargs)
    if type(f) is types.MethodWrapperType and issubclass(f.__objclass__, type):
        operands = (owner, *args)  # a metaclass calls this by ``super()``
        method = vars(f.__objclass__)[f.__name__]
        return linked(record, slot, _without_first, call_keywords, method, operands, kwargs)
    if isinstance(owner, type) and f.__name__ == "fromkeys" and "fromkeys" not in vars(owner):
        operands = (owner, *args)
        return linked(record, slot, _without_first, call_keywords, fromkeys_of, operands, kwargs)
    if isinstance(owner, type):  # dict.fromkeys, object.__new__; or of the metaclass: mro
        is_own = any(f.__name__ in vars(base) for base in type.mro(owner))
        rules = lookup((owner if is_own else type(owner), f.__name__))
        return _ruled_or_unknown(record, slot, f, rules, args, kwargs)
    if type(owner) is np.ufunc and f.__name__ in UFUNC_METHODS:
        y = ufunc_override(record, slot, owner, f.__name__, args, kwargs)
        if y is not DECLINED:
            return y
    kind = _class_of_method(f, owner)
    rules = method_rules(kind, f.__name__)
    if rules is None:  # pybind11 binds its functions to a capsule
        return _ruled_or_unknown(record, slot, f, table.get(f), args, kwargs)
    y = linked(
        record,
        slot,
        _owned_by(record[0], f),
        run_rules,
        getattr(kind, f.__name__),  # not an override, if ``super()`` bound it
        rules,
        (owner, *args),
        kwargs,
    )
    return run_unknown(record[0], record, slot, f, args, kwargs) if y is DECLINED else y


def _class_of_method(f: Any, owner: Any) -> type:
    """Return the class that defines the bound method, a base class if ``super()`` bound it."""
    if type(f) is types.MethodWrapperType:
        return f.__objclass__
    for base in type(owner).__mro__:
        if type(vars(base).get(f.__name__)) in C_METHODS:
            return base
    return type(owner)


_DISPATCHER: Any = type(np.mean)
"""Type of NumPy's functions in Python, which are wrapped by a dispatcher of C. ``__wrapped__`` of
other objects of C need not be what they run: `scipy.fft` wraps functions that extract arguments."""


def _ruled_or_unknown(
    record: list[Any],
    slot: int,
    f: Any,
    rules: Rules | None,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    if rules is not None:
        y = run_rules(record, slot, f, rules, args, kwargs)
        if y is not DECLINED:
            return y
    if type(f) is _DISPATCHER and type(f.__wrapped__) is FunctionType:
        return call_function(record, slot, f.__wrapped__, args, kwargs)
    return run_unknown(record[0], record, slot, f, args, kwargs)


def _named(
    record: list[Any], slot: int, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Call a callable of C that is itself the key of rules: a ufunc or a dispatcher."""
    if type(f) is _DISPATCHER:
        y = function_override(record, slot, f, args, kwargs)
        if y is not DECLINED:
            return y
    rules = table.get(f)
    return _ruled_or_unknown(record, slot, f, lookup(f) if rules is None else rules, args, kwargs)


def _ufunc(
    record: list[Any], slot: int, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Call a ufunc; with ``out`` or ``where``, the plain call and a write of its result."""
    y = ufunc_override(record, slot, f, "__call__", args, kwargs)
    if y is not DECLINED:
        return y
    if not (kwargs or len(args) > f.nin) or _asks_for_nothing(f, args, kwargs):
        if not (kwargs or len(args) > f.nin):
            return _named(record, slot, f, args, kwargs)
    if kwargs.get("out") is None and len(args) <= f.nin and kwargs.get("where", True) is True:
        y = _of_classes(record, slot, f, args, kwargs)
        if y is not DECLINED:
            return y
    out = kwargs.get("out")
    if out is Ellipsis and any(map(is_objects, args)):
        return run_unknown(record[0], record, slot, f, args, kwargs)
    given = args
    if len(args) > f.nin:
        out, args = args[f.nin :] if f.nout > 1 else args[f.nin], args[: f.nin]
    if isinstance(out, tuple) and len(out) == 1:
        out = out[0]
    where = kwargs.get("where", True)
    rest = {key: value for key, value in kwargs.items() if key not in ("out", "where")}
    if f.nout > 1 and out is not None and where is True:
        return _into_all(record, slot, f, given, kwargs)
    made = None
    if f.nout == 1 and out is None and where is not True:
        made = out = f(*args, **kwargs)  # a new array; the selected part is written again
    if (f.nout > 1 and out is not None) or (made is not None and type(made) is not np.ndarray):
        return run_unknown(
            record[0], record, slot, f, given, kwargs, "has no rule for these keywords"
        )
    n = len(given) - len(args)
    of_args = _of_inputs(record[0], args, len(given) + len(kwargs))
    if out is None and rest and set(rest) <= _LAYOUT:
        return linked(record, slot, of_args, call_function, ufunc_as, (f, args, rest), NO_KEYWORDS)
    if out is None and f.signature is not None and rest and set(rest) <= _AXES and f.nout == 1:
        axes = rest.get("axes") or [rest.get("axis", -1)] * f.nin
        operands = (f, args, axes, bool(rest.get("keepdims")))
        return linked(record, slot, of_args, call_function, gufunc_along, operands, NO_KEYWORDS)
    if out is None:
        dropped = [key for key in kwargs if key not in rest]

        def padded(bars: tuple[Any, ...]) -> tuple[Any, ...]:
            named = dict(zip(rest, bars[len(args) + 1 :], strict=True))
            return (
                *bars[: len(args) + 1],
                *(None,) * n,
                *(None if key in dropped else named[key] for key in kwargs),
            )

        return linked(record, slot, padded, _named, f, args, rest)
    inner: list[Any] = [record[0], None]
    names = [key for key in kwargs if key in rest]
    memory, keys = record[0], list(kwargs)

    def out_back(y_bar: Any) -> tuple[Any, ...]:
        if inner[1] is not None:
            inner[1](y_bar)
        bars = memory.take_items(args, len(args))
        named = {name: memory.take_entry(rest, name) for name in names}
        extra = [None] * n
        return (None, *bars, *extra, *(named.get(key) for key in keys))

    record[slot] = out_back  # before the call, which may raise after it has written a part
    return call_function(inner, 1, ufunc_into, (f, out, where, args, rest), NO_KEYWORDS)


def _of_inputs(
    memory: Memory, inputs: tuple[Any, ...], n: int
) -> Callable[[tuple[Any, ...]], tuple[Any, ...]]:
    """Return a function that gives the cotangents of `n` arguments of a ufunc, the first of which
    are `inputs`, a tuple that differentiated code has read."""

    def arrange(_: tuple[Any, ...]) -> tuple[Any, ...]:
        return (None, *memory.take_items(inputs, len(inputs)), *(None,) * (n - len(inputs)))

    return arrange


def _asks_for_nothing(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Return whether the outputs and the mask of a ufunc are the defaults."""
    outs = (*args[f.nin :], kwargs.get("out"))
    return (
        all(out is None for out in outs)
        and kwargs.get("where", True) is True
        and kwargs.keys() <= {"out", "where"}
    )


def _of_classes(
    record: list[Any], slot: int, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Call a ufunc with keywords, of operands whose classes may convert its results."""
    if any(map(is_subclassed, args)):

        def apply(record: list[Any], slot: int, args: Any, kwargs: Any) -> Any:
            return _ufunc(record, slot, f, args, kwargs)

        return apply_to_plain(record, slot, f, apply, args, kwargs)
    if any(map(has_array_wrap, args)):
        return call_with_wrap(record, slot, f, args, kwargs)
    return DECLINED


def _into_all(
    record: list[Any], slot: int, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Call a ufunc with several results, some of which are written into given arrays."""
    memory: Memory = record[0]
    inputs, outputs = args[: f.nin], args[f.nin :]
    rest = {key: value for key, value in kwargs.items() if key not in ("out", "where")}
    outs = kwargs.get("out") or (*outputs, *(None,) * (f.nout - len(outputs)))

    def into_back(_: tuple[Any, ...]) -> tuple[Any, ...]:
        bars = memory.take_items(inputs, len(inputs))
        named = {name: memory.take_entry(rest, name) for name in rest}
        return (None, *bars, *(None,) * len(outputs), *map(named.get, kwargs))

    operands = (f, outs, inputs, rest)
    return linked(record, slot, into_back, call_function, ufunc_into_all, operands, NO_KEYWORDS)


_LAYOUT = frozenset({"dtype", "casting", "order", "subok"})
"""Keyword arguments for the casting of operands and the layout of the result."""

_AXES = frozenset({"axis", "axes", "keepdims"})
"""Keyword arguments for the axes of the operands of a generalized ufunc."""


def _method_descriptor(
    record: list[Any], slot: int, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Call an unbound method of C, such as ``list.append``."""
    if args and isinstance(args[0], f.__objclass__):
        rules = method_rules(f.__objclass__, f.__name__)
        if rules is not None:
            y = run_rules(record, slot, f, rules, args, kwargs)
            if y is not DECLINED:
                return y
    return run_unknown(record[0], record, slot, f, args, kwargs)


def _partial(
    record: list[Any], slot: int, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Call a `functools.partial`; cotangents of its stored arguments go to their shadows."""
    memory, n = record[0], len(f.args)
    merged = {**f.keywords, **kwargs}

    def arrange(bars: tuple[Any, ...]) -> tuple[Any, ...]:
        _, *given = bars
        for i in range(n):
            memory.add_item(f.args, i, given[i])
        named = dict(zip(merged, given[n + len(args) :], strict=True))
        for name in f.keywords:
            if name not in kwargs:
                memory.add_entry(f.keywords, name, named[name])
        return (None, *given[n : n + len(args)], *(named[name] for name in kwargs))

    return linked(record, slot, arrange, call_keywords, f.func, (*f.args, *args), merged)


def call_object(
    record: list[Any], slot: int, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Call any other object: of a class with ``__call__``, or of C."""
    if (python := python_of(f)) is not None:
        level = record[0].level
        if level is not None and is_closed_and_compiled(f):
            if not level.knows(*args, *kwargs.values()):
                return f(*args, **kwargs)
        return call_keywords(record, slot, python, args, kwargs)
    kind = _class_of_cython(f, args[0]) if args and is_cython(f) else None
    if kind is not None:
        rules = method_rules(kind, f.__name__)
    else:
        # A look-up would run ``__hash__`` or ``__eq__`` of user code. A named tuple may be equal to
        # the key of a method.
        own = FunctionType in (type(type(f).__hash__), type(type(f).__eq__))
        rules = None if own or isinstance(f, tuple) else lookup(f)
    if rules is not None:
        y = run_rules(record, slot, f, rules, args, kwargs)
        if y is not DECLINED:
            return y
    caller = special_of(type(f), "__call__")
    if type(caller) is FunctionType:
        arrange = _of_number(f) if by_value(f) else _without_first
        return linked(record, slot, arrange, call_keywords, caller, (f, *args), kwargs)
    if issubclass(type(f), type):
        return construct(record, slot, f, args, kwargs)
    rules = method_rules(type(f), "__call__")
    if rules is not None:
        y = linked(record, slot, _without_first, run_rules, caller, rules, (f, *args), kwargs)
        if y is not DECLINED:
            return y
    return _ruled_or_unknown(record, slot, f, None, args, kwargs)


def _class_of_cython(f: Any, obj: Any) -> type | None:
    """Return the class of `obj` or its base of which the Cython function `f` is a method."""
    for base in type(obj).__mro__:
        if vars(base).get(f.__name__) is f:
            return base
    return None


def _of_number(f: Any) -> Callable[[tuple[Any, ...]], tuple[Any, ...]]:
    """Return `_without_first` for a callee that is a number; refuse the callee's cotangent."""
    error = missing(
        f"a derivative of a '{type(f).__name__}' that is called is needed",
        "call its method by name: f.__call__(...)",
    )

    def arrange(bars: tuple[Any, ...]) -> tuple[Any, ...]:
        if bars[1] is not None and np.any(bars[1]):
            raise error
        return _without_first(bars)

    return arrange


def _without_first(bars: tuple[Any, ...]) -> tuple[Any, ...]:
    """Turn the cotangents of ``__call__(f, *args)`` into those of ``f(*args)``."""
    return (None, *bars[2:])


HANDLERS.update(
    {
        FunctionType: call_function,
        MethodType: _method_object,
        staticmethod: _static,
        BuiltinFunctionType: _builtin,
        types.MethodWrapperType: _builtin,
        types.MethodDescriptorType: _method_descriptor,
        types.WrapperDescriptorType: _method_descriptor,
        np.ufunc: _ufunc,
        _DISPATCHER: _named,
        functools.partial: _partial,
    }
)
