"""``for`` and ``while`` with ``break``, ``continue`` and ``else``."""

import math

import numpy as np

from tests.corpus.registry import case


@case(1.2, 5, fixed=1)
@case(1.2, 0, fixed=1)
def power_by_loop(x, n):
    r = 1.0
    for _ in range(n):
        r *= x
    return r


@case(1.2)
def while_countdown(x):
    n = 4
    while n > 0:
        n -= 1
        x = x * 0.7 + math.sin(x)
    return x


@case(3.0)
def data_dependent_stop(x):
    while x > 1.0:
        x = x * 0.55
    return x * x


@case([0.5, -0.2, 1.5, 3.0, 2.0])
def break_and_continue(xs):
    total = 0.0
    for x in xs:
        if x < 0:
            continue
        if x > 2.5:
            break
        total += x * x
    return total + x


@case([0.5, 1.5])
@case([0.5, -1.5])
def for_else(xs):
    for x in xs:
        if x < 0:
            y = x * x
            break
    else:
        y = 3.0 * xs[0]
    return y


@case(0.9)
@case(4.0)
def while_else(x):
    n = 0
    while n < 3:
        x = x * 1.5
        n += 1
        if x > 5:
            break
    else:
        x = x * x
    return x


@case(1.1, 0.2)
def nested_loops(x, y):
    total = 0.0
    for i in range(3):
        for j in range(i, 4):
            if (i + j) % 2:
                continue
            total += (i + 1) * x * y**j
            if j == 3:
                break
        total = total * x
    return total


@case(1.1)
def return_inside_nested_loops(x):
    for i in range(1, 5):
        for j in range(1, 5):
            x = x * 1.1
            if i * j == 6:
                return x * i + j
    return 0.0


@case(1.1)
def loop_variable_afterwards(x):
    for i in range(4):
        y = x * (i + 1)
    return y * i


@case(1.1)
def loop_variable_rebound(x):
    total = 0.0
    for v in (x, 2.0, x * x):
        v = v * v
        total += v
    return total + v


@case([[0.1, 0.2], [0.3, 0.4]], 0.5)
def loop_with_unpacking(pairs, x):
    total = 0.0
    for i, (a, b) in enumerate(pairs):
        total += a * x**i - b * x
    return total


@case([0.1, 0.2, 0.3])
def loop_target_is_subscript(xs):
    last = [0.0]
    total = 0.0
    for last[0] in xs:
        total += last[0] ** 2
    return total + last[0]


@case(0.4)
def loop_carried_pair(x):
    a, b = x, 1.0
    for _ in range(6):
        a, b = b * x, a + b
    return a - b


@case(np.array([0.3, 0.6, 0.9]))
def loop_over_array(x):
    total = 0.0
    for v in x:
        total += math.exp(v) * v
    return total


@case(np.array([[0.3, 0.6], [0.9, 0.1]]))
def loop_over_rows(x):
    total = np.zeros(2)
    for row in x:
        total = total * row + row[::-1]
    return total.sum()


@case(0.5)
def infinite_loop_with_break(x):
    k = 0
    while True:
        x = math.cos(x)
        k += 1
        if k == 7:
            break
    return x


@case(0.5)
def list_grows_while_iterated(x):
    items = [x]
    for v in items:
        if len(items) < 5:
            items.append(v * 1.5 + x)
    return sum(items) * items[-1]


@case(0.5)
def zero_iterations(x):
    y = x
    for v in []:
        y = v * 100.0
    while False:
        y = 0.0
    return y * 2.0


@case(0.5, 0, fixed=1)
@case(0.5, 2, fixed=1)
def rebound_in_a_loop_that_may_not_run(x, n):
    y = x
    for _ in range(n):
        y = 100.0
    return y * 2.0 + x


@case(0.5)
def iterator_advanced_in_body(x):
    it = iter([x, 2.0, x * x, 4.0, x**3])
    total = 0.0
    for v in it:
        total += v * next(it, 1.0)
    return total


@case(1.5)
def continue_in_while(x):
    k, total = 0, 0.0
    while k < 6:
        k += 1
        if k % 3 == 0:
            continue
        total += x**k / k
    return total


@case(0.9)
def del_in_loop(x):
    total = 0.0
    for k in range(3):
        y = x * k
        total += y * y
        del y
    return total


@case(0.7)
def bound_only_before_a_break(x):
    for i in range(5):
        if i == 3:
            break
        y = x * i
    return y


@case(0.7)
def bound_in_some_rounds(x):
    i = 0
    while i < 5:
        i = i + 1
        if i == 3:
            continue
        y = x * i
        if i == 4:
            break
        z = y * x
    return y + z


@case(0.7)
def kept_from_the_round_before(x):
    total = 0.0
    for i in range(3):
        try:
            y = _not_in_the_middle(x, i)
        except ValueError:
            pass
        total = total + y * (i + 1)
    return total


def _not_in_the_middle(x, i):
    y = x * (i + 1.0)
    if i == 1:
        raise ValueError
    return y * x


@case(0.7, 1.3)
def the_target_was_active(x, y):
    z = y * x
    for x in range(3):
        if z > 5:
            break
    for z in "a":  # noqa: B007
        pass
    return x * y
