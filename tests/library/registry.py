"""How a function of somebody else's package is put to the test."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

__all__ = ["CASES", "Case", "case", "reals", "weighted"]


@dataclass(frozen=True)
class Case:
    """One function at one point.

    Attributes
    ----------
    name
        Where it is found, its package first.
    call
        The function itself, or what calls it: results that are objects are taken apart.
    derived
        The gradient as the package has it, derived by hand: of `call`, whose result is one number.
    """

    name: str
    call: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    derived: Callable[..., Any] | None = None

    @property
    def package(self) -> str:
        """The package that it comes from."""
        return self.name.partition(".")[0]


CASES: list[Case] = []


def case(
    name: str,
    *args: Any,
    call: Callable[..., Any] | None = None,
    derived: Callable[..., Any] | None = None,
    **kwargs: Any,
) -> None:
    """Check the function of that name at `args`; keyword arguments are held constant."""
    found = pkgutil.resolve_name(name)
    CASES.append(Case(name, call or found, args, kwargs, derived))


def reals(*shape: int, low: float = -2.0, high: float = 2.0, seed: int = 0) -> Any:
    """An array of distinct numbers in general position."""
    return np.random.default_rng(seed).uniform(low, high, shape)


def weighted(y: Any) -> Any:
    """One number of an array, for gradients of which there is one per entry."""
    return np.sum(y * weights(y))


def weights(y: Any) -> Any:
    """What `weighted` multiplies by."""
    return np.cos(np.arange(np.size(y))).reshape(np.shape(y))
