"""Cotangents keep structure, shape and floating dtype of their primals, and are the caller's."""

from collections import OrderedDict, defaultdict, namedtuple
from types import MappingProxyType

import numpy as np
import pytest

import adjoint as ad
from adjoint.errors import CotangentError

Pair = namedtuple("Pair", "a b")


def total(x):
    return np.sum(np.real(x * x)) * 1.0


# ---- kinds of numbers ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "x, kind",
    [
        (3.0, float),
        (3, float),
        (True, float),
        (3.0 + 4.0j, complex),
        (np.float64(3.0), np.float64),
        (np.float32(3.0), np.float32),
        (np.float16(3.0), np.float16),
        (np.int64(3), np.float64),
        (np.int8(3), np.float64),
        (np.bool_(True), np.float64),
        (np.complex64(3 + 4j), np.complex64),
        (np.complex128(3 + 4j), np.complex128),
    ],
    ids=lambda v: type(v).__name__,
)
def test_numbers(x, kind):
    def f(x):
        return np.real(x * x * 1.0)

    for bar in (*ad.gradient(f, x), ad.grad(f, tier="generic")(x)):
        assert isinstance(bar, kind) if kind is float else type(bar) is kind
        assert bar == pytest.approx(2 * np.conj(x * 1.0))


@pytest.mark.parametrize(
    "dtype, expected",
    [
        (np.float64, np.float64),
        (np.float32, np.float32),
        (np.float16, np.float16),
        (np.int64, np.float64),
        (np.int8, np.float64),
        (np.uint8, np.float64),
        (np.bool_, np.float64),
        (np.complex64, np.complex64),
        (np.complex128, np.complex128),
        (np.longdouble, np.longdouble),
    ],
)
@pytest.mark.parametrize("shape", [(), (1,), (3,), (2, 3), (0,), (2, 0, 3)])
def test_arrays(dtype, expected, shape):
    x = np.ones(shape, dtype)
    (bar,) = ad.gradient(total, x)
    assert isinstance(bar, np.ndarray)
    assert bar.dtype == expected and bar.shape == shape
    np.testing.assert_array_equal(bar, 2 * np.ones(shape))


def test_a_real_primal_never_gets_a_complex_cotangent():
    for x in (2.0, np.float32(2.0), np.ones(3), np.ones(3, np.float32), 2):
        (bar,) = ad.gradient(lambda x: np.sum(np.abs(x * (1 + 2j))), x)
        assert not np.iscomplexobj(bar) and np.shape(bar) == np.shape(x)
        np.testing.assert_allclose(bar, np.sqrt(5.0) * np.ones(np.shape(x)), rtol=1e-6)


def test_single_precision_met_by_double():
    x, y = np.ones(3, np.float32), np.ones(3)
    x_bar, y_bar = ad.gradient(lambda x, y: (x * y).sum(), x, y)
    assert x_bar.dtype == np.float32 and y_bar.dtype == np.float64


def test_the_conjugate_convention():
    """Gradient descent subtracts the cotangent: it points along ∂/∂Re + i ∂/∂Im."""
    (bar,) = ad.gradient(lambda z: abs(z) ** 2, 3.0 + 4.0j)
    assert bar == pytest.approx(6.0 + 8.0j)
    (bar,) = ad.gradient(lambda z: z.imag, 3.0 + 4.0j)
    assert bar == pytest.approx(1j)
    _, back = ad.pullback(lambda z: (2 + 3j) * z, 1.0 + 1.0j)
    assert back(1.0 + 0j)[1] == pytest.approx(2 - 3j)


def test_cotangents_are_cast_to_the_result():
    _, back = ad.pullback(lambda x: x * 2, np.ones(3, np.float32))
    assert back(np.ones(3))[1].dtype == np.float32
    assert back(np.ones(3, int))[1].dtype == np.float32
    assert back([1.0, 1.0, 1.0])[1].dtype == np.float32, "a list of an array's shape does"
    _, back = ad.pullback(lambda x: x * 2, 3.0)
    assert back(1)[1] == 2.0 and back(np.float32(1.0))[1] == 2.0 and back(np.array(1.0))[1] == 2.0
    assert type(back(np.array(1.0))[1]) is float


