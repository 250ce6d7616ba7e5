"""Plain functions, at least one for each construct, each with the arguments at which it is run."""

# What these rules complain of is here on purpose.
# ruff: noqa: B006, B012, B030, E701, E713, E722, F401, F541, F821, I001

from __future__ import annotations

import contextlib
import functools
import inspect
import math
import operator
import os.path as path_module
from collections import namedtuple
from dataclasses import dataclass

CASES = []
COUNTER = 0
TABLE = {"a": 1, "b": [2, 3]}
Pair = namedtuple("Pair", "left right")


def case(*args, **kwargs):
    """Run the function below with these arguments."""

    def register(function):
        CASES.append((function, args, kwargs))
        return function

    return register


class Log(list):
    """Notes what was evaluated, and gives it back."""

    def __call__(self, value):
        self.append(value)
        return value


class Manager:
    def __init__(self, log, name, *, swallow=False, broken=False):
        self.log, self.name, self.swallow, self.broken = log, name, swallow, broken

    def __enter__(self):
        self.log.append(("enter", self.name))
        if self.broken:
            raise OSError(self.name)
        return self.name

    def __exit__(self, kind, value, trace):
        self.log.append(("exit", self.name, kind and kind.__name__, str(value)))
        return self.swallow


class Truth:
    """Counts how often its truth is asked for."""

    def __init__(self, log, value):
        self.log, self.value = log, value

    def __bool__(self):
        self.log.append(("bool", self.value))
        return self.value

    def __lt__(self, other):
        return Truth(self.log, self.value < other.value)

    def __eq__(self, other):
        return isinstance(other, Truth) and self.value == other.value

    __hash__ = None


@dataclass
class Point:
    x: float
    y: float = 0.0


class Box:
    __match_args__ = ("item",)

    def __init__(self, item):
        self.item = item


# ---- operators and names -------------------------------------------------------------------------


@case(7, 3)
@case(7.5, -2)
def arithmetic(x, y):
    return x + y, x - y, x * y, x / y, x // y, x % y, x**y, -x, +x, -(2**2), -1.5, 2 - -1


@case(12, 5)
def bits(x, y):
    return x & y, x | y, x ^ y, x << y, x >> y, ~x, -x, not x


@case(1, 2)
@case(2, 2)
@case("a", "b")
def comparisons(x, y):
    return x < y, x <= y, x > y, x >= y, x == y, x != y, x is y, x is not y, x is None


@case(1, [1, 2])
@case("z", "abc")
@case(5, {5: 6})
def membership(x, xs):
    return x in xs, x not in xs, not x in xs


@case(1, 2, 3)
@case(3, 2, 1)
@case(1, 3, 2)
def chained(a, b, c):
    log = Log()
    value = log(a) < log(b) <= log(c) != log(a)
    if log(a) < log(b) < log(c):
        log("yes")
    return value, log, 1 < a < 3, a in [1, 2] in [[1, 2]]


@case(0, 1)
@case(1, 0)
@case("", None)
@case([1], "x")
def boolean(a, b):
    log = Log()
    value = log(a) and log(b)
    other = log(a) or log(b) or "none"
    third = not (log(a) and log(b)) or (log(b) and not log(a))
    return value, other, third, log, (a or b) and (b or a)


@case(True, False)
@case(False, True)
@case(True, True)
def truth_is_asked_once(p, q):
    log = Log()
    a, b = Truth(log, p), Truth(log, q)
    if a and b:
        log("and")
    if a or not b:
        log("or")
    if not (a or b):
        log("not or")
    if a if b else not a:
        log("choice")
    while a and not b:
        log("loop")
        break
    value = (a and b).value, (a or b).value
    if a < b < a:
        log("chain")
    return log, value, not a, not not b, [i for i in range(2) if a and b]


@case(3)
@case(-3)
def choice(x):
    y = x if x > 0 else -x
    z = ("a" if x > 1 else "b") if x > 0 else "c"
    x = x + 1 if x else 0
    return x, y, z, 1 if True else 2, 1 if 0 else 2


@case(2)
def walrus(x):
    if (y := x + 1) > 2:
        x = (z := y * 2) + z
    return x, y, (w := x), w


@case(2)
def walrus_keeps_old_operands(x):
    a = x + (x := 10) + x
    b = [x, (x := 3), x, (x := x + 1)]
    c = (x, (x := 5))
    d = x < (x := 2) < (x := 9)
    e = dict(a=x, b=(x := 7), c=x)
    x += (x := 100)
    f = max(x, (x := 1), x)
    g = x or (x := 4)
    h = f"{x}{(x := 8)}{x}"
    return a, b, c, d, e, x, f, g, h


@case([1, 2, 3])
def walrus_in_targets(xs):
    i = 0
    xs[i] = (i := 1) + 10
    xs[(i := 2)] = i
    value = 7
    xs[(value := 0)] = value
    return xs, i, value


@case(3)
def walrus_in_comprehension(n):
    total = 0
    values = [total := total + i for i in range(n)]
    any((hit := k) == 1 for k in range(n))
    return values, total, hit


@case()
def named_constants():
    return None, True, False, Ellipsis, ..., __debug__, NotImplemented, 1j, b"ab", "ab"


