"""`adjoint.export`: the files run without the library, and give the same bits."""

import ast
import pickle
import subprocess
import sys
from dataclasses import dataclass

import numpy as np
import pytest
from benchmarks.programs import small_arrays, specialised

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


CASES = {
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

ROUNDED = {"linear algebra", "rules of arrays", "rules in single precision"}
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


WRONG = [
    ({"parts": [1.0, 2.0], "x": X}, (2.0, [1.0])),
    ({"parts": [1.0, 2.0], "x": X.astype(int)}, (2.0, [1.0, 3.0])),
    ({"parts": [1, 2.0], "x": X}, (2.0, [1.0, 3.0])),
    ({"parts": [1.0, 2.0]}, (2.0, [1.0, 3.0])),
    ([1.0, 2.0], (2.0, [1.0, 3.0])),
]


@pytest.mark.parametrize("args", WRONG)
def test_other_types_are_refused(made, args):
    with pytest.raises(TypeError, match="types that this file is for"):
        made["gradient"](*args)


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
    "no program": (printing, (X,), ad.NoDerivativeError, "a call of print, at .*test_export.py:"),
    "no scalar": (np.tanh, (X,), ad.NoDerivativeError, "not one real number"),
    "no function": (3.0, (X,), ad.ArgumentError, "takes a function"),
    "no point": (unused, (), ad.ArgumentError, "takes the point"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_by_name(name):
    f, args, kind, text = REFUSED[name]
    with pytest.raises(kind, match=text):
        ad.export(f, *args)


def test_a_rule_in_closure_form_is_named():
    @ad.custom
    def own(x):
        return x * 2.0

    @own.reverse
    def _(x):
        return own(x), lambda y_bar: 2.0 * y_bar

    for f in (lambda x: np.sum(own(x)), lambda x: np.sum(np.fft.ifft(np.fft.fft(x)).real)):
        try:
            scope = {"__name__": "made"}
            exec(ad.export(f, X), scope)
        except ad.NoDerivativeError as error:
            assert "has no standalone file" in str(error) and "because of" in str(error)
        else:
            same_bits(scope["gradient"](X), ad.gradient(f, X))


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
    np.array([1 + 2j, -0.0j]), RNG.normal(size=30).astype(np.float16),
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
