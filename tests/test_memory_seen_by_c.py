"""Objects of C that look at an array which differentiated code writes: what they give has its
derivative, or is refused, in every mode; what was written with constants, or elsewhere, costs
nothing."""

import ctypes
import functools
import io
import itertools
import operator
import pickle
import random
import struct
import time
import zlib

import numpy as np
import pytest
from scipy.spatial import cKDTree

import adjoint as ad

V = np.array([1.1, 2.2, 3.3])
DIRECTION = np.array([0.3, -0.5, 0.8])


def along_axes(f):
    dots = [ad.pushforward(f, (V.copy(),), (axis,))[1] for axis in np.eye(3)]
    return np.array([float(np.real(dot)) for dot in dots])


def inside(f):
    """The gradient of `f` by that of a gradient in which it stands."""
    return ad.gradient(lambda u: ad.gradient(lambda w: (w**2).sum() * f(u), V)[0][0], V.copy())[0]


RUNS = {
    "specialised": lambda f: ad.gradient(f, V.copy())[0],
    "generic": lambda f: ad.grad(f, tier="generic")(V.copy()),
    "forward": along_axes,
    "inside": lambda f: inside(f) / (2 * V[0]),
    "on two levels": lambda f: ad.hessian(lambda u: f(u) * (u @ DIRECTION), V.copy()),
}


def differences(f):
    ends = [
        [float(f(V + step)) - float(f(V - step)) for step in [1e-5 * axis]] for axis in np.eye(3)
    ]
    return np.array(ends)[:, 0] / 2e-5


def expected(f, run):
    if run != "on two levels":
        return differences(f)
    columns = [differences(lambda u: _slope(f, u, axis)) for axis in np.eye(3)]
    return np.array(columns)


def _slope(f, u, axis):
    def product(w):
        return float(f(w)) * (w @ DIRECTION)

    return (product(u + 1e-3 * axis) - product(u - 1e-3 * axis)) / 2e-3


# ---- what is right -------------------------------------------------------------------------------


def element(state):
    cursor = np.nditer(state)
    return lambda: cursor[0] ** 2


def current(state):
    cursor = np.nditer(state)
    return lambda: cursor.value**2


def each(state):
    cursor = np.nditer(state)

    def read():
        cursor.reset()
        return sum([float(x) ** 2 for x in cursor])

    return read


def operands(state):
    cursor = np.nditer([state, np.ones(3)])
    return lambda: (cursor.operands[0] ** 2).sum()


def parts(state):
    cursor = np.nditer([state, np.ones(3)])
    return lambda: (cursor.itviews[0] ** 2).sum()


def bound(state):
    get = np.nditer(state).__getitem__
    return lambda: get(0) ** 2


def filled_in(state):
    get = functools.partial(operator.getitem, np.nditer(state))
    return lambda: get(0) ** 2


def flat(state):
    elements = state.flat
    return lambda: elements[1] ** 2


def viewed(state):
    view = memoryview(state)
    return lambda: (np.asarray(view) ** 2).sum()


def broadcast(state):
    together = np.broadcast(state, state[:, None])
    return lambda: together.iters[0][1] ** 2


def by_interface(state):
    class Holder:
        __array_interface__ = state.__array_interface__

    seen = np.asarray(Holder())
    return lambda: (seen[1:] ** 2).sum()


def by_capsule(state):
    seen = np.from_dlpack(state)
    return lambda: seen @ seen


def tree(state):
    known = cKDTree(state[None], copy_data=False)
    return lambda: known.query(np.zeros(3))[0] ** 2


RIGHT = [
    element, current, each, operands, parts, bound, filled_in, flat, viewed, broadcast,
    by_interface, by_capsule, tree,
]  # fmt: skip


def written(make):
    """A function that writes its argument into an array which something looks at already."""
    state = np.array([0.3, 0.2, 0.5])
    read = make(state)

    def f(v):
        state[:] = v
        return read()

    return f


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("make", RIGHT)
def test_what_is_read_of_memory_that_was_written(make, run):
    f = written(make)
    want = expected(f, run)
    np.testing.assert_allclose(RUNS[run](f), want, rtol=1e-4, atol=1e-4)


