"""Result types of operations, found by running the operations on witnesses.

For the functions of `inferable_functions`, the dtype and the rank of the result depend only on the
dtypes, the ranks and the options. They are called on small arrays of ones, three times, with
different lengths in place of the symbolic dimensions; the lengths of the results identify the
symbols.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np

from adjoint.fast.evaluate.result_types.inferable_functions import (
    ELEMENTWISE,
    POWERS,
    is_inferable,
    most_operands,
)
from adjoint.fast.evaluate.types import (
    INTEGERS_OR_FLOATS,
    Array,
    Dim,
    IntegersOrFloats,
    Number,
    Symbol,
    Type,
    is_covered,
    join,
    number,
    witnesses,
)
from adjoint.fast.not_covered import NotCovered, UnknownSizes

_LENGTHS = (
    (3, 7, 19, 5, 11, 23, 13, 17),
    (11, 5, 13, 29, 3, 7, 17, 19),
    (12, 9, 22, 31, 15, 26, 20, 24),
)
"""Lengths of the symbolic dimensions in the three runs: in the last one each is longer than in the
others, so that no sum of lengths is the same in all."""

_INTEGERS = (2, 4, 5)
"""Values of unknown integers in the three runs; a length that follows them is not known."""

_CUTTING: frozenset[Any] = frozenset({np.arange, np.diag, np.diff})
"""Functions that shorten their operand by an amount that depends on values."""
_MOST_CUT = 1000


def result_type(
    f: Callable[..., Any],
    operands: Sequence[Type | Constant],
    keywords: Mapping[str, Type | Constant],
) -> Type | tuple[Type, ...]:
    """Return the type of ``f(*operands, **keywords)``.

    Raises
    ------
    NotCovered
        The type depends on more than the types of the operands, or `f` is not covered.
    """
    if not is_inferable(f):
        raise NotCovered(f"{name_of(f)} has no known result type")
    if len(operands) > most_operands(f):
        raise NotCovered(f"{name_of(f)} with an array to write to")
    if not keywords and all(isinstance(t, Number | Constant) for t in operands):
        known = _kinds(f, operands)
        if known is not None:
            _of_numbers[(f, *map(_canonical, operands))] = known
            return known
    if not keywords and f in ELEMENTWISE:
        by_shapes = _elementwise(f, operands)
        if by_shapes is not None:
            return by_shapes
    symbols = sizes_in((*operands, *keywords.values()))
    if getattr(f, "__name__", None) == "squeeze" and any(not s.is_argument for s in symbols):
        axis = keywords.get("axis", operands[1] if len(operands) > 1 else None)
        if axis is None or (isinstance(axis, Constant) and axis.value is None):
            raise NotCovered("squeeze of axes that may have one element or not")
    found = {
        _shaped(f, one, keywords, symbols)
        for one in itertools.product(*map(_alternatives, operands))
    }
    if len(found) > 1 and all(isinstance(t, Number) for t in found):  # beside a length
        return Number(frozenset().union(*(t.kinds for t in found)))
    if len(found) > 1 and any(isinstance(t, IntegersOrFloats) for t in operands):
        joined: Type | None = reduce(lambda a, b: a and join(a, b), found)
        if joined is not None:
            return joined
    if len(found) > 1:
        raise NotCovered(f"{name_of(f)} of numbers of several classes beside an array")
    (only,) = found
    return only  # type: ignore[no-any-return]


def _elementwise(f: Any, operands: Sequence[Type | Constant]) -> Type | None:
    """Return the type of an elementwise function of at least one array; ``None`` where the shapes
    do not fit or the operands leave their dtypes open.

    The shape is that of broadcasting; the class and the dtype are those of a call on operands of
    the same ranks in which every length is 1.
    """
    key: list[Any] = [f]
    for t in operands:
        if type(t) is Array:
            key.append((t.dtype, len(t.shape)))
        elif type(t) is Number and len(t.kinds) == 1:
            key.append(t.kinds)
        elif type(t) is Constant and isinstance(t.value, _SCALARS):
            key.append(kind_of_constant(t.value))
        else:
            return None
    shape = _broadcast([t.shape for t in operands if type(t) is Array])
    if shape is None:
        return None
    of_ones = _of_ones.get(tuple(key))
    if of_ones is None:
        flat = [Array(t.dtype, (1,) * len(t.shape)) if type(t) is Array else t for t in operands]
        of_ones = _of_ones[tuple(key)] = _shaped(f, flat, {}, [])
    return Array(of_ones.dtype, shape) if type(of_ones) is Array else of_ones


_SCALARS = (int, float, complex, np.number, np.bool_)
_of_ones: dict[Any, Any] = {}
"""Types of results of elementwise functions where all lengths are 1."""


def _broadcast(shapes: Sequence[tuple[Dim, ...]]) -> tuple[Dim, ...] | None:
    """Return the shape that shapes are broadcast to, or ``None``."""
    found: list[Dim] = []
    for dims in itertools.zip_longest(*(shape[::-1] for shape in shapes), fillvalue=1):
        longer = {dim for dim in dims if dim != 1}
        if len(longer) > 1:
            return None
        found.append(longer.pop() if longer else 1)
    return tuple(found[::-1])


def known_of_numbers(key: Iterable[Any]) -> Number | None:
    """Return a cached `result_type` of numbers; `key` holds the function, then the classes or the
    `kind_of_constant` of each operand."""
    return _of_numbers.get(tuple(key))


def _alternatives(t: Any) -> list[Any]:
    """Return a type with several classes or dtypes as one type for each."""
    if isinstance(t, Number) and len(t.kinds) > 1:
        return [number(kind) for kind in t.kinds]
    if isinstance(t, IntegersOrFloats):
        return [Array(dtype, t.shape) for dtype in INTEGERS_OR_FLOATS]
    return [t]


def _shaped(f: Any, operands: Any, keywords: Any, symbols: list[Symbol]) -> Any:
    """Return the type of a result of operands that include arrays or lengths."""
    further = _cut_off(f, (*operands, *keywords.values()))
    lengths = example_lengths(f, symbols, _LENGTHS)
    lengths[-1] = {symbol: n + further for symbol, n in lengths[-1].items()}
    found = type_on_examples(
        f, operands, keywords, lengths, lambda t, i: _witness(t, lengths[i], _INTEGERS[i])
    )
    return _loosened(f, operands, keywords, found) if symbols and f in _CUTTING else found


def example_lengths(
    f: Any, symbols: Sequence[Symbol], lengths: Sequence[Sequence[int]]
) -> list[dict[Symbol, int]]:
    """Return the lengths of symbolic dimensions in each run on examples."""
    if len(symbols) > len(lengths[0]):
        raise NotCovered(f"too many dimensions in a call of {name_of(f)}")
    return [dict(zip(symbols, run, strict=False)) for run in lengths]


def type_on_examples(
    f: Any,
    operands: Sequence[Any],
    keywords: Mapping[str, Any],
    lengths: Sequence[Mapping[Symbol, int]],
    example: Callable[[Any, int], Any],
) -> Any:
    """Return the type of ``f(*operands, **keywords)`` from one run for each of `lengths`;
    ``example(t, i)`` returns an operand of type `t` for run `i`."""
    results = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a warning may be due to the made-up sizes only
        for i, at in enumerate(lengths):
            args = [example(t, i) for t in operands]
            kwargs = {k: example(t, i) for k, t in keywords.items()}
            results.append(_run(f, args, kwargs, is_made_up=bool(at)))
    return combined_type(f, results, [{n: symbol for symbol, n in at.items()} for at in lengths])


def _loosened(f: Any, operands: Any, keywords: Any, found: Any) -> Any:
    """Replace lengths of a result of a `_CUTTING` function by new symbols, unless they follow from
    the operand: examples do not tell the length at other sizes."""
    shape: tuple[Any, ...] = found.shape
    kept: Sequence[bool] = [False] * len(shape)
    if f is np.arange:
        from_zero = len(operands) == 2 and getattr(operands[0], "value", None) == 0
        kept = [(len(operands) == 1 or from_zero) and not keywords]
    elif operands and f is np.diag:
        kept = [len(operands[0].shape) == 1] * len(shape)
    elif operands:
        is_known = all(isinstance(t, Constant) for t in (*operands[1:], *keywords.values()))
        whole = operands[0].shape
        kept = [
            n == m or (is_known and isinstance(m, int)) for n, m in zip(shape, whole, strict=True)
        ]
    return Array(
        found.dtype, tuple(n if k else _of_result() for n, k in zip(shape, kept, strict=True))
    )


def _of_result() -> Symbol:
    return Symbol(f"n{next(_numbers)}", is_argument=False)


def _cut_off(f: Any, operands: Sequence[Any]) -> int:
    """Return the most that `f` may shorten its operand by, according to its known operands."""
    if f not in _CUTTING:
        return 0
    known = [t.value for t in operands if isinstance(t, Constant)]
    most = max((abs(x) for x in known if isinstance(x, int | float)), default=0)
    if most > _MOST_CUT:
        raise NotCovered(f"{name_of(f)} with a number as large as that")
    return int(most)


def sizes_in(operands: Iterable[Any]) -> list[Symbol]:
    """Return the symbolic dimensions in the types of operands."""
    symbols: dict[Symbol, None] = {}
    for t in operands:
        if isinstance(t, tuple | Array):
            symbols |= dict.fromkeys(sizes_in(t if isinstance(t, tuple) else t.shape))
        elif isinstance(t, Symbol):
            symbols[t] = None
    return list(symbols)


class Constant:
    """The type of an operand whose value is known."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value: Any = value


