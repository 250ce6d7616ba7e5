"""Reading and writing parts of arrays."""

import struct

import numpy as np

from tests.corpus.registry import case

X = np.array([0.3, 0.8, 1.4, -0.6, 0.2])
M = np.array([[0.3, -0.8, 1.4, 0.7], [0.9, 0.2, -0.5, 1.1], [0.6, 0.1, 0.4, -0.2]])
T = np.linspace(0.1, 2.4, 24).reshape(2, 3, 4)


@case(X)
def element(x):
    return x[0] * x[-1] + x[2]


@case(M)
def element_of_matrix(m):
    return m[0, 1] * m[-1, -1] + m[1][2] * m[2, 0]


@case(X)
def slices(x):
    return np.sum(x[1:4] * x[:3]) + np.sum(x[::-1] * x) + np.sum(x[::2]) * x[-2:].sum()


@case(T)
def mixed_basic(t):
    return (
        np.sum(t[0, :, 1] * t[1, ::-1, 2]) + np.sum(t[..., 0]) * t[1, ..., -1].sum() + t[:, 1].sum()
    )


@case(M)
def newaxis_and_ellipsis(m):
    return np.sum(m[:, None, :] * m[None, ...]) + m[..., np.newaxis][0, 1, 0]


@case(X)
def fancy_with_repeats(x):
    return np.sum(x[[0, 2, 2, 4]] * x[np.array([1, 1, 0, 3])]) + x[np.array([[0, 1], [2, 0]])].sum()


@case(M)
def fancy_pairs(m):
    return (
        np.sum(m[[0, 1, 0], [1, 2, 1]] ** 2) + np.sum(m[np.ix_([0, 2], [1, 3])]) * m[[0, 0]].sum()
    )


@case(T)
def fancy_and_slices(t):
    return np.sum(t[:, [0, 2], 1:] ** 2) + np.sum(t[[1, 0], :, [2, 3]]) * t[1, [0, 0], 0][1]


@case(X)
def boolean_mask(x):
    return np.sum(x[x > 0] ** 2) * x[x < 0][0]


@case(M)
def boolean_mask_of_rows(m):
    rows = m[:, 0] > 0.5
    return m[rows].sum() * m[rows, 1:][0, 0] + m[m > 0.35].prod()


@case(X, 2, fixed=1)
def integer_variable_index(x, k):
    return x[k] * x[k - 1] + x[k:].sum() + x[np.int64(k)]


@case(X)
def index_from_argmax(x):
    return x[np.argmax(x)] ** 2 + x[np.argsort(x)][1] + x[np.nonzero(x > 0.5)].sum()


@case(X)
def taken(x):
    return (
        np.take(x, [1, 1, 3]).sum() * x.take(2)
        + np.compress(x > 0, x).prod()
        + np.extract(x < 0, x)[0]
    )


@case(X)
def written_element(x):
    y = np.zeros(5)
    y[1] = x[0] * x[2]
    y[3] = y[1] * x[1]
    return y.sum() * y[3]


@case(X)
def written_slice(x):
    y = x.copy()
    y[1:3] = x[:2] * y[2:4]
    y[::2] = 2.0 * y[0]
    y[-1:] += y[1]
    return np.sum(y * x)


@case(M, X)
def written_with_broadcasting(m, x):
    a = np.ones((3, 4))
    a[:2] = x[:4]
    a[:, 1] = x[0]
    a[2, 2:] *= m[0, :2]
    a[...] += m
    return np.sum(a * a)


@case(X)
def written_by_fancy_index(x):
    y = np.zeros(6)
    y[[0, 2, 4]] = x[:3] * x[2]
    y[np.array([1, 3])] += x[3:]
    y[[0, 5]] *= 3.0
    return np.sum(y * np.arange(6.0)) + y[0] * y[2]


@case(X)
def written_by_mask(x):
    y = x * x
    y[x < 0.25] = x[2]
    y[y > 0.5] *= x[1]
    return np.sum(y) * y[0]


@case(X)
def argument_overwritten(x):
    first = x[0]
    x[0] = x[1] * 3
    x[1:] *= first
    return np.sum(x * x)


@case(X)
def overwritten_value_is_lost(x):
    y = x.copy()
    y[:] = 1.0
    y[2] = x[2]
    return y.sum() * y[2]


