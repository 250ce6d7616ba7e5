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
    first, second = ad.gradient(lambda a, b: (a * b).sum(), h, h[::-1])
    assert first.tolist() == [2.0, 1.0] and second.tolist() == [1.0, 2.0]
    ((first, second),) = ad.gradient(lambda both: (both[0] * both[1]).sum(), [h, h[::-1]])
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


# ---- the order of memory -------------------------------------------------------------------------

SIX = np.array([0.7, 1.3, 0.4, 2.1, 1.1, 0.9])

FIRST = ("reverse", "forward")
"""Where the order of memory is what is asked: second derivatives are in the corpus."""


def rows(v):
    return [[v[0], v[1], v[2]], [v[3], v[4], v[5]]]


def turned(v):
    return v.astype(object).reshape(3, 2).T


STORED = {
    "of lists": lambda v: np.array(rows(v), object, order="F"),
    "of lists, by a function": lambda v: np.asfortranarray(rows(v), object),
    "of numbers": lambda v: v.reshape(3, 2).T.astype(object),
    "of numbers, in an order": lambda v: np.array(v.reshape(2, 3), object, order="F"),
    "turned": turned,
    "turned and reversed": lambda v: turned(v)[::-1, ::-1],
    "repeated": lambda v: np.broadcast_to(v[:3].astype(object), (2, 3)),
    "three axes": lambda v: v.astype(object).reshape(1, 3, 2).T,
}
MADE = {
    "itself": lambda h: h,
    "sums": lambda h: h + h,
    "with numbers": lambda h: (1.0 - h) * np.ones(h.shape, order="F"),
    "with a copy": lambda h: h * h.copy("C"),
    "unary": lambda h: np.square(-h),
    "accumulated": lambda h: h.copy("K").cumsum(0),
    "reduced": lambda h: np.stack([h, h * 2.0], -1).sum(0),
    "floats": lambda h: h.astype(float),
    "floats, in an order": lambda h: np.array(h, float, order="F"),
    "floats and back": lambda h: np.array(h, float).astype(object),
    "two results": lambda h: np.frompyfunc(lambda a, b: (a * b, a - b), 2, 2)(h, 3.0)[1],
    "vectorized": lambda h: np.vectorize(lambda a: a * a)(h),
    "vectorized objects": lambda h: np.vectorize(lambda a: a * a, otypes=[object])(h),
    "joined": lambda h: np.concatenate([h, h.astype(float)]),
    "chosen": lambda h: np.where(np.ones(h.shape, bool, order="F"), h, 2.0),
    "filled": lambda h: np.full_like(h, h[(0,) * h.ndim]),
}


@pytest.mark.parametrize("made", MADE.values(), ids=MADE)
@pytest.mark.parametrize("stored", STORED.values(), ids=STORED)
def test_the_order_of_memory_is_that_of_numpy(stored, made):
    def f(v):
        flat = made(stored(v)).ravel("K")
        return sum([flat[i] * (i + 1.0) ** 2 for i in range(flat.size)])

    check_gradient(f, SIX, modes=FIRST)


def test_writes_through_what_is_a_copy_in_one_order_only():
    def f(v):
        h = np.array([[v[0], v[1]], [v[2], v[3]]], dtype=object, order="F")
        flat = h.reshape(-1)
        flat[1] = v[0]
        return h[0, 1] * h[1, 0]

    check_gradient(f, SIX)


@pytest.mark.parametrize("stored", STORED.values(), ids=STORED)
@pytest.mark.parametrize("way", ["frompyfunc", "vectorize", "__add__"])
def test_functions_are_called_in_the_order_of_memory(way, stored):
    def f(v):
        seen = []

        def counted(a):
            seen.append(a)
            return a * len(seen)

        class Part:
            def __init__(self, a):
                self.a = a

            def __add__(self, other):
                return counted(self.a)

        if way == "__add__":
            h = np.frompyfunc(Part, 1, 1)(stored(v)) + 1.0
        elif way == "vectorize":
            h = np.vectorize(counted, otypes=[float])(stored(v))
        else:
            h = np.frompyfunc(counted, 1, 1)(stored(v))
        return sum([part * (i + 1.0) ** 2 for i, part in enumerate(h.flat)])

    check_gradient(f, SIX, modes=FIRST)


