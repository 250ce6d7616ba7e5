"""Arrays read and written through numpy.nditer."""

import numpy as np

from tests.corpus.registry import case

X = np.array([0.3, 0.8, 1.4, -0.6])
M = np.array([[0.3, -0.8, 1.4], [0.9, 0.2, -0.5]])


@case(X)
def readwrite(x):
    y = x.copy()
    with np.nditer(y, op_flags=[["readwrite"]]) as it:
        for v in it:
            v[...] = v * v
    return np.sum(y * x)


@case(X)
def write_two(x):
    y = np.empty(4)
    for a, b in np.nditer([x, y], op_flags=[["readonly"], ["writeonly"]]):
        b[...] = a * a
    return y.sum()


@case(M)
def allocated(m):
    it = np.nditer([m, None])
    if True:
        for a, b in it:
            b[...] = a * a
    return (it.operands[1] * m).sum()


@case(X)
def multi_index(x):
    it = np.nditer(x, flags=["multi_index"])
    t = 0.0
    while not it.finished:
        t += x[it.multi_index] * it[0]
        it.iternext()
    return float(t)


@case(M)
def orders(m):
    t = 0.0
    w = 1.0
    for a in np.nditer(m, order="F"):
        t += a * w
        w += 1
    for a in np.nditer(m.T[::-1], order="C"):
        t += a * w
        w += 1
    for a in np.nditer(m[:, ::-1]):
        t += a * a * w
        w += 1
    for i, a in zip(range(3), np.nditer(m)):
        t += a * i
    return float(t)


@case(M)
def broadcast(m):
    r = np.zeros((2, 3))
    with np.nditer(
        [m, m[0], r], flags=["c_index"], op_flags=[["readonly"], ["readonly"], ["readwrite"]]
    ) as it:
        while not it.finished:
            it[2] = it[0] * it[1] + it.index * it.value[0]
            it.iternext()
    return (r * r).sum()


@case(M)
def external(m):
    t = 0.0
    for c in np.nditer(m, flags=["external_loop"], order="F"):
        t += (c * c * np.arange(c.size)).sum()
    y = m.copy()
    with np.nditer(y, flags=["external_loop"], op_flags=[["readwrite"]]) as it:
        for c in it:
            c *= 2
            c[0] = m[1, 1]
    for a, b in np.nditer([m, m.T.copy().T], flags=["external_loop"]):
        t += (a * b).sum()
    return t + (y * y).sum()


@case(X)
def unknown_bits(x):
    it = np.nditer(
        [x, None], op_flags=[["readonly"], ["writeonly", "allocate"]], op_dtypes=[None, float]
    )
    for a, b in it:
        b[...] = np.sin(a)
    it.reset()
    n = len(it)
    s = it.itersize
    it.iternext()
    v = it[0] * 2
    return it.operands[1].sum() * n * s * v


@case(X)
def list_iterated(x):
    l = [np.zeros(4), x]
    for a, b in np.nditer(l, op_flags=[["readwrite"], ["readonly"]]):
        a[...] = b * b
    return (l[0] * l[1]).sum()


@case(np.array([0.5, 1.5]))
def the_type_of_an_iterator(x):
    total = 0.0
    with np.nditer(x) as it:
        for v in it:
            total = total + v * v
        return total * (3.0 if type(it) is np.nditer else 1.0)


def squares(x):
    with np.nditer([x, None]) as it:
        for y, z in it:
            z[...] = y * y
        return it.operands[1]


@case(0.7)
def of_numbers(x):
    total = sum(float(v) for v in np.nditer(x * x))
    for a, b in np.nditer((x, 2.0)):
        total = total + a * b
    return squares(x) * squares(np.float64(3.0)) + squares(3) * total


@case(X)
def of_lists(x):
    y = squares([x, x * x])
    for a in np.nditer([x[0], x[1] * x[2]]):
        y = y * a[0]
    return y.sum() * squares((x[0], x[1])).sum() * squares(np.array(x[2]))


@case(X)
def of_numbers_beside_arrays(x):
    with np.nditer([x, x[0], None], flags=["c_index"]) as it:
        for a, b, c in it:
            c[...] = a * b + it.index
        return it.operands[2].sum()


class Marked(np.ndarray):
    """A class of its own: its parts are plain arrays to the iterator."""


@case(X)
def of_masked_arrays(x):
    total = 0.0
    for a in np.nditer(np.ma.array(x * 1.0, mask=[0, 1, 0, 0])):
        total = total + a * a
    return np.sum(np.ma.filled(total, 100.0))


@case(X)
def written_parts_of_another_class(x):
    y = (x * 1.0).view(Marked)
    with np.nditer(y, op_flags=["readwrite"]) as it:
        for a in it:
            a[...] = a * a
    return np.sum(np.asarray(y) * x)
