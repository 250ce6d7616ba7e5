"""Classes whose bodies compute with what is differentiated."""

import abc
import collections
import collections.abc
import dataclasses
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from tests.corpus.registry import case

scale = 2.0
T = TypeVar("T")


@case(0.7)
@case(-0.7)
def control_flow_in_body(x):
    class Table:
        total = 0.0
        values = []
        for i in range(4):
            if i == 2:
                continue
            total += x**i
            values.append(total * x)
        else:
            last = total * 2
        root = np.sqrt(x) if x > 0 else x * 2
        if x > 0:
            extra = np.sin(x)
        else:
            extra = x * x
        n = 3
        while n > 0:
            extra *= x
            n -= 1

    return Table.total * Table.last + sum(Table.values) + Table.root + Table.extra


@case(0.7, 0.3)
def names_of_body_and_function(x, y):
    class Names:
        before = x * scale
        scale = before * y
        after = scale + x
        squares = [x * v for v in (before, y) for _ in range(2)]
        method = lambda self, v=after: v * x + self.scale

        class Inner:
            deep = x * y
            scaled = deep * scale

        inner = Inner.scaled * after
        del before

    first = Names().method() + sum(Names.squares)
    x = x * 3
    return first * Names().method() + Names.inner + Names.Inner.deep + hasattr(Names, "before")


@case(0.7)
def nonlocal_and_private_in_body(x):
    total = x

    class Private:
        nonlocal total
        total = total * x
        __secret = total + x
        __twice: float = __secret * 2

        def get(self):
            return self.__secret * self.__twice

    return Private().get() * total


@case(0.7)
def attribute_rebound_on_class(x):
    class Rebound:
        rate = x * x

        @classmethod
        def grow(cls):
            cls.rate = cls.rate * x
            return cls

    first = Rebound.rate
    Rebound.grow().rate *= 2
    obj = Rebound()
    obj.rate += x
    return first + Rebound.rate * obj.rate


@case(np.array([0.5, -1.0, 2.0]))
def arrays_in_body(w):
    class Layer:
        weights = w * 2
        buffer = np.zeros(3)
        buffer[1:] = w[:2]
        buffer *= weights

        def apply(self):
            return self.weights @ self.buffer

    Layer.buffer[0] = w[2]
    return Layer().apply() + Layer.weights.sum()


@case(0.7)
def decorators_and_defaults_in_body(x):
    class Decorated:
        def twice(f):
            return lambda self, *args: x * f(self, *args) * 2

        @twice
        def value(self, v, k=x * 3):
            return v * k

        @property
        def half(self):
            return self.rate / 2

        rate = x + 1

        @staticmethod
        def plain(v, k=rate):
            return v * k

        @classmethod
        def make(cls, v=x):
            made = cls()
            made.rate = v * cls.rate
            return made

    return Decorated().value(x) + Decorated().half * Decorated.plain(2.0) + Decorated.make().half


@case(0.7)
def class_in_a_loop(x):
    total = 0.0
    for k in range(3):

        class Step:
            value = x * (k + 1)
            shifted = value + total

        total = total * x + Step.shifted * Step.value
    return total


@case(0.7)
def exception_in_body(x):
    seen = []
    try:

        class Broken:
            first = x * 2
            seen.append(first)
            if first > 1:
                raise ValueError(first * x)
            second = 1.0
    except ValueError as error:
        return seen[0] * error.args[0]
    return x


@case(0.7)
def metaclass_without_new(x):
    class Meta(type):
        def total(cls):
            return cls.a * x

    class Base(metaclass=Meta):
        a = x * 2

    class Derived(Base):
        a = Base.total() * x

    return Derived.total()


@case(0.7)
def abstract_and_generic(x):
    class Shape(abc.ABC):
        side = x * 2

        @abc.abstractmethod
        def area(self): ...

    class Square(Shape, Generic[T]):
        factor = Shape.side + 1

        def area(self):
            return self.side * self.factor

    return Square[int]().area() * Square.side


