"""Partial derivatives of an elementwise function, from which its rules are made."""

from __future__ import annotations

import dis
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np

from adjoint.ir.node import node
from adjoint.primal.value_kinds import FLOAT64
from adjoint.rulekit.projection import as_numeric, is_numeric
from adjoint.rulekit.rule_parameters import parameters_of

Partial: TypeAlias = Callable[..., Any] | int | float | None
Rule: TypeAlias = Callable[..., Any]

LOW = "efF"
"""Dtypes of less than double precision."""

POLES = (ZeroDivisionError, OverflowError)
"""Exceptions of Python numbers where IEEE 754, and so `numpy.float64`, has an infinity."""

_LARGEST = float(np.finfo(float).max)


def beside_zero(y_bar: Any, slope: Any) -> Any:
    """Return ``y_bar * slope`` for a zero cotangent, which may have a derivative of its own; zero
    beside an infinite slope; ``None`` for ``None``."""
    if y_bar is None:
        return None
    return y_bar * slope if abs(slope) <= _LARGEST else 0.0 * y_bar


def of_zero(y_bar: Any, p: Callable[..., Any], *values: Any) -> Any:
    """Return the product of a zero cotangent and the partial derivative ``p(*values)``; ``None``
    for ``None``."""
    if y_bar is None:
        return None
    try:
        slope = p(*values)
    except POLES:
        return 0.0 * y_bar
    return beside_zero(y_bar, slope)


@dataclass(frozen=True, slots=True)
class Partials:
    """The partial derivatives of one function.

    Attributes
    ----------
    partials
        One per operand, with the signature ``(y, *operands)``; numbers and ``None`` are kept as
        they are, as is a `NoDerivative` in what `refusing` returns.
    reads
        For each partial, whether it reads ``y``, the first operand, the second, …
    singular
        Whether a slope may be infinite or NaN, so that its product with a zero cotangent is not
        zero.
    real_valued
        The result is real also for complex operands; the partials are gradients: the cotangents
        that a cotangent of 1 gives.
    selects
        Each element of the result is that of one operand. A slope of zero then marks an element
        that was not selected, which contributes nothing even to an infinite cotangent. For two
        operands it may be the comparison that selects the first.
    quick
        ``(y_bar, y, *operands)`` to the cotangents of all operands, in fewer passes over arrays
        than the partials take; ``None`` where the partials are needed.
    residuals
        Whether some partial reads ``y``, the first operand, …, which are then residuals.
    """

    partials: tuple[Any, ...]
    reads: tuple[tuple[bool, ...], ...]
    singular: bool
    real_valued: bool = False
    selects: bool | Callable[..., Any] = False
    quick: Callable[..., Any] | None = None
    residuals: tuple[bool, ...] = field(init=False)

    def __post_init__(self) -> None:
        reads = self.reads
        if self.quick is not None:
            names, read = _parameters(self.quick, len(self.partials))
            reads = (*reads, tuple(name in read for name in names[1:]))
        object.__setattr__(self, "residuals", tuple(map(any, zip(*reads, strict=True))))

    @classmethod
    def of(
        cls,
        partials: tuple[Partial, ...],
        singular: bool,
        real_valued: bool = False,
        selects: bool | Callable[..., Any] = False,
        quick: Callable[..., Any] | None = None,
    ) -> Partials:
        """Bring the partials to one signature, and find the parameters that each reads."""
        uniform = [_uniform(p, len(partials)) for p in partials]
        return cls(
            tuple(p for p, _ in uniform),
            tuple(needs for _, needs in uniform),
            singular,
            real_valued,
            selects,
            quick,
        )

    def only(self, position: int) -> Partials:
        """Return the slopes with no partial but that of the operand at `position`."""
        nothing = (False,) * (len(self.partials) + 1)
        partials = tuple(p if i == position else None for i, p in enumerate(self.partials))
        reads = tuple(r if i == position else nothing for i, r in enumerate(self.reads))
        return replace(self, partials=partials, reads=reads, quick=None)

    def refusing(self, refused: Mapping[int, Any]) -> Partials:
        """Return the slopes with those at some positions refused, by a `NoDerivative` each."""
        return replace(self, partials=tuple(refused.get(i, p) for i, p in enumerate(self.partials)))


