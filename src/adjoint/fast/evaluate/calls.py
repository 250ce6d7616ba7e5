"""Calls by callee: handlers, rules, inlining, new objects, truth values."""

from __future__ import annotations

import functools
import operator
import re
from collections.abc import Callable, Sequence
from functools import partial
from types import FunctionType
from typing import Any

import numpy as np

from adjoint.fast.evaluate.attribute_reads import special_method
from adjoint.fast.evaluate.callees.arguments import by_position, up_to, without_nones
from adjoint.fast.evaluate.callees.constant_calls import (
    as_constants,
    computed,
    constant_of,
    design_of,
    designs,
    has_unknown_integer,
    is_of_constants,
    note_contents,
    result_of_constants,
)
from adjoint.fast.evaluate.callees.dispatching import call_dispatching
from adjoint.fast.evaluate.callees.domains import demand_in_domain
from adjoint.fast.evaluate.callees.handled import handled, is_plain_arithmetic
from adjoint.fast.evaluate.callees.library import (
    call_library,
    call_templated,
    is_library,
    without_overwriting,
)
from adjoint.fast.evaluate.callees.numpy_definitions import definitions
from adjoint.fast.evaluate.callees.opaque_calls import (
    is_of_user,
    opaque_call,
    restore,
    state_of,
)
from adjoint.fast.evaluate.callees.passing import divided, without_none
from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.handlers.cached_functions import CACHED, call_wrapper
from adjoint.fast.evaluate.handlers.list_operands import as_arrays, dispatches, float_arrays
from adjoint.fast.evaluate.handlers.strings import of_text
from adjoint.fast.evaluate.handlers.table import handlers
from adjoint.fast.evaluate.objects.derived import call_with_derived, derived_instance
from adjoint.fast.evaluate.objects.guards import is_own
from adjoint.fast.evaluate.objects.instances import instance
from adjoint.fast.evaluate.plain_classes import DATES, is_plain_class, is_plain_object
from adjoint.fast.evaluate.result_types.inferable_functions import is_inferable
from adjoint.fast.evaluate.result_types.ones import name_of
from adjoint.fast.evaluate.result_types.records import converted_operands
from adjoint.fast.evaluate.types import is_inexact
from adjoint.fast.evaluate.values import (
    Abstract,
    Bound,
    Closure,
    External,
    Flag,
    Known,
    Partial,
    Ref,
    Source,
    Tuple,
)
from adjoint.fast.evaluate.writes.array_writes import write_into
from adjoint.fast.not_covered import NotCovered, Raises
from adjoint.fast.support import functions as runtime
from adjoint.fast.support.opaque_functions import may_be_opaque
from adjoint.ir.single import Value
from adjoint.rulekit.registry import Rules, facts, lookup, plain
from adjoint.rules.python.evalpoly import evalpoly


def call(
    ev: Evaluator, callee: Abstract, args: Sequence[Abstract], keywords: dict[str, Abstract]
) -> Abstract:
    """Evaluate ``callee(*args, **keywords)``."""
    found = divided(ev, callee, args, keywords)
    if found is not None:
        return found
    args, keywords = without_none(ev, callee, args, keywords)
    match callee:
        case Known(value=value):
            return _call_known(ev, value, args, keywords)
        case Closure():
            f = callee.function
            if f is not None and (f in handlers or f in definitions or f in designs):
                return _call_known(ev, f, args, keywords)
            if callee.code in ev.outside.compiled and not _may_be_active(ev, args, keywords):
                return call_library(ev, ev.outside.compiled[callee.code], args, keywords)
            resolve = partial(ev.inline_any, callee)
            return _guarded(ev, f, args, keywords, resolve, callee.source)
        case Bound():
            return call(ev, callee.function, [callee.owner, *args], keywords)
        case Partial():
            return call(
                ev, callee.function, [*callee.args, *args], {**dict(callee.keywords), **keywords}
            )
        case External() | Ref():
            cls = ev.class_of(callee)
            if isinstance(callee, External) and lookup(callee.sample) is not None:
                raise NotCovered("an object that has a rule", ev.span)
            if isinstance(callee, External) and cls is CACHED:
                return call_wrapper(ev, callee, args, keywords)
            if isinstance(callee, External) and cls is FunctionType:
                return call_dispatching(ev, callee, args, keywords)
            if cls is not None and is_plain_object(cls):
                return call(ev, special_method(ev, cls, "__call__"), [callee, *args], keywords)
    raise NotCovered("a call of something that is not a function", ev.span)


def _may_be_active(ev: Evaluator, args: Sequence[Abstract], keywords: dict[str, Abstract]) -> bool:
    """Return whether an argument may be active: neither known nor a leaf without a wanted
    cotangent."""
    unwanted = [one for one in ev.outside.leaves if not ev.outside.is_wanted(one.source)]
    constants = {one.value for one in unwanted}
    return not all(isinstance(x, Known) or x in constants for x in (*args, *keywords.values()))


