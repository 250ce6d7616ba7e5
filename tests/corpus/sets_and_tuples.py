"""Sets, tuples and named tuples."""

import collections
from typing import NamedTuple

import numpy as np

from tests.corpus.registry import case

Pair = collections.namedtuple("Pair", "left right")


class Segment(NamedTuple):
    start: float
    end: float = 2.0

    @property
    def length(self):
        return self.end - self.start

    def scaled(self, k):
        return self._replace(start=self.start * k, end=self.end * k)


@case(0.7)
def set_of_values(x):
    values = {x, x * 2, x * 3}
    values.add(x * x)
    return sum(values)


@case(0.7)
def set_of_indices(x):
    seen = set()
    total = 0.0
    for k in (1, 2, 1, 3, 2):
        if k in seen:
            continue
        seen.add(k)
        total += x**k
    return total * len(seen | {7, 8}) + len(seen & {1}) * x


@case((0.7, 0.2))
def tuple_argument(t):
    a, b = t
    return a * b + t[0] + t[-1] * 2


@case((0.7, (0.2, [0.4])))
def nested_tuple(t):
    (a, (b, [c])) = t
    return a * b * c + t[1][1][0]


@case(0.7, 0.2)
def tuple_operations(x, y):
    t = (x, y) + (x * y,) + (1.0,) * 2
    u = t[::2]
    return t[2] * u[1] + sum(t) + len(u) * (0.2 in t)


@case(0.7, 0.2)
def tuple_result(x, y):
    return x * y, x + y, (y * y, 3)


@case(0.7)
def tuple_carries_state(x):
    state = (x, 1.0, 0)
    while state[2] < 4:
        state = (state[0] * state[1], state[1] + x, state[2] + 1)
    return state[0] + state[1]


@case(Pair(0.7, 0.2))
def named_tuple_argument(pair):
    return pair.left * pair.right + pair[0] * 2


@case(Pair(0.7, [0.2, 0.1]))
def named_tuple_result(pair):
    return Pair(pair.left * pair.right[0], right=pair.right[1])


@case(0.7)
def typed_named_tuple(x):
    segment = Segment(x)
    start, end = segment.scaled(x)
    return segment.length * segment.scaled(3.0).length + start * end


@case(0.7)
def tuple_comparison_and_sorting(x):
    items = sorted([(2, x), (1, x * x), (3, 1.0)])
    (_, a), (_, b), _ = items
    return a + 3 * b if (1, a) < (2, b) else 0.0


@case([0.7, 0.2])
def tuple_of_list(xs):
    t = tuple(xs)
    xs[0] = 100.0
    return t[0] * xs[1]


@case(0.4)
def deque(x):
    line = collections.deque([x, 1.0], maxlen=3)
    for _ in range(3):
        line.append(line[-1] * x + line[0])
        if len(line) > 2:
            line.popleft()
    return sum(line)


@case(1.3)
def deque_as_an_array(x):
    last = collections.deque(maxlen=3)
    for k in range(5):
        last.append(x**k)
    middle = np.mean(last) + np.std(last) + np.dot(last, last)
    last.appendleft(middle)
    return np.array(last).sum() + np.concatenate([last, last])[1] + np.stack(last)[2] * x