@case(4.0)
def globals_and_builtins(x):
    return (
        math.sqrt(x),
        len(TABLE),
        abs(-x),
        Pair(x, 1).left,
        path_module.join("a", "b"),
        TABLE["b"][0],
    )


@case()
def unknown_global():
    return does_not_exist


@case(1)
def unbound_local(x):
    if x > 2:
        y = 1
    return y


@case(1)
def deleted_local(x):
    del x
    return x


@case(1)
def deleted_twice(x):
    del x
    del x


@case(5)
def declared_global(n):
    global COUNTER
    COUNTER = n
    COUNTER += 1
    values = [COUNTER for _ in range(2)]
    before = COUNTER
    del COUNTER
    try:
        COUNTER
    except NameError as error:
        message = str(error)
    COUNTER = 0
    return values, before, message


def rebind_table(value):
    global TABLE
    old, TABLE = TABLE, value
    return old


@case()
def global_operand_keeps_old_value():
    old = TABLE
    try:
        pair = (TABLE, rebind_table({}))
        value = len(TABLE) + len(rebind_table(old))
        same = TABLE is rebind_table([]), TABLE
        TABLE.append(rebind_table(old)) if isinstance(TABLE, list) else None
    finally:
        rebind_table(old)
    return pair[0] == old, value, same[0], same[1] == []


def first_step(x):
    return x + 1


def swap_step(function):
    global first_step
    first_step = function
    return 10


@case()
def global_callee_is_read_first():
    old = first_step
    try:
        return first_step(swap_step(lambda x: -x)), first_step(1)
    finally:
        swap_step(old)


@case(3)
def shadowed_builtin(list):
    len = lambda x: 42
    return len("abc"), list


# ---- attributes, subscripts, displays ------------------------------------------------------------


@case()
def attributes():
    p = Point(1.0)
    p.x += 2
    p.y = p.x = p.x * 2
    q = Box(p)
    q.item.x, q.new = 9, [p.y]
    q.new[0] -= 1
    del q.new
    return p, q.item is p, hasattr(q, "new"), Point(1).x.real.real


@case()
def missing_attribute():
    return Point(1).z


@case([1, 2, 3, 4, 5, 6])
def subscripts(xs):
    ys = xs[:]
    ys[0], ys[-1] = ys[-1], ys[0]
    ys[1:3] = [9]
    ys[::2] = [0] * len(ys[::2])
    del ys[0], ys[-2:]
    xs[2] += 10
    xs[1:2] *= 2
    return ys, xs, xs[-1], xs[1:-1:2], xs[5 if xs else 0], {(1, 2): 3}[1, 2], (1, 2, 3)[1:]


class Shower:
    def __getitem__(self, key):
        return key

    def __class_getitem__(cls, key):
        return key


@case()
def keys():
    s, rest = Shower(), [7, 8]
    return (
        s[1],
        s[1, 2],
        s[1:2, ..., None],
        s[:],
        s[::3],
        s[1:2:3,],
        s[()],
        s[*rest, 1],
        s[1:][0:2],
        Shower[3],
    )


@case([3, 1], {"k": [0]})
def single_evaluation(xs, d):
    log = Log()
    log(xs)[log(0)] += log(5)
    log(d)[log("k")][log(0)] -= log(2)
    p = Point(1)
    log(p).x *= log(3)
    return log


@case((1, 2), [3], {"a": 1})
def displays(t, xs, d):
    return (
        (),
        [],
        {},
        (1,),
        (*t, 0, *xs),
        [*t, *xs, 5],
        [0, *t],
        {1, 2, *t},
        {*xs},
        {"z": 0, **d, "b": 2},
        {**d, **{"a": 2}},
        {1: 2, 3: 4},
        ((1, 2), [1, (2, 3)]),
        [(), ((),)],
    )


@case()
def display_order():
    log = Log()
    value = {log("k1"): log("v1"), **log({"k": 0}), log("k2"): log("v2")}
    other = [log(1), *log([2]), log(3)]
    return value, other, log


@case(3.14159, "text")
def strings(x, s):
    width = 10
    return (
        f"{x}",
        f"{x:.2f} and {s!r:>{width}}",
        f"{s!s}{s!a}{{}}",
        f"",
        f"{x=}",
        f"{x:{width}.{3}}|plain",
        f"{s:*^{width + 2}}",
        "%s-%d" % (s, 3),
        f"{[i for i in range(3)]!r} {(lambda: 5)()}",
        f"{'nested'} {f'{s}'}",
    )


@case(3)
def bad_format(x):
    return f"{x:zzz}"


# ---- calls ---------------------------------------------------------------------------------------


def everything(a, b=2, /, c=3, *rest, d, e=5, **others):
    return a, b, c, rest, d, e, others


@case([7, 8], {"d": 1, "z": 2})
def calls(xs, d):
    return (
        everything(1, d=4),
        everything(1, 2, 3, 4, d=4, x=0),
        everything(*xs, **d),
        everything(0, *xs, 9, *xs, d=0, **{"e": 1}),
        everything(0, **d, e=9),
        everything(*[], *xs, d=1),
        max(*xs),
        print(end="") or "printed",
        "-".join(str(x) for x in xs),
        "a,b".split(",", maxsplit=1),
        "{}{k}".format(*xs, k=1),
        sorted(xs, key=lambda v: -v),
        functools.partial(everything, 1, d=2)(5),
    )


