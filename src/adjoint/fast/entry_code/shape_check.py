"""Check of the shapes of cotangents, for strict mode."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adjoint.fast.build.modes import Mode
from adjoint.fast.build.program import Program
from adjoint.fast.not_covered import Defect


def demanding_shapes(
    run: Callable[..., Any], program: Program, mode: Mode
) -> Callable[..., tuple[Any, ...]]:
    """Wrap a program so that it raises `Defect` if a cotangent has not the shape of its leaf."""
    leaves = program.outside.leaves
    places = [next(i for i, leaf in enumerate(leaves) if leaf is one) for one in program.wanted]
    name = program.name

    def checked_run(*values: Any) -> tuple[Any, ...]:
        shapes = [_shape(values[place]) for place in places]

        def check(bars: Sequence[Any]) -> Sequence[Any]:
            for i, (shape, bar) in enumerate(zip(shapes, bars, strict=True)):
                if shape is not None and bar is not None and shape != _shape(bar):
                    raise Defect(
                        f"the program of '{name}' gives the cotangent {i} the shape {_shape(bar)},"
                        f" which belongs to {shape}"
                    )
            return bars

        value, bars, *more = run(*values)
        if mode.is_gradient:
            return value, check(bars), *more
        return value, lambda *given: check(bars(*given)), *more

    return checked_run


def _shape(value: Any) -> tuple[int, ...] | None:
    """Return the shape of an array, a number or a sequence; ``None`` for anything else."""
    if isinstance(value, np.ndarray | np.generic | int | float | complex):
        return np.shape(value)
    return (len(value),) if isinstance(value, list | tuple) else None
