"""Source text of names, constants and calls.

A value that is written at its place of use has a pending text, and a level: how tightly the text
binds.
"""

from __future__ import annotations

import builtins
import cmath
import keyword
import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from adjoint.diagnostics.numpy_warnings import ignoring
from adjoint.fast.evaluate.types import Array, Dim, Type
from adjoint.fast.single_assignment.primitives import same
from adjoint.fast.support import functions as runtime
from adjoint.fast.support import rows
from adjoint.fast.support.opaque import Opaque, pullback
from adjoint.ir import primitives
from adjoint.ir.single import Call, Const, Operand, Value
from adjoint.rulekit.row_sums import has_short_rows, row_sums

_INFIX: dict[Any, tuple[str, int]] = {
    operator.add: ("+", 11),
    operator.sub: ("-", 11),
    operator.mul: ("*", 12),
    operator.truediv: ("/", 12),
    operator.floordiv: ("//", 12),
    operator.mod: ("%", 12),
    operator.matmul: ("@", 12),
    operator.pow: ("**", 14),
    operator.lshift: ("<<", 10),
    operator.rshift: (">>", 10),
    operator.and_: ("&", 9),
    operator.xor: ("^", 8),
    operator.or_: ("|", 7),
    operator.eq: ("==", 6),
    operator.ne: ("!=", 6),
    operator.lt: ("<", 6),
    operator.le: ("<=", 6),
    operator.gt: (">", 6),
    operator.ge: (">=", 6),
    operator.is_: ("is", 6),
    operator.is_not: ("is not", 6),
}
_PREFIX: dict[Any, tuple[str, int]] = {
    operator.neg: ("-", 13),
    operator.pos: ("+", 13),
    operator.invert: ("~", 13),
    operator.not_: ("not ", 5),
}
_MODULES = {"math": math, "cmath": cmath, "np": np, "np.linalg": np.linalg}
_NONE = Const(None)
ATOM = 20
"""Level of a text that never needs parentheses."""


def tuple_text(texts: Iterable[str]) -> str:
    """Return the source of a tuple of these items."""
    items = [*texts]
    return f"({', '.join(items)}{',' if len(items) == 1 else ''})"


