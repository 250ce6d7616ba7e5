"""Solutions of differential equations: `odeint`, and `solve_ivp` by each of SciPy's methods.

The values are SciPy's. Their derivatives are those of steps that are computed again, with constant
lengths (see `adjoint.rules.scipy.integrate.solver_steps`): of the steps themselves where the solver
is an explicit Runge-Kutta method, or Radau; of a collocation method of order 13 that finds the same
solution where it is BDF or LSODA.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import integrate

from adjoint.errors import AdjointError
from adjoint.levels.foreign.search_state import CHANGES, restore_after, run_search, without_levels
from adjoint.rulekit import nested
from adjoint.rulekit.registry import substitute
from adjoint.rulekit.substitute_source import without_rule
from adjoint.rules.scipy.integrate.solver_steps import (
    Rate,
    Steps,
    collocation,
    explicit,
    path_of,
    radau,
)
from adjoint.rules.scipy.searches import (
    as_tuple,
    corrected,
    corrections,
    refuse_rest,
    refused_result,
    with_value,
)

DIFFERENT = (
    "solves a differential equation of which another method finds another solution; give a longest"
    " step (hmax, max_step) that no change in the equation is shorter than, or smaller tolerances"
)

EXPLICIT = (integrate.RK45, integrate.RK23, integrate.DOP853)

STAGES = 7
"""Number of stages of the collocation method, whose order is 13."""

MERGED = 8
"""Most steps of a solver that one step of the collocation method replaces."""

NEAR, FARTHER = 10.0, 1e3
"""Corrections of the solver's solution, relative to its tolerances: the largest within a step that
is short enough, and the largest of all that finds no other solution."""


def solved(dense_output: bool, *given: Any, **options: Any) -> Any:
    """Return the result of `solve_ivp`, and a function that returns its dense solution."""
    found = integrate.solve_ivp(*given, dense_output=dense_output, **options)
    sol, found.sol = found.sol, None
    return found, lambda: sol


def seen_by_odeint(tfirst: bool, func: Any, *given: Any, **options: Any) -> Any:
    """Return the result of `odeint`, and the times at which it has evaluated `func`."""
    seen: list[float] = []

    def watched(*operands: Any) -> Any:
        seen.append(operands[0 if tfirst else 1])
        return func(*operands)

    return integrate.odeint(watched, *given, tfirst=tfirst, **options), np.array(seen)


solved.__name__, seen_by_odeint.__name__ = "solve_ivp", "odeint"
solved.__module__ = seen_by_odeint.__module__ = "scipy.integrate"


def _lengths(begins: Any, end: Any) -> tuple[Any, Any]:
    """Return offsets of starts and lengths, from the starts of steps and the end of the last."""
    ends = np.array([*begins, end], float)
    lengths = np.diff(ends)
    lengths[lengths == 0] = 1e-6 * (1 + abs(ends[0]))  # an integration over nothing
    return ends[:-1] - ends[0], lengths


@without_levels
def _implicit_steps(
    rate: Rate, y: Any, times: Any, at: Callable[[Any], Any], near: Any, is_radau: bool = False
) -> tuple[Any, str]:
    """Return steps of a collocation method, or the reason if there are none.

    Parameters
    ----------
    times
        The ends of the steps of the solver.
    at
        The solution (m, n) at given times.
    near
        The tolerances of the solver, relative and absolute.
    """
    stages, every = (3, 1) if is_radau else (STAGES, MERGED)
    chosen = [*range(0, len(times) - 1, every), len(times) - 1]
    while True:
        ends = times[chosen]
        begins, lengths = _lengths(ends[:-1], ends[-1])
        places = ends[:-1, None] + lengths[:, None] * radau(stages)[1]
        values = np.reshape(at(places.ravel()), (len(begins), stages, -1))
        try:
            steps, local, moved = collocation(rate, times[0], y, begins, lengths, stages, values)
        except AdjointError as error:
            return None, f"solves a differential equation, and of that: {error.problem}"
        except np.linalg.LinAlgError:
            return None, "solves a differential equation, with steps at which it is singular"
        allowed = near[0] * np.max(np.abs(values), axis=(0, 1)) + near[1]
        far = np.max(np.abs(local) / allowed, axis=(1, 2), initial=0.0) > NEAR
        pairs = zip(chosen, chosen[1:], far, strict=False)
        halves = [(i + j) // 2 for i, j, is_far in pairs if is_far and j > i + 1]
        if is_radau or not halves:
            break
        chosen = sorted({*chosen, *halves})
    if np.any(np.abs(moved) > FARTHER * allowed):
        return None, DIFFERENT
    return steps, ""


# ---- odeint --------------------------------------------------------------------------------------

USUAL = 1.49012e-8
"""Default tolerances of `odeint`."""


@substitute(integrate.odeint)
def odeint(
    func, y0, t, args=(), Dfun=None, col_deriv=0, full_output=0, ml=None, mu=None, rtol=None,
    atol=None, tcrit=None, h0=0.0, hmax=0.0, *rest, tfirst=False, **named,
):  # fmt: skip
    args, find = as_tuple(args), integrate.odeint

    def make(*args):
        def rate(time, y):
            return np.ravel(np.asarray(func(time, y, *args) if tfirst else func(y, time, *args)))

        return rate

    rate = make(*args)
    given = tfirst, func, y0, t, args, Dfun, col_deriv, full_output, ml, mu, rtol, atol
    y, times = np.ravel(y0) * 1.0, np.asarray(t) * 1.0
    probe = rate if len(times) else None
    (found, seen), search = run_search(
        seen_by_odeint,
        given + (tcrit, h0, hmax) + rest,
        named,
        probe,
        times[0] if len(times) else 0.0,
        y,
    )
    values, report = found if full_output else (found, None)
    if search.stores:
        values = refused_result(values, find, CHANGES, rate, y, times)
    elif len(times) == 0 or times[0] == times[-1]:
        values = with_value(values, y + np.zeros(np.shape(values)))
    else:
        options = args, Dfun, col_deriv, 0, ml, mu, rtol, atol, tcrit, h0, hmax, *rest
        steps, why = odeint_steps(rate, func, y, times, seen, options, {"tfirst": tfirst, **named})
        if why:
            values = refused_result(values, find, why, rate, y, times)
        else:
            values = with_value(values, path_of(make, args, times[0], y, steps)(times))
    if full_output:
        report = refuse_rest(find, report, (rate, y, times))
    restore_after(search)
    return (values, report) if full_output else values


@without_levels
def odeint_steps(
    rate: Rate, func: Any, y: Any, times: Any, seen: Any, options: Any, named: Any
) -> Any:
    """Return steps with the ends that the times at which `odeint` evaluates show."""
    direction = 1.0 if times[-1] >= times[0] else -1.0
    ends: list[float] = []
    for time in seen.tolist():
        while ends and direction * (time - ends[-1]) <= 0:  # a step is tried again
            ends.pop()
        ends.append(time)
    kept = [end for end in ends if direction * (times[-1] - end) > 0]

    def at(places: Any) -> Any:
        return integrate.odeint(func, y, np.append(times[0], places), *options, **named)[1:]

    rtol, atol = (USUAL if given is None else given for given in options[6:8])
    return _implicit_steps(rate, y, np.array([*kept, times[-1]]), at, (rtol, atol))


# ---- solve_ivp -----------------------------------------------------------------------------------

METHODS = {
    name: getattr(integrate, name) for name in ("RK45", "RK23", "DOP853", "Radau", "BDF", "LSODA")
}
NO_STEP = "has not solved a differential equation: its first step failed"
GRAZES = "has found an event where its function does not cross zero"


@substitute(integrate.solve_ivp)
def solve_ivp(
    fun, t_span, y0, method="RK45", t_eval=None, dense_output=False, events=None,
    vectorized=False, args=None, **options,
):  # fmt: skip
    given = fun, t_span, y0, method, t_eval, dense_output, events, vectorized, args
    kind = METHODS.get(method) if isinstance(method, str) else method
    if kind not in METHODS.values():
        return _SOLVE_IVP(*given, **options)
    find, further = integrate.solve_ivp, () if args is None else tuple(args)
    named = {"events": events, "vectorized": vectorized, "args": args, **options}
    asked = (fun, t_span, y0, method, t_eval)
    # Else it would change the number of results, or of evaluations.
    is_dense = dense_output or (events is None and kind is not integrate.DOP853)

    def make(*further):
        def rate(time, y):
            y = np.reshape(y, (-1, 1)) if vectorized else y
            return np.ravel(np.asarray(fun(time, y, *further)))

        return rate

    rate = make(*further)
    y, start = np.ravel(y0) * 1.0, t_span[0] * 1.0
    (found, solution), search = run_search(solved, (is_dense, *asked), named, rate, start, y)
    if search.stores and not search.stays and kind is not integrate.LSODA:
        return _SOLVE_IVP(*given, **options)  # its steps in Python are followed

    given = given + tuple(options.values())
    steps: Any = None
    why = search.why
    if not search.stores and found.status < 0 and kind not in EXPLICIT:
        why = f"solves a differential equation; {found.message}"
    elif not search.stores:
        steps, why = steps_of(rate, y, kind, is_dense, solution, asked, named)
    if why:
        found.y = refused_result(found.y, find, why, *given)
        found = refuse_rest(find, found, given, "y")
    else:
        path = path_of(make, further, start, y, steps)
        _move(found, path, start, t_span[1], t_eval, events, further, given)
        if dense_output:
            found.sol = _copied(solution)
            found.sol.path = path
    restore_after(search)
    return found


_SOLVE_IVP = without_rule(integrate.solve_ivp)


@without_levels
def _copied(solution: Any) -> Any:
    return copy.deepcopy(solution())


@without_levels
def steps_of(
    rate: Rate, y: Any, kind: Any, is_dense: bool, solution: Any, asked: Any, named: Any
) -> Any:
    """Return the steps of the solver, or those of a collocation method in their place."""
    sol = solution() if is_dense else solved(True, *asked, **named)[1]()
    paths = sol.interpolants
    if not paths:
        return None, NO_STEP
    times = np.array([*(path.t_old for path in paths), paths[-1].t])
    if kind in EXPLICIT:
        return Steps((*_lengths(times[:-1], times[-1]), *explicit(kind))), ""
    near = named.get("rtol", 1e-3), named.get("atol", 1e-6)
    is_radau = kind is integrate.Radau
    return _implicit_steps(rate, y, times, lambda t: sol(t).T, near, is_radau)


def _move(found, path, start, last, t_eval, events, further, given):
    """Attach the derivatives of the solution, its times and its events to a result."""
    if found.t_events is not None:
        for i, event in enumerate([events] if callable(events) else events):
            zeros = [_crossing(event, path, t, further, given) for t in found.t_events[i].tolist()]
            if zeros:
                if t_eval is None and found.status == 1 and zeros[-1] == found.t[-1]:
                    last = zeros[-1]
                stacked = np.stack(zeros)
                found.t_events[i] = with_value(found.t_events[i], stacked)
                found.y_events[i] = with_value(found.y_events[i], path(stacked))
    if len(found.t):
        if t_eval is not None:
            times = np.asarray(t_eval)[: len(found.t)] * 1.0
        else:
            times = start + (found.t - found.t[0])
            if found.status >= 0:
                times = np.concatenate((times[:-1], np.ravel(last)))
        found.t = with_value(found.t, times)
        found.y = with_value(found.y, path(times).T)


def _crossing(event, path, time, further, given):
    """Return the time of an event, which moves as the zero of the event's function does."""

    def value(time):
        return np.reshape(event(time, path(np.ravel(time))[0], *further), ())

    slope = _slope(value, time)
    if slope == 0.0:
        return refused_result(time, integrate.solve_ivp, GRAZES, *given)
    for _ in corrections():
        time = corrected(time, value(time), slope)
    return time


@without_levels
def _slope(f: Callable[..., Any], time: float) -> float:
    return float(nested.derivative(f)(time))


# ---- dense output --------------------------------------------------------------------------------

_CALL = without_rule(integrate.OdeSolution.__call__)


@substitute(integrate.OdeSolution.__call__)
def _(self, t):
    if not hasattr(self, "path"):
        return _CALL(self, t)
    rows = self.path(np.ravel(t) * 1.0)
    return with_value(_value(self, t), rows.T if np.ndim(t) else rows[0])


@without_levels
def _value(solution: Any, t: Any) -> Any:
    return _CALL(solution, t)
