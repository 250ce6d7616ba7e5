"""What runs while a class is made: hooks and metaclasses; abstract and generic classes."""

import collections
import types
from abc import ABC, ABCMeta, abstractmethod
from typing import Generic, Protocol, TypeVar, runtime_checkable

from tests.corpus.registry import case

T = TypeVar("T")


class Weighted:
    """A class outside, which is told of its subclasses by name."""

    def __init_subclass__(cls, weight=1.0):
        cls.weight = weight


# ---- init_subclass, set_name, class_getitem
@case(1.5)
def init_subclass(x):
    class Base:
        reg = []

        def __init_subclass__(cls, /, k=1.0, **kw):
            super().__init_subclass__(**kw)
            cls.k = k * 2
            Base.reg.append(cls)

    class A(Base, k=x):
        pass

    class B(A, k=x * x):
        pass

    return A().k * B.k * sum(c.k for c in Base.reg)


@case(1.5)
def init_subclass_registry(x):
    class Plugin:
        plugins = {}

        def __init_subclass__(cls, name=None, **kw):
            super().__init_subclass__(**kw)
            Plugin.plugins[name or cls.__name__] = cls

        def run(self, v):
            return v

    class Sq(Plugin, name="sq"):
        def run(self, v):
            return v * v

    class Cu(Plugin):
        def run(self, v):
            return super().run(v) * v * v

    return sum(p().run(x) for p in Plugin.plugins.values())


@case(1.5)
def set_name(x):
    class D:
        def __init__(self, v):
            self.v = v

        def __set_name__(self, o, n):
            self.n = n
            o.total = getattr(o, "total", 0.0) + self.v

    class A:
        a = D(x)
        b = D(x * x)

    return A.total * A.a.v


@case(1.5)
def set_name_validated(x):
    class Positive:
        def __set_name__(self, owner, name):
            self.name = "_" + name

        def __get__(self, obj, owner=None):
            return self if obj is None else getattr(obj, self.name)

        def __set__(self, obj, value):
            if value <= 0:
                raise ValueError(self.name)
            setattr(obj, self.name, value)

    class P:
        w = Positive()
        h = Positive()

        def __init__(self, w, h):
            self.w = w
            self.h = h

        def area(self):
            return self.w * self.h

    p = P(x, x * 2)
    try:
        p.w = -x
    except ValueError:
        p.h += x
    return p.area()


@case(1.5)
def set_name_list(x):
    fields = []

    class F:
        def __init__(self, d):
            self.d = d

        def __set_name__(self, o, n):
            fields.append((n, self.d))

    class M:
        a = F(x)
        b = F(2.0)

    return sum(d for n, d in fields) * x


@case(1.5)
def class_getitem(x):
    class A:
        def __class_getitem__(cls, k):
            return k * x

    class V:
        def __class_getitem__(cls, n):
            return type(f"V{n}", (cls,), {"n": n})

        def __init__(self, v):
            self.v = v * self.n

    return A[3.0] * V[2](x).v


@case(1.5)
def class_getitem_alias(x):
    class A:
        __class_getitem__ = classmethod(types.GenericAlias)

        def __init__(self, v):
            self.v = v

    return A[int](x).v * A[float](x * x).v


# ---- generic, protocol, abc
@case(1.5)
def generic_stack(x):
    class Stack(Generic[T]):
        def __init__(self) -> None:
            self.items: list[T] = []

        def push(self, v: T) -> "Stack[T]":
            self.items.append(v)
            return self

        def pop(self) -> T:
            return self.items.pop()

    s = Stack[float]()
    s.push(x).push(x * x)

    class Sub(Stack[float]):
        def pop(self):
            return super().pop() * 2

    u = Sub()
    u.push(x)
    return s.pop() * s.pop() * u.pop()


@case(1.5)
def generic_with_args(x):
    U = TypeVar("U", bound=float)

    class Pair(Generic[T, U]):
        first: T

        def __init__(self, a: T, b: U):
            self.first, self.second = a, b

        def swap(self) -> "Pair[U, T]":
            return Pair[U, T](self.second, self.first)

    p = Pair[float, float](x, x * 2).swap()
    return p.first * p.first * p.second


@case(1.5)
def protocol(x):
    @runtime_checkable
    class HasArea(Protocol):
        def area(self) -> float: ...

    class Sq:
        def area(self):
            return x * x

    class Impl(HasArea):
        def area(self):
            return x * 3

    s = 0.0
    for o in (Sq(), Impl(), 3):
        if isinstance(o, HasArea):
            s += o.area()
    return s


@case(1.5)
def protocol_with_state(x):
    class Pr(Protocol[T]):
        v: T

        def get(self) -> T:
            return self.v

    class Im(Pr[float]):
        def __init__(self, v):
            self.v = v

    return Im(x).get() * x


