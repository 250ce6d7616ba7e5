"""What the rules of a function that acts on each element by itself are made from: its partial
derivatives."""

from __future__ import annotations

import dis
import inspect
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np

from adjoint.primal.value_kinds import FLOAT64
from adjoint.rulekit.projection import as_numeric, is_numeric

Partial: TypeAlias = Callable[..., Any] | int | float | None
Rule: TypeAlias = Callable[..., Any]

LOW = "efF"
"""Data types of less than double precision."""

POLES = (ZeroDivisionError, OverflowError)
"""What Python raises where IEEE 754, and so `numpy.float64`, has an infinity."""


@dataclass(frozen=True, slots=True)
class Slopes:
    """The partial derivatives of one function.

    Attributes
    ----------
    partials
        One per operand, brought to the signature ``(y, *operands)``; numbers and ``None`` as they
        are.
    reads
        For each partial, whether it reads ``y``, the first operand, the second, …
    singular
        Whether a product with a zero cotangent may fail to be zero.
    real_valued
        The result is real also for complex operands; the partials are gradients: what a unit
        cotangent gives.
    selects
        Each element of the result is one of an operand, so that a slope of zero is that of an
        element which was not selected: whatever the cotangent is, even infinite. The comparison
        that selects the first of two operands, if it is one.
    quick
        ``(y_bar, y, *operands)`` to the cotangents of all operands, in fewer passes over arrays
        than the partials take; ``None`` where these have to be asked.
    keeps
        Whether some partial reads ``y``, the first operand, …: what the reverse sweep needs.
    """

    partials: tuple[Partial, ...]
    reads: tuple[tuple[bool, ...], ...]
    singular: bool
    real_valued: bool = False
    selects: bool | Callable[..., Any] = False
    quick: Callable[..., Any] | None = None
    keeps: tuple[bool, ...] = field(init=False)

    def __post_init__(self) -> None:
        reads = self.reads
        if self.quick is not None:
            names, read = _parameters(self.quick, len(self.partials))
            reads = (*reads, tuple(name in read for name in names[1:]))
        object.__setattr__(self, "keeps", tuple(map(any, zip(*reads, strict=True))))

    @classmethod
    def of(
        cls,
        partials: tuple[Partial, ...],
        singular: bool,
        real_valued: bool = False,
        selects: bool | Callable[..., Any] = False,
        quick: Callable[..., Any] | None = None,
    ) -> Slopes:
        """Bring the partials to one signature, and see which of their parameters they read."""
        uniform = [_uniform(p, len(partials)) for p in partials]
        return cls(
            tuple(p for p, _ in uniform),
            tuple(needs for _, needs in uniform),
            singular,
            real_valued,
            selects,
            quick,
        )

    def only(self, position: int) -> Slopes:
        """The same with no derivative but in the operand at `position`."""
        nothing = (False,) * (len(self.partials) + 1)
        partials = tuple(p if i == position else None for i, p in enumerate(self.partials))
        reads = tuple(r if i == position else nothing for i, r in enumerate(self.reads))
        return replace(self, partials=partials, reads=reads, quick=None)


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
    """The names of the parameters of a partial, and which of them its code reads."""
    code = getattr(p, "__code__", None)
    if code is None:  # a ufunc or builtin given as it is
        names = [f"x{i}" for i in range(n)]
        return names, set(names)
    read = set(code.co_cellvars)
    for instruction in dis.get_instructions(code):
        if instruction.opname.startswith("LOAD_FAST"):
            argval = instruction.argval
            read.update(argval if isinstance(argval, tuple) else (argval,))
    parameters = list(inspect.signature(p).parameters.values())
    if parameters[-1].kind is inspect.Parameter.VAR_POSITIONAL:  # it reads all of them
        every = [f"x{i}" for i in range(n)]
        return [*(parameter.name for parameter in parameters[:-1]), *every], {*read, *every}
    return [parameter.name for parameter in parameters], read


@dataclass(frozen=True, slots=True)
class Traits:
    """What kind of function it is.

    Attributes
    ----------
    of_numpy
        A list or tuple of numbers is taken for the array it stands for, and the result is NumPy's.
    floats_only
        A function of `math`: operands are converted to float, the result is one.
    """

    of_numpy: bool
    floats_only: bool

    @classmethod
    def of(cls, f: Callable[..., Any]) -> Traits:
        module = "numpy" if isinstance(f, np.ufunc) else getattr(f, "__module__", None) or ""
        return cls(module.partition(".")[0] == "numpy", module == "math")


def numeric_operands(traits: Traits, operands: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """The operands as numbers and arrays; ``None`` where one is something else and the rule must
    decline."""
    if all(map(is_numeric, operands)):
        return operands
    # ndarray + list is arithmetic, list + list is not
    if traits.of_numpy or any(type(x) is np.ndarray for x in operands):
        values = tuple(map(as_numeric, operands))
        if not any(v is None for v in values):
            return values
    return None


def as_precise(x: Any, dtype: Any) -> Any:
    """An operand as slopes want it for a result of a data type: no integers of NumPy's, which
    overflow, and nothing of less precision than the result."""
    if not hasattr(x, "dtype"):
        return x
    if x.dtype.kind not in "fc":
        return x.astype(FLOAT64)
    if x.dtype.char not in LOW or x.dtype == dtype:
        return x
    precise = np.promote_types(x.dtype, dtype)
    return x.astype(precise) if x.ndim else precise.type(x)


def as_strong(y_bar: Any, kind: type) -> Any:
    """The cotangent of one of NumPy's numbers as precise as that, where it is a Python number:
    beside an array of less precision that would take the array's. `kind` is the class of the
    result."""
    if type(y_bar) is float and issubclass(kind, np.inexact):
        return kind(y_bar)
    if type(y_bar) is complex and issubclass(kind, np.complexfloating):
        return kind(y_bar)
    return y_bar


def with_arity(rule: Rule, n: int, *first: str) -> Rule:
    """Give a rule that takes ``*operands`` the signature of one that takes `n`."""
    names = (*first, *(f"x{i}" for i in range(n)))
    parameters = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_ONLY) for name in names]
    rule.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return rule
