"""Names and forms that people type: names of other libraries, signatures, errors that help."""

import inspect
import io
import sys

import numpy as np
import pytest

import adjoint as ad
from adjoint.diagnostics.missing_names import HINTS
from adjoint.diagnostics.pullback_text import pullback_text


def loss(x, scale: float = 2.0, *, power=2) -> float:
    """Sum of powers."""
    return np.sum(scale * x**power)


X = np.array([1.0, -2.0, 3.0])
MAKERS = [
    ad.grad, ad.value_and_grad, ad.jacobian, ad.jacobian_forward, ad.jacobian_reverse, ad.jacfwd,
    ad.jacrev, ad.value_and_jacobian, ad.hessian, ad.hessian_diagonal, ad.derivative,
    ad.checkpoint, ad.vmap, ad.sparse_hessian,
]  # fmt: skip


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_what_is_made_looks_like_the_function(make):
    made = make(loss)
    assert (made.__name__, made.__qualname__, made.__doc__) == ("loss", "loss", "Sum of powers.")
    assert list(inspect.signature(made).parameters) == ["x", "scale", "power"]
    assert inspect.signature(made).parameters["scale"].default == 2.0
    assert repr(made) == f"<function {make.__name__} of loss>"
    assert list(inspect.signature(make(made)).parameters) == ["x", "scale", "power"]
    make(np.tanh), make(lambda x: x), make(Scaled(2.0))
    with pytest.raises(ad.ArgumentError, match=f"{make.__name__} takes a function"):
        make(X)


class Scaled:
    def __init__(self, w):
        self.w = w

    def __call__(self, x):
        return np.sum(self.w * x)


def test_what_takes_a_vector_says_so():
    assert list(inspect.signature(ad.hvp(loss)).parameters) == ["x", "v", "kwargs"]


OPERATORS = [ad.gradient, ad.withgradient, ad.vjp]


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda each: each.__name__)
def test_a_call_without_the_point_says_what_to_write(operator):
    with pytest.raises(ad.ArgumentError, match=rf"ad\.{operator.__name__}\(f, x\)"):
        operator(loss)
    with pytest.raises(ad.ArgumentError, match="takes a function, and was given 1.0"):
        operator(1.0)
    with pytest.raises(ad.ArgumentError, match=r"an array of shape \(3,\)"):
        operator(X, loss)


def test_a_function_without_arguments_needs_no_point():
    assert ad.gradient(lambda: 1.0) == ()
    assert ad.withgradient(lambda *xs: 1.0) == (1.0, ())
    assert ad.vjp(lambda: 1.0)[1](1.0) == ()


def test_extras():
    def f(x, y):
        return x * y, "extra"

    assert ad.withgradient(f, 3.0, 4.0, has_aux=True) == ((12.0, "extra"), (4.0, 3.0))
    assert ad.value_and_grad(f, has_aux=True)(3.0, 4.0) == ((12.0, "extra"), 4.0)
    assert ad.grad(f, has_aux=True)(3.0, 4.0) == (4.0, "extra")
    y, back, extra = ad.vjp(f, 3.0, 4.0, has_aux=True)
    assert (y, back(2.0), extra) == (12.0, (8.0, 6.0), "extra")
    with pytest.raises(ad.ArgumentError, match="returned a float; with has_aux it returns a pair"):
        ad.withgradient(lambda x: x * 1.0, 3.0, has_aux=True)

    def inside(x):
        (value, _), (slope,) = ad.withgradient(lambda z: (z**3, z), x, has_aux=True)
        return value * slope

    assert ad.gradient(inside, 2.0)[0] == pytest.approx(15 * 2.0**4)


def test_vjp_has_zeros_and_structures():
    y, back = ad.vjp(lambda x, p, unused: np.sum(x * p["a"]), X, {"a": 2.0, "b": X}, 1.0)
    x_bar, p_bar, unused_bar = back(1.0)
    assert x_bar.tolist() == [2.0] * 3 and p_bar["a"] == 2.0 and unused_bar == 0.0
    assert p_bar["b"].tolist() == [0.0] * 3
    a = np.arange(6.0).reshape(2, 3)
    back = ad.vjp(lambda x: a @ x, X)[1]
    np.testing.assert_array_equal(back(np.array([1.0, 2.0]))[0], a.T @ [1.0, 2.0])
    assert back(None)[0].tolist() == [0.0] * 3
    assert ad.vjp(loss, X, power=3)[1](1.0)[0].tolist() == (6 * X**2).tolist()


@pytest.mark.parametrize("operator", [ad.jacfwd, ad.jacrev])
def test_jacobians_in_the_form_of_jax(operator):
    def f(x, w):
        return np.outer(x, w)

    for argnums in (0, 1):
        expected = ad.jacobian(f, X, X[:2], argnums=argnums)
        np.testing.assert_array_equal(operator(f, argnums)(X, X[:2]), expected)
    found, extra = operator(lambda x: (x**2, 1), has_aux=True)(X)
    assert extra == 1 and np.array_equal(found, np.diag(2 * X))
    with pytest.raises(ad.ArgumentError, match="the point comes second"):
        operator(f, X)


@pytest.mark.parametrize("name", HINTS)
def test_names_of_other_libraries_have_a_hint(name):
    assert not hasattr(ad, name) and name not in ad.__all__
    with pytest.raises(AttributeError, match="hint: ") as caught:
        getattr(ad, name)
    assert caught.value.name == name


def test_names_in_hints_exist():
    words = " ".join(HINTS.values()).replace("(", " ").replace(",", " ").split()
    for word in {word for word in words if word.startswith("ad.")}:
        value = ad
        for part in word.rstrip(";:.").split(".")[1:]:
            value = getattr(value, part)


def test_a_name_that_nobody_knows():
    with pytest.raises(AttributeError, match="^module 'adjoint' has no attribute 'nonsense'$"):
        ad.nonsense


def test_a_pullback_can_be_printed_everywhere(monkeypatch):
    _, back = ad.pullback(loss, X)
    generic = ad.pullback(lambda x: print(end="") or x * x, 2.0)[1]
    assert repr(back) == "∂(loss)" and repr(generic) == "∂(<lambda>)"
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="ascii"))
    print(back, generic)
    assert pullback_text(loss) == "pullback(loss)"


def test_the_pullback_of_a_rule_shows_what_it_holds():
    def times(x, y):
        return x * y

    @ad.rrule.register(times)
    def _(x, y):
        def times_back(z_bar):
            return None, z_bar * y, z_bar * x

        return x * y, times_back

    z, back = ad.rrule(times, 2.0, 3.0)
    assert z == 6.0 and back(1.0) == (None, 3.0, 2.0)
    assert repr(back) == "times_back(x=2.0, y=3.0)"
    assert (back.x, back.y) == (2.0, 3.0) and {"x", "y"} <= {*dir(back)}
    with pytest.raises(AttributeError, match="has captured no 'z'"):
        back.z
    assert repr(ad.rrule(np.linalg.inv, np.eye(2))[1]) == (
        "inv_back(a=array of shape (2, 2), float64, y=array of shape (2, 2), float64)"
    )
    assert repr(ad.rrule(np.sin, 0.0)[1]).startswith("sin_back(")
    assert repr(ad.rrule(np.multiply, X, 2.0)[1]).startswith("multiply_back(")