FOLDED = {
    "rows": lambda h: h.sum(0),
    "columns": lambda h: h.sum(1),
    "all": lambda h: np.asarray(h.sum(), object),
    "kept": lambda h: np.add.reduce(h, axis=(0, 1), keepdims=True),
    "begun": lambda h: np.add.reduce(h, 0, initial=0.0),
    "three axes": lambda h: np.stack([h, h]).sum(axis=(0, 2)),
    "of one": lambda h: h[:1].sum(0),
    "accumulated": lambda h: h.cumsum(0),
    "accumulated across": lambda h: np.add.accumulate(h, 1),
    "accumulated flat": lambda h: h.cumsum(),
}


@pytest.mark.parametrize("fold", FOLDED.values(), ids=FOLDED)
@pytest.mark.parametrize("stored", ["of lists", "turned", "turned and reversed", "three axes"])
def test_sums_are_added_up_in_the_order_of_numpy(stored, fold):
    def f(v):
        steps = [1.0]

        class Part:
            def __init__(self, a):
                self.a = a

            def __add__(self, other):
                steps[0] += 1.0
                return Part(self.a * steps[0] + getattr(other, "a", other))

            def __radd__(self, other):
                return Part(other + self.a * 2.0)

        h = np.frompyfunc(Part, 1, 1)(STORED[stored](v))
        flat = fold(h).ravel("K")
        return sum([part.a * (i + 1.0) for i, part in enumerate(flat)])

    check_gradient(f, SIX, modes=FIRST)


@pytest.mark.parametrize(
    "change",
    [
        lambda h, v: h.__imul__(v[3]),
        lambda h, v: np.multiply(h, v[3], out=h),
        lambda h, v: np.multiply(h, v[3], out=h, where=[[True, False], [True, True]]),
        lambda h, v: np.subtract(h[:, ::-1], v[:2], out=h),
        lambda h, v: np.subtract(h, v[:2], out=h),
        lambda h, v: h.__iadd__(np.ones((2, 2))),
        lambda h, v: h.__iadd__(np.ones((2, 2), order="F") * v[3]),
        lambda h, v: np.add(h.copy("C"), v[3], out=h),
    ],
)
@pytest.mark.parametrize("none_at", [(0, 0), (0, 1), (1, 0)])
@pytest.mark.parametrize("order", ["C", "F", "reversed", "in part"])
def test_what_was_written_before_an_operator_raised(order, none_at, change):
    def f(v):
        h = np.array([[v[0], v[1]], [v[2], v[3]]], object, order="F" if order == "F" else "C")
        if order == "reversed":
            h = h[::-1]
        elif order == "in part":
            h = np.stack([h, h], -1)[..., 1]
        h[none_at] = None
        try:
            change(h, v)
            raised = 1.0
        except TypeError:
            raised = 2.0
        h[none_at] = raised
        return h[0, 0] + 2 * h[0, 1] + 3 * h[1, 0] + 4 * h[1, 1]

    check_gradient(f, SIX, modes=FIRST)


def test_outputs_that_look_at_what_is_read():
    def f(v):
        h = v.astype(object)
        h[1:] *= h[:-1]
        np.add(h[::-1], h, out=h)
        np.subtract(h[:3], h[1:4], out=h[2:5], where=[True, False, True])
        h.reshape(2, 3)[...] -= h[:3]
        return sum([part * (i + 1.0) ** 2 for i, part in enumerate(h)])

    check_gradient(f, SIX)


