"""Arrays of objects: containers with a shape, whose elements are references."""

import copy
from fractions import Fraction

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
    held[[0, 1]] = picked[1:] * 3.0
    held[np.array([False, False, True])] = v[0] ** 2
    held[[1, 1]] = np.array([v[0], v[2]], object)
    return (picked * held).sum() + picked[2]


@case(vector())
def elementwise(v):
    held = np.array([v[0], v[1], v[2]], dtype=object)
    y = held * held + 2.0 * held - held / v + v * held - (1.0 - held) ** 2
    return (y**2).sum() + (-y).sum() + abs(y)[0] + (+y)[1] * np.square(held)[2]


@case(vector())
def broadcast(v):
    row, column = v.astype(object), np.array([[v[0]], [v[1] * 2.0]], dtype=object)
    table = row * column + v
    return (table * np.arange(6.0).reshape(2, 3)).sum()


@case(vector())
def in_place(v):
    held = v.astype(object)
    same = held
    held *= v
    held += 1.0
    held[1:] -= held[:2]
    held[0] /= v[1]
    return (same * held).sum()


@case(vector())
def into_an_output(v):
    held, out = v.astype(object), np.empty(3, object)
    np.multiply(held, held, out=out)
    np.add(out[:2], held[1:], out=held[:2])
    np.multiply(held, 2.0, out=out, where=[True, False, True])
    return (out * held).sum()


@case(vector())
def as_floats_again(v):
    held = v.astype(object) * v[0]
    numbers = held.astype(float)
    floats = np.array(held, dtype=float)
    floats[1:] = held[:2]
    return np.sin(numbers).sum() + (floats * np.asarray(held, float)).sum()


@case(0.7)
def of_one_number(x):
    alone, ones = np.asarray(x * x, object), np.array(x, dtype=object, ndmin=2)
    f = np.vectorize(lambda u, w: u * u * w)
    return f(x, alone.item()) + f(x, np.array([1.0, 2.0])).sum() * ones[0, 0] + (alone * x)


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
def reductions(v):
    held = v.astype(object)
    square = np.array([[v[0], v[1]], [v[2], v[0] * v[1]]], dtype=object)
    y = held.sum() * np.prod(held) + held.mean() * np.mean(held**2)
    y += held.max() * held.min() + np.cumsum(held)[1] * np.sum(square)
    return y + square.sum(0)[1] * square.sum(axis=1, keepdims=True)[0, 0] + held.cumprod()[-1]


@case(vector())
def products(v):
    held = v.astype(object)
    matrix = np.array([[v[0], v[1], 1.0], [v[2], 2.0, v[0]]], dtype=object)
    return (matrix @ held).sum() * np.dot(held, v) * matrix.dot(held)[0] + held @ held


@case(vector())
def of_functions(v):
    f = np.frompyfunc(lambda a, b: a * a * b, 2, 1)
    g = np.frompyfunc(lambda a: (a * 2.0, a**2), 1, 2)
    h = np.vectorize(lambda a: a**3, otypes=[object])
    double, square = g(v)
    return f(v, v[0]).sum() + (double * square).sum() + h(v)[1] * f(2.0, v[1])


@case(vector())
def beside_fractions(v):
    held = np.array([Fraction(1, 2), Fraction(3, 4), v[0]], dtype=object)
    return (held * v).sum() + (held.astype(float) * v).sum()


@case(vector())
def joined_and_copied(v):
    held = v.astype(object)
    long = np.concatenate([held, v * 2.0, held[::-1]])
    rows = np.stack([held, held])
    other, deep = copy.copy(held), copy.deepcopy(held)
    other[0] = deep[1] * v[2]
    y = (long * long).sum() + (rows * rows).sum() + (other * deep * held).sum()
    return y + np.tile(held, 2).reshape(2, 3).T.copy()[1, 1] + np.repeat(held, 2)[3] * held.take(0)


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
    table[:] = [v, [v[0], 2.0, v[1]]]
    table[1, :2] = [v[2], v[0]]
    table[:, 1:] = [[v[1], v[2] ** 2]]
    row = np.empty(2, object)
    row[:] = [[v[0], v[1]], v]
    return (table**2).sum() * row[0][1] * row[1][2] + len(row[0])


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
    total = (held * v[1] + held).sum()
    held[0].a = total.b
    return total.a * held[0].a


