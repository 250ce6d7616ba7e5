"""Rules of `random`: numbers that are drawn have no derivative."""

from __future__ import annotations

import random

from adjoint.rulekit.registry import non_differentiable

non_differentiable((random.Random, "random"), (random.Random, "getrandbits"))
