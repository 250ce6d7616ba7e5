"""Complex numbers and arrays in specialised programs."""

from __future__ import annotations

import cmath
import copy
from contextlib import nullcontext

import numpy as np
import pytest

import adjoint as ad
from adjoint.fast.build.modes import GRADIENT, PULLBACK
from adjoint.fast.programs import store as tier
from adjoint.fast.source.writer import Writer
from adjoint.runtime.entries import basics
from tests.fast import complex_algorithms, complex_lists, complex_programs, complexes
from tests.fast.agreeing import Agreement, generic_tier, without_zeros
from tests.structures import difference, mapped
from tests.structures import mismatch as differs
from tests.support import inner, is_single, random_cotangent

STEP = 1e-6
SEEDS = 60


@pytest.fixture(autouse=True)
def _forget():
    """Programs are kept by the code of a function: at most so many."""
    tier.forget()


def specialised(f, args, mode):
    """Require that a call takes a specialised program."""
    basics.load()
    found = tier.run(f, args, mode)
    assert found is not tier.MISS, _reasons(f, mode)


def refused(f, *args):
    """Require that a pullback is left to the generic tier; why it is."""
    basics.load()
    assert tier.run(f, args, PULLBACK) is tier.MISS
    (reason,) = _reasons(f, PULLBACK)
    return reason


def _reasons(f, mode):
    return [one.reason for one in tier.known(f, mode).refused.values()]


def in_both_tiers(call):
    """What a call gives: specialised, and not."""
    fast = call()
    with generic_tier():
        return fast, call()


def by_differences(f, args, y_bar):
    """The cotangents, by differences along both parts of each number."""
    found, count = [], 0

    def leaf(x):
        nonlocal count
        bar = np.zeros(np.shape(x), complex if np.iscomplexobj(x) else float)
        for place in np.ndindex(bar.shape):
            for unit in (1, 1j) if np.iscomplexobj(x) else (1,):
                ends = [
                    inner(y_bar, f(*moved(args, count, place, sign * STEP * unit)))
                    for sign in (1, -1)
                ]
                bar[place] += unit * (ends[0] - ends[1]) / (2 * STEP)
        count += 1
        found.append(bar)
        return bar if isinstance(x, np.ndarray) else bar[()]

    return mapped(args, leaf)


def moved(args, number, place, step):
    """The arguments, with one number changed."""
    count = iter(range(1000))

    def leaf(x):
        if next(count) != number:
            return x
        if not isinstance(x, np.ndarray):
            return x + step
        x = x.copy()
        x[place] += step
        return x

    return mapped(args, leaf)


def check(f, args, is_smooth=True):
    """The program gives what the generic tier gives, of the same types, and what differences do."""
    y = f(*mapped(args))
    y_bar = random_cotangent(y, np.random.default_rng(0))
    rtol = 1e-5 if is_single((args, y)) else 1e-10

    def pullback():
        value, back = ad.pullback(f, *mapped(args))
        return value, back(y_bar)[1:]

    specialised(f, mapped(args), PULLBACK)
    fast, generic = in_both_tiers(pullback)
    assert not difference(fast[0], y, rtol=rtol)
    bars = without_zeros(fast[1], generic[1]), without_zeros(generic[1], fast[1])
    assert not difference(*bars, rtol=rtol), (fast, generic)
    if isinstance(y, float | np.floating):
        specialised(f, mapped(args), GRADIENT)
        fast, generic = in_both_tiers(lambda: tuple(ad.withgradient(f, *mapped(args))))
        assert not difference(fast, generic, rtol=rtol), (fast, generic)
        y_bar = 1.0
    if is_smooth and rtol < 1e-9:
        bars = fast[1]
        found = differs(bars, by_differences(f, mapped(args), y_bar), rtol=1e-5, atol=1e-6)
        assert not found, found


