"""What is given to the public functions: results, cotangents, arguments, argnums."""

from collections import namedtuple

import numpy as np
import pytest

import adjoint as ad
from adjoint.errors import ArgumentError, CotangentError, NotScalarError
from tests.errors.places import raised

Pair = namedtuple("Pair", "a b")
OPERATORS = [ad.gradient, ad.withgradient, lambda f, *xs: ad.grad(f)(*xs)]
OPERATORS += [lambda f, *xs: ad.value_and_grad(f)(*xs)]


# ---- a gradient needs one real number ------------------------------------------------------------


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize(
    "result, said",
    [
        (lambda x: np.array([x, x]), "shape (2,)"),
        (lambda x: np.array([x]), "shape (1,)"),
        (lambda x: [x], "list"),
        (lambda x: (x, x), "tuple"),
        (lambda x: {"a": x}, "dict"),
        (lambda x: Pair(x, x), "Pair"),
        (lambda x: None, "NoneType"),
        (lambda x: "text", "str"),
        (lambda x: x * 1j, "complex"),
        (lambda x: np.array(x * 1j), "complex"),
    ],
)
def test_gradient_of_what_is_no_real_number(operator, result, said):
    def loss(x):
        return result(x)

    error = raised(NotScalarError, operator, loss, 2.0)
    assert isinstance(error, TypeError)
    assert "'loss'" in str(error) and said in str(error)
    assert "pullback" in error.hint


def test_the_hint_for_arrays_names_jacobian_and_pullback():
    error = raised(NotScalarError, ad.gradient, lambda x: x * 2, np.ones(3))
    assert "jacobian" in str(error) and "pullback" in str(error)


@pytest.mark.parametrize("one", [np.sum, np.mean, lambda x: np.array(x[0]), lambda x: x[0]])
def test_arrays_without_dimensions_are_numbers(one):
    assert ad.gradient(lambda x: one(x), np.ones(3))[0].shape == (3,)


# ---- cotangents given to back --------------------------------------------------------------------


@pytest.mark.parametrize(
    "f, x, bad",
    [
        (lambda x: x * 2, np.ones(3), np.ones(2)),
        (lambda x: x * 2, np.ones(3), np.ones((3, 1))),
        (lambda x: x * 2, np.ones(3), np.ones((1, 3))),
        (lambda x: x * 2, np.ones(3), 1.0),
        (lambda x: x * 2, np.ones((2, 3)), np.ones((3, 2))),
        (lambda x: x * 2, 3.0, np.ones(1)),
        (lambda x: x * 2, 3.0, [1.0]),
        (lambda x: x * 2, 3.0, (1.0,)),
        (lambda x: x * 2, 3.0, {"a": 1.0}),
        (lambda x: x * 2, 3.0, "one"),
        (lambda x: x * 2, 3.0, object()),
        (lambda x: x * 2, np.ones(2), np.array(["a", "b"])),
        (lambda x: x * 2, np.ones(2), np.array([1.0, None], dtype=object)),
        (lambda x: [x, x], 3.0, [1.0]),
        (lambda x: [x, x], 3.0, [1.0, 1.0, 1.0]),
        (lambda x: [x, x], 3.0, 1.0),
        (lambda x: [x, x], 3.0, {"a": 1.0}),
        (lambda x: [x, x], 3.0, [1.0, np.ones(2)]),
        (lambda x: [x, [x]], 3.0, [1.0, 1.0]),
        (lambda x: (x, x * np.ones(2)), 3.0, (1.0, np.ones(3))),
        (lambda x: (x, x), 3.0, (1.0,)),
        (lambda x: Pair(x, x), 3.0, (1.0, 1.0, 1.0)),
        (lambda x: {"a": x}, 3.0, {"b": 1.0}),
        (lambda x: {"a": x}, 3.0, {"a": 1.0, "b": 1.0}),
        (lambda x: {"a": x}, 3.0, [1.0]),
        (lambda x: {"a": x}, 3.0, 1.0),
        (lambda x: None, 3.0, 1.0),
        (lambda x: "text", 3.0, 1.0),
    ],
)
def test_cotangents_that_do_not_fit_the_result(f, x, bad):
    _, back = ad.pullback(f, x)
    error = raised(CotangentError, back, bad)
    assert isinstance(error, ValueError)
    assert "cotangent" in str(error)


def test_both_shapes_are_said():
    _, back = ad.pullback(lambda x: x * 2, np.ones((2, 3)))
    message = str(raised(CotangentError, back, np.ones((3, 2))))
    assert "(2, 3)" in message and "(3, 2)" in message and "hint: " in message


def test_a_refused_cotangent_leaves_the_pullback_usable():
    _, back = ad.pullback(lambda x: [x * 2, x], 3.0)
    for bad in ([1.0], [1.0, np.ones(2)], "no"):
        raised(CotangentError, back, bad)
        assert back([1.0, 1.0]) == (None, 3.0)


# ---- arguments that cannot be differentiated -----------------------------------------------------