WRITES = {
    "an element": lambda state, v: [operator.setitem(state, i, v[i]) for i in range(3)],
    "in place": lambda state, v: operator.isub(operator.imul(state, 0.0), -v),
    "through a view": lambda state, v: operator.setitem(state[::-1], slice(None), v[::-1]),
    "an output": lambda state, v: np.multiply(v, 1.0, out=state),
    "by name": lambda state, v: np.copyto(state, v),
}


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_however_it_was_written(write, run):
    state = np.zeros(3)
    cursor = np.nditer(state)

    def f(v):
        write(state, v)
        return cursor[0] ** 2

    np.testing.assert_allclose(RUNS[run](f), expected(f, run), rtol=1e-4, atol=1e-4)


# ---- what is refused -----------------------------------------------------------------------------


def element_of_view(state):
    view = memoryview(state)
    return lambda: view[0] ** 2


def sum_of_view(state):
    view = memoryview(state)
    return lambda: sum(view) * 2.0


def unpacked_view(state):
    view = memoryview(state)

    def read():
        a, b, c = view
        return a * b * c

    return read


def anew(make):
    """What is used up when it is read is made in advance."""

    def maker(state):
        made = [make(state) for _ in range(200)]
        return lambda: _next(made[_counter()])

    maker.__name__ = make.__name__
    return maker


def _next(iterator):
    found = next(iterator)
    return found[0] * found[1] if type(found) is tuple else found * found


_counter = itertools.count().__next__


def rows(state):
    return iter(state)


def pairs(state):
    return zip(state, state, strict=True)


def mapped(state):
    return map(float, state)


def chained(state):
    return itertools.chain(state, state)


def together(state):
    return np.broadcast(state, state)


def unpacking(state):
    return (x for (x,) in struct.iter_unpack("d", state))


def pointer(state):
    at = state.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
    return lambda: at[0] ** 2


def c_array(state):
    array = np.ctypeslib.as_ctypes(state)
    return lambda: array[0] ** 2


def c_structure(state):
    class Pair(ctypes.Structure):
        _fields_ = [("a", ctypes.c_double), ("b", ctypes.c_double)]

    pair = Pair.from_buffer(state)
    return lambda: pair.a * pair.b


def address(state):
    number = ctypes.c_double.from_address(state.ctypes.data)
    return lambda: number.value**2


def packed(state):
    view = memoryview(state)
    return lambda: struct.unpack_from("d", view, 8)[0] ** 2


def buffer(state):
    kept = pickle.PickleBuffer(state)
    return lambda: struct.unpack_from("d", kept)[0] ** 2


REFUSED = [
    element_of_view, sum_of_view, unpacked_view, pointer, c_array, c_structure, address, packed,
    buffer, *map(anew, [rows, pairs, mapped, chained, together, unpacking]),
]  # fmt: skip


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("make", REFUSED)
def test_what_is_refused(make, run):
    state = np.array([0.3, 0.2, 0.5])
    read = make(state)

    def f(v):
        state[:] = v
        return read()

    with pytest.raises(ad.AdjointError):
        RUNS[run](f)


# ---- what is written through objects of C --------------------------------------------------------


def packing(state):
    view = memoryview(state)
    return lambda v: struct.pack_into("d", view, 0, v[0])


def reading_into(state):
    view = memoryview(state)
    return lambda v: io.BytesIO(struct.pack("d", v[0])).readinto(view)


def setting(state):
    put = memoryview(state).__setitem__
    return lambda v: put(0, v[0])


def moving(state):
    at = state.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
    return lambda v: ctypes.memmove(at, (ctypes.c_double * 1)(v[0]), 8)


def assigning(state):
    at = state.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
    return lambda v: operator.setitem(at, 0, v[0])


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("make", [packing, reading_into, setting, moving, assigning])
def test_what_is_written_unseen(make, run):
    state = np.array([0.3, 0.2, 0.5])
    write = make(state)

    def f(v):
        write(v)
        return state[0] ** 2

    f(V)  # so that the same numbers are written once more
    with pytest.raises(ad.AdjointError):
        RUNS[run](f)


@pytest.mark.parametrize("run", RUNS)
def test_reading_is_no_writing(run):
    state = np.zeros(3)
    view = memoryview(state)
    at = state.ctypes.data_as(ctypes.POINTER(ctypes.c_double))

    def f(v):
        state[:] = v
        found = [zlib.crc32(view), len(bytes(view)), hash(view.tobytes()), view.nbytes, at is None]
        return state @ state + 0 * len(found)

    np.testing.assert_allclose(RUNS[run](f), expected(f, run), rtol=1e-4, atol=1e-4)


# ---- compiled classes of other libraries, which tell nobody what they look at --------------------


