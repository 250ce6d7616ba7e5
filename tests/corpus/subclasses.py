"""Subclasses of builtin containers, with and without methods of their own."""

import collections
import heapq

import numpy as np

from tests.corpus.registry import case, refused


@case(1.5)
def doubling_append(x):
    class L(list):
        def append(self, v):
            super().append(v * 2)

    l = L()
    l.append(x)
    return l[0] * x


@case(1.5)
def list_items_overridden(x):
    class L(list):
        def __setitem__(self, i, v):
            super().__setitem__(i, v * 3)

        def __getitem__(self, i):
            return super().__getitem__(i) + 1.0

        def __len__(self):
            return 100 + super().__len__()

    l = L([x, x * x])
    l[0] = x * 2
    l[1] *= x
    return l[0] * l[1] + len(l) + l.pop()


@case(1.5)
def list_iteration_overridden(x):
    class L(list):
        def __iter__(self):
            for v in super().__iter__():
                yield v * 2

    l = L([x, x * x, 2.0])
    a, b, c = l
    d, *e = l
    t = 0.0
    for v in l:
        t += v * v
    return (
        t
        + sum(l)
        + max(l) * a * b
        + c * d
        + e[0]
        + sum([*l])
        + sum(list(l))
        + sum(v for v in l)
        + list.__getitem__(l, 0)
    )


@case(1.5)
def list_changes_overridden(x):
    class L(list):
        def extend(self, vs):
            super().extend([v * x for v in vs])

        def insert(self, i, v):
            super().insert(i, v + x)

        def pop(self, i=-1):
            return super().pop(i) * x

        def __iadd__(self, o):
            super().__iadd__(o)
            super().append(x)
            return self

        def sort(self, **k):
            super().sort(**k)
            super().reverse()

    l = L([x])
    l.extend([x, 2.0])
    l.insert(0, x)
    a = l.pop()
    l += [x * 3]
    l.sort()
    l.sort(key=lambda v: -v)
    return a + sum((i + 1) * v for i, v in enumerate(l))


@case(1.5)
def dict_access_overridden(x):
    class D(dict):
        def __setitem__(self, k, v):
            super().__setitem__(k, v * 2)

        def __getitem__(self, k):
            return super().__getitem__(k) + x

        def get(self, k, d=None):
            return super().get(k, d) * 3

        def pop(self, k, *d):
            return super().pop(k, *d) * x

        def update(self, *a, **k):
            for key, v in dict(*a, **k).items():
                self[key] = v

    d = D(a=x)
    d["b"] = x * x
    d.update(c=x, d=4.0)
    d.update({"e": x})
    return (
        d["a"] * d["b"]
        + d.get("c")
        + d.pop("d")
        + sum(d.values())
        + sum(v for k, v in d.items())
        + d.get("q", x)
    )


@case(1.5)
def missing_keys_filled(x):
    class D(dict):
        def __missing__(self, k):
            self[k] = k * x
            return self[k]

    d = D()
    d[1]
    return d[2] * d[2] * d[1] + d.get(5, x)


@case(1.5)
def set_membership_overridden(x):
    class S(set):
        def add(self, v):
            super().add(v * 2)

        def __contains__(self, v):
            return super().__contains__(v * 2)

    s = S()
    s.add(x)
    s.add(x * x)
    s.add(x)
    return sum(s) * len(s) + (1.0 if x in s else 2.0)


@case(1.5)
def deque_ends_overridden(x):
    class Q(collections.deque):
        def append(self, v):
            super().append(v * 2)

        def popleft(self):
            return super().popleft() + x

        def __len__(self):
            return super().__len__() + 7

        def appendleft(self, v):
            super().appendleft(v * x)

        def pop(self):
            return super().pop() * x

        def extend(self, vs):
            super().extend(v * 3 for v in vs)

    q = Q([x, 2.0])
    q.append(x * x)
    q.appendleft(x)
    q.extend([x, x])
    q.rotate(1)
    return q.popleft() * q.pop() + sum(q) + q[0] * q[1] + len(q)


