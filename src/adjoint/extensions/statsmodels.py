"""Rules of `statsmodels.tsa.statespace`: likelihoods of state space models, including ARIMA.

Statsmodels computes the likelihoods by compiled filters. The substitute is the Kalman filter in
Python (J. Durbin and S. J. Koopman, *Time Series Analysis by State Space Methods*, 2nd ed., 2012,
sections 4.3 and 7.2), which is differentiated by its source. Declined are exact diffuse
initialization, a concentrated scale, and filters other than the conventional and the univariate
one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.rulekit.loading import registering
from adjoint.rulekit.registry import non_differentiable, primitive
from adjoint.runtime.dispatch.linked import linked
from adjoint.runtime.dispatch.source_call import call_function

_KNOWN = ("known", "stationary", "approximate_diffuse")
_CONVENTIONAL, _UNIVARIATE = 0x01, 0x10


def _by_recursion(run: Any) -> Any:
    def rule(record: list[Any], slot: int, model: Any, **options: Any) -> Any:
        burn = options.get("loglikelihood_burn", model.loglikelihood_burn)
        if not _is_covered(model, options):
            return NotImplemented
        none = (None,) * (len(options) + 2)
        return linked(record, slot, lambda _: none, call_function, run, (model, burn), {})

    return rule


def _is_covered(model: Any, options: dict[str, Any]) -> bool:
    """Return whether the recursions compute this likelihood."""
    return (
        not options.get("complex_step")
        and options.keys() <= {"complex_step", "loglikelihood_burn"}
        and model.filter_method in (_CONVENTIONAL, _UNIVARIATE, _CONVENTIONAL | _UNIVARIATE)
        and model.filter_timing == 0
        and not model.memory_no_likelihood
        and model.endog is not None
        and model.dtype == np.float64
        and _is_regular(model.initialization)
    )


def _is_regular(initialization: Any) -> bool:
    kind = getattr(initialization, "initialization_type", "")
    if kind is None:
        return all(map(_is_regular, initialization.blocks.values()))
    return kind in _KNOWN


def likelihood(model: Any, burn: int) -> Any:
    """Return the log-likelihood of all observations after the first `burn`."""
    return np.sum(likelihoods(model, 0)[burn:])


def likelihoods(model: Any, burn: int) -> Any:
    """Return the log-likelihood of each observation given those before; 0 for the first `burn`."""
    mean, _, covariance = model.initialization(model=model)
    found = []
    for t, y in enumerate(_observations(model)):
        design, noise = _at(model.design, t), _at(model.obs_cov, t)
        transition, selection = _at(model.transition, t), _at(model.selection, t)
        error = y - _at(model.obs_intercept, t) - design @ mean
        present = _present(y)
        if len(present) < len(y):
            error, design, noise = error[present], design[present], noise[present][:, present]
        gain = np.zeros((len(mean), len(present)))
        term = 0.0
        if len(present):
            spread = design @ covariance @ design.T + noise
            gain = np.linalg.solve(spread, design @ covariance).T
            deviation = error @ np.linalg.solve(spread, error)
            size = len(present) * np.log(2 * np.pi) + np.linalg.slogdet(spread)[1]
            term = -0.5 * (size + deviation)
        found.append(0.0 if t < burn else term)
        mean = transition @ (mean + gain @ error) + _at(model.state_intercept, t)
        covariance = transition @ (covariance - gain @ design @ covariance) @ transition.T
        covariance = covariance + selection @ _at(model.state_cov, t) @ selection.T
        covariance = (covariance + covariance.T) / 2
    return np.array(found)


def _at(matrix: Any, t: int) -> Any:
    """Return a matrix or vector of the model at time `t`; the last axis is 1 if it is constant."""
    return matrix[..., t if matrix.shape[-1] > 1 else 0]


@non_differentiable
def _observations(model: Any) -> Any:
    """Return the observations as constants; a model does not write to its data."""
    return np.asarray(model.obs).T


@non_differentiable
def _present(y: Any) -> Any:
    """Return the indices of the entries that are not missing."""
    return np.flatnonzero(~np.isnan(y))


@registering("statsmodels.tsa.statespace.kalman_filter")
def _(module: Any) -> None:
    for name, run in (("loglike", likelihood), ("loglikeobs", likelihoods)):
        primitive(getattr(module.KalmanFilter, name))(_by_recursion(run))
