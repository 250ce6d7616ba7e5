"""What the code of libraries does around its formulas: dispatch, checks, conversions, shims."""

import numpy as np

from tests.corpus.registry import case

X = np.array([0.3, 0.8, 1.4, -0.6])


# ---- NumPy's scalars and arrays of no axes -------------------------------------------------------


@case(X)
def scalars_have_a_shape(x):
    """SciPy ends in ``y[()] if y.ndim == 0 else y``, whether `y` is an array or not."""
    total = np.sum(x * x)
    total = total[()] if total.ndim == 0 else total
    spread = np.asarray(total)[()] * x.max()
    return spread * total[...] + (total[None] * x).sum() + total[..., np.newaxis][0]