@case()
def call_order():
    log = Log()

    def f(*args, **kwargs):
        return args, kwargs

    log(f)(log(1), *log([2]), log(3), a=log(4), **log({"b": 5}), c=log(6))
    other = Log()
    log(other).append(log(7))
    return log[1:]


@case()
def too_many_arguments():
    return everything()


@case({"d": 1})
def repeated_keyword(d):
    return everything(1, d=2, **d)


@case()
def keyword_is_no_string():
    return everything(1, **{1: 2})


@case()
def not_iterable_star():
    return max(*5)


@case()
def unpack_mapping_error():
    return {**5}


@case(4)
def recursion(n):
    def factorial(k):
        return 1 if k <= 1 else k * factorial(k - 1)

    return factorial(n)


@case(1, 2, 3, 4, x=5)
@case(1, b=2, d=0)
def parameters_of_all_kinds(a, /, b, *rest, c=3, d=4, **others):
    return a, b, rest, c, d, others


@case(1)
def default_is_mutable(x, xs=[0]):
    return [*xs, x]


@case(1, 2)
def parameters_in_cells(a, *rest, b=3, **others):
    return (lambda: (a, rest, b, others))()


# ---- assignment ----------------------------------------------------------------------------------


@case(1, 2)
def swap(a, b):
    a, b = b, a
    [a, b] = a + b, a
    a, b, c = b, a, a
    return a, b, c


@case([1, 2, 3, 4])
def starred(xs):
    a, *b = xs
    *c, d = xs
    e, *f, g = xs
    (h, *i), j = xs, 0
    [k, [l, *m]] = 1, "xyz"
    return a, b, c, d, e, f, g, h, i, j, k, l, m


@case([1])
@case([])
@case([1, 2, 3])
@case(5)
def unpack_errors(xs):
    a, b = xs
    return a, b


@case([])
def starred_error(xs):
    a, b, *c = xs
    return a, b, c


@case([[1, 2], [3, 4]])
def nested_unpacking(xs):
    (a, b), (c, d) = xs
    (e, (f, g)), h = (a, xs[0]), d
    xs[0][0], (xs[1][1], i) = 10, (20, 30)
    for j, (k, l) in enumerate(xs):
        pass
    return a, b, c, d, e, f, g, h, i, j, k, l, xs


@case([0, 1, 2])
def order_of_targets(xs):
    i = 0
    i, xs[i] = 1, 5
    xs[i], i = 6, 2
    xs[i], xs[i - 1] = xs[i - 1], xs[i]
    i = xs[i] = 0
    return xs, i


@case(5)
def chain_of_targets(x):
    a = b = [x]
    c, d = e = (x, x + 1)
    x = y = x + 1
    z = x = y
    return a is b, c, d, e, x, y, z


@case(3)
def augmented(x):
    x += 1
    x -= 0.5
    x *= 2
    x /= 7
    x **= 2
    x //= 0.01
    x %= 5
    k = 6
    k &= 12
    k |= 3
    k ^= 1
    k <<= 3
    k >>= 1
    xs = ys = [1]
    xs += [2]
    return x, k, ys


class Matrix:
    def __init__(self, log):
        self.log = log

    def __matmul__(self, other):
        return self.log("matmul")

    def __imatmul__(self, other):
        self.log("imatmul")
        return self


@case()
def matrix_operators():
    log = Log()
    m = Matrix(log)
    value = m @ m
    m @= 3
    return log, value, isinstance(m, Matrix)


@case()
def augmented_unbound():
    x += 1
    return x


@case(1)
def annotated(x):
    y: int = x + 1
    z: unknown_name
    p = Point(1)
    p.x: float = 5
    log = Log()
    log(p).y: int
    (w): int = 3
    try:
        z
    except UnboundLocalError as error:
        return y, p, w, str(error), log


@case([1, 2, 3], {"a": 1})
def deletions(xs, d):
    p = Point(1)
    a = b = 0
    del xs[0], d["a"], p.x, (a, [b])
    try:
        return a
    except UnboundLocalError:
        return xs, d, hasattr(p, "x")


# ---- control flow --------------------------------------------------------------------------------


@case(-1)
@case(0)
@case(5)
def branches(x):
    if x > 0:
        y = "positive"
    elif x == 0:
        y = "zero"
    else:
        y = "negative"
    if x:
        pass
    if not x:
        return "early"
    return y


@case(10)
@case(0)
def loops(n):
    total = 0
    while n > 0:
        n -= 1
        if n % 2:
            continue
        if n == 2:
            break
        total += n
    else:
        total = -1
    for i in range(n, 5):
        if i == 3:
            break
    else:
        return total, "exhausted"
    return total, i


@case(3)
def loop_else_is_left(n):
    result = []
    for i in range(n):
        for j in range(n):
            if j > i:
                break
            result.append((i, j))
        else:
            break
        result.append("end")
    else:
        result.append("else")
    while True:
        n += 1
        if n > 6:
            break
    while False:
        n = 0
    else:
        result.append("never")
    return result, n


