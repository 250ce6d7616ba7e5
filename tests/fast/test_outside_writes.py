"""Programs that write to arrays of their caller: the derivatives, and the contents after the call,
are those of the generic tier."""

from __future__ import annotations

import collections
import dataclasses
import types
import warnings

import numpy as np
import pytest

import adjoint as ad
from adjoint.fast.programs import store
from adjoint.runtime.results import with_zeros
from tests.fast.test_in_place_programs import POINT, PROGRAMS, Grammar, made
from tests.structures import difference

STEP = 1e-6


def in_both_tiers(operator, f, args):
    """Run an operator by a program and without; return both results, with the arguments as they are
    after the call."""
    found = []
    for is_fast in (True, False):
        given = copied(args)
        before, store.is_enabled[0] = store.is_enabled[0], is_fast
        try:
            found.append((operator(f, given), given))
        finally:
            store.is_enabled[0] = before
    return found


def copied(x):
    if isinstance(x, np.ndarray):
        return x.copy()
    if isinstance(x, list | tuple):
        return type(x)(map(copied, x))
    if isinstance(x, dict):
        return {key: copied(part) for key, part in x.items()}
    return x


def ones(x):
    if isinstance(x, list | tuple):
        return type(x)(map(ones, x))
    return np.ones_like(x) if isinstance(x, np.ndarray) else 1.0


def gradient(f, args):
    return ad.withgradient(f, *args)


def twice_back(f, args):
    """Value and cotangents: of a pullback that runs twice, after its arguments have changed."""
    y, back = ad.pullback(f, *args)
    value = copied(y)
    return value, *[
        [with_zeros(x, bar) for x, bar in zip(args, back(ones(y))[1:], strict=True)]
        for _ in range(2)
    ]


def pushforward(f, args):
    return copied(ad.pushforward(f, tuple(args), tuple(map(ones, args))))


def product(f, args):
    return ad.hvp(lambda first: f(first, *args[1:]), args[0], ones(args[0]))


def hessian_product(f, args):
    return ad.hvp(f, args[0], ones(args[0]))


def agrees(f, *args, operators=(gradient, twice_back, pushforward), by_program=True):
    for operator in operators:
        (found, left), (expected, expected_left) = in_both_tiers(operator, f, args)
        assert not difference(found, expected, rtol=1e-10), (operator.__name__, found, expected)
        assert not difference(left, expected_left, rtol=1e-13), operator.__name__
    if gradient in operators and by_program:
        assert ad.tier(f, *copied(args)).tier == "fast", ad.tier(f, *copied(args))
        by_differences(f, args)


def by_differences(f, args):
    bars = ad.gradient(f, *copied(args))
    for i, x in enumerate(args):
        if not isinstance(x, np.ndarray) or x.dtype != np.float64:
            continue
        for place in np.ndindex(x.shape):
            values = []
            for step in (STEP, -STEP):
                moved = copied(args)
                moved[i][place] += step
                values.append(f(*moved))
            slope = (values[0] - values[1]) / (2 * STEP)
            assert abs(slope - bars[i][place]) <= 1e-5 * max(1.0, abs(slope)), (i, place)


A = np.array([1.0, 2.0, 3.0, 4.0])
M = np.arange(1.0, 13.0).reshape(3, 4) / 7


def elements(a, x):
    a[0] = x * 2
    a[1:] *= 3.0
    for i in range(1, len(a)):
        a[i] += a[i - 1] * x
    return np.sum(a * a)


def scaled(a, b):
    a *= b
    b /= a
    a *= a.sum()
    return (a * b).sum()


def factor(m):
    for i in range(len(m)):
        for j in range(i):
            m[i, j] -= m[i, :j] @ m[:j, j]
            m[i, j] /= m[j, j]
        for j in range(i, len(m)):
            m[i, j] -= m[i, :i] @ m[:i, j]
    return (m * m).sum()


def unread(a, x):
    a[1] = x
    return x * x


def sometimes(a, x):
    if x > 1:
        a[0] = x
    else:
        for i in range(0):
            a[i] = x
    return (a * a).sum() * x


def fill(out, x):
    out[:] = np.sin(x)


def called(out, x):
    fill(out, x)
    out[0] *= x
    return out @ out


def reads_then_writes(a, b):
    s = np.linalg.inv(np.diag(a) + 1.0).sum() + np.flip(a) @ b
    a[:] = b * s
    return (a * a).sum() + np.cumsum(a)[-1]


def stencil(a, b):
    for _ in range(3):
        b[1:-1] = 0.3 * (a[:-2] + a[1:-1] + a[2:])
        a[1:-1] = 0.4 * (b[:-2] + b[1:-1] * b[2:])
    return (a * b).sum()


