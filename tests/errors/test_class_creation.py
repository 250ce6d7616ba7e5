"""Classes made inside differentiated code: the plain ones are right, the others are refused."""

import abc
import contextlib
import dataclasses
import enum
from typing import NamedTuple

import pytest

import adjoint as ad
from adjoint.errors import NoDerivativeError

MODES = {
    "gradient": lambda f, x: ad.gradient(f, x),
    "generic": lambda f, x: ad.grad(f, tier="generic")(x),
    "pullback": lambda f, x: ad.pullback(f, x)[1](1.0),
    "pushforward": lambda f, x: ad.pushforward(f, (x,), (1.0,)),
    "hvp": lambda f, x: ad.hvp(f, x, 1.0),
    "nested": lambda f, x: ad.gradient(lambda t: ad.gradient(f, t)[0], x),
}
REVERSE = ("gradient", "generic", "pullback")


# ---- refused: bodies that are not plain ----------------------------------------------------------


def handling_exceptions(x):
    class Made:
        try:
            rate = x * 2
        except ValueError:
            rate = x

    return Made.rate


def with_a_context(x):
    class Made:
        with contextlib.nullcontext(x) as rate:
            pass

    return Made.rate


def executing_text(x):
    kept = []

    class Made:
        exec("given = 2.0")
        kept.append(x * 2)

    return kept[0]


# ---- refused: user code that Python calls meanwhile ----------------------------------------------


def a_hook_of_a_base(x):
    class Base:
        def __init_subclass__(cls, k):
            cls.k = k * x

    class Made(Base, k=x):
        pass

    return Made.k


def a_hook_that_raises(x):
    class Base:
        def __init_subclass__(cls):
            raise LookupError(x)

    try:

        class Made(Base):
            pass

    except LookupError as error:
        return error.args[0]


def a_hook_of_an_attribute(x):
    class Field:
        def __set_name__(self, owner, name):
            owner.total = x * 2

    class Made:
        field = Field()

    return Made.total


def a_metaclass(x):
    class Meta(type):
        def __new__(meta, name, bases, namespace):
            return super().__new__(meta, name, bases, {**namespace, "rate": x * 2})

    class Made(metaclass=Meta):
        pass

    return Made.rate


def a_metaclass_with_an_argument(x):
    class Meta(type):
        def __new__(meta, name, bases, namespace, factor):
            return super().__new__(meta, name, bases, namespace)

        def __init__(cls, name, bases, namespace, factor):
            cls.rate = factor * 2

    class Made(metaclass=Meta, factor=x):
        pass

    return Made.rate


def a_metaclass_that_is_called(x):
    class Meta(type):
        def __init__(cls, name, bases, namespace):
            cls.rate = namespace["base"] * x

    return Meta("Made", (), {"base": x}).rate


def a_metaclass_that_is_a_function(x):
    def collect(name, bases, namespace):
        return namespace["a"] * x

    class Made(metaclass=collect):
        a = x

    return Made


def a_prepared_mapping(x):
    class Meta(type):
        @classmethod
        def __prepare__(meta, name, bases):
            return {"given": x * x}

        def __new__(meta, name, bases, namespace):
            return super().__new__(meta, name, bases, namespace)

    class Made(metaclass=Meta):
        value = given  # noqa: F821

    return Made.value


def a_base_that_is_replaced(x):
    class Replaced:
        def __mro_entries__(self, bases):
            return (type("Base", (), {"rate": x * 2}),)

    class Made(Replaced()):
        pass

    return Made.rate


def a_hook_when_type_is_called(x):
    class Base:
        def __init_subclass__(cls, k):
            cls.k = k * 2

    return type("Made", (Base,), {}, k=x).k


def what_an_attribute_answers(x):
    asked = []

    class Answers:
        def __getattr__(self, name):
            asked.append(x)
            raise AttributeError(name)

    class Made(abc.ABC):
        answers = Answers()

    return sum(asked)


def the_members_of_an_enumeration(x):
    class Made(enum.Enum):
        A = 1.0

        def __init__(self, value):
            self.scaled = value * x

    return Made.A.scaled


def the_defaults_of_a_data_class(x):
    class Converted:
        def __get__(self, obj, kind):
            return x * 2

    @dataclasses.dataclass
    class Made:
        a: float = Converted()

    return Made().a


# ---- refused: numbers that are made anew ---------------------------------------------------------


def an_enumeration_of_numbers(x):
    class Made(float, enum.Enum):
        A = x

    return Made.A * x


def an_enumeration_by_a_call(x):
    return enum.Enum("Made", {"A": x}, type=float).A * x


