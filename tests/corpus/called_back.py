"""Code in C, and modules that are left alone, call functions and special methods that store what
they are given."""

import bisect
import collections
import contextlib
import contextvars
import functools
import heapq
import io
import itertools
import json
import logging
import math
import operator
import re
import types

import numpy as np

from tests.corpus.registry import case, refused


class Noting:
    """Notes twice its number wherever it is asked something."""

    def __init__(self, x, notes):
        self.x, self.notes = x, notes

    def note(self, answer):
        self.notes.append(self.x * 2)
        return answer


# ---- functions that are given --------------------------------------------------------------------


@case(1.3)
def substitution(x):
    seen = {}

    def replace(match):
        seen[match.group()] = seen.get(match.group(), 0.0) + x
        return match.group().upper()

    text = re.sub("[a-c]", replace, "abcab")
    return seen["a"] * seen["c"] + len(text)


@case(1.3)
def substitution_by_a_method(x):
    class Counter:
        def __init__(self):
            self.total = 0.0

        def replace(self, factor, match):
            self.total += x * factor
            return "b"

        def __call__(self, match):
            return self.replace(3.0, match)

    counter = Counter()
    re.compile("a").sub(functools.partial(counter.replace, 2.0), "aaa")
    re.compile("a").subn(counter, "aa")
    return counter.total * x


@case(1.3)
def substitution_changes_a_captured_variable(x):
    total = 0.0

    def replace(match):
        nonlocal total
        total = total * x + x
        return "b"

    re.sub("a", replace, "aaa")
    return total


@case(1.3)
def json_hooks(x):
    notes = []
    json.dumps([object(), 1], default=lambda value: notes.append(x * 3) or 1)
    json.loads('[{"a": 2}, 1.5]', object_hook=lambda value: notes.append(value["a"] * x) or value)
    json.loads("[2.5]", parse_float=lambda text: notes.append(float(text) * x * x) or 1.0)
    return sum(notes)


@case(1.3)
def json_numbers(x):
    rates = []
    json.loads('[{"rate": 2.5}]', object_hook=lambda value: rates.append(value["rate"]))
    return rates[0] * x


@case(1.3)
def json_encoder(x):
    notes = []

    class Encoder(json.JSONEncoder):
        def default(self, value):
            notes.append(x * 3)
            return 1

    Encoder().encode([object()])
    json.dump([object()], io.StringIO(), cls=Encoder)
    return sum(notes)


@case(1.3)
def comparison_function(x):
    notes = []

    def compare(a, b):
        notes.append(x * a)
        return b - a

    ordered = sorted([1, 3, 2], key=functools.cmp_to_key(compare))
    ordered.sort(key=functools.cmp_to_key(compare))
    return sum(notes) + x * ordered[0] + max([1, 3], key=functools.cmp_to_key(compare))


@case(1.3)
def keys_of_a_search(x):
    notes = []

    def key(value):
        notes.append(x * value)
        return value

    place = bisect.bisect([1, 2, 3, 4], 2, key=key) + bisect.bisect_left([1, 2, 3, 4], 2, key=key)
    values = [1.0, 2.0, 3.0]
    bisect.insort(values, 2.5, key=key)
    return sum(notes) + place * x + values[2]


@refused(1.3)
def in_a_context(x):
    notes = []

    def run(y, *, factor):
        notes.append(y * x)
        return y * factor

    return contextvars.copy_context().run(run, x * 2, factor=3.0) + sum(notes)


@case(1.3)
def context_variable_that_holds_a_list(x):
    variable = contextvars.ContextVar("variable")
    variable.set([x])
    return variable.get()[0] * x


# ---- iterators that are consumed -----------------------------------------------------------------


@case(1.3)
def joined(x):
    notes = []

    def words():
        for i in range(3):
            notes.append(x * i)
            yield "a"

    text = "".join(words()) + ",".join(map(lambda v: notes.append(x * v) or "b", [1, 2]))
    return sum(notes) + len(text)


