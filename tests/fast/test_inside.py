"""Calls inside the generic tier that take the fast one."""

from __future__ import annotations

import functools
import re
import types
import warnings
from decimal import Decimal

import numpy as np
import pytest
import scipy.special

import adjoint as ad
from adjoint.api.generic_tier import OFTEN
from adjoint.errors import CotangentError, NoDerivativeError
from adjoint.fast.programs import inner_calls as inside
from adjoint.fast.programs import store as tier
from adjoint.testing import check_gradient
from tests.corpus import all_cases
from tests.fast.agreeing import Agreement, cotangent, generic_tier, outcome
from tests.fuzz.batches import Checker
from tests.structures import difference, mapped


@pytest.fixture
def taken(monkeypatch):
    """Functions are specialised on their first call; the list of those that were."""
    monkeypatch.setattr("adjoint.api.generic_tier.OFTEN", 0)
    found = []
    made = inside._Pullback.__init__

    def note(self, memory, f, *rest):
        found.append(f.__name__)
        made(self, memory, f, *rest)

    monkeypatch.setattr(inside._Pullback, "__init__", note)
    return found


def agree(f, *args):
    """The gradient in both tiers, twice, and against each other's numbers."""
    value, bars = ad.withgradient(f, *mapped(args))
    again = ad.withgradient(f, *mapped(args))
    with generic_tier():
        expected = ad.withgradient(f, *mapped(args))
    assert not difference((value, bars), tuple(expected), rtol=1e-12)
    assert not difference(tuple(again), (value, bars), rtol=0.0)
    return bars


def caught(f):
    """`f` after a statement that the fast tier does not cover."""

    @functools.wraps(f)
    def around(*args, **kwargs):
        eval("0")
        return f(*args, **kwargs)

    return around


class Differing(Agreement):
    """Both tiers where the whole call is generic, and what is inside is fast."""

    def _problem(self, fresh, kwargs, y_bar):
        f, *args = fresh()
        tier.forget()
        found = [outcome((caught(f), *args), kwargs, y_bar)]
        with generic_tier():
            f, *args = fresh()
            found.append(outcome((caught(f), *args), kwargs, y_bar))
        for one in found:
            if isinstance(one, Exception):
                return f"{found[0]!r}, where the generic tier has {found[1]!r}"
        a, b = found
        return (
            difference(a.value, b.value, rtol=1e-12)
            or self._cotangents_differ(a.bars, b.bars, a.value)
            or difference(a.left[1], b.left[1], rtol=1e-12)
        ) or None


def test_the_corpus(taken):
    found = Differing()
    for one in all_cases():
        sample = one.sample
        if sample.kwargs:
            continue

        def fresh(sample=sample):
            sample.reset()
            return mapped((sample.f, *sample.args))

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            y, _ = sample.plain()
        found.compare(one.name, fresh, {}, cotangent(y))
        sample.reset()
    assert not found.problems, "\n".join(found.problems[:20])
    assert len(taken) >= 400


# ---- what is around the call ---------------------------------------------------------------------


def layer(x, w, b):
    return np.tanh(x @ w + b)


def test_arrays(taken):
    rng = np.random.default_rng(0)
    x, w, b = rng.normal(size=(5, 3)), rng.normal(size=(3, 3)), rng.normal(size=3)

    def f(x, w, b):
        eval("0")  # is not covered
        return (layer(layer(x, w, b), w, b) ** 2).sum()

    agree(f, x, w, b)
    assert taken == ["layer"] * 4


def test_writes_before_and_after(taken):
    def halves(x):
        return x * x / 2.0

    def f(x):
        eval("0")  # is not covered
        x = x * 1.5
        x[0] = x[1] * 2.0
        y = halves(x)
        y[1] *= x[2]
        x[2] = 0.0
        z = halves(x[1:])
        z += y[:2]
        return (z * z).sum() + y[2]

    agree(f, np.array([1.0, 2.0, 3.0]))
    assert "halves" in taken


def same(x):
    return x


def flipped(x):
    return x[::-1]


