"""Arrays of other classes: views, matrices, masked arrays, records."""

import functools
import math
import operator

import numpy as np

from tests.corpus.registry import case, made, refused

X = np.array([0.3, 0.8, 1.4, -0.6])
M = np.array([[0.3, -0.8, 1.4], [0.9, 0.2, -0.5], [0.6, 0.1, 0.4]])


class My(np.ndarray):
    pass


class Info(np.ndarray):
    def __new__(cls, a, info=None):
        o = np.asarray(a).view(cls)
        o.info = info
        return o

    def __array_finalize__(self, o):
        if o is None:
            return
        self.info = getattr(o, "info", None)


class Ufed(np.ndarray):
    def __array_ufunc__(self, f, method, *ins, out=None, **kw):
        ins = [i.view(np.ndarray) if isinstance(i, Ufed) else i for i in ins]
        if out:
            kw["out"] = tuple(o.view(np.ndarray) if isinstance(o, Ufed) else o for o in out)
        r = getattr(f, method)(*ins, **kw)
        if r is NotImplemented:
            return r
        return (
            (r * 2.0 if method == "__call__" else r).view(Ufed) if isinstance(r, np.ndarray) else r
        )


class Over(np.ndarray):
    def __mul__(self, o):
        return np.ndarray.__mul__(self, o) + 1.0

    def __getitem__(self, i):
        return super().__getitem__(i) * 2

    def norm(self):
        return np.sqrt((np.asarray(self) ** 2).sum())

    @property
    def x0(self):
        return np.asarray(self)[0]

    @x0.setter
    def x0(self, v):
        np.asarray(self)[0] = v


@case(X)
def sub_view(x):
    y = x.view(My)
    return (y * y).sum() + np.sum(y)


@case(X)
def sub_ops(x):
    y = x.view(My)
    z = y + 1.0
    z = 2.0 * z - y / 3
    z[0] = y[1] * y[2]
    z *= y
    z[1:] += x[0]
    w = np.sin(z) * y.T
    w = w.reshape(2, 2) @ w.reshape(2, 2)
    return float(w.sum() * z[:2].mean())


@case(X)
def sub_alias(x):
    a = x.copy()
    y = a.view(My)
    y[0] = x[1] ** 2
    a[1] *= y[0]
    y += a
    return np.sum(a * y)


@case(X)
def sub_of_written(x):
    a = x.copy()
    a *= 2
    y = a.view(My)
    y[0] = a[1]
    return np.sum(a * y)


@case(X)
def sub_type_of_result(x):
    y = x.view(My)
    assert (
        type(y * 2) is My
        and type(y[1:]) is My
        and type(np.sin(y)) is My
        and type(y.reshape(2, 2)) is My
        and type(np.asarray(y)) is np.ndarray
        and type(y.copy()) is My
        and type(x * y) is My
        and type(y.sum()) in (np.float64, My)
        and type(y.T) is My
        and type(np.concatenate([y, y]))
    )
    return (y * 2).sum()


@case(X)
def info_array(x):
    y = Info(x, info=x[0] * 2)
    z = y * 3
    w = z[1:]
    return np.sum(w) * z.info * w.info


@case(X)
def info_array_const(x):
    y = Info(x, info={"unit": "m"})
    z = y * 3
    assert z.info["unit"] == "m"
    return np.sum(z * y)


@case(X)
def ufed(x):
    y = x.view(Ufed)
    z = y * y
    w = np.sin(z) + x
    q = np.add.reduce(w)
    z += 1.0
    return float(q) * np.sum(np.asarray(z))


@case(X)
def over(x):
    y = x.view(Over)
    z = y * y
    a = y.norm()
    b = y.x0
    y.x0 = a * b
    return float(np.asarray(z).sum() + y[1] * np.asarray(y[2:]).sum() + y.x0)


@made
def sub_argument():
    def f(y):
        return np.sum(y * y * np.arange(4.0))

    return f, X.view(My)