def test_one_object_at_several_places():
    """Where an element was is known by its place, not by what it is."""
    held = np.full(3, 0.5, object)
    (found,) = ad.gradient(lambda h: np.broadcast_to(h, (2, 3)).ravel("K")[1] ** 2, held)
    place = np.broadcast_to(np.arange(3), (2, 3)).ravel("K")[1]
    expected = [0.0, 0.0, 0.0]
    expected[place] = 1.0
    assert [*found] == expected


def test_one_number_of_numpys_stays_that():
    def f(v):
        one = np.array(v[0], object)[()].clip(0.0, 1.0) * np.asarray(v.sum(), object).item().sum()
        h = np.empty(2, object)
        h[:] = v[1]
        squares = np.vectorize(lambda a: (a * a).sum(), otypes=[object])(h)
        listed = np.vectorize(lambda a, b: a.clip(0.0, 1.0) * b.sum())([v[2], v[3]], v[4])
        return one * squares[0] * listed[0] + squares[1] * listed[1]

    check_gradient(f, SIX)


@pytest.mark.parametrize("name", ["hstack", "vstack", "dstack", "column_stack", "concatenate"])
def test_joined(name):
    def f(v):
        h = v.astype(object)
        join = getattr(np, name)
        return (join([h, v]) ** 2).sum() + join([h * h, v[0] * h]).sum()

    check_gradient(f, X)


def test_joined_as_numpy_would_not():
    with pytest.raises(TypeError, match="according to the rule 'no'"):
        ad.gradient(lambda v: np.concatenate([v.astype(object), v], casting="no").sum(), X)


class Ordered:
    def __init__(self, a):
        self.a = a

    def __lt__(self, other):
        return self.a < other.a


def ordered(v):
    return np.sort(np.frompyfunc(Ordered, 1, 1)(v))[0].a * v[0]


def partitioned(v):
    return np.partition(np.frompyfunc(Ordered, 1, 1)(v), 1)[1].a


@pytest.mark.parametrize("f", [ordered, partitioned])
def test_put_in_order_by_their_own_comparisons(f):
    check_gradient(f, X)


# ---- what refers to itself -----------------------------------------------------------------------


class Cell:
    def __init__(self, a, grid):
        self.a, self.grid = a, grid

    def __mul__(self, other):
        return Cell(self.a * other * self.grid[0].a, self.grid)


def test_elements_that_refer_to_the_array():
    def f(v):
        h = np.empty(2, object)
        h[0], h[1] = Cell(v[0], h), Cell(v[1], h)
        return np.frompyfunc(lambda cell: cell.a, 1, 1)(h * v[2]).sum()

    check_gradient(f, X)


def test_arrays_inside_arrays_are_gone_through_once():
    inner = np.array([1.0, None], object)
    for _ in range(40):
        outer = np.empty(2, object)
        outer[0], outer[1] = 1.0, inner
        inner = outer

    def f(v):
        return np.frompyfunc(lambda _, b: b, 2, 1)(inner, v[0]).sum()

    check_gradient(f, X)


# ---- refused -------------------------------------------------------------------------------------


def in_records(v):
    rows = np.zeros(2, [("held", object)])
    rows["held"][0] = v[0]
    return rows["held"][0] * v[1]


def sorted_with_one_object_twice(v):
    h = np.empty(3, object)
    h[:] = v[0]
    h[1] = v[1]
    h.sort()
    return h[0] * v[2]


def sorted_where_it_stands(v):
    h = np.frompyfunc(Ordered, 1, 1)(v)
    h.sort()
    return h[0].a * v[0]


def sorted_numbers_where_they_stand(v):
    h = v.astype(object)
    h.sort()
    return h[0] * v[1]


