"""`adjoint.rules.scipy.special.hypergeometric`."""

import numpy as np
import pytest
import scipy.special as sp

from adjoint.errors import NoDerivativeError
from adjoint.rulekit.registry import frule
from tests.rules.harness import case, complexes, table
from tests.rules.scipy.operands import EXACT, ranges

Z = 0.4 * complexes(2, 2)
CASES = {
    sp.hyp0f1: [
        *ranges((0.5, 3), (-2, 2)),
        *(case(2.5, z, tolerances=EXACT) for z in (0.0, 20.0, Z, 0.3 + 1j)),
        case(np.array([1.5, 2.0]), Z, tolerances=EXACT),
    ],
    sp.hyp1f1: [
        *ranges((-2, 2), (0.5, 3), (-2, 2)),
        *(case(1.5, 2.5, z, tolerances=EXACT) for z in (0.0, 20.0, -20.0, Z, 0.3 + 1j)),
        case(np.array([1.5, -2.0]), 0.7, Z, tolerances=EXACT),
    ],
    sp.hyp2f1: [
        *ranges((-2, 2), (-2, 2), (0.5, 3), (-0.9, 0.9)),
        *(case(1.5, 0.7, 2.5, z, tolerances=EXACT) for z in (0.0, 0.95, -20.0, Z, 0.3 + 1j)),
        case(np.array([1.5, -2.0]), 0.7, 1.2, Z, tolerances=EXACT),
    ],
    sp.hyperu: ranges((0.5, 2), (0.5, 2), (0.5, 3), tolerances={"rtol": 1e-6}),
}
test_rule = table(CASES)


@pytest.mark.parametrize(
    "f, args", [(sp.hyp1f1, (1.5, 2.5, 0.3)), (sp.hyp2f1, (1.5, 2.5, 0.7, 0.3))]
)
def test_parameters_have_no_derivative(f, args):
    for position in range(len(args) - 1):
        dots = tuple(1.0 if i == position else None for i in range(len(args)))
        with pytest.raises(NoDerivativeError, match="in a parameter is needed"):
            frule(f, dots, *args)
