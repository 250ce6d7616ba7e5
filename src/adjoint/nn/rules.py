"""Rules of activations and losses that would be slower or less exact if decomposed.

The bodies in `adjoint.nn.activations` and `adjoint.nn.losses` stay the reference: calls that a rule
declines (lists, complex numbers, other array types) are decomposed.
"""

from __future__ import annotations

import numpy as np

from adjoint.nn.activations import logsoftmax, relu, sigmoid, softmax
from adjoint.nn.losses import check_shapes, logit_cross_entropy, mse
from adjoint.rulekit.families import elementwise, project
from adjoint.rulekit.registry import rrule
from adjoint.rulekit.row_sums import by_class, by_sample

elementwise(relu, lambda y: y > 0, selects=True)

# decomposed, |x| would have a kink at 0; y * (1 - y) loses digits near y = 1
elementwise(sigmoid, lambda y, x: y * sigmoid(-x))


def _real(a, b=None):
    return a.dtype.kind in "fiub" and (b is None or b.dtype.kind in "fiub")


@rrule.register(by_class)
def _(x: np.ndarray):
    return by_class(x), lambda y_bar: (None, project(y_bar, x))


@rrule.register(by_sample)
def _(x: np.ndarray):
    return by_sample(x), lambda y_bar: (None, project(y_bar, x))


@rrule.register(softmax)
def _(x: np.ndarray, *, axis=-1):
    if not _real(x):
        return NotImplemented
    y = softmax(x, axis=axis)

    def softmax_back(y_bar):
        weighted = y * y_bar
        x_bar = weighted - y * np.sum(weighted, axis=axis, keepdims=True)
        return None, project(x_bar, x)

    return y, softmax_back


@rrule.register(logsoftmax)
def _(x: np.ndarray, *, axis=-1):
    if not _real(x):
        return NotImplemented
    y = logsoftmax(x, axis=axis)

    def logsoftmax_back(y_bar):
        x_bar = y_bar - np.exp(y) * np.sum(y_bar, axis=axis, keepdims=True)
        return None, project(x_bar, x)

    return y, logsoftmax_back


@rrule.register(mse)
def _(yhat: np.ndarray, y: np.ndarray):
    if not _real(yhat, y):
        return NotImplemented
    check_shapes(yhat, y)
    d = np.subtract(yhat, y)

    def mse_back(loss_bar):
        yhat_bar = (2.0 * loss_bar / d.size) * d
        return None, project(yhat_bar, yhat), project(-yhat_bar, y)

    return np.mean(d * d), mse_back


@rrule.register(logit_cross_entropy)
def _(scores: np.ndarray, y: np.ndarray):
    if not _real(scores, y):
        return NotImplemented
    check_shapes(scores, y)
    classes, truth = by_class(scores), by_class(y)
    shifted = classes - np.max(classes, axis=-1, keepdims=True)
    e = np.exp(shifted)
    total = np.sum(e, axis=-1, keepdims=True)
    log_p = shifted - np.log(total)
    samples = scores.size // scores.shape[-1]

    def logit_cross_entropy_back(loss_bar):
        scale = loss_bar / samples
        mass = np.sum(truth, axis=-1, keepdims=True)
        scores_bar = by_sample(scale * (e * (mass / total) - truth))
        return None, project(scores_bar, scores), project(by_sample(-scale * log_p), y)

    return -np.sum(truth * log_p) / samples, logit_cross_entropy_back