def test_integer_and_boolean_arguments_as_counters_and_masks():
    def f(x, n, mask):
        for _ in range(n):
            x = x * 2
        return x[mask].sum() + x[n]

    x_bar, n_bar, mask_bar = ad.gradient(f, np.ones(4), 2, np.array([True, False, True, False]))
    np.testing.assert_array_equal(x_bar, [4.0, 0.0, 8.0, 0.0])
    assert n_bar == 0.0
    np.testing.assert_array_equal(mask_bar, np.zeros(4))


# ---- structures ----------------------------------------------------------------------------------


def deep_sum(x):
    if isinstance(x, dict):
        return sum(deep_sum(item) for item in x.values())
    if isinstance(x, list | tuple):
        return sum(deep_sum(item) for item in x)
    return np.sum(x * x) if not isinstance(x, str) else 0.0


@pytest.mark.parametrize(
    "x, expected",
    [
        ([1.0, 2.0], [2.0, 4.0]),
        ((1.0, 2.0), (2.0, 4.0)),
        ({"a": 1.0, "b": 2.0}, {"a": 2.0, "b": 4.0}),
        ([1.0, "text", (2.0, {"k": 3.0})], [2.0, None, (4.0, {"k": 6.0})]),
        (Pair(1.0, [2.0]), Pair(2.0, [4.0])),
        ([[], 1.0], [[], 2.0]),
        ({1: 1.0, (2, 3): 2.0}, {1: 2.0, (2, 3): 4.0}),
        (OrderedDict(b=1.0, a=2.0), {"b": 2.0, "a": 4.0}),
        (defaultdict(float, a=2.0), {"a": 4.0}),
    ],
)
def test_structure_is_kept(x, expected):
    (bar,) = ad.gradient(deep_sum, x)
    assert bar == expected
    if isinstance(x, dict):
        assert isinstance(bar, dict) and list(bar) == list(x)
    else:
        assert type(bar) is type(x)


def test_dataclasses_and_nested_objects():
    class Layer:
        def __init__(self, w):
            self.w, self.name, self.sub = w, "layer", None

    layer = Layer(np.array([1.0, 2.0]))
    layer.sub = [Layer(3.0)]
    (bar,) = ad.gradient(lambda m: m.w.sum() * m.sub[0].w, layer)
    np.testing.assert_array_equal(bar.w, [3.0, 3.0])
    assert bar.name is None and bar.sub[0].w == 3.0 and bar.sub[0].sub is None
    assert isinstance(bar.sub[0], ad.Tangent)


def test_slots():
    class Slotted:
        __slots__ = ("a", "b")

        def __init__(self, a, b):
            self.a, self.b = a, b

    (bar,) = ad.gradient(lambda s: s.a * 3, Slotted(1.0, 2.0))
    assert dict(bar) == {"a": 3.0, "b": 0.0}


def test_objects_in_a_cycle():
    class Node:
        def __init__(self, x):
            self.x, self.next = x, self

    node = Node(2.0)
    (bar,) = ad.gradient(lambda n: n.next.next.x * n.x, node)
    assert bar.x == 4.0


# ---- the same thing at several places ------------------------------------------------------------


def test_the_same_array_twice_as_arguments():
    x = np.array([1.0, 2.0])
    a_bar, b_bar = ad.gradient(lambda a, b: (3 * a * 1.0 + b * b).sum(), x, x)
    np.testing.assert_array_equal(a_bar, [3.0, 3.0])
    np.testing.assert_array_equal(b_bar, [2.0, 4.0])
    assert not np.shares_memory(a_bar, b_bar)


def test_the_same_array_inside_containers():
    x = np.array([1.0, 2.0])
    xs_bar, x_bar = ad.gradient(lambda xs, x: (xs[0] * 2 + xs[1] * 3 + x).sum(), [x, x], x)
    for bar in xs_bar:
        np.testing.assert_array_equal(bar, [5.0, 5.0])
    np.testing.assert_array_equal(x_bar, [1.0, 1.0])
    (bar,) = ad.gradient(lambda d: (d["a"] * d["b"][0]).sum(), {"a": x, "b": (x,)})
    np.testing.assert_array_equal(bar["a"], [2.0, 4.0])
    np.testing.assert_array_equal(bar["b"][0], [2.0, 4.0])


