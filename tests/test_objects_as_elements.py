"""Objects that say which number they are, as elements of arrays of each type."""

import numpy as np
import pytest

from adjoint.testing import check_gradient

V = np.array([0.7, 1.3])
FIRST = ("reverse", "forward")


class Real:
    def __init__(self, x):
        self.x = x

    def __float__(self):
        return float(self.x * self.x)


class Complex(Real):
    def __complex__(self):
        return complex(self.x, 2.0 * self.x)


FLOATS = [float, np.float64, "float64", "f8", "d", "double", "<f8", np.dtype("d"), np.longdouble]
COMPLEX = [complex, "complex128", "D", "c16", np.complex128, np.clongdouble]
MAKERS = {
    "array": np.array,
    "asarray": np.asarray,
    "asanyarray": np.asanyarray,
    "ascontiguousarray": np.ascontiguousarray,
    "require": np.require,
    "fromiter": np.fromiter,
    "named": lambda parts, dtype: np.array(parts, dtype=dtype),
    "full": lambda parts, dtype: np.full(2, parts[1], dtype) * parts[0],
    "joined": lambda parts, dtype: np.concatenate(
        [parts, parts[:1]], dtype=dtype, casting="unsafe"
    ),
}
KINDS = [(Real, dtype) for dtype in FLOATS] + [
    (kind, dtype) for kind in (Real, Complex) for dtype in COMPLEX
]


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize(
    ("kind", "dtype"), KINDS, ids=[f"{kind.__name__}, {dtype}" for kind, dtype in KINDS]
)
def test_new_arrays(kind, dtype, maker):
    def f(v):
        made = MAKERS[maker]([v[0], kind(v[1])], dtype)
        return np.sum(np.abs(made))

    check_gradient(f, V, modes=FIRST)


def test_functions_that_give_numbers_and_objects():
    def f(v):
        return np.vectorize(lambda x: x if x < 1.0 else Real(x))(v).sum()

    check_gradient(f, V, modes=FIRST)


WRITES = {
    "one": lambda z, a, b: z.__setitem__(0, a),
    "all": lambda z, a, b: z.__setitem__(slice(None), [a, b]),
    "fill": lambda z, a, b: z.fill(a),
    "flat": lambda z, a, b: z.flat.__setitem__(0, b),
    "put": lambda z, a, b: z.put([1], a),
    "put, by the function": lambda z, a, b: np.put(z, [1, 0], [a, b]),
    "copyto": lambda z, a, b: np.copyto(z, [a, 2.0], casting="unsafe"),
    "place": lambda z, a, b: np.place(z, [True, False], [b]),
    "putmask": lambda z, a, b: np.putmask(z, [False, True], a),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
@pytest.mark.parametrize(("kind", "dtype"), [(Real, float), (Real, complex), (Complex, complex)])
def test_written(kind, dtype, write):
    def f(v):
        z = np.zeros(2, dtype)
        z[1] = v[1]
        write(z, kind(v[0]), kind(v[1]))
        return np.sum(np.abs(z) * np.array([1.0, 3.0]))

    check_gradient(f, V, modes=FIRST)


@pytest.mark.parametrize("make", [np.complex128, np.clongdouble, complex])
def test_scalars(make):
    check_gradient(lambda v: abs(make(Complex(v[0]))) * v[1], V, modes=FIRST)