@pytest.mark.parametrize("view", [same, flipped])
def test_results_that_look_at_the_argument(taken, view):
    def f(x):
        eval("0")  # is not covered
        x = x * 2.0
        y = view(x)
        s = (y * x).sum()
        y[0] = 3.0 * x[1]
        return s + (x * x).sum() + (view(x) * y).sum()

    agree(f, np.array([1.0, 2.0, 3.0]))
    assert view.__name__ in taken


def test_captured_variables(taken):
    def f(x):
        eval("0")  # is not covered
        scale = x * x

        def scaled(y):
            return scale * y

        first = scaled(x)
        scale = scale * x
        return first + scaled(2.0)

    assert agree(f, 1.5)[0] == pytest.approx(9 * 1.5**2)
    assert taken.count("scaled") == 4


class Model:
    rate = 2.0

    def __init__(self, w):
        self.w, self.parts = w, [w, 3.0]

    def __call__(self, x):
        return self.w * x * self.rate + self.parts[0] * self.parts[1]


def test_objects(taken):
    def f(w, x):
        dir(0)  # is not covered
        model = Model(w * w)
        first = model(x)
        model.w = x
        model.parts[1] = w
        return first * model(x)

    agree(f, 1.5, 0.5)

    def g(w, x):
        dir(0)  # is not covered
        return Model(w)(x) if x < 0 else given(x) * w

    given = Model(2.0)
    agree(g, 1.5, 0.5)
    assert "__call__" in taken


def test_attributes_of_classes_that_are_written(taken):
    class Local(Model):
        pass

    local = Local(2.0)

    def f(x):
        eval("0")  # is not covered
        Local.rate = x * x
        try:
            return local(x)
        finally:
            del Local.rate

    agree(f, 1.5)


@pytest.mark.usefixtures("taken")
def test_attributes_of_classes_in_what_is_computed_anew():
    class Local(Model):
        pass

    def rated(x):
        return Local.rate * x

    def noisy(x):
        eval("0")
        return rated(x) * x

    kept = ad.checkpoint(noisy)

    def f(x):
        eval("0")
        first = kept(x)
        Local.rate = x * x
        try:
            return first * kept(x)
        finally:
            del Local.rate

    agree(f, 1.5)


_long = [float(i) for i in range(20)]


def summed(x):
    total = 0.0
    for item in _long:
        total += item * x
    return total


def test_long_lists_that_are_global(taken):
    def f(items, x):
        eval("0")
        return summed(x) * items[1]

    with generic_tier():
        expected = ad.gradient(f, _long, 1.5)
    assert ad.gradient(f, _long, 1.5) == expected
    assert taken == []


_state = [1.0, 2.0]
_weight = 2.0


def with_globals(x):
    return x * _weight + _state[0] * x


def with_a_global(x):
    return x * _weight


def test_globals_that_carry_a_derivative(taken):
    def f(x):
        eval("0")  # is not covered
        global _weight
        _weight = x * x
        try:
            return with_a_global(x)
        finally:
            _weight = 2.0

    agree(f, 1.5)

    def g(x):
        eval("0")  # is not covered
        _state[0] = x * x
        try:
            return with_globals(x)
        finally:
            _state[0] = 1.0

    agree(g, 1.5)

    def h(state, x):
        eval("0")  # is not covered
        return with_globals(x) + state[0]

    with generic_tier():
        expected = ad.gradient(h, _state, 1.5)
    assert ad.gradient(h, _state, 1.5) == expected  # both ways to the list
    assert taken == []


def test_defaults_that_carry_a_derivative(taken):
    def f(x):
        eval("0")  # is not covered

        def inner(y, scale=x * x):
            return scale * y

        return inner(x) + inner(2.0)

    agree(f, 1.5)
    assert taken == []


def with_a_default(x, scale=2.0):
    return x * scale


def test_defaults_that_are_assigned(taken):
    def f(x):
        eval("0")
        first = with_a_default(x)
        before = with_a_default.__defaults__
        with_a_default.__defaults__ = (x * x,)
        try:
            return first * with_a_default(x)
        finally:
            with_a_default.__defaults__ = before

    agree(f, 1.5)
    assert taken == ["with_a_default"] * 2


