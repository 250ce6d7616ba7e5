"""Arrays of objects at the border to the user, beside lists, and where they are refused.

What plain functions do with them is in `tests/corpus/object_arrays.py`.
"""

import numpy as np
import pytest

import adjoint as ad
from adjoint.errors import AdjointError, MutationError, NoDerivativeError
from adjoint.testing import check_gradient
from tests.structures import difference

X = np.array([0.7, 1.3, 0.4])


def held():
    return np.array([[2.0, np.array([1.0, 3.0])], [[0.5, 4], "text"]], dtype=object)


def of_held(h):
    h[0, 0] = h[0, 0] * h[1, 0][0]
    return h[0, 0] ** 2 * (h[0, 1] ** 2).sum() * h[1, 0][1]


def as_lists(h):
    return [[*row] for row in h]


def of_lists(h):
    h[0][0] = h[0][0] * h[1][0][0]
    return h[0][0] ** 2 * (h[0][1] ** 2).sum() * h[1][0][1]


# ---- as arguments and results --------------------------------------------------------------------


@pytest.mark.parametrize(
    "operator", [ad.gradient, ad.jacobian, ad.jacobian_forward, ad.jacobian_reverse]
)
def test_arguments_have_cotangents_like_lists(operator):
    found, expected = operator(of_held, held()), operator(of_lists, as_lists(held()))
    if operator is ad.gradient:
        (found,), (expected,) = found, expected
    assert found.dtype == object and found.shape == (2, 2)
    assert difference(as_lists(found), expected, rtol=1e-12) is None


def test_second_derivatives_in_arguments():
    def of_pair(h):
        return h[0] ** 2 * (h[1] ** 3).sum()

    pair = np.array([2.0, np.array([1.0, 3.0])], dtype=object)
    found, expected = ad.hessian(of_pair, pair), ad.hessian(of_pair, [*pair])
    for row, like in zip(found, expected, strict=True):
        assert row.dtype == object
        assert difference([*row], like, rtol=1e-12) is None
    dot = np.array([1.0, np.array([0.5, -1.0])], dtype=object)
    found, expected = ad.hvp(of_pair, pair, dot), ad.hvp(of_pair, [*pair], [*dot])
    assert difference([*found], expected, rtol=1e-12) is None
    check_gradient(of_pair, pair)


def test_what_has_no_path_is_none_or_zero():
    pair = np.array([2.0, np.ones(2)], dtype=object)
    assert ad.gradient(lambda h: 3.0, pair) == (None,)
    zeros = ad.grad(lambda h: 3.0)(pair)
    assert zeros[0] == 0.0 and zeros[1].tolist() == [0.0, 0.0]


def test_results_have_cotangents_by_element():
    def f(v):
        made = v.astype(object)
        made[0] = v * 2.0
        return made

    y, back = ad.pullback(f, X)
    y_bar = np.empty(3, object)
    y_bar[0], y_bar[2] = np.ones(3), 1.0
    assert y.dtype == object
    for _ in range(2):
        assert back(y_bar)[1].tolist() == [2.0, 2.0, 3.0]
    y, y_dot = ad.pushforward(f, (X,), (X,))
    assert y_dot[0].tolist() == (2 * X).tolist() and y_dot[1:].tolist() == X[1:].tolist()


def test_views_of_one_array_share_their_cotangent():
    h = np.array([1.0, 2.0], dtype=object)
    first, second = ad.gradient(lambda a, b: (a * b).sum(), h, h[::-1])
    assert first.tolist() == [4.0, 2.0] and second.tolist() == [2.0, 4.0]


def test_flattened():
    vector, back = ad.flatten(held())
    assert vector.tolist() == [2.0, 1.0, 3.0, 0.5]
    made = back(2 * vector)
    assert made[0, 0] == 4.0 and made[0, 1].tolist() == [2.0, 6.0] and made[1, 1] == "text"

    def f(v):
        return of_held(back(v))

    check_gradient(f, vector)


def test_a_rule_of_the_users_is_given_them():
    def scaled(h, v):
        return h[0] * v

    @ad.rrule.register(scaled)
    def _(h, v):
        return h[0] * v, lambda y_bar: (None, np.array([7.0, None], dtype=object), y_bar * h[0])

    def f(v):
        return scaled(np.array([v, "text"], dtype=object), v)

    assert ad.gradient(f, 3.0) == (10.0,)
    assert ad.pushforward(f, (3.0,), (1.0,)) == (9.0, 10.0)
    assert ad.gradient(lambda v: ad.gradient(f, v)[0] * v, 3.0) == (13.0,)


