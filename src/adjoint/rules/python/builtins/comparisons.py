"""C functions that compare or hash the elements of containers.

If ``__eq__``, ``__lt__`` or ``__hash__`` is written in Python and may store something, a substitute
in Python runs instead and is differentiated. If it cannot, C runs, and its callbacks are watched.
Keys of dicts and elements of sets are compared by C alone.
"""

from __future__ import annotations

import bisect
import operator
from collections import OrderedDict, deque
from types import FunctionType
from typing import Any

from adjoint.primal.childless_types import CHILDLESS_TYPES
from adjoint.rulekit.registry import entry, methods, non_differentiable, primitive, substitute
from adjoint.rules.python.builtins import (
    builtin_functions,
    deques,
    dicts,
    lists,
    ordered_dicts,
    sequences,
    sets,
)
from adjoint.runtime.dispatch.argument_mismatch import calls_rules
from adjoint.runtime.dispatch.linked import DECLINED, linked
from adjoint.runtime.dispatch.rule_call import run_structural
from adjoint.runtime.dispatch.source_call import call_function
from adjoint.runtime.foreign.native_call import run_monitored
from adjoint.runtime.foreign.user_code_reach import COMPARED, HASHED, UserMethods
from adjoint.runtime.operators.comparison import order

_RULES = (deques, dicts, builtin_functions, lists, ordered_dicts, sequences, sets)
"""Modules that register the rules wrapped here: they must be loaded first."""


_SET_OPERANDS = UserMethods("__hash__", "__eq__", "__iter__", "__next__")
"""Methods that a set calls on an operand and on its elements."""


def _wrap_rule(
    asks: UserMethods, key: Any, equivalent: Any = None, asked: slice | None = None
) -> None:
    """Wrap the rule of a C function that calls the methods `asks` of its operands.

    `equivalent` runs instead if one may store something. The slice `asked` selects the operands.
    """
    rules = entry(key)
    f: Any = getattr(*key) if isinstance(key, tuple) else key
    if rules.primitive is not None:
        return

    searches = isinstance(key, tuple) and key[1] == "__contains__" and asks is _SET_OPERANDS

    def run(record: list[Any], slot: int, /, *args: Any, **options: Any) -> Any:
        if searches and len(args) == 2 and type(args[1]) in CHILDLESS_TYPES:
            return f(*args)  # a key of a user class is compared only if the hashes agree
        given = (*args, *options.values()) if asked is None else args[asked]
        level = asks(*(_keys_of(given) if asks is HASHED else given))
        if level == 2 and equivalent is not None:
            return call_function(record, slot, equivalent, args, options)
        if rules.inactive:
            return (
                run_monitored(record, slot, f, f, args, options) if level else f(*args, **options)
            )
        if not level or rules.structural is None:
            return NotImplemented

        inner: list[Any] = [record[0], None]
        blank = record[slot]

        n = len(args) + len(options)

        def wrapped_back(y_bar: Any) -> Any:
            if inner[1] is not None:
                return inner[1](y_bar)
            return (None,) * (n + 1) if blank is None else blank(y_bar)

        def by_rule(*args: Any, **options: Any) -> Any:
            return run_structural(inner, 1, rules, args, options)

        record[slot] = wrapped_back
        y = run_monitored(inner, 1, f, by_rule, args, options)
        if y is not DECLINED:
            return y
        if inner[1] is None or rules.substitute is None:
            return NotImplemented

        def then_asked(bars: Any) -> Any:
            wrapped_back(None)
            return bars

        return linked(record, slot, then_asked, call_function, rules.substitute, args, options)

    primitive(key)(run)