IN_C = {
    "sort": lambda h, v: np.sort(h)[0],
    "partition": lambda h, v: np.partition(h, 1)[0],
    "unique": lambda h, v: np.unique(h)[0],
    "median": lambda h, v: np.median(h),
    "choose": lambda h, v: np.choose([0, 1, 2], [h, v, 3.0])[0],
    "choose by a method": lambda h, v: np.array([0, 1, 2]).choose(h, h * v, 1.0)[0],
    "einsum": lambda h, v: np.einsum("i,i", h, v),
    "einsum in steps": lambda h, v: np.einsum("i,j,k->ik", h, h, v, optimize=True)[0, 0],
    "convolve": lambda h, v: np.convolve(h, v)[0],
    "correlate": lambda h, v: np.correlate(h, v)[0],
    "reduceat": lambda h, v: np.add.reduceat(h, [0, 2])[0],
}


@pytest.mark.parametrize("f", IN_C.values(), ids=IN_C)
def test_what_c_does_with_objects_is_refused(f):
    def g(v):
        return f(v.astype(object), v) * v[1]

    for run in (ad.grad(g), ad.grad(g, tier="generic")):
        with pytest.raises(AdjointError, match="no derivative flows|changed the ndarray"):
            run(X)
    try:
        _, y_dot = ad.pushforward(g, (X,), (np.ones_like(X),))
    except AdjointError:
        return
    assert y_dot == pytest.approx((g(X + 1e-6) - g(X - 1e-6)) / 2e-6, rel=1e-7)


@pytest.mark.parametrize(
    "f",
    [
        in_records, sorted_where_it_stands, sorted_with_one_object_twice,
        sorted_numbers_where_they_stand,
    ],
)  # fmt: skip
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
    """NumPy makes Python's own numbers of what is summed."""
    check_gradient(lambda v: np.add.reduce(v, dtype=object) * v.sum(dtype=object), X)
    check_gradient(lambda v: v.prod(0, "O") * np.multiply.accumulate(v, dtype=object)[1], X)
    check_gradient(lambda v: np.average(v.astype(object), weights=[1.0, 2.0, 3.0]) ** 2, X)
    check_gradient(lambda v: np.average(v.astype(object), weights=v) ** 2, X)


def test_what_c_calculates_is_named():
    with pytest.raises(NoDerivativeError, match="array of objects") as info:
        ad.gradient(lambda v: np.add.reduce(v.astype(object), initial=0.0, where=v > 0.5), X)
    assert "floats" in info.value.hint


# ---- products and folds --------------------------------------------------------------------------


class Counting:
    """Its operators count: what they give depends on the order in which they are called."""

    steps = 0.0

    def __init__(self, a):
        self.a = a

    def _next(self, a):
        Counting.steps += 1.0
        return Counting(a * Counting.steps)

    def __add__(self, other):
        return self._next(self.a + getattr(other, "a", other))

    __radd__ = __add__

    def __mul__(self, other):
        return self._next(self.a * getattr(other, "a", other))

    __rmul__ = __mul__

    def conjugate(self):
        return self._next(self.a)


PRODUCTS = {
    "dot": lambda h, v: np.dot(h.T, h),
    "dot of vectors": lambda h, v: h[0].dot(v[:3]),
    "dot with a number": lambda h, v: np.dot(h, v[0]),
    "@": lambda h, v: h.T @ h,
    "@ of numbers": lambda h, v: v.reshape(3, 2) @ h,
    "@ of stacks": lambda h, v: h.reshape(1, 2, 3) @ np.stack([h.T, h.T[::-1]]),
    "inner": lambda h, v: np.inner(h, h),
    "vdot": lambda h, v: np.vdot(h, v),
    "vdot turned": lambda h, v: np.vdot(h.T, h[::-1]),
    "tensordot": lambda h, v: np.tensordot(h, h, ([0, 1], [0, 1])),
    "multi_dot": lambda h, v: np.linalg.multi_dot([h, h.T, h]),
    "outer": lambda h, v: np.outer(h, v[:2]),
    "kron": lambda h, v: np.kron(h, v[:2]),
    "trace": lambda h, v: h.trace(1),
}


