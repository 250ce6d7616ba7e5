"""The rules of NumPy by topic; imported on the first call into NumPy.

Products of arrays (`numpy.dot`, `numpy.kron`) are in `products`. The rules of `numpy.fft`,
`numpy.linalg`, `numpy.ma`, `numpy.polynomial` and `numpy.random` are imported on the first call
into these. The folders hold topics of several files.
"""

from adjoint.rules.numpy import (  # noqa: F401  each registers its rules
    constants,
    einsum,
    gradient,
    lanes,
    methods,
    polynomials,
    products,
    scalars,
    specials,
    tangents,
    ufunc_methods,
    ufuncs,
    windows,
)
from adjoint.rules.numpy.aggregates import (  # noqa: F401  each registers its rules
    cumulative,
    histograms,
    logarithmic_sums,
    nan_reductions,
    quantiles,
    reductions,
)
from adjoint.rules.numpy.memory import (  # noqa: F401  each registers its rules
    array_writes,
    flat,
    in_place,
    nditer,
)
from adjoint.rules.numpy.protocols import (  # noqa: F401  each registers its rules
    array_function,
    array_wrap,
    conversion,
    converter,
    error_settings,
    out,
    vectorizing,
)
from adjoint.rules.numpy.shapes import (  # noqa: F401  each registers its rules
    creation,
    element_selection,
    elementwise_choices,
    interpolation,
    joining,
    object_arrays,
    ranges,
    shaping,
    sorting,
)
