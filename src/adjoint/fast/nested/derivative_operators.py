"""The operators that programs inline."""

from __future__ import annotations

from typing import Any

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.handlers.table import handler
from adjoint.fast.evaluate.stand_ins import derivative_at, gradient_in, rows_of
from adjoint.fast.evaluate.types import Number
from adjoint.fast.evaluate.values import Abstract, Known, Partial, Tuple
from adjoint.fast.nested.all_rows import all_rows
from adjoint.fast.nested.inner_derivatives import gradient, pushforward
from adjoint.fast.nested.jacobians import jacobian
from adjoint.fast.not_covered import NotCovered
from adjoint.ir.single import Value
from adjoint.rulekit import nested


@handler(nested.gradient)
def _(ev: Evaluator, f: Abstract, /, *args: Abstract, **keywords: Abstract) -> Abstract:
    return Tuple(tuple(gradient(ev, f, args, range(len(args)), keywords)[1]))


@handler(nested.withgradient)
def _(ev: Evaluator, f: Abstract, /, *args: Abstract, **keywords: Abstract) -> Abstract:
    if "has_aux" in keywords:
        raise NotCovered("an inner derivative with has_aux", ev.span)
    value, bars = gradient(ev, f, args, range(len(args)), keywords)
    return Tuple((value, Tuple(tuple(bars))), nested.ValueAndGradient)


@handler(nested.grad)
def _(ev: Evaluator, f: Abstract, argnums: Abstract = Known(0)) -> Abstract:
    return Partial(Known(gradient_in), (f, argnums, Known(False)), ())


@handler(nested.value_and_grad)
def _(ev: Evaluator, f: Abstract, argnums: Abstract = Known(0)) -> Abstract:
    return Partial(Known(gradient_in), (f, argnums, Known(True)), ())


@handler(gradient_in)
def _(
    ev: Evaluator,
    f: Abstract,
    argnums: Abstract,
    with_value: Abstract,
    /,
    *args: Abstract,
    **keywords: Abstract,
) -> Abstract:
    asked = _known(ev, argnums)
    single = type(asked) is int or (asked is None and len(args) == 1)
    places = range(len(args)) if asked is None else asked if type(asked) is tuple else (asked,)
    if not all(type(i) is int and 0 <= i < len(args) for i in places):
        raise NotCovered("an inner derivative in such arguments", ev.span)
    value, bars = gradient(ev, f, args, places, keywords)
    found = bars[0] if single else Tuple(tuple(bars))
    return Tuple((value, found)) if _known(ev, with_value) else found


def _known(ev: Evaluator, a: Abstract) -> Any:
    """Return a known value, or a tuple of known values."""
    if isinstance(a, Known):
        return a.value
    if isinstance(a, Tuple):
        return tuple(_known(ev, x) for x in a.items)
    raise NotCovered("an option of an inner derivative that is not known", ev.span)


@handler(nested.pushforward)
def _(
    ev: Evaluator, f: Abstract, args: Abstract, tangents: Abstract, **keywords: Abstract
) -> Abstract:
    xs, dots = ev.sequence(args), ev.sequence(tangents)
    if xs is None or dots is None or len(xs) != len(dots):
        raise NotCovered("arguments and tangents that do not fit", ev.span)
    return Tuple(pushforward(ev, f, xs, dots, keywords))


@handler(nested.derivative)
def _(ev: Evaluator, f: Abstract) -> Abstract:
    return Partial(Known(derivative_at), (f,), ())


@handler(derivative_at)
def _(
    ev: Evaluator, f: Abstract, /, x: Abstract, *args: Abstract, **keywords: Abstract
) -> Abstract:
    is_number = isinstance(ev.types[x], Number) if isinstance(x, Value) else isinstance(x, Known)
    if not is_number:
        raise NotCovered("a derivative in something else than a number", ev.span)
    dots = [Known(1.0), *(Known(None) for _ in args)]
    return pushforward(ev, f, [x, *args], dots, keywords)[1]


@handler(nested.hvp)
def _(ev: Evaluator, f: Abstract, x: Abstract, v: Abstract, **keywords: Abstract) -> Abstract:
    return pushforward(ev, _slope(f), [x], [v], keywords)[1]


@handler(nested.gradient_and_hvp)
def _(ev: Evaluator, f: Abstract, x: Abstract, v: Abstract, **keywords: Abstract) -> Abstract:
    return Tuple(pushforward(ev, _slope(f), [x], [v], keywords))


@handler(nested.jacobian)
def _(ev: Evaluator, f: Abstract, x: Abstract, *, mode: Abstract = Known(None)) -> Abstract:
    return jacobian(ev, f, x, _known(ev, mode))


@handler(nested.hessian)
def _(ev: Evaluator, f: Abstract, x: Abstract) -> Abstract:
    return jacobian(ev, _slope(f), x, "forward")


def _slope(f: Abstract) -> Abstract:
    return Partial(Known(gradient_in), (f, Known(0), Known(False)), ())


@handler(nested.vmap)
def _(
    ev: Evaluator, f: Abstract, in_axes: Abstract = Known(0), out_axes: Abstract = Known(0)
) -> Abstract:
    return Partial(Known(rows_of), (f, in_axes, out_axes), ())


@handler(rows_of)
def _(
    ev: Evaluator,
    f: Abstract,
    in_axes: Abstract,
    out_axes: Abstract,
    /,
    *args: Abstract,
    **keywords: Abstract,
) -> Abstract:
    axes = _known(ev, in_axes)
    of_args = axes if type(axes) is tuple else (axes,) * len(args)
    if len(of_args) != len(args):
        raise NotCovered("axes that do not fit the arguments", ev.span)
    return all_rows(ev, f, args, of_args, keywords, _known(ev, out_axes))