@case(1.5)
def ordered_setting_overridden(x):
    class Doubled(collections.OrderedDict):
        def __setitem__(self, k, v):
            super().__setitem__(k, v * 2)
            self.move_to_end(k, last=False)

    o = Doubled(a=x, b=x * x)
    o["c"] = x
    o.update(d=x * 3)
    k, v = o.popitem()
    c = o.copy()
    return (
        sum((i + 1) * t for i, t in enumerate(o.values()))
        + v * x
        + sum((i + 1) * t for i, t in enumerate(c.values()))
    )


@case(1.5)
def missing_of_defaultdict(x):
    class D(collections.defaultdict):
        def __missing__(self, k):
            v = super().__missing__(k)
            v.append(x)
            return v

    d = D(list)
    d["a"].append(x * 2)
    d["a"].append(x)
    return sum(d["a"]) * d["a"][0]


@case(1.5)
def defaultdict_with_scale(x):
    class D(collections.defaultdict):
        def __init__(self, scale):
            super().__init__(float)
            self.scale = scale

        def __setitem__(self, k, v):
            super().__setitem__(k, v * self.scale)

    d = D(x)
    d["a"] += x
    d["a"] += x
    d["b"] = 2.0
    return d["a"] * d["b"] * d.scale


@case(1.5)
def counter_arithmetic(x):
    c = collections.Counter()
    c["a"] += x
    c.update({"a": x, "b": x * x})
    c.update(["q"])
    c.subtract({"b": 1.0})
    k = c + collections.Counter(a=x)
    (m, n), *_ = c.most_common()
    return sum(c.values()) * k["a"] * n


@case(1.5)
def counter_overridden(x):
    class C(collections.Counter):
        def __missing__(self, k):
            return x

        def __setitem__(self, k, v):
            super().__setitem__(k, v + x)

    c = C()
    c["a"] += 2.0
    c.update({"b": x})
    return c["a"] * c["b"] * c["zz"]


@case(1.5)
def user_list_append(x):
    class U(collections.UserList):
        def append(self, v):
            super().append(v * 2)

    u = U([x])
    u.append(x * x)
    u += [x]
    v = u + [x]
    v.append(x)
    return sum(u) + v[1] * v[-1] * len(v)


@case(1.5)
def user_dict_setting(x):
    class U(collections.UserDict):
        def __setitem__(self, k, v):
            super().__setitem__(k, v * 2)

    u = U(a=x)
    u["b"] = x * x
    u.update(c=x)
    c = u.copy()
    return sum(u.values()) * c["a"] + u.pop("b") + u.get("zz", x)


@case(1.5)
def list_with_own_init(x):
    class L(list):
        def __init__(self, scale, vs=()):
            super().__init__(v * scale for v in vs)
            self.scale = scale
            self.log = []

        def append(self, v):
            self.log.append(v)
            super().append(v * self.scale)

    l = L(x, [1.0, x])
    l.append(x)
    return sum(l) * l.scale + l.log[0] + l[-1]


@case(1.5)
def tuple_with_new(x):
    class T(tuple):
        def __new__(cls, *vs):
            s = super().__new__(cls, vs)
            s.extra = x * 2
            return s

        def norm(self):
            return sum(v * v for v in self) * self.extra

        def __add__(self, o):
            return T(*[a + b for a, b in zip(self, o)])

    t = T(x, 2.0)
    s = t + T(x, x)
    return t.norm() + s[0] * s[1] + s.norm()


@case(1.5)
def tuple_items_overridden(x):
    class T(tuple):
        def __getitem__(self, i):
            return super().__getitem__(i) * x

        def __iter__(self):
            return iter([v + 1 for v in super().__iter__()])

    t = T((x, x * x))
    a, b = t
    return t[0] * t[1] + a * b + sum(t) + t[-1]


@case(1.5)
def named_tuple_subclass(x):
    class T(collections.namedtuple("T", "a b")):
        @property
        def prod(self):
            return self.a * self.b

        def __add__(self, o):
            return T(self.a + o.a, self.b + o.b)

    t = T(x, 2.0) + T(x, x)
    return t.prod * t._replace(a=x).a + t[0]