@case(M)
def matrix(m):
    a = np.asmatrix(m)
    b = a * a.T
    c = a.I if False else a**2
    return float((b * c).sum() + (a[0] * a[:, 1])[0, 0] + np.trace(b))


@case(M)
def matrix2(m):
    a = np.matrix(m)
    return float(
        np.sum(np.multiply(a, a))
        + (a * m).sum()
        + (m * a)[0, 0]
        + a.A[0, 1]
        + a.A1[2]
        + a.sum(axis=0)[0, 1]
        + a.mean()
        + a.getA()[0, 0]
        + a.H[0, 1]
        + a.ravel()[0, 3]
        + a.T[0, 1]
    )


@case(M)
def matrix_inv(m):
    a = np.matrix(m)
    return float((a.I * a[:, 0])[1, 0] + a.I.sum())


@case(M)
def matrix_inplace(m):
    a = np.matrix(m)
    a[0] = a[1] * 2
    a *= 2.0
    a[0, 0] = m[2, 2] ** 2
    a *= a
    a += m
    return float(a.sum())


@case(M)
def matrix_asmatrix_alias(m):
    b = m.copy()
    a = np.asmatrix(b)
    a[0] = a[1] * 2
    b[1] *= a.A[0]
    return float(a.sum() * b[1, 1])


@case(M)
def bmat(m):
    a = np.bmat([[m, m.T], [m * 2, m]])
    return float((a * a).sum())


@case(X)
def masked_sum(x):
    y = np.ma.masked_array(x, [0, 1, 0, 0])
    return y.sum()


@case(X)
def masked_ops(x):
    y = np.ma.array(x, mask=x < 0)
    z = y * y + 1.0
    z = np.ma.sqrt(z)
    return float(z.sum() + z.mean() + y.filled(2.0).sum() + y.compressed()[0])


@case(X)
def masked_fn(x):
    y = np.ma.masked_where(x > 1, x)
    return float(np.ma.sum(y * y))


@case(X)
def masked_invalid(x):
    return float(np.ma.masked_invalid(x).sum())


@case(X)
def masked_data(x):
    y = np.ma.masked_array(x, [0, 1, 0, 0])
    return (y.data * x).sum()


@case(X)
def masked_write(x):
    y = np.ma.masked_array(x.copy(), [0, 1, 0, 0])
    y[0] = x[1] * 2
    y[2] = np.ma.masked
    return float(y.sum())


@case(X)
def structured_write(x):
    p = np.zeros(4, [("m", float), ("v", float, 2)])
    p["m"] = x
    return p["m"].sum()


@case(X)
def structured_read(x):
    p = np.zeros(4, [("m", float)])
    return (p["m"] * x).sum()


@case(X)
def structured_view(x):
    p = x.view([("a", float), ("b", float)])
    return p["a"].sum()


@case(X)
def structured_view_w(x):
    y = x.copy()
    p = y.view([("a", float), ("b", float)])
    p["a"][0] = x[1] ** 2
    return np.sum(y * y)


@case(X)
def structured_view_w2(x):
    y = x.copy()
    p = y.view([("a", float), ("b", float)])
    p["a"] = x[1] ** 2
    return np.sum(y * y)


@case(X)
def recarray(x):
    p = np.rec.fromarrays([x, x * 2], names="a,b")
    return (p.a * p.b).sum()


@case(X)
def recarray2(x):
    p = np.recarray(4, [("a", float)])
    p.a = x
    p.a[0] = x[1]
    return p.a.sum()


@case(X)
def unstructured(x):
    from numpy.lib import recfunctions as rf

    p = rf.unstructured_to_structured(x.reshape(2, 2), names=["a", "b"])
    return (p["a"] * p["b"]).sum()


@case(X)
def poly1d(x):
    p = np.poly1d(x)
    return p(2.0) + p.deriv()(1.0) + (p * p)(0.5) + p.integ()(1.0)