def _call_known(
    ev: Evaluator, f: Any, args: Sequence[Abstract], keywords: dict[str, Abstract]
) -> Abstract:
    """Evaluate a call of a known callee."""
    if not ev.attempts and is_plain_arithmetic(ev, f, args):
        return ev.infer(f, args)
    for x in args:
        if type(x) is Ref and derived_instance(ev, x) is not None:
            return call_with_derived(ev, f, args, lambda given: _call_with(ev, f, given, keywords))
    return _call_with(ev, f, args, keywords)


def _call_with(
    ev: Evaluator, f: Any, args: Sequence[Abstract], keywords: dict[str, Abstract]
) -> Abstract:
    if ev.attempts:
        demand_in_domain(ev, f, args)
    y = result_of_constants(ev, f, args, keywords)
    if y is not ... and (constant := constant_of(ev, y, args)) is not None:
        return constant
    if y is not ... and f in designs:
        made = design_of(ev, y, [*args, *keywords.values()])
        if made is not None:
            return made
    found = _guarded(ev, f, args, keywords, partial(_resolved, ev, f))
    if y is not ...:
        note_contents(ev, found, y, args)
    return found


def _guarded(
    ev: Evaluator,
    f: Any,
    args: Sequence[Abstract],
    keywords: dict[str, Abstract],
    resolve: Callable[[Sequence[Abstract], dict[str, Abstract]], Abstract],
    source: Source | None = None,
) -> Abstract:
    """Evaluate a call by `resolve`; write an opaque operation if that does not cover it: of `f`
    itself, so that the program relies on more than the code of what is read from `source`."""
    if not ev.frames or not (may_be_opaque(f) or is_of_user(ev, f)):
        return resolve(args, keywords)
    state = state_of(ev, f)
    is_constant = not keywords and is_of_constants(ev, f, args)
    try:
        found = resolve(args, keywords)
        if not is_constant or not has_unknown_integer(ev, found):
            return found
    except NotCovered as error:
        y = computed(ev, f, args) if is_constant else ...
        if y is ...:
            if not ev.nones.isdisjoint(x for x in (*args, *keywords.values()) if type(x) is Value):
                raise
            found = opaque_call(ev, state, f, args, keywords, error)
            _rely_on(ev, source, f)
            return found
    else:
        y = computed(ev, f, args)
        if y is ...:
            return found
    restore(ev, state)
    _rely_on(ev, source, f)
    return as_constants(ev, f, y)


def _rely_on(ev: Evaluator, source: Source | None, f: Any) -> None:
    """Guard that a function which is read from outside stays the same."""
    if source is not None:
        ev.outside.guard(source, "is", f)


def _resolved(
    ev: Evaluator, f: Any, args: Sequence[Abstract], keywords: dict[str, Abstract]
) -> Abstract:
    rules = lookup(f)
    if rules is not None and rules.overridden:
        raise NotCovered(f"{name_of(f)} has a rule from outside", ev.span)
    if keywords:
        keywords = without_overwriting(ev, keywords)
    try:
        found, converts = handlers.get(f), f in converted_operands
    except TypeError:
        found, converts = None, False
    module = getattr(f, "__module__", None)
    if converts or isinstance(f, np.ufunc) or module in ("numpy", "numpy.linalg"):
        args = as_arrays(ev, f, args)
        args, keywords = without_nones(f, args, keywords)
        where = keywords.get("where")
        if isinstance(where, Known) and where.value is True:  # as it is if it is not given
            keywords = {name: x for name, x in keywords.items() if name != "where"}
    if found is not None:
        return handled(ev, found, f, args, keywords)
    defined = _definition_of(f)
    if defined is not None:
        with ev.uncertain():  # it also raises for what it does not provide for
            return _defined(ev, f, defined, args, keywords)
    if type(f) is functools.partial:
        return _call_partial(ev, f, args, keywords)
    if isinstance(f, functools.partial):
        raise NotCovered("a function that an operator has returned", ev.span)
    folded, own = fold_known(f, args, keywords), getattr(f, "__self__", None)
    if type(own) is frozenset and f == own.__contains__:
        return ev.call(Known(operator.contains), [Known(own), *args], keywords)
    if folded is None and type(own) is str:
        folded = of_text(ev, f, args, keywords)
    if folded is not None:
        return folded
    if issubclass(type(f), type):
        if rules is not None and rules.substitute is not None and f.__module__ in _WITHOUT_STATE:
            made = _defined(ev, f, rules.substitute, args, keywords)
            # a function in place of an object, whose class programs do not know
            return Partial(made, (), ()) if isinstance(made, Closure) else made
        return instance(ev, f, args, keywords)
    if is_inferable(f) or is_library(f, rules):
        args, keywords = float_arrays(ev, f, args, keywords)
    if keywords:
        args, keywords = by_position(ev, f, args, keywords)
    if is_inferable(f) or is_library(f, rules):
        args, keywords = without_nones(f, args, keywords)
    if is_inferable(f):
        return infer_call(ev, f, args, keywords)
    if is_library(f, rules):
        return call_library(ev, f, args, keywords)
    if type(f) is FunctionType:
        return _function(ev, f, rules, args, keywords)
    if rules is not None and rules.substitute is not None:
        return _defined(ev, f, rules.substitute, args, keywords)
    itself = getattr(f, "_implementation", None)
    if rules is None and type(itself) is FunctionType:
        if not dispatches(ev, (*args, *keywords.values())):
            return _defined(ev, f, itself, args, keywords)
    raise NotCovered(f"a call of {name_of(f)}", ev.span)


