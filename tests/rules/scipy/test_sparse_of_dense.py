"""Sparse arrays of dense ones: what an entry that is not stored contributes is refused, for this
entry alone."""

import numpy as np
import pytest
from scipy import sparse

import adjoint as ad
from adjoint.errors import NoDerivativeError
from adjoint.rulekit.refusal import NoDerivative, demand_entries, refused_entry
from adjoint.testing import check_gradient
from tests.rules.harness import complexes, reals

FORMATS = ("csr", "csc", "coo", "dia", "bsr", "lil", "dok")
WEIGHTS, X = reals(3, 3, seed=1), reals(3, low=0.5)
CLASSES = [
    getattr(sparse, f"{format}_{kind}") for format in FORMATS for kind in ("array", "matrix")
]


def assembled(cls, v, **named):
    """A matrix with constants, zeros among them, beside what depends on `v`."""
    dense = np.zeros((3, 3))
    for i in range(3):
        dense[i, i] = v[i] * (v[i] + 1)
    dense[0, 1] = dense[1, 0] = -v[0]
    return cls(dense, **named)


def listed(cls, v, **named):
    return cls([[v[0], 0.0, 0.0], [1.0, v[1] * v[0], 0.0], (0.0, 0.0, v[2])], **named)


MATRICES = [
    *((cls, assembled, {}) for cls in CLASSES),
    *((cls, listed, {}) for cls in CLASSES[::2]),
    *((cls, assembled, {"dtype": float, "shape": (3, 3)}) for cls in CLASSES[::2]),
]


@pytest.mark.parametrize(("cls", "make", "named"), MATRICES)
def test_zeros_that_are_constant(cls, make, named):
    def f(v):
        made = make(cls, v, **named)
        assert made.format == cls(np.eye(3)).format
        return ((made @ WEIGHTS) ** 2).sum() + (made.toarray() * WEIGHTS).sum()

    check_gradient(f, X, rtol=1e-6, modes=("reverse", "forward"))
    with pytest.raises(NoDerivativeError, match="zero here and are not stored"):
        ad.gradient(f, X * (1, 1, 0))
    with pytest.raises(NoDerivativeError, match="zero here and are not stored"):
        ad.pushforward(f, (X * (1, 1, 0),), (X,))


def test_other_shapes_and_dtypes():
    for x in (X, X.astype(np.float32), complexes(3)):
        chosen = np.array([True, False, True])

        def f(v):
            return abs((sparse.coo_array(v).data ** 2).sum())

        with pytest.raises(NoDerivativeError, match="not stored"):
            ad.gradient(f, x * chosen)
        mended = ad.gradient(lambda v, f=f: f(np.where(chosen, v, 0)), x)[0]
        expected = ad.gradient(lambda v: abs((v[chosen] ** 2).sum()), x)[0]
        np.testing.assert_allclose(mended, expected, rtol=1e-6)


@pytest.mark.parametrize("combine", ["plus", "minus", "times", "larger"])
def test_stored_zeros_that_are_constant_in_sums(combine):
    def f(v):
        places = np.array([0, 1, 1]), np.array([0, 1, 0])
        a = sparse.csr_array((np.array([v[0], v[1], 0.0]), places), shape=(2, 2))
        b = sparse.csr_array((np.array([v[2], v[0], 0.0]), places), shape=(2, 2))
        made = {
            "plus": lambda: a + b,
            "minus": lambda: a - b,
            "times": lambda: a.multiply(b),
            "larger": lambda: a.maximum(b),
        }[combine]()
        return (made @ np.array([1.0, 2.0])).sum() ** 2

    check_gradient(f, X * [1, 2, 3], modes=("reverse", "forward"))


def test_coordinates_are_canonical():
    dense = np.array([[0.0, 2.0], [3.0, 0.0]])
    y, _ = ad.pullback(lambda d: sparse.coo_array(d), dense)
    expected = sparse.coo_array(dense)
    assert y.has_canonical_format == expected.has_canonical_format
    assert y.coords[0].dtype == expected.coords[0].dtype
    with pytest.raises(ValueError, match="inconsistent shapes"):
        ad.gradient(lambda d: sparse.coo_array(d, shape=(3, 2)).sum(), dense)


def test_derivatives_of_derivatives():
    def sparse_energy(v):
        return (assembled(sparse.csr_array, v) @ v).sum() ** 2

    def energy(v):
        return (assembled(np.array, v) @ v).sum() ** 2

    np.testing.assert_allclose(ad.hessian(sparse_energy, X), ad.hessian(energy, X))
    for outer in (ad.hessian, lambda f, x: ad.gradient(lambda u: ad.gradient(f, u)[0].sum(), x)):
        with pytest.raises(NoDerivativeError, match="not stored"):
            outer(sparse_energy, X * (1, 0, 1))


@pytest.mark.parametrize("dtype", "e f d g F D".split())
def test_a_refused_entry_is_told_from_others_in_every_precision(dtype):
    missing = NoDerivative("some entries", "are not known")
    bar = np.ones(4, dtype)
    demand_entries(bar)
    bar[1] = np.nan
    demand_entries(bar)  # somebody else's
    bar[1], bar[2] = 1, refused_entry(len, missing)
    for known in (bar * 2, bar @ np.ones(4, dtype), bar.sum(), bar.astype(complex), bar[2]):
        with pytest.raises(NoDerivativeError, match="'len' in some entries is needed, which are"):
            demand_entries(known)
    demand_entries(bar[[0, 1, 3]])


def cleaned(x):
    return x * 1.0


@ad.rrule.register(cleaned)
def _(x):
    return x * 1.0, lambda y_bar: (None, np.where(np.isfinite(y_bar), y_bar, 0.0))


@pytest.mark.parametrize(
    "see", [lambda x: ad.hook(np.nan_to_num, x), cleaned], ids=["hook", "rule"]
)
def test_functions_of_the_users_do_not_see_what_is_refused(see):
    def f(x):
        return (sparse.csr_array(see(x).reshape(2, 2)) @ np.ones(2)).sum() ** 2

    x = np.array([2.0, 0.0, 3.0, 0.0])
    for derivative in (
        lambda: ad.gradient(f, x),
        lambda: ad.hessian(f, x),
        lambda: ad.gradient(lambda u: ad.gradient(f, u)[0].sum(), x),
        lambda: ad.pullback(f, x)[1](1.0),
        lambda: ad.pushforward(lambda u: ad.gradient(f, u)[0], (x,), (x,)),
        lambda: ad.gradient(lambda p: f(ad.hook(lambda bar: bar, p)["x"]), {"x": x}),
    ):
        with pytest.raises(NoDerivativeError, match="not stored"):
            derivative()
