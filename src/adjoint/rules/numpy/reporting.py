"""What NumPy does about floating-point errors, as code of the user's sees it.

While a function is differentiated, warnings are given the user's line; the settings say nothing of
that.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.rules.registry import non_differentiable, substitute
from adjoint.run.floating import called_on_errors, on_errors

non_differentiable(on_errors, called_on_errors)


@substitute(np.geterr)
def geterr() -> Any:
    return on_errors()


@substitute(np.geterrcall)
def geterrcall() -> Any:
    return called_on_errors()
