"""`tier`, and what chooses between the tiers."""

import contextlib
import functools
import linecache
import math
import os
import subprocess
import sys

import numpy as np
import pytest

import adjoint as ad
from adjoint.errors import ArgumentError
from adjoint.fast.programs import store as fast
from adjoint.fast.programs.owners import MOST_CAPTURED
from adjoint.fast.programs.pullback import SpecialisedPullback
from tests.fast.agreeing import generic_tier
from tests.structures import difference


def square(x):
    return x * x


def covered(x):
    return square(x) + 1.0


def generic(xs):
    eval("0")
    return xs[1] * 2.0


def below(xs):
    return generic(xs)


def inverse(x):
    return 1.0 / x


def test_the_fast_tier():
    found = ad.tier(covered, 3.0)
    assert (found.function, found.operator, found.tier) == ("covered", "gradient", "fast")
    assert found.reason is None and found.place is None
    assert found.inlined == ("square",)
    assert found.cost > 0 and found.programs >= 1
    assert "x * x" in found.source
    assert "gradient of covered: fast tier" in str(found) and "inlined: square" in str(found)


def test_why_not_and_where():
    found = ad.tier(below, [2.0, 1.0])
    assert (found.tier, found.reason) == ("generic", "a call of eval")
    line = generic.__code__.co_firstlineno + 1
    assert found.place == f"{__file__}:{line}"
    assert found.place in str(found) and "a call of eval" in str(found)
    assert ad.gradient(below, [2.0, 1.0]) == ([0.0, 2.0],)


def test_source_that_is_not_covered():
    def written(x):
        exec("", {})
        return x * 2

    found = ad.tier(written, 1.0)
    assert found.tier == "generic" and "exec" in found.reason
    assert found.place.startswith(__file__)


def test_a_program_that_fails():
    found = ad.tier(inverse, 0.0)
    assert (found.tier, found.reason) == ("generic", "an error: ZeroDivisionError")
    assert ad.tier(inverse, 2.0).tier == "fast"
    with pytest.raises(ZeroDivisionError):
        ad.gradient(inverse, 0.0)


def test_results_that_are_not_one_number():
    found = ad.tier(lambda u: np.sin(u), np.ones(3))
    assert (found.operator, found.tier) == ("pullback", "fast")


def test_a_tuple_of_what_is_made_of_a_list():
    def f(w, x, n):
        s, i = x, 0
        while i < n:
            s = s * w[i]
            i += 1
        return w[0] * 2.0, s

    w = [1.0 + 0.1 * i for i in range(20)]
    _, back = ad.pullback(f, w, 1.5, 5)
    assert isinstance(back, SpecialisedPullback)
    assert ad.tier(f, w, 1.5, 5).tier == "fast"


def test_a_slice_of_one_fits_any_length():
    def shortest(d):
        for k in range(len(d)):
            d = np.minimum(d, d[:, k : k + 1] + d[k])
        return d.sum()

    for n in (5, 90):
        assert ad.tier(shortest, np.ones((n, n))).tier == "fast"


def test_programs_are_counted():
    def double(x):
        return x * 2

    assert ad.tier(double, 1.0).programs == 1
    assert ad.tier(double, np.float32(1.0)).programs == 2


def test_switched_off():
    with generic_tier():
        found = ad.tier(covered, 3.0)
        assert (found.tier, found.reason) == ("generic", "ADJOINT_TIER=generic")
        assert ad.gradient(covered, 3.0) == (6.0,)


@pytest.mark.parametrize("asked", ["bogus", "Generic", "fast", "generic", ""])
def test_the_environment_names_a_tier(asked):
    run = subprocess.run(
        [sys.executable, "-c", "import adjoint as ad; print(ad.tier(abs, 2.0).reason)"],
        env={**os.environ, "ADJOINT_TIER": asked},
        capture_output=True,
        text=True,
    )
    if asked in ("bogus", "Generic"):
        assert run.returncode != 0
        assert f"ArgumentError: there is no tier {asked!r}, which ADJOINT_TIER" in run.stderr
        assert "hint: set ADJOINT_TIER to 'fast' or 'generic', or leave it out" in run.stderr
    else:
        assert ("ADJOINT_TIER=generic" in run.stdout) == (asked == "generic"), run.stderr


