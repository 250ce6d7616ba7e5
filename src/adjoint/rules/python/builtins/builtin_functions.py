"""Builtin functions: those whose results are constant, and those that loop over an argument."""

from __future__ import annotations

import builtins
import functools
import operator
from types import FunctionType
from typing import Any

import numpy as np

from adjoint.ir.primitives import begin
from adjoint.primal.memo_by_class import ByClass
from adjoint.primal.value_kinds import REAL_NUMBERS, REALS, are_numbers
from adjoint.rulekit.lanes import lane
from adjoint.rulekit.registry import non_differentiable, primitive, structural, substitute
from adjoint.runtime.foreign.native_call import foreign_call
from adjoint.runtime.foreign.open_files import flush, note_file
from adjoint.runtime.foreign.user_code_reach import COMPARED
from adjoint.runtime.memory.memory import Memory

OF_BYTES = (
    "__contains__ __eq__ __ge__ __gt__ __hash__ __le__ __len__ __lt__ __ne__ __repr__ __str__"
    " count decode endswith find hex index isalnum isalpha isascii isdigit islower isspace istitle"
    " isupper rfind rindex startswith"
).split()
"""Methods of bytes that return neither bytes nor containers."""

for _name in (
    "len",
    "isinstance",
    "issubclass",
    "callable",
    "hasattr",
    "id",
    "hash",
    "ord",
    "chr",
    "str",
    "repr",
    "ascii",
    "bool",
    "bin",
    "hex",
    "oct",
    "type",
    "print",
    "range",
    "format",
    "dir",
    "input",
    "globals",
    "locals",
    "object",
    "property",
    "staticmethod",
    "classmethod",
    "vars",
    "__import__",
):
    non_differentiable(getattr(builtins, _name))
for _kind in (str, bytes, bytearray):
    for _name in dir(_kind) if _kind is str else OF_BYTES:
        if callable(getattr(_kind, _name)) and _name not in (
            "__class__",
            "__new__",
            "__init_subclass__",
            "__subclasshook__",
            "__getattribute__",
            "__init__",
        ):
            non_differentiable((_kind, _name))
non_differentiable((object, "__new__"))
non_differentiable((type, "mro"))
non_differentiable(
    operator.index,
    operator.length_hint,
    operator.countOf,
    operator.indexOf,
    functools.wraps,
    functools.total_ordering,
)


@primitive(functools.update_wrapper)
def _update_wrapper(
    record: list[Any], slot: int, /, wrapper: Any, wrapped: Any, *args: Any, **kwargs: Any
) -> Any:
    """Call it as it is if `wrapped` has no attributes of its own; else differentiate its source."""
    fields = vars(wrapped) if type(wrapped) is FunctionType and not args and not kwargs else None
    if fields is None or any(name != "__wrapped__" for name in fields):
        return NotImplemented
    return functools.update_wrapper(wrapper, wrapped)


@primitive(open)
def _open(record: list[Any], slot: int, /, *args: Any, **kwargs: Any) -> Any:
    """Open a file; flush files opened before, which may be the same."""
    memory: Memory = record[0]
    if memory.files:
        flush(memory)
    y = foreign_call(record, slot, open, args, kwargs)
    note_file(memory, y)
    return y


for _name in ("add_note", "with_traceback", "__str__", "__repr__"):
    non_differentiable((BaseException, _name))


@structural(sum)
def _(memory: Memory, xs: Any, /, start: Any = 0) -> Any:
    """Sum numbers by Python's `sum`, which compensates rounding errors from 3.12 on."""
    if not are_numbers(xs, start):
        return NotImplemented

    def sum_back(y_bar: Any) -> tuple[Any, ...]:
        if y_bar is not None:
            for i in range(len(xs)):
                memory.add_item(xs, i, y_bar)
        return None, None, y_bar

    return sum(xs, start), sum_back


@substitute(sum)
def _(xs: Any, /, start: Any = 0) -> Any:
    """Sum the leading numbers together, then add one value at a time.

    A value is added before the next is read, because that may be the same array, overwritten.
    """
    check_start(start)
    numbers: list[Any] = []
    items = begin(xs)
    for value in items:
        if is_other(value, start):
            total = (sum(numbers, start) if numbers else start) + value
            break
        numbers.append(value)
    else:
        return sum(numbers, start) if numbers else start
    for value in items:
        total = total + value
    return total


def is_other(value: Any, start: Any) -> bool:
    """Return whether `value` or `start` is not a real number of a builtin type."""
    return type(value) not in REAL_NUMBERS or type(start) not in REAL_NUMBERS


def check_start(start: Any) -> None:
    """Raise Python's error if `start` is text."""
    if isinstance(start, str | bytes | bytearray):
        sum((), start)  # Python's own message