@case(vector(), np.array([0.2, 0.5, 0.9]))
def arrays_as_elements(v, w):
    held = np.empty(2, object)
    held[:] = [v, w]
    y = (held * held[::-1]).sum()
    held[0] = held[0] * 2.0
    held[1][0] = v[1]
    return (y * held[0]).sum() + held[1].sum()


@case(vector())
def held_by_objects(v):
    pair = Pair(v.astype(object), np.full(2, v[0], dtype=object))
    pair.b[1] = pair.a[2]
    table = {"a": pair.a}
    table["a"][0] = pair.b[1] * pair.b[0]
    return (pair.a * 2.0).sum() + pair.b.sum()


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


@case(vector())
def spread_of_objects(v):
    held, table = v.astype(object), np.multiply.outer(v, v + 1.0).astype(object)
    total = held.var() + np.std(held) + np.var(held, ddof=1) * v[0]
    return total + (table.var(0) * v).sum() + np.ptp(table, 1) @ v


@case(vector())
def joined_as_blocks(v):
    held = v.astype(object)
    table = np.multiply.outer(held, v)
    both = np.block([[table, held[:, None]], [held[None], np.ones((1, 1))]])
    return (both * np.arange(16.0).reshape(4, 4)).sum() + (np.block([held, v]) ** 2).sum()


@case(vector())
def selected_objects(v):
    held = v.astype(object)
    picked = np.select([v > 1.0, v > 0.5], [held * 2.0, held**2], v[2])
    return (picked * np.arange(1.0, 4.0)).sum() + held.compress([True, False, True])[1]


@case(vector())
def broadcast_objects(v):
    held = v.astype(object)
    table, row, number = np.broadcast_arrays(np.outer(v, v), held, v[1])
    total = (table * row).sum() * number[0, 0]
    first, second = np.meshgrid(held, v * 2.0)
    first[0] = second[0]
    return total + (first * second * np.arange(9.0).reshape(3, 3)).sum()


@case(vector())
def bounds_of_objects(v):
    held = v.astype(object)
    total = (np.clip(held, v[2], 1.0) * v).sum() + (held.clip(0.5) ** 2).sum()
    total += (np.fmax(held, 0.5) * np.fmin(v, held[::-1])).sum() + (np.sign(held) * v).sum()
    return total + (np.conj(held) * held.conj() * held.real).sum()


@case(vector())
def truth_of_objects(v):
    """Python's ``and`` and ``or`` give one of their operands."""
    held = np.array([v[0], 0.0, v[2]], object)
    both, one = np.logical_and(held, v * 2.0), np.logical_or(held, v)
    total = (both * one * np.arange(1.0, 4.0)).sum() + np.logical_or.reduce(held) ** 2
    table = np.stack([held, held[::-1]])
    total += held.any() * v[1] + np.all(held + 1.0) * v[2] + (table.all(1) * v[:2]).sum()
    return total + (np.any(table, axis=0) * v).sum() * np.logical_and.reduce(v.astype(object))


class Summand:
    def __init__(self, value):
        self.value = value

    def __add__(self, other):
        return Summand(self.value + 2 * getattr(other, "value", other))

    def __mul__(self, other):
        return Summand(self.value * getattr(other, "value", other))

    __radd__, __rmul__ = __add__, __mul__


@case(np.array([0.7, 1.3]))
def reductions_of_lists_of_objects(x):
    terms = [Summand(x[0]), 2.0, Summand(x[1])]
    total = np.sum(terms).value + np.prod(tuple(terms), initial=3.0).value
    return total * np.add.accumulate(terms[::2])[1].value
