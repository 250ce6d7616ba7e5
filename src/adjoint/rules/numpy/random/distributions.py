"""Rules of random numbers that are functions of parameters and of standard draws.

The standard draws are held constant. Where NumPy draws by rejection, their number depends on the
parameter, so needing the derivative is an error. Integers are constant.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from adjoint.cotangents.poison import Poison
from adjoint.rulekit.elementwise_forward import like_result
from adjoint.rulekit.refusal import NoDerivative, added, refused_bar, refused_dot
from adjoint.rulekit.registry import frule
from adjoint.rules.numpy.operands import array_rule, dense

SOURCES = (np.random.Generator, np.random.RandomState)
Partial = Callable[..., Any] | int | NoDerivative | None


def draw(name: str, parameters: str, *partials: Partial, options: str = "") -> None:
    """Register both rules of one distribution: of the methods, and of the function.

    Parameters
    ----------
    name
        The name in NumPy.
    parameters
        Names and defaults of the parameters, as in ``"loc=0.0 scale=1.0"``.
    *partials
        One per parameter: a function of the draw and the parameters, a number, a `NoDerivative`,
        or None for a derivative of zero.
    options
        Names of the arguments after the size.
    """
    names = [text.partition("=")[0] for text in parameters.split()]
    given = [
        _parameter(name, float(default) if default else inspect.Parameter.empty)
        for name, _, default in (text.partition("=") for text in parameters.split())
    ]
    given += [_parameter(option, None) for option in ("size", *options.split())]
    this, of_function = _parameter("self"), getattr(np.random, name)
    for key, first in [*(((kind, name), [this]) for kind in SOURCES), (of_function, [])]:
        signature = inspect.Signature([*first, *given])
        reverse, forward = _rules(name, signature, names, partials)
        array_rule(key, operands=" ".join(names))(reverse)
        frule.register(key)(forward)


def _parameter(name: str, default: Any = inspect.Parameter.empty) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=default)


def _rules(
    name: str, signature: inspect.Signature, names: list[str], partials: tuple[Partial, ...]
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    def drawn(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, list[Any]]:
        given = dict(signature.bind(*args, **kwargs).arguments)
        y = getattr(given.pop("self", np.random), name)(**given)
        known = signature.parameters
        return y, [np.asarray(given.get(p, known[p].default), float) for p in names]

    def slopes(y: Any, values: list[Any], p: Any) -> Any:
        with np.errstate(all="ignore"):
            return p(np.asarray(y), *values) if callable(p) else p

    def reverse(*args: Any, **kwargs: Any) -> Any:
        y, values = drawn(args, kwargs)

        def back(y_bar: Any) -> tuple[Any, ...]:
            return None, *(
                refused_bar(_function(name), p, y_bar)
                if isinstance(p, NoDerivative)
                else None
                if p is None
                else y_bar * slopes(y, values, p)
                for p in partials
            )

        return y, back

    def forward(dots: tuple[Any, ...], /, *args: Any, **kwargs: Any) -> Any:
        y, values = drawn(args, kwargs)
        y_dot, of_method = None, "self" in signature.parameters
        for p, x, dot in zip(partials, values, dots[of_method:], strict=False):
            if isinstance(p, NoDerivative):
                y_dot = added(y_dot, refused_dot(_function(name), p, dot, y))
            elif dot is not None and p is not None:
                term = slopes(y, values, p) * np.asarray(dense(dot, x))
                y_dot = term if y_dot is None else y_dot + term
        if y_dot is None or type(y_dot) is Poison:
            return y, y_dot
        return y, like_result(y_dot, y)[()]

    reverse.__signature__ = signature  # type: ignore[attr-defined]
    dots = inspect.Parameter("dots", inspect.Parameter.POSITIONAL_ONLY)
    forward.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[dots, *signature.parameters.values()]
    )
    return reverse, forward


def _function(name: str) -> Any:
    return getattr(np.random, name)


# ---- a location plus a scale times a standard draw -----------------------------------------------


def _standard(y: Any, loc: Any, scale: Any) -> Any:
    return np.where(scale == 0, 0.0, (y - loc) / np.where(scale == 0, 1.0, scale))


def _share(y: Any, low: Any, high: Any) -> Any:
    return _standard(y, low, high - low)


for _name in ("normal", "laplace", "logistic", "gumbel"):
    draw(_name, "loc=0.0 scale=1.0", 1, _standard)
for _name in ("exponential", "rayleigh"):
    draw(_name, "scale=1.0", lambda y, scale: _standard(y, 0.0, scale))
draw("uniform", "low=0.0 high=1.0", lambda y, *ends: 1 - _share(y, *ends), _share)


# ---- functions of standard draws -----------------------------------------------------------------


def _log(y: Any) -> Any:
    return np.log(np.where(y > 0, y, 1.0))


draw(
    "lognormal",
    "mean=0.0 sigma=1.0",
    lambda y, mean, sigma: y,
    lambda y, mean, sigma: y * _standard(_log(y), mean, sigma),
)
draw("weibull", "a", lambda y, a: np.where(a == 0, 0.0, -y * _log(y) / a))  # E^(1/a)
draw("power", "a", lambda y, a: -y * _log(y) / a)  # U^(1/a)
draw("pareto", "a", lambda y, a: -(1 + y) * np.log1p(y) / a)  # exp(E/a) - 1


def _below(y: Any, left: Any, mode: Any, right: Any) -> tuple[Any, Any]:
    """Return whether a draw ``y = left + sqrt(U (mode - left) (right - left))`` is below the mode,
    and ``(y - left) / (2 (mode - left) (right - left))``."""
    product = (mode - left) * (right - left)
    return y <= mode, (y - left) / (2 * np.where(product == 0, 1.0, product))


def _above(y: Any, left: Any, mode: Any, right: Any) -> Any:
    product = (right - mode) * (right - left)
    return (right - y) / (2 * np.where(product == 0, 1.0, product))


def _by_left(y: Any, left: Any, mode: Any, right: Any) -> Any:
    below, share = _below(y, left, mode, right)
    moved = 1 - share * (mode + right - 2 * left)
    return np.where(below, moved, _above(y, left, mode, right) * (right - mode))


def _by_mode(y: Any, left: Any, mode: Any, right: Any) -> Any:
    below, share = _below(y, left, mode, right)
    return np.where(below, share, _above(y, left, mode, right)) * (right - left)


def _by_right(y: Any, left: Any, mode: Any, right: Any) -> Any:
    below, share = _below(y, left, mode, right)
    moved = 1 - _above(y, left, mode, right) * (2 * right - mode - left)
    return np.where(below, share * (mode - left), moved)


draw("triangular", "left mode right", _by_left, _by_mode, _by_right)


# ---- draws by rejection --------------------------------------------------------------------------

_BY_REJECTION = "does not exist: NumPy draws by rejection"
SHAPE = NoDerivative("the shape", _BY_REJECTION)
FREEDOM = NoDerivative("the degrees of freedom", _BY_REJECTION)
ROOT = NoDerivative("any parameter", "does not exist: NumPy chooses one of two roots by chance")

draw("gamma", "shape scale=1.0", SHAPE, lambda y, shape, scale: _standard(y, 0.0, scale))
draw("standard_gamma", "shape", SHAPE, options="dtype out")
draw("beta", "a b", SHAPE, SHAPE)
draw("dirichlet", "alpha", NoDerivative("the concentrations", _BY_REJECTION))
draw("chisquare", "df", FREEDOM)
draw("standard_t", "df", FREEDOM)
draw("f", "dfnum dfden", FREEDOM, FREEDOM)
draw("noncentral_chisquare", "df nonc", FREEDOM, NoDerivative("the noncentrality", _BY_REJECTION))
draw(
    "noncentral_f",
    "dfnum dfden nonc",
    FREEDOM,
    FREEDOM,
    NoDerivative("the noncentrality", _BY_REJECTION),
)
draw("vonmises", "mu kappa", 1, NoDerivative("the concentration", _BY_REJECTION))
draw("wald", "mean scale", ROOT, ROOT)

draw(
    "multivariate_normal",
    "mean cov",
    1,
    NoDerivative("the covariance", "has no rule: NumPy takes its root"),
    options="check_valid tol method",
)
