"""Classes derived from numbers that say themselves what operators do, by way of those above."""

import math
import operator

import numpy as np

from tests.corpus.registry import case


class Length(float):
    def __mul__(self, other):
        return Length(super().__mul__(other))

    def __add__(self, other):
        return super().__add__(other) * 2

    @property
    def double(self):
        return float(self) * 2


class Longer(Length):
    @property
    def double(self):
        return super().double + 1

    def __add__(self, other):
        return super().__add__(other) * 3

    def method(self):
        times = super().__mul__
        return times(self)


class Tagged(float):
    def __new__(cls, value, tag="m"):
        made = super().__new__(cls, value)
        made.tag = tag
        return made

    def __neg__(self):
        return Tagged(super().__neg__() * 3, self.tag)


@case(1.5)
def operators_above(x):
    f, g = Length(x), Longer(x)
    return (f * x) + g.double * (g + x) + (g * f) + (f + g)


@case(1.5)
def methods_above_in_variables(x):
    return Longer(x * x).method() * Longer(x).double


@case(1.5)
def functions_of_subclasses(x):
    g = Longer(x)
    return g.double * 2 + abs(g) + g / 2.0 + 2.0 * g + math.sqrt(g) + math.hypot(g, x) + round(g, 1)


@case(1.5)
def numbers_with_tags(x):
    a = Tagged(x, "km")
    b = -a
    return b * a + len(b.tag) * a + max(a, b) + sum([a, b], 1.0)


class Reflecting(float):
    """Numbers that are no floats leave these to it; so do floats, from which it is derived."""

    def __rmul__(self, other):
        return float(self) * 100 * other

    def __radd__(self, other):
        return float(self) * 7 + other

    def __rsub__(self, other):
        return float(self) * 5 - other

    def __rtruediv__(self, other):
        return float(self) * 3 * other

    def __rpow__(self, other):
        return float(self) * 11 * other

    def __rdivmod__(self, other):
        return float(self) * 19, other


@case(1.3)
def reflected_operators(x):
    total = 0.0
    for i, other in enumerate((2, True, 2.0, x)):
        r = Reflecting(x + i)
        total = total + other * r + (other + r) + (other - r) * i + other / r + other**r
        total = total + divmod(other, r)[0] + pow(other, r)
    return total + sum([1, Reflecting(x)])


@case(1.3)
def reflected_beside_numbers_of_numpy(x):
    total = 0.0
    for other in (np.float64(2.0), np.int64(2), np.float32(2.0), np.array([2.0, 3.0])):
        r = Reflecting(x)
        total = total + np.sum(other * r + (other + r) + (other - r) + other / r + other**r)
    return total


class Fixed(float):
    def __float__(self):
        return 3.0


@case(1.3)
def own_conversion(x):
    return float(Fixed(x)) * x + math.sin(Fixed(x)) + Fixed(x) * x


class OwnModulus(complex):
    def __abs__(self):
        return self.real**2


class OwnSize(float):
    def __abs__(self):
        return self.real**2

    def __floor__(self):
        return self.real * 3

    def __ceil__(self):
        return self.real * 5

    def __trunc__(self):
        return self.real * 7

    def __lt__(self, other):
        return float(self) > float(other)


class OwnSizeOfNumpy(np.float64):
    def __abs__(self):
        return self.real**2


@case(1.3)
def own_absolute_values(x):
    total = abs(OwnModulus(x, 2)) + abs(OwnSize(x)) * x + abs(OwnSizeOfNumpy(x)) * 0.5
    return total + operator.abs(OwnSizeOfNumpy(x)) + operator.abs(OwnSize(x))


@case(1.3)
def own_whole_numbers(x):
    return math.floor(OwnSize(x)) * x + math.ceil(OwnSize(x)) + math.trunc(OwnSize(x))


@case(1.3)
def own_order(x):
    return min(OwnSize(x), OwnSize(2 * x)) + min([OwnSize(3 * x), OwnSize(x)]) * x


class Ahead(float):
    """NumPy leaves operators to it."""

    __array_priority__ = 100

    def __radd__(self, other):
        return float(self) * other * 3

    def __rsub__(self, other):
        return float(self) * other * 4


class NoUfuncs(float):
    __array_ufunc__ = None

    def __rmul__(self, other):
        return float(self) + other * 3


class OwnUfuncs(float):
    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        others = [float(np.sum(np.asarray(v))) for v in inputs if v is not self]
        return float(self) ** 2 * 5 + sum(others)


class OwnUfuncsOfArrays(np.ndarray):
    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        return np.asarray(self).sum() * np.asarray(inputs[-1]).sum()


