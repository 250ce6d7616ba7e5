"""`pullback`: the value, the pullback, and the cotangent of the function itself."""

import contextlib
import copy
import functools
import math
import operator
import pickle
from dataclasses import dataclass

import numpy as np
import pytest

import adjoint as ad
from tests.fast.agreeing import generic_tier


def square(x):
    return x * x


def test_value_and_pullback():
    y, back = ad.pullback(square, 3.0)
    assert y == 9.0
    assert back(1.0) == (None, 6.0)
    assert back(2.0) == (None, 12.0), "linear, and again and again"
    assert back(1.0) == (None, 6.0)
    assert back(0.0) == (None, 0.0)


def test_no_arguments():
    y, back = ad.pullback(lambda: 3.0)
    assert y == 3.0 and back(1.0) == (None,) and back(None) == (None,)


class Parts:
    def __init__(self, a, b):
        self.a, self.b = a, b


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "c16"])
@pytest.mark.parametrize(
    ("make", "of"),
    [
        (lambda a, b: (a, b), lambda a, b: (a, b)),
        (lambda a, b: [a, (b,)], lambda a, b: [a, [b]]),
        (lambda a, b: {"a": a, "b": [b]}, lambda a, b: {"a": a, "b": (b,)}),
        (Parts, lambda a, b: {"a": a, "b": b}),
    ],
    ids=["tuple", "list", "dict", "object"],
)
@pytest.mark.parametrize("f_tier", ["fast", "generic"])
def test_whole_numbers_in_the_cotangent_of_a_structure(make, of, dtype, f_tier):
    """They are numbers like others: nothing is cut off of what comes of them."""
    x = np.array([0.3, 0.7, 1.1], dtype)

    def f(x):
        written = x.copy()
        written[1:] = x[:-1] * 0.3
        return make(x * 0.3, written)

    with generic_tier() if f_tier == "generic" else contextlib.nullcontext():
        _, back = ad.pullback(f, x)
        whole, truths = np.array([2, 1, 3]), np.array([True, False, True])
        _, found = back(of(whole, [3, 1, 2]))
        _, expected = back(of(whole.astype(dtype), np.array([3, 1, 2], dtype)))
        np.testing.assert_array_equal(found, expected)
        _, found = back(of(None, truths))
        _, expected = back(of(None, truths.astype(dtype)))
    np.testing.assert_array_equal(found, expected)
    assert found.dtype == x.dtype and found[1]


def test_none_is_all_none():
    for f, args in [
        (square, (3.0,)),
        (lambda x, y: [x, y], (1.0, np.ones(2))),
        (lambda: 1.0, ()),
        (lambda x: None, (1.0,)),
    ]:
        _, back = ad.pullback(f, *args)
        assert back(None) == (None,) * (len(args) + 1)


def test_parts_of_none():
    _, back = ad.pullback(lambda x, y: (x * y, [x, {"a": y}]), 2.0, 3.0)
    zero = (None, 0.0)  # either is a zero
    assert all(bar in zero for bar in back((None, None)))
    assert back((1.0, None)) == (None, 3.0, 2.0)
    bars = back((None, [None, {"a": 1.0}]))
    assert bars[1] in zero and bars[2] == 1.0
    bars = back((None, [1.0, None]))
    assert bars[1] == 1.0 and bars[2] in zero
    assert back((1.0, [1.0, {"a": 1.0}])) == (None, 4.0, 3.0)


class Model:
    def __init__(self, w, b):
        self.w, self.b, self.name = w, b, "model"

    def __call__(self, x):
        return self.w * x + self.b

    def method(self, x):
        return self.w * x

    @classmethod
    def on_class(cls, x):
        return x * x

    @staticmethod
    def static(x):
        return x * x

    @property
    def size(self):
        return self.w * self.w


@pytest.mark.parametrize(
    "f, name",
    [
        (square, "square"),
        (math.sin, "sin"),
        (np.tanh, "tanh"),
        (lambda x: x, "<lambda>"),
        (Model(1.0, 2.0), "Model"),
        (Model(1.0, 2.0).method, "method"),
        (functools.partial(square), "partial"),
        (operator.neg, "neg"),
        (abs, "abs"),
        (float, "float"),
    ],
)
def test_repr(f, name):
    assert repr(ad.pullback(f, 1.0)[1]) == f"∂({name})"