class Formulas:
    """Write operands and calls.

    Attributes
    ----------
    bound
        The objects of the names in the source, without builtins. Modules are copies with the
        members that the source needs, so that later assignments to module attributes have no
        effect.
    ignored
        By result of a call: the errors of NumPy that it ignores.
    """

    def __init__(self, types: dict[Value, Type], length_of: Callable[[Dim], int]) -> None:
        self.types, self._length_of = types, length_of
        self.bound: dict[str, Any] = {"np": ModuleType("numpy"), "math": ModuleType("math")}
        self._names: dict[Value, str] = {}
        self._taken: set[str] = {"_", "np", "math", "cmath", *keyword.kwlist, *vars(builtins)}
        self._numbers: dict[str, int] = {}
        self._texts: dict[Value, tuple[str, int]] = {}
        self._constants: dict[int, str] = {}
        self.ignored: Mapping[Value, tuple[str, ...]] = {}

    # ---- names -----------------------------------------------------------------------------------

    def name(self, v: Value) -> str:
        """Return the name of a value in the source."""
        known = self._names.get(v)
        if known is None:
            known = self._names[v] = self.new_name(v.name.removesuffix("()"))
        return known

    def new_name(self, base: str) -> str:
        if not (base.isidentifier() and base.isascii()):
            base = re.sub(r"\W", "_", base, flags=re.ASCII) or "t"
            base = f"t{base}" if base[0].isdigit() else base
        made, number = base, self._numbers.get(base, 2)
        while made in self._taken:
            made, number = f"{base}_{number}", number + 1
        self._numbers[base] = number
        self._taken.add(made)
        return made

    def bind(self, value: Any, name: str) -> str:
        """Return a name for an object."""
        known = self._constants.get(id(value))
        if known is None:
            known = self._constants[id(value)] = self.new_name(name)
            self.bound[known] = value
        return known

    # ---- operands --------------------------------------------------------------------------------

    def text(self, x: Operand, above: int = 0) -> str:
        """Return the text of an operand, in parentheses if it binds less tightly than `above`."""
        if type(x) is Value:
            waiting = self._texts.pop(x, None)
            if waiting is None:
                return self.name(x)
            found, level = waiting
        else:
            assert isinstance(x, Const)
            found, level = self.constant(x.value)
        return f"({found})" if level < above else found

    def constant(self, value: Any) -> tuple[str, int]:
        if value is None or value is Ellipsis or isinstance(value, bool | str):
            return "..." if value is Ellipsis else repr(value), ATOM
        if type(value) in (int, float) and math.isfinite(value):
            text = repr(value)
            return text, 13 if text.startswith("-") else ATOM
        if type(value) is complex and cmath.isfinite(value):
            return _complex(value)
        if type(value) is tuple:
            return tuple_text(self.constant(x)[0] for x in value), ATOM
        if type(value) is list:
            return f"[{', '.join(self.constant(x)[0] for x in value)}]", ATOM
        if isinstance(value, slice):
            ends = ", ".join(self.constant(x)[0] for x in (value.start, value.stop, value.step))
            return f"slice({ends})", ATOM
        if isinstance(value, np.dtype) and value.isbuiltin == 1:  # its type says everything
            value = value.type
        if isinstance(value, type) and issubclass(value, np.generic):
            return self.member(f"np.{value.__name__}", value), ATOM
        if type(value) is float:
            return f'float("{value!r}")', ATOM
        return self.bind(value, getattr(value, "__name__", type(value).__name__)), ATOM

    # ---- calls -----------------------------------------------------------------------------------

    def call(self, op: Call) -> tuple[str, int]:
        """Return the text of a call, and its level."""
        assert isinstance(op.callee, Const)
        f, xs = op.callee.value, op.operands
        if op.result is not None and op.result in self.ignored:
            kinds = self.ignored[op.result]
            given = f"{kinds!r}, {self.function(f)}, {self.arguments(op, 0)}"
            return f"{self.function(ignoring)}({given})", ATOM
        infix = _INFIX.get(f)
        if infix is not None and len(xs) == 2:
            sign, level = infix
            right = level if f is operator.pow else level + 1
            left = level + 1 if f is operator.pow or level == 6 else level
            return f"{self.text(xs[0], left)} {sign} {self.text(xs[1], right)}", level
        if f in _PREFIX:
            sign, level = _PREFIX[f]
            return f"{sign}{self.text(xs[0], level)}", level
        if f is pullback:
            return self._opaque_pullback(*xs), ATOM
        if isinstance(f, Opaque):
            return self._opaque_call(f, xs), ATOM
        special = _SPECIAL.get(f)
        if special is not None:
            made = special(self, *xs, **dict(op.keywords))
            if made is not None:
                return made
        if getattr(f, "__objclass__", None) is np.ndarray:
            name = getattr(f, "__name__")  # noqa: B009
            return f"{self.text(xs[0], ATOM)}.{name}({self.arguments(op, 1)})", ATOM
        return f"{self.function(f)}({self.arguments(op, 0)})", ATOM

    def _opaque_call(self, f: Opaque, xs: Sequence[Operand], *first: str) -> str:
        """Return the text of an opaque operation, or of its pullback if that comes `first`."""
        n = len(xs) - len(f.names)
        given = [self.text(x) for x in xs[:n]]
        given += [f"{k}={self.text(x)}" for k, x in zip(f.names, xs[n:], strict=True)]
        is_watched = f.is_watched and not first
        last = self.bind(f, f.__name__) if is_watched else self.function(f.function)
        callee, *rest = *first, last
        return f"{callee}({', '.join([*rest, *given])})"

    def _opaque_pullback(self, callee: Operand, *xs: Operand) -> str:
        """Return the text of the pullback of an opaque operation."""
        assert isinstance(callee, Const) and isinstance(callee.value, Opaque)
        return self._opaque_call(callee.value, xs, self.function(pullback))

    def method(
        self, name: str, x: Operand, args: tuple[Operand, ...], options: dict[str, Operand]
    ) -> tuple[str, int] | None:
        """Return ``x.name(...)``, which is faster than ``np.name(x, ...)``, if `x` is an array."""
        if not isinstance(x, Value) or not isinstance(self.types.get(x), Array):
            return None
        owner = self.text(x, ATOM)
        given = [self.text(a) for a in args] + [f"{k}={self.text(v)}" for k, v in options.items()]
        return f"{owner}.{name}({', '.join(given)})", ATOM

    def row_sums(
        self, x: Operand, axis: Operand = _NONE, *more: Operand, **options: Operand
    ) -> tuple[str, int] | None:
        """Return the text of sums along short rows; ``None`` for another call of `np.sum`."""
        t = self.types.get(x) if isinstance(x, Value) else None
        keepdims = options.pop("keepdims", Const(False))
        if type(t) is not Array or len(t.shape) < 2 or more or options:
            return None
        if axis not in (Const(-1), Const(len(t.shape) - 1)) or type(keepdims) is not Const:
            return None
        if t.dtype.char not in "fd" or not has_short_rows([*map(self._length_of, t.shape)]):
            return None
        kept = ", True" if keepdims.value else ""
        return f"{self.function(row_sums)}({self.text(x)}{kept})", ATOM

    def arguments(self, op: Call, first: int) -> str:
        named = [f"{name}={self.text(x)}" for name, x in op.keywords]
        return ", ".join([*(self.text(x) for x in op.operands[first:]), *named])

    def function(self, f: Any) -> str:
        name = getattr(f, "__name__", "rule")
        for path, module in _MODULES.items():
            if getattr(module, name, None) is f:
                return self.member(f"{path}.{name}", f)
        if getattr(builtins, name, None) is f:
            return str(name)
        return self.bind(f, name if name.isidentifier() else "rule")

    def member(self, path: str, value: Any) -> str:
        """Bind a member of a module under its path; return the path."""
        first, *inner, name = path.split(".")
        if first not in self.bound:
            self.bound[first] = ModuleType(first)
        owner = self.bound[first]
        for part in inner:
            if part not in vars(owner):
                setattr(owner, part, ModuleType(part))
            owner = getattr(owner, part)
        setattr(owner, name, value)
        return path

    def item(self, x: Operand, index: Operand) -> str:
        return f"{self.text(x, ATOM)}[{self._index(index)}]"

    def _index(self, index: Operand) -> str:
        if isinstance(index, Const):
            return self._known_index(index.value)
        text = self.text(index)
        if text.startswith("(") and text.endswith(")") and text.count("(") == 1:
            return text[1:-1].removesuffix(",") or "()"
        return text

    def _known_index(self, value: Any) -> str:
        if isinstance(value, slice):
            start, stop, step = (
                "" if x is None else self.constant(x)[0]
                for x in (value.start, value.stop, value.step)
            )
            return f"{start}:{stop}" + (f":{step}" if step else "")
        if isinstance(value, tuple):
            return ", ".join(self._known_index(x) for x in value) or "()"
        return self.constant(value)[0]


