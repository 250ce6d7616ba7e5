"""Arrays of objects at the border to the user, beside lists, and where they are refused.

What plain functions do with them is in `tests/corpus/object_arrays.py`.
"""

import copy
from fractions import Fraction

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


def test_what_has_no_path_is_zero():
    pair = np.array([2.0, np.ones(2)], dtype=object)
    (zeros,) = ad.gradient(lambda h: 3.0, pair)
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


def test_views_of_one_array_are_variables_of_their_own():
    h = np.array([1.0, 2.0], dtype=object)

    def product(a, b):
        return a[0] * b[0] + a[1] * b[1]

    first, second = ad.gradient(product, h, h[::-1])
    assert first.tolist() == [2.0, 1.0] and second.tolist() == [1.0, 2.0]
    ((first, second),) = ad.gradient(lambda both: product(*both), [h, h[::-1]])
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
        held = ad.stop_gradient(v.astype(object))
        return held[0] * v[0] + held[1] * v[1] + held[2] * v[2]

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


# ---- containers ----------------------------------------------------------------------------------


class Pair:
    def __init__(self, a, b):
        self.a, self.b = a, b

    def __add__(self, other):
        return Pair(self.a + getattr(other, "a", other), self.b * getattr(other, "b", other))

    def __mul__(self, other):
        return Pair(self.a * getattr(other, "a", other), self.b + getattr(other, "b", other))

    __rmul__, __radd__ = __mul__, __add__

    def __lt__(self, other):
        return self.a < other.a

    def __and__(self, other):
        return Pair(self.a * other.a, self.b)

    def __float__(self):
        return float(self.a)


def filled(v):
    h = np.empty(3, object)
    h[0], h[1], h[2] = v[0], v[1], v[2]
    return h


def of_pairs(v):
    h = np.empty(3, object)
    for i in range(3):
        h[i] = Pair(v[i], v[i] * 2.0)
    return h


def of_arrays(v):
    h = np.empty(2, object)
    h[:] = [v, v * v]
    return h


MADE = {
    "filled": filled,
    "of a list": lambda v: np.array([v[0], v[1], v[2]], dtype=object),
    "of pairs": of_pairs,
    "of arrays": of_arrays,
}


def total(x):
    """A number made of all that `x` holds, in its order."""
    if isinstance(x, Pair):
        return x.a + x.b
    if isinstance(x, np.ndarray) and not x.ndim:
        return total(x[()])
    if isinstance(x, list | tuple | np.ndarray):
        y = 0.0
        for i in range(len(x)):
            y = y + total(x[i]) * (i + 1.0)
        return y
    return x


CONTAINED = {
    "itself": lambda h, v: h,
    "iterated": lambda h, v: [part for part in h],
    "enumerated": lambda h, v: [part for _, part in enumerate(h)],
    "zipped": lambda h, v: [a for a, _ in zip(h, h, strict=True)],
    "unpacked": lambda h, v: [*h],
    "list": lambda h, v: list(h),
    "tolist": lambda h, v: h.tolist(),
    "item": lambda h, v: h.item(1),
    "flat": lambda h, v: [part for part in h.flat],
    "ndenumerate": lambda h, v: [part for _, part in np.ndenumerate(h)],
    "len and shape": lambda h, v: h[len(h) - 1] if h.shape == (h.size,) else h[0],
    "of the end": lambda h, v: h[-1],
    "a view": lambda h, v: h[::-1],
    "another axis": lambda h, v: h[None],
    "chosen": lambda h, v: h[[1, 0, 1]],
    "masked": lambda h, v: h[np.arange(len(h)) > 0],
    "copied": lambda h, v: h.copy(),
    "copied by copy": lambda h, v: [copy.copy(h), copy.deepcopy(h)],
    "made of it": lambda h, v: [np.array(h), np.asarray(h), np.array(h, dtype=object)],
}
WRITTEN = {
    "number": lambda h, v: h.__setitem__(0, v[0] * v[1]),
    "list": lambda h, v: h.__setitem__(0, [v[0], v[1]]),
    "array": lambda h, v: h.__setitem__(1, v),
    "by an index of NumPy": lambda h, v: h.__setitem__((np.int64(0),), v[1]),
    "at the end": lambda h, v: h.__setitem__(-1, v[0]),
    "through a view": lambda h, v: h[::-1].__setitem__(0, v[0]),
    "through another axis": lambda h, v: h[None].T.__setitem__((0, 0), v[1]),
    "everywhere": lambda h, v: h.__setitem__(slice(None), v[0]),
    "of an array": lambda h, v: h.__setitem__(slice(0, 2), v[:2]),
    "of a list": lambda h, v: h.__setitem__(slice(0, 2), [v[2], [v[0]]]),
    "of objects": lambda h, v: h.__setitem__(slice(0, 2), filled(v)[:2]),
    "of itself": lambda h, v: h.__setitem__(slice(None), h[::-1]),
    "twice at one place": lambda h, v: h.__setitem__([1, 1], [v[0], v[2]]),
    "masked": lambda h, v: h.__setitem__(np.arange(len(h)) > 0, v[0]),
    "by another name": lambda h, v: np.asarray(h).__setitem__(0, v[0] * v[2]),
    "by a name without a copy": lambda h, v: np.array(h, copy=None).__setitem__(0, v[0]),
    "by another type": lambda h, v: h.astype(object, copy=False).__setitem__(1, v[0] * v[2]),
    "of a copy": lambda h, v: np.array(h).__setitem__(0, v[0] * v[2]),
    "filled": lambda h, v: h.fill(v[2]),
    "copied into": lambda h, v: np.copyto(h, v[0]),
}


