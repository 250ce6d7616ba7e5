"""Lines with NumPy functions, options and indices: programs give what the generic tier gives."""

from __future__ import annotations

import linecache
import warnings

import numpy as np
import pytest

import adjoint as ad
from adjoint.fast.build.modes import GRADIENT
from adjoint.fast.programs import store as tier
from adjoint.runtime.entries import basics
from tests.fast.agreeing import generic_tier
from tests.structures import difference

X = np.array([0.3, -1.2, 2.5, 0.7, -0.4, 1.1])
A = np.random.default_rng(1).normal(size=(3, 4))
B = np.random.default_rng(2).normal(size=(2, 3, 4))
STEP = 1e-6
PROGRAMS = r"""
y = x * np.arange(1, stop=7) + np.arange(0.0, 3.0, step=0.5)
y = x * np.arange(0, stop=3.0, step=0.5, dtype=None)
y = x[:3] * np.arange(6, step=2)
y = x * np.linspace(0, x[0], 6, dtype=float)
y = x * np.isclose(x, x[::-1], atol=0.5) + x if np.allclose(x, x * (1 + 1e-9)) else x * x
y = x * 3 if np.array_equal(x, x[::-1]) or np.array_equal(x, a) else x * x
y = x * np.isclose(x, [0.3, np.nan, np.inf, 0.7, 0, 1], equal_nan=True)
y = np.fix(x * 2 + 0.1) * x
y = np.dstack([x, x * x])[0] * np.dstack((a, a * a))[0, 1]
y = x * np.mgrid[0:1:6j] + np.mgrid[0 : x.shape[0]] * np.mgrid[0:6:2, 0:1:2j][1].ravel()
y = x * np.kaiser(6, 3.0) * np.setdiff1d(np.arange(8), [1, 3])
y = x[np.r_[0:2, 4:6, 3]] * x[np.r_[0, 2:6:2, 4]].sum() + np.r_[0:3] @ x[np.r_[:3]]
y = np.r_[0:3, x, 1, 0:1:0.25] * np.r_[-1, 5:17][:, None] + np.c_[0:2, x[:2], 2:4].sum()
y = np.outer(x, x)[np.argmax(a, axis=0), range(a.shape[1])] + a[range(1, 3), 0].sum()
y = np.outer(x, x)[1:, range(0, len(x), 2)] * x[range(3)]
y = x * a.flat[3] + a.flat[-6:] * a.flat[[1, 5, 5, 2, 0, 1]] + max(a.flat)
y = a @ a.T; y.flat[::4] += x[0]; y.flat[1] = x[1] ** 2; y.flat[[2, 3]] = x[2:4]; y = y * y
y = a * 1.0; z = y.flat; y[0, 0] = x[1]; y = z[0] * y; z[2] = x[3]
y = x.compress(x > 0) * 2 + x.compress([True, False, True, True, False, True])
y = np.insert(x[x > -9], 4, 0.5) * np.insert(x, -5, 2.0)
y = np.fromiter((v * v for v in x), float, len(x)) * np.fromiter(map(np.sin, x), float, count=6)
y = x.view() * x[np.ravel_multi_index(([0, 1, 1, 0, 1, 0], [1, 2, 0, 0, 1, 2]), (2, 3))]
y = np.round(x, 1) * x + np.around(x, 1) * np.round(np.array([1, 2, 3, 4, 5, 6]))
y = np.array(x * 2, order=None, subok=True) * np.asarray(x * x, order="C")
y = np.stack([x[i % 6] * x for i in range(20)], 0)[1]
y = np.stack([x[i % 6] * x for i in range(20)], 1)[1]
y = x[[0, 2, 2, -1]] * 2
y = x[np.array([0, 2, 2])] + x[(0, 1, 1),]
y = a[[0, 2], [1, 3]]
y = a[[0, 2]][:, [1, 3, 1]]
y = a[[[0], [2]], [1, 3]]
y = a[1, [1, 3, 1]]
y = a[[1, 0], 2]
y = b[0, :, [1, 3]]
y = b[:, [0, 2], [1, 3]]
y = b[[0, 1], :, [1, 3]]
y = b[[0, 1], ..., 2]
y = b[..., [0, 1], :]
y = b[None, [1, 0], 1]
y = b[1, None, [0, 1]]
y = b[0, ..., [1, 1]]
y = b[:, a > 0]
y = b[0][a > 0] * a[a > 0]
y = a[a[:, 0] > -9, 1]
y = a[a[:, 0] > -9][:, x[:4] > 0]
y = b[[True, False]]
y = x[x > 9]
y = x[~(x > 0) & (x < 9)]
m = x > 0; y = x[m] * np.cumsum(x[m])
m = x > 0; y = np.outer(x[m], x[~m])
m = x > 0; y = x[m] @ (x[m] * 3) * x
m = x > 0; y = np.concatenate([x[m], x[~m]]) * x
m = x > 0; y = np.stack([x[m], x[m] ** 2], 1)
m = x > 0; y = x[m][:, None] * a[0][None, :]
m = x > 0; y = x[m].sum() / len(x[m]) * x
m = x > 0; y = x[m].reshape(-1, 1) + x[m]
m = x > 0; y = np.zeros(m.sum()) + x[m]
m = x > 0; y = x[m] + x[x > 0.1]
m = x > 0; y = np.linalg.solve(np.outer(x, x)[m][:, m] + np.eye(m.sum()), x[m])
m = x > 0; y = np.linalg.solve(np.outer(x, x)[np.ix_(m, m)] + 2 * np.eye(4), np.ones(m.sum()))
m = np.flatnonzero(x > 0); y = np.linalg.det(np.outer(x, x)[m][:, m] + np.eye(4)) * x
y = x[np.setdiff1d(np.arange(6), [1, 4])]
y = x[np.union1d([1, 4], [1, 2])] + x[np.intersect1d(np.arange(6), [1, 4, 5, 9])]
y = np.unique(x) * np.unique(x)[0]
y, n = np.unique(np.concatenate([x, x[:3]]), return_counts=True); y = y * n
k, i, n = np.unique([2, 0, 2, 1, 1, 0], True, return_counts=True); y = x[i] * n + x[:3] * k
k, i = np.unique([2, 0, 2, 1, 1, 0], return_inverse=True); y = np.bincount(i, weights=x)
m = x > 0; y = np.arange(m.sum()) * x[m]
i = np.argsort(x); y = x[i] * x
i = np.argmax(x); y = x[i] * x
i = np.argmax(a, axis=1); y = a[np.arange(3), i]
i = np.nonzero(a > 0); y = a[i]
i, j = np.nonzero(a > 0); y = a[i, j] * j
i = np.where(x > 0)[0]; y = x[i]
i = np.flatnonzero(x > 0); y = x[i] * len(i)
i = np.argwhere(a > 0); y = a[i[:, 0], i[:, 1]]
y = np.zeros(6); y[x > 0] = 1.0; y = y * x
y = np.zeros(6); y[x > 0] = x[x > 0]
y = x * 2; y[x > 0] *= x[0]
y = x * 2; y[[0, 1, 0]] += x[:3]
y = x * 2; y[[0, 1, 0]] = x[:3]
y = x * 2; y[[0, 1, 0]] = x[3]
y = x * 2; y[[0, 1, 0]] -= x[3]
y = x * 2; y[np.array([1, 1, 2])] = 7.0
y = a * 2; y[[0, 0], [1, 1]] = x[:2]
y = a * 2; y[[0, 0]] = a[1]
y = a * 2; y[[0, 0], 1:3] = a[1:3, :2]
y = a * 2; y[:, [0, 0]] = a[:, 1:3]
y = a * 2; y[:, [0, 0]] = a[:, :1]
y = a * 2; y[a > 0] = a[a > 0] ** 2
y = a * 2; y[a[:, 0] > -9, 1] = x[:3]
y = a * 2; y[np.arange(3), np.argmax(a, axis=1)] -= 1.0
y = a * 2; y += a[:, 1:2]; y -= x[:4]; y *= a[0]; y /= 2 + a * a
y = a * 2; y **= 2
y = a * 2; y += x[:4][x[:4] > -9]
y = a * 2; y[:2] += x[:4][x[:4] > -9]
y = a * 2; y[:, :2] = x[:2][x[:2] > -9]
y = a * 2; y[0, :2] /= x[0]
y = np.zeros(6, np.float32); y[:] = x; y[1:] += x[1:] * 0; y = y.astype(float)
y = np.zeros((3, 4), complex); y[...] = a; y[0] *= 1j; y = np.real(y * y)
y = np.ndarray((3, 4)); y[:] = a
y = np.ndarray(6, dtype=float); y[:] = x
y = np.full((len(x) + 1, 2), x[0])
y = np.full((len(x) - 2, 2 * len(x)), 2.0) * x[0]
y = np.zeros(len(x) + 2); y[1:-1] = x
y = np.zeros(len(x) + len(a)); y[: len(x)] = x; y[len(x) :] = a[:, 0]
y = np.zeros(4); np.add.at(y, [0, 1, 1, 3], x[:4])
y = np.zeros(4); np.add.at(y, [0, 1, 1], x[0])
y = np.zeros(4); np.subtract.at(y, np.array([0, 1, 1]), x[:3])
y = np.zeros((3, 4)); np.add.at(y, ([0, 0], [1, 1]), x[:2])
y = np.zeros((3, 4)); np.add.at(y, [0, 0], a[:2])
y = np.zeros((3, 4)); np.add.at(y, [0, 0], x[:4])
y = np.zeros(6); np.multiply(x, 2, out=y)
y = np.zeros(6); np.multiply(x, x, y); np.sin(y, y)
y = x * 1; np.add(y, y, out=y)
y = np.zeros((3, 4)); np.add(a, x[:4], out=y)
y = np.zeros((3, 4)); np.exp(x[:4], out=y)
y = np.ones(6); np.log(x, out=y, where=x > 0)
y = np.ones((3, 4)); np.divide(a, x[:4], out=y, where=x[:4] > 0)
y = np.zeros(3); np.sum(a, axis=1, out=y)
y = np.zeros((3, 3)); np.matmul(a, a.T, out=y)
y = np.zeros((3, 3)); np.dot(a, a.T, out=y)
y = np.zeros(6); np.clip(x, -1, 1, out=y)
y = np.sum(a, axis=1, where=a > 0)
y = np.sum(a, where=a > 0, initial=3.0) * x
y = np.sum(a, 1, initial=2.0)
y = a.sum(axis=0, where=a > 0, keepdims=True)
y = np.mean(a, axis=1, where=a > -1)
y = np.prod(a, axis=1, where=a > 0)
y = np.max(a, axis=1, initial=0.5)
y = np.min(a, where=a > 0, initial=9.0) * x
y = a.min(axis=0, initial=0.1)
y = np.var(a, axis=1, ddof=1) * a.std(ddof=1)
y = np.any(a > 1, axis=1) * a[:, 0]
y = np.reshape(x, (2, 3), order="C") @ a
y = np.sort(a, axis=0) * np.sort(a, axis=None)[0]
y = a.copy(); y.sort(axis=0)
y = x.copy(); y.partition(2); y = y[2] * x
y = np.partition(x, 3)[:3].sum() * x
y = np.take(x, [0, 2, 2]); y = y * np.take(a, 1)
y = np.take(a, [0, 2], axis=1)
y = x.take([1, 1])
y = np.take_along_axis(a, np.argsort(a, axis=1), axis=1) * a
y = np.unique(x) * x
u, i = np.unique(np.array([3, 1, 3]), return_inverse=True); y = x[:2][i]
u, c = np.unique(np.array([3, 1, 3]), return_counts=True); y = x[:2] * c + u
y = np.searchsorted(np.sort(x), x) * x
y = np.digitize(x, np.array([0.0, 1.0])) * x
y = np.bincount(np.array([0, 2, 2, 1, 0, 1]), x)
y = np.bincount(np.array([0, 2, 2, 1, 0, 1]), weights=x, minlength=5)
y = x * np.isin(np.arange(6), [1, 3])
y = np.lexsort((x, np.array([0, 1, 0, 1, 0, 1]))) * x
y = np.select([x < 0, x < 1], [x, x * x], 3.0)
y = np.select([x < 0, x < 1], [x, 2.0])
y = np.choose(np.array([0, 1, 0, 1, 1, 0]), [x, 2 * x])
y = np.piecewise(x, [x < 0, x > 1], [np.sin, lambda t: t * t, 7.0])
y = np.piecewise(x, [x < 0], [lambda t, k: t * k, 2.0], 3.0)
y = np.piecewise(x, [x < 0, x < 1], [-1.0, lambda t: t])
y = np.meshgrid(x, a[0], indexing="ij")[0] * np.meshgrid(x, a[0])[1].T
y = np.meshgrid(x, a[0], x[:2])[2] * x[0]
g, h = np.meshgrid(x, a[0], sparse=True); y = g * h
p, q, r = np.split(x, 3); y = p * q * r
p, q = np.array_split(a, 2, axis=1); y = p @ q.T
p, q, r = np.array_split(x, [1, 4]); y = np.outer(p, q) * r[0]
p, q = np.hsplit(a, 2); y = p * q
p, q, r = np.vsplit(a, 3); y = p * q + r
p = np.array_split(x, 4); y = p[0] * p[1] + p[2][0] * p[3][0]
y = np.block([x, a[0], 2.0])
y = np.block([[a, a * 2], [np.zeros((1, 8))]])
y = np.block([[a[:, :3], x[:3, None]], [x[:4]]])
y = np.apply_along_axis(np.sum, 0, a)
y = np.apply_along_axis(lambda r: r[::2] * r[0], 1, a)
y = np.apply_along_axis(lambda r, k: np.cumsum(r) * k, 0, a, 2.0)
y = np.apply_along_axis(lambda r: r.max(), 1, b)
y = np.vectorize(lambda t: t * t if t > 0 else 3.0 * t)(x)
y = np.vectorize(lambda s, t: max(s, t) * s)(a, x[:4])
y = np.lib.stride_tricks.sliding_window_view(x, 3) @ x[:3]
y = np.lib.stride_tricks.sliding_window_view(a, 2, axis=0).sum(-1)
y = np.lib.stride_tricks.sliding_window_view(a, 2, axis=-1) * 2
y = np.cov(a)
y = np.cov(a, rowvar=False, ddof=0)
y = np.cov(x[:4], a[0], bias=True)
y = np.cov(x) * x
y = np.corrcoef(a[:2])
y = sum(t * i for (i,), t in np.ndenumerate(x)) * x
y = sum(t * i * j for (i, j), t in np.ndenumerate(a)) * x
y = sum(t * k for (i, j, k), t in np.ndenumerate(b)) * x
p, q = np.broadcast_arrays(a, x[:4]); y = p * q
p, q = np.broadcast_arrays(a[:, :1], x[:4]); y = p * q + p
h, e = np.histogram(x, bins=3); y = h[0] * x[0] + e
h, e = np.histogram(x, 3, (-2.0, 2.0)); y = h * x[:3] + e[0]
h, e = np.histogram(np.arange(6.0), [0.0, 2.0, 5.0], weights=x); y = h
h, e = np.histogram(np.arange(6.0), 2, weights=x, density=True); y = h * h
s, l = np.linalg.slogdet(a @ a.T); y = s * l * x
y = np.linalg.slogdet(a @ a.T).logabsdet * x
y = np.linalg.slogdet(a @ a.T)[1] * x
w, v = np.linalg.eigh(a @ a.T); y = w[::-1] * w
w, v = np.linalg.eigh(a @ a.T); y = v * v * w
y = np.linalg.eigh(a @ a.T).eigenvalues
u, s, v = np.linalg.svd(a, full_matrices=False); y = (u * s) @ v * s[0]
y = np.linalg.svd(a, compute_uv=False)
q, r = np.linalg.qr(a.T); y = np.abs(r) * r[0, 0]
for m in a: x = x * np.linalg.slogdet(np.eye(2) * m[0] ** 2)[1]\ny = x
y = np.abs(np.fft.fft(x)) ** 2
y = np.fft.irfft(np.fft.rfft(x) * np.arange(4))
y = np.real(np.fft.ifft(np.fft.fft(a, axis=0) * 2, axis=0))
y = np.abs(np.fft.fft2(a))
y = np.fft.fftfreq(6) * x
y = np.hanning(6) * x + np.hamming(6)
y = a * np.tri(3, 4)
i, j = np.triu_indices(3); y = a[i, j]
i, j = np.tril_indices(3, -1); y = a[i, j]
i = np.diag_indices(3); y = a[i]
i = np.unravel_index(np.argmax(a), a.shape); y = a[i] * x
y = np.zeros((3, 4)); y.fill(x[0]); y = y * a
y = np.zeros(6); np.copyto(y, x); np.copyto(y, x * x, where=x > 0)
y = a * 2; np.copyto(y, x[:4], where=x[:4] > 0)
y = a[:, :3] * 2; np.fill_diagonal(y, x[0])
y = a[:, :3] * 2; np.fill_diagonal(y, x[:3])
y = a * 2; np.put_along_axis(y, np.argmax(a, axis=1)[:, None], x[0], axis=1)
y = a * 2; np.put_along_axis(y, np.array([[0, 0, 1]]).T, a[:, :1], 1)
y = np.nan_to_num(x) * np.interp(x, np.arange(4.0), a[0])
y = np.convolve(x, a[0], "same") + np.correlate(x, a[0], "same")
y = np.gradient(x) * x
y = np.percentile(x, 30) * np.quantile(a, 0.5, axis=0)
y = np.insert(x, 1, x[0]); y = np.append(y, x) * np.delete(x, 0)[0]
y = np.cross(x[:3], x[3:])
y = np.gradient(a, 0.5, axis=1)
y = np.rot90(a) @ a[:, :3].T @ np.fliplr(a[:, :3]).T @ np.flipud(a)
y = np.linalg.pinv(a) * np.linalg.matrix_power(a[:, :3], 2)[0, 0]
y = np.einsum("ij,kj->ik", a, a, optimize=True)
y = np.einsum(a, [0, 1], x[:4], [1])
k = 0\nfor i in range(3):\n    k = k + i\n    x = x[: 6 - k] * a[0, 0]\ny = x
z = x\nfor i in range(2):\n    z = z[z > -9 + i] * 1.5\ny = z
z = x[:1]\nfor i in range(4):\n    z = np.concatenate([z, x[i : i + 1] * z[-1]])\ny = z
z = x[:2] if x[0] > 0 else x[:3]\ny = z * z
z = x[:3] if x[0] < 0 else x[:3] * 2\ny = z + x[:3]
t = 0.0\nfor i in range(1, 5):\n    t = t + x[:i] @ a[0, :i]\ny = t * x
t = 0.0\nfor i in range(3):\n    c = np.nonzero(a[i] > 0)[0]\n    t = t + a[i, c] @ x[c]\ny = t * x
c = np.zeros(3, int); c[1] = 2; c[2] += 1; y = x[c]
c = np.zeros(3, int)\nfor i in range(6):\n    c[i % 3] += i\ny = x[:3] * c
c = np.zeros(3, int); np.add.at(c, [0, 0, 2], 1); y = x[:3] * c
c = np.arange(6); c[2:] -= 1; y = x[c]; c[:] = 0; y = y + x[c]
m = np.zeros(6, bool); m[2] = True; y = x[m].sum(); m[3:] = True; y = x[m] * y
m = np.ones(6, bool)\nt = 0.0\nfor i in range(6):\n  t += x[m].sum()\n  m[i] = x[i] > 0\ny = t * x
p = np.arange(6); p[0], p[3] = p[3], p[0]; y = x[p] * x
r = np.random.default_rng(3); y = x * r.normal(size=6) + r.normal(size=6)
r = np.random.default_rng(3); y = r.normal(x[0], abs(x[1]), 4) * r.uniform(x[2], 3.0, size=(3, 4))
r = np.random.default_rng(3); u = r.random(6); v = r.random(6); w = r.random(); y = (v + x * u) * w
r = np.random.default_rng(3); y = x[r.integers(0, 6, 4)] * x[r.permutation(6)[:4]] * r.poisson(3.0)
r = np.random.default_rng(3)\nt = 0.0\nfor i in range(4):\n  t += x * r.random(6)\ny = t * t
r = np.random.default_rng(3); p = r.random(6); y = x * r.random(6)
r = np.random.default_rng(3)\nif x[0] > 0:\n    x = x + r.random(6)\ny = x * r.random(6)
y = x * 1; y[1:] = y[:-1]
y = x * 1; y[::2] = y[1::2]
y = x * 1; y[:-1] = y[1:]; y[:] = y
y = a * 1; y[:, 1:] = y[:, :-1]; y[1:] = y[:-1]
y = a[:, :3] * 1; y[:] = y.T
y = a * 1; y[0] = y[1]; y[:, -1] = y[:, -2]; y[2, 1:] = y[2, :-1]; y[0, :] = y[1, :]
y = x * 1; y[1:] += y[:-1]; y -= y[::-1] * 0.5; y *= y
y = x * 1; i = np.array([1, 2]); z = y[i]; i[0] = 4; y = z * y[i]
""".strip().split("\n")
"""Lines that are programs."""

