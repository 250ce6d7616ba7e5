"""Pullbacks that compute only the cotangents that are wanted."""

import tracemalloc

import numpy as np
import pytest

import adjoint as ad
from adjoint.fast.programs import store
from adjoint.rulekit import registry
from adjoint.testing import check_rule

ASKED = []
A = np.array([[3.0, 1.0], [0.5, 2.0]])
B = np.array([1.0, -2.0])


@ad.non_differentiable
def note(wanted):
    ASKED.append("".join("01"[one] for one in wanted))


def solved(a, b):
    return np.linalg.solve(a, b)


@ad.rrule.register(solved)
def _(a, b):
    x = np.linalg.solve(a, b)

    def solved_back(x_bar, *, wanted):
        note(wanted)
        b_bar = np.linalg.solve(a.T, x_bar)
        return None, -np.outer(b_bar, x) if wanted[0] else None, b_bar if wanted[1] else None

    return x, solved_back


def scaled(x, factor, shift=0.0):
    return x * factor + shift


@ad.rrule.register(scaled)
def _(x, factor, shift=0.0):
    def scaled_back(y_bar, *, wanted):
        factor_bar = np.sum(y_bar * x) if wanted[1] else None
        return None, y_bar * factor if wanted[0] else None, factor_bar, np.sum(y_bar)

    return x * factor + shift, scaled_back


def of_matrix(a):
    return np.sum(np.tanh(solved(a, B)))


def of_vector(b):
    return np.sum(np.tanh(solved(A, b)))


def of_both(a, b):
    return np.sum(np.tanh(solved(a, b)))


def with_default(x):
    return np.sum(scaled(x, 3.0) * scaled(x, np.sum(x), 1.0))


FUNCTIONS = [
    (of_matrix, (A,), "10"),
    (of_vector, (B,), "01"),
    (of_both, (A, B), "11"),
    (with_default, (B,), None),
]


def plain_of(f):
    """Return `f` with the functions themselves in place of their rules."""

    def plain(*args):
        namespace = {**globals(), "solved": np.linalg.solve, "scaled": lambda x, y, z=0: x * y + z}
        return eval(f.__code__, namespace) if not args else _call(f, namespace, args)

    return plain


def _call(f, namespace, args):
    return type(f)(f.__code__, namespace)(*args)


@pytest.fixture(params=["programs", "generic"])
def tier(request):
    store.forget()
    before, store.is_enabled[0] = store.is_enabled[0], request.param == "programs"
    yield request.param
    store.is_enabled[0] = before


@pytest.mark.parametrize("f, args, wanted", FUNCTIONS)
def test_all_modes_have_the_derivatives_of_the_function_itself(f, args, wanted, tier):
    plain = plain_of(f)
    expected = ad.gradient(plain, *args)
    dots = tuple(np.cos(np.arange(x.size)).reshape(x.shape) for x in args)
    ASKED.clear()
    for got, bar in zip(ad.gradient(f, *args), expected, strict=True):
        np.testing.assert_allclose(got, bar, rtol=1e-12)
    if wanted and tier == "programs":
        assert set(ASKED) == {wanted}
    y, back = ad.pullback(f, *args)
    for _ in range(2):
        for got, bar in zip(back(2.0)[1:], expected, strict=True):
            np.testing.assert_allclose(got, 2.0 * bar, rtol=1e-12)
    slope = sum(np.sum(bar * dot) for bar, dot in zip(expected, dots, strict=True))
    np.testing.assert_allclose(ad.pushforward(f, args, dots)[1], slope, rtol=1e-12)
    at = [0] if len(args) == 1 else [0, 1]
    for i in at:

        def of_one(x, g=f, i=i):
            return g(*args[:i], x, *args[i + 1 :])

        def plain_of_one(x, i=i):
            return plain(*args[:i], x, *args[i + 1 :])

        for mine, theirs in ((of_one, plain_of_one),):
            np.testing.assert_allclose(
                ad.hvp(mine, args[i], dots[i]), ad.hvp(theirs, args[i], dots[i]), rtol=1e-9
            )
    ad.testing.check_gradient(f, *args)


def test_the_generic_tier_asks_for_one_side_of_a_constant_global(tier):
    ASKED.clear()
    ad.gradient(of_vector, B)
    assert set(ASKED) == {"01"}
    ASKED.clear()
    ad.gradient(of_matrix, A)
    assert set(ASKED) == {"10"}


def test_levels_ask_for_what_depends_on_the_variable():
    ASKED.clear()
    store.is_enabled[0] = False
    try:
        ad.hessian(of_vector, B)
        ad.pushforward(of_vector, (B,), (B,))
    finally:
        store.is_enabled[0] = True
    assert set(ASKED) == {"01"}


def test_a_written_constant_is_wanted(tier):
    held = A.copy()

    def f(b):
        a = held.copy()
        a[0] = a[0] * b[0]
        return np.sum(solved(a, b))

    ad.testing.check_gradient(f, B)


def test_the_public_forms_want_everything():
    ASKED.clear()
    _, back = ad.rrule(solved, A, B)
    assert [bar is None for bar in back(B)] == [True, False, False]
    assert [bar is None for bar in back(B, wanted=(False, True))] == [True, True, False]
    assert ASKED == ["11", "01"] and repr(back).startswith("solved_back(a=array of shape")
    np.testing.assert_array_equal(back.a, A)
    _, back = ad.rrule(scaled, B, 2.0)  # the third argument is not given
    assert len(back(B)) == 4
    _, back = ad.pullback(solved, A, B)
    assert [bar is None for bar in back(B)] == [True, False, False]


