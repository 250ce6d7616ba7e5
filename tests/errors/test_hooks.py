"""What a hook returns has to be a cotangent of what it is on."""

import numpy as np
import pytest

import adjoint as ad
from tests.errors.places import assert_tells, raised

ones = np.ones(3)


def hooked(bar):
    """A function with a hook that returns `bar`."""

    def hook(_):
        return bar

    def f(x):
        y = ad.hook(hook, x)
        return sum([np.sum(part) for part in y]) if isinstance(y, list) else np.sum(y * y)

    return f


WRONG = {
    "a shape for a number": (ones, 2.0, "(3,)"),
    "a list for a number": ([1.0], 2.0, "(1,)"),
    "text for a number": ("a", 2.0, "numeric"),
    "a dict for a number": ({"a": 1.0}, 2.0, "numeric"),
    "a number for an array": (1.0, ones, "()"),
    "another shape": (np.ones(7), ones, "(7,)"),
    "more axes": (np.ones((1, 3)), ones, "(1, 3)"),
    "text for an array": ("a", ones, "()"),
    "an array of texts": (np.array(["a", "b", "c"]), ones, "numeric"),
    "an array of objects": (np.ones(3, object), ones, "numeric"),
    "fewer parts": ([1.0], [1.0, 2.0], "2 elements"),
    "a number for a list": (1.0, [1.0, 2.0], "2 elements"),
    "a shape in a list": ([1.0, ones], [1.0, 2.0], "(3,)"),
    "a number for an array in a list": ([1.0, 1.0], [1.0, ones], "()"),
    "text in a list": (["a", 1.0], [1.0, 2.0], "numeric"),
}


@pytest.mark.parametrize("bar, x, said", WRONG.values(), ids=WRONG)
def test_what_does_not_fit(bar, x, said):
    f = hooked(bar)
    error = raised(ad.errors.CotangentError, ad.gradient, f, x)
    assert said in str(error) and "hook" in str(error)
    assert_tells(error, f, "ad.hook(hook, x)")


def test_what_fits():
    for bar in (3, 3.0, np.float32(3.0), np.array(3.0), 3.0 + 1.0j):
        (found,) = ad.gradient(hooked(bar), 2.0)
        assert found == 3.0 and type(found) is float
    for bar in (3 * ones, np.full(3, 3), [3, 3, 3], np.full(3, 3.0, "f4"), 3 * ones + 1.0j):
        (found,) = ad.gradient(hooked(bar), ones)
        np.testing.assert_array_equal(found, 3 * ones)
        assert found.dtype == float
    assert ad.gradient(hooked((3.0, None)), [1.0, 2.0]) == ([3.0, 0.0],)
    assert ad.gradient(hooked(None), 2.0) == (0.0,)


def test_arguments_that_are_exchanged():
    for f in (lambda x: ad.hook(x, hooked(1.0)), lambda x: ad.hook(x, hooked(1.0), name="x")):
        with pytest.raises(ad.errors.ArgumentError, match="calls its first argument"):
            f(2.0)
        with pytest.raises(ad.errors.ArgumentError, match="calls its first argument"):
            ad.gradient(f, 2.0)
        with pytest.raises(ad.errors.ArgumentError, match="calls its first argument"):
            ad.derivative(f)(2.0)
