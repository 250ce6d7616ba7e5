"""Loading of the files that register what functions mean in programs: handlers, definitions,
records of result types, formulas. What concerns a part of a library that is slow to import is
loaded with that part."""

from __future__ import annotations

import importlib
import sys
from functools import partial

from adjoint.fast.evaluate.callees import (  # noqa: F401  each registers its definitions
    comparisons,
    covariances,
    function_tools,
    index_tricks,
    padding,
    polynomials,
    samples,
    ufunc_methods,
    written_elements,
)
from adjoint.fast.evaluate.handlers import (  # noqa: F401  each registers its handlers
    attributes,
    cached_functions,
    callables,
    classes,
    closures,
    containers,
    contexts,
    derived_classes,
    displays,
    dtypes,
    exceptions,
    identity,
    imports,
    iterating_builtins,
    new_arrays,
    numbers,
    operators,
    printing,
    signatures,
    sorting,
    strings,
    subscripts,
    tools_of_iterators,
)
from adjoint.fast.evaluate.result_types import fourier
from adjoint.fast.nested import derivative_operators  # noqa: F401  registers handlers
from adjoint.fast.reverse import (  # noqa: F401  each registers its formulas
    complex_parts,
    elementwise,
    linear_functions,
    number_arrays,
)
from adjoint.rulekit.loading import when_loaded

_LATER = {
    "random": "evaluate.handlers.random_of_python",
    "statistics": "evaluate.callees.exact_statistics",
    "logging": "evaluate.handlers.loggers",
    "numpy.random": "evaluate.handlers.random_numbers",
    "numpy.linalg": "evaluate.callees.equal_values evaluate.callees.linear_models",
    "numpy.fft": "evaluate.callees.frequencies",
    "numpy.polynomial": "evaluate.callees.quadrature_nodes evaluate.callees.series",
    "scipy.fft": "",
    "scipy.special": "evaluate.callees.special_functions",
    "scipy.linalg": (
        "evaluate.callees.equal_values evaluate.result_types.factors nested.linear_algebra"
    ),
    "scipy.spatial": "evaluate.result_types.distances",
    "scipy.signal": (
        "evaluate.callees.filter_designs evaluate.result_types.filters nested.signal_filters"
    ),
    "scipy.optimize": "nested.fits nested.linear_programs",
    "scipy.integrate": ("nested.multiple_quadratures nested.sampled_integrals nested.trajectories"),
    "scipy.stats": "nested.distributions nested.sample_statistics",
    "scipy.interpolate": "nested.interpolation",
    "scipy.sparse": "nested.sparse_arrays nested.sparse_formats",
    "scipy.ndimage": "nested.image_filters nested.image_samples nested.rank_filters",
}
"""By part of a library that is slow to import: the files, in `adjoint.fast`, that register what its
functions mean."""


def _load(part: str) -> None:
    for name in _LATER[part].split():
        importlib.import_module(f"adjoint.fast.{name}")
    if part in ("numpy.fft", "scipy.fft"):
        fourier.add(sys.modules[part])


for _part in _LATER:
    if not when_loaded(_part, partial(_load, _part)):
        _load(_part)