@pytest.mark.parametrize("use", CONTAINED.values(), ids=CONTAINED)
@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_elements_are_read(make, use):
    check_gradient(lambda v: total(use(make(v), v)) * v[1], X)


@pytest.mark.parametrize("write", WRITTEN.values(), ids=WRITTEN)
@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_elements_are_written(make, write):
    def f(v):
        h = make(v)
        before = h[0]
        write(h, v)
        return total(h) * total(before)

    check_gradient(f, X)


def rows(v):
    return np.array([[v[0], "a"], [v, None]], dtype=object)


@pytest.mark.parametrize(
    "f",
    [
        lambda v: v.astype(object)[1] * v.astype(object)[0],
        lambda v: np.asarray(v, dtype=object)[1] * np.array(v.sum(), object)[()],
        lambda v: (filled(v).astype(float) ** 2).sum() + np.array(filled(v), float)[0],
        lambda v: np.asarray(of_pairs(v), dtype=float) @ v,
        lambda v: rows(v)[0, 0] * rows(v)[1][0].sum(),
        lambda v: np.full(2, v[0], dtype=object)[1] * np.full_like(filled(v), v[1])[2],
        lambda v: np.vectorize(lambda a: [a * a], otypes=[object])(v)[1][0],
        lambda v: np.array((v[0], None, v[1]), dtype=object)[2] * v[0],
    ],
)
def test_conversions_of_numbers(f):
    check_gradient(f, X)


def test_reset_in_each_round():
    def f(v):
        sums = np.empty(2, object)
        y = 0.0
        for part in v:
            sums[:] = 0.0
            for i in range(4):
                sums[i % 2] = sums[i % 2] + part * y * 0.1 + i
            y = y + sums[0] * sums[1]
        return y

    check_gradient(f, X)


def test_integers_are_numbers():
    h = np.array([2, 3.0], dtype=object)
    for f in (lambda h: h[0] ** 2 * h[1], lambda h: h.astype(float)[0] ** 2 * h[1]):
        assert ad.gradient(f, h)[0].tolist() == [12.0, 4.0]
        assert ad.pushforward(f, (h,), (np.array([1.0, 0.0], object),))[1] == 12.0


# ---- constants -----------------------------------------------------------------------------------


def numbers():
    return np.array([1.0, 2, Fraction(1, 2)], dtype=object)


def words():
    return np.array(["b", "a", "b"], dtype=object)