def is_constant(x: Any) -> bool:
    """Return whether a number is constant for derivatives of the partial that asks.

    In plain Python there are none. Levels and programs, which differentiate partials, know whether
    the number is active.
    """
    return True


def _uniform(p: Partial, n: int) -> tuple[Partial, tuple[bool, ...]]:
    if not callable(p):
        return p, (False,) * (n + 1)
    names, read = _parameters(p, n)
    if names[0] == "y" and len(names) in (1, n + 1):
        absent = (False,) * (n + 1 - len(names))
        needs = (*(name in read for name in names), *absent)
        return (lambda y, *operands: p(y)) if absent and n else p, needs
    if len(names) != n:
        raise TypeError(f"a partial takes the {n} operands, or y and them, not {tuple(names)}")
    return (lambda y, *operands: p(*operands)), (False, *(name in read for name in names))


def _parameters(p: Callable[..., Any], n: int) -> tuple[list[str], set[str]]:
    """Return the names of the parameters of a partial, and those that its code reads."""
    code = getattr(p, "__code__", None)
    if code is None:  # a ufunc or a builtin function
        names = [f"x{i}" for i in range(n)]
        return names, set(names)
    read = set(code.co_cellvars)
    for instruction in dis.get_instructions(code):
        if instruction.opname.startswith("LOAD_FAST"):
            argval = instruction.argval
            read.update(argval if isinstance(argval, tuple) else (argval,))
    found = parameters_of(p)
    if found.has_any:  # count all operands as read
        every = [f"x{i}" for i in range(n)]
        return [*found.names, *every], {*read, *every}
    return list(found.names), read


@node
class Traits:
    """Kind of function that a rule is for.

    Attributes
    ----------
    of_numpy
        A list or tuple of numbers counts as an array, and the result is NumPy's.
    floats_only
        A function of `math`: operands are converted to float, and the result is a float.
    """

    of_numpy: bool
    floats_only: bool

    @classmethod
    def of(cls, f: Callable[..., Any]) -> Traits:
        module = "numpy" if isinstance(f, np.ufunc) else getattr(f, "__module__", None) or ""
        return cls(module.partition(".")[0] == "numpy", module == "math")


def numeric_operands(traits: Traits, operands: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """Return the operands as numbers and arrays; ``None`` where one is something else and the rule
    must decline."""
    if all(map(is_numeric, operands)):
        return operands
    # ndarray + list is arithmetic, list + list is not
    if traits.of_numpy or any(type(x) is np.ndarray for x in operands):
        values = tuple(map(as_numeric, operands))
        if not any(v is None for v in values):
            return values
    return None


def as_precise(x: Any, dtype: Any) -> Any:
    """Convert an operand for the partials of a result of `dtype`: integers, which overflow, to
    doubles, and other numbers to at least that precision."""
    if not hasattr(x, "dtype"):
        return x
    if x.dtype.kind not in "fc":
        return x.astype(FLOAT64)
    if x.dtype.char not in LOW or x.dtype == dtype:
        return x
    precise = np.promote_types(x.dtype, dtype)
    return x.astype(precise) if x.ndim else precise.type(x)


def as_strong(y_bar: Any, kind: type) -> Any:
    """Convert a cotangent that is a Python number to `kind`, the NumPy type of the result. A Python
    number would take the lower precision of an array beside it."""
    if type(y_bar) is float and issubclass(kind, np.inexact):
        return kind(y_bar)
    if type(y_bar) is complex and issubclass(kind, np.complexfloating):
        return kind(y_bar)
    return y_bar


def with_arity(rule: Rule, n: int, *first: str) -> Rule:
    """Give a rule of ``*operands`` the signature of one with `n` operands."""
    names = (*first, *(f"x{i}" for i in range(n)))
    parameters = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_ONLY) for name in names]
    rule.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return rule
