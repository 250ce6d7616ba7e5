"""Slices that carry numbers: what a class takes for anything."""

import numpy as np

from tests.corpus.registry import case


@case(1.3)
def range_of_arrays(x):
    return np.sum(np.r_[x : 2 * x : 5j] ** 2) + np.r_[x, 0:x:3j].sum() * x


@case(1.3)
def meshes(x):
    a, b = np.mgrid[0:x:3j, x : 2 * x : 4j]
    c, d = np.ogrid[0:x:3j, -x:x:2j]
    return np.sum(a * b) + np.sum(c * d * x)


class Grid:
    def __getitem__(self, key):
        return np.linspace(key.start, key.stop, key.step)


@case(1.3)
def own_class(x):
    return np.sum(Grid()[x : 2 * x : 5] ** 2)


@case(1.3, 0.4)
def made_and_matched(x, y):
    match slice(x, y * x, 2):
        case slice(start=a, stop=b):
            return a * b + slice(y).stop * x
    return 0.0


@case(0.7)
def in_a_tuple_and_stored(x):
    kept = [np.index_exp[x:2.0, 0:x][1]]
    return kept[0].stop * x


@case([1.0, 2.0, 3.0])
def whole_numbers(xs):
    first, last = 0, len(xs)
    return sum(xs[first : last - 1]) * sum(xs[slice(1, None)])
