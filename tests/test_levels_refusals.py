"""What forward mode and nested derivatives cannot follow is refused, as in reverse mode; what they
can follow is right."""

import array
import ctypes
import functools
import io
import math
import operator
import pickle
import types
from unittest import mock

import numpy as np
import pytest
from scipy import integrate, optimize, stats

import adjoint as ad
from adjoint.errors import ArgumentError, CotangentError, MutationError, NoDerivativeError

WAYS = {
    "gradient": lambda f: ad.gradient(f, 0.6),
    "derivative": lambda f: ad.derivative(f)(0.6),
    "hvp": lambda f: ad.hvp(f, 0.6, 1.0),
    "gradient of derivative": lambda f: ad.gradient(lambda t: ad.derivative(f)(t), 0.6),
}
POINTS = np.arange(3.0)


def named(t):
    a = np.zeros(2, [("m", float), ("n", float)])
    a["m"] = t * t
    return a


def in_a_structure(t):
    number = ctypes.c_double()
    number.value = t
    return number.value * 2


def in_a_buffer(t):
    buffer = io.BytesIO()
    pickle.dump([t], buffer)
    buffer.seek(0)
    return pickle.load(buffer)[0] * 2


def linear_program(c, row, b):
    return optimize.linprog([-c, -1.0], A_ub=[[row, 1.0]], b_ub=[b])


def integer_program(row):
    rows = optimize.LinearConstraint(np.array([[row, 1.0]]), -np.inf, [3.0])
    return optimize.milp(np.array([-2.0, -1.0]), constraints=rows)


def listed(t):
    a = np.zeros(2, [("m", float)])
    a["m"] = [t, t * t]
    return a


def recorded(t):
    a = np.zeros(2, [("m", float)]).view(np.recarray)
    a.m = t * t
    return a


def as_bytes(t):
    buffer = io.BytesIO()
    buffer.write((POINTS * t).tobytes())
    return np.frombuffer(buffer.getvalue()).sum()


def in_chunks(t):
    return sum(chunk.sum() for chunk in np.nditer(POINTS * t, ["external_loop", "buffered"]))


class Doubled:
    def __init__(self, x):
        self.x = x

    def __radd__(self, _):
        return self.x * 2