CONSTANT = {
    "sum": lambda v: float(numbers().sum() * 2) * v[0],
    "product": lambda v: v @ (numbers() * numbers() + 1).astype(float),
    "in place": lambda v: (lambda h: (np.multiply(h, 2, out=h), float(h[0]) * v[1])[1])(numbers()),
    "moved": lambda v: (
        v * np.concatenate([numbers(), numbers()]).reshape(2, 3).T[:, 1].astype(float)
    ),
    "compared": lambda v: v[words() == "b"],
    "unique": lambda v: v[0] * len(np.unique(words())),
    "sorted": lambda v: v[np.argsort(words())] * len(np.sort(words())),
    "where": lambda v: v * np.where(words() == "b", 2.0, 1.0),
    "functions": lambda v: sum(
        [f(x) for f, x in zip(np.array([np.sin, np.cos, np.exp], object), v)][:1]
    ),
    "keys": lambda v: sum([{"a": v[0], "b": v[1]}[key] for key in words()]),
    "indices": lambda v: v[np.array([1, 2], dtype=object).astype(int)],
    "neighbours": lambda v: sum([v[n].sum() for n in np.array([[0, 1], [1, 2, 0]], dtype=object)]),
    "none": lambda v: v * len(np.full(2, None)),
}


@pytest.mark.parametrize("f", CONSTANT.values(), ids=CONSTANT)
def test_constants(f):
    check_gradient(lambda v: np.sum(f(v)) * v[2], X)


# ---- refused -------------------------------------------------------------------------------------