# ---- the value -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "f",
    [
        lambda x: None,
        lambda x: "text",
        lambda x: [x, "a", None, (1, {"b": x})],
        lambda x: True,
        lambda x: 3,
        lambda x: np.array([x, x]),
        lambda x: np.float32(x),
        lambda x: {1, 2},
        lambda x: range(3),
    ],
)
def test_the_value_is_that_of_the_function(f):
    y, _ = ad.pullback(f, 1.5)
    expected = f(1.5)
    assert type(y) is type(expected)
    np.testing.assert_equal(y, expected)


def test_the_value_may_be_an_argument():
    x = np.ones(3)
    y, back = ad.pullback(lambda x: x, x)
    assert y is x
    bar = back(np.arange(3.0))[1]
    np.testing.assert_array_equal(bar, np.arange(3.0))


def test_the_value_may_be_the_users_object():
    y, back = ad.pullback(lambda m: m, Model(2.0, 3.0))
    assert isinstance(y, Model)
    _, bar = back(ad.Tangent(Model, {"w": 1.5, "b": None, "name": None}))
    assert bar.w == 1.5 and bar.b is None


def test_an_object_made_inside():
    _, back = ad.pullback(lambda x: Model(x, x * x), 3.0)
    assert back(ad.Tangent(Model, {"w": 1.0, "b": 1.0, "name": None}))[1] == 7.0
    assert back({"w": 1.0})[1] == 1.0, "a mapping of fields does"


# ---- keywords ------------------------------------------------------------------------------------


def test_keyword_arguments_are_constant():
    def f(x, y, *, scale=1.0, shift):
        return x * y * scale + shift

    y, back = ad.pullback(f, 2.0, y=3.0, scale=5.0, shift=1.0)
    assert y == 31.0 and back(1.0) == (None, 15.0)
    assert ad.gradient(f, 2.0, 3.0, shift=1.0) == (3.0, 2.0)


def test_keyword_arguments_may_be_anything():
    def f(x, *, model, data, names, **others):
        return model(x) * data.sum() * len(names) + others["more"]["a"]

    more = {"more": {"a": 1.0}}
    result = ad.gradient(f, 2.0, model=Model(3.0, 4.0), data=np.ones(2), names=["a"], **more)
    assert result == (6.0,)


def test_a_keyword_that_is_also_an_argument():
    x = np.ones(2)
    (bar,) = ad.gradient(lambda x, y: (x * y).sum(), x, y=x)
    np.testing.assert_array_equal(bar, [1.0, 1.0])


# ---- the cotangent of the function itself --------------------------------------------------------


def adder(a, b=None):
    def inner(x):
        return a * x if b is None else a * x + b

    return inner


def test_plain_functions_have_none():
    for f in (square, math.sin, np.tanh, lambda x: 2 * x, Model.static, Model.on_class):
        assert ad.pullback(f, 1.0)[1](1.0)[0] is None


def test_closures():
    f_bar, x_bar = ad.pullback(adder(2.0), 3.0)[1](1.0)
    assert f_bar.a == 3.0 and f_bar.b is None and x_bar == 2.0
    assert dict(f_bar) == {"a": 3.0, "b": None}
    f_bar, _ = ad.pullback(adder(2.0, 5.0), 3.0)[1](1.0)
    assert dict(f_bar) == {"a": 3.0, "b": 1.0}


def test_closures_that_capture_nothing_active():
    def f(n, name):
        def inner(x):
            return x * x if name else n

        return inner

    assert ad.pullback(f(3, "name"), 2.0)[1](1.0) == (None, 4.0)
    c = 5.0
    assert ad.pullback(lambda x: x * x if c else x, 2.0)[1](1.0) == (None, 4.0)


def test_closures_over_structures():
    weights = {"w": np.array([1.0, 2.0]), "b": [3.0, "name"]}

    def f(x):
        return (weights["w"] * x).sum() + weights["b"][0] * x

    f_bar, x_bar = ad.pullback(f, 2.0)[1](1.0)
    assert x_bar == 6.0
    np.testing.assert_array_equal(f_bar.weights["w"], [2.0, 2.0])
    assert f_bar.weights["b"] == [2.0, None]


