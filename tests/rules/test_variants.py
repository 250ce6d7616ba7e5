"""Every case of the tables of rules with operands of another kind (see `tests.rules.variants`)."""

import importlib
import math
import warnings
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import linalg as sl

import adjoint as ad
from tests.rules.harness import Case, case, name_of
from tests.rules.variants import KINDS, fault, variant

MOST = 3
"""Lines of the table of a rule that are tried, at most."""

EXEMPT = {
    # SciPy's own result is what was in memory, or NumPy's depends on how operands are aligned.
    ("solve_sylvester", "empty"),
    ("square", "complex"),
    # The matrices have to be symmetric, and so their tangents.
    ("solve_continuous_are", "integer"),
    ("solve_discrete_are", "integer"),
    # Exponents of matrices and numbers of samples that are integers count.
    ("fractional_matrix_power", "integer"),
    # An operand that SciPy only looks at; a refusal that an integer of a list does not show.
    ("distance_transform_edt", "complex"),
    ("distance_transform_bf", "complex"),
    ("distance_transform_bf", "integer"),
    # Fortran's functions of real numbers take the real part.
    ("function sgbsv", "complex"),
    ("function dgbsv", "complex"),
    # Factors with columns that the permutation does not have.
    ("lu_solve", "empty"),
}


def _lines():
    for path in sorted(Path(__file__).parent.rglob("test_*.py")):
        parts = path.relative_to(Path(__file__).parents[2]).with_suffix("").parts
        if path.name == Path(__file__).name:
            continue
        cases = getattr(importlib.import_module(".".join(parts)), "CASES", {})
        for key, calls in cases.items():
            function = key[0] if isinstance(key, tuple) else key
            module = str(getattr(function, "__module__", ""))
            if not module.startswith(("adjoint", "tests")) and not name_of(key).startswith("_"):
                yield key, path.stem, calls[:MOST]


@pytest.mark.parametrize(
    "key, calls",
    [pytest.param(key, calls, id=f"{file}-{name_of(key)}") for key, file, calls in _lines()],
)
def test_operands_of_other_kinds(key, calls):
    for call in calls:
        args, kwargs, _ = call if isinstance(call, Case) else case(*call)
        for kind in KINDS:
            if (name_of(key), kind) in EXEMPT or (made := variant(args, kind)) is None:
                continue
            wrong = fault(key, made, kwargs, args)
            assert wrong is None, f"{kind} operands {made}: {wrong}"


# ---- what was wrong once -------------------------------------------------------------------------

A = np.array([1.0, 2.0, 3.0])