@case(1.3)
def bytes_and_files(x):
    notes = []

    def numbers():
        for i in range(3):
            notes.append(x * i)
            yield i

    data = bytes(numbers()) + bytearray(numbers())
    io.StringIO().writelines(str(i) for i in numbers())
    return sum(notes) + len(data)


@case(1.3)
def searched(x):
    notes = []

    def numbers():
        for i in range(5):
            notes.append(x * i)
            yield i

    found = (2 in numbers()) + operator.countOf(numbers(), 1) + operator.indexOf(numbers(), 3)
    return sum(notes) + found * x


# ---- equality ------------------------------------------------------------------------------------


class Doubtful:
    """Equal to nothing, and adds up how often it was asked."""

    def __init__(self, x):
        self.x, self.asked = x, 0.0

    def __eq__(self, other):
        self.asked += self.x
        return False

    __hash__ = None


@case(1.3)
def elements_that_compare(x):
    one = Doubtful(x)
    values = [1, one, 2]
    found = values.index(2) + values.count(5) + (2 in values) + (2 in (one, 2))
    values.remove(2)
    return one.asked * (found + len(values))


@case(1.3)
def deques_that_compare(x):
    one = Doubtful(x)
    values = collections.deque([x, one, 3.0])
    values.remove(3.0)
    return one.asked + values.index(x) + values[0] + (5 in values) + values.count(1)


@case(1.3)
def containers_that_compare(x):
    one = Doubtful(x)
    equal = [[one] == [1], (one, 1) == (1, 1), {"a": one} == {"a": 1}, [1] != [one], one != 2]
    equal += [2 != one, (x,) in [(one,)], 1 in {"a": one}.values(), ("a", 1) in {"a": one}.items()]
    return one.asked * (1 + sum(equal))


@case(1.3)
def answer_that_is_an_object(x):
    notes = []

    class Answer(Noting):
        def __bool__(self):
            return self.note(True)

    class Asked(Noting):
        def __eq__(self, other):
            return Answer(self.x, self.notes)

    asked = Asked(x, notes)
    return len([asked, 1]) + [asked].index(1) + (1 in [asked]) + sum(notes)


# ---- order ---------------------------------------------------------------------------------------


class Ordered:
    """Adds the smaller number to a total when it is compared."""

    def __init__(self, x, total):
        self.x, self.total = x, total

    def __lt__(self, other):
        self.total[0] += self.x if self.x < other.x else other.x
        return self.x < other.x


@case(1.3, 0.4, 2.2)
def sorted_objects(x, y, z):
    total = [0.0]
    values = [Ordered(v, total) for v in (x, y, z)]
    ordered = sorted(values)
    values.sort(reverse=True)
    smallest, largest = min(values), max(values, key=lambda v: v)
    return ordered[0].x * values[0].x * total[0] + smallest.x - largest.x


@case(1.3, 0.4, 2.2)
def sorted_tuples_of_objects(x, y, z):
    total = [0.0]
    values = [(1, Ordered(v, total)) for v in (x, y, z)]
    first = sorted(values)[0][1]
    return first.x * total[0] * ((1, values[0][1]) < (1, values[1][1]))


@case(1.3, 0.4, 2.2)
def heaps_of_objects(x, y, z):
    total = [0.0]
    heap = []
    for v in (x, y, z):
        heapq.heappush(heap, Ordered(v, total))
    merged = list(heapq.merge([heap[0]], [heap[1]]))
    place = bisect.bisect(sorted(heap), heap[2])
    return heapq.heappop(heap).x * total[0] + merged[0].x + place + heapq.nsmallest(1, heap)[0].x


# ---- text ----------------------------------------------------------------------------------------


class Shown:
    """Grows whenever it is shown."""

    def __init__(self, x):
        self.x = x

    def __str__(self):
        self.x = self.x * 1.5
        return "shown"

    def __repr__(self):
        self.x = self.x + 1.0
        return "Shown()"

    def __format__(self, spec):
        self.x = self.x * 2.0
        return "formatted"


@case(1.3)
def formatted_objects(x):
    shown = Shown(x)
    texts = ["%s %r" % (shown, shown), "{} {!r:>9}".format(shown, shown), f"{shown} {[shown]}"]
    texts += [str([shown]), repr({"a": (shown,)}), "%(a)s" % {"a": shown}]
    return shown.x * len("".join(texts))