def test_nested_closures():
    def outer(a):
        def middle(b):
            def inner(x):
                return a * b * x

            return inner

        return middle

    f_bar, x_bar = ad.pullback(outer(2.0)(3.0), 5.0)[1](1.0)
    assert dict(f_bar) == {"a": 15.0, "b": 10.0} and x_bar == 6.0


def test_closures_that_call_closures():
    a = 2.0
    inner = lambda x: a * x
    outer = lambda x: inner(x) * inner(x)
    f_bar, x_bar = ad.pullback(outer, 3.0)[1](1.0)
    assert x_bar == 24.0
    assert f_bar.inner.a == 2 * 2.0 * 9.0


def test_recursive_closures():
    def make(a):
        def f(x, n):
            return x if n == 0 else a * f(x, n - 1)

        return f

    f_bar, x_bar, n_bar = ad.pullback(make(2.0), 3.0, 3)[1](1.0)
    assert x_bar == 8.0 and f_bar.a == 3 * 4.0 * 3.0


def test_closures_that_change_what_they_captured():
    total = 1.0

    def f(x):
        nonlocal total
        total = total * x
        return total

    y, back = ad.pullback(f, 3.0)
    assert y == 3.0 and total == 3.0
    f_bar, x_bar = back(1.0)
    assert f_bar.total == 3.0 and x_bar == 1.0
    assert total == 3.0


def test_callable_objects():
    model = Model(2.0, 3.0)
    f_bar, x_bar = ad.pullback(model, 5.0)[1](1.0)
    assert dict(f_bar) == {"w": 5.0, "b": 1.0, "name": None} and x_bar == 2.0
    assert isinstance(f_bar, ad.Tangent)


def test_bound_methods_have_the_cotangent_of_self():
    f_bar, x_bar = ad.pullback(Model(2.0, 3.0).method, 5.0)[1](1.0)
    assert dict(f_bar) == {"w": 5.0, "b": None, "name": None} and x_bar == 2.0


def test_bound_methods_of_arrays_lists_and_dicts():
    x = np.array([1.0, 2.0, 3.0])
    f_bar, *rest = ad.pullback(x.sum)[1](1.0)
    np.testing.assert_array_equal(f_bar, [1.0, 1.0, 1.0])
    f_bar, other_bar = ad.pullback(x.dot, np.array([1.0, 0.0, 2.0]))[1](1.0)
    np.testing.assert_array_equal(f_bar, [1.0, 0.0, 2.0])
    np.testing.assert_array_equal(other_bar, x)
    assert ad.pullback({"a": 2.0, "b": 1.0}.get, "a")[1](1.0)[0] == {"a": 1.0, "b": None}
    assert ad.pullback([2.0, 3.0].__getitem__, 1)[1](1.0)[0] == [None, 1.0]


def test_bound_operators_of_numbers():
    assert ad.pullback((2.0).__add__, 3.0)[1](1.0) == (1.0, 1.0)


def test_partials():
    def f(a, x, *, b):
        return a * x * b

    f_bar, x_bar = ad.pullback(functools.partial(f, 2.0, b=3.0), 5.0)[1](1.0)
    assert x_bar == 6.0
    assert f_bar.args == (15.0,) and f_bar.keywords == {"b": 10.0}
    assert dict(f_bar) == {"func": None, "args": (15.0,), "keywords": {"b": 10.0}}
    f_bar, x_bar = ad.pullback(functools.partial(square), 5.0)[1](1.0)
    assert f_bar is None and x_bar == 10.0


def test_partial_of_a_closure():
    f_bar, *_ = ad.pullback(functools.partial(adder(2.0)), 5.0)[1](1.0)
    assert f_bar.func.a == 5.0


def test_classes():
    f_bar, w_bar, b_bar = ad.pullback(Model, 2.0, 3.0)[1]({"w": 1.0, "b": 2.0})
    assert f_bar is None and w_bar == 1.0 and b_bar == 2.0


@dataclass
class Point:
    x: float
    y: float

    def norm(self):
        return math.hypot(self.x, self.y)


