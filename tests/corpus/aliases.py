"""Arguments that hold the same array, or views of one, which the function writes."""

import numpy as np

from tests.corpus.registry import case

shared = np.array([0.3, -0.5, 0.7])


@case({"a": shared}, shared)
@case({"a": shared.copy()}, shared)
def array_in_a_dict_and_by_itself(named, y):
    y[0] = 0.2 * (y @ y)
    return np.sum(np.sin(y)) + np.sum(2.0 * np.cos(named["a"]))


@case([shared, shared], shared)
def array_twice_in_a_list(items, y):
    before = np.sin(items[0])
    items[1] *= 0.5
    y += before
    return np.sum(items[0] * y) + before @ items[1]


class Holder:
    def __init__(self, v):
        self.v = v


@case(Holder(shared), shared, [shared])
def array_in_an_object_and_a_list(holder, x, items):
    total = holder.v @ items[0]
    np.cumsum(0.4 * x, out=x)
    return total + np.sum(np.cos(holder.v) * items[0])