REFUSED = {
    "sum of arrays": lambda h, v: h + h,
    "product with numbers": lambda h, v: h * v[: len(h)],
    "reflected product": lambda h, v: v[: len(h)] * h,
    "with a number": lambda h, v: 2.0 * h,
    "power": lambda h, v: np.power(h, 2),
    "negative": lambda h, v: np.negative(h),
    "ufunc into an output": lambda h, v: np.multiply(h, 2.0, out=np.empty(len(h), object)),
    "ufunc with a mask": lambda h, v: np.add(h, h, where=np.arange(len(h)) >= 0),
    "ufunc as an array": lambda h, v: np.multiply(h, 2.0, out=...),
    "in place": lambda h, v: h.__imul__(v[0]),
    "a part in place": lambda h, v: (h[1:].__imul__(2.0), h)[1],
    "into its own memory": lambda h, v: np.multiply(h, 2.0, out=h),
    "at": lambda h, v: (np.add.at(h, [0], 1.0), h)[1],
    "outer": lambda h, v: np.multiply.outer(h, v[:2]),
    "reduce": lambda h, v: np.add.reduce(h),
    "accumulate": lambda h, v: np.add.accumulate(h),
    "reduceat": lambda h, v: np.add.reduceat(h, [0, 1]),
    "sum": lambda h, v: h.sum(),
    "np.sum": lambda h, v: np.sum(h),
    "prod": lambda h, v: h.prod(),
    "cumsum": lambda h, v: h.cumsum(),
    "mean": lambda h, v: h.mean(),
    "dot": lambda h, v: np.dot(h, v[: len(h)]),
    "dot by the method": lambda h, v: h.dot(v[: len(h)]),
    "@": lambda h, v: h @ v[: len(h)],
    "einsum": lambda h, v: np.einsum("i,i", h, h),
    "kron": lambda h, v: np.kron(h, v[:2]),
    "repeat": lambda h, v: h.repeat(2),
    "take": lambda h, v: np.take(h, [1, 0]),
    "compress": lambda h, v: h.compress([True, True]),
    "concatenate": lambda h, v: np.concatenate([h, h]),
    "hstack": lambda h, v: np.hstack([h, v]),
    "append": lambda h, v: np.append(h, v[0]),
    "where": lambda h, v: np.where(np.arange(len(h)) > 0, h, h[::-1]),
    "choose": lambda h, v: np.choose([0] * len(h), [h, h]),
    "put": lambda h, v: (np.put(h, [0], v[1]), h)[1],
    "place": lambda h, v: (np.place(h, np.arange(len(h)) > 0, [v[0]]), h)[1],
    "sort": lambda h, v: np.sort(h),
    "sort in place": lambda h, v: (h.sort(), h)[1],
    "frompyfunc": lambda h, v: np.frompyfunc(lambda a: a * 2.0, 1, 1)(h),
    "frompyfunc of numbers": lambda h, v: np.frompyfunc(lambda a: a * a, 1, 1)(v),
    "logical_and": lambda h, v: np.logical_and(h, h),
    "logical_or": lambda h, v: np.logical_or(h, v[: len(h)]),
    "logical_or.reduce": lambda h, v: np.logical_or.reduce(h),
    "maximum": lambda h, v: np.maximum(h, h),
    "block": lambda h, v: np.block([[h, h], [h, h[::-1]]]),
    "two objects": lambda h, v: np.add(Pair(v[0], v[1]), Pair(v[1], v[2])),
    "truth of two objects": lambda h, v: np.logical_and(Pair(v[0], v[1]), Pair(v[1], v[2])),
    "bits of two objects": lambda h, v: np.bitwise_and(Pair(v[0], v[1]), Pair(v[1], v[2])),
    "lists of objects": lambda h, v: np.logical_or([Pair(v[0], v[1])], [Pair(v[1], v[2])]),
    "sum of a list": lambda h, v: np.sum([Pair(v[0], v[1]), Pair(v[1], v[2])]),
    "into floats": lambda h, v: (lambda z: (np.add(z, h, out=z, casting="unsafe"), z)[1])(
        np.zeros(len(h))
    ),
    "resize": lambda h, v: np.resize(h, 5),
    "longdouble": lambda h, v: h.astype(np.longdouble),
    "reversed floats": lambda h, v: h[::-1].astype(float),
    "nested lists and arrays": lambda h, v: np.array([[v[0], v[1]], v[1:]], dtype=object)[0, 0],
}
NAMED_OTHERWISE = {
    "logical_and", "logical_or", "logical_or.reduce", "maximum", "at", "put", "sort in place",
    "two objects", "truth of two objects", "bits of two objects", "lists of objects",
    "sum of a list",
}  # fmt: skip
MAY_BE_NAMED = "array of objects|which was called by|changed the ndarray|nor Python source"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("use", REFUSED.values(), ids=REFUSED)
@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_what_calculates_with_objects_is_right_or_refused(make, use):
    """In every mode; where user code that C calls has stored something, that is named instead."""

    def f(v):
        return total(use(make(v), v)) * v[1]

    try:
        f(X)
    except (TypeError, ValueError):
        pytest.skip("NumPy does not take that")
    steps, dot = 1e-5 * np.eye(3), np.array([0.3, -0.7, 0.9])
    slope = [(f(X + step) - f(X - step)) / 2e-5 for step in steps]

    def bent(v):
        return (f(v + 1e-4 * dot) - 2.0 * f(v) + f(v - 1e-4 * dot)) / 1e-8

    for mode, expected in [
        (lambda: ad.gradient(f, X)[0], slope),
        (lambda: ad.pullback(f, X)[1](1.0)[1], slope),
        (lambda: ad.pushforward(f, (X,), (dot,))[1], np.dot(slope, dot)),
        (lambda: ad.hvp(f, X, dot) @ dot, bent(X)),
        (lambda: ad.gradient(lambda v: ad.gradient(f, v)[0] @ dot, X)[0] @ dot, bent(X)),
        (lambda: ad.pushforward(lambda v: ad.gradient(f, v)[0] @ dot, (X,), (dot,))[1], bent(X)),
    ]:
        try:
            found = mode()
        except AdjointError as error:
            assert isinstance(error, NoDerivativeError | MutationError) and error.hint
            assert any(word in error.problem for word in MAY_BE_NAMED.split("|")), error.problem
        else:
            np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sorted(REFUSED.keys() - NAMED_OTHERWISE))
def test_refused_at_the_place_of_the_user(name):
    def f(v):
        return total(REFUSED[name](filled(v), v)) * v[1]

    with pytest.raises(NoDerivativeError, match="array of objects") as info:
        ad.gradient(f, X)
    assert "list" in info.value.hint and "array of floats" in info.value.hint
    assert info.value.place.filename == __file__


def in_records(v):
    rows = np.zeros(2, [("held", object)])
    rows["held"][0] = v[0]
    return rows["held"][0] * v[1]


