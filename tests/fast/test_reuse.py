"""Arrays that are added to in place, or freed: never one that somebody still reads."""

import linecache
import warnings

import numpy as np
import pytest
import scipy.special

import adjoint as ad
from adjoint.fast.build.modes import GRADIENT
from adjoint.fast.programs import store as tier
from adjoint.fast.support.outer_products import (
    MOST_PRODUCTS,
    add_outer,
    add_sum,
    note_outer,
    outer_sum,
)
from adjoint.rulekit.registry import lookup
from adjoint.runtime.entries import basics
from tests.fast.agreeing import generic_tier

N = 2000
RNG = np.random.default_rng(0)


def both(f, *args):
    """The gradient by a specialised program, checked against the generic tier; its source."""
    before = [np.copy(arg) for arg in args]
    found = tier.run(f, args, GRADIENT)
    assert found is not tier.MISS
    for arg, old in zip(args, before, strict=True):
        assert np.array_equal(arg, old)
    tier.is_enabled[0] = False
    try:
        value, bars = ad.withgradient(f, *args)
    finally:
        tier.is_enabled[0] = True
    assert found[0] == pytest.approx(value, rel=1e-13)
    for a, b in zip(found[1], bars, strict=True):
        assert (a is None) == (b is None)
        if b is not None:
            np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-13)
    again = tier.run(f, args, GRADIENT)
    for a, b in zip(found[1], again[1], strict=True):
        assert a is None or (a is not b and np.array_equal(a, b))
    return tier.known(f, GRADIENT).entries[0].source


def test_outer_products_are_added_by_rows():
    def f(a, v, w):
        return np.sum((a @ v) ** 2) - np.sum(a[1:] @ w) ** 2 + np.sum((v @ a.T) * (a @ w))

    given = RNG.normal(size=(300, 400)), RNG.normal(size=400), RNG.normal(size=400)
    assert both(f, *given).count("add_outer(add, a_bar") == 2


def test_short_outer_products_are_added_whole():
    def f(a, v):
        return np.sum(a @ v + a @ np.sin(v))

    assert "add_outer" not in both(f, RNG.normal(size=(3, 4)), RNG.normal(size=4))


def recurrent(w, v, n):
    h = v
    for _ in range(n):
        h = np.tanh(w @ h + 0.1 * (v @ w) - np.sum(w[3:] @ h * v[3:]))
    return np.sum(h * v)


def of_parts(w, v, n):
    c = np.zeros((len(v), len(v)))
    for i in range(n % len(v)):
        c[i:, i] = c[i, i:] = w[:, i] @ w[:, i:]
    return np.sum(c**2) * v[0]


