"""A function that cannot be followed stores the very values that stand there already, as one does
that is called a second time at the same point: no constants either."""

from __future__ import annotations

import numpy as np
import pytest

import adjoint as ad
from adjoint.errors import AdjointError

SOURCE = """
import numpy as np

number = 0.0
rows = np.zeros((2, 2))


class Object:
    __slots__ = ("array", "k", "__dict__")
    shared = np.zeros(2)


def pairs():
    array, parts, table, row, d = np.zeros(2), [np.zeros(2)], {"a": np.zeros(2)}, [0.0], {"k": 0.0}
    held, cell = Object(), 0.0
    held.array, held.k, held.own, held.inside = np.zeros(2), 0.0, 0.0, np.zeros(2)

    def with_try(f):
        return f

    def elements(x):
        try:
            array[0] = array[1] = x
        finally:
            pass

    def all_of_it(x):
        try:
            array[:] = x
        finally:
            pass

    def filled(x):
        try:
            array.fill(x)
        finally:
            pass

    def copied(x):
        try:
            np.copyto(array, x)
        finally:
            pass

    def by_out(x):
        try:
            np.multiply(x, 1.0, out=array)
        finally:
            pass

    def by_view(x):
        try:
            view = array.reshape(2, 1)
            view[:, 0] = x
        finally:
            pass

    def by_real(x):
        try:
            array.real[...] = x
        finally:
            pass

    def back_and_forth(x):
        nonlocal array
        try:
            array += x
            array -= 0.0 * x
            array *= 0.5
        finally:
            pass

    def of_a_list(x):
        try:
            parts[0][:] = x
        finally:
            pass

    def of_each(x):
        try:
            for part in parts:
                part[:] = x
        finally:
            pass

    def of_a_dict(x):
        try:
            table["a"][:] = x
        finally:
            pass

    def of_an_object(x):
        try:
            held.inside[:] = x
        finally:
            pass

    def of_a_slot(x):
        try:
            held.array[:] = x
        finally:
            pass

    def of_a_class(x):
        try:
            held.shared[:] = x
        finally:
            pass

    def of_the_module(x):
        try:
            rows[0] = x
        finally:
            pass

    def in_a_list(x):
        try:
            row[0] = x
        finally:
            pass

    def in_a_dict(x):
        try:
            d["k"] = x
        finally:
            pass

    def in_an_object(x):
        try:
            held.own = x
        finally:
            pass

    def in_a_slot(x):
        try:
            held.k = x
        finally:
            pass

    def in_a_cell(x):
        nonlocal cell
        try:
            cell = x
        finally:
            pass

    def in_the_module(x):
        global number
        try:
            number = x
        finally:
            pass

    def in_itself(x):
        try:
            in_itself.k = x
        finally:
            pass

    def in_what_it_holds(x):
        try:
            in_what_it_holds.row.clear()
            in_what_it_holds.row.append(x)
        finally:
            pass

    in_what_it_holds.row = []
    return {
        "elements": (elements, lambda: array[0]),
        "all_of_it": (all_of_it, lambda: array[0]),
        "filled": (filled, lambda: array[1]),
        "copied": (copied, lambda: array[1]),
        "by_out": (by_out, lambda: array[1]),
        "by_view": (by_view, lambda: array[1]),
        "by_real": (by_real, lambda: array[1]),
        "back_and_forth": (back_and_forth, lambda: array[1]),
        "of_a_list": (of_a_list, lambda: parts[0][1]),
        "of_each": (of_each, lambda: parts[0][1]),
        "of_a_dict": (of_a_dict, lambda: table["a"][1]),
        "of_an_object": (of_an_object, lambda: held.inside[1]),
        "of_a_slot": (of_a_slot, lambda: held.array[1]),
        "of_a_class": (of_a_class, lambda: Object.shared[1]),
        "of_the_module": (of_the_module, lambda: rows[0, 1]),
        "in_a_list": (in_a_list, lambda: row[0]),
        "in_a_dict": (in_a_dict, lambda: d["k"]),
        "in_an_object": (in_an_object, lambda: held.own),
        "in_a_slot": (in_a_slot, lambda: held.k),
        "in_a_cell": (in_a_cell, lambda: cell),
        "in_the_module": (in_the_module, lambda: number),
        "in_itself": (in_itself, lambda: in_itself.k),
        "in_what_it_holds": (in_what_it_holds, lambda: in_what_it_holds.row[0]),
    }


def fill(array, x):
    try:
        array[:] = x
    finally:
        pass


def put(row, x):
    try:
        row[0] = x
    finally:
        pass


def note(log, v):
    try:
        total = np.sum(v)
        total += 1.0
        log[0] = total
    finally:
        pass


def count(rows, row):
    try:
        rows["n"] = len(row)
    finally:
        pass
"""