def test_fields_of_objects_are_refused():
    with pytest.raises(AdjointError) as info:
        ad.gradient(in_records, X)
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
        return row[0]

    with pytest.raises(AdjointError, match="stores something else|array of objects"):
        ad.gradient(f, X)


# ---- what refers to itself -----------------------------------------------------------------------


def test_elements_that_refer_to_the_array():
    def f(v):
        h = np.empty(2, object)
        h[0], h[1] = Pair(v[0], h), Pair(v[1], h)
        return h[0].b[1].a * h[1].b[0].a * v[2]

    check_gradient(f, X)


def test_arrays_inside_arrays_are_gone_through_once():
    inner = np.array([1.0, None], object)
    for _ in range(40):
        outer = np.empty(2, object)
        outer[0], outer[1] = 1.0, inner
        inner = outer

    def f(v):
        return np.concatenate([inner, inner])[0] * v[0]

    assert ad.gradient(f, X)[0].tolist() == [1.0, 0.0, 0.0]
    assert ad.pushforward(f, (X,), (X,))[1] == X[0]


# ---- numbers of classes of their own -------------------------------------------------------------


class Asked:
    """Counts how often it is made a number."""

    times = 0

    def __init__(self, x):
        self.x = x

    def __float__(self):
        Asked.times += 1
        return float(self.x)


@pytest.mark.parametrize(
    "made",
    [
        lambda h: h.astype(float),
        lambda h: np.array(h, float),
        lambda h: np.array(h[0], float),
        lambda h: np.array([h[0], h[1]], float),
        lambda h: np.full(2, h[1], float),
        lambda h: np.full_like(np.zeros(2), h[1]),
        lambda h: np.full(2, h[1])[:1].astype(float),
    ],
)
def test_objects_are_made_numbers_once(made):
    def f(v):
        Asked.times = 0
        h = np.empty(2, object)
        h[0], h[1] = Asked(v[0]), Asked(v[1])
        return np.sum(made(h)) * (Asked.times + v[2])

    assert ad.pullback(f, X)[0] == f(X)
    check_gradient(f, X, modes=("reverse", "forward"))


def test_one_number_of_numpys_stays_that():
    def f(v):
        one = np.array(v[0], object)[()].clip(0.0, 1.0) * np.asarray(v.sum(), object).item().sum()
        h = np.empty(2, object)
        h[:] = v[1]
        squares = np.vectorize(lambda a: (a * a).sum(), otypes=[object])(h)
        listed = np.vectorize(lambda a, b: a.clip(0.0, 1.0) * b.sum())([v[2], v[0]], v[1])
        return one * squares[0] * listed[0] + squares[1] * listed[1]

    check_gradient(f, X)


class Tripled(complex):
    def __complex__(self):
        return complex(3.0 * self.real, self.imag)


class Half(float):
    def __float__(self):
        return 0.5 * self.real


def _copied(z):
    a = np.empty(2, object)
    np.copyto(a, z)
    return a[0]


def _assigned(z):
    a = np.empty(2, object)
    a[:] = z
    return a[0]


TAKEN = {
    "full": lambda z: np.full(2, z, dtype=object)[0],
    "full, no axes": lambda z: np.full((), z, dtype=object)[()],
    "full_like": lambda z: np.full_like(np.array([None]), z)[0],
    "copyto": _copied,
    "assigned": _assigned,
}


@pytest.mark.parametrize("take", TAKEN)
@pytest.mark.parametrize("made", [lambda x: Tripled(x + 1j), Half, float, np.float64, np.float32])
def test_numbers_of_classes_become_what_numpy_makes_of_them(made, take):
    """`np.copyto` makes a plain number of one, an assignment keeps it: which of them it is shows in
    what `complex` makes of it."""
    kinds = []

    def f(x):
        found = TAKEN[take](made(x))
        kinds.append(type(found))
        return complex(found).real * x

    value, slope = f(2.0), (f(2.5) - f(1.5)) / 1.0
    assert ad.withgradient(f, 2.0) == (value, (pytest.approx(slope),))
    assert ad.pushforward(f, (2.0,), (1.0,)) == (value, pytest.approx(slope))
    assert len(set(kinds)) == 1