@case(1.3)
def printed_objects(x):
    shown, file = Shown(x), io.StringIO()
    print(shown, [shown], sep="-", file=file)
    return shown.x * len(file.getvalue())


@case(1.3)
def file_that_counts(x):
    class File:
        def __init__(self):
            self.total = 0.0

        def write(self, text):
            self.total += x * len(text)

        def flush(self):
            self.total *= x

    file = File()
    print("one", 2, sep=", ", end="!", file=file, flush=True)
    return file.total


# ---- numbers -------------------------------------------------------------------------------------


class Number:
    """Stands for its number, and notes when it does."""

    def __init__(self, x, notes):
        self.x, self.notes = x, notes

    def __float__(self):
        self.notes.append(self.x)
        return self.x * 2

    def __index__(self):
        self.notes.append(self.x * 3)
        return 1


@case(1.3)
def numbers_of_objects(x):
    notes = []
    number = Number(x, notes)
    total = math.sin(number) + math.hypot(number, 1.0) + float(number) + complex(number).real
    total += np.array([number, x], dtype=float).sum() + float(np.float64(number))
    a = np.zeros(3)
    a[0] = number
    a[1:] = [number, 1.0]
    return total + a.sum() * sum(notes)


@case(1.3)
def indices_of_objects(x):
    notes = []
    i = Number(x, notes)
    a, values = np.arange(4.0) * x, [x, x * x, 3.0]
    total = a[i] + a[i:].sum() + a.reshape(2, 2)[i, i] + values[i] + sum(values[i:]) + (1.0, x)[i]
    a[i] = x
    values[i] = 2.0 * x
    values.insert(i, x)
    return total + values.pop(i) + a.sum() + sum(values) * sum(notes) + len("ab"[i] * i)


@case(1.3)
def counted_indices(x):
    asked = [0]

    class Index:
        def __index__(self):
            asked[0] += 1
            return 1

    i, a = Index(), np.zeros(3)
    values = [[1, 2][i], [1, 2][i:], [1] * i, (1, 2)[i], range(5)[i], a[i], list(range(i))]
    a[i] = 1.0
    return x * asked[0] * len(values)


class Array:
    """Stands for an array of its number."""

    def __init__(self, x, notes):
        self.x, self.notes = x, notes

    def __array__(self, dtype=None, copy=None):
        self.notes.append(self.x)
        return np.array([self.x, self.x * self.x])


@case(1.3)
def arrays_of_objects(x):
    notes = []
    array = Array(x, notes)
    total = np.sum(array) + np.exp(array).sum() + (np.ones(2) + array).sum() + np.ones(2) @ array
    total += np.concatenate([array, np.ones(2)]).sum() + np.array([array, array]).sum()
    a = np.ones(2)
    a += array
    a[:] = array
    return total + (a * a).sum() + np.linalg.norm(array) * sum(notes)


# ---- attributes ----------------------------------------------------------------------------------


class Lazy:
    """Loads its data when somebody looks."""

    def __init__(self, x):
        self.x, self.data = x, None

    def load(self):
        if self.data is None:
            self.data = [self.x * i for i in range(3)]
        return self.data

    def __len__(self):
        return len(self.load())

    def __contains__(self, value):
        return value in self.load()

    @property
    def first(self):
        return self.load()[0]

    def __dir__(self):
        return ["data"] if self.load() else []


@case(1.3)
def lazy_objects(x):
    total = 0.0
    for look in (len, dir, lambda lazy: 5 in lazy, lambda lazy: hasattr(lazy, "first"), bool):
        lazy = Lazy(x)
        look(lazy)
        total += sum(lazy.data)
    return total


@case(1.3)
def instances_by_metaclass(x):
    notes = []

    class Meta(type):
        def __instancecheck__(cls, value):
            notes.append(x)
            return True

        def __subclasscheck__(cls, other):
            notes.append(x * x)
            return True

    class Any(metaclass=Meta):
        pass

    return (isinstance(3, Any) + issubclass(int, Any)) * sum(notes)