def with_a_named_default(x, *, scale=2.0):
    return x * scale


def test_named_defaults_that_are_written_to(taken):
    def f(x):
        eval("0")
        first = with_a_named_default(x)
        with_a_named_default.__kwdefaults__["scale"] = x * x
        try:
            return first * with_a_named_default(x)
        finally:
            with_a_named_default.__kwdefaults__["scale"] = 2.0

    agree(f, 1.5)
    assert taken == ["with_a_named_default"] * 2


def test_defaults_of_functions_made_of_others(taken):
    def f(x):
        eval("0")

        @functools.wraps(with_a_default)
        def scaled(y, scale=x * x):
            return y * scale

        return scaled(x) * with_a_default(x)

    agree(f, 1.5)

    def g(x):
        eval("0")
        first = with_a_default(x)
        scaled = types.FunctionType(with_a_default.__code__, globals(), "scaled", (x * x,))
        return first * scaled(x) * with_a_default(x)

    agree(g, 1.5)
    assert taken == ["with_a_default"] * 4


def test_classes_made_by_calls(taken):
    def rated(model, y):
        return model.rate * y

    def f(x):
        eval("0")
        model = type("Local", (), {"rate": x * x})()
        return rated(model, x)

    agree(f, 1.5)


def sharing(scale):
    def scaled(y):
        return scale * y

    def f(x):
        eval("0")
        return scale * by_global_name(x) * scaled(x)

    return scaled, f


scaled_by_two, sharing_with_it = sharing(2.0)


def by_global_name(x):
    return scaled_by_two(x) + 1.0


def test_a_variable_that_is_captured_twice(taken):
    _, back = ad.pullback(sharing_with_it, 1.5)
    with generic_tier():
        _, expected = ad.pullback(sharing_with_it, 1.5)
    assert not difference(back(1.0), expected(1.0), rtol=1e-14)
    assert taken == ["scaled", "scaled"]


_array = np.array([1.0, 2.0, 3.0])


def the_array(x):
    return _array


def end_of_the_array(x):
    return _array[1:]


@pytest.mark.parametrize("get", [the_array, end_of_the_array])
def test_results_that_look_at_a_global_array(taken, get):
    def f(a, x):
        eval("0")
        y = get(x)
        before = y[0]
        y[0] = x
        try:
            return (y * y).sum()
        finally:
            y[0] = before

    with generic_tier():
        expected = ad.gradient(f, _array, 1.5)
    assert not difference(ad.gradient(f, _array, 1.5), expected, rtol=1e-14)


def keyed(x, scale=2.0, shift=1.0):
    return x * scale + shift


def test_keywords(taken):
    def f(x, y):
        eval("0")  # is not covered
        return keyed(x, scale=y, shift=x) * keyed(x, 3.0, shift=y) + keyed(y)

    agree(f, 1.5, 0.5)
    assert taken.count("keyed") >= 3

    def g(x, y):
        eval("0")  # is not covered
        return keyed(x, shift=y) + keyed(scale=x, x=y)

    agree(g, 1.5, 0.5)


def test_one_array_at_two_places(taken):
    def product(x, y):
        return (x * y).sum()

    def f(x):
        eval("0")  # is not covered
        return product(x, x) * product(x, x[:])

    agree(f, np.array([1.0, 2.0]))


def step(x, v, dt=0.1):
    a = -np.sin(x)
    return x + dt * v, v + dt * a, a, "step"


def turned(x, y):
    return x[::-1], x * y, y


def test_tuples(taken):
    def f(x, v):
        eval("0")
        for _ in range(3):
            x, v, a, name = step(x, v)
        return x * v + a * len(name)

    agree(f, 0.3, 0.5)

    def g(x, v):
        eval("0")
        y, z, _, _ = step(x, v)
        y[0] = x[1] * v[0]
        w, _, b, _ = step(y, z)
        return (w * y).sum() + b[1]

    agree(g, np.array([0.3, 0.1]), np.array([0.5, 0.2]))
    assert taken.count("step") == 10  # each of both functions is called twice

    def h(x, y):
        eval("0")
        a, b, _ = turned(x, y)
        return (a * b).sum() * y

    agree(h, np.array([0.3, 0.1]), 0.5)
    assert "turned" not in taken  # a view of what it was given, beside a new array


