"""Third derivatives of what acts on each element: every elementwise rule, and every elementwise
function of the corpus, by two nestings against each other and against differences."""

from __future__ import annotations

import copy
import importlib
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from adjoint.rulekit.registry import lookup
from tests.corpus import all_cases
from tests.levels import along as paired
from tests.rules.harness import Case, case, load_all_rules, name_of
from tests.support import random_cotangent

REFUSED = ("smirnov", "smirnovi", "_smirnovc", "_smirnovci", "mathieu_a", "mathieu_b")
"""Whose first derivatives SciPy has, but not those of these."""


def _rules() -> Iterator[Any]:
    """A line of the table of each elementwise rule."""
    load_all_rules()
    here = Path(__file__).parent
    seen = set()
    for path in sorted(here.rglob("test_*.py")):
        name = ".".join(path.relative_to(here.parent.parent).with_suffix("").parts)
        if path == Path(__file__):
            continue
        for key, calls in getattr(importlib.import_module(name), "CASES", {}).items():
            if key in seen or not calls or not _is_elementwise(key):
                continue
            seen.add(key)
            call = calls[0] if isinstance(calls[0], Case) else case(*calls[0])
            if any(isinstance(arg, float | complex | np.ndarray) for arg in call.args):
                yield pytest.param(key, call.args, call.kwargs, id=name_of(key))


def _is_elementwise(key: Any) -> bool:
    rules = None if isinstance(key, tuple) else lookup(key)
    frules = () if rules is None else rules.frules
    return any(hasattr(rule.function, "slopes") for rule in frules)


def _corpus() -> Iterator[Any]:
    for one in all_cases():
        sample = one.sample
        counts = all(isinstance(arg, int) for arg in sample.args)
        if one.name.startswith(("numpy_elementwise/", "arithmetic/")) and not counts:
            yield pytest.param(sample.f, sample.args, sample.kwargs, id=one.name)


class Third:
    """The third derivative of ⟨ȳ, f⟩ along three directions."""

    def __init__(self, f: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> None:
        y = f(*copy.deepcopy(args), **kwargs)
        y_bar = random_cotangent(y, np.random.default_rng(0))
        self.x, unflatten = ad.flatten(args)

        def scalar(x: Any) -> Any:
            return paired(f(*unflatten(x), **kwargs), y_bar)

        self.scalar = scalar
        rng = np.random.default_rng(1)
        self.u, self.v, self.w = (rng.normal(size=self.x.size) for _ in range(3))

    def slope(self, x: Any) -> Any:
        bar = ad.gradient(self.scalar, x)[0]
        return np.zeros(x.shape) if bar is None else bar

    def second(self, x: Any) -> Any:
        return ad.pushforward(self.slope, (x,), (self.u,))[1] @ self.v

    def forward_reverse_forward(self) -> float:
        def along(x: Any) -> Any:
            return ad.pushforward(self.scalar, (x,), (self.u,))[1]

        def slope(x: Any) -> Any:
            bar = ad.gradient(along, x)[0]
            return 0.0 if bar is None else bar @ self.v

        return float(ad.pushforward(slope, (self.x,), (self.w,))[1])

    def reverse_forward_reverse(self) -> float:
        bar = ad.gradient(self.second, self.x)[0]
        return 0.0 if bar is None else float(bar @ self.w)

    def differences(self, h: float) -> float:
        """Of second derivatives."""

        def along(h: float) -> float:
            return float(self.second(self.x + h * self.w) - self.second(self.x - h * self.w))

        return (8 * along(h) - along(2 * h)) / (12 * h)


@pytest.mark.parametrize("f, args, kwargs", [*_rules(), *_corpus()])
def test_by_two_nestings(f: Any, args: Any, kwargs: dict[str, Any]) -> None:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        third = Third(f, args, kwargs)
        if name_of(f) in REFUSED:
            with pytest.raises(ad.errors.NoDerivativeError, match="closed form"):
                third.forward_reverse_forward()
            return
        one, other = third.forward_reverse_forward(), third.reverse_forward_reverse()
        scale = max(1.0, abs(one), abs(other))
        assert abs(one - other) <= 1e-8 * scale, (one, other)
        expected = third.differences(5e-4)
        if abs(one - expected) > 1e-5 * scale:  # where the function is steep
            expected = third.differences(5e-5)
    assert abs(one - expected) <= 1e-4 * scale or np.isnan(expected), (one, expected)