def _call_partial(
    ev: Evaluator, f: Any, args: Sequence[Abstract], keywords: dict[str, Abstract]
) -> Abstract:
    """Call a partial that was made at specialisation, such as ``dataclass(frozen=True)``."""
    named = {k: ev.outside.own(x) for k, x in f.keywords.items()}
    return call(ev, Known(f.func), [*map(ev.outside.own, f.args), *args], {**named, **keywords})


_FOLDED = (int, float, bool, complex, str, tuple, type(None), np.dtype, slice, range, bytes, *DATES)


def _is_folded(value: Any) -> bool:
    return is_plain_class(value) if isinstance(value, type) else isinstance(value, _FOLDED)


def fold_known(f: Any, args: Sequence[Abstract], keywords: dict[str, Abstract]) -> Abstract | None:
    """Call a pure function of known values; ``None`` if it may not be folded."""
    for x in args:
        if not isinstance(x, Known):  # the most frequent case
            return None
    if getattr(f, "__module__", None) not in _OF_PURE and f not in _PURE:
        if type(getattr(f, "__self__", None)) not in (re.Match, re.Pattern, *DATES):
            return None
    values = [*args, *keywords.values()]
    if not all(isinstance(x, Known) and _is_folded(x.value) for x in values):
        return None
    if f not in _TESTS and any(isinstance(x, Flag) for x in values):
        raise NotCovered("a truth value as a number")
    given = [x.value for x in args]  # type: ignore[union-attr]
    try:
        if not keywords and all(type(x) is int or type(x) is float for x in given):
            return Known(f(*given))  # NumPy takes no part
        with np.errstate(all="raise"):
            return Known(f(*given, **{k: x.value for k, x in keywords.items()}))  # type: ignore[union-attr]
    except FloatingPointError:  # NumPy warns when it is run
        return None
    except Exception as error:
        raise Raises(type(error), f"a call that raises {type(error).__name__}") from None


_TESTS = frozenset(
    {operator.eq, operator.ne, operator.not_, operator.truth, operator.is_, operator.is_not, str}
)
_OF_STRINGS = {name for name in dir(str) if not name.startswith(("__", "format", "join"))}
_OF_PURE = ("_operator", "math", "cmath", "numpy.lib.array_utils")
_PURE = frozenset(
    {abs, divmod, pow, round, min, max, len, str, repr, np.dtype, *DATES}
    | {getattr(str, name) for name in _OF_STRINGS}
)


def infer_call(
    ev: Evaluator, f: Any, args: Sequence[Abstract], keywords: dict[str, Abstract]
) -> Abstract:
    """Write a call of `f`, whose result type follows from the types of the operands."""
    named = {k: x for k, x in keywords.items() if not _is_default(k, x)}
    if isinstance(f, np.ufunc) and len(args) == f.nin + 1:
        args, named["out"] = args[:-1], args[-1]
    if "out" in named:
        if getattr(f, "__module__", None) == "numpy.fft":  # some transforms do not write to it
            raise NotCovered(f"{name_of(f)} with an array to write to", ev.span)
        return write_into(ev, f, args, named)
    if named.keys() & {"where", "initial"}:
        f = _OF_METHODS.get(f, f)
    last = next((name for name in ("initial", "ddof") if name in named), None)
    if last is not None:
        f = _OF_METHODS.get(f, f)
        args = up_to(last, f, args, named)
    if isinstance(f, np.ufunc) and "where" in named:
        raise NotCovered(f"{name_of(f)} of some elements only", ev.span)
    if named.keys() & {"casting", "order", "like"}:
        raise NotCovered(f"an option of {name_of(f)}", ev.span)
    return ev.infer(f, args, tuple(named.items()))


