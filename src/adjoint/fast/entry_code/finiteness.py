"""Cheap tests whether the cotangents of a call are finite.

If one is not, the generic tier takes the call, because it treats structural zeros beside infinite
partial derivatives. A test of every cotangent would read the memory of each, and most are
redundant: a finite sum, difference or product proves that its operands are finite, and a product of
finite matrices needs no test.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from functools import cached_property
from typing import TypeGuard

import numpy as np

from adjoint.fast.build.program import Program, written_to
from adjoint.fast.entry_code.inputs import Reading
from adjoint.fast.evaluate.types import Array, Dim, Number, Type, has_complex
from adjoint.fast.single_assignment.walk import walk
from adjoint.fast.support import functions as runtime
from adjoint.ir.single import Call, Const, Operand, Value
from adjoint.rulekit.row_sums import column_sums


def checked(program: Program, made: Reading) -> list[str]:
    """Return the lines of source that test ``bars``, the cotangents."""
    if not program.wanted:
        return []
    quick = all(known is not False for known in program.definite) and not any(
        isinstance(leaf.type, Array) and leaf.type.dtype == np.float16  # a product may overflow
        for leaf in program.wanted
    )
    terms = _fewest_terms(program, made)
    if quick and not terms:
        return []
    # A cotangent may be an array of the caller, for example a factor of a product.
    arrays = [leaf for leaf in made.outside.leaves if isinstance(leaf.type, Array)]
    given = "".join(f"{made.names[id(leaf.source)]}, " for leaf in arrays)
    if any(isinstance(program.ev.types[x], Array) for x in program.values_stored):
        quick, given = False, f"{given}*committed, "
    slow = [f"bars = finished(bars, ({given}))", "if bars is None: return failed(None)"]
    if not quick:
        return slow
    return [f"if not ({' and '.join(terms)}):", *(f"    {line}" for line in slow)]


def _fewest_terms(program: Program, made: Reading) -> list[str]:
    """Return conditions, as source, that hold if the cotangents are finite. The value of the
    function is tested if that proves arrays finite: a sum of squares is finite if its terms are."""
    terms = _terms(program, made, _Proved(program))
    y = program.results[0]
    if (
        isinstance(y, Value)
        and isinstance(program.ev.types[y], Number)
        and any("vdot" in x for x in terms)
    ):
        seen = _Proved(program)
        seen.note(y)
        others = _terms(program, made, seen)
        if len(others) < len(terms):
            return ["isfinite(value)", *others]
    return terms


def _terms(program: Program, made: Reading, seen: _Proved) -> list[str]:
    """Return conditions, as source, that hold if the cotangents are finite.

    A product is finite if other tests prove its factors finite. Else the product is tested if it is
    small, and so proves its factors finite.
    """
    ev = program.ev
    given = {leaf.value: made.names[id(leaf.source)] for leaf in program.outside.leaves}
    bars = program.reverse.results or ()
    wanted = [i for i in range(len(bars)) if program.definite[i] is not None]
    products = {i: op for i in wanted if (op := seen.product(bars[i])) is not None}
    large = [i for i, op in products.items() if op.result is not None and ev.is_large(op.result)]
    numbers: list[str] = []
    arrays: list[str] = []
    for i in (*products, *wanted):
        if i in large or seen.is_finite(bars[i]):
            continue
        if i in products and not seen.unproved(products[i].operands):
            continue
        t = program.wanted[i].type
        (arrays if isinstance(t, Array) else numbers).append(_term(t, f"bars[{i}]"))
        if products:
            seen.note(bars[i])
    for i in large:
        unseen = seen.unproved(products[i].operands)
        if not unseen:
            continue
        if len(unseen) == 1 and unseen[0] in given:  # a finite factor or product suffices
            arrays.append(f"smaller_square(bars[{i}], {given[unseen[0]]})")
        else:
            arrays.append(_term(program.wanted[i].type, f"bars[{i}]"))
        seen.note(bars[i])
    # A sum of infinite NumPy numbers may warn, one of Python numbers does not.
    plain = not arrays and all(_is_pythons(program.wanted[i].type) for i in wanted)
    looks = [" + ".join(numbers)] if plain and numbers else [*numbers, *arrays]
    return [f"isfinite({look})" for look in looks]


def _is_pythons(t: Type) -> bool:
    return isinstance(t, Number) and not any(issubclass(k, np.generic) for k in t.kinds)


def _term(t: Type, bar: str) -> str:
    """Return the source of a number that is finite only if the cotangent is; `vdot` never warns."""
    if not isinstance(t, Array):
        return f"abs({bar})" if has_complex(t) else bar
    return square(t, bar)


def square(t: Array, bar: str) -> str:
    """Return the source of a number that is finite only if an array is."""
    if t.shape in _SHORT and not has_complex(t):
        return f"sum({bar}.tolist())"  # takes less time, and never warns
    return f"vdot({bar}, {bar}).real" if has_complex(t) else f"vdot({bar}, {bar})"


class _Proved:
    """The values of a program that are finite if the tested ones are.

    Values that are overwritten are excluded, since reads at different times differ.
    """

    def __init__(self, program: Program) -> None:
        self._program = program
        self._types = program.ev.types
        self._finite: set[Value] = set()

    @cached_property
    def _written(self) -> set[Value]:
        found = written_to(self._program.ev)
        for block in (self._program.forward, self._program.reverse):
            for op in walk(block):
                if isinstance(op, Call) and op.result is None:
                    found = found.union(_values(op.operands))
        return found

    @cached_property
    def _made(self) -> dict[Value, Call]:
        """The calls that made the values that are never overwritten."""
        blocks = (self._program.forward, self._program.reverse)
        calls = [op for block in blocks for op in block.ops if isinstance(op, Call)]
        return {
            op.result: op
            for op in calls
            if op.result is not None and op.result not in self._written
        }

    def product(self, bar: Operand) -> Call | None:
        """Return the call that made a cotangent, if it is a product of two real matrices of the
        same dtype."""
        if not isinstance(bar, Value) or not _is_matrix(self._types.get(bar)):
            return None
        op = self._made.get(bar)
        if op is None or op.callee != _MATMUL:
            return None
        types = [self._types.get(x) for x in _values((bar, *op.operands))]
        matrices = [t for t in types if _is_matrix(t)]
        alike = len(matrices) == 3 and len({t.dtype for t in matrices}) == 1
        return op if alike and not has_complex(matrices[0]) else None

    def is_finite(self, bar: Operand) -> bool:
        """Return whether a cotangent is proved finite, also as an array of sums, differences and
        products of finite values, whose overflow raises."""
        pending: list[Operand] = [bar]
        proved: set[Value] = set()
        while pending:
            x = pending.pop()
            if not isinstance(x, Value):
                if not _is_finite_number(x):
                    return False
                continue
            x = self._untransposed(x)
            if x in self._finite or x in proved:
                continue
            op = self._made.get(x)
            if op is None or not isinstance(op.callee, Const):
                return False
            proved.add(x)
            f = op.callee.value
            if _is_sum(op):
                pending.append(op.operands[0])
            elif f in _RAISING and not op.keywords and _is_real_array(self._types[x]):
                pending += op.operands
            elif f is not runtime.zeros_like:
                return False
        self._finite |= proved
        return True

    def unproved(self, xs: Sequence[Operand]) -> list[Value]:
        """Return the values that are not proved finite."""
        matrices = {self._untransposed(x): None for x in _values(xs)}
        return [x for x in matrices if x not in self._finite]

    def note(self, x: Operand) -> None:
        """Record that a value is tested, which also proves its operands finite."""
        pending = _values((x,))
        while pending:
            x = self._untransposed(pending.pop())
            if x not in self._finite and x not in self._written:
                self._finite.add(x)
                pending += _values(self._shown(x))

    def _untransposed(self, x: Value) -> Value:
        """Return the matrix that a value is a transpose of, or the value."""
        while (op := self._made.get(x)) is not None and op.callee == _TRANSPOSE:
            if not isinstance(op.operands[0], Value):
                break
            x = op.operands[0]
        return x

    def _shown(self, y: Value) -> Sequence[Operand]:
        """Return the operands that a finite result `y` proves finite: each of their elements is a
        term or a factor of an element of `y`, which is not empty."""
        op, t = self._made.get(y), self._types.get(y)
        if op is None or not isinstance(op.callee, Const) or t is None:
            return []
        if isinstance(t, Array) and not all(map(_is_positive, t.shape)):
            return []
        f = op.callee.value
        if _is_sum(op):
            return [op.operands[0]]
        if f is operator.pow and op.operands[1] == Const(2):
            return op.operands[:1]
        if op.keywords or f not in _SHOWING:
            return []
        return op.operands[: _SHOWING[f]]


def _values(xs: Sequence[Operand]) -> list[Value]:
    return [x for x in xs if isinstance(x, Value)]


def _is_matrix(t: Type | None) -> TypeGuard[Array]:
    return isinstance(t, Array) and len(t.shape) == 2


def _is_sum(op: Call) -> bool:
    """Return whether a call returns sums of the elements of its first operand and nothing else."""
    is_plain = len(op.operands) <= 2 and {key for key, _ in op.keywords} <= {"axis", "keepdims"}
    return is_plain and isinstance(op.callee, Const) and op.callee.value in _SUMS


def _is_real_array(t: Type) -> bool:
    return isinstance(t, Array) and t.dtype in _REALS


def _is_finite_number(x: Operand) -> bool:
    if not isinstance(x, Const):
        return False
    return type(x.value) is int or (type(x.value) is float and math.isfinite(x.value))


def _is_positive(d: Dim) -> bool:
    return d > 0 if isinstance(d, int) else d.is_argument


_SHORT = frozenset((n,) for n in range(1, 9))
"""Shapes of arrays of few numbers."""
_MATMUL, _TRANSPOSE = Const(operator.matmul), Const(np.transpose)
_REALS = (np.dtype(np.float64), np.dtype(np.float32))
_SUMS = (np.sum, np.mean, column_sums)
_RAISING = (operator.neg, operator.add, operator.sub, operator.mul)
"""Functions of arrays that raise if they make a number that is not finite of finite ones."""
_SHOWING: dict[object, int] = {
    operator.neg: 1,
    operator.add: 2,
    operator.sub: 2,
    operator.mul: 2,
    operator.matmul: 2,
    np.dot: 2,
    operator.truediv: 1,  # a finite number divided by an infinite one is finite
}
"""Number of leading operands that a finite result proves finite, by function."""
