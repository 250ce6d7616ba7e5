"""Attributes as memory: slots, descriptors, dictionaries that are replaced, cells, modules."""

import math
import threading
import types

import numpy as np

from tests.corpus.registry import case

X = np.array([0.3, 0.8, 1.4, -0.6])


@case(1.5)
def super_slot(x):
    class A:
        __slots__ = ("v",)

    class B(A):
        def f(self):
            return super().v * 2

        def s(self, v):
            super().__setattr__("v", v * 3)

        def d(self):
            super().__delattr__("v")

    b = B()
    b.v = x
    r = b.f()
    b.s(x)
    r *= b.f()
    b.d()
    return r if not hasattr(b, "v") else 0 * x


@case(1.5)
def super_descriptor(x):
    class D:
        def __get__(self, o, t):
            return o.z * x

        def __set__(self, o, v):
            o.z = v * x

    class A:
        d = D()

    class B(A):
        @property
        def d(self):
            return super().d * 2

        def w(self, v):
            D.__set__(vars(A)["d"], self, v)

    b = B()
    b.w(x)
    return b.d


@case(1.5)
def bunch(x):
    class Bunch(dict):
        def __init__(self, **k):
            super().__init__(**k)
            self.__dict__ = self

    b = Bunch(a=x)
    b.c = b.a * x
    b["a"] *= 2
    b.update(e=x)
    del b.c
    b.q = b["e"]
    vars(b)["z"] = x
    return b.a * b["q"] * b.z * len(b) + sum(b.values())


@case(1.5)
def bunch2(x):
    class B:
        def __init__(self, **k):
            self.__dict__.update(k)

    b = B(a=x, l=[x])
    b.l.append(b.a)
    return sum(b.l) * b.a


@case(1.5)
def borg(x):
    class Borg:
        _s = {}

        def __init__(self):
            self.__dict__ = self._s

    a = Borg()
    a.v = x
    b = Borg()
    b.v *= x
    return a.v * x


@case(1.5)
def dict_replaced(x):
    class D:
        pass

    d = D()
    d.v = x
    old = d.__dict__
    d.__dict__ = {"v": x * x, "w": d.v}
    d.w *= x
    old["v"] *= 5
    return d.v * d.w * old["v"]


@case(1.5)
def dict_swapped(x):
    class D:
        pass

    a, b = D(), D()
    a.v = x
    b.v = x * x
    a.__dict__, b.__dict__ = b.__dict__, a.__dict__
    a.v *= x
    return a.v * b.v * b.v


@case(1.5)
def cell_contents(x):
    y = x * x

    def f():
        return y

    a = f.__closure__[0].cell_contents
    f.__closure__[0].cell_contents = x * 3
    return f() * y * a


@case(1.5)
def cells_by_hand(x):
    c = types.CellType(x)
    c.cell_contents *= x
    f = types.FunctionType((lambda v: lambda: v)(1).__code__, {}, "f", None, (c,))
    r = f()
    del c.cell_contents
    try:
        c.cell_contents
    except ValueError:
        r *= 2
    return r


@case(X)
def resized_same(x):
    y = x * 2
    np.resize(y, (2, 2))
    y = y.reshape(2, 2)
    return np.sum(y[0] * y[1])


@case(1.5)
def class_descriptor(x):
    class ND:
        def __get__(self, o, t):
            return t.k * x

        def __delete__(self, o):
            o.gone = x

    class A:
        k = 2.0 * x
        d = ND()

    class B(A):
        k = 3.0

    a = A()
    del a.d
    return A.d * B.d * B().d * a.gone


@case(1.5)
def classproperty(x):
    class cp:
        def __init__(self, f):
            self.f = f

        def __get__(self, o, t):
            return self.f(t)

    class A:
        v = x

        @cp
        def w(cls):
            return cls.v * x

    return A.w * A().w


@case(1.5)
def lazy_descriptor(x):
    class lazy:
        def __init__(self, f):
            self.f, self.n = f, f.__name__

        def __get__(self, o, t):
            if o is None:
                return self
            v = o.__dict__[self.n] = self.f(o)
            return v

    class A:
        n = 0

        @lazy
        def w(self):
            self.n += 1
            return self.v * x

    a = A()
    a.v = x
    r = a.w * a.w
    a.v = 3.0
    r *= a.w
    del a.w
    return r * a.w * a.n


@case(1.5)
def delattr_hooks(x):
    class A:
        def __init__(self):
            self.v = x
            self.log = []

        def __delattr__(self, n):
            self.log.append(getattr(self, n) * 2)
            object.__delattr__(self, n)

    a = A()
    del a.v
    return sum(a.log) * (1 if hasattr(a, "v") else x)


@case(1.5)
def getattr_default_on_class(x):
    class A:
        v = x

    return getattr(A, "v") * getattr(A, "w", x) * getattr(A(), "w", A.v)


@case(1.5)
def module_like(x):
    import sys

    m = types.ModuleType("m_probe")
    m.__dict__["k"] = x
    m.k *= 2
    sys.modules["m_probe"] = m
    import m_probe

    r = m_probe.k * x
    del sys.modules["m_probe"]
    return r


