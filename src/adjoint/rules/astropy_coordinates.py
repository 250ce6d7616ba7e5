"""`astropy.coordinates`: angles that are written as text are constants."""

from __future__ import annotations

from astropy.coordinates.angles import formats

from adjoint.rules.registry import non_differentiable

__all__: list[str] = []

non_differentiable(formats.parse_angle)
