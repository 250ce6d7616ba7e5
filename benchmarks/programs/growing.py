"""Loops over n elements, each of which costs the same whatever n is.

A program takes a list of n floats, `xs`, or an array of them, as the name of its parameter says.
"""

# ruff: noqa: B905, C416, C417, RUF007 (how else it could be written is not the question)

import bisect
import collections

import numpy as np

SCALE = 1.0001


def read_list_by_index(xs):
    total = 0.0
    for i in range(len(xs)):
        total = total + xs[i] * xs[i]
    return total


def read_list_in_turn(xs):
    total = 0.0
    for x in xs:
        total = total + x * x
    return total


def read_neighbours(xs):
    total = 0.0
    for i in range(1, len(xs)):
        total = total + (xs[i] - xs[i - 1]) * xs[-i]
    return total


def append_to_list(xs):
    ys = []
    for x in xs:
        ys.append(x * SCALE)
    return ys[0] + ys[-1]


def append_and_read_back(xs):
    ys = [1.0]
    for x in xs:
        ys.append(0.5 * ys[-1] + x)
    return ys[-1]


def append_then_pop(xs):
    stack, total = [], 0.0
    for x in xs:
        stack.append(x)
    while stack:
        total = total + stack.pop() * SCALE
    return total


def write_list(xs):
    ys = [0.0] * len(xs)
    for i in range(len(xs)):
        ys[i] = xs[i] * SCALE
    return ys[0] + ys[-1]


def write_own_list_in_place(xs):
    ys = list(xs)
    for i in range(1, len(ys)):
        ys[i] += 0.5 * ys[i - 1]
    return ys[-1]


def extend_list(xs):
    ys = []
    for x in xs:
        ys += [x, x * SCALE]
    return ys[0] + ys[-1]


def carry_tuple(xs):
    state = (0.0, 1.0)
    for x in xs:
        a, b = state
        state = (b, 0.5 * a + x)
    return state[1]


def carry_number(xs):
    y = 1.0
    for x in xs:
        y = 0.5 * y + x
    return y


def fill_dict(xs):
    table = {}
    for i in range(len(xs)):
        table[i] = xs[i] * SCALE
    total = 0.0
    for i in range(len(xs)):
        total = total + table[i]
    return total


def update_one_entry(xs):
    table = {"total": 0.0}
    for x in xs:
        table["total"] += x * SCALE
    return table["total"]


def loop_over_dict(xs):
    table = {i: x for i, x in enumerate(xs)}
    total = 0.0
    for key, value in table.items():
        total = total + key * value
    return total


class Accumulator:
    def __init__(self):
        self.total = 0.0

    def take(self, x):
        self.total = self.total + x * SCALE


def update_attribute(xs):
    box = Accumulator()
    for x in xs:
        box.total = box.total + x * SCALE
    return box.total


def update_through_method(xs):
    box = Accumulator()
    for x in xs:
        box.take(x)
    return box.total


class Link:
    def __init__(self, value, following):
        self.value, self.following = value, following


def linked_list(xs):
    head = None
    for x in xs:
        head = Link(x * SCALE, head)
    total = 0.0
    while head is not None:
        total = total + head.value
        head = head.following
    return total


def list_comprehension(xs):
    ys = [x * SCALE for x in xs]
    return ys[0] + ys[-1]


def dict_comprehension(xs):
    ys = {i: xs[i] * SCALE for i in range(len(xs))}
    return ys[0]


def sum_of_generator(xs):
    return sum(x * x for x in xs)


def _squares(xs):
    for x in xs:
        yield x * x


def own_generator(xs):
    total = 0.0
    for y in _squares(xs):
        total = total + y
    return total


def zip_two(xs):
    total = 0.0
    for x, y in zip(xs, xs[1:]):
        total = total + x * y
    return total


def enumerate_list(xs):
    total = 0.0
    for i, x in enumerate(xs):
        total = total + i * x
    return total


def map_lambda(xs):
    total = 0.0
    for y in map(lambda x: x * SCALE, xs):
        total = total + y
    return total


def sum_of_list(xs):
    return sum([x * SCALE for x in xs])


def _element(xs, i):
    return xs[i] * SCALE


def callee_reads(xs):
    total = 0.0
    for i in range(len(xs)):
        total = total + _element(xs, i)
    return total


def _put(ys, y):
    ys.append(y)


def callee_appends(xs):
    ys = []
    for x in xs:
        _put(ys, x * SCALE)
    return ys[-1]


def closure_counts(xs):
    total = 0.0

    def take(x):
        nonlocal total
        total = total + x * SCALE

    for x in xs:
        take(x)
    return total


def nested_lists(xs):
    rows = [[x, x * SCALE] for x in xs]
    total = 0.0
    for row in rows:
        total = total + row[0] * row[1]
    return total


def while_and_branch(xs):
    i, total = 0, 0.0
    while i < len(xs):
        if xs[i] > 0.5:
            total = total + xs[i]
        else:
            total = total - xs[i]
        i += 1
    return total


def read_array(array):
    total = 0.0
    for i in range(len(array)):
        total = total + array[i] * array[i]
    return total


def read_array_in_turn(array):
    total = 0.0
    for x in array:
        total = total + x * x
    return total


def array_through_callee(array):
    total = 0.0
    for i in range(len(array)):
        total = total + _element(array, i)
    return total


def write_array(array):
    ys = np.zeros(len(array))
    for i in range(len(array)):
        ys[i] = array[i] * SCALE
    return ys[0] + ys[-1]


def write_array_and_read_back(array):
    ys = np.zeros(len(array))
    for i in range(1, len(array)):
        ys[i] = 0.5 * ys[i - 1] + array[i]
    return ys[-1]


def write_array_in_place(array):
    ys = array * SCALE
    for i in range(1, len(array)):
        ys[i] += 0.5 * ys[i - 1]
    return ys[-1]


def read_rows(array):
    table = array.reshape(-1, 4)
    total = 0.0
    for i in range(len(table)):
        total = total + np.sum(table[i] * table[i])
    return total


def zip_arrays(array):
    total = 0.0
    for x, y in zip(array, array):
        total = total + x * y
    return total


def array_of_list(array):
    ys = []
    for i in range(len(array)):
        ys.append(array[i] * SCALE)
    return np.sum(np.array(ys))


def read_slices(array):
    total = 0.0
    for i in range(0, len(array), 4):
        total = total + np.sum(array[i : i + 4])
    return total


def ask_length(xs):
    kept, total = [], 0.0
    for x in xs:
        kept.append(x)
        if len(kept) > 2 and bool(kept) and kept != None:  # noqa: E711
            total = total + kept[len(kept) - 2] * SCALE
    return total


def ask_length_of_others(xs):
    table, line, seen, total = {}, collections.deque(), set(), 0.0
    for i, x in enumerate(xs):
        table[i] = x
        line.append(x)
        seen.add(i)
        if len(table) == len(line) == len(seen) and len(table.keys()) > 2:
            total = total + table[len(table) - 2] * line[-1]
    return total


def look_at_views(xs):
    table, total = {}, 0.0
    for i, x in enumerate(xs):
        table[i] = x
        total = total + next(iter(table.values())) + table.setdefault(0, x)
        total = total + table[next(reversed(table))] * len(table.items())
    return total


def delete_the_end(xs):
    kept, total = [], 0.0
    for x in xs:
        kept += [x, x * SCALE]
        total = total + kept[-1]
        del kept[-1:]
    return total


def search_in_order(xs):
    ordered, total = sorted(xs), 0.0
    for x in xs:
        total = total + ordered[bisect.bisect_left(ordered, x)] * SCALE
    return total
