"""Functions that write classes: what they make is source code, which they execute themselves."""

from __future__ import annotations

import collections
import dataclasses

from adjoint.rules.registry import non_differentiable

non_differentiable(
    collections.namedtuple,
    dataclasses.make_dataclass,
    dataclasses._process_class,  # type: ignore[attr-defined]  # what @dataclass does to a class
)
