"""Sums over the points at which an integrand is evaluated.

The derivative of such a sum is a sum of the integrand's derivatives. It is taken as their integral
if the derivatives are about as smooth as the function that they belong to. Where a singularity
moves, the next derivatives cannot be integrated.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.integrate import quad

from adjoint.rulekit.projection import project
from adjoint.rulekit.refusal import NoDerivative, refusal, refused_bar
from adjoint.rulekit.registry import frule, non_differentiable, rrule
from adjoint.rules.scipy.equivalents import refusing

STEEP = NoDerivative(
    "what the integrand depends on",
    "moves a place where its slope is infinite, or very steep",
    "integrate in a variable in which the integrand is smooth",
)

DIVERGING = NoDerivative(
    "what the integrand depends on",
    "has no integral: a place where the integrand becomes infinite moves",
    "integrate in a variable in which the integrand is smooth",
)


def weighed(terms: Any, weights: Any, nulls: Any, blocks: Any, is_nested: bool) -> Any:
    """Return the sum of `terms`, by their weights.

    Parameters
    ----------
    terms
        A list of numbers or arrays.
    weights, nulls, blocks
        See `adjoint.rules.scipy.integrate.grid.Nodes`.
    is_nested
        Whether the derivative is differentiated as well.
    """
    total = 0.0
    for term, weight in zip(terms, weights.tolist(), strict=True):
        total = total + weight * term
    return total


@rrule.register(weighed)
def _(terms, weights, nulls, blocks, is_nested):
    def weighed_back(y_bar: Any) -> Any:
        if is_nested:
            return None, spread(y_bar, terms, weights, nulls, blocks), None, None, None, None
        return None, [weight * y_bar for weight in weights.tolist()], None, None, None, None

    return weighed(terms, weights, nulls, blocks, is_nested), weighed_back


@frule.register(weighed)
def _(dots, terms, weights, nulls, blocks, is_nested):
    y = weighed(terms, weights, nulls, blocks, is_nested)
    if dots[0] is None:
        return y, None
    slopes = [0.0 * term if dot is None else dot for term, dot in zip(terms, dots[0], strict=True)]
    if roughness(slopes, weights, nulls, blocks) > 1e-2:
        raise refusal(quad, DIVERGING)
    y_dot = weighed(slopes, weights, nulls, blocks, is_nested)
    if is_nested and is_rougher(slopes, terms, weights, nulls, blocks):
        y_dot = refusing(y_dot, quad, STEEP, *slopes, *terms)
    return y, y_dot


def spread(y_bar: Any, terms: Any, weights: Any, nulls: Any, blocks: Any) -> Any:
    """Return the cotangents of the terms of a sum, which do not depend on the terms. The rule of
    this function refuses the next derivative where slopes of the terms are too rough."""
    return [weight * y_bar for weight in weights.tolist()]


@rrule.register(spread)
def _(y_bar, terms, weights, nulls, blocks):
    def spread_back(bars: Any) -> Any:
        """Return cotangents from `bars`, which are derivatives of the terms."""
        slopes = [0.0 * term if bar is None else bar for term, bar in zip(terms, bars, strict=True)]
        total = project(weighed(slopes, weights, nulls, blocks, True), y_bar)
        if is_rougher(slopes, terms, weights, nulls, blocks):
            return None, total, [refused_bar(quad, STEEP, slope) for slope in slopes], *[None] * 3
        return None, total, *[None] * 4

    return spread(y_bar, terms, weights, nulls, blocks), spread_back


@frule.register(spread)
def _(dots, y_bar, terms, weights, nulls, blocks):
    y = spread(y_bar, terms, weights, nulls, blocks)
    if dots[1] is not None:
        slopes = [
            0.0 * term if dot is None else dot for term, dot in zip(terms, dots[1], strict=True)
        ]
        if is_rougher(slopes, terms, weights, nulls, blocks):
            raise refusal(quad, STEEP)
    return y, None if dots[0] is None else spread(dots[0], terms, weights, nulls, blocks)


@non_differentiable
def is_rougher(slopes: Any, terms: Any, weights: Any, nulls: Any, blocks: Any) -> bool:
    """Return whether the sum of slopes is so inexact that they have a singularity of their own. The
    next derivative then has no integral."""
    of_slopes = roughness(slopes, weights, nulls, blocks)
    # the points of several blocks cluster where the integrand is rough, which hides a singularity
    if of_slopes < (3e-8 if np.any(blocks) else 1e-5):
        return False
    return bool(of_slopes > 100 * roughness(terms, weights, nulls, blocks))


@non_differentiable
def roughness(terms: Any, weights: Any, nulls: Any, blocks: Any) -> float:
    """Return the relative difference between the integral and a sum over every other point."""
    parts = np.reshape(
        [weight * term for weight, term in zip(weights, terms, strict=True)], (len(weights), -1)
    )
    lost = np.zeros((int(np.max(blocks, initial=-1)) + 1, parts.shape[1]), parts.dtype)
    np.add.at(lost, blocks, nulls[:, None] * parts)
    size = np.sum(np.abs(parts))
    return float(np.sum(np.abs(lost)) / size) if size > 0 else 0.0
