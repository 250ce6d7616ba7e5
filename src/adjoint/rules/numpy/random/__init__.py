"""Random numbers; imported on the first call into `numpy.random`."""

from adjoint.rules.numpy.random import (  # noqa: F401  each registers its rules
    distributions,
    sampling,
    shuffles,
    sources,
)
