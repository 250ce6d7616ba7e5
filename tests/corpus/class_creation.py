"""Abstract and generic classes, descriptors that know their names, and metaclasses."""

import collections
import types
from abc import ABC, ABCMeta, abstractmethod
from typing import Generic, Protocol, TypeVar, runtime_checkable

from tests.corpus.registry import case

T = TypeVar("T")


# ---- set_name, class_getitem
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


@case(1.5)
def set_name_validated(x):
    p = P(x, x * 2)
    try:
        p.w = -x
    except ValueError:
        p.h += x
    return p.area()


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