@pytest.mark.parametrize("operator", [ad.grad, ad.value_and_grad])
def test_the_tier_of_an_operator(operator, monkeypatch):
    asked = []
    run = fast.run
    monkeypatch.setattr("adjoint.fast.programs.store.run", lambda *a: asked.append(a) or run(*a))
    plain = operator(covered)(3.0)
    count = len(asked)
    assert count
    for options in ({}, {"argnums": (0,)}):
        assert operator(covered, tier="generic", **options)(3.0)
        assert len(asked) == count
    assert operator(covered, tier="generic")(3.0) == plain
    with generic_tier():
        assert operator(covered)(3.0) == plain and len(asked) == count
        assert operator(covered, tier="fast")(3.0) == plain and len(asked) > count


@pytest.mark.parametrize("operator", [ad.grad, ad.value_and_grad])
def test_there_is_no_such_tier(operator):
    with pytest.raises(ArgumentError, match="no tier 'quick'"):
        operator(covered, tier="quick")


def test_code_for_arguments():
    assert "return" in ad.code(covered, 3.0) and "pullback" not in ad.code(covered, 3.0)
    assert ad.code(generic, [1.0, 2.0]) == ad.code(generic)


# ---- reasons are true, and places the user's -----------------------------------------------------


def halved_power(x):
    return abs((-x) ** 0.5)


def deleted_globally(x):
    global LAST
    LAST = x
    y = LAST * x
    del LAST
    return y


@pytest.mark.parametrize(
    "f, reason",
    [
        (halved_power, "a power is complex"),
        (deleted_globally, "a deletion of a global variable"),
    ],
)
def test_reasons(f, reason):
    found = ad.tier(f, 2.0)
    assert (found.tier, found.reason) == ("generic", reason)
    assert found.place is None or found.place.startswith(__file__)


def test_a_program_that_rests():
    def f(x):
        return 1.0 / x

    for _ in range(60):
        with pytest.raises(ZeroDivisionError):
            ad.gradient(f, 0.0)
    reason = ad.tier(f, 2.0).reason
    assert reason.startswith("what made this program fail ")
    assert reason.endswith(" times: an error: ZeroDivisionError")


def test_truth_values_of_numpy_are_numbers():
    """Their sum is not: it is another truth value."""
    for f in (lambda x: x * x * 1.0, lambda x: x * 2.5 + x * x * 1.0, lambda x: (x + x) * 1.5):
        expected = ad.grad(f, tier="generic")(np.bool_(True))
        assert ad.gradient(f, np.bool_(True)) == (expected,)
        assert expected == ad.gradient(f, 1.0)[0]


# ---- what programs are kept under ----------------------------------------------------------------


def logged(f):
    @functools.wraps(f)
    def wrapper(*args):
        return f(*args)

    return wrapper


@logged
def printed(x):
    print(end=eval("''"))
    return x * x


@logged
def plain(x):
    return math.sin(x) * x


class Layer:
    def __init__(self, activation):
        self.activation = activation

    def __call__(self, x):
        return 2.0 * self.activation(x)


def test_functions_under_one_decorator():
    assert ad.tier(printed, 2.0).tier == "generic"
    assert ad.tier(plain, 2.0).tier == "fast"
    assert ad.tier(Layer(printed), 2.0).tier == "generic"
    assert ad.tier(Layer(plain), 2.0).tier == "fast"
    assert ad.tier(functools.partial(printed), 2.0).tier == "generic"
    assert ad.tier(functools.partial(plain), 2.0).tier == "fast"


def test_many_ufuncs():
    for f in (
        np.sin,
        np.cos,
        np.exp,
        np.tanh,
        np.sqrt,
        np.arctan,
        np.cosh,
        np.sinh,
        np.log,
        np.tan,
    ):
        assert ad.tier(f, 1.0).tier == "fast"