def _is_default(name: str, x: Abstract) -> bool:
    """Return whether an option has the value that it has if it is not given, or no effect."""
    if not isinstance(x, Known):
        return False
    if name == "order":
        return x.value in (None, "C")
    return (
        name == "subok"
        or (name == "where" and x.value is True)
        or (name == "out" and x.value is None)
    )


_OF_METHODS = {
    getattr(np.ndarray, name): getattr(np, name)
    for name in "sum prod mean max min var std any all".split()
}
"""The function of the name of a method, whose rule has all options."""


def _definition_of(f: Any) -> Any:
    try:
        return definitions.get(f)
    except TypeError:
        return None


_WITHOUT_STATE = ("itertools", "operator")
"""Modules of classes for which functions and generators can stand."""
MOST_NESTED = 4
"""Deepest recursion of a definition."""
_AS_IT_IS = plain(len).__code__
"""The code of `plain`, by which a definition calls the function that it stands for."""


def _defined(
    ev: Evaluator, f: Any, meaning: Any, args: Sequence[Abstract], keywords: dict[str, Abstract]
) -> Abstract:
    """Inline the function that a call of `f` stands for."""
    depth = sum(frame.code is meaning.__code__ for frame in ev.frames)
    if depth > MOST_NESTED or (ev.frames and ev.frames[-1].code is _AS_IT_IS):
        raise NotCovered(f"a call of {name_of(f)}", ev.span)
    try:
        return ev.inline(ev.outside.own(meaning), args, keywords)  # type: ignore[arg-type]
    except NotCovered as error:
        if error.filename is None and type(error) is NotCovered:
            raise NotCovered(f"a call of {name_of(f)}: {error.reason}", ev.span) from None
        raise


def _function(
    ev: Evaluator,
    f: FunctionType,
    rules: Rules | None,
    args: Sequence[Abstract],
    keywords: dict[str, Abstract],
) -> Abstract:
    """Evaluate a call of a known Python function, according to its rules."""
    if rules is None:
        return ev.inline(ev.outside.own(f), args, keywords)  # type: ignore[arg-type]
    if rules.substitute is not None:
        return _defined(ev, f, rules.substitute, args, keywords)
    if rules.structural is not None or rules.primitive is not None:
        raise NotCovered(f"a call of {name_of(f)}", ev.span)
    closure = ev.outside.own_closure(f)
    template = vars(f).get("template") if is_own(f.__globals__) else None
    if template is not None:
        return call_templated(ev, f, ev.outside.own_closure(template), args, keywords)
    if f in DECOMPOSED and not _is_constant_polynomial(ev, args):
        return ev.inline(closure, args, keywords)
    if f in facts and len(args) == 1 and isinstance(args[0], External) and not keywords:
        return ev.outside.fact(args[0], f)
    if rules.inactive or not rules.rrules:
        if not is_own(f.__globals__):
            raise NotCovered(f"{name_of(f)} is not differentiable", ev.span)
        made = ev.inline(closure, args, keywords)
        return _constants(ev, f, made) if rules.inactive else made
    # The reverse sweep calls the rule; a trial run of the source of `f` gives the result type.
    heap, written = ev.heap, set(ev.written)
    with ev.trial():
        known = ev.inline(closure, args, keywords)
        if ev.written - written or any(ev.heap[at] is not held for at, held in heap.items()):
            raise NotCovered(f"{name_of(f)} has a rule, and changes something", ev.span)
    if not isinstance(known, Value):
        raise NotCovered(f"{name_of(f)} has a rule, and returns a structure", ev.span)
    operands = tuple(map(ev.operand, args))
    named = tuple((k, ev.operand(v)) for k, v in keywords.items())
    return ev.operation(f, operands, ev.types[known], named)


def _constants(ev: Evaluator, f: Any, a: Abstract) -> Abstract:
    """Return the result of a function that is not differentiable, without derivatives."""
    if isinstance(a, Tuple):
        return Tuple(tuple(_constants(ev, f, x) for x in a.items), a.kind)
    if isinstance(a, Value):
        t = ev.types[a]
        return ev.operation(runtime.constant, (a,), t) if is_inexact(t) else a
    if not isinstance(a, Known):
        raise NotCovered(f"{name_of(f)} is not differentiable, and returns a structure", ev.span)
    return a


DECOMPOSED = frozenset({evalpoly})
"""Functions that are inlined although they have a rule: as exact, and faster."""


def _is_constant_polynomial(ev: Evaluator, args: Sequence[Abstract]) -> bool:
    """Return whether a polynomial has at most one coefficient: then its source has no path from
    the variable to the result, whose derivative is zero."""
    a = args[1] if len(args) == 2 else None
    if isinstance(a, Value):
        return getattr(ev.types[a], "shape", ())[:1] == (1,)
    items = None if a is None else ev.sequence(a)
    return items is not None and len(items) < 2
