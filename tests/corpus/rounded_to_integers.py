"""Values that are written into, or joined as, integers: their derivative ends there."""

import numpy as np

from tests.corpus.registry import case

X = 0.7
WHOLE = np.array([1, 2, 3])


@case(X)
def padded(x):
    y = np.pad(WHOLE, 1, constant_values=x).sum() + np.pad(WHOLE, 1, "linear_ramp", end_values=x)
    return y.sum() * x + np.pad(WHOLE, 1, constant_values=(x, 2 * x)).sum()


@case(X)
def joined(x):
    y = np.concatenate([[x], WHOLE], dtype=int, casting="unsafe")
    z = np.stack([[x], [2.0]], dtype=int, casting="unsafe")
    return y.sum() * x + z.sum() + np.vstack([[x], [2.0]], dtype=int, casting="unsafe").sum()


@case(X)
def filled(x):
    y = np.full(3, x, int) + np.full_like(WHOLE, x) + np.insert(WHOLE, 1, x)[:3]
    return y.sum() * x + np.array([x, 2.0], int).sum() + np.linspace(0, 9 * x, 4, dtype=int).sum()


@case(X)
def written(x):
    y = WHOLE.copy()
    np.put(y, [0], x)
    np.place(y, y > 1, [x])
    y[1] = x
    y.flat[2] = x
    y[:2] += 1
    y[:] = np.array([x, 4 * x, x]) + y
    np.copyto(y, 3 * x, casting="unsafe", where=[True, False, False])
    return y.sum() * x


@case(X)
def chosen(x):
    y = np.clip(WHOLE, x, 2).sum() + np.where(WHOLE > 1, WHOLE, x).sum() + np.append(WHOLE, x).sum()
    return y * np.piecewise(WHOLE, [WHOLE > 1], [x, 2 * x]).sum() + np.diff(WHOLE, prepend=x).sum()


@case(X)
def begun_with(x):
    mask = np.array([True, False])
    y = np.sum(WHOLE, initial=5 * x) + np.prod(WHOLE, initial=5 * x) + np.max(WHOLE, initial=9 * x)
    y = y + np.nansum(WHOLE, initial=5 * x) + np.nanmin(WHOLE, initial=9 * x) * mask.max(initial=x)
    return (y + np.add.reduce(WHOLE, initial=5 * x) + np.fmax.reduce(WHOLE, initial=9 * x)) * x