def test_sources_are_dropped_with_their_programs(monkeypatch):
    monkeypatch.setattr(fast, "MOST_FUNCTIONS", 8)
    fast.forget()
    for i in range(20):
        scope = {}
        exec(f"def f(x): return {i}.5 * x * x", scope)
        assert ad.gradient(scope["f"], 2.0) == (4.0 * (i + 0.5),)
    kept = [name for name in linecache.cache if name.startswith("<adjoint fast f ")]
    assert 1 <= len(kept) <= 9


def test_functions_that_capture_each_other():
    """The key of a kept program has a length that does not grow with the ways between them."""
    names = [f"g{i}" for i in range(12)]
    lines = ["def outer():"]
    for name in names:
        others = " + ".join(f"{other}(x, k + 1)" for other in names[:3])
        lines += [f"    def {name}(x, k=0):", f"        return x if k > 1 else {others}"]
        lines += [f"        {', '.join(names)}"]  # captures all of them
    scope = {}
    exec("\n".join([*lines, "    return g0"]), scope)
    f = scope["outer"]()
    assert ad.gradient(f, 2.0) == (9.0,)
    assert all(len(key) <= MOST_CAPTURED + 1 for key in fast._kept)


def of_labels(p, y):
    return -(np.log(p) * y).sum()


@pytest.mark.parametrize("make", [ad.grad, ad.value_and_grad])
def test_programs_of_one_argument(make):
    """Labels are no number that a gradient is asked of: the gradient in all arguments is generic,
    that in the first is not."""
    p, y = np.array([0.2, 0.9]), np.array([1, 0], np.uint8)
    assert ad.tier(of_labels, p, y).reason == "a derivative with respect to integers"
    found = ad.tier(make(of_labels), p, y)
    assert (found.tier, found.operator, found.function) == ("fast", "gradient", "of_labels")
    source = ad.code(make(of_labels), p, y)
    assert "p_bar" in source and "y_bar" not in source
    assert ad.tier(make(generic), [1.0, 2.0]).reason == "a call of eval"
    assert "def build(" in ad.code(make(generic), [1.0, 2.0])
    assert ad.tier(make(of_labels, 1), p, y * 1.0).tier == "fast"


# ---- what `grad` has made: `tier` says what its calls do -----------------------------------------


def with_extra(x, y=2.0):
    return x * x * y, x


def programs_run(monkeypatch, call):
    """How many calls of specialised programs stand for a whole call."""
    asked = []
    run = fast.run

    def counted(*args):
        found = run(*args)
        asked.append(found is not fast.MISS)
        return found

    with monkeypatch.context() as patch:
        patch.setattr("adjoint.api.gradients.run_specialised", counted)
        patch.setattr("adjoint.fast.programs.store.run", counted)
        call()
    return sum(asked)


@pytest.mark.parametrize("make", [ad.grad, ad.value_and_grad])
@pytest.mark.parametrize("is_switched_off", [False, True])
@pytest.mark.parametrize("asked", [None, "fast", "generic"])
@pytest.mark.parametrize("argnums", [0, -1, (0,), (1, 0), "x", [1], None])
@pytest.mark.parametrize("has_aux", [False, True])
def test_what_calls_do(make, is_switched_off, asked, argnums, has_aux, monkeypatch):
    f = with_extra if has_aux else lambda x, y: x * x * y
    made = make(f, argnums, has_aux=has_aux, tier=asked)
    with generic_tier() if is_switched_off else contextlib.nullcontext():
        found = ad.tier(made, 3.0, 2.0)
        source = ad.code(made, 3.0, 2.0)
        count = programs_run(monkeypatch, lambda: made(3.0, 2.0))
    is_fast = asked == "fast" or (asked is None and not is_switched_off)
    assert (found.tier, count) == (("fast", 1) if is_fast else ("generic", 0))
    assert ("def build(" in source) is not is_fast and (found.source is not None) is is_fast
    expected = "tier='generic'" if asked == "generic" else "ADJOINT_TIER=generic"
    assert found.reason == (None if is_fast else expected)
    assert found.operator == ("pullback" if has_aux else "gradient")
    assert found.function == f.__qualname__


PRINTING = "a call of print: a string of what is not known"


def printing_steps(x):
    print(set(), end="\r")
    return square(x) + square(3.0 * x), x