def test_dataclasses():
    f_bar, *_ = ad.pullback(Point(3.0, 4.0).norm)[1](1.0)
    assert f_bar.x == pytest.approx(0.6) and f_bar.y == pytest.approx(0.8)
    (bar,) = ad.gradient(Point.norm, Point(3.0, 4.0))
    assert bar.x == pytest.approx(0.6)


def test_gradient_does_not_ask_for_it():
    """What was captured may lack a derivative, if nobody asks for that derivative."""
    import ctypes

    hundred = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(lambda x: 100 * x)
    a = 2.0

    def f(x):
        return x * x + hundred(a)

    assert ad.gradient(f, 3.0) == (6.0,)
    _, back = ad.pullback(f, 3.0)
    with pytest.raises(ad.errors.NoDerivativeError):
        back(1.0)


def test_lambdas_and_copies():
    model = copy.deepcopy(Model(2.0, 3.0))
    assert ad.pullback(lambda m, x: m(x), model, 5.0)[1](1.0)[1].w == 5.0
    restored = pickle.loads(pickle.dumps(Model(2.0, 3.0)))
    assert ad.pullback(lambda m, x: m(x), restored, 5.0)[1](1.0)[1].w == 5.0


# ---- the caller's data ---------------------------------------------------------------------------


def test_the_call_leaves_what_the_function_leaves():
    def f(x, log):
        x[0] = x[1] * 2
        log.append(x[0])
        return x.sum() * log[-1]

    x, log, plain, plain_log = np.array([1.0, 3.0]), [0.0], np.array([1.0, 3.0]), [0.0]
    expected = f(plain, plain_log)
    y, back = ad.pullback(f, x, log)
    assert y == expected
    for _ in range(2):
        assert x.tolist() == plain.tolist() and log == plain_log
        _, x_bar, log_bar = back(1.0)
        np.testing.assert_allclose(x_bar, [0.0, 6 * 3 * 2.0])
        assert log_bar is None, "nothing that it held reaches the result"


def test_the_gradient_of_what_is_overwritten_is_that_of_its_first_contents():
    def f(x):
        y = x * x
        x[:] = 0.0
        return y.sum() + x.sum()

    x = np.array([1.0, 2.0])
    (bar,) = ad.gradient(f, x)
    np.testing.assert_array_equal(bar, [2.0, 4.0])
    assert x.tolist() == [0.0, 0.0]


def test_function_that_is_a_derivative():
    """The cotangent of ``grad(f)`` is that of what `f` has captured."""

    class Weighted:
        def __init__(self):
            self.w = np.ones(2)

        def loss(self, x):
            return np.sum(self.w * x * x)

        __call__ = loss

    def power(c):
        return lambda x: np.sum(x * x) * c

    x, x_bar = np.array([1.0, 2.0]), np.array([1.0, 0.5])
    f_bar, bar = ad.pullback(ad.grad(power(3.0)), x)[1](x_bar)
    assert dict(f_bar) == {"c": 4.0}
    np.testing.assert_array_equal(bar, 6.0 * x_bar)
    f_bar, _ = ad.pullback(ad.value_and_grad(power(3.0)), x)[1]((1.0, x_bar))
    assert dict(f_bar) == {"c": 9.0}
    f_bar, _ = ad.pullback(ad.derivative(lambda t: power(3.0)(t) * x[0]), 2.0)[1](1.0)
    assert dict(f_bar)["x"].tolist() == [12.0, 0.0]
    for f in (Weighted(), Weighted().loss):
        f_bar, _ = ad.pullback(ad.grad(f), x)[1](x_bar)
        np.testing.assert_array_equal(f_bar.w, 2.0 * x * x_bar)
    assert ad.pullback(ad.grad(np.sum), x)[1](x_bar)[0] is None


def test_a_cotangent_that_the_function_has_written():
    """The sweep rewinds what was written: the cotangent is what it was when it was given."""
    a = np.array([1.0, 2.0])

    def f(p):
        y = p * 2.0 * a
        a[0] += 10.0
        return y, {"again": [y * p]}

    back = ad.pullback(f, np.ones(2))[1]
    for given in (a, a[::-1]):
        found = back((given, {"again": [given]}))[1]
        np.testing.assert_array_equal(found, back((given.copy(), {"again": [given.copy()]}))[1])
    np.testing.assert_array_equal(back((a, None))[1], [22.0, 8.0])
