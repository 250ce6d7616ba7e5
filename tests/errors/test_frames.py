"""Variables in frames: those of a function that is differentiated are elsewhere, which is said
whoever reads them."""

import inspect
import sys

import pytest

import adjoint as ad
from adjoint.errors import MutationError
from tests.errors.places import assert_tells, raised
from tests.fast.agreeing import generic_tier


def of_its_own_frame(x):
    y = x * x
    return sys._getframe().f_locals["y"]


def of_the_frame_of_a_generator(x):
    def numbers():
        y = x * x
        yield y

    it = numbers()
    next(it)
    return it.gi_frame.f_locals["y"]


def of_a_generator(x):
    def numbers():
        y = x * x
        yield y

    it = numbers()
    next(it)
    return inspect.getgeneratorlocals(it)["y"]


def of_arguments(x):
    return inspect.getargvalues(sys._getframe()).locals["x"] * x


def of_arguments_of_the_current_frame(x):
    return inspect.getargvalues(inspect.currentframe()).locals["x"] * x


@pytest.mark.parametrize(
    ("f", "text"),
    [
        (of_its_own_frame, 'sys._getframe().f_locals["y"]'),
        (of_the_frame_of_a_generator, 'it.gi_frame.f_locals["y"]'),
        (of_a_generator, "inspect.getgeneratorlocals(it)"),
        (of_arguments, "inspect.getargvalues("),
        (of_arguments_of_the_current_frame, "inspect.getargvalues("),
    ],
)
def test_variables_of_differentiated_functions_are_refused(f, text):
    for call in (
        lambda: ad.gradient(f, 1.3),
        lambda: ad.grad(f, tier="generic")(1.3),
        lambda: ad.pushforward(f, (1.3,), (1.0,)),
    ):
        error = raised(MutationError, call)
        assert "the variables of a frame" in error.problem
        assert_tells(error, f, text)


def counting(k):
    yield k


BEGUN = counting(3.0)
next(BEGUN)


def of_others(x):
    done = (k for k in ())
    list(done)
    try:
        inspect.getgeneratorlocals([x])
    except TypeError:
        factor = inspect.getgeneratorlocals(BEGUN)["k"]
    return x * factor if inspect.getgeneratorlocals(done) == {} else 0.0


def test_variables_of_others_are_constants():
    assert of_others(2.0) == 6.0
    assert ad.gradient(of_others, 2.0) == (3.0,)
    with generic_tier():
        value, back = ad.pullback(of_others, 2.0)
        assert (value, back(1.0)[1], back(1.0)[1]) == (6.0, 3.0, 3.0)
    assert ad.pushforward(of_others, (2.0,), (1.0,)) == (6.0, 3.0)
