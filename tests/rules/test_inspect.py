"""What `inspect` hands on, beside the corpus: what depends on names and text, and what it costs."""

import inspect
import sys

import numpy as np
import pytest

import adjoint as ad
from adjoint.testing import check_gradient


def captured_variables(x):
    c = x * x

    def f():
        return c * x

    return inspect.getclosurevars(f).nonlocals["c"] * f()


def annotations_that_are_numbers(x):
    def f(u: x * x):
        return u

    found = inspect.signature(f).parameters["u"].annotation * inspect.get_annotations(f)["u"]
    return found * inspect.getfullargspec(f).annotations["u"]


def a_default_of_what_is_wrapped(x):
    def f(p, q=x * x):
        return p * q

    def g(*args):
        return f(*args)

    g.__wrapped__ = f
    return inspect.signature(g).parameters["q"].default * x


@pytest.mark.parametrize(
    "f", [captured_variables, annotations_that_are_numbers, a_default_of_what_is_wrapped]
)
def test_it_has_derivatives(f):
    check_gradient(f, 0.7, modes=("reverse", "forward"))
    slopes = [ad.gradient(f, 0.7 + step)[0] for step in (1e-5, -1e-5)]
    assert ad.vhp(f, 0.7, 1.0) == pytest.approx((slopes[0] - slopes[1]) / 2e-5, rel=1e-6)


def test_integers_that_count_as_numbers():
    def f(n):
        def g(p, q=n * n):
            return p * q

        return inspect.signature(g).parameters["q"].default * n

    assert ad.gradient(f, 3) == (27.0,)


def test_what_has_no_numbers_is_read_as_it_is():
    def plain(a, b=None, *rest, axis=-1, name: str = "u"):
        return a

    def f(x, n):
        for _ in range(n):
            found = inspect.signature(plain), inspect.signature(np.linspace)
            spec = inspect.getfullargspec(plain)
        assert found[0].parameters["axis"].default == spec.kwonlydefaults["axis"] == -1
        return x * len(found[0].parameters) * len(found[1].parameters)

    ad.gradient(f, 1.0, n=1)
    # it is ninety times as many where the source is followed
    assert _calls(lambda: ad.gradient(f, 1.0, n=100)) < 5 * _calls(lambda: f(1.0, 100))


def _calls(run):
    """The number of calls of Python functions."""
    count = 0

    def see(frame, event, arg):
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(see)
    try:
        run()
    finally:
        sys.setprofile(before)
    return count


def test_what_wraps_itself_is_refused_by_python():
    def f(x):
        def g(p):
            return p

        g.__wrapped__ = g
        with pytest.raises(ValueError, match="wrapper loop"):
            inspect.signature(g)
        return x * x

    assert ad.gradient(f, 3.0) == (6.0,)
