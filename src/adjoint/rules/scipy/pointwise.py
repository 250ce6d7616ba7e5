"""The family of pointwise functions that do not fit `elementwise`.

They have several results (``airy``), real operands of complex functions (``hankel1``), or options
among the operands, by position or by keyword (``spherical_jn(n, z, derivative=True)``)::

    pointwise(sp.fresnel, "z", z=lambda z: (sp.sindg(90 * z * z), sp.cosdg(90 * z * z)))
    pointwise(sp.jvp, v=ORDER, z=lambda v, z, n: sp.jvp(v, z, n + 1))
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from adjoint.cotangents.finiteness import finite
from adjoint.rulekit.elementwise_forward import filled, like_result
from adjoint.rulekit.projection import as_numeric, projector
from adjoint.rulekit.refusal import NoDerivative, added, refused_bar, refused_dot
from adjoint.rulekit.registry import frule, rrule

Slope: TypeAlias = Callable[..., Any] | NoDerivative


def pointwise(
    f: Callable[..., Any],
    operands: str | Callable[..., Any] | None = None,
    /,
    **partials: Slope,
) -> None:
    """Register both rules of a function that acts on each element separately.

    Parameters
    ----------
    f
        Takes numbers, arrays that broadcast and lists; returns one result or a tuple of results.
    operands
        Where `f` has no signature: the names of its parameters, all positional (a ufunc), or a
        function with the signature.
    **partials
        For each parameter a function that returns the derivative of the result, or a tuple with
        the derivative of each result (``None``: zero). Its parameters are among ``y`` and the
        parameters of `f`. The derivative is holomorphic in complex operands, or a `RealLinear`;
        in real operands it may be complex. A `NoDerivative` refuses the derivative. Parameters
        of `f` that are left out are options, without derivative.
    """
    plan = _Plan.of(f, operands, partials)
    reverse: Callable[..., Any] = lambda *args, **kwargs: _reverse(plan, args, kwargs)
    forward: Callable[..., Any] = lambda dots, *args, **kwargs: _forward(plan, dots, args, kwargs)
    dots = inspect.Parameter("dots", inspect.Parameter.POSITIONAL_ONLY)
    reverse.__signature__ = inspect.Signature(plan.parameters)  # type: ignore[attr-defined]
    forward.__signature__ = inspect.Signature([dots, *plan.parameters])  # type: ignore[attr-defined]
    # The engine takes the result of a trusted ufunc as one number or array.
    trusted = isinstance(f, np.ufunc) and f.nout == 1
    rrule.register(f, trusted=trusted)(reverse)
    frule.register(f, trusted=trusted)(forward)


@dataclass(frozen=True, slots=True)
class RealLinear:
    """The derivative of a non-holomorphic function: ``slope dz + factor Re(conj(along) dz)``.
    Functions that are scaled by exp(−|Im z|), for example, have ``along = i sign(Im z)``."""

    slope: Any
    factor: Any
    along: Any


@dataclass(frozen=True, slots=True)
class Components:
    """The slope of a result with additional trailing axes, such as a gradient."""

    slope: Any
    axes: int


@dataclass(frozen=True, slots=True)
class _Plan:
    f: Callable[..., Any]
    parameters: list[inspect.Parameter]
    partials: dict[str, Slope]
    reads: dict[str, tuple[str, ...]]

    @classmethod
    def of(
        cls,
        f: Callable[..., Any],
        operands: str | Callable[..., Any] | None,
        partials: dict[str, Slope],
    ) -> _Plan:
        if not isinstance(operands, str):
            given = inspect.signature(f if operands is None else operands).parameters.values()
            parameters = [p.replace(annotation=p.empty) for p in given]
        else:
            kind = inspect.Parameter.POSITIONAL_ONLY
            parameters = [inspect.Parameter(name, kind) for name in operands.split()]
        names = [p.name for p in parameters]
        slopes = {k: p.in_reals if isinstance(p, NoDerivative) else p for k, p in partials.items()}
        reads = {
            k: tuple(inspect.signature(p).parameters) for k, p in slopes.items() if callable(p)
        }
        unknown = {*partials, *(name for read in reads.values() for name in read)} - {"y", *names}
        if unknown:
            raise TypeError(f"{f} has no parameters {sorted(unknown)}")
        return cls(f, parameters, partials, reads)

    def bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Return every argument by name."""
        named = {p.name: p.default for p in self.parameters}
        for p, arg in zip(self.parameters, args, strict=False):
            named[p.name] = arg
        named.update(kwargs)
        return named

    def computing(self, named: dict[str, Any]) -> dict[str, Any] | None:
        """Return the arguments, operands as floating NumPy values; ``None`` if one is no number.
        Python numbers are converted as well, because they raise at a pole."""
        out = dict(named)
        for name in self.partials:
            value = named[name]
            if value is None:
                continue
            number = as_numeric(value)
            if number is None:
                return None
            if name in self.reads:
                number = floating(number)
            out[name] = number
        return out

    def refused(self, name: str, named: dict[str, Any]) -> NoDerivative | None:
        """Return the refusal that applies to an operand, if any."""
        partial = self.partials[name]
        if not isinstance(partial, NoDerivative):
            return None
        if partial.in_reals is not None and not any(
            np.iscomplexobj(named[other]) for other in self.partials
        ):
            return None
        return partial

    def slopes(self, name: str, y: Any, named: dict[str, Any]) -> tuple[Any, ...]:
        """Return the derivative of each result in one operand."""
        partial: Any = self.partials[name]
        partial = partial.in_reals if isinstance(partial, NoDerivative) else partial
        found = partial(*[y if read == "y" else named[read] for read in self.reads[name]])
        return found if isinstance(found, tuple) else (found,)


