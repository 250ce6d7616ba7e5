"""Views that name an element more than once or go by strides of their own, and writes below."""

import numpy as np
from numpy.lib.stride_tricks import as_strided, sliding_window_view

from tests.corpus.registry import case

X = np.array([1.0, 2.0, 3.0])


# ---- one element, many places --------------------------------------------------------------------


@case(X)
def broadcast_then_written(x):
    x = x.copy()
    rows = np.broadcast_to(x, (3, 3))
    x[0] = 5.0 * x[1]
    return (rows * rows).sum() * rows[1:, 0].sum() * rows[0, 1]


@case(X)
def parts_of_a_broadcast(x):
    x = x.copy()
    rows = np.broadcast_to(x[:1], (3,))
    first = np.sin(rows[1:]).sum()
    x[0] = 5.0 * x[1]
    return first * np.sin(rows[:]).sum() + np.sin(rows).sum() * rows[[0, 2, 2]].sum()


@case(X)
def broadcast_of_a_part(x):
    x = x * 2.0
    _, columns = np.broadcast_arrays(np.ones((2, 3)), x[:2, None][:, :1].T[:, :1])
    x[0] = x[2] ** 2
    return (columns * columns).sum()


# ---- windows -------------------------------------------------------------------------------------


@case(X)
def windows(x):
    return sliding_window_view(x, 2) @ np.array([1.0, 2.0])


@case(X)
def windows_of_views(x):
    backwards = sliding_window_view(x[::-1], 2)
    return np.sin(backwards).sum() + sliding_window_view(x[::2] ** 2, 2).sum() * x[0]


@case(X)
def windows_see_writes(x):
    x = x.copy()
    seen = sliding_window_view(x, 2)
    before = seen.sum()
    x[1] = 3.0 * x[2] ** 2
    return (seen**2) * before * seen[0, 1]


@case(X)
def windows_of_complex_numbers(x):
    z = x + 1j * x**2
    seen = sliding_window_view(z, 2)
    z[0] = z[1] ** 2
    return (seen.real * seen.imag).sum() + (seen.real[0] ** 2).sum()


@case(np.arange(12.0).reshape(3, 4) ** 0.5)
def windows_in_two_axes(m):
    m = m * 1.0
    seen = sliding_window_view(m, (2, 2))
    m[1] *= m[0]
    return np.einsum("ijkl,kl->ij", seen, m[:2, :2])


# ---- strides -------------------------------------------------------------------------------------


@case(X)
def strides(x):
    seen = as_strided(x * 2.0, (2, 2), (8, 8))
    return np.sin(seen).sum() * seen[1, 0]


@case(X)
def strides_beyond_the_view(x):
    x = x * 2.0
    backwards = as_strided(x[2:], (3,), (-8,))
    return np.sin(backwards).sum() * backwards[2]


@case(X)
def strides_beyond_the_view_then_written(x):
    x = x * 2.0
    backwards = as_strided(x[2:], (3,), (-8,))
    before = backwards[1] * backwards[2]
    x[1] = 0.1 * x[2] ** 2
    return np.sin(backwards).sum() * backwards[1] * before


@case(X)
def diagonal_by_strides(x):
    m = np.outer(x, x)
    diagonal = as_strided(m, (3,), (32,))
    m[1, 1] = 7.0 * x[0]
    return (diagonal**3).sum() * diagonal[:2].sum()


@case(X)
def toeplitz(x):
    """As `scipy.linalg.toeplitz` makes it."""
    values = np.concatenate([x[::-1], 2.0 * x[1:]])
    return as_strided(values[2:], (3, 3), (-8, 8)) @ x
