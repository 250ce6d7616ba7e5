"""Arrays written through every kind of view, and by every function that writes."""

import numpy as np

from tests.corpus.registry import case

X = np.array([0.3, 0.8, 1.4, -0.6])
M = np.array([[0.3, -0.8, 1.4], [0.9, 0.2, -0.5], [0.6, 0.1, 0.4]])
Z = np.array([0.3 + 0.2j, 0.8 - 0.1j, 1.4 + 0.5j])


@case(X)
def w_reshape(x):
    y = x.copy()
    y.reshape(2, 2)[1, 0] = x[0] * x[1]
    y.reshape(-1, 1)[0] *= x[3]
    return np.sum(y * y)


@case(M)
def w_transpose_chain(m):
    a = m.copy()
    a.T.reshape(3, 3)[0] = m[0]
    a.transpose(1, 0)[1] *= a[0]
    a.swapaxes(0, 1)[2, 1] = m[2, 2] ** 2
    return np.sum(a * a)


@case(M)
def w_transposed_reshape_copies(m):
    a = m.copy()
    b = a.T.reshape(9)
    b[0] = 5.0 * m[0, 0]
    b[1:3] *= 2
    return np.sum(a * a) + np.sum(b * b)


@case(M)
def diagonal_read(m):
    a = m.copy()
    d = a.diagonal()
    a[0, 0] = m[1, 1] * 2
    return np.sum(d * d)


@case(M)
def diagonal_write(m):
    a = m.copy()
    d = np.diagonal(a)
    d.flags.writeable = True
    d[:] = m[0]
    return np.sum(a * a * m)


@case(M)
def diagonal_setflags(m):
    a = m.copy()
    d = a.diagonal()
    d.setflags(write=True)
    d *= m[1]
    return np.sum(a * a * m)


@case(M)
def diag_strided(m):
    a = m.copy()
    a.ravel()[::4] = m[2]
    a.reshape(-1)[::4] *= 2
    return np.sum(a * a * m)


@case(M)
def einsum_diag_view(m):
    a = m.copy()
    d = np.einsum("ii->i", a)
    d[:] = m[0] * m[1]
    d *= 2
    return np.sum(a * a * m)


@case(M)
def einsum_transposed_view(m):
    a = m.copy()
    d = np.einsum("ij->ji", a)
    d[0] = m[0] * m[1]
    return np.sum(a * a * m)


@case(M)
def fill_diagonal(m):
    a = m.copy()
    np.fill_diagonal(a, m[0] * 2)
    np.fill_diagonal(a[:2, :2], m[1, 1] ** 2)
    return np.sum(a * a * m)


@case(np.arange(10.0).reshape(5, 2) * 0.1 + 0.3)
def fill_diagonal_wrap(m):
    a = m.copy()
    np.fill_diagonal(a, m[0, 0] * 2, wrap=True)
    return np.sum(a * a * m)


@case(X)
def nditer_readwrite(x):
    y = x.copy()
    with np.nditer(y, op_flags=[["readwrite"]]) as it:
        for v in it:
            v[...] = v * v
    return np.sum(y * x)


@case(X)
def nditer_write_two(x):
    y = np.empty(4)
    for a, b in np.nditer([x, y], op_flags=[["readonly"], ["writeonly"]]):
        b[...] = a * a
    return y.sum()


@case(X)
def nditer_read(x):
    t = 0.0
    for v in np.nditer(x):
        t = t + v * v
    return t * 1.0


@case(X)
def nditer_multi_index(x):
    it = np.nditer(x, flags=["multi_index"])
    t = 0.0
    while not it.finished:
        t += x[it.multi_index] * it[0]
        it.iternext()
    return float(t)


@case(X)
def flat_write(x):
    y = x.reshape(2, 2).copy()
    y.flat[1] = x[0] * 2
    y.flat[2:] = x[1]
    y.T.flat[[0, 1]] *= x[2]
    y.flat = y.flat[::-1] * x
    return np.sum(y * y)


@case(X)
def flat_iter_alias(x):
    y = x.copy()
    f = y.flat
    a = next(f)
    y[1] = x[0] * x[0]
    b = next(f)
    return a * b


@case(Z)
def real_imag_write(z):
    w = z.copy()
    w.real[0] = z[1].imag
    w.imag *= z[0].real
    w.real = w.imag * 2
    return np.sum(w * w).real


@case(Z)
def real_imag_view_funcs(z):
    w = z.copy()
    r = np.real(w)
    r[1] = z[0].real ** 2
    i = np.imag(w)
    i += 1.5 * r
    return np.sum(abs(w) ** 2)


