"""``functools``, decorators, recursion."""

import collections
import dataclasses
import functools
import inspect
import math
import operator
from types import SimpleNamespace

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


# ---- caches: results that are used again ---------------------------------------------------------


@case(0.7, 0.7)
def cache_of_equal_arguments(x, y):
    calls = []

    @functools.cache
    def f(a):
        calls.append(a)
        return math.sin(a) * a

    return f(x) * 2 + f(y) * 3 + f(x) * f(y), len(calls)


@case([0.0, 0.0, 0.5])
def cache_of_zeros(xs):
    calls = 0

    @functools.lru_cache(maxsize=None)
    def f(a):
        nonlocal calls
        calls += 1
        return math.exp(a) * (a + 1)

    return sum(k * f(x) for k, x in enumerate(xs, 1)), calls, f.cache_info().hits


@case(0.7)
def cache_of_recursion(x):
    calls = 0

    @functools.cache
    def f(n, v):
        return v if n < 2 else f(n - 1, v) * v + f(n - 2, v)

    @functools.cache
    def counted(n, v):
        nonlocal calls
        calls += 1
        return v if n < 2 else counted(n - 1, v) * v + counted(n - 2, v)

    @functools.cache
    def captured(n):
        return x if n < 2 else captured(n - 1) * x + captured(n - 2)

    total = f(20, x) + counted(12, x) + captured(20)
    return total, calls, f.cache_info(), captured.cache_info()


@case(0.7)
def cache_of_paths(x):
    @functools.cache
    def cost(i, j):
        if i == 0 or j == 0:
            return x * (i + j + 1)
        return min(cost(i - 1, j), cost(i, j - 1), cost(i - 1, j - 1)) * x + i * j

    return cost(6, 6), cost.cache_info()


@case(0.7)
def cache_that_evicts(x):
    calls = []

    @functools.lru_cache(maxsize=2)
    def f(a):
        calls.append(a)
        return a * a * len(calls)

    @functools.lru_cache(maxsize=2)
    def g(k):
        calls.append(k)
        return x**k * len(calls)

    total = 0.0
    for k in (1, 2, 1, 3, 2, 1, 1, 3):
        total += f(x * k) * k + g(k)
    return total, len(calls), f.cache_info(), g.cache_info(), g.cache_parameters()


@case(0.7)
def cache_without_room(x):
    calls = 0

    @functools.lru_cache(maxsize=0)
    def f(a, b=1.0):
        nonlocal calls
        calls += 1
        return a * b * calls

    return f(x) + f(x) + f(x, b=x) + f([x][0]), calls, f.cache_info(), f.cache_parameters()


@case(0.7)
def cache_by_type(x):
    calls = 0

    @functools.lru_cache(maxsize=8, typed=True)
    def f(k, v=2.0):
        nonlocal calls
        calls += 1
        return x * k * calls + v

    @functools.lru_cache
    def g(k, v=2.0):
        nonlocal calls
        calls += 1
        return x * k * calls + v

    total = 0.0
    for h in (f, g):
        total += h(1) + h(1.0) + h(True) + h(1, 2) + h(1, 2.0) + h(1, v=2) + h(1, v=2.0)
    return total, calls, f.cache_info(), g.cache_info(), f.cache_parameters()


@case(0.7)
def cache_cleared(x):
    calls = 0

    @functools.cache
    def f(a):
        nonlocal calls
        calls += 1
        return a * a * calls

    total = f(x) + f(x)
    before = f.cache_info()
    f.cache_clear()
    empty = f.cache_info()
    return total * f(x) + f(2.0), calls, before, empty, f.cache_info()


@case(0.7, 0.3)
def cache_reads_what_changes(x, y):
    scale = [y, x]
    weights = np.array([x, y, 1.0])

    @functools.cache
    def f(a):
        return a * scale[0] + math.sin(a * scale[1]) + float((weights * a).sum())

    total = f(x) + f(x) * 3
    scale[0] = 2.0
    scale.insert(0, y * y)
    weights[0] = 5.0 * x
    total += f(x) * 2 + f(y) * f(y)
    weights[1:] *= x
    return total * scale[0] + weights.sum() * f(x)


@case(0.7)
def cache_writes(x):
    log, state = [], {"k": x}

    @functools.cache
    def f(a):
        log.append(a * 3)
        state["k"] = state["k"] * a
        return a * a + state["k"] + (log[-2] if len(log) > 1 else 0.0)

    total = f(x) + f(x) + f(x * 2) * f(x * 2) * state["k"]
    state["k"] += 1.0
    return total * f(x) + f(3.0) + sum(log) * state["k"], len(log)


@case(0.7, 0.3)
def cache_on_methods(x, y):
    class Model:
        factor = 2.0

        def __init__(self, w):
            self.w = w
            self.calls = 0

        @functools.lru_cache(maxsize=None)
        def at(self, v):
            self.calls += 1
            return self.w * v + math.sin(v * self.calls)

        @classmethod
        @functools.cache
        def scaled(cls, v):
            return cls.factor * v * v

        @staticmethod
        @functools.cache
        def square(v):
            return v * v

    m, k = Model(y), Model(x)
    total = m.at(x) + m.at(x) * 2 + k.at(x) * k.at(x)
    m.w = x * y
    total += m.at(x) * 3 + m.at(y) + Model.scaled(x) * m.scaled(x)
    return total + Model.square(x) * m.square(x), m.calls, k.calls, Model.square.cache_info()


@dataclasses.dataclass(frozen=True)
class Point:
    a: float
    b: float

    @functools.cache
    def norm(self):
        return math.sqrt(self.a**2 + self.b**2)


