"""Jacobians and Hessians: shapes, structures, modes, nesting."""

from __future__ import annotations

from collections import namedtuple

import numpy as np
import pytest

import adjoint as ad

MODES = ("forward", "reverse", None)
A = np.array([[1.0, 2.0, -1.0], [0.5, 0.0, 3.0]])
X = np.array([0.3, -1.2, 2.0])
M = np.array([[1.0, 0.2], [-0.3, 2.0]])
Pair = namedtuple("Pair", "a b")


class Model:
    def __init__(self):
        self.weights, self.scale, self.name = np.array([1.0, 2.0]), 3.0, "model"

    def __call__(self, x):
        return self.weights * x * self.scale


def differences(f, x, h=1e-5):
    """The Jacobian of a function of one array."""
    x = np.asarray(x, float)
    columns = []
    for index in np.ndindex(x.shape):
        step = np.zeros(x.shape)
        step[index] = h
        columns.append((np.asarray(f(x + step)) - np.asarray(f(x - step))) / (2 * h))
    shape = np.shape(f(x)) + x.shape
    return np.stack(columns, -1).reshape(shape) if columns else np.zeros(shape)


def in_place(x):
    y = np.zeros((2, x.size))
    for i in range(x.size):
        y[0, i] = x.flat[i] ** 2
        y[1, i] = y[0].sum()
    return y


