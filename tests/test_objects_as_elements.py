"""Objects that say which number they are, as elements of arrays of each type."""

import numpy as np
import pytest

import adjoint as ad
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


class Odd:
    """What it is depends on how NumPy asks."""

    def __init__(self, v):
        self.v = v


class Number(Odd):
    def __float__(self):
        return float(self.v[0] ** 2)


class ComplexNumber(Odd):
    def __complex__(self):
        return complex(self.v[0] ** 3, self.v[1])


class Sequence(Odd):
    def __len__(self):
        return 2

    def __getitem__(self, i):
        return [self.v[0] * 5.0, self.v[1] * 7.0][i]


class Index(Odd):
    def __index__(self):
        return 4


class Array(Odd):
    def __array__(self, dtype=None, copy=None):
        return self.v * 11.0


class Array0(Odd):
    def __array__(self, dtype=None, copy=None):
        return np.array(self.v[0] * 11.0)


class NumberInList(Number, list):
    def __init__(self, v):
        super().__init__(v)
        self.extend([v[0] * 5.0, v[1] * 7.0])


class NumberInFloat(Number, float):
    def __new__(cls, v):
        made = float.__new__(cls, v[0] * 3.0)
        made.v = v
        return made


class NumberInArray(np.ndarray):
    def __float__(self):
        return float(self.v[0] ** 2)


def _in_array(v, part):
    made = np.array(part * 3.0).view(NumberInArray)
    made.v = v
    return made


def _of(*bases):
    return type("And".join(base.__name__ for base in bases), bases, {})


ODD = [
    Number, Sequence, Array, Array0, NumberInList, NumberInFloat, _of(Number, Sequence),
    _of(ComplexNumber, Sequence), _of(Number, ComplexNumber, Sequence), _of(Number, Array),
    _of(Number, Array0), _of(Number, Sequence, Array), _of(Index, Sequence), _of(Number, Index),
]  # fmt: skip


def _into(shape, index):
    def make(x, dtype):
        z = np.zeros(shape, dtype)
        z[index] = x
        return z

    return make


def _by(write, shape=2):
    def make(x, dtype):
        z = np.zeros(shape, dtype)
        write(z, x)
        return z

    return make


INTO = {
    "z[0]": _into(2, 0),
    "z[0, 1]": _into((2, 2), (0, 1)),
    "z[(np.int64(1),)]": _into(2, (np.int64(1),)),
    "z[()]": _into((), ()),
    "z[...]": _into((), ...),
    "z[0, ...]": _into(2, (0, ...)),
    "z[:]": _into(2, slice(None)),
    "z[[0]]": _into(2, [0]),
    "z[None, 0]": _into(2, (None, 0)),
    "a row": _into((2, 2), 0),
    "in a list": _by(lambda z, x: z.__setitem__(slice(None), [x, 1.0])),
    "fill": _by(lambda z, x: z.fill(x)),
    "flat[0]": _by(lambda z, x: z.flat.__setitem__(0, x)),
    "flat[:]": _by(lambda z, x: z.flat.__setitem__(slice(None), x)),
    "put": _by(lambda z, x: z.put([0, 1], x)),
    "copyto": _by(lambda z, x: np.copyto(z, x)),
    "place": _by(lambda z, x: np.place(z, [True, True], x)),
    "putmask": _by(lambda z, x: np.putmask(z, [False, True], x)),
    "add.at": _by(lambda z, x: np.add.at(z, 0, x)),
    "fromiter": lambda x, dtype: np.fromiter([x, x], dtype),
    "array": np.array,
    "array of a list": lambda x, dtype: np.array([x], dtype),
    "array of a list, without a type": lambda x, dtype: np.array([1.0, x]),
    "full": lambda x, dtype: np.full(2, x, dtype),
    "a scalar": lambda x, dtype: np.dtype(dtype).type(x),
    "vectorize": lambda x, dtype: np.vectorize(lambda i: x, otypes=[dtype])([1.0, 2.0]),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ODD, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("into", INTO)
def test_what_numpy_asks(into, dtype, kind):
    """One element of an array is asked for a number, whatever else it could be; what goes into an
    array otherwise is an array or a sequence first."""
    _check(into, dtype, kind)


@pytest.mark.parametrize("kind", [lambda v: _in_array(v, v[0]), lambda v: _in_array(v, v[:1])])
@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("into", [into for into in INTO if "list" not in into])
def test_what_numpy_asks_arrays(into, dtype, kind):
    _check(into, dtype, kind)


def _check(into, dtype, kind):
    def f(v):
        made = np.asarray(INTO[into](kind(v), dtype))
        return np.sum(np.sin(made.real + 2.0 * made.imag) * np.arange(1.0, 1.0 + made.size))

    try:
        f(V)
    except (TypeError, ValueError):
        for mode in (lambda: ad.pullback(f, V), lambda: ad.pushforward(f, (V,), (V,))):
            with pytest.raises((TypeError, ValueError)):
                mode()
    else:
        check_gradient(f, V, modes=FIRST)