non_differentiable(is_other, check_start)


@substitute(any)
def _(xs: Any, /) -> bool:
    for value in xs:
        if value:
            return True
    return False


@substitute(all)
def _(xs: Any, /) -> bool:
    for value in xs:
        if not value:
            return False
    return True


@substitute(sorted)
def _(xs: Any, /, *, key: Any = None, reverse: Any = False) -> Any:
    values = list(xs)
    if key is None:
        values.sort(reverse=bool(reverse))
        return values
    keys = [key(value) for value in values]
    return [values[i] for i in _order(keys, bool(reverse))]


def _order(keys: Any, reverse: Any) -> list[int]:
    """Return the indices that sort `keys`; comparisons carry no derivative."""
    return sorted(range(len(keys)), key=keys.__getitem__, reverse=reverse)


non_differentiable(_order)


class _Missing:
    """Stands for a default that was not given."""


_REAL = float | int | np.floating | np.integer | np.bool_

_is_of_plain_numbers = ByClass(lambda kind: issubclass(kind, _REAL) and not COMPARED.of(kind))


@non_differentiable
def is_no_number(value: Any) -> bool:
    """Return whether a comparison of `value` may run user code or raise."""
    return not _is_of_plain_numbers(type(value))


def _best(name: str, best: Any, better: Any) -> None:
    """Register ``min`` or ``max``: tied numbers share the derivative (design, section 5), except
    with a key, where the first has it.
    """

    def of_numbers(memory: Memory, /, *args: Any, **options: Any) -> Any:
        xs = args[0] if len(args) == 1 else args
        if (
            not args
            or options
            or type(xs) not in (list, tuple)
            or not all(map(_is_of_plain_numbers, {*map(type, xs)}))
        ):
            return NotImplemented
        y = best(xs)
        ties = [i for i, x in enumerate(xs) if x == y or x is y]

        def best_back(y_bar: Any) -> tuple[Any, ...]:
            bars: list[Any] = [None] * (len(args) + 1)
            if y_bar is not None:
                share = y_bar / len(ties)
                for i in ties:
                    if xs is args:
                        bars[i + 1] = share
                    else:
                        memory.add_item(xs, i, share)
            return tuple(bars)

        return y, best_back

    @non_differentiable
    def refuse_default() -> None:
        best(0, 0, default=0)  # Python's own message

    def of_any(first: Any, /, *others: Any, key: Any = None, default: Any = _Missing) -> Any:
        """Compare each value before the next is read, because a comparison may raise.

        Leading numbers are read together: their comparison cannot raise.
        """
        if others and default is not _Missing:
            refuse_default()
        items = begin((first, *others) if others else first)
        taken: list[Any] = []
        if key is None and not others:
            for value in items:
                taken.append(value)
                if is_no_number(value):
                    break
            else:
                if taken:
                    return best(*taken) if len(taken) > 1 else taken[0]
        chosen = chosen_key = _Missing
        for values in (taken, items):
            for value in values:
                compared = value if key is None else key(value)
                if chosen is _Missing or better(compared, chosen_key):
                    chosen, chosen_key = value, compared
        if chosen is not _Missing:
            return chosen
        if default is _Missing:
            raise ValueError(f"{name}() iterable argument is empty")
        return default

    @lane(best, 2)
    def of_two(record: list[Any], slot: int, a: Any, b: Any) -> Any:
        if type(a) not in REALS or type(b) not in REALS:
            return NotImplemented
        y = best(a, b)

        def best_back(y_bar: Any) -> tuple[Any, ...]:
            if y_bar is None:
                return None, None, None
            if a == b:
                return None, y_bar / 2, y_bar / 2
            return (None, y_bar, None) if y is a else (None, None, y_bar)

        record[slot] = best_back
        return y

    structural(best)(of_numbers)
    substitute(best)(of_any)


_best("min", min, operator.lt)
_best("max", max, operator.gt)


# ---- operator ------------------------------------------------------------------------------------


@substitute(operator.getitem)
def _(xs: Any, i: Any) -> Any:
    return xs[i]


@substitute(operator.concat)
def _(a: Any, b: Any) -> Any:
    return a + b


@substitute(operator.iconcat)
def _(a: Any, b: Any) -> Any:
    a += b
    return a


@substitute(operator.setitem)
def _(xs: Any, i: Any, value: Any) -> None:
    xs[i] = value


@substitute(operator.delitem)
def _(xs: Any, i: Any) -> None:
    del xs[i]


@substitute(operator.call)
def _(f: Any, /, *args: Any, **kwargs: Any) -> Any:
    return f(*args, **kwargs)