@case(1.5)
def abstract(x):
    class Base(ABC):
        @abstractmethod
        def f(self):
            return x

        @property
        @abstractmethod
        def p(self): ...
        @staticmethod
        @abstractmethod
        def s(v): ...
        @classmethod
        @abstractmethod
        def c(cls, v): ...
        def total(self):
            return self.f() * self.p * self.s(x) * self.c(x).v

    class Im(Base):
        def __init__(self, v):
            self.v = v

        def f(self):
            return super().f() * self.v

        @property
        def p(self):
            return self.v * 2

        @staticmethod
        def s(v):
            return v * v

        @classmethod
        def c(cls, v):
            return cls(v * v)

    try:
        Base()
    except TypeError as e:
        k = 2.0
    return Im(x).total() * k


@case(1.5)
def abc_register(x):
    class B(ABC):
        pass

    @B.register
    class C:
        def __init__(self, v):
            self.v = v

    class S(metaclass=ABCMeta):
        @classmethod
        def __subclasshook__(cls, C):
            return hasattr(C, "go") or NotImplemented

    class G:
        def go(self):
            return x

    return C(x).v * isinstance(C(x), B) + G().go() * issubclass(G, S) + x * x * isinstance(3, S)


@case(1.5)
def collections_abc_sub(x):
    class V(collections.abc.Sequence):
        def __init__(self, *v):
            self.v = v

        def __len__(self):
            return len(self.v)

        def __getitem__(self, i):
            return self.v[i]

    class M(collections.abc.MutableMapping):
        def __init__(self):
            self.d = {}

        def __getitem__(self, k):
            return self.d[k] * 2

        def __setitem__(self, k, v):
            self.d[k] = v

        def __delitem__(self, k):
            del self.d[k]

        def __iter__(self):
            return iter(self.d)

        def __len__(self):
            return len(self.d)

    v = V(x, x * x)
    m = M()
    m.update(a=x, b=x * x)
    m.setdefault("c", x)
    q = m.pop("a")
    return sum(v) * sum(m.values()) * q + sum(reversed(v)) + v.index(x) * x + (x in v) * x


# ---- metaclasses
@case(1.5)
def metaclass(x):
    class M(type):
        reg = {}

        def __new__(m, n, b, ns, **k):
            c = super().__new__(m, n, b, ns)
            c.scale = k.get("scale", 1.0)
            M.reg[n] = c
            return c

        def __init__(c, n, b, ns, **k):
            super().__init__(n, b, ns)

        def __call__(c, *a):
            o = super().__call__(*a)
            o.made = c.scale
            return o

        def __getitem__(c, k):
            return c.scale * k

    class A(metaclass=M, scale=x):
        def __init__(self, v):
            self.v = v

    class B(A, scale=x * 2):
        pass

    a = A(x)
    b = B(x)
    return a.v * a.made * A[x] + M.reg["A"](x).v * b.made


@case(1.5)
def metaclass_namespace(x):
    class M(type):
        def __new__(m, n, b, ns):
            ns["extra"] = ns["w"] * x
            ns.pop("gone")
            return type.__new__(m, n, b, ns)

    class A(metaclass=M):
        w = x * 2
        gone = 3.0

    return A.extra * A.w * (not hasattr(A, "gone"))


@case(1.5)
def metaclass_prepare(x):
    class Log(dict):
        def __init__(self):
            super().__init__()
            self.log = []

        def __setitem__(self, k, v):
            self.log.append(k)
            super().__setitem__(k, v)

    class M(type):
        @classmethod
        def __prepare__(m, n, b):
            return Log()

        def __new__(m, n, b, ns):
            c = super().__new__(m, n, b, dict(ns))
            c.order = [k for k in ns.log if not k.startswith("__")]
            return c

    class A(metaclass=M):
        p = 1.0
        q = 2.0

    return x * len(A.order) * A.q


@case(1.5)
def metaclass_prepare_active(x):
    class M(type):
        @classmethod
        def __prepare__(m, n, b):
            return {"seed": x}

        def __new__(m, n, b, ns):
            return super().__new__(m, n, b, ns)

    class A(metaclass=M):
        w = seed * x  # noqa: F821  it is in the namespace

    return A.w * A.seed


@case(1.5)
def singleton_meta(x):
    class S(type):
        _inst = {}

        def __call__(cls, *a, **k):
            if cls not in cls._inst:
                cls._inst[cls] = super().__call__(*a, **k)
            return cls._inst[cls]

    class C(metaclass=S):
        def __init__(self, v):
            self.v = v

    C(x)
    return C(x * x).v * C(1.0).v


@case(1.5)
def metaclass_function(x):
    def meta(n, b, ns):
        ns["w"] = ns["v"] * x
        return type(n, b, ns)

    class A(metaclass=meta):
        v = x

    return A.w * A.v


