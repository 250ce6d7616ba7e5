"""Solvers of differential equations in terms of operations of programs: the definitions that these
inline.

SciPy computes the values, and calls the user's function as it is. Their derivatives are those of
steps with constant lengths (see `adjoint.rules.scipy.integrate.trajectories`), which are operations
of the program. The generic tier takes calls with other options.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import integrate

from adjoint.fast.evaluate.callees.numpy_definitions import constant, definition, with_derivative
from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.handlers.table import handler, in_programs
from adjoint.fast.evaluate.types import Array
from adjoint.fast.evaluate.values import Abstract, Known, Tuple
from adjoint.fast.nested.plain_calls import OBJECT, OWN_VECTOR, VECTOR, plainly, written_or
from adjoint.fast.nested.solvers import later, report
from adjoint.fast.not_covered import Deoptimize, NotCovered
from adjoint.ir.single import Const
from adjoint.rulekit import nested
from adjoint.rulekit.registry import non_differentiable
from adjoint.rules.scipy.equivalents import result_like
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


def explicit_path(rate, start, y, method):
    """Return the function from times (m,) to values (m, n) of steps of an explicit method."""
    found = stages_of(rate, start, y, method)

    def path(times):
        where = steps_at(method[0], method[1], start, times)
        return interpolated(times, start, method, where, found)

    return path


def implicit_path(rate, start, y, method, rest):
    """Return the function from times (m,) to values (m, n) of steps with given stages."""
    offsets, stages, inverse = rest
    count, s, n = len(method[0]), len(method[3]), len(y)
    stages = np.reshape(stages, (count, s, n))
    inverse = np.reshape(inverse, (count, s * n, s * n))
    for _ in corrections():
        left = residual_of(rate, start, y, method, offsets, stages)
        stages = settled(stages, left, inverse)

    def path(times):
        where = steps_at(method[0], method[1], start, times)
        return interpolated_stages(times, start, method, where, (y, stages))

    return path


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


@in_programs
def method_of(ev: Evaluator, method: Abstract) -> Abstract:
    """Stand for whether a method is explicit, and its coefficients."""
    kind = METHODS.get(method.value, method.value) if isinstance(method, Known) else None
    if kind not in METHODS.values():
        raise NotCovered("a solver that is not known", ev.span)
    arrays = [
        ev.operation(coefficient, (Const(kind), Const(i)), Array(x.dtype, x.shape))
        for i, x in enumerate(_coefficients(kind))
    ]
    return Tuple((Known(kind in EXPLICIT), Tuple(tuple(arrays))))


_STEPS = OWN_VECTOR, VECTOR, VECTOR, OWN_VECTOR, OWN_VECTOR, OWN_VECTOR
"""The types of values, and of what `_flat` returns."""

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
    values, begins, lengths, *rest = plainly(_odeint, given, _STEPS, rate, start, y)
    method = begins, lengths, *method_of("LSODA")[1]
    moved = implicit_path(rate, start, y, method, rest)(times)
    return with_derivative(np.reshape(values, (len(times), len(y))), moved)


# ---- solve_ivp -----------------------------------------------------------------------------------

_LIKE = integrate.solve_ivp(lambda t, y: y, (0.0, 1.0), [0.0], dense_output=True)
_FIELDS, _CLASS, _MESSAGE = tuple(_LIKE), type(_LIKE), _LIKE.message
_DENSE = *vars(_LIKE.sol), "path", "solution"


def _solve_ivp(
    fun: Any, t_span: Any, y0: Any, method: Any, t_eval: Any, is_dense: Any, events: Any,
    marks: Any, args: Any, options: Any,
) -> Any:  # fmt: skip
    y, kind = _start(y0), METHODS.get(method, method)

    def rate(time: Any, y: Any) -> Any:
        y = np.reshape(y, (-1, 1)) if options["vectorized"] else y
        return np.ravel(np.asarray(fun(time, y, *args)))

    asked = fun, t_span, y0, method, t_eval
    named = {"args": args, **options}
    if events:
        named["events"] = [_marked(*one) for one in zip(events, *marks, strict=True)]
    asks_dense = is_dense
    is_dense = is_dense or kind is not integrate.DOP853  # else it would change `nfev`
    found, solution = solved(is_dense, *asked, **named)
    if found.status < 0 or found.y.dtype != float:
        raise Deoptimize("a differential equation that is not solved")
    if found.status == 1 and is_dense and not asks_dense:
        if solution().interpolants[-1].t == found.t[-1:]:
            raise Deoptimize("an event where a step ends, of which SciPy shows one time or two")
    steps, why = steps_of(rate, y, kind, is_dense, solution, asked, named)
    if why:
        raise Deoptimize(why)
    counts = found.nfev, int(found.njev), int(found.nlu), found.status
    zeros = found.t_events or []
    last = [i for i, at in enumerate(zeros) if len(at) and marks[0][i] and at[-1] == found.t[-1]]
    which = last[-1] if last and found.status == 1 and t_eval is None else -1
    happened = *zeros, *(np.ravel(one) for one in found.y_events or [])
    sol = solution() if asks_dense else None
    return *counts, which, sol, *happened, found.t, found.y, *_flat(steps)


def _marked(event: Any, terminal: Any, direction: Any) -> Any:
    def marked(time: Any, y: Any, *args: Any) -> Any:
        return event(time, y, *args)

    marked.terminal, marked.direction = terminal, direction  # type: ignore[attr-defined]
    return marked


@definition(integrate.solve_ivp)
def solve_ivp(
    fun, t_span, y0, method="RK45", t_eval=None, dense_output=False, events=None, vectorized=False,
    args=None, *, rtol=1e-3, atol=1e-6, max_step=np.inf, first_step=None,
):  # fmt: skip
    is_explicit, coefficients = method_of(method)
    others = () if args is None else tuple(args)
    y, start = np.ravel(y0) * 1.0, t_span[0] * 1.0
    if vectorized:
        rate = lambda time, y: np.ravel(np.asarray(fun(time, np.reshape(y, (-1, 1)), *others)))
    else:
        rate = lambda time, y: np.ravel(np.asarray(fun(time, y, *others)))
    several = () if events is None else (events,) if callable(events) else tuple(events)
    terminal = tuple([getattr(event, "terminal", None) for event in several])
    marks = terminal, tuple([getattr(event, "direction", 0) for event in several])
    every = lambda time, y: (rate(time, y), [event(time, y, *others) for event in several])
    options = {
        "rtol": rtol, "atol": atol, "max_step": max_step, "first_step": first_step,
        "vectorized": vectorized,
    }  # fmt: skip
    given = (
        fun, t_span, y0, method, t_eval, dense_output, several, marks, others, options,
    )  # fmt: skip
    count = len(several)
    like = (0, 0, 0, 0, 0, OBJECT) + (OWN_VECTOR,) * (2 * count + 1)
    rest = (OBJECT, VECTOR, VECTOR) + (() if is_explicit else (OWN_VECTOR,) * 3)
    found = plainly(_solve_ivp, given, like + rest, every, start, y)
    nfev, njev, nlu, status, which, solution = found[:6]
    t, values, begins, lengths, *rest = found[6 + 2 * count :]
    method = begins, lengths, *coefficients
    if is_explicit:
        path = explicit_path(rate, start, y, method)
    else:
        path = implicit_path(rate, start, y, method, rest)
    zeros, last = [], np.ravel(t_span[1] * 1.0)
    for i in range(count):
        event = lambda time, y: several[i](time, y, *others)
        zeros.append(crossings(event, path, found[6 + i]))
        if terminal[i] and which == i:
            last = np.reshape(zeros[i][-1], 1)
    if t_eval is not None:
        times = np.asarray(t_eval)[: len(t)] * 1.0
    else:
        times = np.concatenate(((start + (t - t[0]))[:-1], last))
    shown = {"t": with_derivative(t, times), "nfev": nfev, "njev": njev, "nlu": nlu, "sol": None}
    if dense_output:
        shown["sol"] = report(_DENSE, integrate.OdeSolution, path=path, solution=solution)
    if count:
        states = found[6 + count : 6 + 2 * count]
        shown["y_events"] = later(lambda: values_at_events(states, zeros, y, path))
        shown["t_events"], shown["status"] = zeros, status
    else:
        shown["t_events"], shown["y_events"], shown["status"] = None, None, 0
        shown["message"] = _MESSAGE
    moved = path(times).T
    if t_eval is not None:  # as SciPy's values lie in memory
        moved = np.reshape(np.ravel(moved), (len(y), len(times)))
    shown["y"] = with_derivative(values_of(moved, values), moved)
    return report(_FIELDS, _CLASS, success=True, **shown)


# ---- events --------------------------------------------------------------------------------------


def crossings(event, path, times):
    """Return the times (m,) of an event, which move as the zeros of its function do."""
    at = lambda time, y: np.reshape(event(time, y), ())
    along = lambda times: nested.vmap(at)(times, path(times))
    left = along(times)
    slopes = crossing(nested.pushforward(along, (times,), (np.ones(len(times)),))[1])
    for order in corrections():
        if order:
            left = along(times)
        times = times - (left - constant(left)) / slopes
    return times


@result_like(lambda slopes: slopes)
@non_differentiable
def crossing(slopes: Any) -> Any:
    """Demand that the function of an event crosses zero."""
    if not np.all(slopes != 0.0):
        raise Deoptimize("an event where its function does not cross zero")
    return slopes


def values_at_events(states, zeros, y, path):
    """Return the values (m, n) at the times of each event, as a list."""
    pairs = zip(states, zeros, strict=True)
    return [with_derivative(rows_of(values, times, y), path(times)) for values, times in pairs]


@result_like(lambda states, zeros, y: zeros[:, None] * y)
@non_differentiable
def rows_of(states: Any, zeros: Any, y: Any) -> Any:
    """Return the values (m, n) at the times of an event; SciPy has a vector if there are none."""
    if not len(zeros):
        raise Deoptimize("values at an event that has not happened")
    return np.reshape(states, (len(zeros), len(y)))


# ---- dense output --------------------------------------------------------------------------------


@definition(integrate.OdeSolution.__call__)
def dense_output(self, t):
    rows = self.path(np.ravel(t) * 1.0)
    moved = rows.T if np.ndim(t) else rows[0]
    return with_derivative(values_of(moved, self.solution, t), moved)


@result_like(lambda like, *rest: like)
@non_differentiable
def values_of(like: Any, solution: Any, *t: Any) -> Any:
    """Return an array of values, or those of a solution at `t`: not copies, since the order of the
    numbers in memory decides how their sum is rounded."""
    return solution(*t) if t else solution