@pytest.mark.parametrize("options", [{}, {"tier": "fast"}])
def test_calls_inside_those_with_more_than_a_value(options):
    made = ad.grad(printing_steps, has_aux=True, **options)
    with generic_tier() if options else contextlib.nullcontext():
        found = ad.tier(made, 1.5)
    line = printing_steps.__code__.co_firstlineno + 1
    assert (found.tier, found.reason) == ("generic", PRINTING)
    assert found.place == f"{__file__}:{line}"
    assert [(call.function, call.fast, call.generic) for call in found.calls] == [("square", 2, 0)]
    assert "def build(" in ad.code(made, 1.5)
    assert ad.tier(ad.grad(printing_steps, has_aux=True, tier="generic"), 1.5).calls == ()


def two_results(x, u):
    t = 0.0
    for i in range(20):
        t += math.sin(x * i) * u[i % 3]
    return t, (np.exp(u) * x)


@pytest.mark.parametrize("argnums", [0, 1, (1, 0), "u", [1]])
def test_a_value_and_something_else(argnums, monkeypatch):
    """They have a program from the second call on, with the results of the generic tier."""
    x, u = 0.7, np.array([0.3, -0.2, 1.1])
    made = ad.value_and_grad(two_results, argnums, has_aux=True)
    alone = ad.value_and_grad(lambda *args: two_results(*args)[0], argnums, tier="generic")
    if isinstance(argnums, str):
        alone = ad.value_and_grad(lambda x, u: two_results(x, u)[0], argnums, tier="generic")
    first = made(x, u)
    assert programs_run(monkeypatch, lambda: made(x, u)) == 1
    expected = alone(x, u)
    for (value, extra), bars in (first, made(x, u), made(x, u)):
        assert value == two_results(x, u)[0] == expected[0]
        np.testing.assert_array_equal(extra, two_results(x, u)[1], strict=True)
        assert not difference(bars, expected[1], rtol=1e-12)
        extra[:] = 0.0  # the caller's own
    assert ad.tier(made, x, u).tier == "fast" and "def forward" in ad.code(made, x, u)


def test_something_else_that_is_a_dict():
    f = lambda x: (x * x, {"twice": 2.0 * x})
    made = ad.value_and_grad(f, has_aux=True)
    for _ in range(3):
        assert made(3.0) == ((9.0, {"twice": 6.0}), 6.0)
    assert ad.tier(made, 3.0).tier == "fast"


@pytest.mark.parametrize("argnums", [1, -2, "z", True, (0, 1), [0, "key"], (0, [0, "key"])])
@pytest.mark.parametrize("options", [{}, {"tier": "generic"}, {"has_aux": True}])
def test_arguments_that_are_not_there(argnums, options):
    made = ad.grad(with_extra if "has_aux" in options else covered, argnums, **options)
    messages = []
    for look in (lambda f, x: f(x), ad.tier, ad.code):
        with pytest.raises(ArgumentError, match="argnums is") as raised:
            look(made, 2.0)
        messages.append(str(raised.value))
    assert len(set(messages)) == 1


def test_results_of_what_grad_has_made():
    """A call of it is one that fails, and no pullback."""
    f = lambda u: np.sin(u)
    found = ad.tier(ad.grad(f), np.ones(3))
    assert (found.operator, found.tier) == ("gradient", "generic")
    assert found.reason == "a result that is not one real number"


def test_keyword_arguments(monkeypatch):
    f = lambda x, y=1.0, z=1.0: x * x * y * z
    for call, expected in (
        (lambda: ad.gradient(f, 3.0, y=2.0, z=0.5), (6.0,)),
        (lambda: ad.gradient(f, 3.0, z=2.0), (12.0,)),
        (lambda: ad.grad(f)(3.0, y=2.0), 12.0),
        (lambda: ad.grad(f, "z")(y=2.0, x=3.0, z=2.0), 18.0),
        (lambda: ad.pullback(f, 3.0, z=2.0)[1](1.0), (None, 12.0)),
    ):
        assert programs_run(monkeypatch, call) == 1 and call() == expected
    assert ad.tier(f, 3.0, z=2.0).tier == "fast"
    assert "x" in ad.code(f, x=3.0, z=2.0) and "def build(" not in ad.code(f, x=3.0, z=2.0)
