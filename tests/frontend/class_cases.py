"""Functions with classes whose bodies do more than define methods."""

# What these rules complain of is here on purpose.
# ruff: noqa: B012, F821, F841, PLE0118

import abc
import enum
import typing

from tests.frontend.cases import Log, case

outside = "global"
shared = ["global"]
__hidden = "module"


def contents(cls):
    """What a class has, in its order."""
    unlike = ("__dict__", "__weakref__")
    return {name: plain(value) for name, value in vars(cls).items() if name not in unlike}


def plain(value):
    if isinstance(value, staticmethod | classmethod):
        value = value.__func__
    if isinstance(value, property):
        value = value.fget
    if callable(value) and hasattr(value, "__qualname__"):
        return value.__qualname__, value.__module__, value.__doc__
    return value


@case(3)
def what_every_class_has(n):
    class Empty:
        pass

    class Documented:
        """First line.

        Indented.
        """

        def method(self):
            """Its own."""
            self.a = self.b = n

        @staticmethod
        def static(x):
            return x + n

    return contents(Empty), contents(Documented), Documented.static(1)


@case(3)
@case(0)
def control_flow_in_a_body(n):
    class A:
        total = 0
        for i in range(n):
            total += i
            if i == 1:
                continue
            last = i
        else:
            finished = True
        while total > 2:
            total -= 1
        kept = n
        first, *rest = [n, n + 1, total]
        (second := n + 10)
        chosen = total if n else second
        del kept

    return contents(A)


@case(3)
def names_of_a_body(n):
    x = "function"
    outside = "function"

    class A:
        before = x
        mine = [x for _ in range(2)]
        get = lambda self: x
        global shared
        shared = [n]
        seen = shared
        again = [shared for _ in range(1)]

        class Inner:
            y = n
            z = x

        after = Inner.y
        outside = outside * 2

    x = "changed"
    return A.before, A.mine, A().get(), A.seen, A.again, A.Inner.z, A.after, A.outside, shared


@case(3)
def a_name_of_both_scopes(n):
    x = "function"

    class A:
        x = "class"
        z = x
        del x
        w = [x for _ in range(1)]

        def get(self):
            return x

    return A.z, A.w, A().get(), hasattr(A, "x")


@case(3)
def nonlocal_in_a_body(n):
    total = 0

    class A:
        nonlocal total
        total += n
        own = total

        class B:
            nonlocal total
            total = total * 2
            del total

    try:
        return A.own, total
    except NameError:
        total = 1
        return A.own, total


@case()
def name_that_is_missing():
    class A:
        y = 1
        del y
        del y


@case()
def name_that_is_read_too_early():
    class A:
        y = later
        later = 1


@case()
def captured_name_that_is_unbound():
    class A:
        y = later

    later = 1


@case(3)
def private_names(n):
    class Outer:
        __own = n
        read = __own
        __hidden: int = 4

        def __method(self, __x=__own):
            return __x, self.__own

        def call(self):
            return self.__method()

        class __Inner:
            __deeper = 5

        for __i in range(2):
            pass
        inner = __Inner
        squares = [__j * __j for __j in range(3)]
        import math as __math

    return contents(Outer), Outer().call(), contents(Outer.inner)


@case(3)
def annotated_body(n):
    log = Log()

    class A:
        x: int = n
        y: log("y") = log(1)
        (z): log("z") = 4
        table = {}
        table[log("key")]: log("annotation")
        table["a"]: log("value") = 6
        if n > 5:
            w: str

    class B(A):
        u: float
        __v: [i for i in range(n)] = 5

    return list(A.__annotations__.items()), list(B.__annotations__.items()), log, A.table, A.z


@case(3)
def annotations_made_before(n):
    class A:
        __annotations__ = {"given": n}
        x: int

    return A.__annotations__


@case(3)
def class_cell(n):
    class Base:
        def value(self):
            return n

    class A(Base):
        def value(self):
            return super().value() + 1

        class Inner:
            def me(self):
                return __class__.__qualname__

        def me(self):
            return __class__, [__class__.__name__ for _ in range(1)]

        names = sorted(name for name in locals() if "cell" in name)

    return A().value(), A().me()[0] is A, A().me()[1], A.Inner().me(), A.names, contents(A)