@case(X)
def polynomial(x):
    p = np.polynomial.Polynomial(x)
    return p(2.0) + p.deriv()(1.0) + (p * p)(0.5) + p.integ()(1.0) + p.coef.sum()


@case(X)
def ndenumerate_etc(x):
    t = 0.0
    for i, v in np.ndenumerate(x.reshape(2, 2)):
        t += v * i[0]
    for i in np.ndindex(2, 2):
        t += x.reshape(2, 2)[i] ** 2
    return float(t)


@case(X)
def vectorize(x):
    f = np.vectorize(lambda v: v * v if v > 0 else -v)
    return f(x).sum()


@case(X)
def apply_along(x):
    return (
        np.apply_along_axis(lambda r: r * r.sum(), 1, x.reshape(2, 2)).sum()
        + np.apply_over_axes(np.sum, x.reshape(2, 2), [0, 1]).sum()
    )


@case(X)
def piecewise(x):
    return np.piecewise(x, [x < 0, x >= 0], [lambda v: -v, lambda v: v * v]).sum()


@case(X)
def nan_to_num_inplace(x):
    y = x.copy()
    y[0] = np.nan
    np.nan_to_num(y, copy=False, nan=2.0)
    return np.sum(y * y)


@case(X)
def random_shuffle(x):
    y = x.copy()
    np.random.default_rng(0).shuffle(y)
    np.random.RandomState(1).shuffle(y)
    return np.sum(y * np.arange(4.0))


@case(X)
def fromiter_fromfunction(x):
    return (
        np.fromiter((v * v for v in x), float).sum()
        + np.fromfunction(lambda i, j: i * x[0] + j * x[1], (2, 2)).sum()
    )


@case(X)
def flags_writeable(x):
    y = x.copy()
    y.flags.writeable = False
    try:
        y[0] = 1.0
    except ValueError:
        pass
    y.setflags(write=True)
    y[0] = x[1]
    return np.sum(y * y)


@case(X)
def block_views(x):
    a = np.block([[x[:2], x[2:]]])
    a[0, 0] *= 2
    c = np.c_[x, x]
    c[0, 1] = x[3]
    r = np.r_[x, 1.0, x[:2]]
    r[0] *= r[1]
    s = np.s_[1:]
    return a.sum() + (c * c).sum() + r[s].sum()


class Neg(np.ndarray):
    def __neg__(self):
        return np.asarray(self) * -3.0

    def __abs__(self):
        return np.abs(np.asarray(self)) * 5

    def __iter__(self):
        return iter([v * 2 for v in np.asarray(self)])

    def __iadd__(self, o):
        np.asarray(self)[...] += 2 * np.asarray(o)
        return self

    def __len__(self):
        return 2

    def sum(self, *a, **k):
        return np.asarray(self).sum() * 7


@case(X)
def neg(x):
    y = x.copy().view(Neg)
    a = -y
    b = abs(y)
    y += x
    y *= 2.0
    c = sum(v for v in y)
    return (a * b).sum() + c * len(y) + np.sum(y) + y.sum()


class It(np.ndarray):
    def __getitem__(self, i):
        return np.ndarray.__getitem__(self, i) * 3


@case(X)
def iter_getitem(x):
    y = x.view(It)
    a, *b = y
    t = 0.0
    for v in y:
        t += v * v
    return t + a * sum(b) + y[1:][0] * y[-1] + max(float(v) for v in y)


class RAdd(np.ndarray):
    def __radd__(self, o):
        return o * np.asarray(self)

    def __rmul__(self, o):
        return np.ndarray.__rmul__(self, o) * 2


class Meta(np.ndarray):
    def __new__(cls, a, scale=1.0):
        o = np.asarray(a).view(cls)
        o.scale = scale
        return o

    def __array_finalize__(self, o):
        self.scale = getattr(o, "scale", 1.0)

    def scaled(self):
        return np.asarray(self) * self.scale

    @property
    def total(self):
        return self.scaled().sum()