CASES = [
    *complexes.numbers,
    *complexes.arrays,
    *complex_algorithms.programs,
    *complex_algorithms.corners,
    *complex_lists.lists,
]
NAMED = {f.__name__: (f, args) for f, args in CASES}


@pytest.mark.parametrize("name", NAMED)
def test_functions(name):
    f, args = NAMED[name]
    check(f, args, is_smooth=not name.endswith("_at_zero"))


def test_random_programs():
    """Functions of complex and real numbers and arrays: the tiers agree."""
    found = Agreement()
    for seed in range(SEEDS):
        f, args = complex_programs.function(seed), complex_programs.arguments(seed)
        y = f(*copy.deepcopy(args))
        y_bar = None if isinstance(y, float) else random_cotangent(y, np.random.default_rng(seed))
        found.compare(str(seed), lambda f=f, args=args: (f, *copy.deepcopy(args)), None, y_bar)
    assert not found.problems, "\n".join(found.problems)
    assert found.covered >= 50, found.generic.most_common()


def test_large_arrays():
    """Cotangents that are added to in place, and the real parts of such."""
    rng = np.random.default_rng(2)
    u, x = rng.normal(size=2000) + 1j * rng.normal(size=2000), rng.normal(size=2000)

    def f(u, x):
        z = np.exp(1j * x)
        a = np.abs(u) ** 2 + np.sin(u).real + z.real * x
        y = u - x
        w = y * 1j + x / u
        return np.sum((w * y).real) + np.sum(a) + np.sum(((z + x) * z * u).imag)

    specialised(f, (u, x), GRADIENT)
    fast, generic = in_both_tiers(lambda: tuple(ad.withgradient(f, u, x)))
    assert not difference(fast, generic, rtol=1e-10)


def test_inside_the_generic_tier():
    def turned(z, x):
        return cmath.exp(z * x) * 1j

    def cubed(u):
        return np.abs(u) ** 2 * u

    def parted(z):
        return z.real, z * z

    def joined(x):
        return complex(x, 2 * x)

    def total(u, z):
        return np.sum(u * z)

    def f(z, x, u, v):
        found = eval("0")  # not covered
        try:
            for k in range(12):
                w = turned(z, x * 0.1 * k)
                a, b = parted(w)
                s = total(cubed(u) * a, joined(x + k) * 0.01)
                found = found + abs(s) + a * b.imag + total(v, z).real + total(u, x).imag
                a, _ = parted(w * x)
                found += a
        except KeyError:
            pass
        return found

    args = (0.6 + 0.3j, 0.5, np.array([0.3 + 0.4j, 0.9 - 0.3j]), np.array([1.0, -0.7]))
    fast, generic = in_both_tiers(lambda: tuple(ad.withgradient(f, *args)))
    assert not difference(fast, generic, rtol=1e-10)
    assert not differs(fast[1], by_differences(f, args, 1.0), rtol=1e-5, atol=1e-6)
    calls = {one.function.split(".")[-1]: one for one in ad.tier(f, *args).calls}
    for name in ("turned", "cubed", "parted", "joined", "total"):
        assert calls[name].fast
        assert not calls[name].generic


# ---- shapes and dtypes ---------------------------------------------------------------------------


def of_shape(shape, dtype, rng):
    made = rng.normal(size=shape) + (1j * rng.normal(size=shape) if dtype in "DF" else 0)
    return np.asarray(made, dtype)


@pytest.mark.parametrize("dtypes", ["DD", "dD", "Dd", "FF", "fF", "Df", "Fd", "iD"])
@pytest.mark.parametrize("shapes", [((3,), (3,)), ((2, 3), (3,)), ((2, 1), (1, 3)), ((1,), (4,))])
def test_broadcasting(shapes, dtypes):
    rng = np.random.default_rng(1)
    a, b = (of_shape(shape, dtype, rng) for shape, dtype in zip(shapes, dtypes, strict=True))

    def f(a, b):
        return (a + 2) * (b - a * b) / (b + 3j) + np.abs(b)

    if dtypes == "iD":
        a = np.arange(1, a.size + 1).reshape(a.shape)
    check(f, (a, b))


