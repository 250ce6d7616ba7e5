"""The census: how each public function of NumPy and SciPy is differentiated.

``python -m tests.census`` writes ``docs/coverage.md`` and prints the counts. Each package has a
file of examples here, one line per function that has none in the tables of rules.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.census.entries import Section
    from tests.census.page import Census

FILES = """
    numpy_functions numpy_polynomial numpy_random
    scipy_special scipy_linalg scipy_stats scipy_statistics scipy_fft scipy_signal scipy_ndimage
    scipy_interpolate scipy_integrate scipy_optimize scipy_spatial scipy_sparse
"""


def sections() -> Iterator[Section]:
    """All modules and classes that are looked at."""
    for name in FILES.split():
        yield from importlib.import_module(f"tests.census.{name}").SECTIONS


def take() -> Census:
    """Try every function."""
    return {section.title: list(section.entries()) for section in sections()}
