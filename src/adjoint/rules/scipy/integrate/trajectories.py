"""Differential equations solved by compiled code: `odeint`, and `solve_ivp` by LSODA.

The values are LSODA's. Their derivatives come from the implicit Radau method of order 5 with three
stages (Hairer and Wanner, *Solving Ordinary Differential Equations II*, section IV.5), with the
steps of SciPy's Radau solver. The stages solve equations, so they move as roots do (`corrected`).
The steps are constant, as in Bock's internal differentiation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import integrate

from adjoint.errors import AdjointError
from adjoint.rulekit import nested
from adjoint.rulekit.registry import substitute
from adjoint.rulekit.substitute_source import without_rule
from adjoint.rules.scipy.search_state import CHANGES, restore_after, run_search, without_levels
from adjoint.rules.scipy.searches import (
    as_tuple,
    corrected,
    corrections,
    refuse_rest,
    refused_result,
    with_value,
)

S = 6**0.5
C = np.array([(4 - S) / 10, (4 + S) / 10, 1.0])
"""Position of the stages in a step, relative to its length."""

A = np.array(
    [
        [(88 - 7 * S) / 360, (296 - 169 * S) / 1800, (-2 + 3 * S) / 225],
        [(296 + 169 * S) / 1800, (88 + 7 * S) / 360, (-2 - 3 * S) / 225],
        [(16 - S) / 36, (16 + S) / 36, 1 / 9],
    ]
)

BETWEEN = np.linalg.inv(np.vander([0.0, *C], increasing=True))
"""Matrix from values (start of a step, stages) to the coefficients of their polynomial."""

COARSER = 10.0
"""Tolerance of the steps, relative to LSODA's. It gives equal errors, because Radau estimates its
own by a method of order 3."""

DIFFERENT = (
    "solves a differential equation of which another method finds another solution; give a longest"
    " step (hmax, max_step) that no change in the equation is shorter than, or smaller tolerances"
)

USUAL = 1.49012e-8
"""Default tolerances of `odeint`."""


FARTHER, FAR = 1e3, 1e-2
"""Largest deviation of the two solutions: relative to the tolerances, and to the largest value."""


class Step(NamedTuple):
    """A step: offset of its start from the first time, length, stages (3, n) and their Jacobian.
    `slopes` is the Jacobian (3n, 3n) of the stage equations in the stages."""

    begin: float
    length: float
    stages: Any
    slopes: Any


class Settings(NamedTuple):
    """The tolerances, first step and longest step that LSODA was given."""

    rtol: Any
    atol: Any
    h0: Any
    hmax: Any


class Output(NamedTuple):
    """An output time: its offset from the first time, its step, and interpolation weights."""

    after: float
    step: int
    weights: Any


@without_levels
def _steps(
    f: Callable[..., Any], y: Any, times: Any, values: Any, settings: Settings
) -> tuple[list[Step], list[Output], str]:
    """Return the steps, the output times within them, and the reason if there are none."""
    first, last = times[0], times[-1]
    rtol, atol = (
        COARSER * np.min(USUAL if given is None else given)
        for given in (settings.rtol, settings.atol)
    )
    found = integrate.solve_ivp(
        f,
        (first, last),
        y,
        "Radau",
        dense_output=True,
        rtol=rtol,
        atol=atol,
        first_step=min(settings.h0, abs(last - first)) or None,
        max_step=settings.hmax or np.inf,
    )
    if not found.success:
        return [], [], f"solves a differential equation; {found.message}"
    steps, n = [], len(y)
    for begin, path in zip(found.t[:-1], found.sol.interpolants, strict=True):
        h = path.t - begin
        places = begin + C * h
        stages = path(places).T
        try:
            slopes = [nested.jacobian(lambda y, i=i: f(places[i], y), stages[i]) for i in range(3)]
        except AdjointError as error:
            return [], [], f"solves a differential equation, and of that: {error.problem}"
        coupled = np.einsum("ij,jab->iajb", A, np.array(slopes)).reshape(3 * n, 3 * n)
        matrix = np.eye(3 * n) - h * coupled
        rates = [f(places[i], stages[i]) for i in range(3)]
        residual = stages - y - h * (A @ rates)  # SciPy converges only to a step's tolerance
        stages -= np.linalg.solve(matrix, residual.ravel()).reshape(3, n)
        steps.append(Step(begin - first, h, stages, matrix))
        y = stages[2]
    direction = 1.0 if last >= first else -1.0
    where = np.searchsorted(direction * found.t[1:-1], direction * times)
    outputs = []
    for time, k in zip(times - first, where, strict=True):
        theta = (time - steps[k].begin) / steps[k].length
        outputs.append(Output(time, k, theta ** np.arange(4) @ BETWEEN))
    starts = [found.y[:, 0], *(step.stages[2] for step in steps)]
    rows = [weights @ np.stack([starts[k], *steps[k].stages]) for _, k, weights in outputs]
    size = np.max(np.abs(values), axis=0)
    near = max(min(FARTHER * rtol, FAR), rtol) * size + FARTHER * atol
    if not np.all(np.abs(rows - values) <= near):
        return [], [], DIFFERENT
    return steps, outputs, ""


def _path(
    f: Callable[..., Any], y: Any, times: Any, steps: list[Step], outputs: list[Output]
) -> Any:
    """Return the values at `times` as rows, with derivatives in `y`, `times` and what `f` reads."""
    start, paths = times[0], []
    for begin, h, stages, slopes in steps:
        for _ in corrections():
            rates = [f(start + (begin + C[i] * h), stages[i]) for i in range(3)]
            stages = corrected(stages, stages - y - h * (A @ np.stack(rates)), slopes)
        paths.append(np.stack([y, *stages]))
        y = stages[2]
    rows = []
    for time, (after, k, weights) in zip(times, outputs, strict=True):
        place = start + after
        rows.append(_further(f, place, weights @ paths[k], time - place))
    return np.stack(rows)


def _further(f: Callable[..., Any], t: Any, y: Any, h: Any) -> Any:
    """Return a Runge-Kutta step of length `h`, which is zero but may have a derivative. As many
    derivatives in `h` are exact as the order of the method."""
    order = len(corrections())
    k = f(t, y)
    if order == 1:
        return y + h * k
    half = f(t + h / 2, y + h / 2 * k)
    if order == 2:
        return y + h * half
    again = f(t + h / 2, y + h / 2 * half)
    return y + h / 6 * (k + 2 * half + 2 * again + f(t + h, y + h * again))


@substitute(integrate.odeint)
def odeint(
    func, y0, t, args=(), Dfun=None, col_deriv=0, full_output=0, ml=None, mu=None, rtol=None,
    atol=None, tcrit=None, h0=0.0, hmax=0.0, *rest, tfirst=False, **named,
):  # fmt: skip
    args, find = as_tuple(args), integrate.odeint

    def rate(time, y):
        return np.ravel(func(time, y, *args) if tfirst else func(y, time, *args))

    given = func, y0, t, args, Dfun, col_deriv, full_output, ml, mu, rtol, atol
    given = *given, tcrit, h0, hmax, *rest
    found, search = run_search(find, given, {"tfirst": tfirst, **named})
    values, report = found if full_output else (found, None)
    y, times = np.ravel(y0) * 1.0, np.asarray(t) * 1.0
    if search.stores:
        values = refused_result(values, find, CHANGES, rate, y, times)
    else:
        values = _moving(find, rate, y, times, values, Settings(rtol, atol, h0, hmax))
    if full_output:
        report = refuse_rest(find, report, (rate, y, times))
    restore_after(search)
    return (values, report) if full_output else values


def _moving(
    find: Any, rate: Callable[..., Any], y: Any, times: Any, values: Any, settings: Settings
) -> Any:
    if len(times) == 0 or times[0] == times[-1]:
        return with_value(values, y + np.zeros(np.shape(values)))
    steps, outputs, why = _steps(rate, y, times, values, settings)
    if why:
        return refused_result(values, find, why, rate, y, times)
    return with_value(values, _path(rate, y, times, steps, outputs))


@substitute(integrate.solve_ivp)
def solve_ivp(
    fun, t_span, y0, method="RK45", t_eval=None, dense_output=False, events=None,
    vectorized=False, args=None, **options,
):  # fmt: skip
    given = fun, t_span, y0, method, t_eval, dense_output, events, vectorized, args
    if method not in ("LSODA", integrate.LSODA):  # the others step in Python
        return _SOLVE_IVP(*given, **options)
    find, further = integrate.solve_ivp, args or ()
    found, search = run_search(find, given, options)

    def rate(time, y):
        y = np.reshape(y, (-1, 1)) if vectorized else y
        return np.ravel(fun(time, y, *further))

    y, start = np.ravel(y0) * 1.0, np.ravel(t_span[0]) * 1.0
    if t_eval is not None:
        times = np.asarray(t_eval)[: len(found.t)] * 1.0
    else:
        times = np.concatenate((start, found.t[1:-1], np.ravel(t_span[1]) * 1.0))
    given = (*given, *options.values())
    why = CHANGES if search.stores else ENDED if found.status != 0 else ""
    if why:
        found.y = refused_result(found.y, find, why, rate, y, times, *given)
    elif np.size(found.t):
        rows = np.concatenate((np.reshape(y, (1, -1)), found.y.T))  # `times` may start later
        times = np.concatenate((start, times))
        rows = _moving(find, rate, y, times, rows, _settings(**options))[1:]
        times = with_value(found.t, times[1:])
        if t_eval is None:
            rows, times = (_ends(find, x, rate, y, given) for x in (rows, times))
        found.t, found.y = times, rows.T
    restore_after(search)
    return refuse_rest(find, found, given, "y", *(() if why else ("t",)))


def _ends(find: Any, rows: Any, rate: Callable[..., Any], y: Any, given: Any) -> Any:
    """Return rows whose inner ones are refused, because LSODA chooses their times."""
    inner = refused_result(rows[1:-1], find, ITS_OWN, rate, y, *given)
    return np.concatenate((rows[:1], inner, rows[-1:]))


_SOLVE_IVP = without_rule(integrate.solve_ivp)

ENDED = "solves a differential equation as far as an event, or until it fails"
ITS_OWN = "chooses at which times it tells a solution; give it t_eval"


def _settings(
    rtol: Any = 1e-3, atol: Any = 1e-6, first_step: Any = None, max_step: Any = np.inf, **_: Any
) -> Settings:
    return Settings(rtol, atol, first_step or 0.0, max_step)