REFUSED = r"""
z = x.flat; y = next(z) * x * z[1] + next(z)
y = x * 1; y[::2] = y[:3]
y = x * 1; y[:] = y[::-1]
y = a[:, :3] * 1; y[1, :] = y[:, 0]
y = x * 1; y[[0, 1]] = y[1:3]
y = x * 1; y[x > 0] = y[: np.sum(x > 0)]
y = a * 1; y[0] = y[:, 0].T[:1] * 1 + y[1]; y[:, 0] = y[1, :3]
""".strip().split("\n")
"""Lines whose order of reads and writes in overlapping memory NumPy decides, or may decide."""


def function(line: str):
    body = line.replace("\\n", "\n").replace("; ", "\n")
    text = "def f(x, a, b):\n" + "".join(f"    {one}\n" for one in body.split("\n"))
    text += "    return np.sum(y * np.cos(np.arange(np.size(y)).reshape(np.shape(y))))\n"
    filename = f"<numpy line {line}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    namespace = {"np": np, "__name__": __name__}
    exec(compile(text, filename, "exec"), namespace)
    return namespace["f"]


@pytest.mark.parametrize("line", REFUSED)
def test_refused(line):
    tier.forget()
    assert tier.run(function(line), (X.copy(), A.copy(), B.copy()), GRADIENT) is tier.MISS


