"""Arrays of objects: containers with a shape, whose elements are references."""

import numpy as np

from tests.corpus.registry import case, made


def vector():
    return np.array([0.7, 1.3, 0.4])


@case(vector())
def numbers_and_arrays(v):
    held = np.array([v[0], v[1], v], dtype=object)
    return held[0] * held[1] * (held[2] ** 2).sum() + held[-1][0]


@case(vector())
def filled_one_by_one(v):
    held = np.empty((2, 2), dtype=object)
    held[0, 0] = v
    held[0, 1] = v[0] * v[1]
    held[1, 0] = [v[1], v[2]]
    held[1, 1] = {"last": v[2] ** 2}
    return held[0, 0][1] * held[0, 1] + held[1, 0][0] * held[1, 1]["last"]


@case(vector())
def written_again(v):
    held = np.empty(3, object)
    held[:] = v[0]
    held[1] = held[0] * held[1]
    before = held[1] * v[1]
    held[1] = held[1] ** 2
    held[-1] = held[1] + before
    return held[0] * held[1] * held[2]


@case(vector())
def through_views(v):
    held = np.empty((2, 3), object)
    held[0] = v
    held[1] = v * v
    turned = held.T[::-1]
    turned[0, 1] = turned[0, 0] * turned[1, 1]
    column = held[:, 0]
    column[...] = held[1, 2] * v[0]
    held.reshape(-1)[4] *= 2.0
    return sum(part * part for row in held for part in row) + turned[1, 1]


@case(vector())
def swapped(v):
    held = v.astype(object)
    held[0], held[1] = held[1], held[0]
    held[:] = held[::-1]
    held[1:] = held[:-1]
    return held[0] * held[1] ** 2 * held[2] ** 3


@case(vector())
def chosen_by_lists_and_masks(v):
    held = v.astype(object)
    picked = held[[0, 2, 2]]
    picked[0] = picked[1] * v[1]
    held[[0, 1]] = [part * 3.0 for part in picked[1:]]
    held[np.array([False, False, True])] = v[0] ** 2
    held[[1, 1]] = np.array([v[0], v[2]], object)
    return sum([p * h for p, h in zip(picked, held, strict=True)]) + picked[2]


@case(vector())
def as_floats_again(v):
    held = (v * v[0]).astype(object)
    held[1] = held[0] * held[2]
    numbers = held.astype(float)
    floats = np.array(held, dtype=float)
    floats[1:] = held[:2]
    return np.sin(numbers).sum() + (floats * np.asarray(held, float)).sum()


@case(0.7)
def of_one_object(x):
    class Held:
        pass

    held = Held()
    held.value = x * x
    alone = np.asarray(held, object)
    alone[()].value *= x
    return alone.item().value * held.value


@case(vector())
def as_lists(v):
    held = np.array([[v[0], v[1]], [v[2], 1.0]], dtype=object)
    first, second = held.tolist()
    one = held[0, 0:1].item()
    return first[0] * second[0] * held.item(1, 1) * first[1] + one


@case(vector())
def iterated(v):
    held = np.array([[v[0], v[1]], [v[2], 1.0]], dtype=object)
    y = 0.0
    for part in held.flat:
        y = y + part * part
    for (i, _), part in np.ndenumerate(held):
        y = y + part * i
    for row in held:
        for part in row:
            y = y * 1.1 + part
    (a, b), (c, _) = held
    return y * a + b * c + sum(held[0]) + max(held[0]) * sorted(held.ravel())[0]


@case(vector())
def lists_taken_apart(v):
    table = np.empty((2, 3), object)
    table[:] = [[v[0], v[1], v[2]], [v[0], 2.0, v[1]]]
    table[1, :2] = [v[2], v[0]]
    table[:, 1:] = [[v[1], v[2] ** 2]]
    row = np.empty(2, object)
    row[:] = [[v[0], v[1]], v]
    return sum([x**2 for x in table.flat]) * row[0][1] * row[1][2] + len(row[0])


class Pair:
    def __init__(self, a, b):
        self.a, self.b = a, b

    def __add__(self, other):
        return Pair(self.a + other.a, self.b * other.b)

    def __mul__(self, factor):
        return Pair(self.a * factor, self.b + factor)


@case(vector())
def users_objects(v):
    held = np.array([Pair(v[0], v[1]), Pair(v[1], 2.0), Pair(v[2], v[0])], dtype=object)
    total = sum([one * v[1] + one for one in held[1:]], held[0])
    held[0].a = total.b
    return total.a * held[0].a


@case(vector(), np.array([0.2, 0.5, 0.9]))
def arrays_as_elements(v, w):
    held = np.empty(2, object)
    held[:] = [v, w]
    y = held[0] * held[1] * 2.0
    held[0] = held[0] * 2.0
    held[1][0] = v[1]
    return (y * held[0]).sum() + held[1].sum()


@case(vector())
def held_by_objects(v):
    pair = Pair(v.astype(object), np.full(2, v[0], dtype=object))
    pair.b[1] = pair.a[2]
    table = {"a": pair.a}
    table["a"][0] = pair.b[1] * pair.b[0]
    return sum([a * 2.0 for a in pair.a]) + sum(pair.b)


@case(vector())
def as_a_memory(v):
    known = np.empty(4, dtype=object)

    def power(k):
        if known[k] is None:
            known[k] = v[0] if k == 0 else power(k - 1) * v[1]
        return known[k]

    return power(3) + power(2) * v[2] + known[1]


@case(vector())
def in_a_loop(v):
    held = np.zeros(5, object)

    def update(i, a):
        held[i] = held[i] * a + i
        return held[i] * a

    y = 0.0
    for k in range(60):
        y = y + update(k % 5, v[k % 3] * 0.3)
    return y + sum(held)


@case(vector())
def left_by_an_exception(v):
    held = np.array([v[0], v[1], v], dtype=object)
    try:
        held[0] = held[1] * 2.0
        held[5] = v[2]
    except IndexError:
        held[1] = held[0] ** 2
    return held[0] * held[1]


@made
def in_a_closure():
    held = np.array([0.5, np.array([1.5, 2.5])], dtype=object)

    def f(v):
        held[0] = held[0] * v[0]
        y = held[0] * (held[1] * v[1]).sum()
        held[0] = 0.5
        return y

    return f, vector()


KEPT = np.empty(3, object)


def clear():
    KEPT[:] = None


@case(vector(), reset=clear)
def kept_in_a_global(v):
    KEPT[0], KEPT[1:] = v[0] * v[1], [v, v * 2.0]
    return KEPT[0] * KEPT[1].sum() + (KEPT[2] ** 2).sum()
