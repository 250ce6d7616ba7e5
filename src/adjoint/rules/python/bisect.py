"""Rules of `bisect`: positions have no derivative, insertions have."""

from __future__ import annotations

import bisect
from typing import Any

from adjoint.rulekit.registry import non_differentiable, substitute

non_differentiable(bisect.bisect_left, bisect.bisect_right)


@substitute(bisect.insort_right)
def insort_right(a: Any, x: Any, lo: Any = 0, hi: Any = None, *, key: Any = None) -> None:
    wanted = x if key is None else key(x)
    a.insert(bisect.bisect_right(a, wanted, lo, hi, key=key), x)


@substitute(bisect.insort_left)
def insort_left(a: Any, x: Any, lo: Any = 0, hi: Any = None, *, key: Any = None) -> None:
    wanted = x if key is None else key(x)
    a.insert(bisect.bisect_left(a, wanted, lo, hi, key=key), x)