@case(1.5)
def metaclass_attrs(x):
    class M(type):
        @property
        def scaled(cls):
            return cls.k * x

        def __iter__(cls):
            yield cls.k
            yield x

        def __len__(cls):
            return 2

        def __contains__(cls, v):
            return v == cls.k

        def __add__(cls, o):
            return cls.k + o.k

        def __getattr__(cls, n):
            if n == "dyn":
                return x * 7
            raise AttributeError(n)

        def __setattr__(cls, n, v):
            super().__setattr__(n, v * 2)

        def __bool__(cls):
            return cls.k > 0

        def __instancecheck__(cls, o):
            return hasattr(o, "k")

    class A(metaclass=M):
        k = x

    class B(metaclass=M):
        k = 3.0

    B.z = x
    return (
        A.scaled * sum(A) * len(A)
        + (A + B)
        + A.dyn
        + B.z
        + (x in A) * x
        + (x * x if isinstance(B(), A) else 1.0)
    )


@case(0.7)
def hooks_read_the_class(x):
    class Field:
        def __set_name__(self, owner, name):
            owner.doubled = owner.rate * 2

    class Base:
        def __init_subclass__(cls, factor):
            cls.product = cls.rate * factor

    class Derived(Base, factor=x):
        rate = x * x
        field = Field()

    return Derived.product * Derived.doubled


@case(0.7)
def hooks_of_several_bases(x):
    log = []

    class First:
        def __init_subclass__(cls, **options):
            log.append(x)
            super().__init_subclass__(**options)

    class Second(Generic[T]):
        def __init_subclass__(cls, weight=2.0, **options):
            log.append(weight * x)
            super().__init_subclass__(**options)

    class Both(First, Second[float], weight=x):
        pass

    class Third(Both):
        def __init_subclass__(cls):
            log.append(Both.__name__)

    return log[0] * log[1] + sum(log[2:])


@case(0.7)
def hook_raises(x):
    class Named:
        def __set_name__(self, owner, name):
            owner.seen = x
            raise ValueError(x * x)

    class Base:
        made = []

        def __init_subclass__(cls):
            Base.made.append(x * 3)
            raise LookupError(x)

    total = x
    try:

        class Wrong:
            field = Named()

    except (ValueError, RuntimeError) as error:
        total *= (error.__cause__ or error).args[0]
    try:

        class Derived(Base):
            pass

    except LookupError as error:
        total += error.args[0] * Base.made[0]
    return total


# ---- classes that are made by a call
@case(1.3)
def made_by_type_with_keywords(x):
    return type("Made", (Weighted,), {}, weight=x * x).weight


@case(1.3)
def made_by_type_of_a_metaclass(x):
    class Meta(type):
        def __new__(meta, name, bases, namespace, weight=1.0):
            cls = super().__new__(meta, name, bases, namespace)
            cls.weight = weight * x
            return cls

        def __init__(cls, name, bases, namespace, weight=1.0):
            cls.again = cls.weight * weight

    class Base(metaclass=Meta):
        pass

    return type("Made", (Base,), {"rate": x}, weight=x * x).again


@case(1.3)
def no_class_made_by_type(x):
    class Meta(type):
        def __new__(meta, name, bases, namespace, weight=None):
            if weight is None:
                return type.__new__(meta, name, bases, namespace)
            return weight * x

    class Base(metaclass=Meta):
        pass

    return type("Made", (Base,), {}, weight=x * x)


# ---- bases that say by what they are replaced
class Replaced:
    def __init__(self, rate):
        self.rate = rate

    def __mro_entries__(self, bases):
        self.asked = self.rate * 2
        return (type("Base", (), {"rate": self.rate}),)


@case(1.3)
def base_that_is_replaced(x):
    base = Replaced(x * x)

    class Made(base):
        pass

    return Made.rate * base.asked * Made.__orig_bases__[0].rate


@case(1.3)
def base_that_is_replaced_by_a_class_made_there(x):
    class Replacing:
        def __mro_entries__(self, bases):
            class Base:
                rate = x * x

            return (Base,)

    class Made(Weighted, Replacing(), weight=x):
        pass

    return Made.rate * Made.weight


class Number(float):
    def __mro_entries__(self, bases):
        return (type("Base", (), {"rate": self * self}),)


@case(1.3)
def number_that_is_a_base(x):
    class Made(Number(x)):
        pass

    return Made.rate * Made.__orig_bases__[0]


# ---- the call of a class, written out
@case(1.3)
def call_of_type_in_a_metaclass(x):
    class Meta(type):
        made = 0

        def __call__(cls, *args, **kwargs):
            Meta.made += 1
            made = type.__call__(cls, *args, **kwargs)
            made.again = made.rate * x
            return made

    class Made(metaclass=Meta):
        def __init__(self, rate, *, scale=1.0):
            self.rate = rate * scale

    return Made(x * x, scale=x).again * Meta.made


@case(1.3)
def call_of_a_number_by_its_metaclass_is_one_call(x):
    class Meta(type):
        def __call__(cls, value):
            return super().__call__(value * x)

    class Length(float, metaclass=Meta):
        pass

    class Pair(collections.namedtuple("Pair", "left"), metaclass=Meta):
        pass

    return Length(x) * Pair(x).left


@case(1.3)
def call_of_type_by_type(x):
    return type.__call__(type, "Made", (Weighted,), {}, weight=x * x).weight