@case(M)
def row_by_row(m):
    out = np.empty_like(m)
    for i, row in enumerate(m):
        out[i] = row * (out[i - 1] if i else 1.0)
    return out.sum()


@case(X)
def element_by_element(x):
    y = np.empty(5)
    y[0] = x[0]
    for k in range(1, 5):
        y[k] = y[k - 1] * x[k] + y[k - 1] ** 2
    return y[-1] + y[2]


@case(M)
def put_and_fill(m):
    a = m.copy()
    a.fill(0.5)
    np.put(a, [0, 5], m[0, :2])
    a.__setitem__((0, 3), m[2, 0])
    np.copyto(a[2], m[1], where=[True, False, True, False])
    return np.sum(a * m)


@case(M)
def chained_subscripts_written(m):
    a = m * 1.0
    a[0][1] = m[1, 1] * 2
    a[1:][0][::2] = m[2, :2]
    return np.sum(a * m)


@case(X)
def add_at(x):
    y = np.zeros(3)
    np.add.at(y, [0, 1, 0, 2, 1], x)
    return np.sum(y**3)


@case(M)
def diagonal_by_stride(m):
    a = m[:, :3].copy()
    a.ravel()[::4] = m[0, :3]
    a.flat[1] = m[2, 3]
    return np.sum(a * a) + np.trace(a) * np.diagonal(m).sum()


@case(X)
def slice_objects(x):
    window = slice(1, 4)
    y = x.copy()
    y[window] = y[window][::-1] * 2
    return np.sum(y[slice(None, None, 2)] * x[slice(None, 3)])


@case(T, 1, fixed=1)
def tuple_index(t, k):
    index = (k, slice(0, 2), Ellipsis)
    u = t.copy()
    u[index] *= u[(0, 0, 0)]
    return u[index].sum() * t[(k,) * 3]


@case(X)
def index_is_computed(x):
    total = 0.0
    order = [3, 1, 4, 1, 0]
    for k, j in enumerate(order):
        total = total * x[(j + k) % 5] + x[j]
    return total


# ---- index arrays that change after they were used -----------------------------------------------


@case(X)
def index_changed_in_place(x):
    i = np.array([0, 2, 1])
    y = x[i]
    i += 1
    z = x[i]
    i[0] = 3
    i.sort()
    w = x[i]
    i[:] = 0
    return np.sum(y * z * w * x[i])


@case(X)
def index_shuffled_in_a_loop(x):
    i = np.arange(5)
    y = 1.0
    for k in range(4):
        y = y * np.sum(np.sin(x[i]) * np.arange(5.0))
        np.random.default_rng(k).shuffle(i)
    return y


@case(X)
def mask_changed_in_place(x):
    m = np.array([True, False, True, False, True])
    y = x[m]
    m[1] = True
    m[0] = False
    z = x[m]
    np.logical_not(m, out=m)
    return np.sum(y * z) * np.sum(x[m])


@case(X)
def index_changed_between_writes(x):
    i = np.arange(5)
    y = x.copy()
    y[i[:2]] = x[i[2:4]] * 2
    i[:] = i[::-1].copy()
    y[i[:2]] *= x[i[1:3]]
    np.put(i, [0, 1], [2, 2])
    np.add.at(y, i, x[i])
    i.fill(0)
    return np.sum(y * y * np.arange(1, 6.0))


@case(X)
def index_changed_by_a_function_of_c(x):
    i = np.array([0, 1, 2])
    y = x[i] * x[3]
    struct.pack_into("q", i, 8, 4)
    z = x[i]
    i[0] = 2
    return np.sum(y * z * x[i])


@case(X, np.array([4, 0, 1]), fixed=1)
def index_of_the_callers_changed(x, i):
    y = x[i]
    i += 0
    i[1] = 3
    return np.sum(y * x[i] * np.array([1.0, 2.0, 3.0]))


@case(M)
def sequences_that_name_elements_twice(x):
    y = x * 2.0
    y[:, (0, 1)] = y[:, (1, 0)]
    y[..., range(2)] *= x[(0, 0), :2].sum()
    y[((1, 1),)] += x[[0, 0], :]
    total = 0.0
    for _ in range(2):
        total = total + np.sum(y[:, (1, 0, 1)] ** 2) * x[(1, 1), range(2)].sum()
    return total + np.sum(np.roll(x, np.uint8(1)) * y) + np.diag(x, np.uint8(1)).sum()
