"""Objects: attributes, properties, inheritance, operators, slots, dataclasses."""

import copy
import dataclasses
import functools
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from tests.corpus.registry import case, made


class Particle:
    drag = 0.25

    def __init__(self, position, velocity):
        self.position = position
        self.velocity = velocity

    @property
    def energy(self):
        return 0.5 * self.velocity**2

    @property
    def speed(self):
        return abs(self.velocity)

    @speed.setter
    def speed(self, value):
        self.velocity = value * 2.0

    def step(self, dt):
        self.position = self.position + dt * self.velocity
        self.velocity -= dt * self.drag * self.velocity
        return self

    @staticmethod
    def force(x):
        return -x * x

    @classmethod
    def at_rest(cls, position):
        return cls(position, cls.drag * position)


class Charged(Particle):
    drag = 0.5

    def __init__(self, position, velocity, charge):
        super().__init__(position, velocity)
        self.charge = charge

    def step(self, dt):
        super().step(dt * self.charge)
        self.charge = self.charge * 0.5
        return self

    @property
    def energy(self):
        return super().energy * self.charge


class Dual:
    def __init__(self, re, du):
        self.re, self.du = re, du

    def __add__(self, other):
        other = other if isinstance(other, Dual) else Dual(other, 0.0)
        return Dual(self.re + other.re, self.du + other.du)

    __radd__ = __add__

    def __mul__(self, other):
        if not isinstance(other, Dual):
            return NotImplemented
        return Dual(self.re * other.re, self.re * other.du + self.du * other.re)

    def __rmul__(self, other):
        return Dual(other * self.re, other * self.du)

    def __neg__(self):
        return Dual(-self.re, -self.du)

    def __lt__(self, other):
        return self.re < other.re

    def __bool__(self):
        return self.re != 0

    def __float__(self):
        return float(self.re)

    def __eq__(self, other):
        return self.re == other.re

    def __hash__(self):
        return 1


class Buffer:
    def __init__(self, items):
        self.items = list(items)

    def __len__(self):
        return len(self.items)

    def __getitem__(self, k):
        return self.items[k]

    def __setitem__(self, k, value):
        self.items[k] = value

    def __delitem__(self, k):
        del self.items[k]

    def __contains__(self, value):
        return any(value == item for item in self.items)

    def __iadd__(self, other):
        self.items.extend(other)
        return self

    def __iter__(self):
        return iter(self.items)

    def __reversed__(self):
        return (item * 2 for item in reversed(self.items))


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self, a, b):
        self.a = a
        self.b = b


@dataclass
class Layer:
    weight: np.ndarray
    bias: float = 0.1
    history: list = field(default_factory=list)

    def __call__(self, x):
        self.history.append(x * self.bias)
        return np.tanh(self.weight * x + self.bias)


@dataclass(frozen=True)
class Frozen:
    a: float
    b: float = 2.0

    def __post_init__(self):
        object.__setattr__(self, "b", self.b * self.a)


class Shape(ABC):
    @abstractmethod
    def area(self): ...

    def doubled(self):
        return 2 * self.area()


class Disc(Shape):
    def __init__(self, r):
        self.r = r

    def area(self):
        return math.pi * self.r**2


class Square(Shape):
    def __init__(self, side):
        self.side = side

    def area(self):
        return self.side**2


@case(Particle(0.5, 1.5))
def object_argument(p):
    return p.position * p.velocity + p.drag * p.position


@case(Particle(0.5, 1.5), 0.3)
def object_changed_by_methods(p, dt):
    first = p.energy
    p.step(dt).step(dt * 2)
    return first * p.position + p.energy


@case(0.3)
def property_and_setter(x):
    p = Particle(x, -x)
    p.speed = x * x
    return p.speed + p.energy


@case(0.3, 0.4)
def inheritance_and_super(x, dt):
    p = Charged(x, 2.0, x * 3)
    p.step(dt).step(dt)
    return p.position + p.energy * p.charge


@case(0.3)
def static_and_class_methods(x):
    p = Charged.at_rest if False else Particle.at_rest
    return p(x).energy + Particle.force(x) + p(x).force(x * 2)


@case(0.3, 1.5)
def overloaded_operators(x, y):
    d = Dual(x, 1.0) * Dual(y, 0.5) + 2.0
    e = 3.0 + (x * d) + -d
    return e.re * d.du + float(max(d, e)) if d and d < e or True else 0.0


@case([0.3, 0.5, 0.9])
def overloaded_container_protocol(xs):
    b = Buffer(xs)
    b[0] = b[1] * b[2]
    b += [b[0] * 2, xs[0]]
    del b[1]
    total = sum(b) * len(b) + (0.9 in b) * b[-1]
    return total + sum(reversed(b)) + max(v for v in b)


