"""Keyword arguments, defaults, stars: every way to hand a value to a callee."""

import math

import numpy as np

from tests.corpus.registry import case


def scaled(x, scale=2.0, *, shift=0.5):
    return x * scale + shift


def collect(*xs, **named):
    total = 0.0
    for i, x in enumerate(xs):
        total = total + (i + 1) * x
    for name in named:
        total = total + len(name) * named[name]
    return total


@case(1.3)
def default_values(x):
    return scaled(x) * scaled(x, 3.0)


@case(1.3, 0.4)
def keyword_values(x, y):
    return scaled(x, shift=y) * scaled(shift=x, x=y, scale=x)


@case(1.3, 0.4)
def variadic_callee(x, y):
    return collect(x, y, x * y, one=x, three=y)


@case(1.3, [0.4, 0.5, 0.6])
def star_call(x, ys):
    return collect(x, *ys, 2.0, *(y * y for y in ys))


@case(1.3, {"scale": 0.4, "shift": 2.0})
def double_star_call(x, options):
    return scaled(x, **options) + scaled(x, **{"scale": x})


@case(1.3, [0.4], {"b": 0.5})
def both_stars(x, args, options):
    return collect(*args, x, **options, c=x)


@case(1.3, 0.6, 0.2)
def variadic_itself(*xs):
    return xs[0] * xs[1] + sum(xs) * len(xs)


@case(1.3, kwargs={"scale": 3.0})
@case(1.3, kwargs={"scale": 3.0, "offset": 1.0})
def held_keywords(x, **options):
    return x * x * options["scale"] + options.get("offset", 0.0) * x


@case(1.3, 0.5)
def positional_only(x, y, /):
    def inner(a, /, b, *, c):
        return a * b - c

    return inner(x, y, c=x) * inner(x, b=x, c=y)


@case(1.3)
def default_from_enclosing_value(x):
    def inner(y, factor=x * 2.0, *, extra=x):
        return y * factor + extra

    return inner(x) + inner(2.0, extra=1.0)


@case(1.3)
def mutable_default(x):
    def remember(y, seen=[]):
        seen.append(y)
        return sum(seen)

    return remember(x) * remember(x * x) + remember(1.0)


@case(1.3, 0.6)
def evaluation_order(x, y):
    trace = []

    def note(value):
        trace.append(value)
        return value * len(trace)

    return note(x) * note(y) - note(x * y) / note(2.0) + trace[-2]


@case(1.3)
def callee_returns_several(x):
    def split(y):
        return y * 2.0, y * y, [y, 1.0]

    a, b, (c, d) = split(x)
    return a * b + c * d


@case(1.3)
def callee_returns_nothing(x):
    def note(y):
        y = y * 2.0

    result = note(x)
    return x if result is None else 0.0


@case(1.3, math.sin, fixed=1)
@case(1.3, lambda v: v * v, fixed=1)
def callable_argument(x, f):
    return f(x) * f(f(x))


@case(0.7)
def function_table(x):
    table = {"sin": math.sin, "square": lambda v: v * v, "cube": cube}
    return sum(table[name](x) for name in ("sin", "square", "cube", "sin"))


def cube(x):
    return x * x * x


@case(0.7)
def immediately_called_lambda(x):
    return (lambda a, b=2.0: a * b + x)(x * x)


@case(0.7)
def chained_calls(x):
    def adder(a):
        return lambda b: lambda c: a * b + c

    return adder(x)(x + 1.0)(x * x)


@case(1.5, 2, fixed=1)
@case(1.5, 5, fixed=1)
def integer_controls_depth(x, n):
    y = x
    for _ in range(n):
        y = y * 0.5 + x / y
    return y


@case(1.2, 0.3)
def nested_functions_as_arguments(x, y):
    def twice(f):
        return lambda v: f(f(v))

    def step(v):
        return v * y + 1.0

    return twice(twice(step))(x)


@case(np.array([0.3, 0.8]), kwargs={"flag": True})
def boolean_keyword(x, flag=False):
    return np.sum(x * x) if flag else np.sum(x)


@case(0.4, 1.3)
def parameters_shadow_globals(cube, scaled):
    return cube * scaled


@case(0.9)
def varargs_reused(x):
    def total(*args):
        args = args + (x,)
        first, *rest = args
        return first * sum(rest)

    return total(x, 2.0) + total(1.0)


@case(0.9)
def keywords_changed_in_callee(x):
    options = {"a": x, "b": 2.0}

    def change(**given):
        given["a"] = given["a"] * 3.0
        given["c"] = x
        return given["a"] * given["b"] + given["c"]

    return change(**options) + options["a"]


def with_default(a, b=1.0):
    return a * b


@case(2.0)
def default_for_a_while(x):
    with_default.__defaults__ = (3 * x,)
    y = with_default(x)
    with_default.__defaults__ = (1.0,)
    return y * with_default(x)


def with_named_default(a, *, c=1.0):
    return a * c


@case(2.0)
def named_default_for_a_while(x):
    with_named_default.__kwdefaults__ = {"c": 3 * x}
    y = with_named_default(x)
    with_named_default.__kwdefaults__ = {"c": 1.0}
    return y * with_named_default(x)


class Reading(dict):
    """C asks for no keys of it."""

    def keys(self):
        return ["z"]

    def __getitem__(self, key):
        return 5.0


@case(2.0)
def keywords_of_a_mapping_of_ones_own(x):
    return sum((lambda **given: list(given.values()))(**Reading(a=x * x))) * x