def _keys_of(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Replace each unhashable dict that C reads directly by its keys, which may be hashed."""
    if not any(issubclass(type(value), dict) for value in values):
        return values
    return tuple(
        tuple(dict.__iter__(value)) if dicts.is_plain(value) and _is_no_key(value) else value
        for value in values
    )


def _is_no_key(value: Any) -> bool:
    return type(value).__hash__ is None


# ---- searches ------------------------------------------------------------------------------------


def _kind_of(xs: Any) -> Any:
    """Return the builtin base class of `xs`, or else its type."""
    for kind in (list, tuple, deque):
        if issubclass(type(xs), kind):
            return kind
    return type(xs)


non_differentiable(_kind_of)


def _elements(xs: Any) -> Any:
    kind = _kind_of(xs)
    return kind.__iter__(xs) if kind in (list, tuple, deque) else xs


def _search(xs: Any, value: Any) -> bool:
    for item in _elements(xs):
        if item is value or item == value:
            return True
    return False


def _count(xs: Any, value: Any) -> int:
    n = 0
    for item in _elements(xs):
        if item is value or item == value:
            n += 1
    return n


def _index(xs: Any, value: Any, start: Any = 0, stop: Any = None) -> int:
    first, end, _ = slice(start, stop).indices(len(xs))
    for i, item in enumerate(_elements(xs)):
        if first <= i < end and (item is value or item == value):
            return i
    if isinstance(xs, tuple):
        raise ValueError("tuple.index(x): x not in tuple")
    raise ValueError(f"{value!r} is not in {_kind_of(xs).__name__}")


def _remove(xs: Any, value: Any) -> None:
    kind = _kind_of(xs)
    for i, item in enumerate(kind.__iter__(xs)):
        if item is value or item == value:
            kind.__delitem__(xs, i)
            return
    if kind is list:
        raise ValueError("list.remove(x): x not in list")
    raise ValueError(f"{value!r} is not in deque")


def _index_of(xs: Any, value: Any) -> int:
    for i, item in enumerate(xs):
        if item is value or item == value:
            return i
    raise ValueError("sequence.index(x): x not in sequence")


for _kind in (list, tuple, deque, range):
    _wrap_rule(COMPARED, (_kind, "__contains__"), _search)
    _wrap_rule(COMPARED, (_kind, "count"), _count)
    _wrap_rule(COMPARED, (_kind, "index"), _index)
_wrap_rule(COMPARED, (list, "remove"), _remove)
_wrap_rule(COMPARED, (deque, "remove"), _remove)
_SEARCHED = UserMethods("__eq__", "__iter__", "__next__", "__getitem__")
_wrap_rule(_SEARCHED, operator.countOf, _count)
_wrap_rule(_SEARCHED, operator.indexOf, _index_of)
substitute(operator.contains)(_search)


# ---- two containers ------------------------------------------------------------------------------


def _sequences(kind: type, name: str, decide: Any, equal_sizes: Any) -> None:
    """Register a comparison of two sequences: of the first elements that differ, or of lengths."""

    def compare(xs: Any, ys: Any) -> Any:
        if not isinstance(ys, kind):
            return NotImplemented
        a, b = [*_elements(xs)], [*_elements(ys)]
        if equal_sizes is not None and kind is not tuple and len(a) != len(b):
            return equal_sizes
        for x, y in zip(a, b, strict=False):
            if not (x is y or x == y):
                return decide(x, y) if equal_sizes is None else equal_sizes
        return decide(len(a), len(b))

    _wrap_rule(COMPARED, (kind, name), compare)


for _kind in (list, tuple, deque):
    for _name in ("lt", "le", "gt", "ge"):
        _sequences(_kind, f"__{_name}__", getattr(operator, _name), None)
    _sequences(_kind, "__eq__", operator.eq, False)
    _sequences(_kind, "__ne__", operator.ne, True)


def _equal_dicts(a: Any, b: Any) -> Any:
    if not isinstance(b, dict):
        return NotImplemented
    if dict.__len__(a) != dict.__len__(b):
        return False
    for key, x in dict.items(a):
        if not dict.__contains__(b, key):
            return False
        y = dict.__getitem__(b, key)
        if not (x is y or x == y):
            return False
    return True


def _opposite(equal: Any) -> Any:
    """Return ``!=`` for `equal`, which is ``==``."""

    def unequal(a: Any, b: Any) -> Any:
        y = equal(a, b)
        return y if y is NotImplemented else not y

    return unequal


_wrap_rule(COMPARED, (dict, "__eq__"), _equal_dicts)
_wrap_rule(COMPARED, (dict, "__ne__"), _opposite(_equal_dicts))


def _equal_ordered(a: Any, b: Any) -> Any:
    equal = _equal_dicts(a, b)
    if equal is True and isinstance(b, OrderedDict):
        return [*OrderedDict.keys(a)] == [*OrderedDict.keys(b)]
    return equal


_wrap_rule(COMPARED, (OrderedDict, "__eq__"), _equal_ordered)
_wrap_rule(COMPARED, (OrderedDict, "__ne__"), _opposite(_equal_ordered))


def _in_items(items: Any, pair: Any) -> bool:
    if not isinstance(pair, tuple) or len(pair) != 2:
        return False
    for key, value in items:
        if (key is pair[0] or key == pair[0]) and (value is pair[1] or value == pair[1]):
            return True
    return False


_wrap_rule(COMPARED, (type({}.items()), "__contains__"), _in_items)


@substitute(operator.ne)
def _(a: Any, b: Any) -> Any:
    """Negate ``==``, as ``object.__ne__`` does."""
    y: Any = type(a).__eq__(a, b)  # type: ignore[call-arg]
    return y if y is NotImplemented else not y


# ---- orders --------------------------------------------------------------------------------------

primitive(builtin_functions._order)(order)


def _sort(xs: Any, *, key: Any = None, reverse: Any = False) -> None:
    values = [*list.__iter__(xs)]
    keys = values if key is None else [key(value) for value in values]
    places = builtin_functions._order(keys, bool(reverse))
    list.__setitem__(xs, slice(None), [values[i] for i in places])


_wrap_rule(UserMethods("__lt__", "__gt__", "__eq__", "__bool__"), (list, "sort"), _sort)


def _bisect_left(a: Any, x: Any, lo: Any = 0, hi: Any = None, *, key: Any = None) -> Any:
    if lo < 0:
        raise ValueError("lo must be non-negative")
    hi = len(a) if hi is None else hi
    while lo < hi:
        middle = (lo + hi) // 2
        value = a[middle] if key is None else key(a[middle])
        if value < x:
            lo = middle + 1
        else:
            hi = middle
    return lo


def _bisect_right(a: Any, x: Any, lo: Any = 0, hi: Any = None, *, key: Any = None) -> Any:
    if lo < 0:
        raise ValueError("lo must be non-negative")
    hi = len(a) if hi is None else hi
    while lo < hi:
        middle = (lo + hi) // 2
        value = a[middle] if key is None else key(a[middle])
        if x < value:
            hi = middle
        else:
            lo = middle + 1
    return lo


class _Bisecting(UserMethods):
    """`UserMethods` of a bisection, which may also call a key function."""

    def __call__(self, *values: Any) -> int:
        if any(type(value) is FunctionType or callable(value) for value in values):
            return 2
        return super().__call__(*values)


def _place(xs: list[Any], value: Any, right: bool) -> int | None:
    """Return where a number belongs, or None if the search meets a value that is no number."""
    low, high = 0, len(xs)
    while low < high:
        middle = (low + high) // 2
        item = xs[middle]
        if type(item) not in CHILDLESS_TYPES:
            return None
        if value < item if right else not item < value:
            high = middle
        else:
            low = middle + 1
    return low


def _among_numbers(f: Any, right: bool) -> None:
    asking: Any = entry(f).primitive

    @calls_rules
    def run(record: list[Any], slot: int, /, *args: Any, **options: Any) -> Any:
        if (
            len(args) == 2
            and not options
            and type(args[0]) is list
            and type(args[1]) in CHILDLESS_TYPES
        ):
            place = _place(*args, right)
            if place is not None:
                return place
        return asking(record, slot, *args, **options)

    primitive(f)(run)


_BISECTING = _Bisecting("__lt__", "__getitem__", "__len__")
for _f, _equivalent in ((bisect.bisect_left, _bisect_left), (bisect.bisect_right, _bisect_right)):
    entry(_f).inactive = True
    _wrap_rule(_BISECTING, _f, _equivalent)
    _among_numbers(_f, _f is bisect.bisect_right)


# ---- keys ----------------------------------------------------------------------------------------

_KEY, _OTHERS = slice(1, 2), slice(1, None)
_wrap_rule(HASHED, set)
_wrap_rule(HASHED, frozenset)
for _keyed in (dict, OrderedDict, set, frozenset):
    for _name, _rules in [*methods[_keyed].items()]:
        if _rules.structural is not None:
            _wrap_rule(HASHED, (_keyed, _name), None, _KEY if issubclass(_keyed, dict) else _OTHERS)
        elif _rules.inactive and _name not in ("keys", "values", "items", "__len__", "__repr__"):
            _wrap_rule(_SET_OPERANDS, (_keyed, _name))
