"""The tangents of the values of a program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.types import (
    ANYTHING,
    FLOAT,
    LOW_KINDS,
    PYTHON_NUMBERS,
    Array,
    Number,
    Row,
    Type,
    bar_type,
    holds_arrays,
    is_complex,
    number,
)
from adjoint.fast.forward.activity import Activity
from adjoint.fast.not_covered import NotCovered
from adjoint.fast.reverse.cotangent_types import are_floats, operand_type, plain, whole
from adjoint.fast.support import functions as runtime
from adjoint.fast.support import rows
from adjoint.ir import primitives
from adjoint.ir.single import Call, Const, Operand, Value
from adjoint.rulekit.partials import LOW, Partials


class TangentValues:
    """The tangents of the values of one program.

    Parameters
    ----------
    wanted
        The values that have a tangent from outside.

    Attributes
    ----------
    dots
        The tangents of active values.
    is_last
        Whether no sweep goes through the tangents: rules may be called for them.
    has_opaque_rules
        Whether rules that are not inlined may be differentiated by the interpreter.
    is_exact
        Whether `of` converts tangents to the classes of their primals.
    """

    def __init__(
        self,
        ev: Evaluator,
        wanted: Sequence[Value],
        *,
        is_last: bool = False,
        has_opaque_rules: bool = False,
    ) -> None:
        self.ev = ev
        self.is_last = is_last
        self.has_opaque_rules = has_opaque_rules
        self.activity: Activity = Activity(ev, wanted)
        self.dots: dict[Value, Operand] = {}
        self.slopes: dict[Any, Partials | None] = {}  # by callee and number of operands
        self.is_exact = False

    def of(self, x: Operand) -> Operand | None:
        """Return the tangent of an operand; ``None`` if it carries none."""
        dot = self.dots.get(x) if type(x) is Value else None
        return dot if dot is None or not self.is_exact else self._exact(dot, x)  # type: ignore[arg-type]

    def has_low(self, op: Call) -> bool:
        """Return whether an operand of `op` has less than double precision: beside it, a tangent
        that is a Python number would take that."""
        for x in op.operands:  # a generator would cost more
            t = self.ev.types[x] if type(x) is Value else operand_type(self.ev, x)
            if type(t) is Number:
                if not t.kinds.isdisjoint(LOW_KINDS):
                    return True
            elif type(t) is Array and t.dtype.char in LOW:
                return True
        return False

    def _exact(self, dot: Operand, x: Value) -> Operand:
        """Convert the tangent of a NumPy number to the class of the number."""
        t = self.ev.types[x]
        if not isinstance(t, Number) or t.kinds <= PYTHON_NUMBERS:
            return dot
        if len(t.kinds) > 1:  # the class is known at run time only
            made = bar_type(t)
            return self.ev.operation(runtime.present, (dot, x), made, name=f"{x.name}_dot")
        (kind,) = t.kinds
        kind = kind if issubclass(kind, np.inexact) else np.float64
        if isinstance(dot, Const):
            return Const(kind(dot.value))  # type: ignore[arg-type]
        if operand_type(self.ev, dot) == number(kind):
            return dot
        return self.ev.operation(kind, (dot,), number(kind), name=f"{x.name}_dot")

    def shaped(self, x: Operand) -> Operand | None:
        """Return the tangent of an operand in the shape of its primal; ``None`` if it carries
        none."""
        dot = self.of(x)
        if dot is None or not isinstance(x, Value) or not isinstance(self.ev.types[x], Array):
            return dot
        return dot if self.activity.parts_of(x) is not None else whole(self.ev, dot, x)

    def full(self, x: Operand) -> Operand:
        """Return the tangent of an operand, or its zero."""
        found = self.of(x)
        if found is not None:
            return found
        if isinstance(x, Value):
            return self.zeros(x)
        return Const(None) if isinstance(x, Const) and x.value is None else Const(0.0)

    def zeros(self, x: Value) -> Operand:
        """Return a zero tangent, in memory of its own."""
        t = self.ev.types[x]
        if isinstance(t, Array | Row):
            make = rows.zeros_of if isinstance(t, Row) else runtime.zeros_like
            make = rows.array_zeros_of if holds_arrays(t) else make
            return self.ev.operation(make, (x,), bar_type(t), name=f"{x.name}_dot")
        parts = self.activity.parts_of(x)
        if parts is not None:
            dots = tuple(map(self.full, parts))
            return self.ev.operation(primitives.build_list, dots, ANYTHING, name=f"{x.name}_dot")
        if not isinstance(t, Number):
            raise NotCovered("a structure that carries a tangent in some ways only")
        return self.settle(Const(0.0), x)

    def new(self, x: Value) -> Value:
        """Return a new value for the tangent of `x`."""
        made = self.dots[x] = self.ev.value(tangent_type(self.ev.types[x]), name=f"{x.name}_dot")
        if x in self.ev.places:
            self.ev.places[made] = self.ev.places[x]
        if x in self.ev.written:
            self.ev.written.add(made)
        return made

    def linear(self, f: Any, operands: Sequence[Operand], y: Value, keywords: Any = ()) -> Value:
        """Write the tangent of `y` as ``f(*operands, **keywords)``."""
        t = self.ev.types[y]
        found = ANYTHING if t == ANYTHING else bar_type(t)
        return self.ev.operation(f, operands, found, keywords, name=f"{y.name}_dot")

    def settle(self, dot: Operand, y: Value) -> Operand:
        """Convert the tangent of `y` to its type."""
        t = self.ev.types[y]
        if isinstance(t, Array):
            return whole(self.ev, dot, y)
        if not isinstance(t, Number):
            return dot
        if t.kinds == {np.float32}:
            if isinstance(dot, Const):
                return Const(np.float32(dot.value))  # type: ignore[arg-type]
            if self.ev.types[dot] == t:  # type: ignore[index]
                return dot
            return self.ev.operation(np.float32, (dot,), t, name=f"{y.name}_dot")
        if isinstance(dot, Const):
            known: Any = dot.value
            return Const(complex(known) if is_complex(t) else float(known))
        if are_floats(self.ev, y, dot):  # the most frequent case
            return dot
        dot = plain(self.ev, dot, y)
        found = operand_type(self.ev, dot)
        if isinstance(found, Number) and any(issubclass(kind, int) for kind in found.kinds):
            return self.ev.operation(float, (dot,), FLOAT, name=f"{y.name}_dot")
        return dot


def tangent_type(t: Type) -> Type:
    """Return the type of the tangent of a value of type `t`."""
    is_single = isinstance(t, Number) and t.kinds == {np.float32}
    return t if is_single else bar_type(t)