@case(X)
def sub_funcs(x):
    y = x.view(My)
    return float(
        np.concatenate([y, x]).sum()
        + np.dot(y, y)
        + np.where(y > 0, y, 0).sum()
        + np.sort(y)[0]
        + y.max()
        + np.linalg.norm(y)
        + np.mean(y)
        + np.cumsum(y)[2]
        + (y @ y)
        + np.stack([y, y]).sum()
        + np.split(y, 2)[0].sum()
        + y.dot(x)
        + np.einsum("i,i", y, y)
        + np.outer(y, x).sum()
        + np.clip(y, 0, 1).sum()
        + y.std()
        + np.add.reduce(y)
        + np.multiply.outer(y, y).sum()
        + y.ravel()[1]
        + np.maximum(y, 0.5).sum()
    )


@case(X)
def sub_out(x):
    y = np.zeros(4).view(My)
    np.multiply(x, 2.0, out=y)
    np.add(y, x, out=y[...])
    y.fill(x[1])
    y[1:] = x[1:]
    y.sort()
    np.add.at(y, [0, 0], x[:2])
    np.copyto(y[:1], x[3])
    return np.sum(y * np.arange(4.0))


class Total(np.ndarray):
    """Says of itself what C would ask of another object, but not of an array."""

    def __float__(self):
        return float(2.0 * np.asarray(self).sum())

    def __array__(self, dtype=None, copy=None):
        return np.zeros(3)


@case(X)
def conversions_of_their_own(x):
    y = x.view(Total)
    return float(y) * math.sin(y) + float(np.sin(y).sum()) + float(np.asarray(y)[0])


class Ordered(np.ndarray):
    """Its own ways to be sorted, which NumPy's functions ask for."""

    def sort(self, *args, **kwargs):
        super().sort(*args, **kwargs)
        self *= 2.0

    def partition(self, *args, **kwargs):
        super().partition(*args, **kwargs)
        self[0] += 1.0


@case(X)
def sorted_in_their_own_way(x):
    y, z = (x * 1.0).view(Ordered), (x * x).view(Ordered)
    y.sort()
    z.partition(1)
    total = np.arange(4.0) @ np.asarray(y) + np.asarray(z)[:2] @ x[:2]
    return float(total + np.sort(z)[1] * np.partition(y, 2)[2])


@case(X)
def masked_statistics(x):
    m = np.ma.masked_array(x * x, x < 0.0)
    return float(m.std() + m.var() * m.mean() + m.max() - m.min() + m.prod() + np.ma.median(m))


class Scaled:
    """Beside an array NumPy takes its ``__array__``, whatever else it has."""

    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        return self.values * 2.0

    def __radd__(self, other):
        return other

    __rmul__ = __rmatmul__ = __radd__


class Deferred(Scaled):
    __array_ufunc__ = None


class Preferred(Scaled):
    __array_priority__ = 100.0


@case(X)
def operands_that_stand_for_arrays(x):
    total = x @ (x * Scaled(x)) + np.sum(np.outer(x, x) @ Scaled(x) + Scaled(x))
    for kind in (Deferred, Preferred):
        total = total + np.sum(x * kind(x)) + np.sum(x @ kind(x)) + np.sum(x + kind(x))
    return float(total)


class Doubling(np.ndarray):
    """What ufuncs make is doubled, and what they write tripled."""

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        plain = [v.view(np.ndarray) if isinstance(v, Doubling) else v for v in inputs]
        if "out" not in kwargs:
            made = super().__array_ufunc__(ufunc, method, *plain, **kwargs)
            return (made * 2.0).view(Doubling) if isinstance(made, np.ndarray) else made * 2.0
        (out,) = kwargs.pop("out")
        out.view(np.ndarray)[...] = super().__array_ufunc__(ufunc, method, *plain, **kwargs) * 3.0
        return out