def agree(f, x, expected, **tolerances):
    """Reverse mode in both tiers and forward mode give one derivative."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of complex numbers that lose a part
        for tier in ("fast", "generic"):
            assert_allclose(ad.grad(f, tier=tier)(x), expected, rtol=1e-10, **tolerances)
        one = np.ones(np.shape(x)) if isinstance(x, np.ndarray) else 1.0
        moved = np.real(np.sum(np.conj(expected) * one))
        assert_allclose(ad.pushforward(f, (x,), (one,))[1], moved, rtol=1e-10)


def test_products_of_complex_numbers():
    z = np.array([1 + 2j, 3 - 1j, 0.5 + 1j])
    others = np.array([z[1] * z[2], z[0] * z[2], z[0] * z[1]])
    agree(lambda z: math.prod(z).real, z, np.conj(others))
    agree(lambda s: math.prod([1.0], start=s * 1j).real, 1.0 + 2j, -1j)


@pytest.mark.parametrize(
    "f, slope",
    [
        (lambda z: math.hypot(z, 1.0), 1 / math.sqrt(2)),
        (lambda z: math.pow(z, 3), 3.0),
        (lambda z: math.dist([z], [0.0]), 1.0),
        (lambda z: math.atan(z), 0.5),
        (lambda z: math.log(z, 3.0), 1 / math.log(3.0)),
        (lambda z: math.fmod(2.5, z), -2.0),
        (lambda z: math.fsum([z, z]), 2.0),
        (lambda z: math.modf(z)[0], 1.0),
        (lambda z: math.frexp(z)[0], 0.5),
        (lambda z: math.copysign(z, -1.0), -1.0),
    ],
)
def test_functions_of_math_take_the_real_part(f, slope):
    z = np.complex128(1 + 2j)
    agree(f, z, slope)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert ad.pushforward(f, (z,), (1j,))[1] == 0.0


@pytest.mark.parametrize("initial", [0.7, 2, 5.5])
@pytest.mark.parametrize("f", [np.max, np.min, np.sum, np.prod, np.nansum, np.add.reduce])
def test_initial_beside_integers(f, initial):
    """It is rounded, so the derivative is that of an integer."""
    i = np.array([1, 2, 4])
    got = ad.gradient(lambda i: f(i, initial=initial), i)[0]
    assert_allclose(got, ad.gradient(lambda i: f(i, initial=int(initial)), i)[0])
    plain = ad.gradient(lambda x: f(x, initial=float(int(initial))), i.astype(float))[0]
    assert_allclose(got, plain)
    assert ad.grad(lambda s: f(i, initial=s))(0.7) == 0.0


def test_padding_of_integers_is_rounded():
    got = ad.gradient(lambda i: np.pad(i, 1, constant_values=1.5).sum(), np.array([1, 2]))[0]
    assert_allclose(got, [1.0, 1.0])


def test_numbers_as_matrices():
    agree(lambda v: sl.expm(v[0]).sum(), np.array([0.3]), [math.exp(0.3)])
    agree(lambda v: sl.expm(v).sum(), np.array([0.3]), [math.exp(0.3)])
    agree(lambda v: sl.expm(v.reshape(1, 1)).sum(), np.array([0.3]), [math.exp(0.3)])
    agree(lambda v: np.take(v, 0, axis=0), 0.4, 1.0)
    agree(lambda v: np.take(v, [0, 0], axis=-1).sum(), np.array(0.4), 2.0)


@pytest.mark.parametrize("order", [1, -1, 2, -2, np.inf, "fro", "nuc"])
def test_norms_of_empty_parts(order):
    def f(v):
        try:
            return np.linalg.norm(np.outer(v, [1.0])[:, 1:], order) + v[0]
        except ValueError:  # what older versions of NumPy have no value for
            return v[0]

    agree(f, A, [1.0, 0.0, 0.0])


def test_reduceat_without_an_axis():
    agree(lambda v: np.add.reduceat(v, [0, 1], axis=None)[1], A, [0.0, 1.0, 1.0])
    agree(lambda v: np.multiply.reduceat(v, [0, 1], axis=None)[1], A, [0.0, 3.0, 2.0])


@pytest.mark.parametrize("where", [[True, False, True], [[True], [False]], True])
def test_copyto_broadcasts(where):
    def copied(v):
        w = np.zeros((2, 3))
        np.copyto(w, 2 * v, where=where)
        return (w * w).sum()

    chosen = np.broadcast_to(where, (2, 3)).sum(0)
    agree(copied, A, 8 * A * chosen)


@pytest.mark.parametrize("f", [np.putmask, np.place])
@pytest.mark.parametrize("dtype", [float, int, np.float32])
@pytest.mark.parametrize("factor", [1.0, 1j])
def test_writes_cast_as_numpy_does(f, dtype, factor):
    def written(v):
        w = np.zeros(3, dtype)
        f(w, v > 1.5, v * factor)
        return w.sum()

    if np.can_cast(type(factor), dtype):
        agree(written, A, [0.0, 1.0, 1.0] if f is np.putmask else [1.0, 1.0, 0.0])
        return
    for call in (written, ad.grad(written), ad.grad(written, tier="generic")):
        with pytest.raises(TypeError, match="Cannot cast"):
            call(A)
    with pytest.raises(TypeError, match="Cannot cast"):
        ad.pushforward(written, (A,), (A,))


@pytest.mark.parametrize(
    "factors", [np.linalg.qr, sl.qr, sl.rq, sl.lu, sl.polar, sl.schur], ids=lambda f: f.__name__
)
def test_unused_factors_of_a_singular_matrix(factors):
    """Forward mode refuses what depends on them, and only that."""
    singular, along = np.zeros((2, 2)), np.ones((2, 2))

    def unused(a):
        return a.sum() + len(factors(a))

    assert ad.pushforward(unused, (singular,), (along,))[1] == 4.0
    assert_allclose(ad.grad(unused)(singular), along)
    with pytest.raises(ad.AdjointError):
        ad.pushforward(lambda a: factors(a)[0].sum(), (singular,), (along,))


def test_frequencies_of_a_complex_spacing():
    def f(d):
        return (np.fft.fftfreq(4, d) @ np.array([1.0, 2.0, 0.5, 1.0])).real

    d, h = 0.5 + 0.3j, 1e-6
    slopes = [(f(d + h * e) - f(d - h * e)) / (2 * h) for e in (1, 1j)]
    assert_allclose(ad.grad(f)(d), slopes[0] + 1j * slopes[1], rtol=1e-8)