@case(1.3)
def asked_by_numpy(x):
    array = np.array([x, 2.0])
    total = array[0] + Ahead(x) + np.sum(array - Ahead(x)) + np.sum(array + Ahead(2 * x))
    return total + array[0] * NoUfuncs(x) + np.float64(2.0) * NoUfuncs(x)


@case(1.3)
def ufuncs_of_their_own(x):
    array = np.array([x, 2.0])
    total = np.sin(OwnUfuncs(x)) + array[0] * OwnUfuncs(x) + (array - OwnUfuncs(x))
    total = total + OwnUfuncs(x) / array + (OwnUfuncs(x) + array[0]) + (OwnUfuncs(x) + x)
    return (
        total + np.add(array.view(OwnUfuncsOfArrays), array) + np.sin(array.view(OwnUfuncsOfArrays))
    )


class Boxed(float):
    def __array__(self, dtype=None, copy=None):
        return np.array([7.0, 8.0])


@case(1.3)
def numbers_are_no_arrays(x):
    element = np.zeros(1)
    element[0] = Boxed(x)
    return np.asarray(Boxed(x)) + np.sin(Boxed(x)) + np.array([Boxed(x), x])[0] * element[0]


@case(1.3)
def numbers_that_numpy_makes_plain(x):
    return np.asarray(Fixed(x)) * x + np.array([Fixed(x), x])[1]


class Asked(float):
    def __getattr__(self, name):
        if name.startswith("no"):
            raise AttributeError(name)
        return self * len(name)

    @property
    def broken(self):
        raise AttributeError("broken")


class AskedOfNumpy(np.float64):
    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return float(self) * 5


class Thrice:
    def __get__(self, obj, kind=None):
        return 2.0 if obj is None else obj * 3


class Scaling(float):
    def __get__(self, obj, kind=None):
        return self * (7.0 if obj is None else obj.k)


class Described(float):
    thrice = Thrice()


@case(1.3)
def computed_attributes(x):
    a = Asked(x)
    return a.foo + a.broken + getattr(a, "none", x * x) + AskedOfNumpy(x).foo + a.real


@case(1.3)
def descriptors_of_numbers(x):
    class Holder:
        k = 2.0
        scaled = Scaling(x)

    class Derived(Holder):
        pass

    return Described(x).thrice * Described.thrice + Derived().scaled * x + Holder.scaled


class Indexing(float):
    def __index__(self):
        seen.append(self * 2)
        return 1

    def __int__(self):
        seen.append(self * 3)
        return 1


seen = []


@case(1.3)
def indices_that_store_themselves(x):
    seen.clear()
    assert [1, 2, 3][Indexing(x)] == 2 and [1, 2, 3][: Indexing(x)] == [1] and int(Indexing(x))
    return sum(seen)


class Counted(np.float64):
    def __add__(self, other):
        return Counted(super().__add__(other))

    def __rmul__(self, other):
        return Counted(super().__rmul__(other) + 1.0)

    def __neg__(self):
        return Counted(2.0 * super().__neg__())


@case(0.7)
def numpy_number_by_super(x):
    return (Counted(x) + x * x) * (3.0 * Counted(x)) + -Counted(x)


@case(0.7)
def numpy_number_by_name(x):
    y = np.float64(x)
    z = y.__neg__().__abs__().__radd__(3.0) * y.__float__() + y.__rpow__(3.0).__truediv__(2.0)
    return z + y.__divmod__(0.3)[1] * y.__round__(1) + y.__lt__(1.0) * y


class Tripled(float):
    def __float__(self):
        return 3.0 * self.real


class Plain(float):
    pass


@case(1.3)
def asked_by_arrays_for_their_number(x):
    a = np.ones(2)
    a += Tripled(x)
    a[:1] *= Tripled(x)
    b = (np.zeros(2) + Tripled(x)) * (Tripled(x) - np.ones(2)) + np.float64(x) * Tripled(x)
    return np.sum(a * b) + Tripled(x) * np.float64(2.0) + Tripled(x) * x


@case(1.3)
def beside_single_precision(x):
    single = np.ones(2, np.float32)
    kinds = [
        (single * Plain(x)).dtype,
        (Plain(x) + single).dtype,
        np.maximum(single, Plain(x)).dtype,
        (single * x).dtype,
        np.add(single, Tripled(x)).dtype,
    ]
    sizes = sum((k + 1) * kind.itemsize for k, kind in enumerate(kinds))  # NumPy 1 goes by values
    return sizes * x * np.sum(np.ones(2) * Plain(x) * np.hypot(np.ones(2), Plain(x)))
