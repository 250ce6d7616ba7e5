"""Functions that raise at 3.0, each in its own way."""

import contextlib
import math
import operator
import sys
from functools import cached_property, lru_cache, partial, reduce

import numpy as np


class OwnError(Exception):
    def __init__(self, x, *, code=0):
        super().__init__(f"bad value {x}")
        self.x, self.code = x, code


def fail(x):
    raise OwnError(x, code=7)


# ---- where the error may come from ---------------------------------------------------------------


def by_raise(x):
    y = x * 2
    raise ValueError("no good")


def by_operator(x):
    return x / (x - 3.0)


def by_math(x):
    return math.log(-x)


def by_shape(x):
    return np.ones(3) + x * np.ones(2)


def by_index(x):
    xs = [x]
    return xs[3]


def by_key(x):
    return {"a": x}["b"]


def by_attribute(x):
    return x.nothing


def by_name(x):
    return x * undefined  # noqa: F821


def by_unbound(x):
    if x > 100:
        y = x
    return x * y


def by_type(x):
    return x + "text"


def by_assert(x):
    assert x > 100, f"x is {x}"
    return x


def by_unpacking(x):
    a, b = [x]
    return a * b


def by_calling(x):
    return x(2)


def by_arguments(x):
    return fail(x, x)


def by_conversion(x):
    return float("one") * x


def by_overflow(x):
    return math.exp(x * 1000)


def by_matmul(x):
    return np.ones((2, 3)) @ (x * np.ones(2))


def by_reshape(x):
    return (x * np.ones(6)).reshape(4, 2)


def by_linear_algebra(x):
    return np.linalg.inv(np.ones((2, 3)) * x)


def by_import(x):
    import nothing_of_the_kind  # noqa: F401

    return x


def by_deletion(x):
    y = x * 2
    del y
    return y  # noqa: F821


def by_exit(x):
    sys.exit(3)


def by_interrupt(x):
    raise KeyboardInterrupt


def by_iteration(x):
    for y in x:
        pass


def by_next(x):
    return next(iter([])) * x


def by_item_write(x):
    (1.0, 2.0)[0] = x


def by_out_of_bounds(x):
    y = np.zeros(2)
    y[5] = x
    return y


def through_callees(x):
    def inner(y):
        z = y * 2
        return fail(z)

    return inner(x + 1)


def through_lambda(x):
    f = lambda y: fail(y * 2)
    return f(x)


class Model:
    def __init__(self, w):
        self.w = w
        if w > 100:
            raise OwnError(w)

    def __call__(self, x):
        return self.method(x)

    def method(self, x):
        return fail(x * self.w)

    @property
    def attribute(self):
        return fail(self.w)

    @cached_property
    def cached(self):
        return fail(self.w)

    @staticmethod
    def static(x):
        return fail(x)

    @classmethod
    def on_class(cls, x):
        return fail(x)

    def __add__(self, other):
        return fail(other)

    def __getitem__(self, i):
        return fail(i)

    def __getattr__(self, name):
        return fail(name)

    def __enter__(self):
        return fail(self.w)

    def __exit__(self, *exc):
        return False

    def __iter__(self):
        yield self.w
        fail(self.w)

    def __bool__(self):
        return fail(self.w)

    def __eq__(self, other):
        return fail(other)

    __hash__ = None


def through_method(x):
    return Model(2.0).method(x)


def through_call(x):
    return Model(2.0)(x)


def through_constructor(x):
    return Model(x * 1000).w


def through_property(x):
    return Model(x).attribute


def through_static_method(x):
    return Model.static(x)


def through_class_method(x):
    return Model.on_class(x)


def through_operator(x):
    return Model(x) + x


def through_item(x):
    return Model(x)[0]


def through_getattr(x):
    return Model(x).missing


def through_with(x):
    with Model(x) as m:
        return m


def through_iter(x):
    total = 0.0
    for y in Model(x):
        total = total + y
    return total


def through_truth(x):
    return x if Model(x) else 2 * x


def through_equality(x):
    return x if Model(x) == x else 2 * x


def generator(x):
    yield x
    yield fail(x)


def through_generator(x):
    total = 0.0
    for y in generator(x):
        total = total + y
    return total


def through_yield_from(x):
    def outer():
        yield from generator(x)

    return sum(outer())


def through_list_of_generator(x):
    return list(generator(x))


def through_comprehension(x):
    return [fail(y) for y in [x, x]]


def through_generator_expression(x):
    return sum(fail(y) for y in [x, x])


def through_dict_comprehension(x):
    return {y: fail(x) for y in "ab"}


def through_map(x):
    return list(map(fail, [x, x]))


def through_reduce(x):
    return reduce(lambda a, b: fail(a), [x, x])


def through_sorted(x):
    return sorted([x, 2 * x], key=fail)


def through_partial(x):
    return partial(fail, x)()


def through_operator_function(x):
    return operator.truediv(x, 0.0)


@lru_cache
def cached_failure(x):
    return fail(x)


def through_cache(x):
    return cached_failure(x)


@contextlib.contextmanager
def managing(x):
    yield x
    fail(x)


def through_context_manager(x):
    with managing(x) as y:
        return y * x


def through_star(x):
    return fail(*[x])


def in_finally(x):
    try:
        y = x * 2
    finally:
        fail(x)
    return y


def reraised(x):
    try:
        fail(x)
    except OwnError:
        raise


def converted(x):
    try:
        fail(x)
    except OwnError as error:
        raise RuntimeError("converted") from error


def converted_from_none(x):
    try:
        fail(x)
    except OwnError:
        raise RuntimeError("converted") from None


def during_handling(x):
    try:
        fail(x)
    except OwnError:
        return {}["missing"]


def out_of_a_loop(x):
    for i in range(5):
        x = x * 2
        if i == 3:
            fail(x)
    return x


def out_of_with(x):
    with contextlib.ExitStack() as stack:
        stack.callback(lambda: None)
        fail(x)


FAILING = [f for name, f in list(globals().items()) if name.startswith(("by_", "through_", "in_"))]
FAILING += [reraised, converted, converted_from_none, during_handling, out_of_a_loop, out_of_with]
