"""`adjoint.testing.checked`: the first wrong rule is named, and right ones never are."""

import math
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import adjoint as ad
from adjoint.fast.programs import store
from adjoint.rulekit import registry
from adjoint.testing import checked
from tests.corpus import all_cases
from tests.levels import check_forward
from tests.structures import mapped

SRC = Path(__file__).parents[1] / "src"
CASES = all_cases()[::12]
REFUSED_FORWARD = ("cache_that_evicts", "cache_writes")


def ruled(f, pull, tangent=None):
    """`f` with a rule: the cotangents by ``pull(y_bar, *args)``, the tangent by ``tangent(dots,
    *args)``."""

    @ad.rrule.register(f)
    def _(*args):
        return f(*args), lambda y_bar: (None, *pull(y_bar, *args))

    if tangent is not None:

        @ad.frule.register(f)
        def _(dots, *args):
            return f(*args), tangent(dots, *args)

    return f


@pytest.fixture
def right():
    return ruled(lambda x: x * x, lambda y_bar, x: (2.0 * x * y_bar,))


@pytest.fixture
def wrong():
    def tripled(x):
        return x * x * x

    return ruled(tripled, lambda y_bar, x: (3.01 * x * x * y_bar,))


def line_of(f, text):
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    first = f.__code__.co_firstlineno
    return next(i for i, line in enumerate(lines[first:], first + 1) if text in line)


DERIVATIVES = {
    "gradient": lambda f, x: ad.gradient(f, x),
    "pullback": lambda f, x: ad.pullback(f, x)[1](1.0),
    "fast": lambda f, x: ad.grad(f, tier="fast")(x),
    "pushforward": lambda f, x: ad.pushforward(f, (x,), (x,)),
    "hvp": lambda f, x: ad.hvp(f, x, x),
}


