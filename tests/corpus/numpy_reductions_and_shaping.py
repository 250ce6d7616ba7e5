"""Reductions, shaping, joining, splitting, sorting, products."""

import numpy as np

from tests.corpus.registry import case

X = np.array([0.3, 0.8, 1.4, -0.6])
M = np.array([[0.3, -0.8, 1.4], [0.9, 0.2, -0.5]])
T = np.linspace(0.1, 2.4, 24).reshape(2, 3, 4)


@case(M)
def sums(m):
    return m.sum() * m.sum(axis=0)[1] + np.sum(m, axis=1, keepdims=True)[0, 0] * np.sum(m, (0, 1))


@case(M)
def means_and_variances(m):
    return m.mean() + np.var(m, axis=0).sum() * m.std(ddof=1) + np.mean(m, axis=1)[1]


@case(M)
def products(m):
    return np.prod(m, axis=0).sum() + m.prod() + np.cumprod(m[0])[1] * np.cumsum(m, axis=1)[1, 2]


@case(M)
def extremes(m):
    return (
        m.max() * m.min()
        + np.max(m, axis=0).sum()
        + np.amin(m, axis=1, keepdims=True).sum()
        + np.ptp(m)
    )


@case(T)
def reshapes(t):
    return (
        np.sum(t.reshape(6, 4)[1] * t.reshape(-1)[:4])
        + t.ravel()[5] * t.flatten()[7]
        + np.reshape(t, (4, 6))[1, 1]
    )


@case(T)
def transposes(t):
    return (
        np.sum(t.T[0] * t.transpose(1, 2, 0)[:, 0].T[:1].T[0, 0])
        + np.swapaxes(t, 0, 1)[1, 1, 2] * np.moveaxis(t, 0, -1)[1, 2, 0]
    )


@case(M)
def squeezes(m):
    e = np.expand_dims(m, 1)
    return np.sum(np.squeeze(e, axis=1) * m) + e[:, 0].sum() * np.broadcast_to(m[0], (2, 3)).sum()


@case(M, np.array([0.5, 0.7, 0.1]))
def joined(m, v):
    c = np.concatenate([m, v[None], m[:1]], axis=0)
    s = np.stack([v, m[0]], axis=1)
    return np.sum(c * c) + s[0, 1] * np.vstack([m, v])[2, 1] * np.hstack([v, m[1]])[4]


@case(X)
def split(x):
    a, b = np.split(x, 2)
    c, d, e = np.array_split(x * x, 3)
    return np.sum(a * b) + c[1] * d[0] * e[0]


@case(X)
def repeated(x):
    return (
        np.repeat(x, 2)[3] * np.tile(x, (2, 1))[1, 2]
        + np.repeat(x, [1, 0, 2, 1]).sum()
        + np.tile(x, 2).sum()
    )


@case(X)
def rolled_and_flipped(x):
    return np.sum(np.roll(x, 1) * x) + np.sum(np.flip(x) * x) * np.roll(x, -2)[0]


@case(X)
def sorted_values(x):
    y = np.sort(x)
    return y[0] * y[1] + y[2] ** 2 + x[np.argsort(-x)][0] * np.sort(x)[::-1][1]


@case(X)
def differences(x):
    return np.sum(np.diff(x) ** 2) + np.diff(x, n=2)[0] * np.gradient(x)[1]


@case(X)
def padded(x):
    y = np.pad(x, (1, 2))
    return np.sum(y[1:] * y[:-1]) + np.pad(x, 1, mode="edge").sum()


@case(M, M.T * 0.5 + 1)
def matrix_products(a, b):
    return np.sum((a @ b) ** 2) + np.dot(a, b)[0, 1] + np.matmul(b, a).trace()


@case(M, np.array([0.5, 0.7, 0.1]))
def matrix_vector_products(m, v):
    return np.sum(m @ v) * (m @ v)[0] + np.dot(v, v) * np.inner(v, m[0]) + (v @ m.T)[1]


@case(T, M)
def einsum_products(t, m):
    return (
        np.einsum("ijk,ij->k", t, m).sum() + np.einsum("ij,ij", m, m) + np.einsum("ij->ji", m)[2, 1]
    )


@case(T, T[0].T.copy())
def stacked_products(t, w):
    return np.sum(t @ w) + np.tensordot(t, w, axes=([2], [0]))[0, 1, 2] + np.tensordot(t, t, 3)


@case(X, X[:2])
def outer_and_kron(x, y):
    return np.outer(x, y)[1, 1] * np.kron(x, y)[3] + np.vdot(x, x) + np.outer(y, y).sum()


@case(M)
def triangles_and_diagonals(m):
    s = m @ m.T
    return (
        np.tril(s).sum() * np.triu(s, 1).sum() + np.trace(s) * np.diag(s)[1] + np.diag(m[0])[1, 1]
    )


@case(T)
def reduction_over_several_axes(t):
    return np.sum(t.mean(axis=(0, 2)) * t.max(axis=(0, 2))) + t.sum(axis=-1, keepdims=True).std()


@case(X)
def created_arrays(x):
    a = np.array([x[0], x[1] * 2, 1.0])
    b = np.array([[x[0], 2.0], [x[3], x[1]]])
    c = np.full(3, x[2]) + np.linspace(0, 1, 3) * np.ones_like(a)
    return np.sum(a * c) + np.sum(b @ b)


@case(0.3, 1.7)
def created_ranges(a, b):
    return np.sum(np.linspace(a, b, 5) ** 2) + np.full((2, 2), a)[0, 1] * b


@case([np.array([0.3, 0.8]), np.array([1.4])])
def list_of_arrays(xs):
    return np.concatenate(xs).sum() * np.hstack(xs)[2] + sum(x.sum() for x in xs)


@case(X)
def empty_reductions(x):
    return np.sum(x[:0]) + np.prod(x[4:]) * x[0] + x[x > 10].sum()


@case(X)
def shape_queries(x):
    n = x.shape[0] * x.ndim + x.size + len(x)
    return x.sum() / n + x[0] * (x.dtype == float)


@case(M)
def several_results(m):
    return m.sum(axis=0), [m.T, {"max": m.max(), "n": 3}]


@case(M)
def apply_along_axis(m):
    return np.apply_along_axis(lambda row: row * row[0], 1, m).sum()


@case(M)
def to_list_and_back(m):
    rows = m.tolist()
    return np.array(rows)[0, 1] * rows[1][2] + sum(sum(row) for row in rows)


@case(X)
def vectorized(x):
    return np.vectorize(lambda v: v * v if v > 0 else -v)(x).sum()


@case(0.7)
def operands_by_keyword(x):
    y = pow(base=x, exp=3.0) * pow(2.0, exp=x) + pow(x, 2, None)
    return y + np.dot(np.array([x, 2.0, x]), b=[x, 1, 2.0]) * np.array(object=x)


@case(0.7)
def blocks_of_lists(x):
    y = np.block([[np.array([x])], [np.array([2.0])]]).sum()
    return y * (np.block([[np.eye(2) * x, np.zeros((2, 1))], [np.ones((1, 2)), x * x]]) ** 2).sum()


@case(0.7)
def roots_of_a_list(x):
    return np.sort(np.roots([1.0, -3 * x, 2 * x * x]).real)[0] * x


@case(np.array([0.3, 0.9, 1.7]))
def counted_more_than_once(x):
    return np.var(x, where=[2, 0, 3]) + np.std(x, where=[1, 0, 1]) * x.var(where=[1, 3, 1])
