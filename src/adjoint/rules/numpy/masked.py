"""What masked arrays say of themselves: text."""

from __future__ import annotations

import numpy as np

from adjoint.rules.registry import non_differentiable

non_differentiable(np.ma.MaskedArray.__str__, np.ma.MaskedArray.__repr__)