@refused(X)
def operators_of_classes_with_ufuncs_of_their_own(x):
    d = x.view(Doubling)
    written = (x * 1.0).view(Doubling)
    written.__iadd__(x)
    written *= x
    total = (-d) + (+d) + abs(d) + d.__add__(x) + d.__rsub__(x) + d**2.0 + d / 3.0 + written
    total = total + d.__neg__() + np.hypot(d, x) + operator.neg(d)
    return float(total.view(np.ndarray).sum() + np.add.reduce(d))


class Judge:
    """What comparisons with it say is a number."""

    def __init__(self, value):
        self.value = value

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        if ufunc in (np.less, np.greater, np.equal, np.not_equal, np.less_equal):
            first, second = (v.value if isinstance(v, Judge) else v for v in inputs)
            return np.sum(first) * 2.0 + np.sum(second) * (3.0 if ufunc is np.less else 5.0)
        return NotImplemented


class Scorer(Judge):
    def __gt__(self, other):
        return np.sum(self.value) * 7.0


class Judged(np.ndarray):
    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        plain = [v.view(np.ndarray) if isinstance(v, Judged) else v for v in inputs]
        if ufunc is np.greater_equal:
            return np.sum(plain[0] * plain[1])
        return getattr(ufunc, method)(*plain, **kwargs)


@case(X)
def comparisons_that_are_numbers(x):
    one = np.ones(2)
    total = (one < Judge(x)) + (x > Judge(x * x)) * 2.0 + (one[0] == Judge(x)) * 3.0
    total = total + (Judge(x * x) > one) + (Judge(x) != x) + (one <= Judge(x)) + (Judge(x) < one)
    total = total + (one < Scorer(x)) + (Scorer(x) > one) + (one != Scorer(x * x))
    return float(total + (x.view(Judged) >= 2.0) + (x <= (x * x).view(Judged)))


@case(X)
def ufuncs_by_the_method_of_arrays(x):
    asked = np.ndarray.__array_ufunc__
    if asked(x, np.add, "__call__", x, Deferred(x)) is not NotImplemented:
        return x.sum()
    outer = asked(x, np.multiply, "outer", x, x)
    return float(asked(x, np.sin, "__call__", x) @ outer @ asked(x, np.add, "__call__", x, x * x))


@case(X)
def masked_by_functions_of_arrays(x):
    y = np.ma.array(x, mask=[False, True, False, False])
    total = np.dot(y, x) + (np.concatenate([y, x * x]) ** 2).sum()
    return total + (np.stack((y, x)) ** 2).sum() + np.einsum("i,i->", y, x)


@case(X)
def lists_of_other_classes(x):
    y = x.view(My)
    parts = [y, y * y]
    return float((np.vstack(parts) ** 2).sum() + np.concatenate((x, parts[1])).sum() * x[0])


class Finalized(np.ndarray):
    """Whose objects are given an attribute whenever NumPy makes one."""

    def __array_finalize__(self, other):
        self.tag = getattr(other, "tag", "new")


@case(X)
def sorted_by_function(x):
    y = np.sort(x.view(Finalized)) * np.arange(4.0)
    return float(y.sum() + np.roll(x.view(Finalized), 1)[2])


class Asking(np.ndarray):
    def __array_function__(self, function, types, args, kwargs):
        found = super().__array_function__(function, types, args, kwargs)
        return found if function is np.shape else found * 2.0


@case(X)
def functions_by_way_of_the_base(x):
    y = x.view(Asking)
    return float(np.sum(y) * np.dot(y, x) + np.concatenate([y, x])[5] + np.mean(y, axis=0))


class Tripled(np.ndarray):
    """Says of itself what it is not."""

    def __float__(self):
        return 3.0 * float(self.view(np.ndarray))