def doubled_twice(x):
    return x * 2.0, x * 2.0


def doubled_and_flipped(x):
    a = x * 2.0
    return (x * 2.0)[::-1], a


def doubled_in_a_loop(x):
    for i in range(len(x)):
        if x[i] > 0.0:
            a = x * 2.0
            b = x * 2.0
        else:
            a = x * 3.0
            b = x * 3.0
    return a, b


@pytest.mark.parametrize("both", [doubled_twice, doubled_and_flipped, doubled_in_a_loop])
def test_equal_parts_of_tuples_are_two_arrays(taken, both):
    def f(x):
        eval("0")
        a, b = both(x)
        a[0] = x[1]
        b[1] *= 3.0
        return (a * a * b).sum()

    x = np.array([0.3, -0.4, 0.8])
    agree(f, x)
    assert both.__name__ in taken
    (a, b), _ = ad.pullback(both, x)
    assert not np.shares_memory(a, b)


def test_parts_of_tuples_that_are_not_used(taken):
    def f(x, v):
        eval("0")
        return np.sum(apart(x, v)[0]) * 2.0

    assert agree(f, 0.3, 0.5)[1] == 0.0
    agree(f, np.array([0.3, 0.1]), np.array([0.5, 0.0]))  # the tiers tell the same of them
    assert set(taken) == {"apart"}


def apart(x, v):
    total = 0.0
    for _ in range(2):
        total = total + x
    return total, x * v, v


def test_parts_of_a_cotangent():
    y, back = ad.pullback(step, 0.3, 0.5)
    with generic_tier():
        expected, generic = ad.pullback(step, 0.3, 0.5)
    assert y == expected
    assert type(back) is not type(generic)
    for y_bar in [(1.0, 2.0, 3.0, None), (1.0, None, None, None), [0.5, 0.0, None, None]]:
        assert not difference(back(y_bar), generic(y_bar), rtol=1e-14)
    for wrong in [(1.0, 2.0), 1.0, (1.0, np.ones(2), 1.0, None), (1.0, 1.0, 1.0, 1.0)]:
        with pytest.raises(CotangentError) as said:
            generic(wrong)
        with pytest.raises(CotangentError, match=re.escape(str(said.value).splitlines()[0])):
            back(wrong)


# ---- what arrives --------------------------------------------------------------------------------


def unknown(x):
    return float(Decimal(x))


def test_what_is_not_known(taken):
    def f(x):
        eval("0")  # is not covered
        return unknown(keyed(x))

    with pytest.raises(NoDerivativeError):
        ad.gradient(f, 1.5)
    assert taken == ["keyed"]

    def g(x):
        eval("0")  # is not covered
        unknown(keyed(x))
        return keyed(x)

    assert ad.gradient(g, 1.5) == (2.0,)

    def h(x):
        x, v, _, _ = step(x, x)
        return unknown(x) + v

    with pytest.raises(NoDerivativeError):
        ad.gradient(h, 1.5)


def quantile(q, a):
    return scipy.special.chndtrix(q, a, 2.0) * q


def test_what_is_not_known_of_a_constant(taken):
    def f(q):
        eval("0")
        return quantile(q, 2.5)

    def g(q, a):
        eval("0")
        return quantile(q, a)

    with pytest.raises(NoDerivativeError, match="degrees of freedom"):
        ad.gradient(g, 0.3, 2.5)
    check_gradient(f, 0.3)
    h = lambda q: g(q, 2.5)  # noqa: E731
    check_gradient(h, 0.3)
    assert taken.count("quantile") >= 3