_of_numbers: dict[Any, Number] = {}
"""Result types by function and types of its operands, which are numbers."""


def _canonical(t: Any) -> Any:
    return t.kinds if type(t) is Number else kind_of_constant(t.value)


def kind_of_constant(value: Any) -> Any:
    """Return the properties of a constant that decide result types: class, sign, being whole."""
    if type(value) is int or type(value) is float:
        return type(value), value > 0, value == 0, value == int(value) if value - value == 0 else 2
    return type(value), repr(value)


def name_of(f: Any) -> str:
    return getattr(f, "__qualname__", None) or getattr(f, "__name__", None) or repr(f)


def _kinds(f: Any, operands: Sequence[Any]) -> Number | None:
    """Return the type of a result of numbers, over all combinations of their classes."""
    values = [[t.value] if isinstance(t, Constant) else witnesses(t) for t in operands]
    kinds: set[type] = set()
    for combination in itertools.product(*values):
        y = _within(f, operands, combination)
        if isinstance(y, tuple | np.ndarray):
            return None
        kinds.add(type(y))
        if f in POWERS and not any(isinstance(x, np.generic | complex) for x in combination):
            kinds |= _of_power(operands, combination)
    for kind in kinds:
        if not is_covered(kind):
            raise NotCovered(f"{name_of(f)} returns {kind.__name__}")
    return Number(frozenset(kinds))