@pytest.mark.parametrize("product", PRODUCTS.values(), ids=PRODUCTS)
@pytest.mark.parametrize("stored", ["of lists", "turned", "turned and reversed", "repeated"])
def test_products_call_operators_in_the_order_of_numpy(stored, product):
    if stored == "repeated" and product is PRODUCTS["trace"]:
        pytest.skip("elements that stand at several places")

    def f(v):
        Counting.steps = 0.0
        made = product(np.frompyfunc(Counting, 1, 1)(STORED[stored](v)), v)
        flat = np.asarray(made, object).ravel("K")
        return sum([part.a * (i + 1.0) for i, part in enumerate(flat)]) + Counting.steps

    y, (x_bar,) = ad.withgradient(f, SIX)
    assert y == f(SIX)
    dot = np.array([1.0, 0.5, -0.3, 0.7, 0.2, -1.1])
    z, y_dot = ad.pushforward(f, (SIX,), (dot,))
    assert z == y and y_dot == pytest.approx(x_bar @ dot, rel=1e-10)
    check_gradient(f, SIX, rtol=1e-4, modes=FIRST)


def test_einsum_gives_views():
    def f(v):
        h = np.outer(v, v).astype(object)
        np.einsum("ii->i", h)[...] = v
        turned = np.einsum("ij->ji", h)
        turned[0, 1] = v[2] ** 2
        return (h * np.arange(9.0).reshape(3, 3)).sum()

    check_gradient(f, X)


def test_products_that_numpy_refuses():
    def mismatched(v):
        return np.dot(v.astype(object), v[:2])

    def unknown(v):
        return np.einsum("i,j", v.astype(object))

    for f in (mismatched, unknown):
        with pytest.raises(ValueError) as plain:
            f(X)
        with pytest.raises(ValueError) as found:
            ad.gradient(f, X)
        assert str(found.value) == str(plain.value)


FOLDING = {
    "reduce": lambda f, h: f.reduce(h, axis=1),
    "reduce columns": lambda f, h: f.reduce(h),
    "reduce one axis": lambda f, h: f.reduce(h, axis=(1,), keepdims=True),
    "begun": lambda f, h: f.reduce(h[0], initial=0.5),
    "accumulate": lambda f, h: f.accumulate(h, 1),
    "of numbers": lambda f, h: f.reduce(h.astype(float), axis=0),
}


@pytest.mark.parametrize("fold", FOLDING.values(), ids=FOLDING)
@pytest.mark.parametrize("stored", ["of lists", "turned and reversed"])
def test_folds_by_functions(stored, fold):
    def f(v):
        steps = [0.0]

        def step(a, b):
            steps[0] += 1.0
            return a * b + a * steps[0]

        flat = np.asarray(fold(np.frompyfunc(step, 2, 1), STORED[stored](v)), object).ravel("K")
        return sum([part * (i + 1.0) for i, part in enumerate(flat)])

    check_gradient(f, SIX, modes=FIRST)


def test_folds_over_several_axes():
    def f(v, **options):
        h = STORED["of lists"](v)
        return np.frompyfunc(lambda a, b: a * b + b, 2, 1, **options).reduce(h, axis=(0, 1))

    check_gradient(lambda v: f(v, identity=1.0), SIX)
    with pytest.raises(ValueError, match="not reorderable"):
        ad.gradient(f, SIX)


class Doubling(np.ndarray):
    def __array_wrap__(self, array, context=None, return_scalar=False):
        return np.asarray(np.asarray(array) * 2).view(Doubling)


SQUARE = np.array([[1.0, 2.0], [3.0, 4.0]])
BESIDE = {
    "sum with a matrix": lambda h, x: np.asmatrix(x) + h,
    "sum with a matrix, from the right": lambda h, x: h + np.asmatrix(x),
    "product with a matrix": lambda h, x: np.asmatrix(x) @ h,
    "np.dot with a matrix": lambda h, x: np.dot(h, np.asmatrix(x)),
    "joined with a matrix": lambda h, x: np.concatenate([h, np.asmatrix(x)]),
    "matrix of objects": lambda h, x: np.asmatrix(h) @ x,
    "sum": lambda h, x: h + x.view(Doubling),
    "product": lambda h, x: x.view(Doubling) * h,
    "constant": lambda h, x: h * SQUARE.view(Doubling),
    "np.maximum": lambda h, x: np.maximum(x.view(Doubling), h),
    "stacked": lambda h, x: np.stack([h, x.view(Doubling)]),
}


