"""Attributes, operators and identity in the fast tier: what Python finds, also of classes that say
more than most, or is left to the generic tier."""

import functools
import warnings

import numpy as np
import pytest

import adjoint as ad
from tests.fast.test_as_python_asks import agree

# ---- fields that a class makes -------------------------------------------------------------------


class Model:
    def __init__(self, w, warm):
        self.w = w
        if warm:
            self.square

    @functools.cached_property
    def square(self):
        return self.w**2


class Lazy:
    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, owner, kind=None):
        made = owner.__dict__[self.name] = owner.w**2
        return made


class Other:
    square = Lazy()

    def __init__(self, w, warm):
        self.w = w
        if warm:
            self.square


@pytest.mark.parametrize("kind", [Model, Other])
def test_fields_that_are_not_there_yet(kind):
    def f(model, x):
        return model.square * x

    both = ad.value_and_grad(f, (0, 1))
    assert both(kind(2.0, True), 3.0)[1][1] == 4.0
    y, (model_bar, x_bar) = both(kind(5.0, False), 3.0)
    assert (y, x_bar, model_bar.w) == (75.0, 25.0, 30.0)


def test_fields_that_nobody_asks_for():
    f = ad.value_and_grad(lambda model, x: model.square * x if x > 1 else x, 1)
    f(Model(2.0, True), 2.0)
    model = Model(3.0, False)
    assert f(model, 0.5) == (0.5, 1.0) and vars(model) == {"w": 3.0}


# ---- classes that say more than most -------------------------------------------------------------


class Meta(type):
    entry = 2.0

    def __getitem__(cls, key):
        return Meta.entry

    def __mul__(cls, k):
        return Meta.entry * k

    def __repr__(cls):
        return "n" + str(Meta.entry)

    def __len__(cls):
        return 0

    @property
    def k(cls):
        return 10.0


class Registry(metaclass=Meta):
    k = 2.0


class Table:
    scale = 3.0

    def __class_getitem__(cls, k):
        return cls.scale * k


@pytest.mark.parametrize(
    "f",
    [
        lambda x: Registry["a"] * x,
        lambda x: (Registry * 3) * x,
        lambda x: x * len(repr(Registry)),
        lambda x: x * 2 if Registry else x * 3,
        lambda x: Table[2] * x,
    ],
)
def test_what_classes_say(f, monkeypatch):
    agree(f, 2.0)
    monkeypatch.setattr(Meta, "entry", 7.25)
    monkeypatch.setattr(Table, "scale", 5.0)
    agree(f, 2.0)


def test_attributes_that_a_metaclass_has_too():
    agree(lambda held, x: held.k * x, Registry(), 2.0, argnums=1)


def test_a_class_that_is_equal_to_all():
    class Equal(type):
        def __eq__(cls, other):
            return True

        __hash__ = type.__hash__

    class Held(metaclass=Equal):
        k = 2.0

    agree(lambda held, x: held.k * x, Held(), 2.0, argnums=1)


@pytest.mark.parametrize("name", ["__call__", "__name__", "__mro__", "__dict__", "shape", "sum"])
def test_what_numbers_and_arrays_have(name):
    agree(lambda x: x * 2 if hasattr(x, name) else x * 3, 2.0)
    agree(lambda x: x * 2 if hasattr(x, name) else x * 3, np.float64(2.0))
    f = lambda x: np.sum(x) * 2 if hasattr(x, name) else np.sum(x)
    assert ad.gradient(f, np.ones(2))[0].tolist() == [1.0 + hasattr(np.ones(2), name)] * 2


def test_what_lists_do_not_have():
    with pytest.raises(AttributeError, match="__name__"):
        ad.value_and_grad(lambda xs, x: x * 2 if xs.__name__ else x, 1)([1.0], 2.0)


def test_named_tuples_of_too_much():
    from collections import namedtuple

    pair = namedtuple("pair", "a b")
    for f in (lambda x: pair(x, 1.0, 2.0).a, lambda x: pair(x, b=2.0, a=3.0).a):
        with pytest.raises(TypeError):
            ad.value_and_grad(f)(1.3)


def test_fields_that_slots_do_not_allow():
    class Slotted:
        __slots__ = ("a",)

    def f(x):
        slotted = Slotted()
        slotted.b = x
        return slotted.b

    with pytest.raises(AttributeError):
        ad.value_and_grad(f)(1.3)


# ---- special methods -----------------------------------------------------------------------------


class Odd:
    @staticmethod
    def __call__(x, k=5.0):
        return k * k

    @staticmethod
    def __getitem__(k, default=7.0):
        return default

    @classmethod
    def __neg__(cls, k=7.0):
        return k if isinstance(k, float) else 1.0

    @staticmethod
    def __len__(k=3):
        return k if isinstance(k, int) else 1

    @staticmethod
    def __iter__():
        return iter([2.0, 3.0])


@pytest.mark.parametrize(
    "f",
    [
        lambda o, x: o(3.0) * x,
        lambda o, x: o[3.0] * x,
        lambda o, x: -o * x,
        lambda o, x: len(o) * x,
        lambda o, x: sum(v for v in o) * x,
    ],
)
def test_special_methods_that_are_static(f):
    agree(f, Odd(), 2.0, argnums=1)