def test_arrays_with_named_fields():
    x = np.zeros(2, [("mass", float)])
    error = raised(ArgumentError, ad.gradient, lambda x: x["mass"].sum(), x)
    assert "mass" in str(error) and "argument 0" in str(error) and "floats" in error.hint
    error = raised(ArgumentError, ad.pullback, lambda y, x: y, 1.0, x)
    assert "argument 1" in str(error)


def test_arrays_of_objects():
    x = np.array([2.0, np.array([1.0, 3.0]), "text"], dtype=object)
    (bar,) = ad.gradient(lambda x: x[0] * (x[1] ** 2).sum(), x)
    assert bar.dtype == object and bar.shape == (3,) and bar[0] == 10.0 and bar[2] is None
    assert bar[1].tolist() == [4.0, 12.0]
    for wrong in (np.ones(2), [1.0, None, None], 1.0):
        error = raised(ArgumentError, ad.pushforward, lambda x: x[0] * 2, (x,), (wrong,))
        assert "array of objects" in str(error) and error.hint
    _, back = ad.pullback(lambda x: x[:2] * 2.0, x)
    for wrong in (np.ones(3), [1.0, 1.0], 1.0):
        assert "array of objects" in str(raised(CotangentError, back, wrong))


def test_an_array_of_objects_among_the_keyword_arguments_is_a_constant():
    x = np.array([1.0, 2.0], dtype=object)
    assert ad.gradient(lambda y, x: y * x[1], 3.0, x=x) == (2.0,)


@pytest.mark.parametrize(
    "nothing",
    ["text", b"bytes", None, ..., len, int, "a".join, np, {"a"}, range(3), np.array(["a", "b"])],
    ids=lambda nothing: type(nothing).__name__,
)
def test_values_without_derivative_give_none(nothing):
    assert ad.gradient(lambda x, other: 2 * x, 3.0, nothing) == (2.0, None)
    assert ad.gradient(lambda other, x: (other, 2 * x)[1], nothing, 3.0) == (None, 2.0)


def test_strings_and_numbers_together():
    def f(kind, x):
        return x * x if kind == "square" else x

    assert ad.gradient(f, "square", 3.0) == (None, 6.0)
    assert ad.gradient(lambda d: d["x"] * len(d["name"]), {"x": 2.0, "name": "abc"}) == (
        {"x": 3.0, "name": None},
    )


# ---- argnums -------------------------------------------------------------------------------------


@pytest.mark.parametrize("argnums", [2, -3, (0, 2), 1.0, "0", (0, None)])
@pytest.mark.parametrize("operator", [ad.grad, ad.value_and_grad])
def test_argnums_out_of_range(operator, argnums):
    seen = []

    def f(x, y):
        seen.append(1)
        return x * y

    error = raised(ArgumentError, operator(f, argnums), 2.0, 3.0)
    assert isinstance(error, TypeError)
    assert "argnums" in str(error) and "2 positional" in str(error)
    assert "keyword" in error.hint
    assert not seen, "refused before anything runs"


def test_argnums_do_not_count_keyword_arguments():
    raised(ArgumentError, ad.grad(lambda x, y: x * y, 1), 2.0, y=3.0)


# ---- signatures ----------------------------------------------------------------------------------


def two(x, y, *, scale=1.0):
    return x * y * scale


def only_positional(x, /):
    return x


def needs_keyword(x, *, must):
    return x * must


class Model:
    def __init__(self, w):
        self.w = w

    def __call__(self, x):
        return self.w * x

    def method(self, x):
        return self.w * x


@pytest.mark.parametrize("f", [two, lambda x: x, Model(2.0).method, Model])
def test_a_call_without_a_point_says_what_to_write(f):
    with pytest.raises(ad.ArgumentError, match="gradient takes the point, too"):
        ad.gradient(f)


@pytest.mark.parametrize(
    "f, args, kwargs",
    [
        (two, (1.0,), {}),
        (two, (1.0, 2.0, 3.0), {}),
        (two, (1.0, 2.0), {"wrong": 1.0}),
        (two, (1.0, 2.0), {"y": 1.0}),
        (only_positional, (), {"x": 1.0}),
        (needs_keyword, (1.0,), {}),
        (needs_keyword, (1.0, 2.0), {}),
        (Model(2.0), (1.0, 2.0), {}),
    ],
)
def test_arguments_that_do_not_fit_give_pythons_message(f, args, kwargs):
    expected = raised(TypeError, f, *args, **kwargs)
    for operator in (ad.pullback, ad.gradient, ad.withgradient):
        error = raised(TypeError, operator, f, *args, **kwargs)
        assert type(error) is TypeError and str(error) == str(expected)


def test_arguments_of_inner_calls_give_pythons_message():
    def f(x):
        return two(x)

    expected = raised(TypeError, f, 1.0)
    error = raised(TypeError, ad.gradient, f, 1.0)
    assert type(error) is TypeError and str(error) == str(expected)


def test_not_even_a_function():
    with pytest.raises(TypeError):
        ad.pullback()