@case(X)
def view_as_complex(x):
    y = x.copy()
    c = y.view(np.complex128)
    c[0] = c[0] * c[1]
    return np.sum(y * y)


@case(Z)
def view_as_float(z):
    w = z.copy()
    f = w.view(float)
    f[0] = f[1] * f[2]
    return np.sum(abs(w) ** 2)


@case(X)
def view_int_read(x):
    y = x.copy()
    i = y.view(np.int64)
    return np.sum(y * y) * (1 + (i[0] & 1) * 0)


@case(X)
def sliding_read(x):
    y = x.copy()
    w = np.lib.stride_tricks.sliding_window_view(y, 2)
    y[0] = x[1] ** 2
    return np.sum(w * w)


@case(X)
def as_strided_read(x):
    w = np.lib.stride_tricks.as_strided(x, (3, 2), (8, 8))
    return np.sum(w * w)


@case(X)
def as_strided_write(x):
    y = x.copy()
    w = np.lib.stride_tricks.as_strided(y, (2, 2), (16, 8))
    w[0] = x[1] ** 2
    return np.sum(y * y)


@case(X)
def as_strided_base_written(x):
    y = x.copy()
    w = np.lib.stride_tricks.as_strided(y, (3, 2), (8, 8))
    y[1] = x[1] ** 2
    return np.sum(w * w)


@case(X)
def as_strided_base_written_before(x):
    y = x.copy()
    y[1] = x[1] ** 2
    w = np.lib.stride_tricks.as_strided(y, (3, 2), (8, 8))
    return np.sum(w * w)


@case(X)
def ndarray_ctor_buffer(x):
    y = x.copy()
    w = np.ndarray((2,), float, buffer=y, offset=8)
    w[0] = x[0] * x[1]
    return np.sum(y * y)


@case(X)
def ndarray_ctor_buffer_read(x):
    w = np.ndarray((2,), float, buffer=x, offset=8)
    return np.sum(w * w)


@case(X)
def frombuffer_write(x):
    y = x.copy()
    w = np.frombuffer(y)
    w[0] = x[0] * x[1]
    return np.sum(y * y)


@case(X)
def frombuffer_read(x):
    y = x.copy()
    w = np.frombuffer(y)
    y[1] = x[0] * 2
    return np.sum(w * w)


@case(X)
def memoryview_asarray_write(x):
    y = x.copy()
    w = np.asarray(memoryview(y))
    w[0] = x[0] * x[1]
    return np.sum(y * y)


@case(X)
def memoryview_asarray_read(x):
    w = np.asarray(memoryview(x))
    return np.sum(w * w)


@case(X)
def broadcast_to_read(x):
    b = np.broadcast_to(x, (3, 4))
    return np.sum(b * np.arange(12.0).reshape(3, 4))


@case(X)
def broadcast_to_base_written(x):
    y = x.copy()
    b = np.broadcast_to(y, (3, 4))
    y[0] = x[1] * x[2]
    return np.sum(b * np.arange(12.0).reshape(3, 4))


@case(X)
def broadcast_arrays_written(x):
    y = x.copy()
    a, b = np.broadcast_arrays(y, np.zeros((2, 1)))
    y[0] = x[1] * x[2]
    return np.sum(a * np.arange(8.0).reshape(2, 4))


@case(X)
def split_views(x):
    y = x.copy()
    a, b = np.split(y, 2)
    a *= x[3]
    b[0] = a[1] * 2
    c = np.array_split(y, 3)
    c[0][:] += x[:2]
    return np.sum(y * y)


@case(M)
def hsplit_views(m):
    a = m.copy()
    p, q, r = np.hsplit(a, 3)
    p[:] = q * r
    u, v = np.vsplit(a, [1])
    u *= 2
    return np.sum(a * a)


@case(M)
def unstack_views(m):
    a = m.copy()
    p, q, r = a
    p[:] = q * r
    *_, last = a
    last += p
    return np.sum(a * a)


@case(M)
def rollaxis_moveaxis(m):
    a = m.copy()
    np.moveaxis(a, 0, 1)[0] = m[1]
    np.rollaxis(a, 1)[1] *= m[2]
    return np.sum(a * a)


@case(X)
def squeeze_expand(x):
    y = x.copy()
    np.expand_dims(y, 0)[0, 1] = x[0] ** 2
    y[None, :, None][0, 2, 0] *= x[3]
    y[:, None].squeeze()[3] = x[1]
    return np.sum(y * y)


@case(X)
def atleast_views(x):
    y = x.copy()
    np.atleast_2d(y)[0, 1] = x[0] ** 2
    np.atleast_1d(y)[2] = y[1] * 2
    np.atleast_3d(y)[0, 3, 0] *= 2
    return np.sum(y * y)


