"""Steps of a solver of differential equations, computed again so that they have derivatives.

The lengths of the steps are constant, as in Bock's internal differentiation. Steps of an explicit
Runge-Kutta method are those of the solver. Those of all other methods are steps of the implicit
Radau methods (Hairer and Wanner, *Solving Ordinary Differential Equations II*, section IV.5): of
the collocation polynomials with as many stages as `collocation` is asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from scipy import integrate

from adjoint.rulekit import nested
from adjoint.rulekit.projection import project
from adjoint.rulekit.registry import frule, non_differentiable, rrule
from adjoint.rules.scipy.equivalents import result_like
from adjoint.rules.scipy.searches import capturing, corrections
from adjoint.runtime.dispatch.program_call import in_program

Rate = Callable[[Any, Any], Any]


@dataclass
class Steps:
    """Steps of a solver.

    Attributes
    ----------
    method
        Offsets of the starts from the first time and lengths, of shape (N,); and of the method,
        the coefficients of the stages (S, S), their positions (S,), the coefficients of the end
        of a step (S,), and a matrix (S, degree): a step's values are the start plus, for each
        stage, its increment times the polynomial without constant in the position in the step.
    stages, inverse
        Of implicit methods: the stages (N, S, n), and the inverse (N, S n, S n) of the Jacobian of
        the stage equations.
    offsets
        Of implicit methods: the offsets (N S,) of the stages from the first time.
    """

    method: tuple[Any, ...]
    stages: Any = None
    inverse: Any = None
    offsets: Any = None


# ---- methods -------------------------------------------------------------------------------------


@cache
def explicit(method: Any) -> tuple[Any, Any, Any, Any]:
    """Return matrix, places, weights and powers of an explicit method. The stages are those of a
    step, the rate at its end, and those that only the interpolation needs."""
    n = method.n_stages
    further = getattr(method, "A_EXTRA", np.zeros((0, n + 1)))
    size = n + 1 + len(further)
    matrix, weights = np.zeros((size, size)), np.zeros(size)
    matrix[:n, : method.A.shape[1]] = method.A[:n]
    matrix[n, :n] = weights[:n] = method.B
    matrix[n + 1 :, : further.shape[1]] = further
    places = np.concatenate((method.C[:n], [1.0], getattr(method, "C_EXTRA", [])))
    if method is not integrate.DOP853:
        return matrix, places, weights, method.P
    start, end = np.eye(size)[[0, n]]
    parts = [weights, start - weights, 2 * weights - end - start, *method.D]
    powers, factor = np.zeros((size, len(parts) + 1)), np.array([0.0, 1.0])
    for i, part in enumerate(parts):
        powers[:, : len(factor)] += np.outer(part, factor)
        factor = np.convolve(factor, [0.0, 1.0] if i % 2 else [1.0, -1.0])
    return matrix, places, weights, powers[:, 1:]


@cache
def radau(s: int) -> tuple[Any, Any, Any, Any]:
    """Return matrix, places, weights and powers of the Radau method IIA with `s` stages."""
    legendre = np.polynomial.legendre
    roots = legendre.legroots([*[0.0] * (s - 1), -1.0, 1.0])
    places = (np.sort(roots.real) + 1) / 2  # complex from NumPy 2.5 on
    places[-1] = 1.0
    values = np.vander(places, s, increasing=True)
    integrals = values * places[:, None] / np.arange(1, s + 1)
    matrix = np.linalg.solve(values.T, integrals.T).T
    return matrix, places, matrix[-1], np.linalg.inv(values * places[:, None]).T


# ---- the steps as programs -----------------------------------------------------------------------


def stages_of(rate: Rate, start: Any, y: Any, method: Any) -> Any:
    """Return the starts (N, n) of explicit steps and the increments (N, S, n) of their stages."""
    begins, lengths, matrix, places, weights, _ = method
    starts = np.empty((len(lengths), len(y)), y.dtype)
    increments = np.empty((len(lengths), len(places), len(y)), y.dtype)
    for k in range(len(lengths)):
        h, t = lengths[k], start + begins[k]
        moves = np.zeros((len(places), len(y)), y.dtype)
        for i in range(len(places)):
            moves[i] = h * rate(t + places[i] * h, y + matrix[i] @ moves)
        starts[k] = y
        increments[k] = moves
        y = y + weights @ moves
    return starts, increments


def rates_at(rate: Rate, start: Any, offsets: Any, values: Any) -> Any:
    """Return the rates (m, n) at m times and values."""
    found = np.empty(np.shape(values), values.dtype)
    for i in range(len(offsets)):
        found[i] = rate(start + offsets[i], np.array(values[i]))
    return found


def residual_of(rate: Rate, start: Any, y: Any, method: Any, offsets: Any, stages: Any) -> Any:
    """Return what is left of the equations of the stages (N, S, n) of implicit steps from `y`."""
    flat = np.reshape(stages, (-1, len(y)))
    return _left(rates_at(rate, start, offsets, flat), y, method, stages)


def _left(rates: Any, y: Any, method: Any, stages: Any) -> Any:
    starts = np.concatenate((np.reshape(y, (1, -1)), stages[:-1, -1]))
    moves = np.reshape(method[1], (-1, 1, 1)) * (method[2] @ np.reshape(rates, np.shape(stages)))
    return stages - starts[:, None] - moves


def interpolated(times: Any, start: Any, method: Any, where: Any, path: Any) -> Any:
    """Return the values (m, n) at m times from the starts and increments of all steps."""
    (begins, lengths, *_, powers), (starts, increments) = method, path
    theta = np.reshape((times - start - begins[where]) / lengths[where], (-1, 1))
    parts = powers.T @ increments[where]
    y = parts[:, -1]
    for i in range(2, powers.shape[1] + 1):
        y = y * theta + parts[:, -i]
    return starts[where] + theta * y


def interpolated_stages(times: Any, start: Any, method: Any, where: Any, path: Any) -> Any:
    """Return the values (m, n) at m times from the first start and the stages of all steps."""
    y, stages = path
    starts = np.concatenate((np.reshape(y, (1, -1)), stages[:-1, -1]))
    return interpolated(times, start, method, where, (starts, stages - starts[:, None]))


def path_of(
    make: Callable[..., Rate], further: Any, start: Any, y: Any, steps: Steps
) -> Callable[[Any], Any]:
    """Return the function from times (m,) to values (m, n) that the steps from `y` give. The rate
    is ``make(*further)``. The function has derivatives in the times, in `further`, in `start`, in
    `y`, and in what the rate reads."""
    method, stages, offsets = steps.method, steps.stages, steps.offsets
    if stages is None:
        explicit_steps = _with_rate(stages_of, make)
        at, found = interpolated, in_program(explicit_steps, further, start, y, method)
    else:
        left = _with_rate(residual_of, make)
        for _ in corrections():
            residual = in_program(left, further, start, y, method, offsets, stages)
            stages = settled(stages, residual, steps.inverse)
        at, found = interpolated_stages, (y, stages)

    def path(times: Any) -> Any:
        where = steps_at(*method[:2], start, times)
        return in_program(at, times, start, method, where, found)

    return path


def _with_rate(f: Callable[..., Any], make: Callable[..., Rate]) -> Callable[..., Any]:
    """Return ``f(make(*further), ...)`` as a function of `further` and the rest."""
    return lambda further, *rest: f(make(*further), *rest)


@result_like(lambda begins, lengths, start, times: np.searchsorted(begins, times))
@non_differentiable
def steps_at(begins: Any, lengths: Any, start: Any, times: Any) -> Any:
    """Return the numbers of the steps in which times (m,) lie."""
    direction = np.sign(lengths[0])
    return np.searchsorted(direction * begins[1:], direction * (times - start))


# ---- implicit steps ------------------------------------------------------------------------------


def settled(stages: Any, residual: Any, inverse: Any) -> Any:
    """Return the stages with the derivative that solves their equations. `residual` is what is left
    of these, with stages of each step that start at the last stage of the step before."""
    return np.array(stages)


def _forward(inverse: Any, residual: Any) -> Any:
    """Solve the linearized equations of all stages."""
    n_steps, s, n = residual.shape
    own = np.reshape(inverse @ residual.reshape(n_steps, s * n, 1), residual.shape)
    through = inverse.reshape(n_steps, s * n, s, n).sum(axis=2)  # of the start of a step
    ends, last = through[:, -n:], own[:, -1]
    starts = np.zeros((n_steps, n), own.dtype)
    for k in range(1, n_steps):
        starts[k] = last[k - 1] + ends[k - 1] @ starts[k - 1]
    return own + np.reshape(through @ starts[:, :, None], own.shape)


def _reverse(inverse: Any, bar: Any) -> Any:
    """Solve the adjoint equations of `_forward`."""
    n_steps, s, n = bar.shape
    inverse = np.conj(np.swapaxes(inverse, 1, 2))
    own = np.reshape(inverse @ bar.reshape(n_steps, s * n, 1), bar.shape)
    from_end = inverse[:, :, -n:]
    ends, sums = from_end.reshape(n_steps, s, n, n).sum(axis=1), own.sum(axis=1)
    after = np.zeros((n_steps, n), own.dtype)
    for k in range(n_steps - 1, 0, -1):
        after[k - 1] = sums[k] + ends[k] @ after[k]
    return own + np.reshape(from_end @ after[:, :, None], own.shape)


@rrule.register(settled)
def _(stages, residual, inverse):
    def settled_back(bar):
        return None, project(bar, stages), project(-_reverse(inverse, bar), residual), None

    return settled(stages, residual, inverse), settled_back


@frule.register(settled)
def _(dots, stages, residual, inverse):
    y = settled(stages, residual, inverse)
    moved = dots[0]
    if dots[1] is not None:
        corrected = -_forward(inverse, dots[1])
        moved = corrected if moved is None else moved + corrected
    return y, moved


def collocation(
    rate: Rate, start: Any, y: Any, begins: Any, lengths: Any, s: int, values: Any
) -> tuple[Steps, Any, Any]:
    """Return steps of the Radau method with `s` stages, and the Newton correction of these stages:
    of each step alone, and of all, which they have got. `values` (N, S, n) are the solver's."""
    method = (begins, lengths, *radau(s))
    n_steps, _, n = values.shape
    offsets = (begins[:, None] + lengths[:, None] * method[3]).ravel()
    flat = np.reshape(values, (-1, n))
    slopes, rates = np.empty((len(flat), n, n), values.dtype), flat
    for j in range(n):
        along = np.zeros(flat.shape, values.dtype)
        along[:, j] = 1.0
        given, dots = (start, offsets, flat), (None, None, along)
        rates, slopes[:, :, j] = nested.pushforward(capturing(rates_at, rate), given, dots)
    blocks = np.reshape(slopes, (n_steps, s, n, n))
    coupled = np.einsum("k,ij,kjab->kiajb", lengths, method[2], blocks)
    inverse = np.linalg.inv(np.eye(s * n) - coupled.reshape(n_steps, s * n, s * n))
    residual = _left(rates, y, method, values)
    local = np.reshape(inverse @ residual.reshape(n_steps, s * n, 1), residual.shape)
    steps = Steps(method, values, inverse, offsets)
    moved = _forward(inverse, residual)
    steps.stages = values - moved
    return steps, local, moved
