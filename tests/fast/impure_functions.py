"""Functions of a user that share memory or have effects; the evaluator does not cover `INNER`."""

import operator

import numpy as np

CALLS = []


def data_of_a_function(x):
    data_of_a_function.calls.append(1)
    return np.sum(x) * len(data_of_a_function.calls)


data_of_a_function.calls = CALLS


def data_by_name(x):
    operator.attrgetter("calls")(data_of_a_function).append(1)
    return np.sum(x)


class Counted(Exception):
    """Notes the objects that are made."""

    def __init__(self):
        CALLS.append(1)


def exception_with_effects(x):
    return np.sum(x) * len(Counted().args)


def random_number(x):
    return np.sum(x) * np.random.random()  # noqa: NPY002


class Plain(Exception):
    """An exception without contents."""


def plain_exception(x):
    if x[0] > 5.0:
        raise Plain
    return np.sum(x * x)


def shared_parts(x):
    y = x * 2.0
    return y, y[1:]


def parts_shared_at_times(x):
    y = x * 2.0
    return y, y if x[0] < 1.0 else y + 1.0


def operand_at_times(x):
    return x if x[0] < 1.0 else x * 2.0


def item_at_times(xs):
    return xs[0] if xs[0][0] < 1.0 else xs[0] * 2.0


def appended_at_times(x, found):
    if x[0] < 1.0:
        found.append(x[0])
    return np.sum(x)


def given_list(x, xs):
    return xs if x[0] < 1.0 else [v * 2.0 for v in xs]


def product_of_items(xs):
    return np.sum(xs[0] * xs[1]) + xs[0][1]


def constant_at_times(x, b):
    if x[0] < 1.0:
        b[0] = 4.0
    return np.sum(x)


INNER = (
    given_list,
    product_of_items,
    constant_at_times,
    data_of_a_function,
    data_by_name,
    exception_with_effects,
    random_number,
    plain_exception,
    shared_parts,
    parts_shared_at_times,
    operand_at_times,
    item_at_times,
    appended_at_times,
)


# ---- programs ------------------------------------------------------------------------------------


def parts_written(x):
    y, z = shared_parts(x * x)
    y[1] = 7.0
    return np.sum(y * x) + np.sum(z * z)


def other_parts_written(x):
    y, z = parts_shared_at_times(x * x)
    z[1] = x[0]
    return np.sum(y * x) + np.sum(z * z)


def result_written(x):
    a = x * x
    y = operand_at_times(a)
    y[0] = 5.0
    return np.sum(y * a)


def operand_written(x):
    a = x * x
    y = operand_at_times(a)
    a[0] = 5.0
    return np.sum(y * a) + y[1]


def result_of_a_list_written(x):
    a = x * x
    y = item_at_times([a, x])
    y[0] = 5.0
    return np.sum(y * a)


def operand_written_that_is_read_back(x):
    a = x * x
    y = plain_exception(a)
    a[0] = 5.0
    return np.sum(y * a)


def appended(x):
    found = [1.0]
    y = appended_at_times(x * x, found)
    return y * sum(found) * len(found)


def item_of_a_result_written(x):
    xs = [x[0], x[1] * x[2]]
    found = given_list(np.sin(x) * 1.5, xs)
    found[0] = x[2]
    return xs[0] * xs[1] + found[0] * found[1]


def item_of_an_operand_written(x):
    xs = [x[0], x[1] * x[2]]
    found = given_list(np.sin(x) * 1.5, xs)
    xs[0] = x[2]
    return xs[0] * xs[1] + found[0] * found[1]


def same_array_twice(x):
    y = x * x
    return product_of_items([y, y]) + product_of_items((y, y)) * product_of_items([y, x])


def the_same_number_written(x):
    b = x + 3.5
    y = constant_at_times(x, b)
    return y * np.sum(b * x)
