"""Records of the shapes of results agree with the functions, whatever the lengths are.

The type of each call is found once; then the function is called at several lengths.
"""

from __future__ import annotations

import itertools
import math
import operator
import warnings

import numpy as np
import pytest

from adjoint.fast.evaluate.result_types.inference import result_type
from adjoint.fast.evaluate.result_types.ones import Constant
from adjoint.fast.evaluate.result_types.records import Several, records
from adjoint.fast.evaluate.types import Array, IntegersOrFloats, Number, Symbol, number
from adjoint.fast.not_covered import NotCovered, UnknownSizes
from tests.fast.result_type_cases import SYMBOLS, TABLE, typed, valued

DTYPES = "float64 float32 float16 int64 bool complex128 complex64".split()
LENGTHS = [
    dict(zip("nmkNM", lengths, strict=True))
    for lengths in ((2, 3, 5, 0, 1), (3, 2, 4, 1, 0), (4, 4, 4, 4, 4), (7, 2, 6, 3, 7))
]


def evaluated(length, at):
    """Return a length of a result at lengths of the operands; ``None`` if it is not known."""
    if not isinstance(length, Symbol):
        return length
    if length.name in SYMBOLS:
        return at[length.name]
    match [evaluated(part, at) if isinstance(part, Symbol) else part for part in length.key]:
        case ["sum", known, *lengths]:
            return known + sum(lengths)
        case ["less", whole, by]:
            return max(whole - by, 0)
        case ["product", above, below, *powers]:
            up = above * math.prod(evaluated(n, at) ** p for n, p in powers if p > 0)
            down = below * math.prod(evaluated(n, at) ** -p for n, p in powers if p < 0)
            return up // down
        case ["smaller", m, n]:
            return min(m, n)
        case ["pairs", n]:
            return n * (n - 1) // 2
        case ["half", n]:
            return n // 2 + 1
        case ["points", pairs]:
            return math.isqrt(2 * pairs) + 1
        case ["diagonal", m, n, k]:
            return len(np.diagonal(np.empty((m, n)), k))
        case ["range", start, stop, step]:
            return len(np.arange(start, stop, step))
        case []:
            return None
    raise AssertionError(length.key)


def derived(*key):
    return Symbol("derived", is_argument=False, key=key)


def called(f, operands, keywords, dtype, at):
    """Return the result of a call at such lengths; ``None`` if it raises."""
    values = [valued(x, dtype, at) for x in operands]
    try:
        return f(*values, **{name: valued(x, dtype, at) for name, x in keywords.items()})
    except (ArithmeticError, TypeError, ValueError, IndexError, np.exceptions.ComplexWarning):
        return None
    except NotImplementedError:
        return None


def fits(t, y, at):
    """Return whether the type `t` is that of the result `y`."""
    if isinstance(t, Several):
        return type(y) is t.kind and all(fits(*pair, at) for pair in zip(t.types, y, strict=True))
    if isinstance(t, Number):
        return t.kinds == {type(y)}
    if type(y) is not np.ndarray or y.dtype != t.dtype or y.ndim != len(t.shape):
        return False
    return all(evaluated(n, at) in (m, None) for n, m in zip(t.shape, y.shape, strict=True))


REFUSED = (
    "an array to write to",
    "a square",
    "or none, as a number",
    "of another precision",
    "complex matrices",
)
"""What records do not take, although the functions do."""


def name(f):
    return f"{getattr(f, '__module__', '')}.{getattr(f, '__qualname__', f.__name__)}"


@pytest.mark.parametrize("f", sorted(TABLE, key=name), ids=name)
def test_records(f):
    problems, seen = [], 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", np.exceptions.ComplexWarning)
        for (operands, keywords), dtype in itertools.product(TABLE[f], DTYPES):
            types = [typed(x, dtype) for x in operands]
            options = {k: typed(x, dtype) for k, x in keywords.items()}
            results = [(called(f, operands, keywords, dtype, at), at) for at in LENGTHS]
            results = [(y, at) for y, at in results if y is not None]
            shown = f"{operands} {keywords} {dtype}"
            try:
                t = result_type(f, types, options, derived)
            except UnknownSizes:  # then the program is made for the lengths of the arguments
                continue
            except NotCovered as error:
                one = not any(isinstance(y, tuple | list) for y, _ in results)
                if (
                    one
                    and len(results) == len(LENGTHS)
                    and not any(known in error.reason for known in REFUSED)
                ):
                    problems.append(f"{shown}: refused: {error}")
                continue
            seen += bool(results)
            problems += [
                f"{shown}: {t}, but {type(y)} {getattr(y, 'dtype', '')}{np.shape(y)} at {at}"
                for y, at in results
                if not fits(t, y, at)
            ]
    assert not problems, "\n".join(problems[:20])
    assert seen >= 2 or f is divmod


@pytest.mark.parametrize("f", [operator.add, operator.mul, operator.eq, operator.pow])
def test_operators_of_lists_are_not_those_of_arrays(f):
    parts = (number(float), number(float))
    for operands in ((parts, parts), (parts, number(int)), (number(np.float64), parts)):
        with pytest.raises(NotCovered):
            result_type(f, operands, {}, None)


def test_each_record_has_a_case():
    assert {f for f in records if f not in TABLE} == set()


def test_operands_of_several_types():
    n, m = SYMBOLS["n"], SYMBOLS["m"]
    whole, several = IntegersOrFloats((n, m)), number(float, np.float64)

    def found(f, *operands):
        return result_type(f, operands, {}, derived)

    assert found(np.transpose, whole) == IntegersOrFloats((m, n))
    assert found(np.sin, whole) == Array(np.dtype(float), (n, m))
    assert found(np.max, whole) == number(np.int64, np.float64)
    with pytest.raises(NotCovered, match="integers or floats"):
        found(np.concatenate, (whole, whole))
    assert found(np.multiply, whole, several) == Array(np.dtype(float), (n, m))
    assert found(math.prod, (several, Constant(2))) == several
    assert found(np.mean, (several, several)) == number(np.float64)
    with pytest.raises(NotCovered, match="several classes"):
        found(np.stack, (number(int, float), number(float)))
