"""Functions that libraries make at run time, and those made by ``exec``."""

from __future__ import annotations

import collections
import copy
import dataclasses
import functools
import sys
import types
import typing

import attr
import attrs
import decorator
import pytest
import scipy.stats

import adjoint as ad
from adjoint.frontend.source import find_source
from tests.frontend.bytecode.sourceless import made
from tests.support import check_reverse

CASES = []


def case(*args):
    """Check the gradient of the function below at these arguments."""

    def register(function):
        CASES.append((function, args))
        return function

    return register


@pytest.mark.parametrize("f, args", CASES, ids=lambda value: getattr(value, "__name__", ""))
def test_gradient(f, args):
    check_reverse(f, *args)


# ---- exec ----------------------------------------------------------------------------------------

TEXT = '''
def horner(x, *coefficients, scale=2.0):
    """Horner's scheme."""
    result = 0.0
    for c in reversed(coefficients):
        result = result * x + c
    return result * scale


def polynomial(coefficients):
    n = len(coefficients)

    def evaluate(x):
        return sum([c * x**i for i, c in enumerate(coefficients)]) / n

    return evaluate


absolute = lambda x, factor=2.0: x * factor if x > 0 else -x


def series(x):
    return sum(x**k for k in range(4))


def counter(x):
    count = 0.0

    def add(y):
        nonlocal count
        count += y * x
        return count

    add(x)
    add(y=2.0)
    return count


class Affine:
    slope: float = 2.0

    def __init__(self, offset):
        self.offset = offset

    def __call__(self, x):
        return self.slope * x + self.offset


class Steep(Affine):
    def __call__(self, x):
        return 3.0 * super().__call__(x) - self.__private(x)

    def __private(self, x):
        return x * self.offset


def fibonacci(x, n):
    return x if n < 2 else fibonacci(x, n - 1) * fibonacci(x, n - 2) + x
'''
MADE: dict[str, typing.Any] = {}
exec(TEXT, MADE)


@case(1.5, 0.7)
def straight(x, a):
    return MADE["horner"](x, a, 2.0, a * x, scale=x)


@case(1.5, 0.7)
def closures(x, a):
    return MADE["polynomial"]([a, 2.0, a * x])(x)


@case(1.5)
@case(-1.5)
def branches(x):
    return MADE["absolute"](x) + MADE["absolute"](x, x)


@case(1.5)
def generators(x):
    return MADE["series"](x)


@case(1.5)
def captured_variables(x):
    return MADE["counter"](x)


@case(1.5, 0.7)
def methods(x, a):
    return MADE["Steep"](a)(x) * MADE["Affine"](x)(a)


@case(1.5)
def recursion(x):
    return MADE["fibonacci"](x, 5)


@case(1.5)
def itself(x):
    return ad.stop_gradient(1.0) * MADE["series"](x * x)


# ---- dataclasses, named tuples -------------------------------------------------------------------


@dataclasses.dataclass
class Point:
    x: float
    y: float = 2.0
    z: list = dataclasses.field(default_factory=list)
    w: float = dataclasses.field(default=3.0, kw_only=True)


@dataclasses.dataclass(frozen=True, slots=True, order=True)
class Frozen:
    a: float
    b: float = 1.0
    scale: dataclasses.InitVar[float] = 2.0
    c: float = dataclasses.field(init=False, default=0.5)

    def __post_init__(self, scale):
        object.__setattr__(self, "b", self.b * self.a * scale)


@dataclasses.dataclass
class Derived(Point):
    k: float = 1.0

    def total(self):
        return self.x * self.y * self.w * self.k


@case(1.5, 0.7)
def dataclass_init(x, a):
    p = Point(x, w=a)
    return p.x * p.y * p.w + Point(a, y=x).y * len(p.z)


@case(1.5, 0.7)
def dataclass_frozen(x, a):
    p = dataclasses.replace(Frozen(x, a, scale=x), a=a, scale=3.0)
    return p.a * p.b + p.c if p >= Frozen(-9.0) and p == p else x


@case(1.5, 0.7)
def dataclass_inherited(x, a):
    return Derived(x, a, k=a).total() + Derived(x, w=x).total()


@case(1.5, 0.7)
def dataclass_as_dict(x, a):
    fields = dataclasses.asdict(Point(x, a))
    return fields["x"] * fields["y"] + dataclasses.astuple(Point(a))[0]


@case(1.5, 0.7)
def dataclass_in_a_function(x, a):
    @dataclasses.dataclass(kw_only=True)
    class Local:
        u: float = x * a
        v: float = dataclasses.field(default=x * x, init=False)

    return Local().u * Local(u=a).u * Local().v


Named = collections.namedtuple("Named", "u v", defaults=[4.0])


class Scaled(Named):
    def __new__(cls, u, **kwargs):
        return super().__new__(cls, u * u, **kwargs)


@case(1.5, 0.7)
def named_tuples(x, a):
    p = Named(x, a)._replace(v=a * x)
    return p.u * p.v + Named._make([a, x]).v * Named(v=x, u=a)[1] + Named(x).v * p._asdict()["u"]


@case(1.5, 0.7)
def named_tuple_subclass(x, a):
    return Scaled(x).u * Scaled(a, v=x).v + Named.__new__(Named, x).u


