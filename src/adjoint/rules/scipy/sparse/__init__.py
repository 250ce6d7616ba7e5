"""Rules for `scipy.sparse`, one module per topic; imported on the first call into it."""

from adjoint.rules.scipy.sparse import (  # noqa: F401  each registers its rules
    arrays,
    eigen,
    invariant_subspaces,
    lil_and_dok,
    output_arrays,
    pairs,
    products,
    solving,
    sparsity,
    zeros,
)
