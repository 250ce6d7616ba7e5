"""What a call does: a rule if there is one, else the callee's own source, else it runs with a
poisoned result.

Every function here has the form ``(record, slot, …) -> value``: it runs the operation and leaves
its pullback in ``record[slot]``; ``record[0]`` is the memory. A slot that is left alone says that
the result carries no derivative.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from adjoint.errors import SourceError
from adjoint.rules.projection import REALS
from adjoint.rules.registry import Rules, direct, direct_rule, lookup, methods, table
from adjoint.run.accumulate import Poison
from adjoint.run.functions import call_unit, known_unit, unit_of
from adjoint.run.memory import ABSENT, Memory, swap_end
from adjoint.run.seal import seal, seal_direct, unruled_keyword
from adjoint.run.unknown import run_unknown

__all__ = [
    "DECLINED",
    "HANDLERS",
    "call",
    "call_keywords",
    "call_left",
    "call_right",
    "class_attribute",
    "linked",
    "method",
    "method_keywords",
    "method_rules",
    "run_closure_rules",
    "run_rules",
]

DECLINED: Any = object()
"""No rule was written for such arguments."""

NO_KEYWORDS: dict[str, Any] = {}
INERT = frozenset(
    {
        "inspect",
        "typing",
        "logging",
        "warnings",
        "re",
        "enum",
        "abc",
        "importlib",
        "threading",
        "ast",
        "tokenize",
        "linecache",
        "traceback",
        "contextvars",
        "weakref",
        "fractions",
        "numbers",
        "unittest",
        "pytest",
        "_pytest",
        "hypothesis",
    }
)
"""Packages of which nothing is lowered: they return no reals."""

COMPILED = ("numpy.fft", "scipy.fft")
"""Python that only prepares what gufuncs and C write into: of no use without rules of its own."""

OWN = tuple(
    f"adjoint.{part}"
    for part in (
        "api",
        "run",
        "transform",
        "frontend",
        "emit",
        "ir",
        "testing",
        "tangent",
        "rules.registry",
    )
)
"""The library itself, which is not differentiated."""


def call(record: list[Any], slot: int, f: Any, *args: Any) -> Any:
    """``f(*args)``."""
    kind = type(f)
    if kind is FunctionType:
        rules = table.get(f)
        if rules is None:
            return call_function(record, slot, f, args, NO_KEYWORDS)
        y = run_rules(record, slot, f, rules, args, NO_KEYWORDS)
        return call_function(record, slot, f, args, NO_KEYWORDS) if y is DECLINED else y
    if kind in _NAMED:
        try:
            known = direct[f]
        except KeyError:
            known = direct_rule(f)
        n = len(args)
        if known is not None and known[1] <= n <= known[2]:
            result = known[0](*args)
            if result is not NotImplemented:
                y, back = result
                n = len(args)
                if (
                    type(y) in REALS
                    and n < 3
                    and type(args[0]) in REALS
                    and type(args[-1]) in REALS
                ):

                    def scalar_back(y_bar: Any) -> Any:
                        if y_bar is None or type(y_bar) is Poison:
                            return (None, *(y_bar,) * n)
                        return back(y_bar)

                    record[slot] = scalar_back
                    return y
                sealed = seal_direct(record[0], y, back, args)
                if sealed is not None:
                    record[slot] = sealed
                    return y
    return HANDLERS.get(kind, call_object)(record, slot, f, args, NO_KEYWORDS)


def call_left(record: list[Any], slot: int, f: Any, a: Any, b: Any) -> Any:
    """``f(a, b)`` where `b` has no derivative."""
    return _call_one_sided(record, slot, f, a, b, 0)


def call_right(record: list[Any], slot: int, f: Any, a: Any, b: Any) -> Any:
    """``f(a, b)`` where `a` has no derivative."""
    return _call_one_sided(record, slot, f, a, b, 1)


def _call_one_sided(record: list[Any], slot: int, f: Any, a: Any, b: Any, side: int) -> Any:
    memory: Memory = record[0]
    if type(f) in _NAMED and not memory.globals_written:
        known = direct[f] if f in direct else direct_rule(f)
        sides = None if known is None else getattr(known[0], "only", None)
        if sides is not None and sides[side] is not None:
            result = sides[side](a, b)
            if result is not NotImplemented:
                y, back = result
                sealed = seal_direct(memory, y, back, (a, b))
                if sealed is not None:
                    record[slot] = sealed
                    return y
    return call(record, slot, f, a, b)


def call_keywords(
    record: list[Any], slot: int, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """``f(*args, **kwargs)``; the pullback returns the cotangents of the keyword arguments after
    the others."""
    if kwargs and type(f) in _NAMED:
        y = _direct_keywords(record, slot, f, args, kwargs)
        if y is not DECLINED:
            return y
    rules = table.get(f) if type(f) is FunctionType else None
    if rules is not None:
        y = run_rules(record, slot, f, rules, args, kwargs)
        if y is not DECLINED:
            return y
    return HANDLERS.get(type(f), call_object)(record, slot, f, args, kwargs)


def _direct_keywords(
    record: list[Any], slot: int, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """The fast lane of `call`, for keyword arguments that carry no derivative."""
    known = direct[f] if f in direct else direct_rule(f)
    if known is None or not known[1] <= len(args) <= known[2] or not known[3].issuperset(kwargs):
        return DECLINED
    for value in kwargs.values():
        if type(value) not in _SETTINGS:
            return DECLINED
    result = known[0](*args, **kwargs)
    if result is NotImplemented:
        return DECLINED
    y, back = result
    sealed = seal_direct(record[0], y, back, args)
    if sealed is None:
        return DECLINED
    none = (None,) * len(kwargs)
    record[slot] = lambda y_bar: (*sealed(y_bar), *none)
    return y


_SETTINGS = frozenset({int, bool, str, tuple, type(None)})
"""Types of axes, flags and modes."""


_NAMED = frozenset({BuiltinFunctionType, np.ufunc, type(np.mean)})
"""Types of callables of C that a rule is registered for by themselves."""


# ---- rules ---------------------------------------------------------------------------------------


def run_rules(
    record: list[Any],
    slot: int,
    f: Any,
    rules: Rules,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """Apply the first rule that takes such a call; `DECLINED` if there is none."""
    memory = record[0]
    if rules.primitive is not None:
        y = rules.primitive(record, slot, *args, **kwargs)
        if y is not NotImplemented:
            return y
    if rules.inactive:
        return f(*args, **kwargs)
    if rules.structural is not None:
        result = rules.structural(memory, *args, **kwargs)
        if result is not NotImplemented:
            y, back = result
            if back is not None:
                record[slot] = _fitted(back, len(args) + len(kwargs) + 1)
            return y
    y = run_closure_rules(record, slot, f, rules, args, kwargs)
    if y is DECLINED and rules.substitute is not None:
        return call_function(record, slot, rules.substitute, args, kwargs)
    return y


def _fitted(back: Callable[..., Any], n: int) -> Callable[..., Any]:
    """Structural rules return a cotangent for each argument that they know, given or not."""

    def fitted_back(y_bar: Any) -> tuple[Any, ...]:
        bars = back(y_bar)
        return bars if len(bars) == n else (*bars[:n], *(None,) * (n - len(bars)))

    return fitted_back


def run_closure_rules(
    record: list[Any],
    slot: int,
    f: Any,
    rules: Rules,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """Apply the first rule in closure form that takes such a call; `DECLINED` if there is none."""
    memory = record[0]
    for rule in rules.rrules:
        if rule.accepts(args, kwargs):
            if kwargs or rule.keyword_bars:
                y = _run_with_keywords(record, slot, f, rule, args, kwargs)
                if y is not DECLINED:
                    return y
                continue
            result = rule.function(*args)
            if result is not NotImplemented:
                y, back = result
                record[slot] = seal(memory, f, rule, y, back, args)
                return y
    return DECLINED


def _run_with_keywords(
    record: list[Any], slot: int, f: Any, rule: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    arranged, rest = rule.arrange(args, kwargs)
    result = rule.function(*arranged, **rest)
    if result is NotImplemented:
        return DECLINED
    memory = record[0]
    y, back = result
    keyword_bars: dict[str, Any] = {}
    if rule.keyword_bars:
        given = back

        def back(y_bar: Any) -> tuple[Any, ...]:
            *bars, named = given(y_bar)
            keyword_bars.clear()
            keyword_bars.update(named)
            return tuple(bars)

    sealed = seal(memory, f, rule, y, back, arranged)
    index = {name: i for i, name in enumerate(rule.names)}
    n = len(args)
    # What the rule says nothing about must not be lost in silence, should a derivative be asked
    # for.
    poisons = (
        {}
        if rule.keyword_bars
        else {
            name: Poison(unruled_keyword(f, name))
            for name, value in rest.items()
            if isinstance(value, float | complex | np.inexact)
            or (isinstance(value, np.ndarray) and value.dtype.kind in "fc")
        }
    )

    def keywords_back(y_bar: Any) -> tuple[Any, ...]:
        bars = sealed(y_bar)
        out = list(bars[: n + 1])
        for name in kwargs:
            if name not in rest:
                out.append(bars[index[name] + 1])
            elif rule.keyword_bars:
                out.append(keyword_bars.get(name))
            else:
                out.append(poisons.get(name) if y_bar is not None else None)
        return tuple(out)

    record[slot] = keywords_back
    return y


# ---- Python functions ----------------------------------------------------------------------------


def call_function(
    record: list[Any], slot: int, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """A Python function, by its own source."""
    unit = known_unit(f)
    if unit is None:
        return _first_call(record, slot, f, args, kwargs)
    return call_unit(record[0], record, slot, unit, f, args, kwargs)


def _first_call(
    record: list[Any], slot: int, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """A Python function that was not compiled yet: the rules of its library may not be loaded
    either."""
    known = f in table
    rules = lookup(f)
    if rules is not None and not known:
        y = run_rules(record, slot, f, rules, args, kwargs)
        if y is not DECLINED:
            return y
    module = f.__module__ or ""
    if module.partition(".")[0] in INERT or module.startswith((*OWN, *COMPILED)):
        return run_unknown(
            record[0],
            record,
            slot,
            f,
            args,
            kwargs,
            f"belongs to '{module}', which is left alone",
            trusted=True,
        )
    try:
        unit = unit_of(f)
    except SourceError as error:
        if f.__name__ == "__new__" and args and hasattr(args[0], "_field_defaults"):
            from adjoint.run.construct import new_named_tuple

            return new_named_tuple(record, slot, f, args, kwargs)
        return run_unknown(
            record[0], record, slot, f, args, kwargs, f"cannot be read ({error.problem})"
        )
    return call_unit(record[0], record, slot, unit, f, args, kwargs)


def _method_object(
    record: list[Any], slot: int, f: MethodType, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """A bound method that was read as a value before it is called."""
    return linked(
        record,
        slot,
        _owned_by(record[0], f),
        call_keywords,
        f.__func__,
        (f.__self__, *args),
        kwargs,
    )


def _owned_by(memory: Memory, f: Any) -> Callable[[tuple[Any, ...]], tuple[Any, ...]]:
    """The cotangent of the object that a method is bound to belongs to the bound method."""

    def arrange(bars: tuple[Any, ...]) -> tuple[Any, ...]:
        memory.add_entry(f, "__self__", bars[1])
        return (None, *bars[2:])

    return arrange


def _builtin(
    record: list[Any], slot: int, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """A function of a C module, or a method of a builtin type bound to an object."""
    owner = f.__self__
    if owner is None or type(owner) is ModuleType:
        rules = table.get(f) or lookup(f)
        return _ruled_or_unknown(record, slot, f, rules, args, kwargs)
    if isinstance(owner, type) and f.__name__ == "__call__":
        from adjoint.run.construct import construct

        return construct(record, slot, owner, args, kwargs, by_metaclass=False)
    if isinstance(owner, type) and f.__name__ == "fromkeys" and "fromkeys" not in vars(owner):
        from adjoint.rules.builtins.dicts import fromkeys_of

        operands = (owner, *args)
        return linked(record, slot, _without_first, call_keywords, fromkeys_of, operands, kwargs)
    if isinstance(owner, type):  # dict.fromkeys, object.__new__
        return _ruled_or_unknown(record, slot, f, lookup((owner, f.__name__)), args, kwargs)
    kind = _class_of_method(f, owner)
    rules = method_rules(kind, f.__name__)
    if rules is None:
        return run_unknown(record[0], record, slot, f, args, kwargs)
    y = linked(
        record,
        slot,
        _owned_by(record[0], f),
        run_rules,
        getattr(kind, f.__name__),  # not an override of it, where ``super()`` bound it
        rules,
        (owner, *args),
        kwargs,
    )
    return run_unknown(record[0], record, slot, f, args, kwargs) if y is DECLINED else y


def _class_of_method(f: Any, owner: Any) -> type:
    """The class whose method is bound: not that of the object where ``super()`` bound it."""
    if type(f) is types.MethodWrapperType:
        return f.__objclass__
    for base in type(owner).__mro__:
        if type(vars(base).get(f.__name__)) in C_METHODS:
            return base
    return type(owner)


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
    wrapped = getattr(f, "__wrapped__", None)
    if (
        type(wrapped) is FunctionType
    ):  # NumPy's functions written in Python stand under a C dispatcher
        return call_function(record, slot, wrapped, args, kwargs)
    return run_unknown(record[0], record, slot, f, args, kwargs)


def _named(
    record: list[Any], slot: int, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """A callable of a C type that rules know by itself: ufuncs, dispatchers, unbound methods."""
    rules = table.get(f)
    return _ruled_or_unknown(record, slot, f, lookup(f) if rules is None else rules, args, kwargs)


def _ufunc(
    record: list[Any], slot: int, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """A ufunc; with ``out`` or ``where`` it is a write of the result of the plain call."""
    for arg in args:
        override = class_attribute(type(arg), "__array_ufunc__")
        if type(override) is FunctionType:

            def as_given(bars: tuple[Any, ...]) -> tuple[Any, ...]:
                return (None, *bars[4:])

            operands = (arg, f, "__call__", *args)
            return linked(record, slot, as_given, call_keywords, override, operands, kwargs)
    if not kwargs and len(args) <= f.nin:
        return _named(record, slot, f, args, kwargs)
    from adjoint.rules.numpy.keywords import ufunc_as
    from adjoint.rules.numpy.out import ufunc_into

    out = kwargs.get("out")
    given = args
    if len(args) > f.nin:
        out, args = args[f.nin :] if f.nout > 1 else args[f.nin], args[: f.nin]
    if isinstance(out, tuple) and len(out) == 1:
        out = out[0]
    where = kwargs.get("where", True)
    rest = {key: value for key, value in kwargs.items() if key not in ("out", "where")}
    if (f.nout > 1 and out is not None) or (out is None and where is not True):
        return run_unknown(
            record[0], record, slot, f, given, kwargs, "has no rule for these keywords"
        )
    n = len(given) - len(args)
    if out is None and "dtype" in rest and set(rest) <= {"dtype", "casting", "order", "subok"}:

        def as_cast(_: tuple[Any, ...]) -> tuple[Any, ...]:
            return (None, *record[0].take_items(args, len(args)), *(None,) * (n + len(kwargs)))

        return linked(
            record, slot, as_cast, call_function, ufunc_as, (f, rest["dtype"], args), NO_KEYWORDS
        )
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
    inner = [record[0], None]
    names = [key for key in kwargs if key in rest]
    y = call_function(inner, 1, ufunc_into, (f, out, where, args, rest), NO_KEYWORDS)
    back, memory = inner[1], record[0]
    keys = list(kwargs)

    def out_back(y_bar: Any) -> tuple[Any, ...]:
        back(y_bar)
        bars = memory.take_items(args, len(args))
        named = {name: memory.take_entry(rest, name) for name in names}
        extra = [None] * n
        return (None, *bars, *extra, *(named.get(key) for key in keys))

    record[slot] = out_back
    return y


def _method_descriptor(
    record: list[Any], slot: int, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """``list.append`` and its like, called on the class."""
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
    """``functools.partial``: what it holds gets its cotangents in its shadow, by position and by
    name."""
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
    """Any other callable: an object of a class with ``__call__``, or something of C."""
    if args and _is_cython(f):
        rules = method_rules(type(args[0]), f.__name__)
    else:
        # An object with a hash or an equality of its own is not looked up: that would run the
        # user's code.
        own = FunctionType in (type(type(f).__hash__), type(type(f).__eq__))
        rules = None if own else lookup(f)
    if rules is not None:
        y = run_rules(record, slot, f, rules, args, kwargs)
        if y is not DECLINED:
            return y
    caller = class_attribute(type(f), "__call__")
    if type(caller) is FunctionType:
        return linked(
            record, slot, lambda bars: (None, *bars[2:]), call_keywords, caller, (f, *args), kwargs
        )
    if isinstance(f, type):
        from adjoint.run.construct import construct

        return construct(record, slot, f, args, kwargs)
    rules = method_rules(type(f), "__call__")
    if rules is not None:
        y = linked(record, slot, _without_first, run_rules, caller, rules, (f, *args), kwargs)
        if y is not DECLINED:
            return y
    return _ruled_or_unknown(record, slot, f, None, args, kwargs)


def _without_first(bars: tuple[Any, ...]) -> tuple[Any, ...]:
    """From the cotangents of ``__call__(f, *args)`` to those of ``f(*args)``."""
    return (None, *bars[2:])


# ---- methods -------------------------------------------------------------------------------------


def method_rules(kind: type, name: str) -> Rules | None:
    """The entry of a method of a builtin type, or of a type derived from it that does not override
    it."""
    known = methods.get(kind)
    if known is not None and (rules := known.get(name)) is not None:
        return rules
    for base in kind.__mro__:
        if name in vars(base):
            return lookup((base, name))
    return None


def class_attribute(kind: type, name: str, default: Any = None) -> Any:
    """What a class has under a name, without running a descriptor."""
    for base in kind.__mro__:
        known = base.__dict__
        if name in known:
            return known[name]
    return default


def _append(record: list[Any], slot: int, xs: list[Any], value: Any) -> None:
    """The rule of ``list.append``, for the loops that do little else."""
    memory: Memory = record[0]
    xs.append(value)
    position = memory.note(swap_end, xs.append, xs.pop, ABSENT)

    def append_back(_: Any) -> tuple[Any, ...]:
        memory.rewind(position)
        shadow = memory.shadows.get(id(xs))
        return None, None, None if shadow is None else shadow.pop()

    record[slot] = append_back


def method(record: list[Any], slot: int, obj: Any, name: str, *args: Any) -> Any:
    """``obj.name(*args)``; the pullback returns ``(None, obj_bar, *arg_bars)``."""
    if name == "append" and type(obj) is list and len(args) == 1:
        return _append(record, slot, obj, args[0])
    static = class_attribute(type(obj), name)
    if (
        type(static) is FunctionType
        and not isinstance(obj, type)
        and name not in getattr(obj, "__dict__", ())
    ):
        return call(record, slot, static, obj, *args)
    return method_keywords(record, slot, obj, name, args, NO_KEYWORDS)


def method_keywords(
    record: list[Any], slot: int, obj: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """``obj.name(*args, **kwargs)``."""
    kind = type(obj)
    if kind is ModuleType:
        return linked(
            record,
            slot,
            lambda bars: (None, *bars),
            call_keywords,
            getattr(obj, name),
            args,
            kwargs,
        )
    static = (
        class_attribute(kind, name) if not isinstance(obj, type) and kind is not super else None
    )
    if type(static) is FunctionType:
        if name not in getattr(obj, "__dict__", ()):
            return call_keywords(record, slot, static, (obj, *args), kwargs)
    elif type(static) in C_METHODS or _is_cython(static):
        rules = method_rules(kind, name)
        if rules is not None:
            y = run_rules(record, slot, static, rules, (obj, *args), kwargs)
            if y is not DECLINED:
                return y
    from adjoint.run.attributes import attribute

    read: list[Any] = [record[0], None]
    f = attribute(read, 1, obj, name)

    def combine(bars: tuple[Any, ...]) -> tuple[Any, ...]:
        # A function is an object: its cotangent is in memory, unless it is bound to a number or an
        # array.
        obj_bar = read[1](None)[1] if read[1] is not None else None
        return (None, obj_bar, *bars[1:])

    return linked(record, slot, combine, call_keywords, f, args, kwargs)


def linked(
    record: list[Any],
    slot: int,
    arrange: Callable[[tuple[Any, ...]], tuple[Any, ...]],
    run: Callable[..., Any],
    *operands: Any,
) -> Any:
    """Run as an inner call whose cotangents are re-arranged; linked beforehand, for an exception
    may leave it."""
    inner: list[Any] = [record[0], None]
    blank = record[slot]

    def linked_back(y_bar: Any) -> tuple[Any, ...]:
        back = inner[1]
        return blank(y_bar) if back is None else arrange(back(y_bar))

    record[slot] = linked_back
    y = run(inner, 1, *operands)
    if inner[1] is None:
        record[slot] = blank
    return y


def _is_cython(f: Any) -> bool:
    """Functions that Cython makes have a type of their own in each module."""
    return type(f).__name__ == "cython_function_or_method"


C_METHODS = frozenset(
    {types.MethodDescriptorType, types.WrapperDescriptorType, types.ClassMethodDescriptorType}
)

HANDLERS: dict[type, Any] = {
    FunctionType: call_function,
    MethodType: _method_object,
    BuiltinFunctionType: _builtin,
    types.MethodWrapperType: _builtin,
    types.MethodDescriptorType: _method_descriptor,
    types.WrapperDescriptorType: _method_descriptor,
    np.ufunc: _ufunc,
    type(np.mean): _named,
    functools.partial: _partial,
}