@case(1.5, 0.7)
def named_tuple_with_computed_defaults(x, a):
    class Typed(typing.NamedTuple):
        u: float
        v: float = x * a

    class Twice(Typed):
        def __new__(cls, u):
            return super().__new__(cls, 2.0 * u)

    return Typed(x).v * Twice(a).v + Twice(x).u


if sys.version_info >= (3, 13):

    @case(1.5, 0.7)
    def copy_replace(x, a):
        p, q = copy.replace(Frozen(x, a), a=a, scale=x), copy.replace(Named(x, a), u=a)
        return p.a * p.b + q.u * q.v


# ---- attrs ---------------------------------------------------------------------------------------


@attrs.define
class Body:
    mass: float
    speed: float = attrs.field(default=2.0)
    parts: list = attrs.field(factory=list)
    scale: float = attrs.field(default=3.0, kw_only=True, converter=lambda v: v * 2.0)
    _hidden: float = attrs.field(default=1.0, validator=attrs.validators.instance_of(float))

    @speed.validator
    def _positive(self, attribute, value):
        if value < 0.0:
            raise ValueError(attribute.name)

    def energy(self):
        return 0.5 * self.mass * self.speed**2 * self.scale * self._hidden + len(self.parts)


@attrs.frozen
class Pair:
    a: float
    b: float = attrs.field()

    @b.default
    def _squared(self):
        return self.a * self.a

    def __attrs_post_init__(self):
        object.__setattr__(self, "a", self.a * 2.0)


@attr.s(auto_attribs=True, hash=True)
class Old:
    v: float = attr.ib(default=1.5)


@case(1.5, 0.7)
def attrs_init(x, a):
    return Body(x, a, scale=a, hidden=x).energy() + Body(a).energy()


@case(1.5, 0.7)
def attrs_frozen(x, a):
    p = attrs.evolve(Pair(x), b=a)
    return p.a * p.b * Pair(x).b + attrs.astuple(Pair(x, a))[1]


@case(1.5)
def attrs_comparison(x):
    return Old(x).v * x if Old(x) == Old(x) else Old().v


@case(1.5, 0.7)
def attrs_as_dict(x, a):
    fields = attrs.asdict(Body(x, a))
    return fields["mass"] * fields["speed"]


# ---- decorators and dispatch ---------------------------------------------------------------------


@decorator.decorator
def doubled(f, *args, **kwargs):
    return 2.0 * f(*args, **kwargs)


@doubled
def product(x, y=2.0):
    return x * y


tripled = decorator.FunctionMaker.create(
    product, "return 3.0 * _call_(%(shortsignature)s)", {"_call_": product}, __wrapped__=product
)


@functools.singledispatch
def size(x):
    return x * x


@size.register
def _(x: list):
    return sum(map(size, x))


@case(1.5)
def decorated(x):
    return product(x) * product(x, y=x) + product(y=x, x=x)


@case(1.5)
def made_by_a_function_maker(x):
    return tripled(x) * tripled(x, x)


@case(1.5)
def single_dispatch(x):
    return size(x) * size([x, 2.0 * x])


def named_like(f, filename):
    """A function with the signature of `f`, made as astropy makes the ``__call__`` of its models:
    under the name and at the line of a file that says something else."""
    text = f"def __call__{f.__text_signature__}:\n    return _call(self, x, *rest, scale=scale)"
    namespace = {"_call": f}
    exec(compile("\n" * 4 + text, filename, "exec"), namespace)
    return namespace["__call__"]


def evaluate(self, x, *rest, scale=2.0):
    return scale * x * x + sum(rest)


evaluate.__text_signature__ = "(self, x, *rest, scale=2.0)"


class Model:
    __call__ = named_like(evaluate, __file__)


@case(1.5)
def under_the_name_of_a_file(x):
    model = Model()
    return model(x) + model(x, x, scale=x)


# ---- SciPy ---------------------------------------------------------------------------------------


@case(1.5, 0.7)
def parsed_arguments(x, a):
    args, loc, scale = scipy.stats.gamma._parse_args(x, scale=a)
    return args[0] * scale + loc


@case(0.3, 0.5, 1.2)
def normal_density(x, loc, scale):
    return scipy.stats.norm.logpdf(x, loc, scale=scale)


@case(2.5, 0.5, 1.2)
def gamma_density(x, loc, scale):
    return scipy.stats.gamma.pdf(x, 1.7, loc, scale)


# ---- all of this has no source -------------------------------------------------------------------


@pytest.mark.parametrize(
    "function",
    [
        Point.__init__,
        Frozen.__eq__,
        Named.__new__,
        Model.__call__,
        MADE["horner"],
        scipy.stats.norm._parse_args,
    ],
    ids=lambda f: f.__qualname__,
)
def test_there_is_no_source(function):
    function = function.__func__ if isinstance(function, types.MethodType) else function
    with pytest.raises(ad.errors.SourceError):
        find_source(function)
    assert function.__code__.co_name in ad.ir(function)


def test_restricted_builtins():
    text = "def f(xs):\n    y = 0.0\n    for x in xs[1:]:\n        y = y + x * x\n    return y"
    assert ad.gradient(made(text, "f", __builtins__={}), [1.0, 2.0, 3.0]) == ([0.0, 4.0, 6.0],)