def test_one_place_without_a_path():
    x = np.array([1.0, 2.0])
    (bars,) = ad.gradient(lambda both: (both[0] * both[0]).sum(), [x, x])
    for bar in bars:
        np.testing.assert_array_equal(bar, [2.0, 4.0])


def test_the_same_list_or_object_twice():
    xs = [1.0, 2.0]
    assert ad.gradient(lambda a, b: a[0] * a[1] * 3 + b[0] * b[1], xs, xs) == (
        [6.0, 3.0],
        [2.0, 1.0],
    )
    assert ad.gradient(lambda both: both[0][0] * 3 + both[1][0], [xs, xs]) == (
        [[4.0, 0.0], [4.0, 0.0]],
    )


def test_captured_and_given():
    x = np.array([1.0, 2.0])
    f_bar, y_bar = ad.pullback(lambda y: (x * y).sum(), x)[1](1.0)
    np.testing.assert_array_equal(f_bar.x, [1.0, 2.0])
    np.testing.assert_array_equal(y_bar, [1.0, 2.0])


def test_views_of_one_array_are_other_arrays():
    x = np.array([1.0, 2.0, 3.0])
    a_bar, b_bar = ad.gradient(lambda a, b: (a * a).sum() + 5 * b.sum(), x, x[:2])
    assert a_bar.shape == (3,) and b_bar.shape == (2,)
    np.testing.assert_array_equal(a_bar, [2.0, 4.0, 6.0])
    np.testing.assert_array_equal(b_bar, [5.0, 5.0])


def test_numbers_are_by_value():
    x = 3.5
    assert ad.gradient(lambda a, b: 2 * a + 5 * b, x, x) == (2.0, 5.0)
    assert ad.gradient(lambda xs: 2 * xs[0] + 5 * xs[1], [x, x]) == ([2.0, 5.0],)


# ---- ownership -----------------------------------------------------------------------------------


def arrays(bar):
    if isinstance(bar, np.ndarray):
        yield bar
    elif isinstance(bar, dict | ad.Tangent):
        for item in bar.values():
            yield from arrays(item)
    elif isinstance(bar, list | tuple):
        for item in bar:
            yield from arrays(item)


OWNERSHIP = [
    (lambda x: x, (np.ones(3),)),
    (lambda x: x[:], (np.ones(3),)),
    (lambda x: x.T, (np.ones((2, 3)),)),
    (lambda x: x.reshape(6), (np.ones((2, 3)),)),
    (lambda x, y: x + y, (np.ones(3), np.ones(3))),
    (lambda x, y: x - y, (np.ones(3), np.ones(3))),
    (lambda x: x.sum(), (np.ones(3),)),
    (lambda x: x.mean(axis=0), (np.ones((2, 3)),)),
    (lambda x: np.broadcast_to(x, (2, 3)), (np.ones(3),)),
    (lambda x: [x, x], (np.ones(3),)),
    (lambda xs: xs, ([np.ones(3), np.ones(3)],)),
    (lambda xs: xs[0] + xs[1], ([np.ones(3), np.ones(3)],)),
    (lambda xs: np.stack(xs), ([np.ones(3), np.ones(3)],)),
    (lambda xs: np.concatenate(xs), ([np.ones(3), np.ones(3)],)),
    (lambda d: d["a"] + d["b"], ({"a": np.ones(3), "b": np.ones(3)},)),
    (lambda a, b: np.where([True, False, True], a, b), (np.ones(3), np.ones(3))),
    (lambda x: np.split(x, 3), (np.ones(3),)),
    (lambda x: x.copy(), (np.ones(3),)),
    (lambda x: x.astype(np.float32), (np.ones(3),)),
    (lambda x: np.asarray(x), (np.ones(3),)),
    (lambda x: x.real, (np.ones(3),)),
    (lambda x: np.conj(x), (np.ones(3),)),
    (lambda x: np.add.accumulate(x), (np.ones(3),)),
    (lambda x: ad.stop_gradient(x) + x, (np.ones(3),)),
    (lambda x: ad.hook(lambda bar: bar, x), (np.ones(3),)),
]


def ones_like(y):
    return [ones_like(item) for item in y] if isinstance(y, list) else np.ones_like(y)