def floating(x: Any) -> Any:
    """Return a number or an array with a floating dtype."""
    if hasattr(x, "dtype"):
        return x if x.dtype.kind in "fc" else x.astype(np.float64)
    return np.complex128(x) if isinstance(x, complex) else np.float64(x)


def _reverse(plan: _Plan, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    given = plan.bound(args, kwargs)
    named = plan.computing(given)
    if named is None:
        return NotImplemented
    y = plan.f(*args, **kwargs)
    places = [p.name if p.name in plan.partials else None for p in plan.parameters[: len(args)]]
    projectors = {name: projector(given[name]) for name in places if name is not None}

    def pointwise_back(y_bar: Any) -> tuple[Any, ...]:
        bars: list[Any] = [None]
        for name in places:
            if name is None or given[name] is None:
                bars.append(None)
                continue
            refused = plan.refused(name, named)
            if refused is not None:
                bars.append(refused_bar(plan.f, refused, y_bar))
            else:
                bar = _pulled(plan.slopes(name, y, named), y_bar)
                bars.append(None if bar is None else projectors[name](bar))
        return tuple(bars)

    return y, pointwise_back


def _pulled(slopes: tuple[Any, ...], y_bar: Any) -> Any:
    total = None
    for slope, bar in zip(slopes, y_bar if isinstance(y_bar, tuple) else (y_bar,), strict=True):
        if slope is None or bar is None:
            continue
        term = _adjoint(bar, slope)
        total = term if total is None else total + term
    return total


def _adjoint(bar: Any, slope: Any) -> Any:
    if isinstance(slope, Components):
        return np.sum(_adjoint(bar, slope.slope), axis=tuple(range(-slope.axes, 0)))
    if isinstance(slope, RealLinear):
        turned = slope.along * np.real(bar * np.conj(slope.factor))
        term = bar * np.conj(slope.slope) + turned
    else:
        term = bar * np.conj(slope)
    return term if finite(term) else np.where(np.equal(bar, 0), 0, term)


def _forward(
    plan: _Plan, dots: tuple[Any, ...], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    given = plan.bound(args, kwargs)
    named = plan.computing(given)
    if named is None:
        return NotImplemented
    y = plan.f(*args, **kwargs)
    results = y if isinstance(y, tuple) else (y,)
    totals: list[Any] = [None] * len(results)
    for p, dot in zip(plan.parameters, dots, strict=False):
        if dot is None or p.name not in plan.partials:
            continue
        refused = plan.refused(p.name, named)
        if refused is not None:
            for i, result in enumerate(results):
                totals[i] = added(totals[i], refused_dot(plan.f, refused, dot, result))
            continue
        dot = filled(dot, given[p.name])
        for i, slope in enumerate(plan.slopes(p.name, y, named)):
            if slope is not None:
                term = _pushed(slope, dot)
                totals[i] = term if totals[i] is None else totals[i] + term
    tangents = tuple(
        [None if t is None else like_result(t, r) for t, r in zip(totals, results, strict=True)]
    )
    if all(t is None for t in tangents):
        return y, None
    return y, tangents if isinstance(y, tuple) else tangents[0]


def _pushed(slope: Any, dot: Any) -> Any:
    if isinstance(slope, Components):
        return _pushed(slope.slope, np.asarray(dot)[(..., *(None,) * slope.axes)])
    if isinstance(slope, RealLinear):
        along = np.real(np.conj(slope.along) * dot)
        term = slope.slope * dot + slope.factor * along
    else:
        term = slope * dot
    if not finite(term):
        term = np.where(np.equal(dot, 0) & ~np.isfinite(term), 0, term)[()]
    return term
