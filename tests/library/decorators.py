"""Decorators of wrapt, whose wrappers are of C, and of decorator."""

import functools
import math

import decorator
import numpy as np
import wrapt

from tests.library.registry import case, reals

V = reals(4)


@wrapt.decorator
def doubled(wrapped, instance, args, kwargs):
    return wrapped(*args, **kwargs) * 2.0


@wrapt.decorator
def weighed(wrapped, instance, args, kwargs):
    return wrapped(*args, **kwargs) * (1.0 if instance is None else instance.w)


@wrapt.decorator
def exchanged(wrapped, instance, args, kwargs):
    def unpack(a, b=3.0):
        return a, b

    a, b = unpack(*args, **kwargs)
    return wrapped(b, a) * a


@wrapt.decorator
def caught(wrapped, instance, args, kwargs):
    try:
        return wrapped(*args, **kwargs)
    except ValueError as error:
        return error.args[0] * 2.0


@wrapt.decorator
class Scaling:
    def __call__(self, wrapped, instance, args, kwargs):
        return [2.0 * part for part in wrapped(*args, **kwargs)]


@doubled
def square(x):
    return x * x


@exchanged
def of_two(a, b=3.0):
    return a * b * b


@caught
def raising(x):
    raise ValueError(x * x)


@Scaling()
def powers(x):
    yield x
    yield x * x


class Body:
    w = 2.0

    def __init__(self, w):
        self.w = w

    @weighed
    def scaled(self, x):
        return self.w * x

    @weighed
    @classmethod
    def of_class(cls, x):
        return cls.w * x * x

    @doubled
    @staticmethod
    def cubed(x):
        return x**3

    @property
    @doubled
    def area(self):
        return self.w**2

    @doubled
    def __add__(self, other):
        return self.w * other


class Vector(np.ndarray):
    @doubled
    def total(self):
        return (self * self).sum()

    @weighed
    def mean_of_first(self):
        return np.asarray(self).sum()

    @property
    def w(self):
        return self[0]


@wrapt.decorator(enabled=lambda: False)
def left_out(wrapped, instance, args, kwargs):
    return math.nan


class Labelled(wrapt.ObjectProxy):
    def __init__(self, wrapped, scale):
        super().__init__(wrapped)
        self._self_scale = scale

    def area(self):
        return self.__wrapped__.w * self._self_scale


def _proxy(x):
    body = Labelled(Body(x), x)
    first = body.area()
    body._self_scale = body._self_scale * x
    body.w = x * 3
    return first * body.area() + body.scaled(x)


def _made_inside(x):
    @doubled
    def scaled(y):
        return y * x

    return scaled(x) * functools.partial(doubled(lambda a, b: a * b), x)(2.0)


case("wrapt.decorator", 0.7, call=lambda x: square(x) * x)
case("wrapt.decorator", 0.7, 1.3, call=lambda x, y: of_two(x, b=y) * of_two(x, y))
case("wrapt.decorator", 0.7, call=raising)
case("wrapt.decorator", 0.7, call=lambda x: sum(powers(x)))
case("wrapt.decorator", 0.7, call=doubled(math.sin))
case("wrapt.decorator", V, call=doubled(np.linalg.norm))
case("wrapt.decorator", 0.7, call=left_out(lambda x: x * x))
case("wrapt.decorator", 0.7, call=_made_inside)
case("wrapt.decorator", 0.7, call=lambda x: sum(map(doubled(lambda y: y * x), [x, 2.0])))
case("wrapt.decorator", 0.7, call=lambda x: Body(x).scaled(x) * Body.scaled(Body(x), x))
case("wrapt.decorator", 0.7, call=lambda x: Body(x).of_class(x) * Body.of_class(x))
case("wrapt.decorator", 0.7, call=lambda x: Body(x).cubed(x) + Body(x).area * (Body(x) + x))
case("wrapt.decorator", V, call=lambda v: v.view(Vector).total() * Vector.total(v.view(Vector)))
case("wrapt.decorator", V, call=lambda v: v.view(Vector).mean_of_first())
case("wrapt.ObjectProxy", 0.7, call=_proxy)
case("wrapt.partial", 0.7, call=lambda x: wrapt.partial(lambda a, b, c: a * b / c, x, c=x)(x * 3))
case("wrapt.synchronized", 0.7, call=wrapt.synchronized(lambda x: x * x))


def _by_decorator(x):
    @decorator.decorator
    def tripled(f, *args, **kwargs):
        return f(*args, **kwargs) * 3.0

    @tripled
    def scaled(y):
        return y * x

    return scaled(x)


case("decorator.decorator", 0.7, call=_by_decorator)
