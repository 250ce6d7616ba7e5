"""What classes make of the results that NumPy hands to them: ``__array_wrap__``, of functions that
have no derivative themselves, too, and methods that NumPy's functions ask for."""

import numpy as np

from tests.corpus.registry import case, refused

X = np.array([0.6, 1.9, 2.7])


class Scaled(np.ndarray):
    """Each result is multiplied by a number that the array carries."""

    def __array_finalize__(self, source):
        self.scale = getattr(source, "scale", None)

    def __array_wrap__(self, array, context=None, return_scalar=False):
        scaled = np.asarray(np.asarray(array) * self.scale).view(Scaled)
        scaled.scale = self.scale
        return scaled


def scaled(x):
    y = (x * 1.0).view(Scaled)
    y.scale = x[1]
    return y


class Holder:
    """No array, but handed results."""

    def __init__(self, value, scale):
        self.value, self.scale = value, scale

    def __array__(self, dtype=None, copy=None):
        return self.value

    def __array_wrap__(self, array, context=None, return_scalar=False):
        return Holder(array * self.scale, self.scale)


class Answering:
    """Says itself what functions of NumPy are."""

    def __init__(self, value):
        self.value = value

    def __array__(self, dtype=None, copy=None):
        return self.value

    def round(self, decimals=0, out=None):
        return self.value * 3.0

    def max(self, axis=None, out=None):
        return self.value[0] * self.value[1]

    def argsort(self, axis=-1, kind=None, order=None):
        return self.value[::-1] * 2.0

    def transpose(self, axes=None):
        return self.value**2

    @property
    def real(self):
        return self.value * 5.0

    @property
    def any(self):
        return lambda axis=None, out=None: self.value.sum()


class Passing:
    """Leaves to another object what it does not have."""

    def __init__(self, value):
        self.value = value

    def __array__(self, dtype=None, copy=None):
        return self.value

    def __getattr__(self, name):
        found = getattr(self.__dict__["value"], name)
        return (lambda *a, **k: 2.0 * found(*a, **k)) if callable(found) else found


def weighted(y):
    return (np.asarray(y) * np.arange(1.0, np.size(y) + 1.0).reshape(np.shape(y))).sum()


@refused(X)
def clipped_by_classes(x):
    y = scaled(x)
    total = weighted(np.clip(y, 0.7, 2.0)) + weighted(y.clip(0.7)) * weighted(np.clip(y, None, 2.0))
    total += weighted(np.clip(x, Holder(x[::-1] * 1.05, x[0]), 2.2).value)
    total += weighted(np.clip(y, 0.7, x[1] * 1.1, out=np.zeros(3)))
    into = scaled(x)
    total += weighted(np.clip(into, 0.7, 2.0, out=into)) * weighted(into)
    return total + weighted(np.clip(y, x[0] * 1.1, None, dtype="f8"))