def normalised(m):
    spread = m.std(axis=0)
    spread[1] += 0.5
    largest = np.max(m, axis=1)
    largest *= 2.0
    m -= np.mean(m, axis=0)
    m /= spread
    m *= largest[:, None]
    return (m**3).sum()


VIEWS = {
    "diagonal": lambda y: y.reshape(2, 2).diagonal(),
    "view": lambda y: y.view()[:2],
    "array_split": lambda y: np.array_split(y, 2)[0],
    "split": lambda y: np.split(y, 2)[1],
    "windows": lambda y: np.lib.stride_tricks.sliding_window_view(y, 2)[1],
    "broadcast_arrays": lambda y: np.broadcast_arrays(y)[0][1:3],
    "rot90": lambda y: np.rot90(y.reshape(2, 2))[0],
    "moveaxis": lambda y: np.moveaxis(y.reshape(2, 2), 0, 1)[1],
    "checked": lambda y: np.asarray_chkfinite(y)[2:],
}


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_views_are_read_before_their_array_is_written(view):
    def f(m, y):
        part = view(y)
        m[:, 1:3] *= part
        y[1:] *= 0.9
        return float(np.sum(np.sin(m)))

    agrees(f, M, A * 0.3)
    packed = [M.copy(), A * 0.3]
    along = [np.cos(M), np.sin(A)]
    found, expected = in_both_tiers(
        lambda f, args: ad.hvp(f, [*args], along), lambda z: f(*z), packed
    )
    assert not difference(found[0], expected[0], rtol=1e-9)


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (normalised, (M * M,)),
        (elements, (A, 1.5)),
        (scaled, (A, A[::-1] + 0.5)),
        (factor, (M[:, :3] + 2 * np.eye(3),)),
        (unread, (A, 1.5)),
        (sometimes, (A, 1.5)),
        (sometimes, (A, 0.5)),
        (called, (A, 0.7)),
        (reads_then_writes, (A, A[::-1] * 0.3)),
        (stencil, (A, A * 0.5)),
        (elements, (A.astype(np.float32), 1.5)),
        (elements, (A * (1 + 1j), 1.5)),
    ],
    ids=lambda x: getattr(x, "__name__", None),
)
def test_modes_agree(f, args):
    real = np.asarray(args[0]).dtype.kind != "c"
    operators = (gradient, twice_back, pushforward) if real else (twice_back, pushforward)
    agrees(f, *args, operators=operators)


@pytest.mark.parametrize(
    "f",
    [
        lambda a: elements(a, a[0]),
        lambda a: stencil(a, a * a),
        lambda a: scaled(a, np.sin(a)),
        factor,
        lambda a: reads_then_writes(a, a * a),
    ],
)
def test_second_order_agrees(f):
    x = M[:, :3] + 2 * np.eye(3) if f is factor else A
    agrees(f, x, operators=(hessian_product,))
    found, expected = in_both_tiers(lambda f, args: ad.hessian(f, *args), f, (x,))
    assert not difference(found, expected, rtol=1e-9)


def test_results_are_the_caller_s():
    def itself(a, x):
        a += x
        return a

    def part(a, x):
        a[1] = x
        return a[1:], a[0] * x

    agrees(itself, A, 1.5, operators=(twice_back, pushforward))
    agrees(part, A, 1.5, operators=(twice_back, pushforward))
    a = A.copy()
    y, back = ad.pullback(itself, a, 1.5)
    assert y is a
    (y, _), back = ad.pullback(part, a, 1.5)
    assert np.shares_memory(y, a)
    a[:] = 0
    assert not difference(back((np.ones(3), 1.0))[1], np.array([1.5, 0, 1, 1]))


def test_a_program_that_fails_leaves_no_trace():
    def invalid(a, x):
        a[0] = 1 / x
        b = np.log(a)
        return b.sum()

    def raising(a, x):
        a[1] = 5.0
        if x > 1:
            raise ValueError("large")
        return a.sum()

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        agrees(invalid, A, np.float64(0.0), operators=(gradient, twice_back), by_program=False)
    a = A.copy()
    with pytest.raises(ValueError, match="large"):
        ad.gradient(raising, a, 2.0)
    assert a.tolist() == [1.0, 5.0, 3.0, 4.0]