@case(np.array([0.7, 1.3, 2.1]))
def asked_for_a_number_as_an_element_only(x):
    single = np.asarray(x[0]).view(Tripled)
    row = (x * 1.0).view(Tripled)
    a = np.zeros(4)
    a[0] = single
    a[1:2] = single
    a[2:] = np.asarray(single, dtype=float)
    own = np.zeros(2).view(Tripled)
    own[0] = single
    own[1:] = x[2]
    total = (a * a).sum() + np.asarray(own).sum() * x[1]
    total += np.array([single, x[1]], dtype=float).sum() * x[2]
    total += np.array([row, row], dtype=float)[1].sum() * x[0]
    return total + float(single) * np.float64(single) + np.float32(1.0) * np.array(single, float)


@case(np.array([0.7, 1.3, 2.1]))
def masked_elements_filled_and_listed(x):
    m = np.ma.array(x * 1.0, mask=[0, 1, 0])
    m.fill(x[0] ** 2)
    listed = np.ma.array(np.outer(x, x), mask=[[0, 1, 0]] * 3).tolist()
    total = float(m.sum()) * listed[2][2] + (listed[1][1] is None) * x[1]
    bare = np.ma.array(x * x)
    first, second, _ = np.ma.array(x * x, mask=[1, 0, 0]).tolist(7.0)
    return total * bare.tolist()[1] + first * second


def scaled_by(k):
    class Scaled(np.ndarray):
        scale = k * k
        held = [k]
        twice = staticmethod(functools.cache(lambda v: 2.0 * v))
        part = staticmethod(functools.partial(operator.mul, k))

        def value(self):
            return self.scale * self.sum() + self.held[0] * self.part(3.0) * self.twice(k)

    return Scaled


@case(X, 1.3)
def attributes_of_the_class_of_an_array(x, k):
    """Static methods of any kind, and plain values, have nothing to do with the array."""
    y = np.asarray(x).view(scaled_by(k))
    return float(y.value()) + y.twice(x[0]) * y.twice(y.twice(x[0]))


@case(np.array([0.6, 0.9, 1.7]))
def keywords_of_ufuncs_of_masked_arrays(x):
    m = np.ma.masked_greater(x, 1.5)
    w = np.array([1.0, 2.0, 3.0])
    total = np.average(m, weights=w) * np.sin(m, dtype=float).sum()
    total += np.average(x, weights=np.ma.masked_less(w * x, 1.0)) * np.average(m, weights=m)
    total += np.ma.average(m, weights=[1.0, 2.0, 3.0]) * np.ma.average(m, weights=w)
    total += np.clip(m, 0.7, 2.0, dtype=float).sum() * np.exp(m, casting="safe", order="F").mean()
    total += np.exp(m, subok=False).sum() * np.divmod(m, 0.7)[1].sum()
    return total + m.mean() * np.modf(m)[0].sum()


@case(np.array([0.6, 0.9, 1.7]))
def outputs_that_are_masked_arrays(x):
    m, w = np.ma.masked_greater(x, 1.5), np.array([1.0, 2.0, 3.0])
    kept = np.ma.masked_greater(x * 2.0, 3.0)
    total = np.add(m, x, where=w > 1, out=kept).sum() * kept.mean()
    total += np.sqrt(m, out=np.ma.masked_less(x * 1.0, 0.7)).sum()
    plain, unmasked = np.zeros(3), np.ma.array(x * 3.0)
    with np.errstate(all="ignore"):
        np.log(m - 0.7, out=plain)
    np.multiply(m, x, out=unmasked)
    return total + np.nansum(plain) * unmasked.sum() + unmasked.data.sum()


@case(np.array([0.6, 0.9, 1.7]))
def masked_where_they_have_no_value(x):
    """NumPy masks what is outside of the domain of a function by itself."""
    m = np.ma.masked_greater(x, 1.5)
    with np.errstate(all="ignore"):
        total = np.log(m - 0.7).sum() * np.sqrt(m - 0.7, dtype=float).sum()
        total += np.divide(m, np.array([0.0, 2.0, 3.0])).sum() * np.arcsin(m + 0.3).count()
    return total