@case(X)
def asarray_alias(x):
    y = x.copy()
    np.asarray(y)[0] = x[1] ** 2
    np.asanyarray(y)[1] *= 2
    np.ascontiguousarray(y)[2] = x[0]
    np.array(y, copy=False)[3] *= x[1]
    np.require(y)[0] += 1.0
    return np.sum(y * y)


@case(X)
def ravel_alias(x):
    y = x.reshape(2, 2).copy()
    np.ravel(y)[0] = x[1] ** 2
    y.ravel("K")[1] *= 2
    y.flatten()[2] = 100.0
    y.ravel("F")[3] = 50.0
    return np.sum(y * y)


@case(X)
def flip_views(x):
    y = x.copy()
    np.flip(y)[0] = x[1] ** 2
    y[::-1][:2] *= x[2]
    np.fliplr(y.reshape(2, 2))[0, 0] = x[0]
    np.rot90(y.reshape(2, 2))[1, 1] *= 3
    return np.sum(y * y)


@case(X)
def astype_nocopy(x):
    y = x.copy()
    y.astype(float, copy=False)[0] = x[1] ** 2
    y.astype(float)[1] = 50.0
    return np.sum(y * y)


@case(X)
def where_out(x):
    out = np.ones(4)
    np.log(x, out=out, where=x > 0)
    np.sqrt(x, where=x > 0, out=out[::-1])
    return np.sum(out * x)


@case(X)
def out_tuple(x):
    a, b = np.empty(4), np.empty(4)
    np.modf(x * 3, out=(a, b))
    np.add(a, x, out=(a,))
    return np.sum(a * x)


@case(X)
def out_modf_pos(x):
    a, b = np.empty(4), np.empty(4)
    np.modf(x * 3, a, b)
    return np.sum(a * x)


@case(X)
def out_alias_input(x):
    y = x.copy()
    np.multiply(y[1:], 2, out=y[:-1])
    np.add(y[:-1], y[1:], out=y[1:])
    np.matmul(y.reshape(2, 2), y.reshape(2, 2), out=y.reshape(2, 2))
    return np.sum(y * y)


@case(X)
def out_of_functions(x):
    a = np.empty(4)
    np.cumsum(x, out=a)
    np.clip(a, 0, 1, out=a)
    b = np.empty(())
    np.sum(a * x, out=b)
    np.take(x, [0, 1], out=a[:2])
    np.dot(x.reshape(2, 2), x.reshape(2, 2), out=(c := np.empty((2, 2))))
    np.concatenate([x[:2], a[:2]], out=a)
    return b * np.sum(a) + c.sum()


@case(X)
def at_ops(x):
    y = x.copy()
    np.add.at(y, [0, 0, 1], x[:3])
    np.multiply.at(y, [1, 1], x[2])
    np.subtract.at(y, ([3, 3],), 1.5)
    np.maximum.at(y, [2], x[0] * 5)
    np.negative.at(y, [0])
    np.divide.at(y, [2, 2], x[3])
    np.power.at(y, [1], 2)
    return np.sum(y * y)


@case(X)
def add_at_view(x):
    y = x.copy()
    np.add.at(y[::-1], [0, 0, 1], y[:3])
    np.add.at(y.reshape(2, 2), ([0, 1], [1, 1]), 2.0 * x[0])
    np.add.at(y, slice(0, 2), y[2:])
    np.add.at(y, y > 1, x[1])
    return np.sum(y * y)


@case(X)
def copyto_etc(x):
    y = np.zeros(4)
    np.copyto(y, x * 2)
    np.copyto(y[1:], y[:-1], where=[True, False, True])
    np.put(y, [0, -1], x[1:3])
    np.place(y, y > 1, [x[0], x[1]])
    np.putmask(y, y < 0, y**2)
    np.put_along_axis(y, np.array([1, 2]), x[2] * 2, 0)
    return np.sum(y * y)


@case(X)
def put_along(x):
    y = x.reshape(2, 2).copy()
    np.put_along_axis(y, np.array([[1], [0]]), x[:2].reshape(2, 1) * 3, axis=1)
    np.put(y, [0, 0], x[2:])
    y.put([3], x[0], mode="wrap")
    return np.sum(y * y)


@case(X)
def itemset(x):
    y = x.copy()
    y.itemset(0, x[1] * x[2]) if hasattr(y, "itemset") else y.put(0, x[1] * x[2])
    return np.sum(y * y)


@case(X)
def setfield(x):
    y = x.copy()
    y.setfield(x[1] * 2, float)
    return np.sum(y * y)


@case(X)
def getfield(x):
    y = x.copy()
    g = y.getfield(float)
    g[0] = x[1] ** 2
    return np.sum(y * y)