SPACE = {"__name__": "elsewhere"}
exec(SOURCE, SPACE)
PAIRS = SPACE["pairs"]()
MODES = {
    "gradient": lambda f, x: ad.gradient(f, x)[0],
    "forward": lambda f, x: ad.pushforward(f, (x,), (1.0,))[1],
    "second": ad.hessian,
}
POINT = 2.0
array, row = np.zeros(2), [0.0]


def given_an_array(x):
    SPACE["fill"](array, x)
    return array[1] * x


def given_a_list(x):
    SPACE["put"](row, x)
    return row[0] * x


def of_pair(name):
    write, read = PAIRS[name]

    def f(x):
        write(x)
        return read() * x

    return f


FUNCTIONS = {name: of_pair(name) for name in PAIRS}
FUNCTIONS |= {"given_an_array": given_an_array, "given_a_list": given_a_list}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_stood_there_is_no_constant(name, mode):
    f = FUNCTIONS[name]
    while f(POINT) != POINT * POINT:  # as it settles
        pass
    try:
        slope = MODES[mode](f, POINT)
    except AdjointError:
        return
    assert mode != "gradient"  # where the value itself is found again, it has its tangent
    assert slope == {"forward": 2.0 * POINT, "second": 2.0}[mode]
    assert name.startswith(("in_", "given_a_list"))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_is_not_read_is_refused_too(name):
    f = FUNCTIONS[name]

    def unread(x):
        f(x)
        return x**3

    for _ in range(50):
        f(POINT)
    with pytest.raises(AdjointError, match="may store something, and cannot be read"):
        ad.gradient(unread, POINT)


# ---- arrays that come from elsewhere -------------------------------------------------------------

