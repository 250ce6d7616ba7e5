"""`adjoint.flatten`, and what SciPy's solvers make of our derivatives."""

import dataclasses
from collections import OrderedDict, namedtuple

import numpy as np
import pytest
from scipy import integrate, optimize

import adjoint as ad
from adjoint.errors import ArgumentError


class Model:
    def __init__(self):
        self.w, self.b, self.n, self.name = np.arange(6.0).reshape(2, 3), 1.5, 3, "model"
        self.parts = [self.w, {"z": np.float32(2.0)}, (4.0,)]


@dataclasses.dataclass(frozen=True)
class Frozen:
    rate: float
    steps: int


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self, a, b):
        self.a, self.b = a, b


def test_there_and_back():
    model = Model()
    vector, unflatten = ad.flatten(model)
    np.testing.assert_array_equal(vector, [0, 1, 2, 3, 4, 5, 1.5, 2, 4])
    again = unflatten(2 * vector)
    np.testing.assert_array_equal(again.w, 2 * model.w)
    assert again.parts[0] is again.w and again.parts[2] == (8.0,) and again.n == 3
    assert type(again.b) is float and type(again.parts[1]["z"]) is np.float32
    assert model.b == 1.5 and model.parts[2] == (4.0,)
    again.w[0, 0] = 7.0
    assert vector[0] == 0.0 and model.w[0, 0] == 0.0


def test_kinds():
    vector, unflatten = ad.flatten([Frozen(0.5, 3), Slotted(1.0, "b"), 2.0])
    frozen, slotted, number = unflatten(vector + 1.0)
    assert frozen == Frozen(1.5, 3) and slotted.a == 2.0 and slotted.b == "b" and number == 3.0
    vector, unflatten = ad.flatten(2.5)
    assert vector.tolist() == [2.5] and unflatten(vector) == 2.5
    x = np.ones((2, 2), np.float32)
    vector, unflatten = ad.flatten(x)
    assert vector.dtype == np.float32 and unflatten(vector.astype(float)).dtype == np.float32
    loop = [1.0]
    loop.append(loop)
    again = ad.flatten(loop)[1](np.array([3.0]))
    assert again[0] == 3.0 and again[1] is again
    assert ad.flatten({"empty": np.zeros(0), "b": 1.0})[0].shape == (1,)


def test_refused():
    vector, unflatten = ad.flatten([1.0, np.ones(2)])
    for wrong, message in [
        (lambda: ad.flatten([1, 2]), "no floats in sight"),
        (lambda: ad.flatten({1.0, 2.0}), "no floats in sight"),
        (lambda: unflatten(vector[1:]), "has 3 numbers"),
    ]:
        with pytest.raises(ArgumentError, match=message):
            wrong()


def loss(model, x):
    return np.sum((model.w @ x + model.b) ** 2) * model.parts[2][0] + model.parts[1]["z"]


def test_derivatives():
    model, x = Model(), np.array([1.0, -1.0, 0.5])
    vector, unflatten = ad.flatten(model)
    found = ad.gradient(lambda v: loss(unflatten(v), x), vector)[0]
    of_model = ad.gradient(loss, model, x)[0]
    expected = [*of_model.w.ravel(), of_model.b, of_model.parts[1]["z"], of_model.parts[2][0]]
    np.testing.assert_allclose(found, expected)
    ad.testing.check_gradient(lambda v: loss(unflatten(v), x), vector)
    (back,) = ad.gradient(lambda m: np.sum(ad.flatten(m)[0] ** 3), [2.0, {"a": np.ones(2)}])
    assert back[0] == 12.0 and back[1]["a"].tolist() == [3.0, 3.0]
    hessian = ad.hessian(lambda v: loss(unflatten(v), x), vector)
    assert hessian.shape == (9, 9)
    np.testing.assert_allclose(hessian, hessian.T)
    _, dot = ad.pushforward(lambda m: ad.flatten(m)[0] ** 2, ([3.0, 1.0],), ([1.0, None],))
    assert dot.tolist() == [6.0, 0.0]


Point = namedtuple("Point", "x y")


@dataclasses.dataclass(frozen=True)
class Layer:
    w: np.ndarray
    b: float


class Net:
    kind = "net"

    def __init__(self):
        self.layers = [Layer(np.ones((2, 3)), 0.1), Layer(np.full((3, 2), 0.5), 0.2)]
        self.scale, self.names = {"s": 2.0, 3: np.float32(0.5)}, ("a", "b")

    def __call__(self, x):
        for layer in self.layers:
            x = np.tanh(x @ layer.w + layer.b)
        return np.sum(x) * self.scale["s"] + self.scale[3]


def of_net(net):
    return net(np.array([0.3, -0.4]))


def of_arrays(p):
    return np.sum(np.tanh(p["w"]) @ p["b"]) * p["c"][0] + p["c"][1] * p["point"].y ** 2