def in_two_loops(w, v, n):
    s = 0.0
    for i in range(n // 8):
        h = v * i
        for j in range(3):
            h = h - w[:, ::-1] @ h * (0.01 * j)
        s = s + np.sum(h * h)
    return s


def read_in_the_loop(w, v, n):
    u = w * 2.0
    for _ in range(n):
        v = u @ v * 0.01
        u = u * np.sum(v)
    return np.sum(u) + np.sum(v)


def written_in_the_loop(w, v, n):
    u = w.copy()
    for i in range(n):
        v = u @ v * 0.01
        u[i % 5] = v
    return np.sum(u * u)


def chosen_rows(w, v, n):
    for i in range(n):
        v = np.tanh(w[np.arange(len(v))] @ v + (w @ v if i % 2 else v))
    return np.sum(v)


@pytest.mark.parametrize("n", [0, 1, 5, 70, 150])
@pytest.mark.parametrize(
    ("f", "is_gathered"),
    [
        (recurrent, True),
        (of_parts, True),
        (in_two_loops, True),
        (chosen_rows, True),
        (read_in_the_loop, False),
        (written_in_the_loop, False),
    ],
)
def test_outer_products_of_loops_are_added_many_at_once(f, is_gathered, n):
    w, v = RNG.normal(size=(40, 40)) * 0.2, RNG.normal(size=40)
    tier.forget()
    source = both(g := lambda w, v: f(w, v, n), w, v)
    assert ("outer_sum(" in source) == is_gathered
    y, back = ad.pullback(g, w, v)
    with generic_tier():
        other, generic_back = ad.pullback(g, w, v)
    for bar in (1.0, -0.5, 1.0):
        for found, expected in zip(back(bar)[1:3], generic_back(bar)[1:3], strict=True):
            expected = 0.0 if expected is None else expected
            np.testing.assert_allclose(
                0.0 if found is None else found, expected, rtol=1e-8, atol=1e-10
            )
    assert y == pytest.approx(other, rel=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
def test_sums_of_outer_products(dtype):
    x = RNG.normal(size=(50, 30)).astype(dtype)
    expected, found = x.astype(np.complex128), outer_sum(x)
    for i in range(3 * MOST_PRODUCTS // 2):
        a, b = RNG.normal(size=50).astype(dtype), RNG.normal(size=30).astype(dtype)
        f = np.subtract if i % 3 else np.add
        for index, u, v in [
            (..., a, b),
            (slice(i % 50, None), a[i % 50 :], b),
            ((slice(None, None, -2), slice(3, 5)), a[::2], b[:2]),
            (np.array([5, 1]), a[:2], b),
            (slice(2, 2), a[:0], b),
        ]:
            expected[index] = f(expected[index], np.outer(u.astype(complex), v))
            note_outer(found, f, index, u, v)
    add_sum(x, found)
    tolerance = 1e4 * np.finfo(dtype).eps
    np.testing.assert_allclose(x, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
@pytest.mark.parametrize("f", [np.add, np.subtract])
def test_outer_products_added_by_rows_have_the_same_bits(f, dtype):
    a, b, x = (RNG.normal(size=n).astype(dtype) for n in (700, 300, 700 * 300))
    x = x.reshape(700, 300)
    for index, u, v in [
        (..., a, b),
        (slice(None, None, -2), a[::2], b),
        ((slice(0, 9), slice(3, 5)), a[:9], b[:2]),
        (np.array([5, 1]), a[:2], b),
        (..., x[:, 3], b),
        (slice(2, 2), a[:0], b),
    ]:
        y, z = x.copy(), x.copy()
        z[index] = f(z[index], np.outer(u, v))
        add_outer(f, y, index, y[:, 3] if u.base is x else u, v)
        assert np.array_equal(y, z)


def test_short_arrays_are_left_alone():
    source = both(lambda x: np.sum(np.sin(x) * np.exp(x) + np.sin(x) ** 2), RNG.normal(size=5))
    assert " *= " not in source and "del " not in source


def test_arguments_are_never_overwritten():
    both(lambda x, y: np.sum(x * y * x + y * y), RNG.normal(size=N), RNG.normal(size=N))


def test_what_a_view_looks_at_is_not_overwritten():
    def f(x):
        u = np.exp(x)
        v = u[1:]
        w = u * 2.0
        return np.sum(w) + np.sum(v * v) + np.sum(u * u)

    both(f, RNG.normal(size=N))


def test_transposed_and_reshaped():
    def f(x):
        u = np.tanh(x)
        t, r = u.T, u.reshape(-1)
        w = u * 3.0
        return np.sum(w * w) + np.sum(t @ u) + np.sum(r * r)

    both(f, RNG.normal(size=(40, 50)))


def test_the_same_array_twice_in_a_product():
    def f(x):
        u = np.sin(x)
        return np.sum(u * u * u + u / (1.0 + u * u))

    both(f, RNG.normal(size=N))


def test_in_branches_and_loops():
    def f(x, n):
        u = np.sin(x)
        s = 0.0
        for i in range(n):
            v = u * i
            if i % 2:
                v = v * u
            s = s + np.sum(v * v)
        return s + np.sum(u)

    def g(x):
        return f(x, 4)

    both(g, RNG.normal(size=N))


@pytest.mark.parametrize("seed", range(40))
def test_random_formulas(seed):
    """Straight code over three long arrays, with values read again and again."""
    rng = np.random.default_rng(seed)
    names = ["a", "b", "c"]
    lines = ["def f(a, b, c):"]
    for i in range(12):
        x, y = rng.choice(names, 2)
        text = rng.choice(
            [
                f"{x} * {y}",
                f"{x} + {y}",
                f"{x} - 0.5 * {y}",
                f"np.sin({x})",
                f"np.tanh({x}) * {y}",
                f"{x} / (2.0 + {y} * {y})",
                f"-{x}",
                f"np.exp(-{x} * {x})",
            ]
        )
        lines.append(f"    v{i} = {text}")
        names.append(f"v{i}")
    lines.append(f"    return np.sum({' + '.join(names[-4:])})")
    text = "\n".join(lines) + "\n"
    filename = f"<formulas {seed}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    scope = {"np": np}
    exec(compile(text, filename, "exec"), scope)
    both(scope["f"], *(0.5 * rng.normal(size=N) for _ in range(3)))


def ufuncs():
    """Functions of numbers of NumPy and SciPy of which both arguments may be real, with a rule."""
    for module in (np, scipy.special):
        for name, f in sorted(vars(module).items()):
            if isinstance(f, np.ufunc) and f.signature is None and f.nout == 1 and f.nin <= 2:
                rules = lookup(f)
                if rules is not None and rules.rrules:
                    yield name, f


def spread_of(f):
    if f.nin == 1:

        def spread(u):
            y = f(u)
            return ((y - y.mean()) ** 2).sum()
    else:

        def spread(u, v):
            y = f(u, v)
            return ((y - y.mean()) ** 2).sum()

    return spread


@pytest.mark.parametrize(("dtype", "rtol"), [("f4", 1e-3), ("f8", 1e-10)])
def test_what_a_pullback_holds_is_not_overwritten(dtype, rtol):
    """Where a rule is called as it is, its pullback reads what it has returned."""
    basics.load()
    u = np.linspace(0.3, 0.9, N, dtype=dtype)
    compared = 0
    for name, f in ufuncs():
        args = (u, u[::-1].copy())[: f.nin]
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                is_defined = np.isfinite(f(*args)).all()
            except TypeError:
                continue  # of integers
        g = spread_of(f)
        tier.forget()  # it is the code of one function
        if not is_defined or (found := tier.run(g, args, GRADIENT)) is tier.MISS:
            continue
        with generic_tier():
            _, expected = ad.withgradient(g, *args)
        compared += 1
        for bar, other in zip(found[1], expected, strict=True):
            assert (bar is None) == (other is None), name
            if bar is not None:
                scale = np.abs(other).max()
                np.testing.assert_allclose(bar, other, rtol, rtol * scale, err_msg=name)
    assert compared > 100


def folded(x, v, w):
    """Steps that leave nothing for the reverse sweep, whose results have names or are views."""
    product = x @ v
    shifted = product - 0.25
    flat = shifted.reshape(-1)
    scaled = 3.0 * flat
    halved = scaled / 2.0
    return np.sum(np.tanh(halved) * np.tile(w, len(x)))


def test_arithmetic_writes_over_large_operands_that_nothing_else_reads():
    rng = np.random.default_rng(5)
    args = rng.normal(size=(60, 7)), rng.normal(size=(7, 20)) / 3, rng.normal(size=20)
    before = [a.copy() for a in args]
    text = str(ad.code(folded, *args))
    assert ("product -= 0.25" in text, "scaled /= 2.0" in text) == (True, True)
    ad.testing.check_gradient(folded, *args)
    y, back = ad.pullback(folded, *args)
    first, second = back(1.0), back(1.0)
    product = ad.hvp(lambda x: folded(x, *args[1:]), args[0], args[0])
    tier.is_enabled[0] = False
    try:
        expected = ad.pullback(folded, *args)[1](1.0)
        generic = ad.hvp(lambda x: folded(x, *args[1:]), args[0], args[0])
    finally:
        tier.is_enabled[0] = True
    for a, b, c in zip(first[1:], second[1:], expected[1:], strict=True):
        np.testing.assert_array_equal(a, b)
        np.testing.assert_allclose(a, c, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(product, generic, rtol=1e-8, atol=1e-8)
    for a, b in zip(args, before, strict=True):
        np.testing.assert_array_equal(a, b)


def test_views_of_products_are_written_over():
    rng = np.random.default_rng(6)
    x, v, w = rng.normal(size=(50, 4)), rng.normal(size=(4, 6)), rng.normal(size=(6, 9))

    def layer(row):
        return np.tanh(np.tanh(row @ v) @ w)

    jacobians = ad.vmap(lambda row: ad.jacobian(layer, row))(x)
    sources = [entry.source for kept in tier._kept.values() for entry in kept.entries]
    assert any("dot *= " in source for source in sources)
    for row, found in zip(x, jacobians, strict=True):
        step = 1e-6 * np.eye(4)
        columns = [(layer(row + e) - layer(row - e)) / 2e-6 for e in step]
        np.testing.assert_allclose(found, np.stack(columns, axis=1), rtol=1e-6, atol=1e-9)