def test_what_is_not_known_of_a_part(taken):
    def f(x, v):
        eval("0")
        y, w, a, _ = step(x, v)
        unknown(y)
        return w * a

    def g(x, v, both):
        eval("0")
        y, w, _, _ = step(x, v)
        return w * unknown(y) if both else w

    agree(f, 0.3, 0.5)
    agree(lambda x, v: g(x, v, False), 0.3, 0.5)
    with pytest.raises(NoDerivativeError):
        ad.gradient(g, 0.3, 0.5, True)
    assert "step" in taken


def test_zeros_beside_what_is_not_finite(taken):
    def inverse(x):
        return 1.0 / x

    def root(x):
        return np.sqrt(x)

    def f(x):
        eval("0")  # is not covered
        return np.where(x > 0.0, root(x), 0.0).sum() + inverse(x[1:]).sum()

    agree(f, np.array([0.0, 4.0, 9.0]))
    assert {"inverse", "root"} <= set(taken)


def test_errors_are_the_users_own(taken):
    def inverse(x):
        return 1.0 / x

    def f(x):
        eval("0")  # is not covered
        try:
            return inverse(x)
        except ZeroDivisionError:
            return x

    assert agree(f, 0.0) == (1.0,)
    assert agree(f, 2.0) == (-0.25,)


# ---- when ----------------------------------------------------------------------------------------


def test_only_what_is_called_often(monkeypatch):
    count = [0]
    made = inside.call_inside

    def counted(*args):
        count[0] += 1
        return made(*args)

    monkeypatch.setattr("adjoint.runtime.dispatch.unit_call.specialised_call", [counted])

    def squared(x):
        return x * x

    def f(x):
        eval("0")  # is not covered
        return squared(x)

    for _ in range(OFTEN):
        assert ad.gradient(f, 3.0) == (6.0,)
    assert count[0] == 0
    ad.gradient(f, 3.0)
    assert count[0] == 2  # of `f` itself, too
    before = count[0]
    assert ad.grad(f, tier="generic")(3.0) == 6.0
    assert ad.grad(f, (0,), tier="generic")(3.0) == (6.0,)
    with generic_tier():
        assert ad.gradient(f, 3.0) == (6.0,)
    assert count[0] == before
    for _ in range(inside.MOST_MISSES):
        ad.gradient(f, 3.0)
    before = count[0]
    ad.gradient(f, 3.0)
    assert count[0] == before + 1  # `f` is not asked for again


def test_the_report():
    def quiet(x):
        return x * x

    def noisy(x):
        eval("0")
        return quiet(x)

    def f(x):
        eval("0")  # is not covered
        return noisy(quiet(x))

    calls = {call.function.rpartition(".")[2]: call for call in ad.tier(f, 3.0).calls}
    assert (calls["quiet"].fast, calls["quiet"].generic) == (2, 0)
    assert (calls["noisy"].fast, calls["noisy"].generic) == (0, 1)
    assert calls["noisy"].reason == "a call of eval"
    line = noisy.__code__.co_firstlineno + 1
    assert calls["noisy"].place == f"{__file__}:{line}"
    text = str(ad.tier(f, 3.0))
    assert "calls inside:" in text and "quiet: 2 fast" in text
    assert "noisy: 1 generic, because of a call of eval at" in text
    assert ad.tier(quiet, 3.0).calls == ()


def test_random_programs(taken):
    checker = Checker(seed=11)
    for number in range(150):
        checker.check(number)
    assert not checker.report.failures, "\n".join(checker.report.failures.values())
    assert len(taken) >= 30


def one_of_two(s, t):
    return (s * t, s) if s > 1 else (t, t * t)


def test_an_item_that_is_not_used_has_a_zero():
    """Which items an argument is in depends on the way that was taken."""

    def f(x, y):
        total = eval("0.0")  # not covered
        for _ in range(40):
            try:
                total += one_of_two(x, y)[1]
            except ValueError:
                pass
        return total

    for _ in range(3):
        assert ad.gradient(f, 3.0, 2.0) == (40.0, 0.0)
        assert ad.gradient(f, 0.5, 2.0) == (0.0, 160.0)
    assert any(call.fast for call in ad.tier(f, 3.0, 2.0).calls)