@made
def callable_object():
    return Layer(np.array([0.4, -0.3]), 0.2), 0.7


@made
def bound_method_with_state():
    class Model:
        def __init__(self):
            self.w = np.array([0.4, -0.3])
            self.parts = {"b": [0.2]}

        def predict(self, x):
            return np.sum(self.w * x) + self.parts["b"][0] * x

    return Model().predict, 0.7


@case(Layer(np.array([0.4, -0.3])), 0.7)
def callable_object_as_argument(layer, x):
    return layer(layer(x).sum()).sum() + layer.history[1]


@case(0.7)
def slots(x):
    s = Slotted(x, 2.0)
    s.a = s.a * s.b
    s.b *= s.a
    return s.a + s.b


@case(Slotted(0.7, [0.3, 0.1]))
def slotted_argument(s):
    s.b[0] = s.a * s.b[1]
    return s.b[0] * s.a


@case(0.7)
def dataclass_built_inside(x):
    layer = Layer(np.array([x, x * x]), history=[x])
    return layer(x).sum() + sum(layer.history)


@case(0.7)
def frozen_dataclass(x):
    f = Frozen(x)
    g = dataclasses.replace(f, a=x * 2, b=1.0)
    return f.a * f.b + g.b


@case(Frozen(0.7))
def frozen_argument(f):
    return f.a * f.b


@case(0.7)
def dataclass_helpers(x):
    f = Frozen(x, 3.0)
    fields = dataclasses.asdict(f)
    names = [item.name for item in dataclasses.fields(f)]
    return fields["a"] * fields["b"] + sum(getattr(f, name) for name in names)


@case(0.7)
def class_inside_function(x):
    class Local:
        scale = x * 2

        def __init__(self, v):
            self.v = v

        def value(self):
            return self.v * self.scale + x

    class Derived(Local):
        offset = Local.scale * 3

        def value(self):
            return super().value() + self.offset

    return Local(1.5).value() * Derived(x).value()


@case(0.7)
def abstract_base(x):
    shapes = [Disc(x), Square(x * 2), Disc(0.5)]
    return sum(shape.doubled() for shape in shapes)


@case(0.7)
def dynamic_attributes(x):
    p = Particle(x, 1.0)
    setattr(p, "mass", x * x)
    for name in ("position", "mass"):
        setattr(p, name, getattr(p, name) * 2)
    del p.velocity
    missing = getattr(p, "velocity", x)
    return p.mass * p.position + missing * hasattr(p, "mass") + vars(p)["mass"]


@case(0.7)
def class_attribute_written(x):
    class Counter:
        total = 0.0

    for k in range(3):
        Counter.total += x * k
    return Counter.total * x


@case(0.7)
def getattr_hook(x):
    class Lazy:
        def __init__(self, v):
            self.v = v

        def __getattr__(self, name):
            if name.startswith("times"):
                return self.v * int(name[5:])
            raise AttributeError(name)

    lazy = Lazy(x)
    return lazy.times3 * lazy.v + getattr(lazy, "other", x)


@case(0.7)
def descriptor(x):
    class Squared:
        def __init__(self, name):
            self.name = name

        def __get__(self, obj, owner=None):
            return getattr(obj, self.name) ** 2

        def __set__(self, obj, value):
            setattr(obj, self.name, value + 1.0)

    class Model:
        a = Squared("_a")

    m = Model()
    m.a = x
    return m.a * x


@case(0.7)
def linked_objects(x):
    class Node:
        def __init__(self, value, following=None):
            self.value = value
            self.following = following

    head = None
    for k in range(4):
        head = Node(x * k, head)
    head.following.value = head.value * x
    total, node = 0.0, head
    while node is not None:
        total = total * x + node.value
        node = node.following
    return total


@case(0.7)
def cyclic_objects(x):
    class Node:
        pass

    a, b = Node(), Node()
    a.value, b.value = x, x * x
    a.other, b.other = b, a
    a.other.other.value = a.value * 3
    return a.value * b.value + b.other.other.value


@case(Particle(0.5, 1.5))
def same_object_in_two_places(p):
    pair = [p, {"again": p}]
    pair[0].position *= 2
    return pair[1]["again"].position * p.velocity


@case(0.7, Particle(0.5, [1.5]))
def argument_object_gets_new_fields(x, p):
    p.extra = x * p.position
    p.velocity.append(p.extra)
    p.position = x
    return sum(p.velocity) * p.extra