CASES = {
    "linear": (lambda x: A @ x, X),
    "scalar_result": (lambda x: np.sum(np.sin(x) * x[::-1]), X),
    "outer": (lambda x: np.outer(x, x), X),
    "of_a_number": (lambda t: t * X + t**2, np.array(0.7)),
    "inverse": (np.linalg.inv, M),
    "matrix_to_cube": (lambda m: m[:, :, None] * m[None], M),
    "from_three_axes": (lambda t: np.tanh(t).sum(axis=1), np.linspace(-1, 1, 12).reshape(2, 3, 2)),
    "writes": (in_place, X),
    "many_rows": (lambda x: np.cos(np.arange(40) * x[0] + x[1]), np.array([0.2, 0.4])),
    "constant": (lambda x: np.ones(2) * 3.0, X),
    "empty_argument": (lambda x: x * 2.0, np.zeros(0)),
    "empty_result": (lambda x: x[:0] * 2.0, X),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("mode", MODES)
def test_against_differences(name, mode):
    f, x = CASES[name]
    y, found = ad.value_and_jacobian(f, x, mode=mode)
    assert found.shape == np.shape(y) + x.shape and found.dtype == float
    assert found.flags.c_contiguous and found.flags.writeable
    np.testing.assert_allclose(found, differences(f, x), rtol=1e-7, atol=1e-8)
    np.testing.assert_array_equal(y, f(x))
    np.testing.assert_array_equal(found, ad.jacobian(f, x, mode=mode))


@pytest.mark.parametrize("mode", MODES)
def test_numbers(mode):
    assert type(ad.jacobian(lambda t: t**3, 2.0, mode=mode)) is float
    assert ad.jacobian(lambda n: n**2, 3, mode=mode) == 6.0
    assert ad.jacobian(lambda x, y: x * y, 2.0, 3.0, mode=mode) == (3.0, 2.0)
    assert ad.jacobian(lambda n: n * 2.0, np.array([1, 2]), mode=mode).tolist() == [[2, 0], [0, 2]]


@pytest.mark.parametrize("mode", MODES)
def test_structures(mode):
    found = ad.jacobian(
        lambda p: {"y": p["w"] * p["b"], "text": "t"}, {"w": X, "b": 2.0, "n": "name"}, mode=mode
    )
    assert found["text"] is None and found["y"]["n"] is None
    np.testing.assert_array_equal(found["y"]["w"], 2.0 * np.eye(3))
    np.testing.assert_array_equal(found["y"]["b"], X)
    pair = ad.jacobian(lambda p: Pair(p.a * p.b, [p.a]), Pair(2.0, X), mode=mode)
    assert type(pair) is Pair and type(pair.a) is Pair
    np.testing.assert_array_equal(pair.b[0].a, 1.0)
    np.testing.assert_array_equal(pair.a.b, 2.0 * np.eye(3))
    model = ad.jacobian(lambda m: m(np.array([1.0, -1.0])), Model(), mode=mode)
    np.testing.assert_array_equal(model.scale, [1.0, -2.0])
    np.testing.assert_array_equal(model.weights, [[3.0, 0.0], [0.0, -3.0]])
    assert model.name is None


@pytest.mark.parametrize("mode", MODES)
def test_several_arguments_and_no_path(mode):
    j_x, j_y, j_z = ad.jacobian(lambda x, y, z: x * y, 2.0, X, X.copy(), mode=mode)
    np.testing.assert_array_equal(j_x, X)
    np.testing.assert_array_equal(j_y, 2.0 * np.eye(3))
    np.testing.assert_array_equal(j_z, np.zeros((3, 3)))


@pytest.mark.parametrize("mode", MODES)
def test_dtypes(mode):
    x = X.astype(np.float32)
    assert ad.jacobian(lambda x: x * x, x, mode=mode).dtype == np.float32
    assert ad.jacobian(lambda x: x * 2.0, x, mode=mode).dtype == np.float32
    assert ad.jacobian(lambda x: x * np.ones(3), x, mode=mode).dtype == np.float64
    assert ad.jacobian(lambda t: t * x, 2.0, mode=mode).dtype == np.float32
    assert ad.jacobian(lambda t: t * t, np.float32(2.0), mode=mode).dtype == np.float32


@pytest.mark.parametrize("mode", MODES)
def test_complex_results(mode):
    found = ad.jacobian(lambda x: x * x * (1 + 2j), X, mode=mode)
    np.testing.assert_allclose(found, np.diag(2 * X * (1 + 2j)))
    assert ad.jacobian(lambda t: t * 1j, 2.0, mode=mode) == 1j


HOLOMORPHIC = {
    "sin": (np.sin, np.cos),
    "quotient": (lambda z: (1 + 2j) / z, lambda z: -(1 + 2j) / z**2),
    "polynomial": (lambda z: z**3 - 2j * z, lambda z: 3 * z**2 - 2j),
    "exp": (lambda z: np.exp(1j * z), lambda z: 1j * np.exp(1j * z)),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", HOLOMORPHIC)
def test_complex_arguments(mode, name):
    """The complex derivative, of scalars, arrays and structures."""
    f, slope = HOLOMORPHIC[name]
    z = np.array([0.3 + 1j, -1.2 + 0.5j, 2.0 - 0.1j])
    assert ad.jacobian(f, 0.3 - 0.4j, mode=mode) == pytest.approx(slope(0.3 - 0.4j), rel=1e-14)
    np.testing.assert_allclose(ad.jacobian(f, z, mode=mode), np.diag(slope(z)), rtol=1e-14)
    w = np.array([[1j, 2.0, 3.0], [0.5, 1.0 - 1j, 0.0]])
    found = ad.jacobian(lambda p, t: p["w"] @ f(p["z"]) * t, {"w": w, "z": z}, 2.0, mode=mode)
    np.testing.assert_allclose(found[0]["z"], 2 * w * slope(z), rtol=1e-14)
    np.testing.assert_allclose(found[0]["w"][0, 0], 2 * f(z))
    np.testing.assert_allclose(found[1], w @ f(z))
    single = ad.jacobian(f, z.astype(np.complex64), mode=mode)
    np.testing.assert_allclose(single, np.diag(slope(z)), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("mode", MODES)
def test_what_is_not_holomorphic_is_refused(mode):
    z = np.array([0.3 + 1j, -1.2 + 0.5j])
    for f in (np.conj, np.abs, lambda z: z * np.conj(z), lambda z: z.real, lambda z: z + z.imag):
        with pytest.raises(ad.errors.ArgumentError, match="argument 0 is complex.*not holomorphic"):
            ad.jacobian(f, z, mode=mode)
    assert ad.jacobian(lambda z: z * np.conj(z), 0j, mode=mode) == 0  # it is, there
    vector, unflatten = ad.flatten(z)
    found = ad.jacobian(lambda v: np.abs(unflatten(v)) ** 2, vector, mode=mode)
    np.testing.assert_allclose(found, [[0.6, 0, 2.0, 0], [0, -2.4, 0, 1.0]])
    hessian = ad.hessian(lambda v: np.sum(np.abs(unflatten(v)) ** 2), vector)
    np.testing.assert_allclose(hessian, 2 * np.eye(4), atol=1e-15)


def test_complex_derivatives_are_nested():
    z = np.array([0.3 + 1j, -1.2 + 0.5j])
    second = ad.jacobian(lambda z: ad.jacobian(lambda z: z**3, z), z)
    np.testing.assert_allclose(np.einsum("iii->i", second), 6 * z)


@pytest.mark.parametrize("mode", MODES)
def test_what_the_caller_holds_is_left(mode):
    def scaled(x):
        x *= 2.0
        return x * x

    x = X.copy()
    found = ad.jacobian(scaled, x, mode=mode)
    np.testing.assert_array_equal(x, 2 * X)  # as one call leaves it
    np.testing.assert_allclose(found, np.diag(8 * X))
    tall = ad.jacobian(lambda x: scaled(x) @ np.ones((3, 90)), x, mode=mode)
    np.testing.assert_allclose(tall, np.tile(16 * X, (90, 1)))
    np.testing.assert_array_equal(x, 4 * X)


def test_random_numbers_are_drawn_once():
    rng = np.random.default_rng(0)
    for mode in ("forward", "reverse"):
        y, found = ad.value_and_jacobian(lambda x: x * rng.normal(size=3), np.ones(3), mode=mode)
        np.testing.assert_array_equal(found, np.diag(y))


@pytest.mark.parametrize("mode", MODES)
def test_options(mode):
    def f(x, p, *, k=1.0):
        return (x * p["w"][1] * k, "extra")

    p = {"w": [1.0, 3.0]}
    found, aux = ad.jacobian(f, X, p, mode=mode, argnums=([1, "w", 1], "x"), has_aux=True)
    assert aux == "extra"
    np.testing.assert_array_equal(found[0], X)
    np.testing.assert_array_equal(found[1], 3.0 * np.eye(3))
    by_name, _ = ad.jacobian(f, X, p, mode=mode, argnums="k", has_aux=True, k=2.0)
    np.testing.assert_array_equal(by_name, 3.0 * X)
    both, found = ad.value_and_jacobian(f, X, p, mode=mode, argnums=0, has_aux=True)
    assert both[1] == "extra"
    np.testing.assert_array_equal(found, 3.0 * np.eye(3))


def test_by_name_of_the_mode():
    for of in (ad.jacobian_forward, ad.jacobian_reverse):
        np.testing.assert_array_equal(of(lambda x: A @ x, X), A)
        assert of(lambda x: (x * 2.0, 7), 1.0, has_aux=True) == (2.0, 7)


REFUSED = {
    "no argument": lambda: ad.jacobian(lambda: 1.0)(),
    "mode is 'up'": lambda: ad.jacobian(np.sin, X, mode="up"),
    "result holds no numbers": lambda: ad.jacobian(lambda x: "text", X),
    "argument 0 holds no numbers": lambda: ad.jacobian(len, "text"),
    "there are 1 positional": lambda: ad.jacobian(np.sin, X, argnums=1),
    "no argument of that name": lambda: ad.jacobian(lambda x: x, X, argnums="z"),
    "no part 'b'": lambda: ad.jacobian(lambda p: p["a"], {"a": 1.0}, argnums=[0, "b"]),
    "returns a pair": lambda: ad.jacobian(lambda x: x, X, has_aux=True),
    "by real numbers": lambda: ad.hessian(abs, 1j),
    "tangents": lambda: ad.linearize(lambda x: x, X)[1](X, X),
    "has shape": lambda: ad.linearize(lambda x: x, X)[1](np.ones(2)),
    "does not fit": lambda: ad.linearize(lambda p: p["a"], {"a": 1.0})[1]({"b": 1.0}),
}


@pytest.mark.parametrize("message", REFUSED)
def test_refused(message):
    with pytest.raises(ad.errors.ArgumentError, match=message):
        REFUSED[message]()


# ---- second order --------------------------------------------------------------------------------


def energy(x):
    return np.sum(np.sin(x) * x[::-1] ** 2) + np.prod(x)


def test_hessians():
    expected = differences(lambda x: ad.gradient(energy, x)[0], X)
    v = np.array([1.0, -2.0, 0.5])
    for mode in MODES:
        found = ad.hessian(energy, X, mode=mode)
        np.testing.assert_allclose(found, expected, atol=1e-8)
        assert found.flags.c_contiguous
    np.testing.assert_allclose(ad.hvp(energy, X, v), expected @ v, atol=1e-8)
    np.testing.assert_allclose(ad.vhp(energy, X, v), expected @ v, atol=1e-8)
    slope, product = ad.gradient_and_hvp(energy, X, v)
    np.testing.assert_allclose(slope, ad.gradient(energy, X)[0])
    np.testing.assert_allclose(product, expected @ v, atol=1e-8)
    np.testing.assert_allclose(ad.hessian_diagonal(energy, X), np.diag(expected), atol=1e-8)
    gradient, push = ad.linearize(ad.grad(energy), X)
    np.testing.assert_allclose(push(v), product)
    for f in (lambda x: ad.jacobian_forward(ad.grad(energy), x), lambda x: ad.hessian(energy, x)):
        np.testing.assert_allclose(f(X), expected, atol=1e-8)


def test_hessians_of_several_arguments_and_structures():
    def f(x, y, n):
        return np.sum(x**n) * y

    (h_xx, h_xy), (h_yx, h_yy) = ad.hessian(f, X, 2.0, 3, argnums=(0, "y"))
    np.testing.assert_allclose(h_xx, np.diag(12 * X))
    np.testing.assert_allclose(h_xy, 3 * X**2)
    np.testing.assert_allclose(h_yx, 3 * X**2)
    assert h_yy == 0.0
    found = ad.hessian(lambda p: p["w"].sum() ** 2 * p["b"], {"w": X, "b": 2.0})
    np.testing.assert_allclose(found["w"]["w"], np.full((3, 3), 4.0))
    np.testing.assert_allclose(found["w"]["b"], np.full(3, 2 * X.sum()))
    np.testing.assert_allclose(found["b"]["w"], np.full(3, 2 * X.sum()))
    assert ad.hessian(lambda x: (x**3, "a"), 2, has_aux=True) == (12.0, "a")
    assert ad.hessian(lambda x: x * 3.0, 2.0) == 0.0
    assert ad.hessian(lambda x: np.sum(x**2), M).shape == (2, 2, 2, 2)
    assert ad.hessian(lambda x: np.sum(x**2), np.zeros(0)).shape == (0, 0)
    diagonal = ad.hessian_diagonal(lambda p: np.sum(p[0] ** 3) * p[1] ** 2, [X, 2.0])
    np.testing.assert_allclose(diagonal[0], 24 * X)
    np.testing.assert_allclose(diagonal[1], 2 * np.sum(X**3))
    product = ad.hvp(lambda p: p["a"] ** 2 * p["b"], {"a": 2.0, "b": 3.0}, {"a": 1.0, "b": None})
    assert product == {"a": 6.0, "b": 4.0}
    with pytest.raises(ad.errors.NotScalarError):
        ad.hessian(lambda x: x, X)


def test_gauss_newton():
    f, v = (lambda x: np.sin(A @ x)), np.array([1.0, 0.5, -1.0])
    jac = ad.jacobian(f, X)
    np.testing.assert_allclose(ad.gauss_newton_product(f, X, v), jac.T @ jac @ v)
    curved = np.diag(6 * f(X))
    found = ad.gauss_newton_product(f, X, v, loss=lambda y: np.sum(y**3))
    np.testing.assert_allclose(found, jac.T @ curved @ jac @ v)


NESTED = {
    "jacobian_forward": lambda c: ad.jacobian_forward(lambda x: np.sin(x * c), X).sum(),
    "jacobian_reverse": lambda c: np.sum(ad.jacobian_reverse(lambda x: np.sin(x * c), X) ** 2),
    "jacobian_of_numbers": lambda c: ad.jacobian(lambda t: t**2 * c**3, 2.0),
    "complex": lambda c: np.abs(ad.jacobian(lambda x: np.exp(1j * c * x), X)).sum(),
    "linearize": lambda c: ad.linearize(lambda x: np.sin(x * c), 2.0)[1](1.0),
    "linearize_written": lambda c: ad.linearize(lambda x: in_place(x * c), X)[1](X).sum(),
    "hessian": lambda c: np.sum(ad.hessian(lambda x: np.sum(np.sin(c * x)), X) ** 2),
    "hessian_forward": lambda c: ad.hessian(
        lambda x: np.sum((c * x) ** 4), X, mode="forward"
    ).sum(),
    "hvp": lambda c: ad.hvp(lambda x: np.sum(np.sin(c * x)), X, X).sum(),
    "vhp": lambda c: ad.vhp(lambda x: np.sum(np.sin(c * x)), X, X).sum(),
    "direction": lambda c: ad.hvp(energy, X, c * X).sum(),
    "hessian_diagonal": lambda c: ad.hessian_diagonal(lambda x: np.sum(np.sin(c * x)), X).sum(),
    "gauss_newton": lambda c: ad.gauss_newton_product(lambda x: np.sin(c * x), X, X).sum(),
    "log_det": lambda c: np.linalg.slogdet(ad.hessian(lambda x: np.sum((c + x) ** 4), X))[1],
    "argnums": lambda c: ad.jacobian(lambda x, *, k: x * k**2, X, argnums="k", k=c).sum(),
}


@pytest.mark.parametrize("name", NESTED)
def test_nested(name):
    f = NESTED[name]
    expected = (f(0.7 + 1e-5) - f(0.7 - 1e-5)) / 2e-5
    assert ad.gradient(f, 0.7)[0] == pytest.approx(expected, rel=1e-6)
    assert ad.derivative(f)(0.7) == pytest.approx(expected, rel=1e-6)
    assert ad.jacobian(f, 0.7, mode="forward") == pytest.approx(expected, rel=1e-6)


def test_third_order_by_two_nestings():
    v = X.copy()
    third = ad.jacobian(lambda x: ad.hessian(energy, x), X)
    other = ad.hessian(lambda x: ad.directional(energy, x, v), X)
    np.testing.assert_allclose(np.einsum("ijk,k->ij", third, v), other, atol=1e-9)


def test_a_pullback_over_nested_derivatives_is_called_again():
    v, slope = X.copy(), ad.grad(lambda x: np.sum(np.sin(x)))
    _, back = ad.pullback(lambda x: ad.directional(slope, x, v), X)
    for _ in range(3):
        for i, unit in enumerate(np.eye(3)):
            np.testing.assert_allclose(back(unit)[1], -np.cos(X[i]) * X[i] * unit)


def test_functions_that_overwrite_their_argument():
    """In every mode; what the caller holds is left alone."""

    def f(x):
        x *= 2.0
        return np.sum(x**3)

    x, ones = X.copy(), np.ones(3)
    for mode in MODES:
        np.testing.assert_allclose(ad.hessian(f, x, mode=mode), np.diag(48 * X))
    np.testing.assert_allclose(ad.hessian_diagonal(f, x), 48 * X)
    np.testing.assert_allclose(ad.hvp(f, x, ones), 48 * X)
    np.testing.assert_allclose(ad.vhp(f, x, ones), 48 * X)
    np.testing.assert_allclose(ad.sparse_hessian(f, x).toarray(), np.diag(48 * X))
    np.testing.assert_array_equal(x, X)

    def g(p):
        p["w"][1][0] *= p["t"]
        p["t"] = p["t"] ** 2
        return p["t"] * np.sum(p["w"][1] ** 2)

    p = {"w": [1.0, np.array([1.0, 2.0])], "t": 2.0}
    plain = {"w": [1.0, np.array([1.0, 2.0])], "t": 2.0}

    def of_vector(v):
        w0, w1, t = v
        return t**2 * ((w0 * t) ** 2 + w1**2)

    expected = ad.hessian(of_vector, np.array([1.0, 2.0, 2.0]))
    for mode in MODES:
        found = ad.hessian(g, p, mode=mode)
        np.testing.assert_allclose(found["w"][1]["w"][1], expected[:2, :2])
        np.testing.assert_allclose(found["t"]["w"][1], expected[2, :2])
        np.testing.assert_allclose(found["t"]["t"], expected[2, 2])
    assert p["t"] == plain["t"] and p["w"][1].tolist() == plain["w"][1].tolist()
    with pytest.raises(ad.errors.ArgumentError, match="no Gauss-Newton product"):
        ad.gauss_newton_product(lambda x: np.multiply(x, x, out=x), X.copy(), np.ones(3))


class Simulation:
    """Keeps a workspace, a counter and a log, as programs do."""

    def __init__(self):
        self.buffer, self.count, self.log = np.zeros(3), 0, []

    def energy(self, x):
        self.buffer[:] = x * x
        self.count += 1
        self.log.append(x[0])
        self.buffer[1:] *= self.buffer[:-1]
        return np.sum(self.buffer * x)


def test_functions_that_keep_a_workspace():
    expected = ad.hessian(
        lambda x: x[0] ** 3 + (x[0] * x[1]) ** 2 * x[1] + x[1] ** 2 * x[2] ** 3, X
    )
    simulation, ones = Simulation(), np.ones(3)
    f = simulation.energy
    for mode in MODES:
        np.testing.assert_allclose(ad.hessian(f, X, mode=mode), expected, atol=1e-14)
        np.testing.assert_allclose(ad.jacobian(ad.grad(f), X, mode=mode), expected, atol=1e-14)
    assert simulation.count == len(simulation.log) == 6
    np.testing.assert_allclose(ad.vhp(f, X, ones), expected @ ones)
    np.testing.assert_allclose(ad.hvp(f, X, ones), expected @ ones)
    np.testing.assert_allclose(ad.hessian_diagonal(f, X), np.diag(expected))
    np.testing.assert_allclose(ad.sparse_hessian(f, X).toarray(), expected, atol=1e-14)
    third = ad.jacobian(lambda x: ad.hessian(f, x), X, mode="forward")
    assert third[0, 1, 1] == pytest.approx(12 * X[0] * X[1])
    assert ad.grad(lambda x: ad.derivative(lambda t: t**2 * x)(3.0))(2.0) == 6.0


def test_what_a_function_keeps_is_changed_once():
    total = np.zeros(1)

    def f(x):
        total[0] += 1.0
        return np.repeat(x, 60) * total[0]

    found = ad.jacobian(f, np.array([1.0, 2.0]))
    assert total[0] == 1.0
    np.testing.assert_array_equal(found, np.repeat(np.eye(2), 60, axis=0))


def test_arguments_that_share_memory():
    repeated = np.broadcast_to(np.float64(2.0), (2,))
    for mode in MODES:
        found = ad.jacobian(lambda a: a**2, repeated, mode=mode)
        np.testing.assert_array_equal(found, 4.0 * np.eye(2))
        found = ad.jacobian(lambda p: p[0] ** 2, [repeated], mode=mode)
        np.testing.assert_array_equal(found[0], 4.0 * np.eye(2))
        both = ad.jacobian(lambda a, b: a * b, X, X, mode=mode)
        for one in both:
            np.testing.assert_array_equal(one, np.diag(X))
        first, second = ad.jacobian(lambda a, b: a * b, X, X[::-1], mode=mode)
        np.testing.assert_array_equal(first, np.diag(X[::-1]))
        np.testing.assert_array_equal(second, np.diag(X))


def test_an_argument_that_the_function_knows_otherwise_is_a_constant_there():
    x, v = X.copy(), np.array([1.0, -1.0, 2.0])
    for mode in MODES:
        np.testing.assert_array_equal(ad.jacobian(lambda a: a * x, x, mode=mode), np.diag(x))
        found = ad.hessian(lambda a: np.sum(a * a * x), x, mode=mode)
        np.testing.assert_allclose(found, np.diag(2 * x))
    np.testing.assert_array_equal(ad.vhp(lambda a: np.sum(a**2 * x), x, x), 2 * x * x)
    np.testing.assert_array_equal(ad.hvp(lambda a: np.sum(a**2 * x), x, v), 2 * x * v)


@pytest.mark.parametrize("mode", MODES)
def test_paths_where_the_result_is_a_structure(mode):
    def f(p):
        return {"a": p["b"][0] ** 2, "y": [p["b"][0] * p["a"], 1.0]}

    found = ad.jacobian(f, {"a": 3.0, "b": (2.0,)}, argnums=[0, "b", 0], mode=mode)
    assert found == {"a": 4.0, "y": [3.0, 0.0]}


class Part:
    def __init__(self):
        self.w, self.scale = [np.array([0.5, -1.0, 2.0]), 3.0], 2.0


def test_hessians_by_paths_and_names():
    def f(x, part, *, rate):
        return np.sum((x * part.w[0]) ** 2) * part.scale**3 * rate**2 + part.w[1] ** 2

    def hessian(**options):
        return ad.hessian(f, X, Part(), rate=0.5, **options)

    w, squares = Part().w[0], np.sum((X * Part().w[0]) ** 2)
    for mode in MODES:
        assert hessian(argnums=[1, "scale"], mode=mode) == pytest.approx(squares * 12 / 4)
        np.testing.assert_allclose(
            hessian(argnums=["part", "w", 0], mode=mode), np.diag(2 * X**2 * 8 / 4)
        )
        ((a, b), (c, d)) = hessian(argnums=("rate", ["part", "w", 1]), mode=mode)
        assert a == pytest.approx(squares * 8 * 2) and b == c == 0 and d == 2.0
        ((_, b), (c, d)) = hessian(argnums=([1, "w", 0], 0), mode=mode)
        np.testing.assert_allclose(b, np.diag(4 * X * w * 2))
        np.testing.assert_allclose(c, b.T)
        np.testing.assert_allclose(d, np.diag(2 * w**2 * 2))
        ((a, b), (c, d)) = hessian(argnums=(["part", "scale"], ["part", "w", 0]), mode=mode)
        np.testing.assert_allclose(b, 2 * X**2 * w * 12 / 4)
        np.testing.assert_allclose(c, b)
