"""Solvers of differential equations in terms of operations of programs: the definitions that these
inline.

SciPy computes the values, and calls the user's function as it is. Their derivatives are those of
steps with constant lengths (see `adjoint.rules.scipy.integrate.trajectories`), which are operations
of the program. The generic tier takes calls with events or other options.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import integrate

from adjoint.fast.evaluate.callees.numpy_definitions import definition, with_derivative
from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.handlers.table import handler
from adjoint.fast.evaluate.types import Array
from adjoint.fast.evaluate.values import Abstract, Known, Tuple
from adjoint.fast.nested.plain_calls import VECTOR, plainly, written_or
from adjoint.fast.nested.solvers import report
from adjoint.fast.not_covered import Deoptimize, NotCovered
from adjoint.ir.single import Const
from adjoint.rulekit import nested
from adjoint.rulekit.registry import non_differentiable
from adjoint.rules.scipy.integrate.solver_steps import (
    Steps,
    explicit,
    interpolated,
    interpolated_stages,
    radau,
    rates_at,
    residual_of,
    settled,
    stages_of,
    steps_at,
)
from adjoint.rules.scipy.integrate.trajectories import (
    EXPLICIT,
    METHODS,
    STAGES,
    odeint_steps,
    seen_by_odeint,
    solved,
    steps_of,
)
from adjoint.rules.scipy.searches import as_tuple, corrections


def _at_once(rate: Any, start: Any, offsets: Any, values: Any) -> Any:
    as_many = np.reshape(values, (len(offsets), np.shape(values)[1]))
    return nested.vmap(rate)(start + offsets, as_many)


@handler(rates_at)
def _(ev: Evaluator, *operands: Abstract) -> Abstract:
    return written_or(ev, _at_once, rates_at, operands)


# ---- paths ---------------------------------------------------------------------------------------


def explicit_path(rate, start, y, times, method):
    """Return the values (m, n) at `times` of steps of an explicit method."""
    where = steps_at(method[0], method[1], start, times)
    return interpolated(times, start, method, where, stages_of(rate, start, y, method))


def implicit_path(rate, start, y, times, method, rest):
    """Return the values (m, n) at `times` of steps with given stages."""
    offsets, stages, inverse = rest
    count, s, n = len(method[0]), len(method[3]), len(y)
    stages = np.reshape(stages, (count, s, n))
    inverse = np.reshape(inverse, (count, s * n, s * n))
    for _ in corrections():
        left = residual_of(rate, start, y, method, offsets, stages)
        stages = settled(stages, left, inverse)
    where = steps_at(method[0], method[1], start, times)
    return interpolated_stages(times, start, method, where, (y, stages))


def _flat(steps: Steps) -> tuple[Any, ...]:
    """Return what a program does not know of steps, as vectors."""
    if steps.stages is None:
        return steps.method[:2]
    return *steps.method[:2], steps.offsets, steps.stages.ravel(), steps.inverse.ravel()


def _start(y0: Any) -> Any:
    y = np.ravel(y0) * 1.0
    if y.dtype != float:
        raise Deoptimize("a differential equation of other numbers than floats")
    return y


def _coefficients(kind: Any) -> tuple[Any, ...]:
    if kind in EXPLICIT:
        return explicit(kind)
    return radau(3 if kind is integrate.Radau else STAGES)


@non_differentiable
def coefficient(kind: Any, i: int) -> Any:
    """Return one of the arrays of coefficients of a method."""
    return _coefficients(kind)[i]


def method_of(method: Any) -> Any:
    """Stand for whether a method is explicit, and its coefficients."""
    raise NotImplementedError


@handler(method_of)
def _(ev: Evaluator, method: Abstract) -> Abstract:
    kind = METHODS.get(method.value, method.value) if isinstance(method, Known) else None
    if kind not in METHODS.values():
        raise NotCovered("a solver that is not known", ev.span)
    arrays = [
        ev.operation(coefficient, (Const(kind), Const(i)), Array(x.dtype, x.shape))
        for i, x in enumerate(_coefficients(kind))
    ]
    return Tuple((Known(kind in EXPLICIT), Tuple(tuple(arrays))))


# ---- odeint --------------------------------------------------------------------------------------


def _odeint(func: Any, y0: Any, t: Any, args: Any, tfirst: Any, *settings: Any) -> Any:
    y, times = _start(y0), np.asarray(t) * 1.0
    if len(times) == 0 or times[0] == times[-1]:
        raise Deoptimize("an integration over nothing")

    def rate(time: Any, y: Any) -> Any:
        return np.ravel(np.asarray(func(time, y, *args) if tfirst else func(y, time, *args)))

    values, seen = seen_by_odeint(tfirst, func, y0, t, args, None, 0, 0, *settings)
    options = (args, None, 0, 0, *settings)
    steps, why = odeint_steps(rate, func, y, times, seen, options, {"tfirst": tfirst})
    if why:
        raise Deoptimize(why)
    return values.ravel(), *_flat(steps)


@definition(integrate.odeint)
def odeint(
    func, y0, t, args=(), Dfun=None, col_deriv=0, full_output=0, ml=None, mu=None, rtol=None,
    atol=None, tcrit=None, h0=0.0, hmax=0.0, hmin=0.0, ixpr=0, mxstep=0, mxhnil=0, mxordn=12,
    mxords=5, printmessg=0, tfirst=False,
):  # fmt: skip
    if full_output or Dfun is not None:
        raise ValueError("other options")
    others, times = as_tuple(args), np.asarray(t) * 1.0
    y, start = np.ravel(y0) * 1.0, times[0]
    if tfirst:
        rate = lambda time, y: np.ravel(np.asarray(func(time, y, *others)))
    else:
        rate = lambda time, y: np.ravel(np.asarray(func(y, time, *others)))
    given = (
        func, y0, t, others, tfirst, ml, mu, rtol, atol, tcrit, h0, hmax, hmin, ixpr, mxstep,
        mxhnil, mxordn, mxords, printmessg,
    )  # fmt: skip
    values, begins, lengths, *rest = plainly(_odeint, given, (VECTOR,) * 6, rate, start, y)
    method = begins, lengths, *method_of("LSODA")[1]
    moved = implicit_path(rate, start, y, times, method, rest)
    return with_derivative(np.reshape(values, (len(times), len(y))), moved)


# ---- solve_ivp -----------------------------------------------------------------------------------

_LIKE = integrate.solve_ivp(lambda t, y: y, (0.0, 1.0), [0.0])
_FIELDS, _CLASS, _MESSAGE = tuple(_LIKE), type(_LIKE), _LIKE.message


def _solve_ivp(
    fun: Any, t_span: Any, y0: Any, method: Any, t_eval: Any, args: Any, options: Any
) -> Any:
    y, kind = _start(y0), METHODS.get(method, method)

    def rate(time: Any, y: Any) -> Any:
        return np.ravel(np.asarray(fun(time, y, *args)))

    asked = fun, t_span, y0, method, t_eval
    named = {"args": args, **options}
    is_dense = kind is not integrate.DOP853  # else it would change the number of evaluations
    found, solution = solved(is_dense, *asked, **named)
    if found.status < 0 or found.y.dtype != float:
        raise Deoptimize("a differential equation that is not solved")
    steps, why = steps_of(rate, y, kind, is_dense, solution, asked, named)
    if why:
        raise Deoptimize(why)
    counts = found.nfev, int(found.njev), int(found.nlu)
    return *counts, found.t, found.y.ravel(), *_flat(steps)


@definition(integrate.solve_ivp)
def solve_ivp(
    fun, t_span, y0, method="RK45", t_eval=None, dense_output=False, events=None, vectorized=False,
    args=None, *, rtol=1e-3, atol=1e-6, max_step=np.inf, first_step=None,
):  # fmt: skip
    if dense_output or events is not None or vectorized:
        raise ValueError("other options")
    is_explicit, coefficients = method_of(method)
    others = () if args is None else tuple(args)
    y, start = np.ravel(y0) * 1.0, t_span[0] * 1.0
    rate = lambda time, y: np.ravel(np.asarray(fun(time, y, *others)))
    options = {"rtol": rtol, "atol": atol, "max_step": max_step, "first_step": first_step}
    given = fun, t_span, y0, method, t_eval, others, options
    like = (0, 0, 0) + (VECTOR,) * (4 if is_explicit else 7)
    found = plainly(_solve_ivp, given, like, rate, start, y)
    nfev, njev, nlu, t, values, begins, lengths, *rest = found
    if t_eval is not None:
        times = np.asarray(t_eval) * 1.0
    else:
        times = np.concatenate(((start + (t - t[0]))[:-1], np.ravel(t_span[1] * 1.0)))
    method = begins, lengths, *coefficients
    if is_explicit:
        moved = explicit_path(rate, start, y, times, method)
    else:
        moved = implicit_path(rate, start, y, times, method, rest)
    y = with_derivative(np.reshape(values, (len(y), len(times))), moved.T)
    return report(
        _FIELDS, _CLASS, t=with_derivative(t, times), y=y, sol=None, t_events=None, y_events=None,
        nfev=nfev, njev=njev, nlu=nlu, status=0, message=_MESSAGE, success=True,
    )  # fmt: skip