@case(3)
def class_in_a_method(n):
    class A:
        def make(self):
            class B:
                around = __class__

                def own(self):
                    return n

            return B, __class__

    made, cls = A().make()
    return made.around is A, cls is A, made().own()


@case(3)
def decorators_in_a_body(n):
    log = Log()

    class A:
        def twice(f):
            return lambda self, *args: 2 * f(self, *args)

        @twice
        def plain(self, y=n):
            return y

        @property
        def x(self):
            return self._x

        @x.setter
        def x(self, value):
            self._x = value + n

        @classmethod
        @log
        def made(cls, value):
            self = cls()
            self.x = value
            return self

        @staticmethod
        def add(a, b=n):
            return a + b

        del twice

    return A().plain(), A.made(4).x, A.add(1), log, hasattr(A, "twice")


@case(3)
def functions_and_comprehensions_in_a_body(n):
    class A:
        k = n
        pairs = {i: j for i in range(k) for j in range(i)}
        later = [lambda: i for i in range(n)]
        nested = [[i * j for j in range(i)] for i in range(k)]
        total = sum(i for i in range(k))
        odd = {i for i in range(k) if i % 2}
        power = lambda self, e=k: n**e

    return A.pairs, [f() for f in A.later], A.nested, A.total, A.odd, A().power()


@case(3)
def frame_functions_in_a_body(n):
    class A:
        x = n
        names = [name for name in dir() if not name.startswith("__")]
        locals()["y"] = x + 1
        z = eval("x + y")
        same = locals() is vars()

    return A.x, A.names, A.y, A.z, A.same


@case(3)
def raising_in_a_body(n):
    log = Log()
    try:

        class A:
            log(n)
            x = 1
            raise ValueError(n)
    except ValueError as error:
        log(error.args)
    return log


@case(3)
def hooks_see_the_class(n):
    log = Log()

    class Named:
        def __set_name__(self, owner, name):
            log((owner.__name__, name))

    class Base:
        def __init_subclass__(cls, scale=1, **rest):
            super().__init_subclass__(**rest)
            cls.scaled = cls.x * scale

    class A(Base, scale=n):
        x = 5
        field = Named()

    return log, A.scaled


@case(3)
def metaclasses(n):
    log = Log()

    class Meta(type):
        @classmethod
        def __prepare__(meta, name, bases, **keywords):
            log((name, len(bases), keywords))
            return {"prepared": n}

        def __new__(meta, name, bases, namespace, **keywords):
            log(sorted(namespace))
            return super().__new__(meta, name, bases, {**namespace, "added": n})

        def __init__(cls, name, bases, namespace, **keywords):
            cls.late = keywords

    class A(metaclass=Meta, key=1):
        x = prepared + 1

    class B(A):
        y = A.x

    return log, A.x, A.added, A.late, B.y, B.late, type(B) is Meta


@case(3)
def a_metaclass_that_is_no_class(n):
    def make(name, bases, namespace):
        return name, bases, namespace["x"], namespace["__qualname__"]

    class A(metaclass=make):
        x = n

    return A


@case(3)
def a_namespace_that_is_no_dict(n):
    class Space(dict):
        def __missing__(self, key):
            if key.startswith("magic"):
                return key
            raise KeyError(key)

    class Meta(type):
        @classmethod
        def __prepare__(meta, name, bases):
            return Space()

    class A(metaclass=Meta):
        x = magic_word
        y = n
        z = [outside]

    return A.x, A.y, A.z


@case(3)
def classes_of_the_standard_library(n):
    class Color(enum.Enum):
        RED = n
        BLUE = RED + 1

        @property
        def twice(self):
            return self.value * 2

    class Point(typing.NamedTuple):
        x: int
        y: int = n

        def total(self):
            return self.x + self.y

    class Shape(abc.ABC):
        sides = n

        @abc.abstractmethod
        def area(self): ...

    class Square(Shape):
        def area(self):
            return self.sides

    T = typing.TypeVar("T")

    class Box(typing.Generic[T]):
        content: T
        size = n

    try:
        Shape()
    except TypeError as error:
        abstract = "abstract" in str(error)
    return (
        [c.value for c in Color],
        Color.BLUE.twice,
        Point(1).total(),
        Point._field_defaults,
        abstract,
        Square().area(),
        Box[int].__origin__ is Box,
        Box.__orig_bases__ == (typing.Generic[T],),
        Box.size,
    )