def directional(f, args, dots, step):
    return f(*(x + step * dot for x, dot in zip(args, dots, strict=True)))


@pytest.mark.parametrize("line", PROGRAMS)
def test_line(line):
    f = function(line)
    args = (X, A, B)
    basics.load()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        plain = f(*args)
        found = tier.run(f, tuple(x.copy() for x in args), GRADIENT)
        kept = tier.known(f, GRADIENT)
        assert found is not tier.MISS, kept and [x.reason for x in kept.refused.values()]
        with generic_tier():
            expected = tuple(ad.withgradient(f, *(x.copy() for x in args)))
        assert found[0] == pytest.approx(plain, rel=1e-12)
        assert not difference(found[0], expected[0], rtol=1e-9)
        assert not difference(found[1], expected[1], rtol=1e-8)
        dots = tuple(np.random.default_rng(3).normal(size=x.shape) for x in args)
        ends = [directional(f, args, dots, step) for step in (STEP, -STEP)]
        slope = sum(np.sum(bar * dot) for bar, dot in zip(found[1], dots, strict=True))
        loose = "float32" in line
        assert loose or slope == pytest.approx((ends[0] - ends[1]) / (2 * STEP), rel=1e-4, abs=1e-5)
        _, y_dot = ad.pushforward(f, args, dots)
        assert float(y_dot) == pytest.approx(slope, rel=1e-4 if loose else 1e-8, abs=1e-9)