@case(X)
def steps_of_what_is_scaled(x):
    y = scaled(x)
    total = weighted(np.floor(y)) + weighted(np.rint(y)) * weighted(np.sign(y))
    total += weighted(np.round(y)) + weighted(y.round(1)) + weighted(np.trunc(y)) * x[0]
    total += weighted(np.isfinite(y)) * weighted(np.logical_and(y, x > 1.0))
    total += weighted(y > 1.0) + weighted(2.0 <= y) * x[2] + weighted(y != 3.0) + np.all(y) * x[0]
    total += weighted(y.any(axis=0, keepdims=True)) * x[1] + weighted(y // 0.8)
    quotient, rest = divmod(y, 0.8)
    return total + weighted(quotient) * weighted(rest) + y.argsort() @ x + np.argmax(y)


@case(X)
def steps_of_an_object(x):
    y = Holder(x * x, x[1])
    total = weighted(np.floor(y).value) + weighted(np.around(y, 1).value) * weighted(
        np.rint(y).value
    )
    total += weighted(np.argsort(y).value) + np.argmax(y).value + weighted(np.greater(y, 1.0).value)
    return total + weighted(np.isnan(y).value) + np.count_nonzero(y)


@refused(X)
def operators_and_methods_of_what_is_scaled(x):
    y = scaled(x)
    total = weighted(-y) + weighted(abs(y) % 0.8) + weighted(y @ np.outer(x, x)) + weighted(y**2)
    total += weighted(y.sum()) + weighted(y.cumsum()) + weighted(y.prod()) + weighted(y.max())
    total += weighted(np.add.reduce(y)) + weighted(np.maximum.accumulate(y)) + weighted(y.mean())
    total += weighted(np.average(y)) * weighted(np.median(y)) + weighted(y.min() - y)
    return total + weighted(np.multiply.outer(y, x))


@case(X)
def scaled_by_one_at_the_point(x):
    """What the class makes of a result is equal to it, and depends on more."""
    y = scaled(x)
    y.scale = x[1] / 1.9
    return weighted(np.sin(y)) + weighted(y.sum()) + weighted(y * 2.0) + weighted(np.floor(y))


@case(X)
def what_is_scaled_in_place(x):
    """The array holds the result of the ufunc, the variable what the class makes of it."""
    y = scaled(x)
    held = y
    y += x
    y *= x[0]
    return weighted(y) + weighted(held) * x[2]


class Tagged(np.ndarray):
    """Hands its attribute on."""

    def __array_finalize__(self, source):
        self.tag = getattr(source, "tag", None)


@case(X)
def attributes_of_what_has_no_derivative(x):
    y = x.view(Tagged)
    y.tag = x[1]
    total = y.argsort().tag * x[0] + np.zeros_like(y).tag * x[2] + np.floor(y).tag ** 2
    total += (y > 1.0).tag * 2.0 + (1.0 >= y).tag * x[0] + (y == y).tag ** 3
    return total + np.isfinite(y).tag + y.round().tag * x[2]


class Spaced(np.ndarray):
    """Hands its attributes on, and begins with constants."""

    step = 0.5

    def __array_finalize__(self, source):
        self.width = getattr(source, "width", 2.0)
        self.step = getattr(source, "step", None) or 0.25


@case(X)
def attributes_that_begin_with_constants(x):
    y = x.view(Spaced)
    first = y.width * x[0] + y.step * x[1]
    y.width = x[1] * x[2]
    z = y * 2.0
    part = y[1:]
    total = first + z.width * weighted(z) + part.width * weighted(part)
    return total + (y + z).width * np.sin(y).width + y.copy().width * y.step


@case(X)
def methods_that_functions_ask_for(x):
    y = Answering(x * x)
    total = weighted(np.round(y)) + weighted(np.around(y, 2)) + np.amax(y) * np.max(y)
    total += weighted(np.argsort(y)) * weighted(np.transpose(y)) + weighted(np.real(y)) + np.any(y)
    return total + np.min(y)


@case(X)
def methods_of_what_an_object_passes_on_to(x):
    y = Passing(x * x)
    return np.sum(y) * weighted(np.cumsum(y)) + weighted(np.round(y)) + np.mean(y) + np.max(y)


@case(X)
def matrices_beside_vectors(x):
    """A matrix has two axes, whatever it is made of."""
    m = np.matrix(np.outer(x, x) + np.eye(3))
    total = weighted(np.dot(x, m)) + weighted(x @ m) * weighted(np.dot(m, x)) + weighted(x * m)
    row = np.matrix(x)
    total += weighted(row.cumsum()) + weighted(np.add.reduce(m)) + weighted(np.median(row))
    return total + np.sum(np.inner(x, m)) + weighted(m[0] @ x)


def scaled_table(x):
    y = np.outer(x, x).view(Scaled)
    y.scale = x[1]
    return y


@refused(X)
def spread_of_what_is_scaled(x):
    """Each step of NumPy's own Python is one of which the class is told."""
    y, two = scaled(x), scaled_table(x)
    total = weighted(np.std(y)) + weighted(y.var()) + weighted(np.var(y, ddof=1)) * x[0]
    total += weighted(two.std(axis=0)) + weighted(np.var(two, axis=1, keepdims=True))
    total += weighted(np.std(two, where=[True, False, True]))
    return total + weighted(np.std(Holder(x * x, x[1])))


@refused(X)
def along_an_axis_of_what_is_scaled(x):
    y = scaled_table(x)
    total = weighted(np.apply_along_axis(np.sum, 0, y)) + weighted(
        np.apply_along_axis(np.std, 1, y)
    )
    total += weighted(np.apply_along_axis(lambda row: np.asarray(row) ** 2, 1, y))
    total += weighted(np.apply_along_axis(np.sum, 0, scaled(x)))
    m = np.apply_along_axis(lambda row: np.asarray(row).ravel() ** 2, 0, np.matrix(np.outer(x, x)))
    return total + weighted(m * m)


@case(X)
def what_is_scaled_into_outputs(x):
    """Of what goes into a plain output, the class is told only of the steps before."""
    y = scaled_table(x)
    total = weighted(np.sum(y, 0, out=np.zeros(3))) + weighted(y.max(1, out=np.zeros(3)))
    total += weighted(np.cumsum(y, 0, out=np.zeros((3, 3))))
    total += weighted(np.std(y, 0, out=np.zeros(3))) + weighted(y.mean(1, out=np.zeros(3)))
    total += weighted(np.add.reduce(y, 1, out=np.zeros(3))) + weighted(np.ptp(y, out=np.zeros(())))
    total += weighted(np.median(y, 0, out=np.zeros(3)))
    total += weighted(np.sum(np.outer(x, x), 0, out=scaled(x)))
    return total + weighted(np.mean(np.outer(x, x), 0, out=scaled(x)))


@case(X)
def what_is_scaled_into_several_outputs(x):
    y, out = scaled(x), scaled(x)
    first, second = np.divmod(y, 0.8, out=(np.zeros(3), out))
    total = weighted(first) + weighted(second) * weighted(out)
    first, second = np.modf(y, out=(np.zeros(3), None))
    return total + weighted(first) + weighted(second) + weighted(np.divmod(y, 0.8, out=...)[1])


@case(X)
def beside_numbers_of_numpy(x):
    """They make an array of what is none, before its class could be told."""
    y = Holder(x * x, x[1])
    held = weighted((np.array(x[0]) * y).value) + weighted((x * y).value)
    return held + weighted(np.asarray(getattr(x[0] * y, "value", x[0] * y)))