class Informed(np.ndarray):
    def __array_finalize__(self, obj):
        self.info = getattr(obj, "info", None)

    def sum(self, *args, **kwargs):
        return np.asarray(self).sum() * self.info


@case(np.array([0.6, 0.9, 1.7]))
def keywords_of_ufuncs_of_arrays_of_own_classes(x):
    y = (x * 1.0).view(Informed)
    y.info = x[0]
    out = (x * 2.0).view(Informed)
    out.info = x[1]
    m = np.matrix(np.outer(x, x))
    total = np.multiply(y, x, dtype=float).sum() * np.multiply(y, x, out=out).sum()
    total += np.exp(y, where=x > 0.7, out=out).sum() * np.exp(y, subok=False).sum()
    total += (np.add(m, 1.0, dtype=float) * m).sum() * (np.exp(m, subok=False) * np.eye(3)).sum()
    return total + (np.matmul(m, np.eye(3), dtype=float) * m).sum()


@case(np.array([0.6, 0.9, 1.7]))
def vectorized_over_arrays_of_other_classes(x):
    def times(v, w=2.0):
        return v * w

    m, y = np.ma.masked_greater(x, 1.5), (x * 1.0).view(Informed)
    y.info = x[2]
    total = np.vectorize(times)(m).sum() * np.vectorize(times, otypes=[float])(m, x).mean()
    total += np.vectorize(times)(np.ma.masked_less(x, 0.8), m).sum()
    total += (np.vectorize(times)(np.matrix(np.outer(x, x))) * np.outer(x, x)).sum()
    total *= np.vectorize(times, cache=True)(x, y).sum()
    first, second = np.vectorize(lambda v, w: (v * w, v))(m, x)
    return total + first.sum() * second.mean()


class Wrapping:
    """No array, though NumPy takes it for one, and hands it what it calculates."""

    def __init__(self, value):
        self.value = np.asarray(value)

    def __array__(self, dtype=None, copy=None):
        return self.value

    def __array_wrap__(self, array, context=None, return_scalar=False):
        return Wrapping(array if context is None else array * len(context[1]))

    def cumprod(self, axis=None, dtype=None, out=None):
        return self.value * 3.0


class Louder(Wrapping):
    __array_priority__ = 5.0

    def __array_wrap__(self, array, context=None, return_scalar=False):
        return Louder(array * self.value)


@case(np.array([0.6, 0.9, 1.7]))
def objects_that_are_handed_what_numpy_calculates(x):
    w, louder = Wrapping(x), Louder(x[::-1])
    total = np.exp(w).value.sum() * np.add(x, w).value.sum() + np.add(2.0, w).value.sum()
    total += np.multiply(w, louder, dtype=float).value.sum() * (x + w).value.sum()
    total += np.cumsum(w).value[1] * np.cumprod(w).sum() * np.sum(w).value
    total += np.modf(w)[0].value.sum() * np.add.accumulate(w).value[2]
    total += np.clip(w, 0.0, 1.0).value.sum() * np.transpose(w).value.sum()
    total += np.apply_along_axis(np.sin, 0, w).value.sum() * np.dot(w, x)
    total += np.add(x, w, out=np.zeros(3)).sum() * np.where(x > 0.7, w, x).sum()
    total += np.linalg.solve(np.eye(3) + np.outer(x, x), w).value.sum()
    return total + np.exp(w, where=x > 0.7, out=np.zeros(3)).sum()


class Quantity:
    """Stands in front of arrays in the way from before ``__array_ufunc__``."""

    __array_priority__ = 10

    def __init__(self, values):
        self.values = values

    def __radd__(self, other):
        return Quantity(other + 2 * self.values)

    def __rmul__(self, other):
        return Quantity(other * 3 * self.values)