def _complex(z: complex) -> tuple[str, int]:
    """Return the text of a complex constant; zeros keep their signs."""
    if any(not part and math.copysign(1.0, part) < 0 for part in (z.real, z.imag)):
        return f"complex({z.real!r}, {z.imag!r})", ATOM
    if not z.real and z.imag >= 0:
        return repr(z), ATOM
    return f"{z.real!r} {'-' if z.imag < 0 else '+'} {complex(0.0, abs(z.imag))!r}", 11


def _zip_of_one(w: Formulas, xs: tuple[Operand, ...]) -> tuple[str, int] | None:
    """Return the text of ``zip`` of at least four times the same iterator."""
    if len(xs) < 4 or len(set(xs)) > 1:
        return None
    return f"zip(*[{w.text(xs[0])}] * {len(xs)})", ATOM


# ---- calls with a text of their own --------------------------------------------------------------

_SPECIAL: dict[Any, Callable[..., tuple[str, int] | None]] = {
    operator.getitem: lambda w, x, i: (w.item(x, i), ATOM),
    same: lambda w, x: (w.text(x), ATOM),
    operator.truth: lambda w, x: (f"bool({w.text(x)})", ATOM),
    operator.abs: lambda w, x: (f"abs({w.text(x)})", ATOM),
    operator.call: lambda w, f, *xs: (
        f"{w.text(f, ATOM)}({', '.join(w.text(x) for x in xs)})",
        ATOM,
    ),
    np.sum: lambda w, x, *axis, **options: (
        w.row_sums(x, *axis, **options) or w.method("sum", x, axis, options)
    ),
    np.ndarray.sum: lambda w, x, *axis, **options: w.row_sums(x, *axis, **options),
    np.mean: lambda w, x, *axis, **options: w.method("mean", x, axis, options),
    np.dot: lambda w, x, *y, **options: w.method("dot", x, y, options),
    np.max: lambda w, x, *axis, **options: w.method("max", x, axis, options),
    np.min: lambda w, x, *axis, **options: w.method("min", x, axis, options),
    np.transpose: lambda w, x, *axes: None if axes else (f"{w.text(x, ATOM)}.T", ATOM),
    np.reshape: lambda w, x, shape: w.method("reshape", x, (shape,), {}),
    runtime.length: lambda w, x, axis: (f"{w.text(x, ATOM)}.shape[{w.text(axis)}]", ATOM),
    runtime.shape_of: lambda w, x: (f"{w.text(x, ATOM)}.shape", ATOM),
    runtime.real_part: lambda w, x: (f"{w.text(x, ATOM)}.real", ATOM),
    runtime.imaginary_part: lambda w, x: (f"{w.text(x, ATOM)}.imag", ATOM),
    runtime.conjugate: lambda w, x: (f"{w.text(x, ATOM)}.conjugate()", ATOM),
    runtime.new_tape: lambda w: ("[]", ATOM),
    runtime.sum_of: lambda w, *xs: (f"sum({', '.join(w.text(x) for x in xs)})", ATOM),
    runtime.sum_of_these: lambda w, *xs: (f"sum(({', '.join(w.text(x) for x in xs)}))", ATOM),
    runtime.exactly: lambda w, total, found: (w.text(found), ATOM),
    zip: lambda w, *xs: _zip_of_one(w, xs),
    rows.item: lambda w, x, i: (w.item(x, i), ATOM),
    rows.part: lambda w, x, i: (w.item(x, i), ATOM),
    rows.repeated: lambda w, x, n: (f"{w.text(x, ATOM)} * {w.text(n, 13)}", 12),
    rows.count: lambda w, x: (f"len({w.text(x)})", ATOM),
    rows.greatest: lambda w, x: (f"max({w.text(x)})", ATOM),
    rows.least: lambda w, x: (f"min({w.text(x)})", ATOM),
    rows.exact_total: lambda w, x: (f"{w.member('math.fsum', math.fsum)}({w.text(x)})", ATOM),
    rows.array_of: lambda w, x, t: (
        (f"{w.member('np.array', np.array)}({w.text(x)}, {w.text(t)})", ATOM)
        if t == Const(np.dtype(np.float64))
        else None  # `rows.array_of` checks that the list is not empty
    ),
    rows.zeros_of: lambda w, x: (f"[0.0] * len({w.text(x)})", 12),
    rows.complex_zeros_of: lambda w, x: (f"[0j] * len({w.text(x)})", 12),
    rows.take_last: lambda w, x: (f"{w.text(x, ATOM)}.pop()", ATOM),
    rows.take_first: lambda w, x: (f"{w.text(x, ATOM)}.pop(0)", ATOM),
    runtime.own: lambda w, x: (f"{w.member('np.array', np.array)}({w.text(x)})", ATOM),
    primitives.build_tuple: lambda w, *xs: (tuple_text(map(w.text, xs)), ATOM),
    primitives.build_list: lambda w, *xs: (f"[{', '.join(w.text(x) for x in xs)}]", ATOM),
    primitives.build_slice: lambda w, *xs: (f"slice({', '.join(w.text(x) for x in xs)})", ATOM),
}