@pytest.mark.parametrize("f, args", OWNERSHIP)
def test_results_are_the_callers_own(f, args):
    y, back = ad.pullback(f, *args)
    y_bar = ones_like(y)
    seed = list(arrays(y_bar)) or [np.ones(())]
    before = [bar.copy() for bar in seed]
    bars = back(y_bar)
    found = list(arrays(bars))
    for i, bar in enumerate(found):
        assert bar.flags.writeable
        assert not any(np.shares_memory(bar, other) for other in found[:i])
        assert not any(np.shares_memory(bar, other) for other in seed)
        assert not any(np.shares_memory(bar, other) for other in arrays(args))
    kept = [bar.copy() for bar in found]
    for bar in found:
        bar += 17.0
    for bar, old in zip(seed, before, strict=True):
        np.testing.assert_array_equal(bar, old, err_msg="y_bar was changed")
    for bar, old in zip(arrays(back(y_bar)), kept, strict=True):
        np.testing.assert_array_equal(bar, old, err_msg="back changed with its own result")
    for bar in seed:
        bar.flags.writeable = False
    back(y_bar)


def test_the_lists_are_the_callers_own():
    xs = [1.0, 2.0]
    _, back = ad.pullback(lambda xs: xs, xs)
    seed = [3.0, 4.0]
    bar = back(seed)[1]
    assert bar == [3.0, 4.0] and bar is not seed and bar is not xs
    bar.append(1.0)
    assert back(seed)[1] == [3.0, 4.0] and seed == [3.0, 4.0]


# ---- what is given -------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [1j, "z", [1.0], np.ones(2)], ids=lambda bad: type(bad).__name__)
@pytest.mark.parametrize("wrap", [lambda v: v, lambda v: {"a": v}, lambda v: [v], lambda v: (v,)])
def test_what_does_not_fit_is_said_at_any_depth(wrap, bad):
    _, back = ad.pullback(lambda x: wrap(x * 2.0), 3.0)
    with pytest.raises(ad.AdjointError) as info:
        back(wrap(bad))
    assert info.value.hint
    assert back(wrap(1)) == (None, 2.0)


@pytest.mark.parametrize("bad", [{"b": 1.0}, [1.0], 2.0])
def test_a_structure_that_does_not_fit_is_said(bad):
    _, back = ad.pullback(lambda x: {"a": x}, 3.0)
    with pytest.raises(ad.AdjointError) as info:
        back(bad)
    assert info.value.hint


def test_proxies_and_views():
    proxy = MappingProxyType({"a": 2.0})
    assert ad.gradient(lambda m: m["a"] ** 2, proxy) == ({"a": 4.0},)
    _, back = ad.pullback(lambda x: MappingProxyType({"a": x}), 2.0)
    assert back({"a": 3.0}) == (None, 3.0)
    with pytest.raises(ad.AdjointError, match="dict_values cannot be differentiated"):
        ad.gradient(lambda v: sum(v), {"a": 1.0}.values())
    assert ad.gradient(lambda v: len(v) * 1.0, {"a": 1.0}.values()) == (None,)


def test_a_cotangent_that_contains_itself_is_refused():
    def endless(x):
        items = [x * x]
        items.append(items)
        return items

    y, back = ad.pullback(endless, 3.0)
    assert back([1.0, None])[1] == 6.0
    with pytest.raises(CotangentError, match="contains itself"):
        back(y)


def test_arguments_that_contain_themselves_show_no_cotangent_there():
    items = [3.0]
    items.append(items)
    assert ad.gradient(lambda xs: xs[0] * xs[1][0], items) == ([6.0, None],)
    assert ad.grad(lambda xs: xs[0] * xs[1][0])(items) == [6.0, None]


@pytest.mark.parametrize("writes", [False, True])
def test_an_array_in_a_variable_that_two_functions_captured(writes):
    weights = np.array([1.0, 2.0, 3.0])

    def weighted(x):
        return (x * weights).sum()

    def f(x):
        y = weighted(x)
        if writes:
            weights[0] = 5.0
        return y + (weights * weights).sum()

    _, back = ad.pullback(f, 0.5)
    f_bar, x_bar = back(1.0)
    assert x_bar == 6.0
    expected = [0.5 if writes else 2.5, 4.5, 6.5]
    assert f_bar["weights"].tolist() == f_bar["weighted"]["weights"].tolist() == expected