@case(np.array([0.6, 0.9, 1.7]))
def left_to_a_class_with_priority(v):
    y = v * 1.0
    y[:2] += 1.0
    z, w = y, np.array(v[0])
    y += Quantity(v)
    w *= Quantity(v)
    z *= 2.0
    return (y.values * w.values).sum() + z.sum()


@case(np.array([0.6, 0.9, 1.7, 0.35]))
def in_place_with_a_matrix_and_a_mask(v):
    """Plain arrays ask neither what operators mean to a class of arrays."""
    y, weights = np.outer(v, v), np.array([1.0, -2.0, 3.0, 0.5])
    y *= np.matrix(np.outer(v, weights))
    y += np.ma.masked_greater(np.outer(v, v), 1.5)
    z = v * 1.0
    z -= np.ma.masked_greater(v, 1.0)
    z += v * v
    return (y @ weights).sum() + z @ weights


class ByTheBase(np.ndarray):
    """Its operators in place are those of the base class, called by name."""

    def __iadd__(self, other):
        return super().__iadd__(other)

    def __imul__(self, other):
        return np.ndarray.__imul__(self, other)

    def __isub__(self, other):
        return super(ByTheBase, self).__isub__(np.asarray(other) * 2.0)

    def __itruediv__(self, other):
        self[...] = np.asarray(self) / other
        return self


@case(np.array([0.7, 1.3]))
def operators_in_place_by_the_base_class(x):
    a = (x * 1.0).view(ByTheBase)
    a += x[::-1]
    a *= 2.0
    a -= x
    a /= 3.0
    return np.sum(np.asarray(a) ** 2)


@case(np.array([0.7, 1.3]))
def broadcast_beside_arrays(x):
    a, b = np.meshgrid(x.view(ByTheBase), x * 2.0)
    c = np.broadcast_arrays(x.view(ByTheBase), x[:, None], subok=True)[0]
    return np.sum(np.asarray(a) * np.asarray(b)) + np.asarray(c).prod()


class OneNumber(np.ndarray):
    def __float__(self):
        return float(np.asarray(self) * 1.0)


@case(np.array([0.7, 1.3]))
def iterables_that_say_which_number_they_are(x):
    a = x.view(OneNumber)
    total = math.fsum(a) + math.prod(a) + math.dist(a, x[::-1].copy().view(OneNumber))
    return total + math.sqrt(a[0]) + sum(a) * np.sum(np.asarray(abs(a)))


class SaysWhatUfuncsDo(np.ndarray):
    __array_priority__ = 2.0

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return getattr(ufunc, method)(*map(np.asarray, inputs), **kwargs)


class Unit:
    """Which an array leaves operators to, and which would be an array of its own."""

    __array_priority__ = 3.0

    def __init__(self, size):
        self.size = size

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.size)

    def __rtruediv__(self, other):
        return np.asarray(other) * self.size**2

    def __rmul__(self, other):
        return np.asarray(other) + self.size

    def __gt__(self, other):
        return np.asarray(other) * self.size


class Aloof(Unit):
    __array_priority__ = 1.0
    __array_ufunc__ = None


class Humble(Unit):
    __array_priority__ = 1.0


@case(np.array([0.7, 1.3]))
def operators_that_arrays_leave_to_others(x):
    total = 0.0
    for kind in (np.ndarray, SaysWhatUfuncsDo):
        a = x.view(kind)
        for unit in (Unit(x[0]), Aloof(x[1]), Humble(x[0])):
            total = total + np.sum(np.asarray(a / unit)) + np.sum(np.asarray(a * unit) ** 2)
        total = total + np.sum(a < Unit(x[1]))
    return total


@case(np.array([0.7, 1.3]))
def arrays_that_are_handed_over(x):
    shown = hasattr(np.ones(2), "__array_interface__") + hasattr(x, "__array_interface__")
    w = x * 2.0
    same = np.from_dlpack(w)
    same[0] = x[1] ** 2
    return np.sum(w * same * np.from_dlpack(np.array([1.0, 3.0]))) * shown