def test_check_rule_asks_for_each_argument():
    ASKED.clear()
    check_rule(solved, A, B)
    assert {"10", "01", "11"} <= set(ASKED)


def test_check_rule_finds_a_cotangent_that_is_left_out():
    def wrong(a, b):
        return a * b

    @ad.rrule.register(wrong)
    def _(a, b):
        def wrong_back(y_bar, *, wanted):
            return None, y_bar * b if wanted[1] else None, y_bar * a

        return a * b, wrong_back

    with pytest.raises(AssertionError, match="argument 0 where no other is wanted"):
        check_rule(wrong, 2.0, 3.0)


def test_a_custom_function_may_ask():
    @ad.custom
    def product(a, b):
        return a @ b

    @product.reverse
    def _(a, b):
        def product_back(y_bar, *, wanted):
            note(wanted)
            return np.outer(y_bar, b) if wanted[0] else None, a.T @ y_bar if wanted[1] else None

        return a @ b, product_back

    ASKED.clear()
    f = lambda b: np.sum(product(A, b) ** 2)
    np.testing.assert_allclose(ad.gradient(f, B)[0], 2 * A.T @ (A @ B))
    assert set(ASKED) == {"01"}
    ad.testing.check_gradient(f, B)
    ad.testing.check_gradient(lambda a: np.sum(product(a, B) ** 2), A)


def test_other_rules_are_as_they_were():
    def f(x):
        return x * x

    def rule(x):
        def f_back(y_bar, *, scale=2.0):
            return None, scale * x * y_bar

        return x * x, f_back

    ad.rrule.register(f)(rule)
    own = registry.table[f].rrules[0]
    assert own.function is rule and not own.asking
    assert ad.gradient(f, 3.0) == (6.0,)


T = np.cos(np.arange(24.0)).reshape(2, 3, 4)
S = np.sin(np.arange(12.0)).reshape(2, 2, 3)


@pytest.mark.parametrize(
    "f, x",
    [
        (lambda x: np.sum(np.tanh(S @ x)), np.sin(np.arange(6.0)).reshape(3, 2)),
        (lambda x: np.sum(np.tanh(x @ S)), np.sin(np.arange(4.0)).reshape(2, 2)),
        (lambda x: np.sum(np.einsum("ijk,i,k->j", T, x, T[0, 0][:4]) ** 2), np.ones(2)),
        (lambda x: np.sum(np.einsum(x, [0], T, [0, 1, 2], [1, 2]) ** 2), np.ones(2)),
        (lambda x: np.sum(np.dot(S, x) ** 2) + x @ x, np.arange(3.0)),
        (lambda x: np.sum((S @ (1j * x)).real ** 2 + (S @ (1j * x)).imag), np.arange(3.0)),
    ],
)
def test_products_with_a_constant(f, x, tier):
    ad.testing.check_gradient(f, x)
    dot = np.cos(x)
    along = ad.derivative(lambda t: ad.gradient(f, x + t * dot)[0])(0.0)
    np.testing.assert_allclose(ad.hvp(f, x, dot), along, rtol=1e-10, atol=1e-12)
    step = 1e-5 * dot
    slope = (ad.gradient(f, x + step)[0] - ad.gradient(f, x - step)[0]) / 2e-5
    np.testing.assert_allclose(along, slope, rtol=1e-6, atol=1e-6)
    ad.testing.check_gradient(lambda v: np.sum(ad.grad(f)(v) * v), x)


def test_an_einsum_is_asked_for_the_active_operands_only():
    """The cotangent of the constant would take as much memory as that."""
    wide, x = np.ones((1000, 1000)), np.ones(1000)

    def f(x):
        return np.sum(np.einsum("ij,j,i->", wide, x, x))

    for enabled in (True, False):
        store.is_enabled[0] = enabled
        try:
            ad.hvp(f, x, x)
            tracemalloc.start()
            ad.hvp(f, x, x)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
            store.is_enabled[0] = True
        assert peak < wide.nbytes / 4


HELD = A.copy()


def writes_a_global(b):
    HELD[0] = A[0] * b[0]
    return np.sum(solved(HELD, b))


def writes_a_global_beside_a_constant(b):
    HELD[0] = A[0] * b[0]
    return np.sum(solved(HELD, B) ** 2)


@pytest.mark.parametrize("f", [writes_a_global, writes_a_global_beside_a_constant])
def test_a_global_array_that_was_written_is_wanted(f, tier):
    ad.testing.check_gradient(f, np.array([1.5, -0.5]))


MEMBERS = [1.0, 2.0]


def total(values, b):
    return values[0] * values[-1] * b


@ad.rrule.register(total)
def _(values, b):
    first, last = values[0], values[-1]

    def total_back(y_bar, *, wanted):
        bars = [0.0] * len(values)
        if wanted[0]:
            bars[0], bars[-1] = y_bar * last * b, y_bar * first * b
        return None, bars if wanted[0] else None, y_bar * first * last if wanted[1] else None

    return first * last * b, total_back


def writes_a_global_list(b):
    MEMBERS[0] = b * b
    return total(MEMBERS, b)


def writes_a_view_of_a_global(b):
    row = HELD[0]
    row[:] = A[0] * b[0]
    return np.sum(solved(HELD, b))


@pytest.mark.parametrize(
    "f, x", [(writes_a_global_list, 1.5), (writes_a_view_of_a_global, np.array([1.5, -0.5]))]
)
def test_a_global_that_holds_something_active_is_wanted(f, x, tier):
    ad.testing.check_gradient(f, x)
