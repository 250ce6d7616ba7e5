"""The rule of `astropy.coordinates`: angles parsed from text are constants."""

from __future__ import annotations

from typing import Any

from adjoint.rulekit.loading import registering
from adjoint.rulekit.registry import non_differentiable


@registering("astropy.coordinates.angles.formats")
def _(formats: Any) -> None:
    non_differentiable(formats.parse_angle)