@case(1.5)
def text_with_attribute(x):
    class S(str):
        pass

    s = S("ab")
    s.w = x * 2
    return s.w * len(s) * (3 if s == "ab" else 1)


@case(1.5)
def list_given_itself(x):
    l = [x, x * 2]
    l.extend(l)
    l[1:2] = l
    l += l
    return sum((i + 1) * v * v for i, v in enumerate(l))


@case(1.5)
def dict_views_overridden(x):
    class D(dict):
        def keys(self):
            return ["a"]

        def items(self):
            return [("z", 5.0)]

        def values(self):
            return [v * 2 for v in super().values()]

        def __iter__(self):
            return iter(["a"])

    d = D(a=x, b=x * x)
    e = dict(d)
    f = {**d}
    g = {}
    g.update(d)
    return (
        sum(e.values())
        + sum(f.values()) * x
        + sum(g.values())
        + sum(d.values())
        + sum(v for k, v in d.items())
        + sum(d[k] for k in d)
    )


@case(1.5)
def list_operators_overridden(x):
    class L(list):
        def __add__(self, o):
            return L(super().__add__(o) + [x])

        def __mul__(self, k):
            return L(super().__mul__(k))

        def __eq__(self, o):
            return super().__eq__(o)

        def index(self, v):
            return super().index(v) + 1

        def __contains__(self, v):
            return super().__contains__(v)

        def copy(self):
            return L(super().copy())

    l = L([x, 2.0])
    m = (l + [x * x]) * 2
    n = m.copy()
    return (
        sum((i + 1) * v for i, v in enumerate(n)) * l.index(2.0)
        + (x if 2.0 in l else 0)
        + (x if l == [x, 2.0] else 0)
    )


@case(1.5)
def list_deletions_overridden(x):
    class L(list):
        def __delitem__(self, i):
            super().__delitem__(i)

        def remove(self, v):
            super().remove(v)

        def clear(self):
            super().clear()

        def reverse(self):
            super().reverse()

        def __reversed__(self):
            return super().__reversed__()

        def count(self, v):
            return super().count(v)

    l = L([x, 2.0, x * x, 3.0])
    del l[1]
    l.remove(3.0)
    l.reverse()
    t = sum((i + 1) * v for i, v in enumerate(reversed(l)))
    c = l.count(x)
    s = l[:]
    l.clear()
    return t + c * x + s[0] * s[1]


@case(1.5)
def dict_with_attribute_access(x):
    class D(dict):
        def __getattr__(self, k):
            return self[k]

        def __setattr__(self, k, v):
            self[k] = v

        def __delitem__(self, k):
            super().__delitem__(k)

        def setdefault(self, k, v):
            return super().setdefault(k, v) * 2

        def copy(self):
            return D(super().copy())

        def __contains__(self, k):
            return super().__contains__(k)

        def __or__(self, o):
            return D(super().__or__(o))

    d = D(a=x)
    d.b = x * x
    d.c = d.setdefault("q", x)
    e = d.copy()
    del e["a"]
    f = d | {"a": x * 5}
    return d.a * d.b + d.c + sum(e.values()) + f.a * f.b + ("a" in d)


@case(1.5)
def deque_with_length_and_attribute(x):
    class Q(collections.deque):
        def __init__(self, vs, n):
            super().__init__(vs, maxlen=n)
            self.n = n
            self.w = x

    q = Q([x, x * x], 2)
    q.append(3.0 * x)
    return sum(q) * len(q) * q.w + q[0] + q.maxlen


@case(1.5)
def list_attributes_and_numpy(x):
    class L(list):
        pass

    l = L([x, 2.0])
    l.w = x * x

    def h(l):
        l.append(l.w)
        return l

    m = h(l)
    r = m[1:]
    return np.sum(np.array(l)) * m.w + np.dot(l, l) + r[0] * r[1]