@case(1.5)
def type_setattr(x):
    class A:
        pass

    type.__setattr__(A, "v", x)
    setattr(A, "w", A.v * x)
    r = A.v * A.w
    type.__delattr__(A, "v")
    return r * (1 if hasattr(A, "v") else 2)


@case(1.5)
def object_new_init(x):
    class A:
        def __init__(self, v):
            self.v = v

    a = object.__new__(A)
    A.__init__(a, x)
    a.__init__(a.v * x)
    b = A.__new__(A)
    b.__dict__.update(a.__dict__)
    return b.v * a.v


@case(1.5)
def instance_dict_iter(x):
    class A:
        pass

    a = A()
    a.p, a.q = x, x * x
    for k in list(vars(a)):
        setattr(a, k, getattr(a, k) * 2)
    for k, v in a.__dict__.items():
        a.__dict__[k] = v * x
    return sum(a.__dict__.values()) + len(a.__dict__)


@case(0.7)
def slots_and_getattr_of_anything(x):
    class V:
        __slots__ = ("v",)

        def __init__(self, v):
            self.v = v

        def __getattr__(self, name):
            return getattr(math, name)(self.v)

    u = V(x * x)
    w = V(u.sin * u.v)
    return [w, w.cos][1] * u.exp


OF_THE_THREAD = threading.local()


@case(X)
def attributes_of_the_thread(x):
    own = threading.local()
    own.value, own.parts = x[0] ** 2, [x[1], x * 2]
    own.value *= x[2]
    own.parts[1][0] *= own.parts[0]
    try:
        buffer = OF_THE_THREAD.buffer
    except AttributeError:
        buffer = OF_THE_THREAD.buffer = np.zeros(4)
    buffer[:] = x * own.value
    buffer[1] *= x[0]
    total = own.value * own.parts[1].sum() + buffer.sum()
    del own.value
    return total * (1.0 if hasattr(own, "value") else 2.0)


class Measured:
    __slots__ = ("_length", "log")

    def __init__(self, length):
        self._length, self.log = length, []

    @property
    def length(self):
        return self._length * 2.0

    @length.setter
    def length(self, value):
        self.log.append(value)
        self._length = value * value

    @length.deleter
    def length(self):
        self.log.append(self._length)
        del self._length


class Limited(Measured):
    """A property that goes on to that of the class it is derived from."""

    __slots__ = ()

    @property
    def length(self):
        return Measured.length.__get__(self, Limited) + 1.0

    @length.setter
    def length(self, value):
        Measured.length.__set__(self, value * 3.0 if value < 1.0 else value)

    @length.deleter
    def length(self):
        Measured.length.__delete__(self)


@case(0.7, 1.5)
def properties_by_their_methods(x, y):
    obj = Limited(x)
    first = obj.length
    obj.length = x * y
    Measured.length.fset(obj, Measured.length.fget(obj) * y)
    total = first * obj.length
    del obj.length
    try:
        return Measured.length.__get__(obj)
    except AttributeError:
        property.__set__(Limited.length, obj, y)
    if Limited.length.__get__(None, Limited) is not Limited.length:
        return x
    return total * obj.length + sum(obj.log)


class Stretching:
    """Gives its factor to classes, what it makes of the object to objects."""

    def __init__(self, factor):
        self.factor = factor

    def __get__(self, obj, kind=None):
        return self.factor if obj is None else obj.held * self.factor

    def __set__(self, obj, value):
        obj.held = value * self.factor


class Extended:
    stretched = Stretching(3.0)
    shown = 2.0

    @property
    def p(self):
        return self.held * 2.0

    @p.setter
    def p(self, value):
        self.held = value * 3.0

    @p.deleter
    def p(self):
        self.held = 4.0

    def times(self, x):
        return self.held * x


class Extending(Extended):
    shown = None

    @property
    def p(self):
        return super().p + 1.0

    @p.setter
    def p(self, value):
        super(Extending, type(self)).p.fset(self, value * 17.0)

    @p.deleter
    def p(self):
        super(Extending, Extending).p.__delete__(self)

    def all_of_the_base(self):
        above = super(Extending, type(self))
        total = above.p.fget(self) * above.p.__get__(self) + above.stretched * self.held
        return total + above.times(self, 2.0) * above.shown


class ExtendingTwice(Extending):
    @property
    def p(self):
        return super().p ** 2

    @p.setter
    def p(self, value):
        super(__class__, type(self)).p.__set__(self, value * self.held)

    def shown_above(self):
        return super().shown


@case(1.3, 0.4)
def super_of_a_class_gives_descriptors_themselves(x, y):
    one, two = Extending(), ExtendingTwice()
    one.p, two.held = x, y
    two.p = x * y
    total = one.p * two.p + one.all_of_the_base() * two.all_of_the_base()
    del one.p
    return total * one.p * y


@case(1.3, 0.4)
def none_above_a_value(x, y):
    """What is `None` in the next class hides what is further away."""
    return x * y if ExtendingTwice().shown_above() is None else x