@case({"a": 1})
def loop_targets(d):
    p, xs = Point(0), [0, 0]
    for p.x in range(3):
        pass
    for xs[1] in "ab":
        xs[0] += 1
    for (k, v), *rest in [(("a", 1), 2, 3)]:
        d[k] = v, rest
    for i in []:
        pass
    try:
        return p, xs, d, i
    except UnboundLocalError:
        return p, xs, d


@case(5)
def loop_over_itself(x):
    for x in range(x):
        x += 1
    return x


@case(0)
def dead_code(x):
    if False:

        def never():
            return lambda: (y for y in x)

    if x and 0:
        x = (lambda: 1)()
    assert True
    while 1:
        return x
        x = lambda: 5  # noqa
    return [z for z in x]


@case(3)
@case(-3)
def assertions(x):
    assert x
    assert x > 0, f"{x} is negative"
    return x


@case([1])
def assertion_without_message(x):
    assert not x


# ---- exceptions ----------------------------------------------------------------------------------


@case(0)
@case(1)
@case(2)
@case(3)
@case(4)
def exceptions(n):
    log = []
    try:
        log.append("body")
        if n == 1:
            raise ValueError("one")
        if n == 2:
            [][n]
        if n == 3:
            raise KeyError from OSError("cause")
        if n == 4:
            return log
    except ValueError as error:
        log.append(str(error))
    except (IndexError, TypeError):
        log.append("index")
    except KeyError as error:
        log.append(repr(error.__cause__))
    else:
        log.append("else")
    finally:
        log.append("finally")
    try:
        error
    except UnboundLocalError:
        log.append("error is unbound")
    return log


@case(0)
@case(1)
def finally_decides(n):
    log = []
    for i in range(4):
        try:
            if i == 1:
                continue
            if i == 3:
                break
            if n:
                return log
        finally:
            log.append(i)
    try:
        try:
            raise ValueError
        finally:
            log.append("inner")
    except ValueError:
        log.append("outer")
    return log


@case()
def return_in_finally():
    try:
        raise ValueError
    finally:
        return 5


@case()
def break_in_finally():
    for i in range(3):
        try:
            1 / 0
        finally:
            break
    return i


@case()
def reraise():
    log = []
    try:
        try:
            raise ValueError("a")
        except ValueError:
            log.append("caught")
            raise
    except Exception as error:
        log.append(str(error))
    try:
        try:
            1 / 0
        except ZeroDivisionError as error:
            raise RuntimeError("b") from error
    except RuntimeError as error:
        log.append((str(error), type(error.__cause__), error.__suppress_context__))
    try:
        try:
            1 / 0
        except ZeroDivisionError:
            raise KeyError from None
    except KeyError as error:
        log.append((error.__cause__, type(error.__context__)))
    return log


@case()
def uncaught():
    raise LookupError("gone")


@case()
def raise_nothing():
    raise


@case()
def wrong_exception():
    raise 5


@case()
def wrong_clause():
    try:
        1 / 0
    except "text":
        pass


@case()
def clause_not_reached():
    try:
        1 / 0
    except ZeroDivisionError:
        return "first"
    except undefined_name:
        pass


@case()
def deleted_in_clause():
    try:
        1 / 0
    except ZeroDivisionError as error:
        del error
    try:
        1 / 0
    except ZeroDivisionError as error:
        error = 5
    try:
        return error
    except UnboundLocalError:
        return "unbound"


@case()
def captured_exception():
    try:
        1 / 0
    except ZeroDivisionError as error:
        get = lambda: error
        kind = type(get())
    try:
        get()
    except NameError:
        return kind


@case()
def bare_clause():
    try:
        int("x")
    except:
        return "bare"
    else:
        return "else"


@case(1)
@case(0)
def nested_try(n):
    log = []
    try:
        try:
            1 / n
        except ZeroDivisionError:
            try:
                raise KeyError("k")
            except KeyError:
                log.append("k")
                raise
            finally:
                log.append("f1")
        else:
            log.append("else")
    except KeyError as error:
        log.append(repr(error))
    return log


# ---- with ----------------------------------------------------------------------------------------


@case(0)
@case(1)
@case(2)
@case(3)
@case(4)
def with_statements(n):
    log = Log()
    with Manager(log, "a") as a, Manager(log, "b", swallow=n != 2) as (b, *_):
        log(a + b)
        if n == 1:
            raise ValueError("swallowed")
        if n == 2:
            return log
        if n == 3:
            b, c = 1, 2, 3
        log("end")
    with Manager(log, "d"):
        pass
    return log


@case()
def with_in_loop():
    log = Log()
    for i in range(4):
        with Manager(log, i):
            if i == 1:
                continue
            if i == 2:
                break
    return log


@case()
def with_does_not_swallow():
    log = Log()
    try:
        with Manager(log, "a"):
            1 / 0
    except ZeroDivisionError:
        log("outside")
    try:
        with Manager(log, "b"), Manager(log, "c", broken=True):
            log("never")
    except OSError:
        log("broken")
    return log