# ---- what definitions leave to NumPy -------------------------------------------------------------


def puts_at_truth_values(x):
    y = x * 2
    np.put(y, x > 0, 7.0)  # the places are 0 and 1
    return (y * y).sum()


def test_truth_values_as_places():
    x = np.array([1.5, -0.5, 2.0])
    value, (x_bar,) = ad.withgradient(puts_at_truth_values, x)
    assert value == puts_at_truth_values(x) == 114.0
    assert list(x_bar) == [0.0, 0.0, 16.0]


def test_differences_of_negative_order():
    with pytest.raises(ValueError, match="order must be non-negative but got -1"):
        ad.gradient(lambda x: np.sum(np.diff(x, n=-1)), np.ones(3))


@pytest.mark.skipif(not hasattr(np, "cumulative_prod"), reason="NumPy 2.1")
def test_a_running_product_of_nothing():
    def f(x):
        return np.cumulative_prod(x[:0], include_initial=True).sum() * x[0]

    def along_the_second_axis(x):
        empty = np.outer(x, x)[:, :0]
        return np.cumulative_prod(empty, axis=1, include_initial=True).sum() * x[0]

    value, (x_bar,) = ad.withgradient(f, np.array([2.0, 3.0]))
    assert value == 2.0 and list(x_bar) == [1.0, 0.0]
    value, (x_bar,) = ad.withgradient(along_the_second_axis, np.array([2.0, 3.0]))
    assert value == 4.0 and list(x_bar) == [2.0, 0.0]