@case(X)
def sort_axis(x):
    y = x.reshape(2, 2).copy()
    y.sort(axis=0)
    y.T.sort(axis=0)
    y.reshape(-1)[::-1].sort()
    y.partition(1, axis=0)
    return np.sum(y * np.arange(4.0).reshape(2, 2))


@case(X)
def sort_view(x):
    y = x.copy()
    y[1:].sort()
    y[::2].fill(x[0] * 2)
    return np.sum(y * np.arange(4.0))


@case(X)
def byteswap(x):
    y = x.copy()
    y.byteswap().byteswap()
    return np.sum(y)


@case(X)
def boolean_mask_write(x):
    y = x.copy()
    y[y > 0.5] = x[0]
    y[y < 0] *= y[1]
    y[np.array([True, False, True, False])] += x[:2]
    y[[0, 0, 1]] = x[:3]
    y[[0, 0]] += 1.0
    return np.sum(y * y)


@case(X)
def ellipsis_newaxis_write(x):
    y = x.copy()
    y[..., None][0] = x[1] ** 2
    y[...] += x
    y[()][1] = x[0]
    y[None][:, 2] = x[3]
    return np.sum(y * y)


@case(M)
def ix_write(m):
    a = m.copy()
    a[np.ix_([0, 2], [1, 2])] = m[:2, :2] * 2
    a[[0, 1], [1, 0]] = a[[1, 0], [0, 1]]
    a[1:, [0, 2]] *= a[0, 0]
    return np.sum(a * a)


@case(X)
def setitem_list(x):
    y = np.zeros((2, 2))
    y[0] = [x[0], x[1] * 2]
    y[:, 1] = (x[2], y[0, 1])
    y[...] = [[x[0], 1.0], [2.0, x[3]]]
    return np.sum(y * y)


@case(X)
def setitem_0d(x):
    y = np.zeros(4)
    y[0] = np.array(x[1])
    y[1:2] = np.array(x[2])[None]
    y[2] = x[3:4][0]
    z = np.zeros(())
    z[()] = x[0]
    y[3] = z
    return np.sum(y * y)


@case(X)
def setitem_size1(x):
    y = np.zeros(4)
    y[0:1] = x[1:2]
    y[2] = x.reshape(2, 2)[0, :1].item()
    return np.sum(y * y)


@case(X)
def iadd_int_array(x):
    y = np.zeros(4, int)
    y[:] = [1, 2, 3, 4]
    y += 1
    y[0] *= 2
    return np.sum(y * x)


@case(X)
def fortran_order(x):
    y = np.asfortranarray(x.reshape(2, 2))
    y[0] = x[:2] * 2
    w = np.array(x.reshape(2, 2), order="F")
    w.ravel("F")[1] = x[0] ** 2
    w.T.ravel()[2] *= 3
    return np.sum(y * w)


@case(X)
def asfortran_1d_alias(x):
    y = x.copy()
    np.asfortranarray(y)[0] = x[1] ** 2
    return np.sum(y * y)


@case(X)
def base_write(x):
    y = x.copy()
    v = y[1:3]
    v.base[0] = x[2] * x[3]
    return np.sum(y * y) + v.sum()


@case(X)
def overlap_loop(x):
    buf = np.zeros(8)
    buf[:4] = x
    for k in range(4):
        a = buf[k : k + 4]
        b = buf[k + 1 : k + 5]
        b[:] = a * 0.5 + b * x[k]
        a[0] += b[-1]
    return np.sum(buf * buf)


@case(X)
def overlap_iadd(x):
    y = np.concatenate([x, x])
    y[1:] += y[:-1]
    y[::2] *= y[1::2]
    y[:-1] -= y[1:]
    y[2:] /= y[:-2] + 10
    return np.sum(y * y)


@case(X)
def self_assign(x):
    y = x.copy()
    y[:] = y
    y += y
    y[:] = y[::-1]
    y[1:] = y[:-1]
    y *= y
    return np.sum(y * x)


@case(np.array([[0.3, 0.4], [1.0, 2.0]]))
def all_antidiagonals(m):
    """The first and the last are empty, and begin outside of the memory."""
    total = 0.0
    for k in range(-2, 3):
        total = total + np.sum(np.diagonal(m[:, ::-1], k) ** 2) * (k + 2.5)
    return total


@case(np.array([1.0, 2.0, 3.0]))
def empty_diagonal_of_what_is_written(x):
    w = x.copy()[::-1]
    w[0] = 2 * x[1]
    empty = np.reshape(w, (1, 3)).diagonal(-1)
    return w.sum() ** 2 + empty.sum()