ELSEWHERE = """
import contextlib
import functools
import operator
import weakref

import numpy as np
from scipy import ndimage, special

shared = np.zeros(2)


class Box:
    inside = np.zeros(2)

    def __init__(self):
        self._a, self.arrays, self.table = np.zeros(2), [np.zeros(2)], {"a": np.zeros(2)}

    @property
    def work(self):
        return self._a

    def get(self):
        return self._a

    def __getattr__(self, name):
        if name == "lazy":
            return self._a
        raise AttributeError(name)

    def __getitem__(self, i):
        return self._a

    def __iter__(self):
        yield self._a

    @classmethod
    def of_all(cls):
        return cls.inside


box, reference = Box(), weakref.ref(shared)


def get():
    return shared


def chosen(flag, a=shared):
    return a


def many():
    while True:
        yield shared


def put(a, x):
    a[:] = x

def add(*values, out):
    np.add(*values, out=out)


WRITERS

def read(name):
    place = PLACES.get(name, "shared")
    return eval(place)


def new(x):
    try:
        made = made_of(x)
        made += 1.0
        made[0], first = 3.0, sorted(x.tolist())
        first[0] = len(x)
        table = {k: k for k in first}
        table[0] = x.copy()
        table[0].fill(1.0)
        np.concatenate([made, x]).sort()
        text = f"{len(x)} of {'numbers':>4}"
        text += "."
        np.clip(x, -9.0, x, made)
        np.clip(x, x, x).clip(x, x)
        np.sum([x, x], 0, None, np.zeros(2))
        np.add.reduce([x, x], 0, None, made)
        ndimage.gaussian_filter1d(x, 1.0, 0, 0, made)
        np.array(x, copy=True)[:] = x.astype(float, copy=True)[:] = 1.0
        add_to = np.add
        add_to(x, x, made)
        functools.partial(np.add, x)(x)
        nothing(x, where=made_of(x), out=x)
    finally:
        pass


def nothing(x, where, out):
    return where if out is None else None


def made_of(x):
    made = np.empty_like(x)
    made[:] = x
    return made
"""
EXPRESSIONS = {
    "get()": "shared",
    "(lambda: shared)()": "shared",
    "[shared for _ in [1]][0]": "shared",
    "[get() for _ in 'a'][0]": "shared",
    "next(shared for _ in [1])": "shared",
    "[*map(lambda _: shared, [1])][0]": "shared",
    "{**{'a': shared}}[f'{1 and chr(97)}']": "shared",
    "[a for a in box.arrays if a is not None][0]": "box.arrays[0]",
    "chosen(1)": "shared",
    "chosen(flag=1)": "shared",
    "chosen(*[1])": "shared",
    "functools.partial(chosen, 1)()": "shared",
    "next(many())": "shared",
    "reference()": "shared",
    "max([shared], key=id)": "shared",
    "(get() if x else None)": "shared",
    "np.split(get(), [2])[0]": "shared",
    "box.get()": "box._a",
    "box.work": "box._a",
    "box.lazy": "box._a",
    "box[0]": "box._a",
    "[*box][0]": "box._a",
    "getattr(box, '_a')": "box._a",
    "box.of_all()": "Box.inside",
    "next(iter(box.arrays))": "box.arrays[0]",
    "list(box.arrays)[0]": "box.arrays[0]",
    "[*zip(box.arrays, [1])][0][0]": "box.arrays[0]",
    "[*box.table.values()][0]": "box.table['a']",
    "box.table.get('a')": "box.table['a']",
}
"""What gives an array that is there already, and where it is."""
ALSO = """
memoryview({0})[1] = np.frombuffer({0})[0] = x
np.array({0}, copy=None)[:] = x
np.ma.array({0}, copy=False)[:] = x
np.matrix({0}, copy=False)[:] = x
np.asmatrix({0})[:] = np.asfortranarray({0})[:] = x
{0}.astype(float, copy=False)[:] = x
dict(a={0})['a'][:] = x
np.nditer([{0}], [], [['writeonly']]).operands[0][...] = x
np.clip([x, x], -9, 9, {0})
np.array([x, x]).clip(-9, 9, {0})
np.sum([[x, x], [0.0, 0.0]], 0, None, {0})
np.array([[x, x]]).sum(0, None, {0})
np.mean([[x, x], [x, x]], 0, None, {0})
np.median([[x, x], [x, x]], 0, {0})
np.take([x, x], [0, 1], None, {0})
np.dot([[1.0, 0.0], [0.0, 1.0]], [x, x], {0})
np.choose([0, 0], [[x, x]], {0})
np.compress([1, 1], [x, x], 0, {0})
np.concatenate([[x], [x]], 0, {0})
np.cumsum([x, 0.0], 0, float, {0})
np.array([x, 0.0]).cumsum(0, float, {0})
np.round([x, x], 9, {0})
np.array([x, x]).round(9, {0})
np.outer([x, x], [1.0], {0}.reshape(2, 1))
np.add.reduce([[x, x], [0.0, 0.0]], 0, None, {0})
ndimage.gaussian_filter1d([x, x], 1.0, -1, 0, {0})
ndimage.gaussian_filter([x, x], 1.0, output={0})
special.xlogy(x / np.log(2.0), [2.0, 2.0], {0})
copy = np.copyto; copy({0}, x)
clip = np.clip; clip([x, x], -9, 9, {0})
[np.copyto][0]({0}, x)
getattr(np, 'copyto')({0}, x)
functools.partial(np.copyto, {0})(x)
list(map({0}.__setitem__, [0, 1], [x, x]))
list(map(functools.partial(operator.setitem, {0}), [0, 1], [x, x]))
exec('{0}[:] = x', globals(), dict(x=x))
eval('{0}.fill(x)', globals(), dict(x=x))
""".strip().splitlines()
"""Other ways, which take the array by position, by another name, or by its memory alone."""
WAYS = {
    "item": "    {0}[:] = x",
    "variable": "    a = {0}\n        a[:] = x",
    "in_place": "    a = {0}\n        a *= 0.0\n        a += x",
    "method": "    {0}.fill(x)",
    "method_by_name": "    fill = {0}.fill\n        fill(x)",
    "function": "    np.copyto({0}, x)",
    "operator": "    operator.setitem({0}, slice(None), x)",
    "out": "    np.add(x, 0.0, out={0})",
    "out_by_position": "    np.add(x, 0.0, {0})",
    "out_in_python": "    add(x, 0.0, out={0})",
    "helper": "    put({0}, x)",
    "with": "    with contextlib.nullcontext({0}) as a:\n            a[:] = x",
}
PLACES = {"w_" + way: "shared" for way in WAYS}
WRITTEN = {}
for _i, (_expression, _place) in enumerate(EXPRESSIONS.items()):
    WRITTEN[f"by_{_i}"] = WAYS["item"].format(_expression)
    PLACES[f"by_{_i}"] = _place