def test_a_pullback_that_fails_runs_once_more_on_the_incoming_contents():
    def f(a, x):
        a *= x
        return np.sqrt(a).sum()

    agrees(f, np.array([0.0, 1.0]), 2.0, operators=(twice_back,))
    a = np.array([0.0, 1.0])
    _, back = ad.pullback(f, a, 2.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        back(1.0)
    assert a.tolist() == [0.0, 2.0]


def two(a, b):
    a[0] = 5 * b[1]
    return np.sum(a * b)


def test_aliases_are_left_to_the_generic_tier():
    for make in (
        lambda x: (x, x),
        lambda x: (x, x[::-1]),
        lambda x: (x[:4], x[4:8]),
        lambda x: (x[:4], x[2:6]),
        lambda x: (x[::2], x[1::2]),
    ):
        results = []
        for is_fast in (True, False):
            store.is_enabled[0] = is_fast
            x = np.arange(8.0)
            results.append((ad.gradient(two, *make(x)), x))
        store.is_enabled[0] = True
        assert not difference(*results)


def test_read_only_arrays_raise():
    a = A.copy()
    a.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        ad.gradient(two, a, A)


def test_captured_and_global_arrays_are_written():
    held = np.zeros(3)

    def keep(x):
        held[0] = x
        held[1:] += x * x
        return held @ held

    for tier in ("fast", "generic"):
        held[:] = 1.0
        assert ad.grad(keep, tier=tier)(2.0) == pytest.approx(4.0 + 2 * 2 * 5.0 * 4.0)
        assert held.tolist() == [2.0, 5.0, 5.0]
    assert ad.tier(keep, 2.0).tier == "fast"


def test_calls_inside_the_generic_tier_do_not_write_behind_its_back():
    def inner(a, x):
        a[0] = x
        return (a * a).sum()

    def outer(x):
        a, total = np.ones(3), 0.0
        try:
            for i in range(50):
                total += inner(a, x * i) * a[0]
        except ZeroDivisionError:
            pass
        return total

    assert not difference(ad.grad(outer)(2.0), ad.grad(outer, tier="generic")(2.0))


class Outside(Grammar):
    """The programs of `Grammar` with its arrays as arguments."""

    def program(self) -> str:
        text = super().program()
        head, _, _, _, number, *rest = text.split("\n")
        return "\n".join([head.replace("(v)", "(v, a, c, m)"), number, *rest])


@pytest.mark.parametrize("seed", range(6))
def test_random_programs(seed):
    grammar, covered = Outside(seed), 0
    args = (POINT, POINT * 1.0 + 0.1, np.full(4, 1.3), np.zeros((3, 4)))
    for number in range(PROGRAMS):
        text = grammar.program()
        f = made(text, f"outside {seed} {number}")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if not abs(f(*copied(args))) < 1e6:
                continue
            for operator in (gradient, twice_back, pushforward):
                (found, left), (expected, expected_left) = in_both_tiers(operator, f, args)
                assert not difference(found, expected, rtol=1e-8), (operator, text)
                assert not difference(left, expected_left, rtol=1e-11), (operator, text)
            covered += ad.tier(f, *copied(args)).tier == "fast"
    assert covered >= 5


def test_overlapping_places_are_covered_where_the_order_does_not_matter():
    def rows(m):
        m[1:] = m[:-1]
        m[:, 0] = m[:, 1]
        m[0, 1:] = m[0, :-1]
        return (m * m).sum()

    def other_strides(a):
        a[::2] = a[:2]
        return (a * a).sum()

    agrees(rows, M)
    assert "overlapping memory" in ad.tier(other_strides, A.copy()).reason


def test_tangents_that_share_memory_with_what_is_written():
    def product(a, b):
        a[0] = b[1] * a[1]
        return (a * a * b).sum()

    def shifted(a, b):
        a[1:] = b[:-1] * 2
        return a[::-1]

    args = (np.array([1.0, 2.0, 3.0]), np.array([0.5, 0.7, 1.1]))
    for f in (product, shifted):
        for places in ((1, 0), (0, 0), (0, 1), (1, 1)):

            def along(f, given, places=places):
                return copied(ad.pushforward(f, tuple(given), tuple(given[i] for i in places)))

            (found, left), (expected, expected_left) = in_both_tiers(along, f, args)
            assert not difference(found, expected, rtol=1e-12), (f.__name__, places)
            assert not difference(left, expected_left, rtol=1e-12), (f.__name__, places)
        assert ad.tier(f, *copied(args)).tier == "fast"


def test_windows_that_share_elements():
    windows = np.lib.stride_tricks.sliding_window_view(np.arange(1.0, 7.0), 3, writeable=True)

    def one(a, x):
        a[0, 1] = x
        return (a * a).sum()

    def all_of_them(a, x):
        a *= x
        return a.sum()

    for f in (one, all_of_them):
        assert ad.tier(f, windows.copy(), 1.5).tier == "fast"
    windows[0, 1] = 1.5
    bars = ad.gradient(one, windows, 1.5)
    assert bars[1] == pytest.approx(6.0)  # it is in two of the windows
    assert ad.pushforward(one, (windows, 1.5), (None, 1.0))[1] == pytest.approx(6.0)
    with pytest.raises(ad.AdjointError, match="elements share their memory"):
        ad.gradient(all_of_them, windows, 1.5)


# ---- objects of other kinds that a function leaves outside ---------------------------------------


@dataclasses.dataclass(slots=True)
class Slots:
    t: float


class OneSlot:
    __slots__ = ("u",)


class SlotAndField(OneSlot):
    pass


def with_slot_and_field(x):
    made = SlotAndField()
    made.u, made.v = x, 2 * x
    return made


@pytest.mark.parametrize(
    "make",
    [
        lambda x: collections.Counter(a=x),
        lambda x: collections.defaultdict(list, {"k": [x]}),
        lambda x: [collections.OrderedDict(u=x)],
        lambda x: types.SimpleNamespace(t=x),
        lambda x: {"row": Slots(x)},
        with_slot_and_field,
    ],
)
def test_objects_that_are_left_outside_are_of_their_class(make):
    def f(log, x):
        log["made"] = make(x)
        return x * x

    log, plain = {}, {}
    f(plain, 2.0)
    for _ in range(2):
        assert ad.gradient(f, log, 2.0)[1] == 4.0
        assert type(log["made"]) is type(plain["made"])
    made = log["made"]
    if isinstance(made, SlotAndField):
        assert (made.u, made.v) == (2.0, 4.0)
    elif not isinstance(made, dict) or "row" not in made:
        assert made == plain["made"]


# ---- which fields an object has that is written to -----------------------------------------------


class Cell:
    def __init__(self, k, v, log):
        self.k, self.v, self.log = k, v, log

    def __getattr__(self, name):
        if name != "half":
            raise AttributeError(name)
        return 0.5 * self.k


def all_fields(cell, x):
    cell.k = x
    return sum(part if type(part) is float else part[0] for part in vars(cell).values())


def a_new_field(cell, x):
    cell.new = x * x
    return len(cell.__dict__) * x + cell.new


def updated_from(cell, x):
    cell.k = x
    other = Cell(1.0, 1.0, [1.0])
    other.__dict__.update(cell.__dict__)
    return other.k * other.v * other.log[0]


def in_a_branch(cell, x):
    if x > 0:
        cell.v = x
    return x * sum(part for part in vars(cell).values() if type(part) is float)


def a_computed_attribute(cell, x):
    cell.k = cell.k * x
    return cell.half * x


@pytest.mark.parametrize(
    "f", [all_fields, a_new_field, updated_from, in_a_branch, a_computed_attribute]
)
def test_fields_of_objects_that_are_written_to(f):
    def of(k, v, first, x):
        return f(Cell(k, v, [first, 3.0]), x)

    point = (2.0, 4.0, 0.5, 1.5)
    for derivative in (ad.value_and_grad(f, (0, 1)), lambda *args: with_back(f, args)):
        given = Cell(2.0, 4.0, [0.5, 3.0])
        y, (cell_bar, x_bar) = derivative(given, 1.5)
        assert y == of(*point)
        cell_bar = with_zeros(given, cell_bar)  # a pullback may return None for zeros
        found = [cell_bar.k, cell_bar.v, cell_bar.log[0], x_bar]
        assert found == pytest.approx(slopes_of(of, point), abs=1e-7)
        left = Cell(2.0, 4.0, [0.5, 3.0])
        f(left, 1.5)
        assert list(vars(given).items()) == list(vars(left).items())
    assert "fast tier" in str(ad.tier(f, Cell(2.0, 4.0, [0.5, 3.0]), 1.5))


def slopes_of(f, point):
    """The partial derivatives of a function of numbers, by central differences."""
    moves = [[STEP * (i == j) for i in range(len(point))] for j in range(len(point))]
    up = [f(*(x + h for x, h in zip(point, move, strict=True))) for move in moves]
    down = [f(*(x - h for x, h in zip(point, move, strict=True))) for move in moves]
    return [(a - b) / (2 * STEP) for a, b in zip(up, down, strict=True)]


def with_back(f, args):
    y, back = ad.pullback(f, *args)
    return y, back(1.0)[1:]


def test_a_field_that_is_missing_is_computed():
    class Given:
        def __init__(self, k):
            self.k = k

        def __getattr__(self, name):
            return 3.0

    def f(given, x):
        return given.k * x

    given = Given(2.0)
    assert ad.grad(f, 1)(given, 1.5) == 2.0
    del given.k
    assert ad.grad(f, 1)(given, 1.5) == 3.0
    given.k = 5.0
    assert ad.grad(f, 1)(given, 1.5) == 5.0
