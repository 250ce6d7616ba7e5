"""Lists: built, read, changed in place, shared."""

import math
import operator

from tests.corpus.registry import case


@case([0.3, 0.8, 1.2])
def read_by_index(xs):
    return xs[0] * xs[1] + xs[-1] ** 2


@case(0.7)
def append_and_pop(x):
    xs = []
    for k in range(4):
        xs.append(x * k)
    last = xs.pop()
    first = xs.pop(0)
    return last * xs[0] + first + len(xs) * x


@case([0.3, 0.8, 1.2])
def write_by_index(xs):
    ys = list(xs)
    ys[0] = ys[1] * ys[2]
    ys[1] *= ys[0]
    ys[-1] += ys[0] + xs[0]
    return ys[0] + ys[1] * ys[2]


@case([0.3, 0.8, 1.2])
def argument_overwritten(xs):
    a = xs[0]
    xs[0] = xs[1] * 2
    xs[1] = a * xs[0]
    xs.append(xs[1])
    return sum(xs) * xs[1]


@case([0.3, 0.8, 1.2, 0.1])
def slices(xs):
    ys = xs[1:3] + xs[::-1] + xs[:1] * 2
    return ys[0] * ys[2] + ys[-1] * ys[-2] + sum(ys)


@case([0.3, 0.8, 1.2, 0.1])
def slice_assignment(xs):
    ys = xs[:]
    ys[1:3] = [ys[0] * 2, ys[3], ys[1]]
    ys[::2] = [v * v for v in ys[::2]]
    del ys[1]
    return ys[0] * ys[1] + ys[2] * 3 - ys[-1]


@case([0.3, 0.8], 1.2)
def insert_extend_remove(xs, y):
    ys = [y]
    ys.extend(xs)
    ys.insert(1, y * y)
    ys += [xs[0] * 2]
    ys.extend(v * y for v in xs)
    ys.remove(xs[1])
    del ys[0], ys[-1]
    return ys[0] * ys[1] + ys[2]


@case([0.3, 1.8, 1.2, -0.4])
def sort_and_reverse(xs):
    ys = [v * v for v in xs]
    ys.sort()
    a = ys[0]
    ys.sort(key=lambda v: -v)
    ys.reverse()
    return a * ys[1] + ys[2] * ys[3] ** 2


@case([0.3, 0.8, 1.2])
def sorted_and_reversed(xs):
    descending = sorted(xs, reverse=True)
    back = list(reversed(xs))
    return descending[0] * back[1] + sum(v * k for k, v in enumerate(descending))


@case([[0.3, 0.8], [1.2, 0.4]])
def nested_lists(rows):
    product = [[sum(rows[i][k] * rows[k][j] for k in range(2)) for j in range(2)] for i in range(2)]
    return product[0][1] * product[1][0] + product[1][1]


@case([0.3, 0.8])
def aliased_list(xs):
    ys = xs
    zs = [ys, xs]
    ys[0] = ys[0] * 2
    zs[1].append(xs[0] * xs[1])
    return sum(xs) * ys[2]


@case(0.6)
def repeated_inner_list(x):
    rows = [[x, 1.0]] * 3
    rows[0][1] = x * x
    rows[2][0] *= 2.0
    return sum(sum(row) for row in rows)


@case([0.3, 0.8, 1.2])
def multiplication_in_place(xs):
    ys = xs.copy()
    ys *= 2
    ys[4] = ys[0] * ys[1]
    return sum(ys) * ys[3]


@case([0.3, 0.8, 1.2])
def unpacking(xs):
    a, *rest = xs
    *start, b = xs
    [c, (d, e)] = [a, rest]
    return a * rest[1] + start[1] * b + c * d - e


@case([0.3, 0.8, 1.2])
def queries_carry_no_derivative(xs):
    return xs[0] * xs.index(max(xs)) + xs[1] * xs.count(0.25) + xs[2] * (xs[0] in xs) + len(xs)


@case([0.3, 0.8, 1.2])
def swapped_elements(xs):
    ys = [v * v for v in xs]
    ys[0], ys[2] = ys[2], ys[0]
    i = 0
    i, ys[i] = 1, ys[i] * 3
    return ys[0] + ys[1] * ys[2]


@case([0.3, 0.8, 1.2])
def stack_machine(xs):
    stack = []
    for op in (0, 1, "*", 2, "+", 0, "*"):
        if op == "*":
            stack.append(stack.pop() * stack.pop())
        elif op == "+":
            stack.append(stack.pop() + stack.pop())
        else:
            stack.append(xs[op])
    return stack.pop()


@case([0.3, 0.8, 1.2])
def list_result(xs):
    return [x * xs[0] for x in xs]


@case([0.3, [0.8, 1.2]])
def nested_result(xs):
    return [xs[1][0] * xs[0], (xs[1][1], [xs[0] ** 2])]


@case([0.3, 0.8], [0.1, 0.2])
def concatenation_copies(xs, ys):
    zs = xs + ys
    zs[0] = zs[1] * zs[2]
    return sum(zs) + xs[0] * ys[0]


@case([0.3, 0.8, 1.2])
def cleared_and_refilled(xs):
    ys = list(xs)
    total = sum(ys)
    ys.clear()
    ys.append(total * xs[1])
    return ys[0] * total


@case(1.3)
def joined_by_operator(x):
    xs = [x]
    operator.iconcat(xs, [x * x])
    return xs[1] * operator.concat((x, 2.0), (x,))[2] + operator.concat(xs, xs)[3]


@case([3.0, 1.0, 2.0])
def a_list_is_empty_for_its_own_key(xs):
    seen = []

    def key(v):
        seen.append(len(xs) + v)
        return v

    xs.sort(key=key)
    try:
        xs.sort(key=lambda v: math.sqrt(1.5 - v))
    except ValueError:
        seen.append(len(xs))
    return xs[0] * 2 + xs[1] * 3 + sum(seen)