class Left:
    __gt__ = object.__gt__

    def __lt__(self, other):
        return NotImplemented


class Right:
    def __lt__(self, other):
        return True

    def __rmod__(self, left):
        return 5.0

    def __str__(self):
        return "five"


def test_an_operator_that_was_that_of_all_objects(monkeypatch):
    f = lambda left, right, x: x * 2 if left > right else x * 3
    agree(f, Left(), Right(), 2.0, argnums=2)
    monkeypatch.setattr(Left, "__gt__", lambda self, other: False)
    agree(f, Left(), Right(), 2.0, argnums=2)


def test_strings_are_filled_first():
    agree(lambda x: x * 2 if "%s" % Right() == 5.0 else x * 3, 2.0)


# ---- identity ------------------------------------------------------------------------------------


class Never:
    def __eq__(self, other):
        return False


class Noting:
    def __init__(self, notes):
        self.notes = notes

    def __eq__(self, other):
        self.notes.append(1.0)
        return False


def one_object_in_two_tuples(x):
    never = Never()
    return x * 2 if (never, 1) == (never, 1) else x * 3


def asked_until_it_is_found(x):
    notes = []
    1 in [1, Noting(notes)]
    return x * (1 + len(notes))


def asked_before_the_lengths(x):
    notes = []
    (Noting(notes),) == (Noting(notes), 2)
    return x * (1 + len(notes))


@pytest.mark.parametrize(
    "f", [one_object_in_two_tuples, asked_until_it_is_found, asked_before_the_lengths]
)
def test_items_of_tuples_and_lists(f):
    agree(f, 2.0)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x[0] if (x * 1, 1) == (x * 2, 1, 2) else x[1],
        lambda x: x[0] if (x * 1, 1) == (x * 2, 2) else x[1],
        lambda x: x[0] if 1 in [x * 1, 1] else x[1],
    ],
)
def test_arrays_among_items_have_no_truth_value(f):
    with pytest.raises(ValueError, match="ambiguous"):
        ad.value_and_grad(f)(np.array([1.0, 2.0]))


def test_numbers_by_identity():
    scope = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        text = "def f(n, x): return x * 2 if n is 1 else x * 3"
        exec(compile(text, "<identity>", "exec"), scope)
        agree(scope["f"], 1, 2.0, argnums=1)


def test_dtypes_by_identity():
    double = np.dtype(float)
    f = lambda x: x[1] * 2 if x.dtype is double else x[1] * 3
    for dtype in (double, np.dtype("f8", metadata={"a": 1})):
        x = np.arange(3.0).astype(dtype)
        assert ad.value_and_grad(f)(x)[0] == f(x)


def test_a_warning_of_a_literal_is_not_given_again():
    scope = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile("def f(x): return x * 2 if x is 1 else x * 3", "<literal>", "exec"), scope)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ad.value_and_grad(scope["f"], tier="generic")(2.0) == (6.0, 3.0)


def test_the_loss_of_a_network_is_a_formula():
    """The rule of the loss asks whether two dtypes are one, which decides nothing there."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(8, 2)), np.eye(2)[rng.integers(0, 2, 8)]
    model = ad.nn.Chain(ad.nn.Dense(2, 4, np.tanh, rng=rng), ad.nn.Dense(4, 2, rng=rng))
    gradient = ad.value_and_grad(lambda m: ad.nn.logit_cross_entropy(m(x), y))
    assert "_back(" not in ad.code(gradient, model)


# ---- attributes of classes, and what can be called -----------------------------------------------


class Cached:
    cache = None
    factor = 2.0

    def __init__(self, w):
        self.w = w

    def square(self):
        if self.cache is None:
            self.cache = self.w**2
        return self.cache


def test_attributes_of_a_class_that_are_none(monkeypatch):
    def f(w):
        model = Cached(w)
        return model.square() * model.square() * model.factor

    agree(f, 1.5)
    assert ad.tier(f, 1.5).tier == "fast"
    monkeypatch.setattr(Cached, "cache", 3.0)
    assert ad.gradient(f, 1.5) == (0.0,)
    monkeypatch.setattr(Cached, "cache", None)
    agree(f, 1.5)


@pytest.mark.parametrize("what", ["constant", [1.0], (2.0,), 3.0, None, abs, lambda y: y])
def test_what_can_be_called(what):
    def f(x):
        return x * x if hasattr(what, "__call__") else 3.0 * x  # noqa: B004

    agree(f, 2.0)


def interval(given):
    try:
        low, high = given
    except (TypeError, ValueError):
        low, high = given, None
    return low * 2.0 if high is None else low * high


@pytest.mark.parametrize(
    "f",
    [
        lambda x: interval(x) * interval((x, 3.0)),
        lambda x: interval(2.0) * x,
        lambda x: interval(np.array([x, x, x]))[1],
        lambda x: interval(np.array([x, 3.0])),
    ],
)
def test_unpacking_of_numbers(f):
    agree(f, 1.5)
    assert ad.tier(f, 1.5).tier == "fast"


def test_a_number_that_is_unpacked():
    def f(x):
        low, _high = x
        return low

    with pytest.raises(TypeError, match="cannot unpack"):
        ad.gradient(f, 2.0)