@case(0.7)
def metaclass_and_class_call(x):
    class Meta(type):
        def __call__(cls, v):
            obj = super().__call__(v)
            obj.v = obj.v * 2
            return obj

    class Thing(metaclass=Meta):
        def __init__(self, v):
            self.v = v

    return Thing(x).v * x


@case(0.7)
def constructor_with_new(x):
    class Clamped:
        def __new__(cls, v, low):
            obj = super().__new__(cls)
            obj.low = low * 2
            return obj

        def __init__(self, v, low):
            self.v = v * self.low

    return Clamped(x, x * x).v


@case(0.7)
def list_subclass(x):
    class Stack(list):
        def push(self, v):
            self.append(v * 2)
            return self

        def total(self):
            return sum(self)

    return Stack([x]).push(x * x).push(1.0).total() * x


class Color(Enum):
    RED = 1.5
    BLUE = 2.5


@case(0.7)
def enumeration(x):
    return x * Color.RED.value + sum(color.value * x**k for k, color in enumerate(Color))


@case(0.7, 0.3)
def matmul_and_call_operators(x, y):
    class Linear:
        def __init__(self, a):
            self.a = a

        def __matmul__(self, other):
            return Linear(self.a * other.a)

        def __call__(self, v):
            return self.a * v

        def __pow__(self, n):
            return self if n == 1 else self @ self ** (n - 1)

        def __imul__(self, k):
            self.a = self.a * k
            return self

    f = (Linear(x) @ Linear(y)) ** 3
    f *= x
    return f(2.0) + Linear(x)(y)


@case(0.7)
def methods_in_variables(x):
    p = Particle(x, 1.0)
    step = p.step
    step(x)
    unbound = Particle.step
    unbound(p, 2.0)
    return p.position + p.velocity


# ---- attributes that are looked up in several places ---------------------------------------------


class Plain:
    pass


class Around:
    """Shows the attributes of another object as its own, as the results of statsmodels do."""

    def __init__(self, inner):
        self._inner = inner

    def __getattribute__(self, name):
        def get(name):
            return object.__getattribute__(self, name)

        try:
            return get(name)
        except AttributeError:
            pass
        return getattr(get("_inner"), name) * 2.0


@case(0.7)
def attributes_of_another_object(x):
    inner = Plain()
    inner.value = x * x
    around = Around(inner)
    around.own = x
    return around.value * around.own + around._inner.value


class Made:
    def __init__(self, x):
        self.x = x

    def __getattr__(self, name):
        return self.x * len(name)

    @property
    def absent(self):
        self.x = self.x * 3.0
        raise AttributeError("absent")


class Asked(Made):
    def __getattribute__(self, name):
        return super().__getattribute__(name)


@case(0.7)
def attributes_made_when_they_are_not_found(x):
    total = 0.0
    for obj in (Made(x), Asked(x)):
        total += obj.abc * obj.x
        total += obj.absent * getattr(obj, "four", 1.0)
    return total


@case(0.7)
def attributes_that_only_the_object_may_have(x):
    obj = Made(x)
    try:
        return object.__getattribute__(obj, "other")
    except AttributeError:
        return obj.x * object.__getattribute__(obj, "x")


@dataclasses.dataclass(frozen=True)
class Cosmology:
    x: float

    @functools.cached_property
    def square(self):
        return self.x * self.x


@case(0.7)
def cached_properties_of_frozen_classes(x):
    """A cosmology of astropy; the cache is written past ``__setattr__``."""
    frozen = Cosmology(x)
    return frozen.square * frozen.square * frozen.x + frozen.__dict__["square"]


@case(1.3, Particle(0.5, -0.7))
def copies_of_objects_of_a_class_that_captures(x, particle):
    class Following(Particle):
        drag = x

        def __init__(self):
            super().__init__(particle.position * x, x)

    copied = copy.deepcopy(Following())
    return copied.position * copied.drag * particle.velocity


class Numbered(type):
    def __or__(cls, other):
        cls.united = cls.number * 2
        return cls, other


@case(1.3)
def unions_of_classes(x):
    class Plain:
        pass

    class Own(metaclass=Numbered):
        number = x

    union = Plain | None | list[int] | Own.__base__
    pair = Own | Plain
    return Own.united * (len(pair) + isinstance(Plain(), Plain | int)) + (union is None)


@case(1.3)
def the_classes_that_one_is_derived_from(x):
    class Plain:
        factor = x

    class Derived(Plain):
        pass

    return sum(x * kind.factor for kind in Derived.mro()[:-1]) * (Plain in Derived.mro())
