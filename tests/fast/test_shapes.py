"""The check that cotangents of specialised programs have the shapes of what they belong to, which
all tests make."""

import numpy as np
import pytest

from adjoint.fast.build.modes import GRADIENT, PULLBACK
from adjoint.fast.build.specialisation import specialise
from adjoint.fast.entry_code.shape_check import demanding_shapes
from adjoint.fast.not_covered import Defect

W, X = np.ones((2, 3)), np.ones(3)


def product(w, x):
    return np.tanh(w @ x).sum()


@pytest.mark.parametrize("mode", [GRADIENT, PULLBACK], ids=["gradient", "pullback"])
@pytest.mark.parametrize(
    ("bars", "is_right"),
    [
        ((W, X), True),
        ((None, X), True),
        ((W.T, X), False),
        ((W, X[None]), False),
        ((W, 1.0), False),
        ((W[:1], None), False),
    ],
)
def test_shapes(mode, bars, is_right):
    found = bars if mode is GRADIENT else lambda y_bar: bars
    run = demanding_shapes(lambda *leaves: (1.0, found), specialise(product, (W, X), mode), mode)
    if mode is PULLBACK:
        inner = run
        run = lambda *leaves: inner(*leaves)[1](1.0)  # noqa: E731
    if is_right:
        run(W, X)
    else:
        with pytest.raises(Defect, match="'product' gives the cotangent"):
            run(W, X)
