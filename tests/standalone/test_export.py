"""`adjoint.export`: the files run without the library, and give the same bits."""

import ast
import pickle
import subprocess
import sys
from dataclasses import dataclass

import numpy as np
import pytest
from benchmarks.programs import small_arrays, specialised
from scipy.linalg import solve_triangular

import adjoint as ad
from adjoint.standalone.literals import ARRAY, NoLiteral, literal
from tests.fast import representative

RNG = np.random.default_rng(5)
X = np.array([0.3, -1.2, 0.8])
W, RATE, TABLE = np.asfortranarray(RNG.normal(size=(3, 40))), 0.25, {"a": [1.0, 2.0]}


def with_constants(x, scale=2.0):
    return np.sum(np.tanh(x @ W) ** 2) * scale * RATE + TABLE["a"][1] * x[0]


def in_containers(p, q):
    total = 0.0
    for i in range(len(p["parts"])):
        total += p["parts"][i] ** 2 * np.sum(p["x"])
    return total + q[0] * q[1][1] ** 3


def in_place(x, n):
    y = np.zeros(len(x))
    for i in range(n):
        y[i] = x[i] * 2.0 if i == 0 else y[i - 1] * x[i]
    return y[-1] + np.max(x)


def by_name(x, *, scale, shift=0.5):
    return np.sum(x**2 * scale + shift)


def unused(x, y):
    return np.sum(x * x)


def complex_part(z):
    return np.sum(np.abs(z) ** 2) + np.real(z[0] * z[1])


def gaussian_process(theta, x, y):
    d = x[:, None] - x[None, :]
    k = theta[0] ** 2 * np.exp(-0.5 * (d / theta[1]) ** 2) + theta[2] ** 2 * np.eye(len(x))
    factor = np.linalg.cholesky(k)
    alpha = np.linalg.solve(factor.T, np.linalg.solve(factor, y))
    return 0.5 * y @ alpha + np.sum(np.log(np.diag(factor)))