@case(0.7, 0.3)
def dataclass_with_computed_default(x, y):
    @dataclasses.dataclass
    class Local:
        a: float
        b: float = x * 2
        c: list = dataclasses.field(default_factory=lambda: [x * y])

        def total(self):
            return self.a * self.b + self.c[0]

    return Local(y).total() + Local(y, x).total() * Local.b


@case(0.7)
def named_tuple_with_methods(x):
    class Point(NamedTuple):
        a: float
        b: float = 2.0

        def total(self):
            return self.a * self.b * x

    return Point(x).total() + Point(x, x * x).total()


@case(0.7, 0.3)
def named_tuple_with_computed_default(x, y):
    class Point(NamedTuple):
        a: float
        b: float = x * 2

    Pair = collections.namedtuple("Pair", "a b c", defaults=[y, x * y])
    pair = Pair(x)
    return Point(y).b * Point(x, y).b + Point(y)[1] + pair.b * pair.c


@case(0.7, 0.3)
def dataclasses_with_defaults(x, y):
    @dataclasses.dataclass(slots=True)
    class Slotted:
        a: float = x * 2
        b: float = dataclasses.field(default=x * y)

    @dataclasses.dataclass
    class Derived(Slotted):
        c: float = Slotted(y).b * x
        d: float = dataclasses.field(default=y * y)

    Made = dataclasses.make_dataclass("Made", [("a", float), ("b", float, x * x)])
    d = Derived(b=x)
    return Slotted().a * Slotted(x).b + d.a * d.b + d.c * Derived.d + d.d + Made(y).b * Made.b


@case(0.7)
def metaclass_with_attributes(x):
    class Meta(type):
        rate = x * 2

        @property
        def double(cls):
            return cls.value * 2

        def total(cls):
            return cls.value + cls.rate

    class Made(metaclass=Meta):
        value = x + 1

    product = Made.rate * Made.double * Made.total()
    del Made.value
    Made.value = product * x
    return Made.value + product


@case(0.7)
def subscripts_of_classes(x):
    class Meta(type):
        def __getitem__(cls, k):
            return cls.rates[k] * x

    class ByMeta(metaclass=Meta):
        rates = {"a": x * 2}

    class ByClass:
        rates = [x, x * x]

        def __class_getitem__(cls, k):
            return cls.rates[k] * 3

    return ByMeta["a"] * ByClass[1] + ByClass[0] * len(dict[str, int].__args__)


@case(0.7)
def class_made_by_type(x):
    Made = type("Made", (), {"a": x * 2, "get": lambda self: self.a * x})
    Derived = type("Derived", (Made,), dict(b=Made.a * 3))
    return Made().get() + Derived.b * Derived.a


@case(0.7)
def body_that_looks_at_itself(x):
    class Looks:
        a = x * 2
        locals()["b"] = a * x
        c = vars()["b"] + locals()["a"]
        total = sum([v for k, v in sorted(locals().items()) if len(k) == 1])

    return Looks.total * Looks.c


@case(0.7)
def class_attributes_by_name(x):
    class Named:
        a = x * 2
        b = a * x

    read = getattr(Named, "a") * vars(Named)["b"]
    setattr(Named, "a", Named.b * x)
    return read + Named.__dict__["a"]


@case(0.7)
def super_in_class_with_computed_body(x):
    class Base:
        rate = x * 2

        def value(self):
            return self.rate

        def kind(self):
            return __class__

    class Derived(Base):
        rate = Base.rate * 3

        def value(self):
            return super().value() * super().rate + self.kind().rate

    return Derived().value()


@case(0.7)
def slots_and_computed_defaults(x):
    class Slotted:
        __slots__ = ("v", "w")
        start = x * 3

        def __init__(self):
            self.v = self.start
            self.w = type(self).start * x

    s = Slotted()
    s.v *= s.w
    return s.v + s.w


@case(1.3)
def an_attribute_that_answers_all(x):
    """What stands in a class is asked for nothing by making an instance."""
    asked = []

    class Answers:
        def __getattr__(self, name):
            asked.append(name)
            raise AttributeError(name)

    class Holder:
        answers = Answers()

        def __new__(cls):
            return object.__new__(cls)

    class Derived(Holder):
        pass

    return x * x * (1 + len(asked) + isinstance(Derived(), Holder))
