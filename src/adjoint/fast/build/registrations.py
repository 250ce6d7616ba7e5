"""Loading of the files that register what functions mean in programs: handlers, definitions,
records of result types, formulas. What concerns a part of a library that is slow to import is
loaded with that part."""

from __future__ import annotations

import sys

from adjoint.fast.evaluate.callees import (  # noqa: F401  each registers its definitions
    comparisons,
    covariances,
    function_tools,
    index_tricks,
    padding,
    polynomials,
    samples,
    ufunc_methods,
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
from adjoint.fast.nested import derivative_operators  # noqa: F401  registers handlers
from adjoint.fast.reverse import (  # noqa: F401  each registers its formulas
    complex_parts,
    elementwise,
    linear_functions,
    number_arrays,
)
from adjoint.rulekit.loading import when_loaded


def _add_random_numbers() -> None:
    # deferred: NumPy imports `numpy.random` on its first use, which takes a while
    from adjoint.fast.evaluate.handlers import random_numbers  # noqa: F401  registers handlers


def _add_random_numbers_of_python() -> None:
    # deferred: `random` imports much
    from adjoint.fast.evaluate.handlers import random_of_python  # noqa: F401  registers handlers


def _add_matrices() -> None:
    # deferred: it imports the rules of `numpy.linalg`
    from adjoint.fast.evaluate.callees import (  # noqa: F401  register definitions
        equal_values,
        linear_models,
    )


def _add_frequencies() -> None:
    # deferred: NumPy may not have imported its Fourier transforms
    from adjoint.fast.evaluate.callees import frequencies  # noqa: F401  registers definitions
    from adjoint.fast.evaluate.result_types import fourier

    fourier.add(sys.modules["numpy.fft"])


def _add_transforms() -> None:
    # deferred: SciPy takes a while to import
    from adjoint.fast.evaluate.result_types import fourier

    fourier.add(sys.modules["scipy.fft"])


def _add_series() -> None:
    # deferred: NumPy may not have imported its polynomials
    from adjoint.fast.evaluate.callees import (  # noqa: F401  register definitions
        quadrature_nodes,
        series,
    )


def _add_special_functions() -> None:
    # deferred: SciPy takes a while to import
    from adjoint.fast.evaluate.callees import special_functions  # noqa: F401  registers definitions


def _add_statistics() -> None:
    # deferred: it imports fractions and decimals
    from adjoint.fast.evaluate.callees import exact_statistics  # noqa: F401  registers definitions


def _add_linear_algebra() -> None:
    # deferred: SciPy takes a while to import
    from adjoint.fast.evaluate.callees import equal_values  # noqa: F401  registers definitions
    from adjoint.fast.evaluate.result_types import factors  # noqa: F401  registers records
    from adjoint.fast.nested import linear_algebra  # noqa: F401  registers definitions


def _add_distances() -> None:
    # deferred: SciPy takes a while to import
    from adjoint.fast.evaluate.result_types import distances  # noqa: F401  registers records


def _add_filters() -> None:
    # deferred: SciPy takes a while to import
    from adjoint.fast.evaluate.callees import filter_designs  # noqa: F401  registers designs
    from adjoint.fast.evaluate.result_types import filters  # noqa: F401  registers records
    from adjoint.fast.nested import signal_filters  # noqa: F401  registers definitions


def _add_solvers() -> None:
    # deferred: SciPy's solvers take a while to import
    from adjoint.fast.nested import fits, linear_programs  # noqa: F401  register definitions


def _add_quadratures() -> None:
    # deferred: SciPy's integrators take a while to import
    from adjoint.fast.nested import (  # noqa: F401  register definitions
        multiple_quadratures,
        sampled_integrals,
        trajectories,
    )


def _add_distributions() -> None:
    # deferred: SciPy's distributions take a while to import
    from adjoint.fast.nested import (  # noqa: F401  register definitions
        distributions,
        sample_statistics,
    )


def _add_interpolation() -> None:
    # deferred: SciPy's interpolation takes a while to import
    from adjoint.fast.nested import interpolation  # noqa: F401  registers definitions


def _add_sparse_arrays() -> None:
    # deferred: SciPy's sparse arrays take a while to import
    from adjoint.fast.nested import (  # noqa: F401  register definitions
        sparse_arrays,
        sparse_formats,
    )


def _add_image_filters() -> None:
    # deferred: SciPy's filters of images take a while to import
    from adjoint.fast.nested import (  # noqa: F401  register definitions
        image_filters,
        image_samples,
    )


for _part, _add in (
    ("random", _add_random_numbers_of_python),
    ("numpy.random", _add_random_numbers),
    ("numpy.linalg", _add_matrices),
    ("numpy.fft", _add_frequencies),
    ("scipy.fft", _add_transforms),
    ("numpy.polynomial", _add_series),
    ("statistics", _add_statistics),
    ("scipy.special", _add_special_functions),
    ("scipy.linalg", _add_linear_algebra),
    ("scipy.spatial", _add_distances),
    ("scipy.signal", _add_filters),
    ("scipy.optimize", _add_solvers),
    ("scipy.integrate", _add_quadratures),
    ("scipy.stats", _add_distributions),
    ("scipy.interpolate", _add_interpolation),
    ("scipy.sparse", _add_sparse_arrays),
    ("scipy.ndimage", _add_image_filters),
):
    if not when_loaded(_part, _add):
        _add()