def runge_kutta(p, y, n):
    def slope(y):
        return np.array([p[0] * y[0] - p[1] * y[0] * y[1], p[2] * y[0] * y[1] - p[3] * y[1]])

    h = 0.05
    for _ in range(n):
        k1 = slope(y)
        k2 = slope(y + h / 2 * k1)
        k3 = slope(y + h / 2 * k2)
        k4 = slope(y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return np.sum(y**2)


def network(w1, b1, w2, x, y):
    return np.mean((np.maximum(x @ w1 + b1, 0.0) @ w2 - y) ** 2)


def natural_spline(y, at):
    """Integral of the square of a natural cubic spline through values at 0, 1, 2, …"""
    n = len(y)
    a = 4.0 * np.eye(n) + np.eye(n, k=1) + np.eye(n, k=-1)
    moments = np.linalg.solve(a, 6.0 * np.convolve(y, [1.0, -2.0, 1.0], "same"))
    return np.sum(np.interp(at, np.arange(n), y) ** 2) + np.sum(
        np.interp(at, np.arange(n), moments)
    )


MATRIX = RNG.normal(size=(3, 3)) + 3.0 * np.eye(3)
RULES = {
    "cumsum": lambda x: np.sum(np.cumsum(x) ** 2) + np.sum(np.cumprod(x)),
    "var": lambda x: np.var(x) + np.std(x) + np.average(x, weights=x * x),
    "diff": lambda x: np.sum(np.diff(x) ** 2) + np.sum(np.roll(x, 1) * x),
    "interp": lambda x: np.sum(np.interp([0.1, 0.5], np.arange(3.0), x) ** 2),
    "fft": lambda x: np.sum(np.abs(np.fft.fft(x)) ** 4) + np.sum(np.abs(np.fft.rfft(x)) ** 2),
    "convolve": lambda x: np.sum(np.convolve(x, [1.0, 2.0]) ** 2),
    "median": lambda x: np.median(x) ** 2 + np.quantile(x, 0.3),
    "tile": lambda x: np.sum(np.tile(x, 3) ** 2) + np.sum(np.vstack([x, x]) ** 3),
}
OF_MATRICES = {
    "einsum": lambda a: np.sum(np.einsum("ij,jk->ik", a, a) ** 2) + np.einsum("ii->", a),
    "eigh": lambda a: np.sum(np.linalg.eigh(a @ a.T)[1][:, -1] ** 4),
    "svd of vectors": lambda a: np.sum(np.linalg.svd(a, full_matrices=False)[0] ** 4),
    "lstsq": lambda a: np.sum(np.linalg.lstsq(a @ a.T + np.eye(len(a)), a, rcond=None)[0] ** 2),
    "multi_dot": lambda a: np.sum(np.linalg.multi_dot([a, a.T, a])),
    "eigvalsh": lambda a: np.sum(np.linalg.eigvalsh(a @ a.T) ** 3),
    "svd": lambda a: np.sum(np.linalg.svd(a, compute_uv=False)),
    "solve_triangular": lambda a: np.sum(solve_triangular(a, np.ones(3), lower=True)),
}

CASES = {
    "gaussian process": (
        gaussian_process,
        (np.array([1.0, 0.5, 0.1]), np.linspace(0, 1, 6), RNG.normal(size=6)),
    ),
    "runge kutta": (runge_kutta, (np.array([1.1, 0.4, 0.1, 0.4]), np.array([10.0, 5.0]), 20)),
    "network": (
        network,
        (*(RNG.normal(size=n) for n in ((3, 5), 5, (5, 2), (7, 3), (7, 2))),),
    ),
    "spline": (natural_spline, (RNG.normal(size=6), np.array([0.3, 2.7]))),
    **{name: (f, (X,)) for name, f in RULES.items()},
    **{name: (f, (MATRIX,)) for name, f in OF_MATRICES.items()},
    "rosenbrock": (small_arrays.rosenbrock, (RNG.normal(size=10),)),
    "precession": (small_arrays.precession, (RNG.normal(size=3),)),
    "softmax_regression": (small_arrays.softmax_regression, (RNG.normal(size=(3, 3)),)),
    "recurrent_network": (small_arrays.recurrent_network, (0.3 * RNG.normal(size=(4, 7)),)),
    "gaussian_mixture": (small_arrays.gaussian_mixture, (RNG.normal(size=(4, 3)),)),
    "springs": (small_arrays.springs, (RNG.normal(size=(5, 3)),)),
    "lotka_volterra": (specialised.lotka_volterra, (1.0, 0.5, 1.1, 0.4)),
    "halvings": (specialised.halvings, (0.5,)),
    "one_line": (specialised.one_line, (1.5,)),
    "bumps": (specialised.bumps, (0.5, 0.1, RNG.normal(size=200))),
    "recurrence": (specialised.recurrence, (0.5, RNG.normal(size=50))),
    "least_squares": (
        representative.least_squares,
        (RNG.normal(size=4), 0.5, RNG.normal(size=(6, 4)), RNG.normal(size=6)),
    ),
    "normal_density": (representative.normal_density, (0.3, 0.1, 1.2)),
    "newton_root": (representative.newton_root, (2.0,)),
    "pendulum": (representative.pendulum, (0.3, 1.0, 20)),
    "constants": (with_constants, (X,)),
    "containers": (in_containers, ({"parts": [1.0, 2.0], "x": X}, (2.0, [1.0, 3.0]))),
    "in place": (in_place, (X, 3)),
    "single precision": (with_constants, (X.astype(np.float32), np.float32(2.0))),
    "an argument that is not used": (unused, (X, {"a": X, "b": 2.0})),
    "complex": (complex_part, (X + 1j,)),
    "integers": (lambda n, m: n * n * m, (3, 2)),
    "a captured number": ((lambda w: lambda x: np.sum(w * x**2))(3.0), (X,)),
    "rules of arrays": (
        lambda x: (
            np.sum(np.sort(x) * x) + np.prod(np.outer(x, x) + 2.0) + np.max(np.clip(x, -1, 1))
        ),
        (X,),
    ),
    "rules in single precision": (
        lambda x: np.sum(np.sort(x) * x) + np.prod(np.outer(x, x)),
        (X.astype(np.float32),),
    ),
    "linear algebra": (
        lambda a: np.linalg.det(a) + np.sum(np.linalg.solve(a, X)) + np.linalg.norm(a),
        (RNG.normal(size=(3, 3)) + 3.0 * np.eye(3),),
    ),
    "joined": (lambda x, y: np.sum(np.concatenate([x, y]) ** 3), (X, X[:2].copy())),
    "a ufunc": (lambda x: np.sum(np.hypot(x, 2.0) * np.sign(x)), (X,)),
}

ROUNDED = {
    "linear algebra",
    "rules of arrays",
    "rules in single precision",
    "gaussian process",
    "spline",
    *OF_MATRICES,
}
"""Linear algebra rounds by the place of arrays in memory."""

ALONE = """
import sys
sys.modules["adjoint"] = None
import copy, pickle, runpy
made = runpy.run_path(sys.argv[1], run_name="made")
args, kwargs = copy.deepcopy(pickle.load(sys.stdin.buffer))  # bytes are in other places
found = made["value_and_gradient"](*args, **kwargs), made["gradient"](*args, **kwargs)
assert not any(name.startswith("adjoint.") for name in sys.modules)
sys.stdout.buffer.write(pickle.dumps(found))
"""


def run_alone(path, args, kwargs):
    """What a fresh process gives that has NumPy, but cannot import the library."""
    given = pickle.dumps((args, kwargs))
    command = [sys.executable, "-I", "-c", ALONE, str(path)]
    done = subprocess.run(command, input=given, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return pickle.loads(done.stdout)


def same(a, b):
    if isinstance(a, list | tuple):
        assert len(a) == len(b)
        for pair in zip(a, b):
            same(*pair)
    else:
        assert np.asarray(a).dtype == np.asarray(b).dtype
        eps = np.finfo(np.asarray(a).dtype).eps
        np.testing.assert_allclose(a, b, rtol=20 * eps)


def same_bits(a, b):
    assert type(a) is type(b) or (isinstance(a, tuple) and isinstance(b, tuple))
    if isinstance(a, dict):
        assert list(a) == list(b)
        a, b = list(a.values()), list(b.values())
    if isinstance(a, list | tuple):
        assert len(a) == len(b)
        for pair in zip(a, b):
            same_bits(*pair)
    elif a is not None:
        assert np.asarray(a).dtype == np.asarray(b).dtype and np.shape(a) == np.shape(b)
        assert np.asarray(a).tobytes() == np.asarray(b).tobytes()


def check(f, args, kwargs, path, same=same_bits):
    text = ad.export(f, *args, path=path, **kwargs)
    assert path.read_text(encoding="utf-8") == text
    ast.parse(text)
    value_and_gradient, gradient = run_alone(path, args, kwargs)
    expected = ad.withgradient(f, *args, **kwargs)
    same(value_and_gradient, tuple(expected))
    same(gradient, expected.gradient)
    command = [sys.executable, "-I", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", CASES)
def test_the_same_bits_without_the_library(name, tmp_path):
    f, args = CASES[name]
    check(f, args, {}, tmp_path / "made.py", same if name in ROUNDED else same_bits)


def test_keyword_arguments(tmp_path):
    check(by_name, (X,), {"scale": 3.0}, tmp_path / "made.py")


@pytest.fixture(scope="module")
def made():
    scope = {"__name__": "made"}
    exec(ad.export(in_containers, *CASES["containers"][1]), scope)
    return scope


def test_names_of_the_user_and_types(made):
    assert "p : " not in made["TYPES"] and "p['x'] : array of float64, shape (n,)" in made["TYPES"]
    assert made["value_and_gradient"].__code__.co_varnames[:2] == ("p", "q")
    assert "Parameters" in made["value_and_gradient"].__doc__


WRONG = {
    r"q\[1\] is a list of length 1": ({"parts": [1.0, 2.0], "x": X}, (2.0, [1.0])),
    r"p\['x'\] is an array of int64, shape \(3,\)": (
        {"parts": [1.0, 2.0], "x": X.astype(np.int64)},
        (2.0, [1.0, 3.0]),
    ),
    r"p\['parts'\]\[0\] is 1, of type int": ({"parts": [1, 2.0], "x": X}, (2.0, [1.0, 3.0])),
    r"p is a dict with the keys \['parts'\]": ({"parts": [1.0, 2.0]}, (2.0, [1.0, 3.0])),
    "p is a list of length 2": ([1.0, 2.0], (2.0, [1.0, 3.0])),
    r"p\['x'\] is a list of length 3": (
        {"parts": [1.0, 2.0], "x": [1.0, 2.0, 3.0]},
        (2.0, [1.0, 3.0]),
    ),
}


@pytest.mark.parametrize("text", WRONG)
def test_other_types_are_refused(made, text):
    with pytest.raises(TypeError, match=f"^{text}; the types that this file is for"):
        made["gradient"](*WRONG[text])


def test_other_lengths_are_refused():
    scope = {"__name__": "made"}
    exec(ad.export(with_constants, X), scope)
    with pytest.raises(TypeError, match=r"constant W is an array of float64, shape \(3, 40\)"):
        scope["gradient"](np.ones(2))
    assert "x : array of float64, shape (3,)" in scope["TYPES"]


def test_one_array_twice_is_refused():
    scope = {"__name__": "made"}
    exec(ad.export(lambda p: np.sum(p[0] * p[1]), [X, X.copy()]), scope)
    with pytest.raises(TypeError, match="twice in an argument"):
        scope["gradient"]([X, X])


def test_other_numbers_are_taken(made):
    args = {"parts": [0.5, -2.0], "x": np.arange(7.0)}, (1.0, [2.0, -3.0])
    same_bits(made["value_and_gradient"](*args), tuple(ad.withgradient(in_containers, *args)))


def test_no_file_is_made_while_something_is_differentiated():
    with pytest.raises(ad.AdjointError, match="export"):
        ad.gradient(lambda x: len(ad.export(unused, X, 1.0)) * np.sum(x), X)


def test_a_large_example_is_left_out(tmp_path):
    path = tmp_path / "made.py"
    text = ad.export(lambda x: np.sum(x * x), np.ones(50_000), path=path)
    assert len(text) < 20_000
    done = subprocess.run([sys.executable, "-I", str(path)], capture_output=True, text=True)
    assert done.returncode == 0 and "too large" in done.stdout


def test_what_is_not_finite_is_refused_not_wrong():
    """A zero slope of a branch that is not taken is lost by the program alone."""

    def f(x):
        return np.sum(np.where(x > 0, np.sqrt(np.abs(x)), 0.0))

    scope = {"__name__": "made"}
    exec(ad.export(f, np.array([1.0, 4.0])), scope)
    point = np.array([0.0, 4.0])
    assert np.isfinite(ad.gradient(f, point)[0]).all()
    with pytest.raises(FloatingPointError):
        scope["gradient"](point)


@dataclass
class Model:
    w: np.ndarray


def of_an_object(model, x):
    return np.sum(model.w * x)


def ruled(x):
    return np.sum(np.linalg.inv(x))


def printing(x):
    print(end="")
    return np.sum(x * x)


HELD = Model(X)


def of_a_held_object(x):
    return np.sum(HELD.w * x)


REFUSED = {
    "an object": (of_an_object, (Model(X), X), ad.ArgumentError, "an object"),
    "no program": (printing, (X,), ad.NoDerivativeError, "a call of print\n.*test_export.py:"),
    "no scalar": (np.tanh, (X,), ad.NoDerivativeError, "not one real number"),
    "no function": (3.0, (X,), ad.ArgumentError, "takes a function"),
    "no point": (unused, (), ad.ArgumentError, "takes the point"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_by_name(name):
    f, args, kind, text = REFUSED[name]
    with pytest.raises(kind, match=text):
        ad.export(f, *args)


class Severed:
    """A function that has no text."""

    def __call__(self, *_):
        return False


def test_what_a_rule_needs_and_cannot_be_written_is_named_with_its_line(monkeypatch):
    from adjoint.rules.numpy.aggregates import cumulative

    monkeypatch.setattr(cumulative, "severed", Severed())
    with pytest.raises(ad.NoDerivativeError) as caught:
        ad.export(lambda x: np.sum(np.cumsum(x) ** 2), X)
    text = str(caught.value)
    assert "an object of class" in text and "in the rule of 'numpy.cumsum'" in text
    assert "ad.export(lambda x: np.sum(np.cumsum(x) ** 2), X)" in text  # the user's line


def test_a_rule_from_outside_is_refused():
    @ad.custom
    def own(x):
        return x * 2.0

    @own.reverse
    def _(x):
        return own(x), lambda y_bar: 2.0 * y_bar

    with pytest.raises(ad.NoDerivativeError, match="own has a rule from outside"):
        ad.export(lambda x: np.sum(own(x)), X)


def test_text_of_the_user_stays_text():
    """Keys and names are written as text, whatever is in them."""
    key = 'a"""\nraise SystemExit\n"""\\'

    def f(p):
        return p[key] ** 2

    f.__name__ = 'f"""\nraise SystemExit\n"""'
    scope = {"__name__": "made"}
    exec(ad.export(f, {key: 3.0}), scope)
    assert scope["gradient"]({key: 3.0}) == ({key: 6.0},)
    with pytest.raises(ad.ArgumentError):
        ad.export(lambda x, **named: x, 1.0, **{"a b": 2.0})


LITERALS = [
    None, ..., True, 3, -2.5, 0.1, float("inf"), float("nan"), -0.0, 1 - 0.0j, "a'\"\n", b"\x00",
    (), (1,), [1.0, [2]], {"a": {1, 2}}, frozenset([1]), slice(1, None), np.dtype("f4"), float,
    np.float64, np.float32(0.1), np.int8(3), np.bool_(True), np.array(2.5), np.zeros((0, 3)),
    np.array([1.0, np.nan, -np.inf]), RNG.normal(size=(4, 5)),
    np.asfortranarray(RNG.normal(size=(4, 5))), np.arange(20, dtype=np.int16),
    np._NoValue, np.array([1 + 2j, -0.0j]), RNG.normal(size=30).astype(np.float16),
]  # fmt: skip


@pytest.mark.parametrize("value", LITERALS, ids=lambda x: type(x).__name__)
def test_literals_are_exact(value):
    import base64

    scope = {"np": np, "base64": base64}
    exec(ARRAY, scope)
    again = eval(literal(value), scope)
    assert type(again) is type(value)
    if isinstance(value, np.ndarray | np.generic):
        assert again.dtype == value.dtype and again.shape == value.shape
        assert again.tobytes() == value.tobytes() and again.flags.writeable == value.flags.writeable
        assert again.flags.f_contiguous == value.flags.f_contiguous
    elif value == value:
        assert repr(again) == repr(value)


@pytest.mark.parametrize("value", [object(), np.array([None]), np.array(["a"]), Model, [Model(X)]])
def test_what_has_no_literal(value):
    with pytest.raises(NoLiteral):
        literal(value)