SHARED = np.arange(1.0, 4.0)
PROGRAMS = {
    "an object": (of_net, Net()),
    "dicts and lists": (
        of_arrays,
        {"w": np.ones((3, 2)), "b": np.arange(2.0), "c": [1.5, 0.5], "point": Point("p", 2.0)},
    ),
    "single precision": (
        lambda p: np.sum(p[0] * p[1]["b"]) * p[1]["c"],
        (np.ones(3, np.float32), {"b": np.arange(3, dtype=np.float32), "c": np.float32(2.0)}),
    ),
    "complex": (
        lambda p: np.sum(np.abs(p["z"]) ** 4) + np.real(p["c"] * p["z"][0]),
        {"z": np.array([1.0 + 2.0j, 0.5j]), "c": 1.0 - 1.0j},
    ),
    "the same array twice": (lambda p: np.sum(p[0] ** 2 * p[1]), [SHARED, SHARED]),
    "one number": (lambda x: x**3, 2.0),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_unflatten_is_part_of_programs(name):
    f, model = PROGRAMS[name]
    vector, unflatten = ad.flatten(model)
    loss = lambda v: f(unflatten(v))
    v = vector + np.asarray(0.1, vector.dtype)
    assert str(ad.tier(loss, v)).splitlines()[0].endswith("fast tier")
    (found,) = ad.gradient(loss, v)
    low = v.dtype == np.float32
    np.testing.assert_allclose(found, ad.grad(loss, tier="generic")(v), rtol=1e-5 if low else 1e-13)
    of_model = ad.flatten(ad.gradient(f, unflatten(v))[0])[0] if name != "an object" else found
    if name != "the same array twice":
        np.testing.assert_allclose(found, of_model, rtol=1e-5 if low else 1e-12)
    if low:
        return
    ad.testing.check_gradient(loss, v)
    u = np.cos(np.arange(v.size))
    y, y_dot = ad.pushforward(loss, (v,), (u,))
    np.testing.assert_allclose(y_dot, found @ u)
    np.testing.assert_allclose(ad.pullback(loss, v)[1](2.0)[1], 2.0 * found)
    step = 1e-6 * u
    slope = (ad.gradient(loss, v + step)[0] - ad.gradient(loss, v - step)[0]) / 2e-6
    np.testing.assert_allclose(ad.hvp(loss, v, u), slope, rtol=1e-5, atol=1e-7)


def test_what_programs_leave_of_a_model():
    net = Net()
    vector, unflatten = ad.flatten(net)
    ad.gradient(lambda v: of_net(unflatten(v)), vector)
    made = ad.pullback(unflatten, vector)[0]
    assert type(made) is Net and made.layers[0] is not net.layers[0] and made.names is net.names
    assert list(vars(made)) == list(vars(net)) and type(made.layers[1]) is Layer
    assert np.array_equal(net.layers[0].w, np.ones((2, 3)))


def test_a_vector_of_another_shape_inside():
    vector, unflatten = ad.flatten({"w": np.ones((3, 2)), "b": 1.0})
    loss = lambda v: np.sum(unflatten(v)["w"])
    ad.gradient(loss, vector)
    for wrong in (np.ones(8), np.ones((7, 1)), np.ones(6)):
        with pytest.raises(ArgumentError, match="has 7 numbers"):
            ad.gradient(loss, wrong)


class Copied:
    """Is copied by its own method."""

    def __init__(self, w):
        self.w, self.count = w, 0

    def __copy__(self):
        made = Copied(self.w)
        made.count = self.count + 1
        return made


class Single:
    def __init__(self):
        self.w = 2.0

    def __copy__(self):
        return self


def test_what_copies_itself():
    _, unflatten = ad.flatten({"c": Copied(np.ones(2)), "d": OrderedDict(b=1.0, a=[2.0])})
    made = unflatten(np.arange(4.0))
    assert made["c"].count == 1 and made["c"].w.tolist() == [0.0, 1.0]
    assert type(made["d"]) is OrderedDict and made["d"]["a"] == [3.0]
    loss = lambda v: np.sum(unflatten(v)["c"].w ** 2) * unflatten(v)["d"]["b"]
    assert ad.gradient(loss, np.arange(1.0, 5.0))[0].tolist() == [6.0, 12.0, 5.0, 0.0]
    with pytest.raises(ArgumentError, match="a Single cannot be copied"):
        ad.flatten([Single()])


def test_a_gradient_is_flattened():
    bar = ad.gradient(of_net, Net())[0]
    vector, unflatten = ad.flatten(bar)
    assert unflatten(vector) == bar and unflatten(2.0 * vector) == 2.0 * bar
    loss = lambda v: np.sum(unflatten(v).layers[0].w ** 2)
    np.testing.assert_allclose(ad.gradient(loss, vector)[0][:6], 2.0 * vector[:6])


def test_a_tuple_in_a_loop():
    loop = [1.0, None]
    loop[1] = (2.0, loop)
    made = ad.flatten(loop)[1](np.array([3.0, 4.0]))
    assert made[0] == 3.0 and made[1][0] == 4.0 and made[1][1] is made


def test_text_of_the_structure_stays_text():
    """Names and keys are never run."""
    key = 'a"]; raise SystemExit; ["'
    vector, unflatten = ad.flatten({key: 1.0, "\n\\": [2.0], 3.5: 4.0, (1, "b"): 5.0})
    assert unflatten(vector) == {key: 1.0, "\n\\": [2.0], 3.5: 4.0, (1, "b"): 5.0}


# ---- SciPy ---------------------------------------------------------------------------------------


def rosenbrock(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


START = np.array([-1.2, 1.0, 0.5])


def test_minimize():
    done = optimize.minimize(ad.value_and_grad(rosenbrock), START, jac=True, method="BFGS")
    np.testing.assert_allclose(done.x, 1.0, atol=1e-5)
    for options in (
        {"method": "trust-exact", "hess": lambda x: ad.hessian(rosenbrock, x)},
        {"method": "Newton-CG", "hessp": lambda x, p: ad.hvp(rosenbrock, x, p)},
        {"method": "trust-ncg", "hessp": lambda x, p: ad.hvp(rosenbrock, x, p)},
    ):
        done = optimize.minimize(rosenbrock, START, jac=ad.grad(rosenbrock), **options)
        np.testing.assert_allclose(done.x, 1.0, atol=1e-4)
    done = optimize.minimize(
        ad.value_and_grad(rosenbrock), START.astype(np.float32), jac=True, method="L-BFGS-B"
    )
    np.testing.assert_allclose(done.x, 1.0, atol=1e-2)


def test_what_solvers_are_given():
    value, slope = ad.value_and_grad(rosenbrock)(START)
    assert isinstance(value, float) and slope.flags.c_contiguous and slope.flags.owndata
    assert ad.hessian(rosenbrock, START).flags.c_contiguous


def test_a_model_by_minimize():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(40, 2))
    y = np.tanh(x @ np.array([1.0, -2.0]) + 0.5)

    def fit(model):
        return np.mean((np.tanh(x @ model["w"] + model["b"]) - y) ** 2)

    vector, unflatten = ad.flatten({"w": np.zeros(2), "b": 0.1})
    done = optimize.minimize(ad.value_and_grad(lambda v: fit(unflatten(v))), vector, jac=True)
    found = unflatten(done.x)
    np.testing.assert_allclose(found["w"], [1.0, -2.0], atol=1e-3)
    assert found["b"] == pytest.approx(0.5, abs=1e-3)


def test_roots_and_least_squares():
    def equations(x):
        return np.array([x[0] ** 2 + x[1] - 3.0, x[0] - x[1] + 1.0])

    for method in ("hybr", "lm"):
        done = optimize.root(
            equations, [1.0, 1.0], jac=lambda x: ad.jacobian(equations, x), method=method
        )
        np.testing.assert_allclose(done.x, [1.0, 2.0], atol=1e-8)
    t = np.linspace(0.0, 1.0, 20)

    def residuals(p):
        return p[0] * np.exp(-p[1] * t) - 2.0 * np.exp(-0.7 * t)

    for jac in (
        lambda p: ad.jacobian(residuals, p),
        lambda p: ad.sparse_jacobian(residuals, p),
    ):
        done = optimize.least_squares(residuals, [1.0, 0.0], jac=jac)
        np.testing.assert_allclose(done.x, [2.0, 0.7], atol=1e-6)
    cube = lambda x: x**3 - 2.0
    first, second = ad.derivative(cube), ad.derivative(ad.derivative(cube))
    root = optimize.newton(cube, 1.0, fprime=first, fprime2=second)
    assert root == pytest.approx(2.0 ** (1 / 3))
    assert optimize.newton(cube, 1.0, fprime=ad.grad(cube)) == pytest.approx(2.0 ** (1 / 3))


def test_a_stiff_equation():
    def rate(t, y):
        return np.array([-50.0 * (y[0] - np.cos(t)) + y[1], -y[1] + 0.1 * y[0] * y[1]])

    for jac in (
        lambda t, y: ad.jacobian(rate, t, y, argnums=1),
        lambda t, y: ad.sparse_jacobian(lambda y: rate(t, y), y),
    ):
        done = integrate.solve_ivp(rate, (0.0, 1.0), [0.0, 1.0], method="BDF", jac=jac, rtol=1e-8)
        plain = integrate.solve_ivp(rate, (0.0, 1.0), [0.0, 1.0], method="BDF", rtol=1e-8)
        np.testing.assert_allclose(done.y[:, -1], plain.y[:, -1], rtol=1e-6)