for _way, _text in WAYS.items():
    WRITTEN["w_" + _way] = _text.format("get()")
    WRITTEN["m_" + _way] = _text.format("box.work")
    PLACES["m_" + _way] = "box._a"
for _i, _text in enumerate(ALSO):
    for _array, _place in (("shared", "shared"), ("box._a", "box._a"), ("get()", "shared")):
        WRITTEN[f"also_{_i}_{_array}".translate(str.maketrans("().", "___"))] = "    " + (
            _text.format(_array)
        )
        PLACES[f"also_{_i}_{_array}".translate(str.maketrans("().", "___"))] = _place
_WRITERS = "\n".join(
    f"def {name}(x):\n    try:\n    {text}\n    finally:\n        pass\n"
    for name, text in WRITTEN.items()
)
HERE = {"__name__": "elsewhere", "PLACES": PLACES}
exec(ELSEWHERE.replace("WRITERS", _WRITERS), HERE)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", WRITTEN)
def test_arrays_that_come_out_of_calls_are_no_constants(name, mode):
    write = HERE[name]

    def f(x):
        write(x)
        return ARRAYS[name][1] * x

    ARRAYS = {name: HERE["read"](name)}
    while f(POINT) != POINT * POINT:
        pass
    with pytest.raises(AdjointError):
        MODES[mode](f, POINT)


@pytest.mark.parametrize("mode", MODES)
def test_elements_of_a_generator_are_no_constants(mode):
    SPACE.setdefault("filling", None)
    exec(
        "def filling(x):\n"
        "    try:\n"
        "        a = np.zeros(2)\n"
        "        while True:\n"
        "            a[:] = x\n"
        "            yield a\n"
        "    finally:\n"
        "        pass\n",
        SPACE,
    )

    def once(x):
        return next(SPACE["filling"](x))[0] * x

    def twice(x):
        made = SPACE["filling"](x)
        a = next(made)
        next(made)
        return a[0] * x

    for f in (once, twice):
        with pytest.raises(AdjointError):
            MODES[mode](f, POINT)


def test_what_a_function_is_given_counts_as_written():
    """That it writes into new arrays only is not followed."""

    def f(x):
        v = x * np.ones(2)
        HERE["new"](v)
        return v.sum() * x

    for differentiate in (ad.gradient, ad.hessian):
        with pytest.raises(AdjointError, match="'new' may store something"):
            differentiate(f, POINT)