@pytest.mark.parametrize("name", BESIDE)
def test_beside_arrays_of_classes_of_their_own(name):
    """What the class makes of a result is made, or the derivative is refused."""

    def f(v):
        x = v.reshape(2, 2)
        made = BESIDE[name](x.astype(object), x)
        return float((made * made[:, ::-1] if made.shape[0] == 2 else made.T * made).sum())

    v = np.array([0.7, 1.3, 0.4, 2.17])
    central = [(f(v + h) - f(v - h)) / 2e-6 for h in 1e-6 * np.eye(4)]
    try:
        y, (bar,) = ad.withgradient(f, v)
    except NoDerivativeError:
        pass
    else:
        assert y == pytest.approx(f(v))
        np.testing.assert_allclose(bar, central, rtol=1e-6)
    try:
        y, dot = ad.pushforward(f, (v,), (v,))
    except NoDerivativeError:
        pass
    else:
        assert y == pytest.approx(f(v))
        np.testing.assert_allclose(dot, np.dot(central, v), rtol=1e-6)


class Asked:
    """Counts how often it is made a number."""

    times = 0

    def __init__(self, x):
        self.x = x

    def __float__(self):
        Asked.times += 1
        return float(self.x)

    def __int__(self):
        Asked.times += 1
        return 3


@pytest.mark.parametrize(
    "made",
    [
        lambda h: h.astype(float),
        lambda h: h.astype(np.float32),
        lambda h: h.astype(int) * 1.5,
        lambda h: np.array(h, float),
        lambda h: np.asarray(h[::-1], dtype=float),
        lambda h: np.array(h[0], float),
        lambda h: np.array([h[0], h[1]], float),
        lambda h: np.full(2, h[1], float),
        lambda h: np.full_like(np.zeros(2), h[1]),
        lambda h: np.full(2, h[1])[:1].astype(float),
        lambda h: np.concatenate([h, np.ones(2)]).astype(float),
    ],
)
def test_objects_are_made_numbers_once(made):
    def f(v):
        Asked.times = 0
        h = np.empty(2, object)
        h[0], h[1] = Asked(v[0]), Asked(v[1])
        return np.sum(made(h)) * (Asked.times + v[2])

    value = f(SIX)
    assert ad.pullback(f, SIX)[0] == value
    if "float32" not in made.__code__.co_names:
        check_gradient(f, SIX, modes=FIRST)


def test_a_polynomial_does_with_objects_what_numpy_does():
    def f(v):
        steps = [0.0]

        class Part:
            def __init__(self, a):
                self.a = a

            def __mul__(self, other):
                steps[0] += 1.0
                return Part(self.a * getattr(other, "a", other) + steps[0])

            def __add__(self, other):
                steps[0] += 1.0
                return Part(self.a + getattr(other, "a", other) * steps[0])

            __rmul__, __radd__ = __mul__, __add__

        y = np.polyval(v[:3], np.frompyfunc(Part, 1, 1)(v[3:5]))
        return y[0].a * 2.0 + y[1].a * steps[0]

    check_gradient(f, SIX, modes=FIRST)


def _filled(v):
    h = np.empty(3, object)
    h.fill([])
    h[0].append(v[0])
    return h[1][0] * v[1]


def _filled_with_an_array(v):
    h = np.empty((2, 2), object)
    h.fill(v[:2] * 2.0)
    return h[1, 0][0] * v[1] + h[0, 1][1]


def _placed(v):
    h = np.full(3, 1.5, object)
    np.place(h, [True, False, True], [v[:2], 3.0])
    return (h[0] * v[1]).sum() * h[2] * h[1]