@case(1.5)
def ordered_reading_overridden(x):
    class D(collections.OrderedDict):
        def __getitem__(self, k):
            return super().__getitem__(k) * x

        def __iter__(self):
            return super().__iter__()

        def __contains__(self, k):
            return super().__contains__(k)

        def __delitem__(self, k):
            super().__delitem__(k)

        def pop(self, k, *a):
            return super().pop(k, *a) + x

        def popitem(self, last=True):
            k, v = super().popitem(last)
            return k, v * x

        def __len__(self):
            return super().__len__() + 1

    d = D([("a", x), ("b", x * x), ("c", 2.0 * x), ("d", x)])
    t = 0.0
    for k in d:
        t = t * 2 + d[k]
    t += d.pop("a")
    k, v = d.popitem(False)
    t += v
    d.move_to_end("c")
    del d["c"]
    return (
        t
        + len(d)
        + sum(d.values()) * (2 if "d" in d else 1)
        + d.setdefault("d", 1.0)
        + d.setdefault("n", x)
    )


@case(1.5)
def set_changes_overridden(x):
    class S(set):
        def discard(self, v):
            super().discard(v)

        def remove(self, v):
            super().remove(v)

        def pop(self):
            return super().pop() * x

        def update(self, *o):
            super().update(*o)
            super().add(x + 10)

        def __iter__(self):
            return iter(sorted(super().__iter__()))

        def __or__(self, o):
            return S(super().__or__(o))

        def __ior__(self, o):
            super().__ior__(o)
            return self

        def clear(self):
            super().clear()

    s = S([x, 2.0])
    s.update([x * x])
    s.discard(2.0)
    s.remove(x)
    t = 0.0
    u = s | {x * 7}
    u |= {5.0 * x}
    for i, v in enumerate(u):
        t += (i + 1) * v
    s.clear()
    s.add(x)
    return t + s.pop()


@case(1.5)
def frozen_set_with_attribute(x):
    class F(frozenset):
        def total(self):
            return sum(self) * self.w

    f = F([x, 2 * x])
    f.w = x
    return f.total()


@case(1.5)
def keys_of_subclass(x):
    class D(dict):
        @classmethod
        def make(cls, ks):
            return cls.fromkeys(ks, x)

        def tot(self):
            return sum(self.values())

    d = D.make("ab")
    d["a"] *= x
    return d.tot()


@case(1.5)
def wrapped_indices(x):
    class L(list):
        def __getitem__(self, i):
            if isinstance(i, slice):
                return L(super().__getitem__(i))
            return super().__getitem__(i % super().__len__())

        def __setitem__(self, i, v):
            super().__setitem__(i % super().__len__() if not isinstance(i, slice) else i, v)

    l = L([x, 2.0, x * x])
    l[7] = x * 4
    s = l[1:]
    s[5] *= x
    l[0:1] = [x, x]
    return l[4] * l[-1] + s[0] * s[1] + sum(l)


@case(1.5)
def callable_list(x):
    class L(list):
        def __call__(self, y):
            return sum(v * y for v in self)

        def __bool__(self):
            return False

    l = L([x, x * x])
    l2 = L(l)
    return (l(x) if not l else 0.0) + l2(2.0)


@case(1.5)
def two_levels_of_append(x):
    class A(list):
        def append(self, v):
            super().append(v + x)

    class B(A):
        def append(self, v):
            super().append(v * 2)
            list.append(self, v)

    b = B()
    b.append(x)
    f = b.append
    f(x * 3)
    for v in [x, x]:
        B.append(b, v)
    return sum((i + 1) * v for i, v in enumerate(b))


@case(1.5)
def deque_changes_overridden(x):
    class Q(collections.deque):
        def __getitem__(self, i):
            return super().__getitem__(i) * 2

        def __setitem__(self, i, v):
            super().__setitem__(i, v + x)

        def insert(self, i, v):
            super().insert(i, v * x)

        def remove(self, v):
            super().remove(v)

        def reverse(self):
            super().reverse()

        def rotate(self, n=1):
            super().rotate(-n)

        def __iter__(self):
            return iter([v for v in super().__iter__()][::-1])

        def clear(self):
            super().clear()

        def copy(self):
            return super().copy()

        def extendleft(self, vs):
            super().extendleft(vs)

        def __delitem__(self, i):
            super().__delitem__(i)

    q = Q([x, 2.0, x * x])
    q[0] = x
    q.insert(1, x)
    q.remove(2.0)
    q.reverse()
    q.rotate(1)
    q.extendleft([x * 9, 1.0])
    del q[1]
    c = q.copy()
    c.append(1.0)
    return (
        sum((i + 1) * v for i, v in enumerate(q))
        + c[0]
        + q[0] * q[1]
        + sum((i + 1) * v for i, v in enumerate(c))
    )