@pytest.fixture
def kalman():
    pytest.importorskip("statsmodels")
    from statsmodels.tsa.statespace.kalman_filter import KalmanFilter

    model = KalmanFilter(k_endog=1, k_states=1)
    model.bind(np.array([0.3, -0.2, 0.9, 0.4, 1.1, 0.2, -0.5, 0.6]))
    for name in ("design", "selection", "obs_cov", "state_cov"):
        model[name, 0, 0] = 1.0
    model["transition", 0, 0] = 0.55
    model.initialize_known(np.zeros(1), np.eye(1))
    model.loglike()  # which makes the objects in C
    return model


@pytest.mark.parametrize("run", RUNS)
def test_compiled_objects_that_read_what_was_written(kalman, run):
    filtering, transition = kalman._kalman_filter, kalman._representations["d"]["transition"]

    def f(v):
        transition[0, 0, 0] = v[0] / 2
        filtering()
        return np.sum(np.asarray(filtering.loglikelihood)) * 1.0

    def attribute(v):
        transition[0, 0, 0] = v[0] / 2
        return v[1] * filtering.tolerance

    for one in (f, attribute):
        with pytest.raises(ad.AdjointError):
            RUNS[run](one)


@pytest.mark.parametrize("run", RUNS)
def test_the_memory_that_a_compiled_object_shows(kalman, run):
    transition = kalman._representations["d"]["transition"]

    def f(v):
        transition[0, 0, 0] = v[0] / 2
        return np.asarray(kalman._statespace.transition)[0, 0, 0] ** 2

    np.testing.assert_allclose(RUNS[run](f), expected(f, run), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("run", RUNS)
def test_memory_that_a_compiled_object_does_not_see(kalman, run):
    filtering = kalman._kalman_filter
    transition = kalman._representations["d"]["transition"]

    def constants(v):
        transition[0, 0, 0] = 0.5
        filtering()
        return v[1] ** 2 * np.sum(np.asarray(filtering.loglikelihood))

    def made(v):
        out = np.zeros(3)
        for i in range(3):
            out[i] = v[i] ** 2 * filtering.tolerance * 1e19
        scaled = v * 2.0
        scaled[0] = filtering.tolerance * 1e19
        return (out * filtering.tolerance * 1e19).sum() + scaled.sum()

    def later(v):
        v *= filtering.tolerance * 1e19
        return v @ v

    for f in (constants, made, later):
        want = expected(lambda v, f=f: f(v.copy()), run)
        np.testing.assert_allclose(RUNS[run](f), want, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("run", RUNS)
def test_trees_over_memory_that_was_written(run):
    neighbors = pytest.importorskip("sklearn.neighbors")
    state = np.ones((1, 2))
    tree = neighbors.BallTree(state)

    def f(v):
        state[0] = v[:2]
        return float(tree.query([[0.5, 0.5]], 1)[0][0, 0])

    with pytest.raises(ad.AdjointError, match="may look at arrays that were written"):
        RUNS[run](f)

    def constant(v):
        state[0] = v[:2]
        return state.sum() ** 2 * ad.stop_gradient(float(tree.query([[0.5, 0.5]], 1)[0][0, 0]) > 0)

    np.testing.assert_allclose(RUNS[run](constant), expected(constant, run), rtol=1e-4, atol=1e-4)


# ---- what stays constant -------------------------------------------------------------------------


@pytest.mark.parametrize("run", RUNS)
def test_functions_of_modules_have_no_state(run):
    state = np.zeros(3)
    generator = random.Random(0)

    def f(v):
        state[:] = v
        times = time.time() / time.time()
        drawn = random.random() * 0.0 + generator.random() * 0.0 + np.random.default_rng(0).random()
        return state @ state * round(times) * drawn

    np.testing.assert_allclose(RUNS[run](f), expected(f, run), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("run", RUNS)
def test_constants_that_are_written_poison_nothing(run):
    state = np.zeros(3)
    cursor, view = np.nditer(state), memoryview(state)

    def f(v):
        state[:] = [2.0, 3.0, 4.0]
        return v @ v * cursor[0] * view[1]

    np.testing.assert_allclose(RUNS[run](f), expected(f, run), rtol=1e-4, atol=1e-4)


def test_the_memory_behind_a_memoryview_of_an_array():
    def f(x):
        z = np.zeros(3)
        o = np.frombuffer(z.data)
        z[:] = x**2
        return o.sum()

    x = np.array([1.0, 2.0, 3.0])
    for tier in ("fast", "generic"):
        np.testing.assert_array_equal(ad.grad(f, tier=tier)(x), 2 * x)
    assert ad.pushforward(f, (x,), (np.ones(3),)) == (14.0, 12.0)
