"""Fourier transforms: lengths, axes, scalings, real and complex, outputs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import adjoint as ad
from adjoint.testing import check_rule
from tests.rules.harness import case, complexes, reals, table
from tests.rules.numpy_linalg.matrices import check_second
from tests.support import check_reverse

X, Z = reals(3, 6), complexes(3, 6)
X3, Z3 = reals(2, 3, 4), complexes(2, 3, 4)
NUMPY_2 = np.lib.NumpyVersion(np.__version__) >= "2.0.0"
NORMS = [None, "backward", "ortho", "forward"]
OF_REALS = ("rfft", "ihfft")


def lines(name):
    """Transforms over one axis."""
    arrays = (X, X3) if name in OF_REALS else (X, Z, X3, Z3)
    single = [X.astype(np.float32)] + ([] if name in OF_REALS else [Z.astype(np.complex64)])
    return [
        *((a,) for a in (*arrays, *single)),
        *((arrays[-1], n, axis) for n in (1, 2, 3, 4, 5, 7, 8) for axis in (0, 1, -1)),
        *(case(arrays[-1], norm=norm) for norm in NORMS),
        *(case(arrays[0], 5, axis=0, norm=norm) for norm in NORMS),
        (X.tolist(), 4),
        (np.arange(6),),
        (np.asfortranarray(X3)[:, ::-1], None, 1),
        (arrays[0][0],),
    ]


def planes(name):
    """Transforms over several axes."""
    real = name.startswith("rfft")
    arrays = (X, X3) if real else (X, X3, Z3)
    a = arrays[-1]
    return [
        *((b,) for b in arrays),
        (X.astype(np.float32),),
        *(case(a, norm=norm) for norm in NORMS),
        *(case(a, axes=axes) for axes in ((0, 1), (-1, 0), (2, 1), (1, 2, 0), (1,), [0, 2])),
        *(case(a, s=s, axes=(0, 2)) for s in ((2, 4), (3, 5), (1, 3), (4, 2), [2, 7])),
        case(a, (3, 4), (1, 2), "ortho"),
        case(a, axes=(0, 1, 0)),  # an axis may come twice
        case(a, axes=(1, 0, 1), norm="forward"),
        case(a, s=(3, 2, 5), axes=(0, 1, 0)),
        (X.tolist(),),
        *([case(a, s=(-1, 6), axes=(0, 2)), case(a, s=(3, -1), axes=(0, 2))] if NUMPY_2 else []),
        *([] if "r" in name else [case(a, axes=())]),
    ]


CASES = {
    **{getattr(np.fft, f): lines(f) for f in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")},
    **{
        getattr(np.fft, f): planes(f)
        for f in ("fftn", "ifftn", "rfftn", "irfftn", "fft2", "ifft2", "rfft2", "irfft2")
    },
    **{
        f: [
            (X,),
            (Z,),
            (X3, 1),
            (X3, (0, 2)),
            case(X3, axes=[1]),
            case(X3, axes=-1),
            (X.astype(np.float32),),
            ([1.0, 2.0, 3.0],),
            (np.arange(5),),
            (np.zeros(0),),
        ]
        for f in (np.fft.fftshift, np.fft.ifftshift)
    },
    **{
        f: [(5, 0.5), (8, 0.5), (1, 2.0), (6, np.float32(0.5)), (7, -1.5)]
        for f in (np.fft.fftfreq, np.fft.rfftfreq)
    },
}
test_rules = table(CASES)


@pytest.mark.parametrize("f", [f for f in CASES if f not in (np.fft.fftfreq, np.fft.rfftfreq)])
def test_forward_rules_are_differentiable(f):
    check_second(f, X)


@pytest.mark.parametrize("f", [np.fft.fftfreq, np.fft.rfftfreq])
def test_frequencies_by_keyword(f):
    check_reverse(lambda d: f(6, d=d), 0.5)
    check_reverse(lambda d: f(n=6, d=d) * d**3, 0.5)
    assert ad.gradient(lambda x: x * f(4).sum(), 2.0)[0] == f(4).sum()
    x_dot = ad.frule(f, (None, 1.0), 6, 0.5)[1]
    np.testing.assert_allclose(x_dot, -f(6, 0.5) / 0.5)


@settings(max_examples=60)
@given(
    st.sampled_from(["fftn", "ifftn", "rfftn", "irfftn"]),
    st.lists(st.integers(2, 4), min_size=1, max_size=3),
    st.data(),
)
def test_any_shapes_axes_and_lengths(name, shape, data):
    axes = data.draw(st.lists(st.integers(-len(shape), len(shape) - 1), min_size=1, max_size=3))
    lengths = data.draw(
        st.none() | st.lists(st.integers(1, 5), min_size=len(axes), max_size=len(axes))
    )
    a = reals(*shape) if name == "rfftn" else complexes(*shape)
    check_rule(getattr(np.fft, name), a, lengths, axes, data.draw(st.sampled_from(NORMS)))


@pytest.mark.parametrize("f", [np.fft.fft, np.fft.irfft, np.fft.hfft, np.fft.fftn, np.fft.irfft2])
def test_the_argument_by_keyword(f):
    check_reverse(lambda z: f(a=z), Z)
    check_reverse(lambda z: f(norm="ortho", a=z), Z)


@pytest.mark.skipif(not NUMPY_2, reason="outputs came with NumPy 2")
@pytest.mark.parametrize(
    "name", "fft ifft hfft irfft ihfft rfft fftn ifft2 rfftn rfft2 irfftn irfft2".split()
)
def test_outputs(name):
    f = getattr(np.fft, name)
    x = X if name in OF_REALS or name.startswith("rfft") else Z
    y = f(x)

    def written(a):
        out = np.zeros(y.shape, y.dtype)
        result = f(a, out=out)
        out *= 2.0
        return result, out  # some versions of NumPy leave some outputs alone

    check_reverse(written, x)


@pytest.mark.skipif(not NUMPY_2, reason="outputs came with NumPy 2")
def test_outputs_by_position():
    def written(a):
        out = np.zeros(6, complex)
        np.fft.fft(a, None, -1, None, out)
        return out * out

    check_reverse(written, X[0])


def test_transforms_of_no_axes_are_the_argument():
    def written(a):
        b = a * 1.0
        c = np.fft.fftn(b, axes=())
        c[0] = 7.0
        return (b * a).sum()

    check_reverse(written, X[0])


@pytest.mark.parametrize(
    "call",
    [
        lambda x: np.fft.fft(x, 0),
        lambda x: np.fft.fft(x, norm="unitary"),
        lambda x: np.fft.fft(x, axis=5),
        lambda x: np.fft.fftn(x, s=(2,), axes=(0, 1)),
    ],
)
def test_errors_are_numpys_own(call):
    with pytest.raises(Exception) as plain:
        call(X)
    with pytest.raises(type(plain.value)) as found:
        ad.pullback(call, X)
    assert str(found.value) == str(plain.value)


def test_convolution_theorem():
    def circular(a, b):
        return np.fft.irfft(np.fft.rfft(a) * np.fft.rfft(b), len(a))

    def direct(a, b):
        n = len(a)
        return np.stack([sum(a[i] * b[(k - i) % n] for i in range(n)) for k in range(n)])

    a, b, w = reals(5), reals(5, seed=1), reals(5, seed=2)
    one, other = (ad.gradient(lambda a, b: f(a, b) @ w, a, b) for f in (circular, direct))
    np.testing.assert_allclose(one, other, atol=1e-14)