# ---- beside what else there is -------------------------------------------------------------------


def test_derivatives_inside():
    def slope_of_held(v):
        h = np.array([v[0], v], dtype=object)
        slope = ad.gradient(lambda t: t * t * h[0] * h[1][2], v[1])[0]
        h[0] = v[2]
        return slope * h[0]

    check_gradient(slope_of_held, X)


def test_computed_anew():
    def part(v):
        return np.array([v[0] * v[1], v, v[1] ** 2], dtype=object)

    def f(v):
        h = ad.checkpoint(part)(v)
        h[2] = h[0] * 2.0
        return h[0] * h[1].sum() * h[2]

    check_gradient(f, X)


def test_held_constant():
    def f(v):
        return (ad.stop_gradient(v.astype(object)) * v).sum()

    assert ad.gradient(f, X)[0].tolist() == X.tolist()
    assert ad.pushforward(f, (X,), (np.ones(3),))[1] == pytest.approx(X.sum())


KEPT = np.empty(2, dtype=object)


def test_what_was_written_has_to_be_as_it_was_left():
    def f(v):
        KEPT[0] = v
        return (KEPT[0] ** 2).sum()

    _, first = ad.pullback(f, X)
    _, second = ad.pullback(f, 2.0 * X)
    with pytest.raises(MutationError, match="changed before 'back' was called"):
        first(1.0)
    assert second(1.0)[1].tolist() == (4 * X).tolist()


@pytest.mark.parametrize("make", [lambda: [None, None], lambda: np.empty(2, object)])
def test_objects_that_go(make):
    class Noting:
        def __init__(self, log):
            self.log = log

        def __del__(self):
            self.log.append(1)

    def f(v):
        log, kept = [], make()
        kept[0] = Noting(log)
        kept[0] = v
        return v * (1 + len(log))

    with pytest.raises(MutationError, match="__del__"):
        ad.gradient(f, 3.0)


# ---- refused -------------------------------------------------------------------------------------


def in_records(v):
    rows = np.zeros(2, [("held", object)])
    rows["held"][0] = v[0]
    return rows["held"][0] * v[1]


def a_function_in_the_order_of_memory(v):
    seen = []
    turned = v.astype(object).repeat(2).reshape(3, 2).T
    f = np.frompyfunc(lambda a: (seen.append(a), a * len(seen))[1], 1, 1)
    return f(turned)[1, 0]


def sorted_where_it_stands(v):
    h = v.astype(object)
    h.sort()
    return h[0] * v[0]


def partitioned(v):
    return np.partition(v.astype(object), 1)[1]


@pytest.mark.parametrize(
    "f", [in_records, a_function_in_the_order_of_memory, sorted_where_it_stands, partitioned]
)
def test_refused(f):
    with pytest.raises(AdjointError) as info:
        ad.gradient(f, X)
    assert info.value.hint


def test_what_numpy_stores_otherwise():
    class Sequence:
        def __init__(self, v):
            self.v = v

        def __len__(self):
            return 3

        def __getitem__(self, i):
            return self.v[i]

    def f(v):
        row = np.empty(3, object)
        row[:] = Sequence(v)
        return row.sum()

    with pytest.raises(MutationError, match="stores something else"):
        ad.gradient(f, X)


def test_results_of_numbers_that_are_objects():
    """NumPy makes Python's own number of the sum, which no rule is written for."""

    def f(v):
        return np.add.reduce(v, dtype=object) * v.sum(dtype=object)

    assert ad.pullback(f, X)[0] == f(X)
    with pytest.raises(NoDerivativeError):
        ad.gradient(f, X)
    check_gradient(lambda v: np.average(v.astype(object), weights=[1.0, 2.0, 3.0]) ** 2, X)


@pytest.mark.parametrize("name", ["vdot", "inner"])
def test_what_c_calculates_is_named(name):
    with pytest.raises(NoDerivativeError, match="array of objects") as info:
        ad.gradient(lambda v: getattr(np, name)(v.astype(object), v), X)
    assert "floats" in info.value.hint