def test_arrays_without_elements_or_axes_are_for_the_generic_tier():
    def f(a):
        return np.sum(np.abs(a * 1j) ** 2)

    for a in (np.zeros((0,), complex), np.zeros((2, 0), complex), np.array(1 + 2j)):
        tier.forget()
        assert refused(f, a) == "an array without elements, or of rank 0"
        fast, generic = in_both_tiers(lambda a=a: tuple(ad.withgradient(f, a)))
        assert not difference(fast, generic)


# ---- what is not real ----------------------------------------------------------------------------


def test_the_gradient_of_a_complex_result_is_refused():
    def f(z):
        return z * z

    with pytest.raises(ad.AdjointError):
        ad.gradient(f, 1 + 2j)
    with pytest.raises(ad.AdjointError):
        ad.gradient(lambda x: np.exp(1j * x), 0.5)
    assert tier.known(f, GRADIENT).refused


def test_the_gradient_of_a_real_argument_is_real():
    def f(x, v, z):
        return abs(x * z + np.sum(v * z)) ** 2

    x_bar, v_bar, z_bar = ad.gradient(f, 0.5, np.ones(3), 1 - 1j)
    assert type(x_bar) is float
    assert v_bar.dtype == float
    assert type(z_bar) is complex


def test_no_path():
    def f(z, w, v):
        return abs(z) if w == w else z.real

    _, back = ad.pullback(f, 1 + 2j, 2j, np.ones(2) * 1j)
    assert back(1.0)[2:] == (None, None)
    specialised(f, (1 + 2j, 2j, np.ones(2) * 1j), GRADIENT)
    zeros = ad.grad(f, argnums=(1, 2))(1 + 2j, 2j, np.ones(2) * 1j)
    assert zeros[0] == 0j
    assert type(zeros[0]) is complex
    assert zeros[1].dtype == complex


def test_real_powers_that_turn_complex_are_for_the_generic_tier():
    def f(x):
        return abs(x**0.5)

    specialised(f, (2.0,), GRADIENT)
    fast, generic = in_both_tiers(lambda: tuple(ad.withgradient(f, -2.0)))
    assert not difference(fast, generic)


def test_what_is_not_finite_is_for_the_generic_tier():
    def f(z, w):
        return (z / w).real

    def g(u):
        return np.sum(np.abs(np.log(u)))

    specialised(f, (1j, 2j), GRADIENT)
    for args in [(complex(np.inf, 0), 1j), (1j, complex(0, np.inf)), (1j, complex(np.nan, 1))]:
        fast, generic = in_both_tiers(lambda args=args: tuple(ad.withgradient(f, *args)))
        assert not difference(fast, generic)
    with pytest.raises(ZeroDivisionError):
        ad.gradient(f, 1j, 0j)
    specialised(g, (np.array([1j, 2j]),), GRADIENT)
    with np.errstate(all="ignore"):
        fast, generic = in_both_tiers(lambda: tuple(ad.withgradient(g, np.array([0j, 2j]))))
    assert not difference(fast, generic)


@pytest.mark.parametrize("join", [np.hstack, np.stack, lambda parts: np.full(2, parts[0])])
def test_arrays_of_what_is_real_or_complex(join):
    def f(x, y):
        s = x * y if x < y else x + 1j * y
        return np.sum(np.abs(join([s, x]) * 2j) ** 2)

    for args in ((0.5, 2.0), (2.0, 0.5)):
        assert "several classes" in refused(f, *args)
        fast, generic = in_both_tiers(lambda args=args: tuple(ad.withgradient(f, *args)))
        assert not difference(fast, generic)
        assert not differs(fast[1], by_differences(f, args, 1.0), rtol=1e-5, atol=1e-6)
        tier.forget()


