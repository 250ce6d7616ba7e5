"""Captured variables, read and rebound."""

import math

import numpy as np

from tests.corpus.registry import case, made


@made
def captured_numbers():
    a, b = 2.0, 3.5

    def f(x):
        return a * x * x + b

    return f, 1.4


@made
def captured_array():
    w = np.array([0.2, -0.4, 0.9])

    def f(x):
        return np.sum(w * np.sin(w * x))

    return f, 1.4


@made
def captured_containers():
    weights = {"w": [0.5, 1.5], "b": 0.1}

    def f(x):
        return weights["w"][0] * x + weights["w"][1] * x * x + weights["b"]

    return f, 0.8


@made
def captured_function():
    scale = 1.7

    def inner(x):
        return math.sin(scale * x)

    def f(x):
        return inner(x) * scale + inner(inner(x))

    return f, 0.8


@made
def lambda_with_captured_number():
    k = 0.6
    return (lambda x, y: k * x * y + x), 1.2, 0.3


@case(3.0, 5.0)
def closure_built_inside(a, x):
    g = lambda v: a * v * v  # noqa: E731
    return g(x) + g(2.0)


@case(1.2)
def late_binding(x):
    functions = [lambda v: v * k for k in (1.0, 2.0, 3.0)]
    bound = [lambda v, k=k: v * k for k in (1.0, 2.0, 3.0)]
    return functions[0](x) + bound[0](x) * bound[2](x)


@case(1.2)
def captured_variable_changes_afterwards(x):
    scale = 1.0

    def f(v):
        return v * scale

    first = f(x)
    scale = x * x
    return first + f(x)


@case(1.2)
def captured_parameter_is_rebound(x):
    def f():
        return x * x

    a = f()
    x = x * 3.0
    return a + f() * x


@case(1.2)
def returned_closure(x):
    def make(a):
        b = a * x

        def f(v):
            return v * a + b

        return f

    f, g = make(2.0), make(x)
    return f(x) * g(1.5)


@case(0.4)
def closure_over_loop_state(x):
    callbacks = []
    total = 0.0
    for i in range(4):

        def add(v, i=i):
            return v * (i + 1) + total

        callbacks.append(add)
        total += add(x)
    return total + callbacks[0](x)


@case(0.4)
def closure_stored_in_object(x):
    class Holder:
        pass

    holder = Holder()
    holder.f = lambda v: v * x
    return holder.f(3.0) + holder.f(holder.f(2.0))


@case(np.array([0.4, 1.1]))
def closure_writes_into_captured_array(x):
    buffer = np.zeros(2)

    def add(k):
        buffer[:] += k * x
        return buffer.sum()

    return add(1.0) * add(2.0) + buffer[0]


@case(np.array([0.4, 1.1]))
def captured_list_grows(x):
    items = []

    def push(v):
        items.append(v)

    for v in x:
        push(v * v)
        push(items[-1] * 0.5)
    return sum(items) + items[1] * items[2]


@case(0.8)
def three_levels(x):
    def outer(a):
        def middle(b):
            def inner(c):
                return a * b * c + x

            return inner(a) + b

        return middle(x) * a

    return outer(x + 1.0)


@case(0.8)
def mutual_recursion(x):
    def even(n):
        return x if n == 0 else odd(n - 1) * x

    def odd(n):
        return 1.0 if n == 0 else even(n - 1) + x

    return even(4) + odd(3)
