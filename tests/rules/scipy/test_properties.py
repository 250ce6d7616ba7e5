"""What holds of every ufunc of `scipy.special`, whatever its formula."""

import numpy as np
import pytest
import scipy.special as sp

from adjoint.cotangents.poison import Poison
from adjoint.rulekit.registry import lookup, rrule

pytestmark = pytest.mark.filterwarnings("ignore")  # of SciPy, about such points
LEFT_OUT = {"hyp0f1", "hyp1f1"}
"""They do not come back from 1e300, or not without an error; neither do the spheroidal ones."""
UFUNCS = {
    name: f
    for name, f in vars(sp).items()
    if isinstance(f, np.ufunc) and not name.startswith(("_", "pro_", "obl_"))
    if name not in LEFT_OUT and lookup(f).rrules
}
REGULAR = {
    1: (0.4,),
    2: (1.0, 0.4),
    3: (2.0, 3.0, 0.4),
    4: (1.0, 2.0, 2.5, 0.4),
    5: (1, 2, 1.5, 2.5, 0.4),
}
EDGES = [np.nan, np.inf, -np.inf, 0.0, 1.0, -1.0, 1e300]


def regular(f):
    """A point inside the domain."""
    return (1, 0.4) if f.__name__.startswith("eval_hermite") else REGULAR[f.nin]


def bars_at(f, points, y_bar):
    """The cotangent of the last operand, the others held at a regular point."""
    *held, _ = regular(f)
    with np.errstate(all="ignore"):
        y, back = rrule(f, *held, np.asarray(points))
        parts = y if isinstance(y, tuple) else (y,)
        filled = tuple(np.full_like(part, y_bar) for part in parts)
        return back(filled if isinstance(y, tuple) else filled[0])[f.nin]


@pytest.mark.parametrize("name", UFUNCS)
def test_a_zero_cotangent_stays_zero(name):
    """Whatever the slope is, what was not selected contributes nothing."""
    bar = bars_at(UFUNCS[name], [0.4, *EDGES], 0.0)
    assert bar is None or not np.any(bar)


@pytest.mark.parametrize("name", UFUNCS)
def test_an_edge_point_disturbs_only_itself(name):
    f = UFUNCS[name]
    alone = bars_at(f, [0.4, 0.4], 1.0)
    if alone is None or isinstance(alone, Poison):
        return
    among = bars_at(f, [0.4, *EDGES, 0.4], 1.0)
    np.testing.assert_allclose(among[[0, -1]], alone, rtol=1e-13, equal_nan=True)


@pytest.mark.parametrize("name", UFUNCS)
def test_single_precision_stays_single(name):
    """As far as the function itself keeps it."""
    f = UFUNCS[name]
    *held, x = regular(f)
    points = np.full(2, x, np.float32)
    with np.errstate(all="ignore"):
        y, back = rrule(f, *held, points)
        bar = back(tuple(map(np.ones_like, y)) if isinstance(y, tuple) else np.ones_like(y))[f.nin]
    assert bar is None or isinstance(bar, Poison) or bar.dtype == np.float32


ANALYTIC = [
    name for name, f in UFUNCS.items() if f.nout == 1 and any(t[f.nin - 1] in "FD" for t in f.types)
]
SCALED = {"jve", "yve", "ive"}  # not analytic off the real axis
ROUNDED = {"jv", "jn", "yv"}  # of whose imaginary part only multiples of 1e-16 are right


@pytest.mark.parametrize("name", sorted(set(ANALYTIC) - SCALED - ROUNDED))
def test_the_complex_step(name):
    """Im f(x + ih) / h has no difference that cancels; of functions that are real on the line."""
    f = UFUNCS[name]
    *held, x = regular(f)
    with np.errstate(all="ignore"):
        step = f(*held, x + 1e-20j) if f.nin else None
        y, back = rrule(f, *held, x)
    if np.iscomplexobj(y) or not np.isfinite(y) or step.imag == 0:
        return
    bar = back(1.0)[f.nin]
    if bar is None or isinstance(bar, Poison):
        return
    assert bar == pytest.approx(step.imag / 1e-20, rel=1e-11)
