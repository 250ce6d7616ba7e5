"""`adjoint.rules.scipy.fft`: transforms of Fourier, of cosines and sines, on logarithmic grids."""

import numpy as np
import pytest
import scipy.fft as sf
from hypothesis import given, settings
from hypothesis import strategies as st

import adjoint as ad
from adjoint.testing import check_rule
from tests.rules.harness import case, complexes, reals, table
from tests.rules.numpy_linalg.matrices import check_second
from tests.support import check_reverse

X, Z, X3, Z3 = reals(3, 6), complexes(3, 6), reals(2, 3, 4), complexes(2, 3, 4)
NORMS = [None, "backward", "ortho", "forward"]
ONE = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
OF_REALS = ("rfft", "ihfft")
HELD = ("fht", "ifht", "freq")
WAVES = [f"{i}{kind}" for i in ("", "i") for kind in ("dct", "dst")]


def lines(name):
    """Transforms over one axis."""
    arrays = (X, X3) if name in OF_REALS else (X, Z, X3, Z3)
    a = arrays[-1]
    return [
        *((b,) for b in arrays),
        *((a, n, axis) for n in (1, 2, 3, 4, 5, 7) for axis in (0, -1)),
        *(case(a, 5, axis=1, norm=norm) for norm in NORMS),
        case(a, workers=1, overwrite_x=True),
        (X.astype("f4"),),
        (X.tolist(), 4),
        (np.arange(6),),
        (np.asfortranarray(X3)[:, ::-1], None, 1),
    ]


def planes(name):
    """Transforms over several axes."""
    real = name.startswith(OF_REALS)
    arrays = (X, X3) if real else (X, X3, Z3)
    a = arrays[-1]
    return [
        *((b,) for b in arrays),
        *(case(a, norm=norm) for norm in NORMS),
        *(case(a, axes=axes) for axes in ((0, 1), (-1, 0), (2, 1), (1,), [0, 2], 1)),
        *(case(a, s=s, axes=(0, 2)) for s in ((2, 4), (3, 5), (1, 3), [2, 7], (-1, 4), (3, -1))),
        *([case(a, s=(3, 4), overwrite_x=True)] if real else []),
        (X.astype("f4"),),
        *([] if name.startswith(("irfft", "hfft")) else [(X.tolist(),)]),  # SciPy 1.12 wants arrays
        *([] if "r" in name or "h" in name else [case(a, axes=())]),
    ]


def waves(name):
    """Transforms of all types."""
    forms = [(t, norm, o) for t in (1, 2, 3, 4) for norm in NORMS for o in (None, True, False)]
    return [
        *(case(X, t, norm=norm, orthogonalize=o) for t, norm, o in forms),
        *(case(X3, t, n, axis) for t in (1, 2, 3, 4) for n in (2, 3, 5) for axis in (0, 1)),
        (Z,),
        case(X, overwrite_x=True),
        (X.astype("f4"),),
        (X[0].tolist(), 3),
        (np.arange(6), 2),
    ]


def planes_of_waves(name):
    return [
        *(case(X, t, norm=norm) for t in (1, 2, 3, 4) for norm in NORMS),
        *(case(X3, t, s=(2, 5), axes=(0, 2), norm="ortho", orthogonalize=False) for t in (1, 2, 3)),
        *(case(X3, axes=axes) for axes in ((0, 1), 1, (-1, 0), ())),
        case(X3, s=(3, 2)),
        case(X, overwrite_x=True),
        (Z,),
        (X.astype("f4"),),
    ]


CASES = {
    **{getattr(sf, name): lines(name) for name in ONE},
    **{getattr(sf, name + n): planes(name) for name in ONE for n in "n2"},
    **{getattr(sf, name): waves(name) for name in WAVES},
    **{getattr(sf, name + "n"): planes_of_waves(name) for name in WAVES},
    **{
        f: [(X,), (Z,), (X3, 1), case(X3, axes=(0, 2)), (X.astype("f4"),), ([1.0, 2.0, 3.0],)]
        for f in (sf.fftshift, sf.ifftshift)
    },
    **{f: [(5, 0.5), (6, -1.5), (6, np.float32(0.5))] for f in (sf.fftfreq, sf.rfftfreq)},
    **{
        f: [
            (X[0], 0.1, 0.5), (X3, 0.1, 0.5), (X3, 0.2, 1.5, 0.3), (X3, 0.2, 1.5, 0.3, 0.2),
            case(reals(5), 0.2, 1.0, bias=-0.3), (X[0].astype("f4"), 0.1, 0.5),
        ]
        for f in (sf.fht, sf.ifht)
    },
}  # fmt: skip
test_rules = table(CASES)


@pytest.mark.parametrize("name", ["fft2", "ifft2", "fftn", "ifftn"])
def test_planes_that_may_be_overwritten(name):
    """SciPy 1.18 rounds otherwise where it may overwrite its argument."""
    f = getattr(sf, name)
    y, back = ad.pullback(lambda z: f(z, s=(3, 4), overwrite_x=True), Z3.copy())
    np.testing.assert_allclose(y, f(Z3.copy(), s=(3, 4), overwrite_x=True), rtol=1e-13)
    expected = ad.pullback(lambda z: f(z, s=(3, 4)), Z3)[1](y)[1]
    np.testing.assert_allclose(back(y)[1], expected, rtol=1e-13)


@pytest.mark.parametrize("f", [f for f in CASES if f.__name__[-4:] not in HELD])
def test_forward_rules_are_differentiable(f):
    check_second(f, X)


@settings(max_examples=40)
@given(
    st.sampled_from([f"{name}n" for name in ONE]),
    st.lists(st.integers(2, 4), min_size=1, max_size=3),
    st.data(),
)
def test_any_shapes_axes_and_lengths(name, shape, data):
    axes = st.lists(st.integers(0, len(shape) - 1), min_size=1, max_size=3, unique=True)
    axes = data.draw(axes)
    lengths = st.lists(st.integers(1, 5), min_size=len(axes), max_size=len(axes))
    a = reals(*shape) if name.startswith(OF_REALS) else complexes(*shape)
    check_rule(
        getattr(sf, name),
        a,
        data.draw(st.none() | lengths),
        axes,
        data.draw(st.sampled_from(NORMS)),
    )


def test_in_programs():
    def filtered(x, gains):
        spectrum = sf.rfft(x, axis=-1)
        return sf.irfft(spectrum * gains, n=6, overwrite_x=True)

    check_reverse(filtered, X, reals(4))
    check_reverse(lambda x: np.abs(sf.fftshift(x=sf.fft(x=x), axes=0)) ** 2, Z)
    check_reverse(lambda d: sf.rfftfreq(6, d), 0.5)
    with sf.set_workers(1):
        check_reverse(lambda x: sf.dctn(x) ** 2, X)


def test_a_grid_is_held():
    with pytest.raises(ad.AdjointError, match="the grid, the order or the bias"):
        ad.gradient(lambda mu: sf.fht(X[0], 0.1, mu).sum(), 0.5)
