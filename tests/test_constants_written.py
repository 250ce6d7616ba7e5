"""Functions without a derivative that write their results into an array of the user's: from then on
it is a constant."""

import numpy as np
import pytest
from scipy import ndimage

from adjoint.testing import check_gradient

V = np.array([0.72, 1.31, 0.4, 0.2])


class Own(np.ndarray):
    pass


WRITES = {
    "binary_dilation": lambda v, o: ndimage.binary_dilation(v > 1.0, output=o),
    "binary_erosion": lambda v, o: ndimage.binary_erosion(v > 0.3, None, 1, None, o),
    "binary_opening": lambda v, o: ndimage.binary_opening(v > 0.3, output=o),
    "binary_fill_holes": lambda v, o: ndimage.binary_fill_holes(v > 0.3, output=o),
    "label": lambda v, o: o.__setitem__(0, ndimage.label(v > 0.3, output=o)),
    "round": lambda v, o: np.round(v, 1, out=o),
    "around": lambda v, o: np.around(v, 1, o),
    "isposinf": lambda v, o: np.isposinf(v, out=o),
    "all": lambda v, o: np.all(v.reshape(1, 4) > 0.5, axis=0, out=o),
    "any": lambda v, o: np.any(v.reshape(1, 4) > 0.5, axis=0, out=o),
}


@pytest.mark.parametrize("kind", [np.ndarray, Own, np.recarray])
@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_an_output_is_constant(write, kind):
    def f(v):
        o = (v * 1.0).view(kind)
        before = np.asarray(o) * 2.0
        write(v, o)
        return np.sum(np.asarray(o)) + np.sum(before) * v[0]

    check_gradient(f, V, modes=("reverse", "forward"))