@pytest.mark.parametrize("derivative", DERIVATIVES.values(), ids=DERIVATIVES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_wrong_rule_is_named(right, wrong, derivative, dtype):
    def f(x):
        y = np.sin(right(x))
        z = wrong(y)  # the first
        return np.sum(wrong(z))

    x = np.array([1.0, 2.0], dtype)
    derivative(f, x)
    with checked(), pytest.raises(ad.RuleError) as caught:
        derivative(f, x)
    text = str(caught.value)
    assert "tripled' is wrong: along a random direction of argument 0" in text
    assert "differences of" in text and f"hint: correct the rule at {__file__}:" in text
    if derivative is not DERIVATIVES["hvp"]:  # there the rule itself is run, and calls it
        assert caught.value.place.filename == __file__
        assert caught.value.place.span.line == line_of(test_a_wrong_rule_is_named, "# the first")


def test_expected_and_found():
    f = ruled(lambda a, b: a * b, lambda y_bar, a, b: (b * y_bar, 1.5 * a * y_bar))
    with checked(), pytest.raises(ad.RuleError, match=r"argument 1\D.* gives (\S+), .* (\S+) \("):
        ad.gradient(lambda x: f(x, x + 1.0), 2.0)
    with checked(), pytest.raises(ad.RuleError) as caught:
        ad.gradient(lambda x: f(x, x + 1.0), 2.0)
    words = caught.value.problem.replace(",", "").split()
    found, expected = (float(words[i + 1]) for i, w in enumerate(words) if w.startswith("give"))
    assert found == pytest.approx(1.5 * expected)


@pytest.mark.parametrize(
    "f, pull, args",
    [
        (lambda a, b: a + b, lambda y_bar, a, b: (y_bar, None), (1.0, 2.0)),
        (lambda a: a * np.conj(a), lambda y_bar, a: (2 * a * y_bar,), (np.array([1 + 2j, 3j]),)),
        (lambda xs: xs[0] * xs[1], lambda y_bar, xs: ([xs[1] * y_bar, y_bar],), ([2.0, 3.0],)),
        (lambda x: (x, x * x), lambda y_bars, x: (y_bars[0] + x * y_bars[1],), (2.0,)),
        (lambda x: x * 1e-12, lambda y_bar, x: (2e-12 * y_bar,), (3.0,)),
        (lambda x: x * x, lambda y_bar, x: (2.1 * x * y_bar,), (np.array([1e8, 1e-8]),)),
        (lambda x: x * x, lambda y_bar, x: (np.nan * y_bar,), (2.0,)),
        (lambda x: x.sum(), lambda y_bar, x: (np.r_[y_bar, [0.0] * 999],), (np.ones(1000),)),
    ],
)
def test_wrong_in_other_ways(f, pull, args):
    f = ruled(f, pull)
    ad.pullback(lambda *args: f(*args), *args)
    with checked(), pytest.raises(ad.RuleError, match="is wrong: along a random direction"):
        ad.pullback(lambda *args: f(*args), *args)


def test_a_wrong_value():
    def f(x):
        return 2.0 * x

    @ad.rrule.register(f)
    def _(x):
        return 3.0 * x, lambda y_bar: (None, 2.0 * y_bar)

    with checked(), pytest.raises(ad.RuleError, match="its value is another one than that of"):
        ad.gradient(lambda x: f(x), 1.0)


def test_a_wrong_forward_rule():
    f = ruled(lambda x: x * x, lambda y_bar, x: (2 * x * y_bar,), lambda dots, x: 3 * x * dots[0])
    with checked():
        assert ad.gradient(lambda x: f(x), 2.0) == (4.0,)
        with pytest.raises(ad.RuleError, match=r"argument 0 its tangent gives"):
            ad.pushforward(lambda x: f(x), (2.0,), (1.0,))


def test_keyword_arguments():
    def f(x, *, scale=1.0):
        return x * scale

    def register(factor):
        @ad.rrule.register(f, keyword_bars=True)
        def _(x, *, scale=1.0):
            return f(x, scale=scale), lambda y_bar: (
                None,
                scale * y_bar,
                {"scale": factor * x * y_bar},
            )

    register(1.0)
    with checked():
        assert ad.gradient(lambda x: f(x, scale=x), 3.0) == (6.0,)
    register(2.0)
    with checked(), pytest.raises(ad.RuleError, match="argument 'scale'"):
        ad.gradient(lambda x: f(x, scale=x), 3.0)


def test_an_except_clause_does_not_swallow_it(wrong):
    def f(x):
        try:
            return wrong(x)
        except Exception:
            return x

    with checked(), pytest.raises(ad.RuleError):
        ad.gradient(f, 2.0)


# ---- no false alarms -----------------------------------------------------------------------------

ROUGH = [
    (lambda x: np.abs(x), lambda y_bar, x: (np.sign(x) * y_bar,), np.array([0.0, -1.0, 1e-9])),
    (lambda x: np.maximum(x, 0.0), lambda y_bar, x: ((x > 0) * y_bar,), np.zeros(3)),
    (lambda x: np.sqrt(x), lambda y_bar, x: (y_bar / (2 * np.sqrt(x)),), np.array([0.0, 4.0])),
    (lambda x: np.floor(x), lambda y_bar, x: (0.0 * x,), np.array([1.0, 2.5])),
    (lambda x: np.log(x), lambda y_bar, x: (y_bar / x,), np.array([1e-300, 1e-9, 1.0])),
    (
        lambda x: np.arccos(x),
        lambda y_bar, x: (-y_bar / np.sqrt(1 - x * x),),
        np.array([1 - 1e-12]),
    ),
    (lambda x: np.sin(1e6 * x), lambda y_bar, x: (1e6 * np.cos(1e6 * x) * y_bar,), np.ones(2)),
    (lambda x: 1e12 + x, lambda y_bar, x: (y_bar,), 1e-3),
    (lambda x: 1.0 / x, lambda y_bar, x: (-y_bar / x / x,), np.array([np.inf, 1.0])),
    (lambda x: np.round(x, 3), lambda y_bar, x: (0.0 * x,), 0.12345),
]


@pytest.mark.parametrize("f, pull, x", ROUGH)
@pytest.mark.filterwarnings("ignore")
def test_kinks_jumps_and_ends_of_domains(f, pull, x):
    f = ruled(f, pull)
    with checked():
        ad.pullback(lambda x: f(x), x)


def test_ties_of_the_library():
    def f(x):
        return np.max(x) + np.sum(np.abs(x)) + np.median(x) + np.clip(x, 0.0, 1.0).sum() + max(*x)

    expected = ad.gradient(f, np.zeros(4))[0]
    with checked():
        assert ad.gradient(f, np.zeros(4))[0].tolist() == expected.tolist()


GLOBAL = np.random.mtrand._rand
"""The generator of ``np.random.rand``."""


def test_random_functions():
    """Nothing is said, and the generators give the numbers that they give without the check."""

    def noisy(x, rng):
        return x * rng.normal() + GLOBAL.rand() * x

    ruled(noisy, lambda y_bar, x, rng: (7.0 * y_bar, None))

    def f(x, rng):
        return noisy(x, rng) + rng.normal(loc=x) + GLOBAL.normal(x) + noisy(x, rng)

    def drawn():
        GLOBAL.seed(3)
        rng = np.random.default_rng(3)
        return ad.pullback(f, 2.0, rng)[0], GLOBAL.rand(), rng.normal()

    expected = drawn()
    with checked():
        assert drawn() == expected


def test_stateful_functions():
    calls = []

    def counting(x):
        calls.append(1)
        return x * len(calls)

    ruled(counting, lambda y_bar, x: (5.0 * y_bar,))
    with checked():
        ad.gradient(lambda x: counting(x), 2.0)

    class Counter:
        def __init__(self):
            self.count = 0

    def stepped(x, counter):
        counter.count += 1
        return x * counter.count

    @ad.rrule.register(stepped)
    def _(x, counter):
        y = stepped(x, counter)
        n = counter.count
        return y, lambda y_bar: (None, n * y_bar, None)

    counter = Counter()
    with checked():
        assert ad.gradient(lambda x: stepped(x, counter), 2.0) == (1.0,)
    assert counter.count == 1


def test_what_cannot_be_copied(tmp_path):
    def read(x, file, steps):
        return x * next(steps) + len(file.read())

    ruled(read, lambda y_bar, x, file, steps: (9.0 * y_bar, None, None))
    (tmp_path / "text").write_text("abc")
    with open(tmp_path / "text") as file, checked():
        y, _ = ad.pullback(lambda x: read(x, file, (i for i in (2.0, 3.0))), 1.0)
    assert y == 5.0


def test_arguments_are_as_they_were():
    def scaled(x, options):
        x *= options["scale"]  # writes, unlike its rule
        return x.sum()

    @ad.rrule.register(scaled)
    def _(x, options):
        return (x * options["scale"]).sum(), lambda y_bar: (
            None,
            np.full_like(x, options["scale"] * y_bar),
            {"scale": x.sum() * y_bar},
        )

    x, options = np.array([1.0, 2.0]), {"scale": 3.0}
    with checked():
        bar, options_bar = ad.gradient(lambda x, options: scaled(x, options), x, options)
    assert x.tolist() == [1.0, 2.0] and options == {"scale": 3.0}
    assert bar.tolist() == [3.0, 3.0] and options_bar == {"scale": 3.0}


def test_one_array_twice():
    f = ruled(lambda a, b: a * b, lambda y_bar, a, b: (b * y_bar, a * y_bar))
    x = np.array([1.0, 2.0])
    with checked():
        assert ad.gradient(lambda x: f(x, x).sum() + np.concatenate([x, x]).sum(), x)[
            0
        ].tolist() == [4.0, 6.0]


def test_memory_layout():
    def f(x):
        return np.ravel(x.T, order="K")[1] * np.reshape(x.T, (2, -1), order="A")[0, 1]

    x = np.arange(6.0).reshape(2, 3) + 1.0
    expected = ad.gradient(f, x)[0]
    with checked():
        assert ad.gradient(f, x)[0].tolist() == expected.tolist()


def test_views_and_integers():
    with checked():
        ad.gradient(lambda x: np.sum(x * (x.view(np.int64) > 0)), np.array([1.0, 2.0]))
        assert ad.gradient(lambda n: math.pow(n, 2) * n**2, 3) == (108.0,)


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
def test_corpus(case):
    """Right rules, and results that are those without the check."""
    sample = case.sample
    sample.reset()
    f, *args = mapped((sample.f, *sample.args))
    with checked():
        y, back = ad.pullback(f, *args, **sample.kwargs)
        back(sample.y_bar(y))
        if not case.name.endswith(REFUSED_FORWARD):
            check_forward(sample)


# ---- on and off ----------------------------------------------------------------------------------


def test_off_by_default_and_afterwards(wrong):
    def f(x):
        return np.sum(wrong(np.sin(x)))

    def g(x):
        return np.sum(np.sin(x) * x)

    x = np.array([1.0, 2.0])
    before = ad.gradient(f, x)[0]
    with checked():
        with checked(), pytest.raises(ad.RuleError):
            ad.gradient(f, x)
        with pytest.raises(ad.RuleError):
            ad.gradient(f, x)
        assert ad.tier(g, x).tier == "generic"
    assert ad.gradient(f, x)[0].tolist() == before.tolist()
    assert ad.tier(g, x).tier == "fast"
    assert registry.trusted_rule(np.sin) is not None and store.refusal == [None]


def test_the_environment():
    code = textwrap.dedent("""
        import adjoint as ad
        def f(x):
            return x * x
        @ad.rrule.register(f)
        def _(x):
            return f(x), lambda y_bar: (None, 3.0 * x * y_bar)
        print(ad.gradient(lambda x: f(x), 2.0))
        """)
    for value, expected in (("1", "RuleError"), ("", "(6.0,)"), ("0", "(6.0,)")):
        env = {**os.environ, "PYTHONPATH": str(SRC), "ADJOINT_CHECK": value}
        done = subprocess.run(
            [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False
        )
        assert expected in done.stdout + done.stderr