REFUSED = [
    handling_exceptions,
    with_a_context,
    executing_text,
    a_hook_of_a_base,
    a_hook_that_raises,
    a_hook_of_an_attribute,
    a_metaclass,
    a_metaclass_with_an_argument,
    a_metaclass_that_is_called,
    a_metaclass_that_is_a_function,
    a_prepared_mapping,
    a_base_that_is_replaced,
    a_hook_when_type_is_called,
    what_an_attribute_answers,
    the_members_of_an_enumeration,
    the_defaults_of_a_data_class,
    an_enumeration_of_numbers,
    an_enumeration_by_a_call,
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("f", REFUSED, ids=lambda f: f.__name__)
def test_classes_that_are_not_plain_are_refused(f, mode):
    f(0.7)
    with pytest.raises(
        NoDerivativeError, match="^the class 'Made' cannot be made inside"
    ) as caught:
        MODES[mode](f, 0.7)
    error, first = caught.value, f.__code__.co_firstlineno
    assert error.filename == __file__
    assert first < error.span.line < first + 20
    assert "define the class outside of the differentiated function" in str(error)


# ---- enumerations that hold what is differentiated -----------------------------------------------


def an_enumeration_of_values(x):
    class Made(enum.Enum):
        A = x
        B = x * x

    return Made.A.value * Made.B.value


@pytest.mark.parametrize("mode", MODES)
def test_values_that_an_enumeration_stores_elsewhere_are_right_or_refused(mode):
    if mode == "generic":
        with pytest.raises(NoDerivativeError, match="its metaclass stores elsewhere"):
            MODES[mode](an_enumeration_of_values, 0.7)
    elif mode in REVERSE:
        found = MODES[mode](an_enumeration_of_values, 0.7)[-1]
        assert found == pytest.approx(3 * 0.7**2)
    elif mode == "pushforward":
        assert MODES[mode](an_enumeration_of_values, 0.7)[1] == pytest.approx(3 * 0.7**2)
    else:
        found = MODES[mode](an_enumeration_of_values, 0.7)
        assert found in (pytest.approx(6 * 0.7), (pytest.approx(6 * 0.7),))


# ---- plain classes -------------------------------------------------------------------------------


def plain(x):
    class Model:
        """A documented class."""

        rate: float = 2.0
        count = 3

        def run(self, v):
            return self.rate * v * x**self.count

        @property
        def half(self):
            return self.rate * x / 2

        @staticmethod
        def scaled(v, k=3.0):
            return v * k * x

    @dataclasses.dataclass
    class Result:
        value: float
        parts: list = dataclasses.field(default_factory=list)
        scale: float = 2.0

    class Point(NamedTuple):
        a: float
        b: float = 2.0

    class Kind(enum.Enum):
        ONE = 1.5
        TWO = enum.auto()

        def of(self, v):
            return self.value * v * x

    class Derived(Model):
        def run(self, v):
            return super().run(v) * x

    model, derived = Model(), Derived()
    result = Result(model.run(x) + Kind.ONE.of(x), [derived.run(x)])
    point = Point(result.value * result.scale)
    return point.a * point.b + result.parts[0] * model.half + Model.scaled(x) + Kind.TWO.of(x)


@pytest.mark.parametrize("mode", MODES)
def test_plain_classes_are_right(mode):
    step, x = 1e-4, 0.7
    first = (plain(x + step) - plain(x - step)) / (2 * step)
    second = (plain(x + step) - 2 * plain(x) + plain(x - step)) / step**2
    found = MODES[mode](plain, x)
    found = found[-1] if isinstance(found, tuple) else found
    expected = second if mode in ("hvp", "nested") else first
    assert found == pytest.approx(expected, rel=1e-5)


def errors_of_python(x):
    class Meta(type):
        pass

    class Base(abc.ABC):
        pass

    caught = []
    try:

        class Conflict(Base, metaclass=Meta):
            pass

    except TypeError as error:
        caught.append(error)
    try:

        class Failing:
            rate = x * x
            ratio = rate / 0.0

    except ZeroDivisionError as error:
        caught.append(error)
    return x * x * len(caught)


@pytest.mark.parametrize("mode", MODES)
def test_errors_of_python_stay(mode):
    assert errors_of_python(0.7) == 2 * 0.7**2
    found = MODES[mode](errors_of_python, 0.7)
    found = found[-1] if isinstance(found, tuple) else found
    assert found == pytest.approx(4.0 if mode in ("hvp", "nested") else 4 * 0.7)


def test_a_class_where_the_derivative_is_not_needed_keeps_its_value():
    class Base:
        made = []

        def __init_subclass__(cls):
            Base.made.append(cls.__name__)

    def outside(x):
        return x * len(Base.made)

    class Made(Base):
        pass

    assert Made.__name__ in Base.made
    assert ad.gradient(outside, 0.7) == (1.0,)
