"""What operators return goes to other processes: by reference to the function."""

import copy
import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor

import cloudpickle
import joblib
import numpy as np
import pytest
from joblib.externals.loky import get_reusable_executor

import adjoint as ad

X, V = np.array([0.3, -1.2, 0.8]), np.array([1.0, 0.5, -2.0])


def energy(x, scale=2.0):
    return np.sum(scale * np.sin(x) * x**2)


def pair(x):
    return np.sum(x**3), "extra"


def outer(x):
    return np.outer(x, x).ravel()


def row(x):
    return np.sin(x) * x


class Model:
    def __init__(self, w):
        self.w = w

    def loss(self, x):
        return np.sum((self.w * x) ** 2)


@ad.checkpoint
def block(x):
    return np.sum(np.tanh(x) ** 2)


@ad.custom
def cube(x):
    return x**3


@cube.reverse
def _(x):
    return cube(x), lambda y_bar: 3 * x * x * y_bar


@ad.grad
def slope(x):
    return x**3


MADE = {
    "a gradient by a decorator": (slope, 2.0),
    "grad": (ad.grad(energy), X),
    "grad with options": (ad.grad(pair, has_aux=True, tier="generic"), X),
    "grad in a name": (ad.grad(energy, argnums="scale"), X, 3.0),
    "grad of a method": (ad.grad(Model(V).loss), X),
    "value_and_grad": (ad.value_and_grad(energy), X),
    "derivative": (ad.derivative(np.tanh), 0.5),
    "derivative of a derivative": (ad.derivative(ad.derivative(row)), X),
    "jacobian": (ad.jacobian(outer), X),
    "jacobian with a mode": (ad.jacobian(outer, mode="forward"), X),
    "jacfwd": (ad.jacfwd(outer), X),
    "jacrev": (ad.jacrev(outer), X),
    "value_and_jacobian": (ad.value_and_jacobian(outer), X),
    "hessian": (ad.hessian(energy), X),
    "hessian_diagonal": (ad.hessian_diagonal(energy), X),
    "hvp": (ad.hvp(energy), X, V),
    "vhp": (ad.vhp(energy), X, V),
    "gauss_newton_product": (ad.gauss_newton_product(outer), X, V),
    "vmap": (ad.vmap(row), np.outer(X, V)),
    "vmap with axes": (ad.vmap(np.dot, in_axes=(1, None)), np.outer(X, V), X),
    "vmap of grad": (ad.vmap(ad.grad(energy)), np.outer(X, V)),
    "checkpoint": (ad.checkpoint(energy), X),
    "grad of checkpoint": (ad.grad(ad.checkpoint(energy)), X),
    "a decorated function": (ad.grad(block), X),
    "a function with a rule": (ad.grad(cube), 2.0),
    "linearize": (ad.linearize(outer, X)[1], V),
    "unflatten": (ad.flatten({"w": X, "b": 3.0})[1], np.arange(4.0)),
    "linearize in two arguments": (ad.linearize(energy, X, 3.0)[1], V, None),
}


def _same(a, b):
    if isinstance(a, dict):
        a, b = tuple(a.items()), tuple(b.items())
    if isinstance(a, str):
        assert a == b
    elif isinstance(a, tuple):
        assert type(a) is type(b) and len(a) == len(b)
        for pair in zip(a, b):
            _same(*pair)
    else:
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", MADE)
def test_pickled(name):
    made, *args = MADE[name]
    expected = made(*args)
    for there_and_back in (
        lambda f: pickle.loads(pickle.dumps(f)),
        lambda f: cloudpickle.loads(cloudpickle.dumps(f)),
    ):
        again = there_and_back(made)
        _same(again(*args), expected)
        assert repr(again) == repr(made)
    if "linearize" not in name:
        assert copy.deepcopy(made) is made or "method" in name or name == "unflatten"


def _apply(name_and_made):
    made, *args = name_and_made
    return made(*args)


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_process_pools(method):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"this system has no {method}")
    context = multiprocessing.get_context(method)
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        found = list(pool.map(_apply, MADE.values(), timeout=250))
    for name, result in zip(MADE, found, strict=True):
        _same(result, _apply(MADE[name]))


def test_joblib():
    captured = np.array([2.0, 3.0, 4.0])
    slope = ad.grad(lambda x: np.sum(captured * x**2))  # which only cloudpickle sends
    try:
        found = joblib.Parallel(2)(joblib.delayed(slope)(X * i) for i in range(4))
    finally:  # its threads would go on beside other tests
        get_reusable_executor().shutdown(wait=True)
    for i, bar in enumerate(found):
        np.testing.assert_array_equal(bar, 2 * captured * X * i)


def test_functions_of_main_by_cloudpickle():
    """The code of the function travels, and is differentiated where its source is not known."""
    text = "def f(x):\n    y = x * x\n    return y * y\n"
    scope = {"__name__": "__main__"}
    exec(compile(text, "<typed>", "exec"), scope)
    slope = cloudpickle.loads(cloudpickle.dumps(ad.grad(scope["f"])))
    assert slope(2.0) == 32.0


def test_tangents_and_extension_points():
    tangent = ad.gradient(lambda model: model.loss(X), Model(V))[0]
    again = pickle.loads(pickle.dumps(tangent))
    assert again == tangent and type(again) is ad.Tangent
    for each in (ad.rrule, ad.frule, ad.gradient, ad.vmap, ad.custom):
        assert pickle.loads(pickle.dumps(each)) is each


def test_a_pullback_says_what_to_send():
    generic = ad.pullback(lambda x: print(end="") or x * x, 2.0)[1]
    for back in (ad.pullback(energy, X)[1], generic):
        with pytest.raises(ad.ArgumentError, match="send the function and its arguments"):
            pickle.dumps(back)
        assert copy.deepcopy(back) is back
    with pytest.raises(ad.ArgumentError, match="send the function and its arguments"):
        pickle.dumps(ad.vjp(energy, X)[1])


def test_a_linear_map_of_what_cannot_be_repeated():
    def writes(x):
        x /= np.sum(x)
        return x * 1.0

    def counts(x, calls):
        calls.append(1.0)
        return x * len(calls)

    for push in (ad.linearize(writes, X.copy())[1], ad.linearize(counts, X, [])[1]):
        with pytest.raises(ad.ArgumentError, match="does something else"):
            pickle.dumps(push)


def test_the_pullback_of_a_rule_by_cloudpickle():
    y, back = ad.rrule(np.linalg.inv, np.diag(X))
    again = cloudpickle.loads(cloudpickle.dumps(back))
    np.testing.assert_array_equal(again(np.eye(3))[1], back(np.eye(3))[1])
    assert repr(again) == repr(back)