@case(1.3)
def kind_of_property(x):
    class Kind(property):
        pass

    class Owner:
        @Kind
        def value(self):
            return x * x

    return Owner().value * hasattr(Owner(), "value")


# ---- what is only read, counted or shown ---------------------------------------------------------


class Memory(logging.Handler):
    def __init__(self):
        super().__init__()
        self.records = []
        self.count = 0

    def emit(self, record):
        self.records.append(record)
        self.count += 1


@refused(1.3)
def remembered_messages(x):
    log, memory = logging.Logger("log"), Memory()
    log.addHandler(memory)
    log.warning("x = %s", x)
    log.warning("x = %s", [x])
    return x * memory.count + len(memory.records[0].args)


@case(1.3)
def redirected_output(x):
    file = io.StringIO()
    with contextlib.redirect_stdout(file):
        print("x", x)
    return x * (len(file.getvalue()) > 0)


@case(1.3)
def quiet_keys(x):
    class Key:
        def __init__(self, name):
            self.name = name

        def __hash__(self):
            return hash(self.name)

        def __eq__(self, other):
            return self.name == other.name

    table = {Key("a"): x, Key("b"): x * x}
    table[Key("a")] = table[Key("a")] * table[Key("b")]
    return table[Key("a")] + len({Key("a"), Key("a")}) + table.get(Key("c"), x)


@case(1.3)
def made_elsewhere(x):
    values = list(map(operator.itemgetter(0), [[x], [x * x]]))
    pairs = itertools.starmap(operator.mul, [(x, 2.0), (values[1], x)])
    return sum(pairs) + types.SimpleNamespace(a=values).a[0]


# ---- special methods that are not plain functions ------------------------------------------------


class Scaled:
    def __init__(self, w):
        self.w = w

    def times(self, factor, *others):
        self.w = self.w * factor
        return self.w * sum(others, 1.0)

    def count(self, factor):
        self.w = self.w * factor
        return 3

    __call__ = functools.partialmethod(times, 2.0)
    __add__ = functools.partialmethod(times, 3.0)
    __getitem__ = functools.partialmethod(times, 1.5)
    __neg__ = functools.partialmethod(times, 0.5)
    __len__ = functools.partialmethod(count, 2.0)


@case(1.3)
def special_methods_with_arguments_filled_in(x):
    scaled = Scaled(x)
    total = scaled(x) + (scaled + 2.0) + scaled[x] + (-scaled)
    return total * len(scaled) + scaled.w


@case(1.3)
def static_and_bound_calls(x):
    scaled = Scaled(x)

    class Static:
        @staticmethod
        def __call__(y):
            return x * y

    class Bound:
        __call__ = scaled.times

    return Static()(2.0) * Bound()(3.0) + scaled.w


class Cached:
    def __init__(self, w):
        self.w = w

    __call__ = functools.lru_cache(lambda self, y: self.w * y)  # noqa: B019


@case(1.3)
def cached_calls(x):
    cached = Cached(x)
    return cached(2.0) * cached(2.0) + cached(3.0)


# ---- lengths that are asked for in advance -------------------------------------------------------


class Counted:
    """Loads its values when it is asked how many there are."""

    def __init__(self, x):
        self.x, self.values = x, []

    def __len__(self):
        self.values.append(self.x * len(self.values))
        return 3

    def __iter__(self):
        self.values.append(self.x)
        return iter([self.x] * 3)


@case(1.3)
def lengths_asked_by_containers(x):
    counted = Counted(x)
    total = sum(list(counted)) + sum(tuple(counted)) + sum([*counted]) + sum(sorted(counted))
    values = [x]
    values.extend(counted)
    return total + sum(values) * sum(counted.values)


@case(1.3)
def methods_that_libraries_call(x):
    class Owner:
        def __init__(self):
            object.__setattr__(self, "written", [])

        def __setattr__(self, name, value):
            self.written.append(name)
            object.__setattr__(self, name, value)

    owner = Owner()
    functools.update_wrapper(owner, methods_that_libraries_call)
    return x * len(owner.written)