@case(0.7, 0.7, reset=Point.norm.cache_clear)
def cache_by_value_of_objects(x, y):
    p, q, r = Point(x, 1.0), Point(y, 1.0), Point(x, 1.0)
    return p.norm() + 2 * q.norm() + 3 * r.norm() * p.norm(), Point.norm.cache_info().misses


@case(0.7, 0.7)
def cache_by_tuples(x, y):
    @functools.cache
    def f(t, u=(1.0, 2.0)):
        (a, b), c = t
        return a * b * c + u[0]

    total = f(((x, 2.0), y)) + 2 * f(((y, 2.0), x)) + 3 * f(((x, x + 1.3), y), u=(x, y))
    return total + 4 * f(((y, y + 1.3), y), u=(y, x)), f.cache_info()


@case(0.7, 0.7)
def cache_of_tuples(x, y):
    calls = 0
    Two = collections.namedtuple("Two", "a b")

    @functools.cache
    def f(a):
        nonlocal calls
        calls += 1
        return math.sin(a), a * a, calls

    @functools.cache
    def g(a):
        return Two(a * a, math.exp(a))

    first, second, third = f(x), f(y), f(x)
    p, q = g(x), g(y)
    total = first[0] * 2 + first[1] * 3 + second[0] * 5 + second[1] * 7 + third[0] * third[1]
    return total + p.a * q.b + p.b * 3 + q.a * 11, calls, first[2]


@case(0.7, 0.7)
def cache_of_arrays(x, y):
    calls = 0

    @functools.cache
    def f(a):
        nonlocal calls
        calls += 1
        return np.array([a, a * a, math.sin(a)])

    @functools.cache
    def g(a):
        return complex(a, a * a) * 1j

    total = (f(x) * np.array([1.0, 2.0, 3.0])).sum() + (f(y) * np.array([5.0, 7.0, 11.0])).sum()
    total += (f(x) * f(y)).sum() + abs(g(x) * g(y)) + g(x).real * 3 + g(y).imag * 5
    return float(total), calls


@case(0.7)
def cache_of_lists(x):
    calls = []

    @functools.cache
    def row(k):
        calls.append(k)
        return [x * j for j in range(k)]

    @functools.cache
    def once(a):
        return [a, a * a]

    first = row(3)
    first.append(x * x)
    again = row(3)
    total = sum(first) * sum(again) + row(2)[1] + once(x)[0] + once(2 * x)[1]
    return total, len(calls), first is again


@case(0.7)
def cache_inside_a_cache(x):
    @functools.cache
    def f(a, b):
        return math.sin(a * b)

    @functools.cache
    def outer(a):
        @functools.cache
        def inner(n):
            return a if n == 0 else inner(n - 1) * a + inner(max(n - 2, 0)) * f(a, x)

        return inner(6) + inner(3) + f(x, a)

    total = outer(x) + outer(x) * outer(x * 2) + f(x * 2, x)
    return total, outer.cache_info(), f.cache_info()


@case(0.7)
def cache_of_what_raises(x):
    calls = 0

    @functools.cache
    def f(a):
        nonlocal calls
        calls += 1
        if calls == 1:
            raise ValueError
        return a * a * calls

    try:
        f(x)
    except ValueError:
        pass
    try:
        f([x])
    except TypeError as error:
        message = str(error)
    return f(x) + f(x), calls, message, f.cache_info()


@case(0.7)
def cache_of_others(x):
    def numbers():
        value = x
        while True:
            yield value
            value = value * x

    it = numbers()
    sine = functools.cache(math.sin)
    squares = functools.lru_cache(maxsize=1)(lambda v: v * v)

    @functools.cache
    def taken(name):
        return next(it)

    @functools.cache
    def summed(a):
        return sum(v * a for v, _ in zip(numbers(), range(3), strict=False))

    total = sine(x) + sine(x) * 2 + squares(sine(x)) + squares(sine(x)) + summed(x) * summed(2.0)
    return total + taken("a") + taken("b") * 3 + taken("a") * next(it), sine.cache_info()


@case(0.7, 0.2)
def cache_by_keywords(x, y):
    @functools.cache
    def f(*, a, b):
        return a * b * b

    return f(a=x, b=y) + f(b=y, a=x) * 2 + f(a=x, b=y) * 3, f.cache_info()


@case(np.array([0.7, 1.3]))
def cached_function_that_counts(x):
    """It runs once for equal arguments, though these may be made of different inputs."""

    def scaled(v):
        scaled.calls += v
        return v * x[0]

    scaled.calls = 0.0
    again = functools.cache(scaled)
    book, log = SimpleNamespace(n=1.0), {}

    @functools.cache
    def noted(v):
        book.n *= v
        log[len(log)] = v * x[1]
        return v * x[0]

    total = (again(x[1]) + again(x[1])) * scaled.calls
    return total + (noted(x[1]) + noted(x[1]) * 2.0) * book.n * sum(log.values())


def with_coefficient(c):
    def decorate(f):
        f.coefficient = c
        return f

    return decorate


class Timed:
    def __init__(self, f):
        functools.update_wrapper(self, f)
        self.f = f

    def __call__(self, *args):
        return self.f(*args) * self.coefficient


@case(0.7, 0.2)
def attributes_that_wraps_copies(x, y):
    @doubled
    @with_coefficient(x * y)
    def drag(v):
        return v * v

    return drag(y) * drag.coefficient


@case(0.7, 0.2)
def attributes_that_update_wrapper_copies(x, y):
    timed = Timed(with_coefficient(x * x)(lambda v: v * y))
    cached = functools.lru_cache(with_coefficient(y * y)(lambda v: v * x))
    generic = functools.singledispatch(with_coefficient(x + y)(lambda v: v * v))
    total = timed(x) + cached(y) * cached.coefficient
    return total + generic(x) * generic.coefficient