@case()
def with_targets():
    log, p, d = Log(), Point(0), {}
    with Manager(log, "a") as p.x, Manager(log, "b") as d["k"]:
        pass
    m = Manager(log, "m")
    with m as m:
        pass
    with (
        Manager(log, "p") as q,
        Manager(log, "r"),
    ):
        pass
    return log, p, d, m, q


@case(2)
def with_contextlib(x):
    @contextlib.contextmanager
    def scaled(factor):
        try:
            yield x * factor
        except ValueError:
            log.append("value")
        finally:
            log.append("left")

    log = []
    with scaled(3) as y:
        log.append(y)
        raise ValueError
    with contextlib.suppress(KeyError):
        {}[0]
    return log


# ---- functions -----------------------------------------------------------------------------------


@case(2)
def closures(x):
    y = 10

    def add(z):
        return x + y + z

    before = add(1)
    y = 20
    x += 1
    return before, add(1), (lambda z=x, *, w=y: z + w + x)()


@case()
def counter():
    count = 0

    def step():
        nonlocal count
        count += 1
        return count

    step(), step()
    count += 10
    return step(), count


@case()
def late_binding():
    fs = [lambda: i for i in range(3)]
    gs = [lambda i=i: i for i in range(3)]
    hs = []
    for j in range(3):
        hs.append(lambda: j)
    return [f() for f in fs], [g() for g in gs], [h() for h in hs]


@case()
def two_lambdas():
    f, g = lambda x: x + 1, lambda x: x * 2
    return f(3), g(3), (lambda: lambda: 1)()(), (lambda f=(lambda: 7): f())()


@case(3)
def deep_closure(x):
    def outer():
        def middle():
            def inner():
                return x + y

            return inner

        y = 5
        return middle()()

    return outer()


