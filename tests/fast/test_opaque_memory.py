"""Memory that results of opaque operations share, and effects that functions may not have."""

import numpy as np
import pytest

import adjoint as ad
from adjoint.fast.evaluate import partial_evaluator
from adjoint.fast.not_covered import NotCovered
from adjoint.fast.programs import store
from adjoint.fast.support.pure_functions import names_of_pure
from adjoint.runtime.dispatch.observed_results import observed
from tests.fast import impure_functions as user
from tests.fast.agreeing import generic_tier

LARGE, SMALL = np.array([1.5, 0.7, 2.0, 1.1]), np.array([0.5, 0.7, 2.0, 1.1])
V = np.array([0.3, -0.2, 0.5, 0.1])


@pytest.fixture
def uncovered(monkeypatch):
    """The functions `user.INNER` are not covered by themselves."""
    inner = {one.__code__ for one in user.INNER}
    found = partial_evaluator.single_of

    def single_of(closure):
        if closure.code in inner:
            raise NotCovered("a test")
        return found(closure)

    monkeypatch.setattr(partial_evaluator, "single_of", single_of)
    observed.clear()
    yield
    store.forget()


MODES = {
    "gradient": lambda f, x: ad.withgradient(f, x),
    "pullback": lambda f, x: (lambda y, back: (y, back(1.0)[1], back(2.0)[1]))(*ad.pullback(f, x)),
    "pushforward": lambda f, x: ad.pushforward(f, (x,), (V,)),
    "hvp": lambda f, x: (f(x.copy()), ad.hvp(f, x, V)),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("first", [LARGE, SMALL], ids=["new", "shared"])
@pytest.mark.parametrize(
    "f",
    [
        user.parts_written,
        user.other_parts_written,
        user.result_written,
        user.operand_written,
        user.result_of_a_list_written,
        user.operand_written_that_is_read_back,
        user.appended,
        user.item_of_a_result_written,
        user.item_of_an_operand_written,
        user.same_array_twice,
        user.the_same_number_written,
    ],
    ids=lambda f: f.__name__,
)
def test_shared_memory_and_writes_are_those_of_the_call_itself(f, first, mode, uncovered):
    for x in (first, first, first, SMALL, LARGE, SMALL, LARGE):
        with generic_tier():
            expected = MODES[mode](f, x.copy())
        found = MODES[mode](f, x.copy())
        np.testing.assert_allclose(found[0], f(x.copy()), rtol=1e-12)
        for a, b in zip(found[1:], expected[1:], strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12)


def test_an_operand_that_is_written_later_has_tangents_of_its_pullback(uncovered):
    f = user.operand_written_that_is_read_back
    for _ in range(3):
        ad.gradient(f, LARGE)
    assert ad.tier(f, LARGE).tier == "fast"
    step = 1e-6 * V
    expected = (ad.gradient(f, LARGE + step)[0] - ad.gradient(f, LARGE - step)[0]) / 2e-6
    np.testing.assert_allclose(ad.hvp(f, LARGE, V), expected, rtol=1e-6)


@pytest.mark.parametrize(
    "f",
    [
        user.data_of_a_function,
        user.data_by_name,
        user.exception_with_effects,
        user.random_number,
    ],
    ids=lambda f: f.__name__,
)
def test_functions_with_effects_are_not_pure(f):
    assert names_of_pure(f) is None


def test_an_exception_without_contents_is_pure():
    names = names_of_pure(user.plain_exception)
    assert {name for _, name in names} == {"Plain", "np"}


@pytest.mark.parametrize(
    "part",
    [
        lambda x: x.view([("a", float), ("b", float)])["a"].sum(),
        lambda x: (x**2).sum() + np.ndarray((2,), float, buffer=x, offset=8).sum(),
    ],
)
def test_other_names_of_the_memory_of_an_operand(part):
    def f(x):
        return part(x) * 2.0

    expected = [(part(LARGE + 1e-6 * e) - part(LARGE - 1e-6 * e)) / 1e-6 for e in np.eye(4)]
    for _ in range(3):
        np.testing.assert_allclose(ad.gradient(f, LARGE)[0], expected, atol=1e-8)