def test_the_sign_of_what_is_real_or_complex():
    def f(x, y):
        s = x * y if x < y else x + 1j * y
        return (np.sign(s) * (1 - 2j)).real + abs(np.sign(s) - 1j)

    for args in ((0.5, 2.0), (2.0, 0.5)):
        fast, generic = in_both_tiers(lambda args=args: tuple(ad.withgradient(f, *args)))
        assert not differs(fast[1], generic[1], rtol=1e-10, atol=1e-12)
        assert not differs(fast[1], by_differences(f, args, 1.0), rtol=1e-5, atol=1e-6)


def test_what_is_generic_says_why():
    def long(u):
        return [z * 2 for z in u]

    def ordered(z):
        return z if z > 1j else 2 * z

    def greatest(u):
        return np.max(u)

    def lost(z):
        return float(z) * 2.0

    def cast(u):
        return u.astype(float) * 2

    def into_real(z):
        y = np.zeros(3)
        y[0] = z
        return y

    def by_math(z):
        import math

        return math.sin(z)

    u = np.ones(3) * 1j
    assert "does not take such operands" in refused(ordered, 1j)
    assert refused(greatest, u) == "the derivative of an extremum of complex numbers"
    assert refused(lost, 1j) == "float of a complex number"
    assert "astype does not take such operands" in refused(cast, u)
    assert refused(into_real, 1j) == "a write of a complex number to a real array"


# ---- the source ----------------------------------------------------------------------------------


def test_source():
    def f(a, b):
        z = complex(a, b)
        w = z * 3j + z * z
        return w.real * z.imag

    source = ad.code(f, 1.0, 2.0)
    assert "w_bar * z.conjugate()" in source
    assert "a_bar = z_bar_2.real" in source
    assert "b_bar = z_bar_2.imag" in source


@pytest.mark.parametrize(
    "z", [1j, -1j, 2 + 3j, 2 - 3j, -2 - 3j, complex(-0.0, 2), complex(1, -0.0), 0j, -1 + 0j]
)
def test_constants_keep_their_signs(z):
    writer = Writer({}, {}, {}, int)
    text, _ = writer.constant(z)
    assert repr(eval(text)) == repr(z)


@pytest.mark.parametrize(
    "f",
    [
        lambda z: (-2.0) ** z,
        lambda z: (-1) ** z,
        lambda z: np.power(-2.0, z),
        lambda z: np.float_power(-2.0, z),
        lambda z: (-2) ** z[0],
        lambda z: cmath.polar(z[0])[0] * z,
    ],
)
def test_powers_of_negative_numbers_and_moduli_of_scalars(f):
    z = np.array([1 + 0.2j, 0.3 - 0.5j])
    y, back = ad.pullback(f, z)
    with generic_tier():
        expected, generic_back = ad.pullback(f, z)
    assert type(y) is type(expected)
    seed = np.full(np.shape(y), 0.7 - 0.2j)
    np.testing.assert_allclose(back(seed)[1], generic_back(seed)[1], rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("dtype", ["c16", "c8"])
@pytest.mark.parametrize("tiny", [0.0, 1e-320, 1e-160, 1e-42])
def test_the_direction_of_tiny_numbers(dtype, tiny):
    """Its length is 1 as long as the number is not 0: there is no reciprocal of the modulus."""
    z = np.array([0.6 * tiny - 0.8j * tiny, tiny, 3 + 4j, -2j], dtype)
    expected = [x / y if (y := abs(x)) else 0 for x in map(complex, z)]
    for f in (lambda z: np.abs(z).sum(), lambda z: abs(z).sum() * 1.0):
        for given in (nullcontext(), generic_tier()):
            with given:
                np.testing.assert_allclose(ad.gradient(f, z)[0], expected, rtol=2e-3)
    for x, bar in zip(z, expected, strict=True):
        for kind in (complex, z.dtype.type):
            for given in (nullcontext(), generic_tier()):
                with given:
                    assert ad.gradient(abs, kind(x)) == (pytest.approx(bar, rel=2e-3),)
