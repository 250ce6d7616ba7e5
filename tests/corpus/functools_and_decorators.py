"""``functools``, decorators, recursion."""

import functools
import inspect
import math
import operator

import numpy as np

from tests.corpus.registry import case


def doubled(f):
    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        return 2.0 * f(*args, **kwargs)

    return wrapper


def plus(amount):
    def decorate(f):
        @functools.wraps(f)
        def wrapper(x):
            return f(x) + amount

        return wrapper

    return decorate


@doubled
@plus(0.5)
def decorated(x):
    return x * x


@functools.lru_cache(maxsize=None)
def cached_polynomial(x, n):
    return 1.0 if n == 0 else x * cached_polynomial(x, n - 1) + n


@functools.singledispatch
def dispatched(x):
    return x * 2


@dispatched.register
def _(x: list):
    return sum(x) * 3


class CallCount:
    def __init__(self, f):
        functools.update_wrapper(self, f)
        self.f = f
        self.calls = 0

    def __call__(self, x):
        self.calls += 1
        return self.f(x) * self.calls


@case(0.7)
def decorated_callee(x):
    return decorated(x) * decorated(2 * x)


@case(0.7)
@doubled
def decorated_itself(x):
    return x * x * x


@case(0.7)
def decorated_inside(x):
    @plus(x)
    @doubled
    def f(v):
        return v * x

    return f(x + 1.0) * f(2.0)


@case(0.7)
def decorator_class(x):
    @CallCount
    def f(v):
        return v * v

    return f(x) + f(x) * f(2.0)


@case(0.7, 0.2)
def partial(x, y):
    f = functools.partial(lambda a, b, c=1.0: a * b + c, x, c=y)
    g = functools.partial(f, c=x)
    return f(y) * g(3.0)


@case([0.7, 0.2, 1.1])
def reduce(xs):
    product = functools.reduce(operator.mul, xs)
    horner = functools.reduce(lambda acc, c: acc * xs[0] + c, xs, 1.0)
    return product * horner


@case(0.7, reset=cached_polynomial.cache_clear)
def lru_cached_callee(x):
    return cached_polynomial(x, 4) * cached_polynomial(x, 2) + cached_polynomial(2.0 * x, 3)


@case(0.7)
def cache_inside(x):
    @functools.cache
    def f(n):
        return x if n < 2 else f(n - 1) * f(n - 2) + x

    return f(6)


@case(0.7)
def single_dispatch(x):
    return dispatched(x) * dispatched([x, 1.0])


@case(0.7)
def cached_property(x):
    class Model:
        def __init__(self, a):
            self.a = a

        @functools.cached_property
        def square(self):
            return self.a * self.a

    m = Model(x)
    first = m.square
    m.a = 100.0
    return first * m.square


@case([0.7, -1.2, 0.4])
def cmp_to_key(xs):
    ranked = sorted(xs, key=functools.cmp_to_key(lambda a, b: (a > b) - (a < b)))
    return ranked[0] * 2 + ranked[1] * ranked[2]


@case(0.7)
def composition(x):
    def compose(*fs):
        return functools.reduce(lambda f, g: lambda v: g(f(v)), fs)

    return compose(math.sin, math.exp, lambda v: v * x)(x)


@case(1.1, 6, fixed=1)
def recursive_power(x, n):
    if n == 0:
        return 1.0
    half = recursive_power(x, n // 2)
    return half * half * (x if n % 2 else 1.0)


@case(0.3, 7, fixed=1)
def fibonacci(x, n):
    return x if n < 2 else fibonacci(x, n - 1) + x * fibonacci(x, n - 2)


@case([0.3, [0.5, [0.7]], [[1.1]]])
def recursive_sum(tree):
    return tree * tree if not isinstance(tree, list) else sum(recursive_sum(t) for t in tree) * 1.1


@case(0.5)
def recursion_in_closure(x):
    def ackermann_like(depth, v):
        return v if depth == 0 else ackermann_like(depth - 1, math.sin(v) * x + v)

    return ackermann_like(30, x)


@case([1.3, 0.2, 0.9, 0.5])
def quicksort(xs):
    def sort(items):
        if len(items) < 2:
            return items
        pivot, *rest = items
        return (
            sort([v for v in rest if v < pivot]) + [pivot] + sort([v for v in rest if v >= pivot])
        )

    return sum(k * v * v for k, v in enumerate(sort(xs)))


@case(np.array([1.3, 0.2, 0.9, 0.5]))
def divide_and_conquer(x):
    if len(x) == 1:
        return x[0] * x[0]
    middle = len(x) // 2
    return divide_and_conquer(x[:middle]) * 1.5 + divide_and_conquer(x[middle:])


@case(0.4)
def import_inside(x):
    import math as m
    from functools import reduce as fold

    import numpy as xp

    return m.sin(x) * fold(lambda a, b: a * b, [x, 2.0]) + xp.tanh(x)


@case(0.4, 1.2)
def del_names(x, y):
    z = x * y
    del x
    x = z * y
    del z, y
    return x * x


@case(0.4)
def annotated_names(x: float) -> float:
    y: float = x * 2
    z: "unknown"  # noqa: F821
    z = y * x
    return z


def rescaled(f):
    signature = inspect.signature(f)

    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        bound.arguments["x"] = bound.arguments["x"] * 2.0
        return f(*bound.args, **bound.kwargs)

    return wrapper


@rescaled
def weighted(x, y=3.0, *rest, scale=1.0, **named):
    return x * y * scale + sum(rest) * x + named.get("z", 0.0)


@case(0.7, 1.3)
def arguments_bound_to_a_signature(x, y):
    return weighted(x) + weighted(x, y, y, x * y) * weighted(y, scale=x, z=y)