UNKNOWN = {
    "linprog, several": lambda t: linear_program(1.0, 1.0, t).x[0],
    "linprog, prices": lambda t: linear_program(2.0, 1.0, t).ineqlin.marginals[0],
    "milp": lambda t: integer_program(t).fun,
    "structure of C": in_a_structure,
    "pickled": in_a_buffer,
    "row": lambda t: named(t)[1]["m"],
    "rows": lambda t: sum(row["m"] for row in named(t)),
    "copy of rows": lambda t: named(t).copy()["m"][0],
    "list of rows": lambda t: named(t).tolist()[1][0],
    "item of rows": lambda t: named(t).item(0)[0],
    "joined rows": lambda t: np.concatenate([named(t), named(t)])["m"][2],
    "row of a list": lambda t: listed(t)[1]["m"],
    "row of a record": lambda t: recorded(t)[0].m,
    "item of a record": lambda t: recorded(t)[0]["m"],
    "row, as numbers": lambda t: named(t)[0].item()[0],
    "row, as a tuple": lambda t: tuple(named(t)[0])[0],
    "row, copied": lambda t: named(t)[0].copy()["m"],
    "row, unpacked": lambda t: [*named(t)[0]][0],
    "rows by a list": lambda t: named(t)[[1]]["m"][0],
    "rows by a mask": lambda t: named(t)[np.array([True, False])]["m"][0],
    "row, flat": lambda t: named(t).flat[0]["m"],
    "array of rows": lambda t: np.array(named(t))["m"][0],
    "rows of another type": lambda t: named(t).astype([("m", "f4"), ("n", "f4")])["m"][0],
    "tuples": lambda t: np.array([(t, 1.0)], [("m", float), ("n", float)])["m"][0],
    "sorted rows": lambda t: np.sort(named(t), order="m")["m"][0],
    "broadcast": lambda t: sum(a * b for a, b in np.broadcast(POINTS * t, [t])),
    "step of a broadcast": lambda t: next(np.broadcast(t, [t]))[0] * 2,
    "chunks": in_chunks,
    "buffer of bytes": as_bytes,
    "ratio": lambda t: operator.truediv(*t.as_integer_ratio()),
    "ratio of a scalar": lambda t: operator.truediv(*np.float32(t).as_integer_ratio()),
    "elements of C": lambda t: sum(array.array("d", [t, 1.0])),
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", UNKNOWN)
@pytest.mark.filterwarnings("ignore")
def test_refused_in_every_mode(name, way):
    with pytest.raises(NoDerivativeError):
        WAYS[way](UNKNOWN[name])


OF_OBJECTS = {
    "array of objects": lambda t: float(sum(np.array([t, t], dtype=object))),
    "array as objects": lambda t: np.asarray(np.ones(2) * t, dtype=object).astype(float).sum(),
    "element of objects": lambda t: (POINTS * t).astype(object)[1] * 2,
}


@pytest.mark.parametrize("name", OF_OBJECTS)
def test_arrays_of_objects_are_followed(name):
    f = OF_OBJECTS[name]
    assert np.isclose(ad.gradient(f, 0.6)[0], 2.0) and np.isclose(ad.derivative(f)(0.6), 2.0)
    assert np.isclose(ad.hvp(f, 0.6, 1.0), 0.0)
    assert np.isclose(ad.gradient(lambda t: ad.derivative(lambda s: s * f(s))(t), 0.6)[0], 4.0)


IN_C = {
    "frompyfunc": lambda t: np.frompyfunc(lambda a: a * t, 1, 1)(np.ones(2)).astype(float).sum(),
    "array of objects": lambda t: float(np.array([t, t], dtype=object).sum()),
    "product of objects": lambda t: 2 * np.vdot(np.array([t, 1.0], dtype=object), POINTS[1:]),
    "object in an array": lambda t: (np.array([t, 2.0]) + Doubled(t))[0],
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", IN_C)
def test_what_c_calculates_with_objects_is_refused(name, way):
    with pytest.raises(NoDerivativeError, match="array of objects"):
        WAYS[way](IN_C[name])


FIELDS = {
    "field": lambda t: named(t)["m"].sum(),
    "part": lambda t: named(t)[1:]["m"][0] * 2,
    "backwards": lambda t: named(t)[::-1]["m"].sum(),
    "list": lambda t: listed(t)["m"][1] * 2,
    "record": lambda t: recorded(t).m.sum(),
    "as floats": lambda t: recorded(t).view(float).sum(),
}


@pytest.mark.parametrize("name", FIELDS)
def test_whole_fields_are_followed(name):
    f = FIELDS[name]
    assert np.isclose(ad.derivative(f)(0.6), 2.4)
    assert np.isclose(ad.hvp(f, 0.6, 1.0), 4.0)
    if name not in ("part", "backwards"):  # which reverse mode refuses
        assert np.isclose(ad.gradient(f, 0.6)[0], 2.4)


def row_by_attribute(t):
    a = np.zeros(2, [("m", float)]).view(np.recarray)
    a[0].m = t
    return a.m[0]


def row_by_name(t):
    a = np.zeros(2, [("m", float)])
    a[0].__setitem__("m", t)
    return a["m"][0]


@pytest.mark.parametrize("f", [row_by_attribute, row_by_name])
@pytest.mark.parametrize("way", WAYS)
def test_rows_are_not_written(way, f):
    with pytest.raises(MutationError, match="row of an array with named fields"):
        WAYS[way](f)


def test_a_linear_program_of_constants_is_a_constant():
    def f(t):
        return linear_program(2.0, 1.0, 3.0).x[0] * t

    assert np.allclose([ad.gradient(f, 0.6)[0], ad.derivative(f)(0.6)], 3.0)


def quad(*args, **kwargs):
    return integrate.quad(*args, **kwargs)[0]


LIMITS = {
    "upper": (lambda t: quad(lambda u: u * u * t, 0, t), lambda t: 4 * t**2),
    "both": (lambda t: quad(lambda u: u**3, -t, 2 * t), lambda t: 45 * t**2),
    "infinite": (
        lambda t: quad(lambda u: np.exp(-u) * t, t, np.inf),
        lambda t: (t - 2) * np.exp(-t),
    ),
    "inner": (
        lambda t: integrate.dblquad(lambda y, x: x * y * t, 0, 1, 0, lambda x: x * t)[0],
        lambda t: 6 * t / 8,
    ),
    "of vectors": (
        lambda t: integrate.quad_vec(lambda u: np.array([u, u * u]) * t, 0, t)[0].sum(),
        lambda t: 3 * t + 4 * t * t,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LIMITS)
def test_second_derivatives_in_limits_of_integration(name):
    f, second = LIMITS[name]
    for found in (
        ad.hvp(f, 0.6, 1.0),
        ad.derivative(ad.derivative(f))(0.6),
        ad.gradient(lambda t: ad.gradient(f, t)[0], 0.6)[0],
    ):
        assert found == pytest.approx(second(0.6), rel=1e-9)


def test_namespaces_are_structures():
    point = types.SimpleNamespace(a=2.0, b=np.array([0.7, 1.3, 2.1]))
    dot = {"a": 1.0, "b": np.array([0.3, -1.1, 0.8])}

    def f(p):
        return np.sum(p.b**2) * p.a

    (bar,) = ad.gradient(f, point)
    expected = bar.a * dot["a"] + bar.b @ dot["b"]
    assert ad.pushforward(f, (point,), (dot,))[1] == pytest.approx(expected)
    assert ad.linearize(f, point)[1](dot) == pytest.approx(expected)
    hessian = ad.hessian(f, point)
    np.testing.assert_allclose(hessian.a.b, 2 * point.b)
    np.testing.assert_allclose(hessian.b.b, 2 * point.a * np.eye(3))
    made = ad.pushforward(lambda t: types.SimpleNamespace(a=t * t), (2.0,), (1.0,))[1]
    assert made.a == 4.0


@pytest.mark.parametrize(
    ("method", "shapes"),
    [
        (stats.t.cdf, (4.0,)),
        (stats.gamma.sf, (2.5,)),
        (stats.beta.logcdf, (2.0, 3.0)),
        (stats.t.ppf, (4.0,)),
        (stats.f.logsf, (3.0, 4.0)),
    ],
)
def test_constant_shapes_beside_active_values(method, shapes):
    """Where they are broadcast together, a constant stays one."""

    def f(x):
        return method(x, *shapes)

    h = 1e-4
    difference = (ad.gradient(f, 0.6 + h)[0] - ad.gradient(f, 0.6 - h)[0]) / (2 * h)
    for found in (
        ad.hvp(f, 0.6, 1.0),
        ad.derivative(ad.derivative(f))(0.6),
        ad.gradient(lambda x: ad.gradient(f, x)[0], 0.6)[0],
    ):
        assert found == pytest.approx(difference, rel=1e-6)


class Listed(list):
    pass


def test_attributes_beside_elements_are_not_lost():
    values = Listed([1.0, 2.0])
    values.k = 3.0

    def f(p):
        return p[0] ** 2 * p.k

    for find in (
        lambda: ad.gradient(f, values),
        lambda: ad.derivative(lambda c: ad.gradient(lambda p: f(p) * c, values)[0])(2.0),
        lambda: ad.hessian(f, values),
    ):
        with pytest.raises(CotangentError, match="the attribute 'k' of a Listed"):
            find()
    assert values.k == 3.0


def test_what_a_partial_holds_by_position():
    held = functools.partial(lambda k, t: k * t * t, 2.0)
    for find in (ad.jacobian_forward, ad.hessian):
        with pytest.raises(ArgumentError, match="'args' of a partial"):
            find(lambda p: p(3.0), held)
    by_name = functools.partial(lambda t, k: k * t * t, k=2.0)
    assert ad.jacobian_forward(lambda p: p(3.0), by_name).keywords == {"k": 9.0}
    x = np.ones(2)
    found, _ = ad.pushforward(lambda v: functools.partial(np.add, v), (x,), (x,))
    assert found(1.0).tolist() == [2.0, 2.0]


def test_constants_may_be_put_in_place_of_something():
    """Which numbers are constants is known here."""

    def f(t):
        with mock.patch("math.tau", 2.0):
            return math.tau * t

    assert ad.derivative(f)(0.6) == 2.0

    def g(t):
        with mock.patch("math.tau", t):
            return math.tau * t

    with pytest.raises(MutationError, match="numbers of that library are constants"):
        ad.derivative(g)(0.6)


# ---- numbers that are seen as their bits ---------------------------------------------------------

BITS = {
    "view of bytes": lambda x: x.view("u1").astype(float).sum(),
    "view of integers": lambda x: (x.view(np.int64) * 1e-15).sum(),
    "field of bytes": lambda x: x.getfield("u1").astype(float).sum(),
    "next floats": lambda x: (x.view("i8") + 1).view(float).sum(),
    "sums of bits": lambda x: ((x.view("i8") + 1) * 1e-15).sum(),
    "an element": lambda x: x.view("i8")[0] * 1e-15,
    "each element": lambda x: sum(byte * 1.0 for byte in x.view("u1")),
    "bits of a copy": lambda x: (x * x).view("i8").astype(float).sum(),
    "shorter floats": lambda x: x.view(np.float32).sum() * 1.0,
}
WAYS_OF_ARRAYS = {
    "gradient": lambda f, x: ad.gradient(f, x),
    "pushforward": lambda f, x: ad.pushforward(f, (x,), (np.ones(3),)),
    "hvp": lambda f, x: ad.hvp(f, x, np.ones(3)),
    "linearize": lambda f, x: ad.linearize(f, x)[1](np.ones(3)),
    "nested": lambda f, x: ad.gradient(lambda x: ad.gradient(f, x)[0].sum(), x),
    "jacobian of jvp": lambda f, x: ad.jacobian(lambda x: ad.jvp(f, (x,), (x,))[1], x),
}


@pytest.mark.parametrize("way", WAYS_OF_ARRAYS)
@pytest.mark.parametrize("name", BITS)
def test_numbers_as_their_bits(name, way):
    with pytest.raises(NoDerivativeError, match="is needed"):
        WAYS_OF_ARRAYS[way](BITS[name], np.array([1.0, 2.0, 3.0]))


@pytest.mark.parametrize("way", WAYS_OF_ARRAYS)
def test_bits_that_only_choose(way):
    def f(x):
        bits = x.view("i8")
        print(bits[0], end="")
        back = bits.view(float)
        return (np.where(bits < 0, x, x * x) * back).sum() + x[bits & 1].sum()

    def plain(x):
        return (x * x * x).sum() + x[[0, 0, 0]].sum()

    x = np.array([1.0, 2.0, 3.0])
    assert f(x) == plain(x)
    found, expected = WAYS_OF_ARRAYS[way](f, x), WAYS_OF_ARRAYS[way](plain, x)
    for part, of_plain in zip(np.atleast_1d(found), np.atleast_1d(expected), strict=True):
        np.testing.assert_allclose(part, of_plain)


def energy(parts):
    return parts["x"] ** 2 * parts["y"]


@ad.rrule.register(energy)
def _(parts):
    def energy_back(bar):
        x, y = parts["x"], parts["y"]
        return None, {"x": 2.0 * x * y * bar, "y": x**2 * bar}

    return energy(parts), energy_back


class Spring:
    def __init__(self, x):
        self.x = x


def stored(spring):
    return spring.x**2


@ad.rrule.register(stored)
def _(spring):
    return stored(spring), lambda bar: (None, {"x": 2.0 * spring.x * bar})


def test_what_a_rule_was_given_is_changed_afterwards():
    """It has containers as they were; objects may be read, and are others by now."""

    def in_a_dict(v):
        parts = {"x": v[0], "y": v[1]}
        found = energy(parts)
        parts["x"] = found * 2.0
        return found

    def in_an_object(v):
        spring = Spring(v[0])
        found = stored(spring)
        spring.x = found * v[1]
        return found

    def kept(v):
        spring = Spring(v[0])
        return stored(spring) * spring.x * v[1]

    v = np.array([0.7, 1.3])
    np.testing.assert_allclose(ad.gradient(in_a_dict, v)[0], [1.82, 0.49])
    np.testing.assert_allclose(ad.hessian(in_a_dict, v), [[2.6, 1.4], [1.4, 0.0]])
    np.testing.assert_allclose(ad.hessian(kept, v), [[5.46, 1.47], [1.47, 0.0]])
    np.testing.assert_allclose(ad.gradient(in_an_object, v)[0], [1.4, 0.0])
    with pytest.raises(MutationError, match="changed after the call"):
        ad.hessian(in_an_object, v)