def _put(v):
    h = np.full(3, 1.5, object)
    np.putmask(h, [True, False, True], [v[:2], 3.0, v])
    return (h[0] * v[1]).sum() * h[2].sum() * h[1]


@pytest.mark.parametrize("f", [_filled, _filled_with_an_array, _placed, _put])
def test_filled_with_lists_and_arrays(f):
    check_gradient(f, SIX, modes=FIRST)


def _factors(told):
    class Factor:
        def __init__(self, x):
            self.x = x

        def _made(self, name, other, x):
            told.append((name, float(self.x), float(getattr(other, "x", other))))
            return Factor(x * (1.0 + 0.1 * len(told)))

        def __mul__(self, other):
            return self._made("mul", other, self.x * getattr(other, "x", other))

        def __rmul__(self, other):
            return self._made("rmul", other, 0.9 * self.x * other)

        def __sub__(self, other):
            return self._made("sub", other, self.x - getattr(other, "x", other))

        def __rsub__(self, other):
            return self._made("rsub", other, other - 1.1 * self.x)

        def __isub__(self, other):
            return self._made("isub", other, 7.0 * self.x)

    return Factor


CROSSED = {
    "objects": lambda a, b, of: np.cross(of(a), of(b)),
    "objects and floats": lambda a, b, of: np.cross(of(a), b),
    "floats and objects": lambda a, b, of: np.cross(a, of(b)),
    "rows": lambda a, b, of: np.cross(np.stack([of(a), of(b)]), b),
    "an object in a list": lambda a, b, of: np.cross([of(a)[0], a[1], of(a)[2]], b),
    "linalg": lambda a, b, of: np.linalg.cross(of(a), of(b)),
    "kron of a list": lambda a, b, of: np.kron([of(a)[0], a[1], of(a)[2]], b),
    "tensordot of a list": lambda a, b, of: np.tensordot([of(a)[0], a[1], of(a)[2]], b, 0),
    "an array, not a scalar": lambda a, b, of: np.multiply(of(a)[0, ...], of(b)[0, ...], out=...),
}


@pytest.mark.parametrize("crossed", CROSSED.values(), ids=CROSSED)
def test_operators_that_products_call(crossed):
    """They are those that NumPy calls, in its order: each sees how many have been called."""

    def f(v, told):
        of = np.frompyfunc(_factors(told), 1, 1)
        made = crossed(v[:3], v[3:], of)
        return sum(
            [w * getattr(x, "x", x) for w, x in zip(range(1, 10), made.ravel(), strict=False)]
        )

    check_gradient(lambda v: f(v, []), SIX, modes=FIRST)
    told, ours, forward = [], [], []
    f(SIX, told)
    ad.pullback(lambda v: f(v, ours), SIX)
    ad.pushforward(lambda v: f(v, forward), (SIX,), (SIX,))
    assert ours == told and forward == told


# ---- numbers of classes of their own -------------------------------------------------------------


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


def _put(z):
    a = np.empty(2, object)
    np.put(a, [0, 1], z)
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
    "where": lambda z: np.where([True, False], z, np.array([None, None]))[0],
    "put": _put,
    "assigned": _assigned,
}


@pytest.mark.parametrize("take", TAKEN)
@pytest.mark.parametrize("made", [lambda x: Tripled(x + 1j), Half, float, np.float64, np.float32])
def test_numbers_of_classes_become_what_numpy_makes_of_them(made, take):
    """`np.copyto` and `np.where` make a plain number of one, an assignment keeps it: which of them
    it is shows in what `complex` makes of it."""
    kinds = []

    def f(x):
        found = TAKEN[take](made(x))
        kinds.append(type(found))
        return complex(found).real * x

    value, slope = f(2.0), (f(2.5) - f(1.5)) / 1.0
    assert ad.withgradient(f, 2.0) == (value, (pytest.approx(slope),))
    assert ad.pushforward(f, (2.0,), (1.0,)) == (value, pytest.approx(slope))
    assert len(set(kinds)) == 1