def twice(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(function(*args))

    return wrapper


def tagged(tag):
    def decorate(function):
        function.tag = tag
        return function

    return decorate


@case(3)
def decorators(x):
    @twice
    @tagged("t")
    def f(y, /, z: int = 4, *rest: str, k: float = 1.5, **kw) -> int:
        """Doc."""
        return y + x

    return f(1), f.tag, f.__doc__, f.__name__, str(inspect.signature(f))


@case()
def order_of_definition():
    log = Log()

    @log
    @(lambda f: log("decorated") and f)
    def f(a=log(1), *, b=log(2)):
        pass

    log.pop(0)
    return log[:3], str(inspect.signature(f))


@case()
def annotations_are_strings():
    def f(
        a: int, /, b: "str" = "x", *args: not_defined, c: list[int] = (), **kw: int | None
    ) -> None:
        pass

    return f.__annotations__, f.__module__, f.__qualname__


@case()
def unbound_captured():
    def f():
        return y

    try:
        f()
    except NameError as error:
        message = str(error)
    y = 1
    value = f()
    del y
    try:
        y
    except NameError:
        return message, value, "gone"


@case(2)
def generator_functions(n):
    def count(k):
        for i in range(k):
            got = yield i
            if got:
                yield ("got", got)
        return "done"

    def delegate(k):
        result = yield from count(k)
        yield result
        yield from [7, 8]
        yield from ()

    g = delegate(n)
    out = [next(g), g.send("hello"), next(g), list(g)]
    h = delegate(3)
    next(h)
    try:
        h.throw(KeyError("thrown"))
    except KeyError as error:
        out.append(repr(error))
    k = delegate(3)
    next(k)
    k.close()
    return out, list(count(0))


@case()
def generator_cleanup():
    log = []

    def inner():
        try:
            yield 1
            yield 2
        except ValueError as error:
            log.append(str(error))
            yield "caught"
        finally:
            log.append("inner closed")
        return "inner result"

    def outer():
        try:
            value = yield from inner()
            log.append(value)
            yield "after"
        finally:
            log.append("outer closed")

    g = outer()
    log.append(next(g))
    log.append(g.throw(ValueError("v")))
    log.append(next(g))
    log.append(list(g))
    h = outer()
    next(h)
    h.close()
    return log


@case(4)
def generator(n):
    total = 0
    for i in range(n):
        total += i
        x = yield total
        if x is not None:
            return x
    yield
    return total


@case([1, 2, 3])
def generator_delegating(xs):
    y = yield from xs
    yield y
    z = yield from (x * 2 for x in xs if x > 1)
    return (yield z)


@case(3)
def lambda_generator(n):
    f = lambda: (yield n)
    return list(f())


@case([1, 2, 3, 4])
def generator_expressions(xs):
    k = 10
    g = (x * k for x in xs if x % 2)
    k = 100
    h = ((x, y) for x in xs for y in range(x) if x + y > 4)
    nested = (sum(a for a in range(b)) for b in (c + 1 for c in xs))
    return list(g), list(h), sum(x for x in xs), list(nested), max((v, i) for i, v in enumerate(xs))


@case()
def generator_expression_is_lazy():
    log = Log()
    g = (log(x) for x in log([1, 2]))
    log("made")
    list(g)
    try:
        (x for x in 5)
    except TypeError as error:
        log(str(error))
    return log


# ---- comprehensions ------------------------------------------------------------------------------


@case([1, 2, 3])
def comprehensions(xs):
    k = 2
    return (
        [x * k for x in xs],
        [x for x in xs if x > 1 if x < 3],
        [(x, y) for x in xs for y in range(x)],
        [[x * y for y in xs] for x in xs],
        {x % 2 for x in xs},
        {x: y for x, y in zip(xs, "abc")},
        {x: [z for z in range(x)] for x in xs if x != 2},
        [a + b for a, (b, *c) in [(1, (2, 3))]],
        [i for i in [j for j in range(3)]],
    )


@case([1, 2])
def comprehension_scope(xs):
    x = "outer"
    ys = [x for x in xs]
    zs = [x for x in [x for x in xs]]
    ws = [[x for x in range(x)] for x in xs]
    vs = [x for _ in xs]
    y = [x for x in x]
    return x, ys, zs, ws, vs, y


@case()
def comprehension_of_global_name():
    values = [COUNTER for COUNTER in range(3)]
    return values, COUNTER


@case([3])
def comprehension_captures(xs):
    fs = [(lambda: (x, y)) for x in range(2) for y in xs]
    x = 9
    gs = [lambda: x for _ in range(2)]
    x = 10
    return [f() for f in fs], [g() for g in gs], [[f() for f in [lambda: i]] for i in range(2)]


@case()
def comprehension_order():
    log = Log()
    values = {log(("k", i)): log(("v", i)) for i in log([1, 2]) if log(i)}
    return values, log


@case([1, 2, 3])
def comprehension_with_capture_inside(xs):
    n = len(xs)
    return [sum(x * n for _ in range(x)) for x in xs], [
        list(map(lambda z: z + x + n, xs)) for x in xs
    ]


# ---- classes -------------------------------------------------------------------------------------


@case(3)
def classes(n):
    @tagged("C")
    class Base:
        """Doc."""

        factor = n

        def __init__(self, x):
            self.x = x
            self.__secret = n

        def value(self):
            return self.x * self.factor + self.__secret

        @property
        def half(self):
            return self.x / 2

    class Derived(Base, metaclass=type):
        def value(self):
            return super().value() + 1

        def name(self):
            return __class__.__name__

        def me(self):
            return Derived

    d = Derived(2)
    return (
        d.value(),
        d.half,
        d.name(),
        d.me() is Derived,
        Base.tag,
        Base.__doc__,
        Derived.__qualname__,
    )


@case()
def class_with_stars():
    class Meta(type):
        def __new__(cls, name, bases, namespace, **kw):
            made = super().__new__(cls, name, bases, namespace)
            made.kw = kw
            return made

        def __init__(cls, name, bases, namespace, **kw):
            super().__init__(name, bases, namespace)

    class A(*[Point], metaclass=Meta, **{"k": 1}):
        y = [i for i in range(3)]

    return A.kw, A(1).x, A.y, A.__mro__[1].__name__


class Private:
    __hidden = 5

    def __init__(self):
        self.__field = 1
        self.__nested__ = 2

    def method(self, __x):
        __y = __x + self.__field + Private.__hidden
        f = lambda: __y + self.__field
        self.__field += f()

        class Inner:
            __own = 3

            def get(self):
                return self.__own

        return __y, self.__field, Inner().get(), [__z for __z in range(2)], self.__helper(__x)

    def __helper(self, v):
        return v, self.__nested__

    def with_super(self):
        return super().__init__(), [type(self) for _ in range(1)]

    @staticmethod
    def static(x):
        return x

    @classmethod
    def klass(cls, x):
        return cls.__hidden + x


CASES.append((Private.method, (Private(), 3), {}))
CASES.append((Private.with_super, (Private(),), {}))
CASES.append((Private.static, (3,), {}))


@case()
def private_outside():
    return Private.klass(1)


class Animal:
    def speak(self, extra=""):
        return "..." + extra


class Dog(Animal):
    def speak(self, extra=""):
        return super().speak(extra) + "wuff" + super(Dog, self).speak()

    def rebound(self):
        self = Dog()
        return super().speak("!")

    def captured(self):
        f = lambda: self
        return super().speak(str(f() is self))

    def attribute(self):
        return super().__init__, __class__


CASES.append((Dog.speak, (Dog(), "x"), {}))
CASES.append((Dog.rebound, (Dog(),), {}))
CASES.append((Dog.captured, (Dog(),), {}))


# ---- imports -------------------------------------------------------------------------------------


@case(4.0)
def imports(x):
    import math as m
    import os.path
    import xml.dom.minidom as mini
    from functools import partial as p, reduce
    from os import path

    return m.sqrt(x), os.path is path, mini.__name__, p(max, 1)(2), reduce(operator.add, [1, 2])


@case()
def import_errors():
    try:
        from math import nothing_like_it
    except ImportError as error:
        message = type(error).__name__
    try:
        import no_such_module_here
    except ModuleNotFoundError as error:
        return message, str(error)


# ---- match ---------------------------------------------------------------------------------------


@case(0)
@case(1)
@case("s")
@case(None)
@case(True)
@case([])
@case([1])
@case([1, 2])
@case([1, 2, 3])
@case((1, [2, 3]))
@case({"k": 1})
@case({"k": 1, "l": 2})
@case({"t": "x", "v": [1, 2]})
@case(Point(1, 2))
@case(Point(0, 2))
@case(Box(5))
@case(Box([1]))
@case(2.5)
@case(b"ab")
@case("ab")
@case(-3)
@case(3j)
def matching(subject):
    match subject:
        case None | True:
            return "singleton"
        case 0 | -3 | 3j:
            return "value"
        case int(n):
            return "int", n
        case str() as s if len(s) == 1:
            return "letter", s
        case []:
            return "empty"
        case [x]:
            return "one", x
        case [1, 2]:
            return "one two"
        case [a, [b, *c]]:
            return a, b, c
        case [first, *_, last]:
            return first, last
        case {"t": "x", "v": [v, *_]}:
            return "tagged", v
        case {"k": k, **rest}:
            return k, rest
        case Point(x=0, y=y):
            return "axis", y
        case Point(x, y):
            return "point", x, y
        case Box([z]) | Box(item=z):
            return "box", z
        case math.pi | float():
            return "float"
    return "nothing"


@case([1, 2])
@case([2, 2])
@case([3, 4])
@case([5])
def match_guards(xs):
    log = Log()
    match log(xs):
        case [x, y] if log(x == y):
            log("equal")
        case [x, y] if log(x > 2):
            log("big")
        case [x, _]:
            log("other")
        case _:
            x = None
    return x, log


@case([1, 2, 3])
@case("abc")
@case([4])
def match_binds(xs):
    match xs:
        case [*everything]:
            pass
        case everything:
            everything = everything.upper()
    get = lambda: everything
    match xs, len(xs):
        case (_, 1) as pair, n:
            pass
        case _, n:
            pair = None
    match xs:
        case [1, *tail] | [*tail, 4]:
            xs = tail
        case _:
            tail = None
    return get(), n, pair, tail, xs


@case(3)
def match_wildcard(x):
    match x:
        case y:
            x = y + 1
    match x, 1:
        case (4, _):
            return "four"


@case("x")
@case([])
def match_class_errors(x):
    match x:
        case str(a, b):
            return a, b
        case Point(1, 2, 3):
            return 0
        case list([]):
            return "empty list"


@case(1)
def match_not_a_class(x):
    y = 5
    match x:
        case y():
            return 1


@case({"a": 1})
@case({})
def match_mappings(d):
    match d:
        case {"a": 1, "b": 2}:
            return "both"
        case {"a": int() as n, **rest} if rest:
            return n, rest
        case {"a": _}:
            return "a"
        case {}:
            return "any mapping"


@case("hello")
def nested_functions_see_match(x):
    def inner():
        match x:
            case str(s):
                return lambda: s

    return inner()()


# ---- odds and ends -------------------------------------------------------------------------------


@case(1)
def underscore_names(_1):
    _2 = _1 + 1
    a_cell = [_2]
    a = 5
    f = lambda: a
    return [_2 * q for q in a_cell], f(), _1


@case()
def docstring_only():
    """Nothing else."""


@case()
def nothing():
    pass


@case(5)
def statements_without_effect(x):
    "text"
    x
    x + 1
    x < 2 < 3
    x and 5
    (x,)
    ...
    None
    return x


@case()
def expression_statement_fails():
    undefined_name_here


@case(2)
def long_sum(x):
    return (
        x
        + x
        + x
        + x
        + x
        + x
        + x
        + x
        + x
        + x
        + x
        + x
        + x
        + x
        + x
        + x
        + x
        + x
        + x
        + x
        + x
        + x
        + x
        + x
        + x
    ) - x * x / x


@case({"n": 1})
def global_lookup_in_nested(d):
    def f():
        return sorted(d), TABLE["a"], [COUNTER for _ in d]

    return f()


@case([5, 3])
def sort_in_place(xs):
    xs.sort()
    xs.reverse()
    del xs[:0]
    return xs.pop(), xs


@case(0.5)
def conditional_definition(x):
    if x > 1:

        def f():
            return 1

    else:

        def f():
            return 2

    return f()


@case(3)
def multi_line_text(x):
    text = """
dedented
  text""" + str(x)
    return text, (lambda y: y + x)(1)


@case(1)
@case(2)
def semicolons(x):
    y = x
    z = y
    return y + z


@case([3, 1, 2])
def early_return_in_loops(xs):
    for x in xs:
        while x < 10:
            if x == 2:
                return "found", x
            x += 5
        else:
            continue
    return None


@case(3)
def loop_inside_try_inside_loop(n):
    log = []
    for i in range(n):
        try:
            for j in range(n):
                if j == i:
                    raise StopIteration(j)
                log.append((i, j))
        except StopIteration as stop:
            log.append(stop.value)
            continue
        finally:
            log.append("f")
    return log


@case()
def stop_iteration_is_an_ordinary_exception():
    try:
        next(iter([]))
    except StopIteration:
        return "stopped"


@case()
def stop_iteration_in_generator():
    def g():
        yield 1
        next(iter([]))

    try:
        return list(g())
    except RuntimeError as error:
        return str(error)


@case([1, 2])
def iterator_protocol(xs):
    it = iter(xs)
    out = []
    while (x := next(it, None)) is not None:
        out.append(x)
    return out


@case(2)
def while_condition_has_parts(n):
    log = Log()
    while log(n) > 0 and log(n) != 5 or log(n) == -1:
        n -= 1
    while n < 3 if n > -5 else False:
        n += 1
    while [k for k in range(3 - n)]:
        n += 1
    return n, log


@case(3)
def while_with_walrus(n):
    out = []
    while (n := n - 1) >= 0:
        out.append(n)
    return out, n


@case({"a": [1, 2], "b": [3]})
def dictionary_loops(d):
    total = 0
    for key, values in d.items():
        for i, v in enumerate(values):
            d[key][i] = v * 2
            total += v
    return total, {k: sum(v) for k, v in d.items()}, dict(**d), [*d]


@case(1, 2)
def tuples_of_constants(a, b):
    return (1, 2), (1, (2, "x")), (a, 1), ((), 1), (None, True), a in (1, 2), (1, 2)[a]


@case(5)
def nested_conditions(x):
    return (1 if x > 4 else 2) if x > 3 and (x < 6 or x == 9) else (3 if not x else 4)


@case(2)
def inner_class_sees_locals(n):
    class A:
        k = n
        m = [n * i for i in range(2)]

        def f(self, z=k):
            return n + z + self.k

        class B:
            q = n

    n = 5
    return A().f(), A.m, A.B.q


@case(3)
def annotations_as_text(n):
    class A:
        x: list[Unknown | "int"] = n
        (y): Unknown = 2
        __z: {"a": (1, -n)}

    return list(A.__annotations__.items())


@case()
def property_and_slots():
    class A:
        __slots__ = ("_x",)

        @property
        def x(self):
            return self._x

        @x.setter
        def x(self, value):
            self._x = value

    a = A()
    a.x = 4
    a.x += 1
    return a.x


@case()
def callable_objects():
    class Scale:
        def __init__(self, k):
            self.k = k

        def __call__(self, x, *, plus=0):
            return self.k * x + plus

    s = Scale(3)
    return s(2), s(2, plus=1), (lambda f: f(5))(s), [s][0](1), {"s": s}["s"](0)


@case()
def assignment_of_none_and_ellipsis():
    a = None
    b = ...
    c = d = ()
    return a, b, c is d


@case(3)
def try_in_loop_with_else(n):
    out = []
    for i in range(n):
        try:
            1 / (i - 1)
        except ZeroDivisionError:
            out.append("zero")
        else:
            if i == 2:
                break
            out.append(i)
        finally:
            out.append("f")
    else:
        out.append("no break")
    return out


@case(0)
@case(1)
def generator_with_try(n):
    def g():
        try:
            x = yield 1
            yield x
        except ValueError as error:
            yield str(error)
        finally:
            log.append("closed")

    log = []
    it = g()
    next(it)
    if n:
        log.append(it.throw(ValueError("thrown")))
    else:
        log.append(it.send(5))
    it.close()
    return log


@case()
def yield_in_odd_places():
    def g():
        x = [(yield 1), (yield 2)]
        y = {(yield "k"): (yield "v")}
        z = f"{(yield 'f')}"
        if (yield "if"):
            return x, y, z, (yield (yield 3)) + 1
        while not (yield "while"):
            pass

    it = g()
    out = [next(it)]
    try:
        for i in range(20):
            out.append(it.send(i))
    except StopIteration as stop:
        return out, stop.value


@case([4, 5])
def delegating_to_objects_without_send(xs):
    def g():
        yield from xs

    it = g()
    out = [next(it)]
    try:
        it.throw(KeyError)
    except KeyError:
        out.append("key")
    it = g()
    next(it)
    try:
        it.send(5)
    except AttributeError as error:
        out.append(str(error))
    return out


@case(1)
def annotation_alone_makes_a_local(x):
    TABLE: dict
    try:
        return TABLE
    except UnboundLocalError:
        return x


@case()
def lambdas_that_return_constants():
    fs = [lambda: 1, lambda: 2, lambda: None, lambda x=3: 4, lambda: "a"]
    return [f() for f in fs], (lambda *a, **k: (a, k))(1, b=2)


@case(2)
def conditional_expressions_as_targets(x):
    xs, ys = [0], [0]
    (xs if x > 1 else ys)[0] += x
    (xs if x > 5 else ys)[0] = x
    return xs, ys


@case(3)
def returns_from_nested_with_and_try(n):
    log = Log()

    def f(k):
        with Manager(log, k):
            try:
                if k == 0:
                    return "zero"
                for i in range(k):
                    with Manager(log, (k, i)):
                        if i == 1:
                            return i
            finally:
                log("finally")
        return "end"

    return [f(k) for k in range(n)], log


@case(3)
def functions_that_look_at_frames(x, *rest, k=5):
    y = x + 1
    f = lambda: y
    before = sorted(locals()), sorted(vars().items(), key=str)[0][0], dir()
    if x < 0:
        z = 1
    comprehended = [sorted(set(locals()) - {"f", "before"}) for q in range(1)][0][:2]
    return (
        before,
        f(),
        eval("x + y + k"),
        eval("x", {"x": 7}),
        exec("y = 5"),
        globals()["COUNTER"],
        globals() is first_step.__globals__,
        vars(Point(1)),
        "x" in dir(Point(1)),
        len(comprehended),
    )


@case()
def shadowed_locals():
    locals = lambda: "mine"
    return locals()