@case(1.5)
def heap_of_subclass(x):
    class H(list):
        pass

    h = H()
    heapq.heappush(h, x * 2)
    heapq.heappush(h, x)
    return heapq.heappop(h) * h[0]


@case(1.5)
def number_with_attribute(x):
    class Weighted(float):
        def __new__(cls, value, weight):
            made = super().__new__(cls, value)
            made.weight = weight
            return made

        def scaled(self):
            return self * self.weight

    return Weighted(2.0, x).scaled() * x


@case(1.5)
def integer_with_attribute(x):
    class Index(int):
        pass

    i = Index(3)
    i.weight = x
    return i.weight * i + x**i


@case(1.5)
def containers_with_slots(x):
    class Named(dict):
        __slots__ = ("a",)

    class Scaled(list):
        __slots__ = ("scale",)

    d = Named()
    d["a"] = x * x
    d.a = x**4
    xs = Scaled([x])
    xs.scale = x * 3
    xs.append(x * x)
    return d["a"] * d.a + xs[0] * xs.scale * xs[1]


# ---- dicts whose entries are attributes ----------------------------------------------------------


class Bunch(dict):
    """As statsmodels and many others have it."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.__dict__ = self


@case(0.7)
def entries_are_attributes(x):
    bunch = Bunch({"a": x}, b=x * x)
    bunch.c = bunch.a * bunch["b"]
    bunch["d"] = bunch.c * 3.0
    bunch.a *= 2.0
    del bunch.b
    return bunch.a * bunch.d + sum(bunch.values()) + len(bunch) * bunch.pop("c")


@case(0.7)
def fields_replaced(x):
    class Holder:
        pass

    holder, other = Holder(), {"value": x * 3.0}
    holder.value = x * x
    before = holder.value
    holder.__dict__ = other
    holder.value *= x
    other["more"] = x
    return before * holder.value * other["value"] + holder.more


# ---- objects beside arrays -----------------------------------------------------------------------


class Measured:
    """Reflected operators and ``__array_ufunc__``, as the quantities of pint have them."""

    def __init__(self, value):
        self.value = value

    def __mul__(self, other):
        return Measured(self.value * other)

    def __rmul__(self, other):
        return Measured(other * self.value)

    def __rsub__(self, other):
        return Measured(other - self.value)

    def __array_ufunc__(self, ufunc, method, *operands, **kwargs):
        given = [x.value if isinstance(x, Measured) else x for x in operands]
        return Measured(3.0 * ufunc(*given, **kwargs))


class Ahead(Measured):
    __array_ufunc__ = None


@case(np.array([0.3, 0.8]), 0.7)
def arrays_times_objects(x, scale):
    total = 0.0
    for kind in (Measured, Ahead):
        product = x * kind(scale)
        difference = x - kind(x * scale)
        total += (product.value * difference.value).sum()
        total += (x[0] * kind(scale)).value * (kind(scale) * x).value.sum()
    return total


# ---- arrays of a class that answers for itself ---------------------------------------------------


class Unready(np.ndarray):
    """Like a quantity of astropy that has no unit yet: NumPy's functions cannot be asked of it."""

    def __array_finalize__(self, obj):
        self.note = getattr(obj, "note", None)

    def __array_function__(self, f, types, args, kwargs):
        if f is np.array_equal:
            raise TypeError(f"{f.__name__} of {self.note}")
        return super().__array_function__(f, types, args, kwargs)


@refused(np.array([0.3, 0.8]))
def arrays_that_cannot_be_asked(x):
    unready = (x * 2.0).view(Unready)
    return (unready.copy().view(np.ndarray) * x).sum()
