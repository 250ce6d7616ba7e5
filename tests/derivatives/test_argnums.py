"""`argnums` by position, name and path, and `has_aux`, of `grad` and `value_and_grad`."""

import numpy as np
import pytest

import adjoint as ad
from adjoint.errors import ArgumentError, NotScalarError

X = np.array([1.0, 2.0])


class Layer:
    def __init__(self):
        self.w, self.rest = np.array([3.0, 4.0]), [1.0, {"k": 2.0}]


def f(x, layer, scale=1.0, *, shift=0.0):
    return np.sum(layer.w * x) * scale * layer.rest[1]["k"] + shift**2


ARGNUMS = {
    "position": (0, lambda: 2.0 * Layer().w),
    "negative": (-2, lambda: 2.0 * Layer().w),
    "name": ("x", lambda: 2.0 * Layer().w),
    "keyword": ("scale", lambda: 22.0),
    "keyword_only": ("shift", lambda: 6.0),
    "field": ([1, "w"], lambda: 2.0 * X),
    "deep": (["layer", "rest", 1, "k"], lambda: 11.0),
    "no_path": (["layer", "rest", 0], lambda: 0.0),
    "whole": (["x"], lambda: 2.0 * Layer().w),
}


@pytest.mark.parametrize("name", ARGNUMS)
def test_one(name):
    argnums, expected = ARGNUMS[name]
    found = ad.grad(f, argnums)(X, Layer(), scale=1.0, shift=3.0)
    np.testing.assert_allclose(found, expected())
    value, found = ad.value_and_grad(f, argnums)(X, Layer(), scale=1.0, shift=3.0)
    np.testing.assert_allclose(found, expected())
    assert value == f(X, Layer(), 1.0, shift=3.0)

    def nested(c):
        return np.sum(ad.grad(f, argnums)(X, Layer(), scale=1.0, shift=3.0) * c)

    assert ad.gradient(nested, 1.0)[0] == pytest.approx(np.sum(expected()))
    assert ad.derivative(nested)(1.0) == pytest.approx(np.sum(expected()))


def test_tuples():
    shift, x, k = ad.grad(f, ("shift", 0, [1, "rest", 1, "k"]))(X, Layer(), shift=3.0)
    assert shift == 6.0 and k == 11.0 and x.tolist() == [6.0, 8.0]
    (only,) = ad.grad(f, ("x",))(X, Layer())
    assert only.tolist() == [6.0, 8.0]
    assert ad.grad(f, None)(X, Layer())[0].tolist() == [6.0, 8.0]
    both = ad.grad(lambda **named: named["a"] * named["b"], ("b", "a"))(a=2.0, b=3.0)
    assert both == (2.0, 3.0)


def test_keyword_arguments_depend_on_the_outside():
    def outer(c):
        return ad.grad(lambda x, *, k: x * k**2, "k")(2.0, k=c * 3.0)

    assert ad.gradient(outer, 1.0) == (12.0,)
    assert ad.derivative(outer)(1.0) == 12.0


def test_has_aux():
    def g(x, y):
        return x * y, {"x": x, "text": "kept"}

    assert ad.grad(g, has_aux=True)(2.0, 3.0) == (3.0, {"x": 2.0, "text": "kept"})
    (value, aux), found = ad.value_and_grad(g, (0, "y"), has_aux=True)(2.0, 3.0)
    assert value == 6.0 and aux["text"] == "kept" and found == (3.0, 2.0)

    def of_aux(x):
        slope, aux = ad.grad(lambda y: (y**2 * x, y * x), has_aux=True)(3.0)
        return slope * aux

    assert ad.gradient(of_aux, 2.0)[0] == pytest.approx(72.0)
    assert ad.derivative(of_aux)(2.0) == pytest.approx(72.0)
    with pytest.raises(ArgumentError, match="returned a float; with has_aux it returns a pair"):
        ad.grad(lambda x: x, has_aux=True)(1.0)
    with pytest.raises(NotScalarError, match="array of shape"):
        ad.grad(lambda x: (x, 1), has_aux=True)(X)


def test_what_is_not_there():
    for argnums in ("z", [1, "v"], [1, "rest", 5], ["layer", "rest", "k"], [], ([],), 2.0, True):
        with pytest.raises(ArgumentError, match="argnums is"):
            ad.grad(f, argnums)(X, Layer())


def test_callables_of_all_kinds():
    class Scaled:
        def __init__(self):
            self.k = 2.0

        def __call__(self, x, y):
            return self.k * x * y

        def method(self, x, y):
            return x + self.k * y

    assert ad.grad(Scaled(), "y")(3.0, 4.0) == 6.0
    assert ad.grad(Scaled().method, "y")(3.0, 4.0) == 2.0
    assert ad.grad(np.hypot, 1)(3.0, 4.0) == pytest.approx(0.8)


class Holder:
    def __init__(self):
        self.a, self.b = 2.0, 3.0


def longer(xs):
    xs.append(xs[0] * 2.0)
    return xs[-1] * xs[1]


def shorter(xs):
    xs.pop()
    return xs[0] ** 2


def exchanged(xs):
    xs[:] = [xs[1], xs[0] ** 2, 5.0]
    return xs[1]


def inside(xs):
    xs[0].append(3.0)
    xs.append([3.0])
    return xs[0][0] ** 2


def more_keys(d):
    d["q"] = 3.0
    return d["a"] ** 2


def fewer_keys(d):
    del d["b"]
    return d["a"] ** 2


def more_fields(holder):
    holder.c = holder.a * 2.0
    return holder.c


def fewer_fields(holder):
    del holder.b
    return holder.a**2


CHANGED = {
    longer: (lambda: [1.0, 2.0], [4.0, 2.0]),
    shorter: (lambda: [1.0, 2.0], [2.0, 0.0]),
    exchanged: (lambda: [1.0, 2.0], [2.0, 0.0]),
    inside: (lambda: [[1.0, 2.0]], [[2.0, 0.0]]),
    more_keys: (lambda: {"a": 1.0, "b": 2.0}, {"a": 2.0, "b": 0.0}),
    fewer_keys: (lambda: {"a": 1.0, "b": 2.0}, {"a": 2.0, "b": 0.0}),
    more_fields: (Holder, {"a": 2.0, "b": 0.0}),
    fewer_fields: (Holder, {"a": 4.0, "b": 0.0}),
}


@pytest.mark.parametrize("tier", ["fast", "generic"])
@pytest.mark.parametrize("f", CHANGED, ids=lambda f: f.__name__)
def test_arguments_that_the_function_changes(f, tier):
    """The gradient has the structure that they came with, and they are as the function leaves
    them."""
    make, expected = CHANGED[f]
    plain = make()
    y = f(plain)
    for argnums, kwargs in (0, {}), ([0], {}), (f.__code__.co_varnames[0], {}):
        given = make()
        value, found = ad.value_and_grad(f, argnums, tier=tier)(given, **kwargs)
        assert value == y
        assert (dict(found) if type(given) is Holder else found) == expected
        same = (vars(given), vars(plain)) if type(given) is Holder else (given, plain)
        assert same[0] == same[1]
    value, found = ad.grad(lambda x: (f(x), 1), has_aux=True, tier=tier)(make())
    assert (dict(value) if type(plain) is Holder else value) == expected
    of_zero = ad.hvp(f, make(), None)
    assert _shape(of_zero) == _shape(expected)


def _shape(x):
    if isinstance(x, list):
        return [_shape(part) for part in x]
    return {key: _shape(part) for key, part in dict(x).items()} if not np.isscalar(x) else 0