def _within(f: Any, operands: Any, combination: Any) -> Any:
    """Return the result for one combination; try smaller floats where `math` rejects it."""
    try:
        return _run(f, list(combination), {})
    except NotCovered:
        small = [
            x / 3 if isinstance(t, Number) and isinstance(x, float) else x
            for t, x in zip(operands, combination, strict=True)
        ]
        if getattr(f, "__module__", None) != "math" or small == list(combination):
            raise
        return _run(f, small, {})


def _of_power(operands: Any, combination: Any) -> set[type]:
    """Return further classes that a power of Python real numbers may have."""
    a, b = combination[:2]
    exponent = operands[1]
    if isinstance(exponent, Constant):
        whole = isinstance(b, int) or float(b).is_integer()
        return set() if whole or (isinstance(operands[0], Constant) and a >= 0) else {complex}
    if isinstance(b, int):
        return {float} if isinstance(a, int) else set()
    return set() if isinstance(operands[0], Constant) and a >= 0 else {complex}


def _witness(t: Any, at: Mapping[Any, int], integer: int) -> Any:
    if isinstance(t, Constant):
        return t.value
    if isinstance(t, tuple):
        return tuple(_witness(part, at, integer) for part in t)
    if isinstance(t, Array):
        return np.ones([at.get(d, d) for d in t.shape], t.dtype)
    if isinstance(t, Symbol):
        return at[t]
    if isinstance(t, Number):
        found = witnesses(t, integer)
        if not found:
            raise NotCovered("an item of a list that is empty so far")
        if len({np.asarray(x).dtype for x in found}) > 1:
            raise NotCovered("numbers of several classes in an array")
        return found[0]
    raise NotCovered("an operand is neither a number nor an array")


def _run(f: Any, args: list[Any], kwargs: dict[str, Any], *, is_made_up: bool = False) -> Any:
    """Call `f` with examples; `is_made_up`: a ValueError may be due to their sizes."""
    try:
        with np.errstate(all="ignore"):
            if any(map(_is_complex, args)):
                return _run_complex(f, args, kwargs)
            return f(*args, **kwargs)
    except Exception as error:
        if is_made_up and isinstance(error, ValueError):
            raise UnknownSizes(name_of(f)) from None
        raise NotCovered(f"{name_of(f)} does not take such operands: {error}") from None


def _is_complex(x: Any) -> bool:
    if isinstance(x, tuple):
        return any(map(_is_complex, x))
    return isinstance(x, complex) or getattr(getattr(x, "dtype", None), "kind", "") == "c"


def _run_complex(f: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """Call `f`; raise if it discards imaginary parts, which NumPy only warns about."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", np.exceptions.ComplexWarning)
        return f(*args, **kwargs)


def combined_type(f: Any, examples: Sequence[Any], backs: Sequence[Mapping[int, Symbol]]) -> Any:
    """Return the type of a result from examples at several lengths; `backs` map the lengths of each
    example to symbolic dimensions."""
    one, *others = examples
    if isinstance(one, tuple):
        if type(one) is not tuple:
            raise NotCovered(f"{name_of(f)} returns a {type(one).__name__}")
        if any(len(one) != len(other) for other in others):
            raise NotCovered(f"{name_of(f)} returns as many things as there are elements")
        return tuple(combined_type(f, parts, backs) for parts in zip(*examples, strict=True))
    kind = type(one)
    if any(type(other) is not kind for other in others):
        raise NotCovered(f"{name_of(f)} returns one thing or another")
    if is_covered(kind):
        return number(kind)
    if (
        kind is not np.ndarray
        or not is_covered(one.dtype.type)
        or any(one.ndim != other.ndim for other in others)
    ):
        raise NotCovered(f"{name_of(f)} returns a {kind.__name__}")
    shape: list[Dim] = []
    for lengths in zip(*(example.shape for example in examples), strict=True):
        symbols = [back.get(n) for n, back in zip(lengths, backs, strict=True)]
        if symbols[0] is not None and all(symbol is symbols[0] for symbol in symbols):
            shape.append(symbols[0])
        elif len({*lengths}) == 1:
            shape.append(lengths[0])
        else:
            shape.append(_of_result())
    return Array(one.dtype, tuple(shape))


_numbers = itertools.count()
