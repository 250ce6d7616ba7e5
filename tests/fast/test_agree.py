"""The two tiers give the same: on the corpus, the tables of rules, and random programs."""

from __future__ import annotations

import copy
import importlib
import math
import operator
import pkgutil
import warnings
from collections import Counter

import numpy as np
import pytest

import tests.rules
from adjoint.fast.reverse import differentiate
from tests.corpus import all_cases
from tests.fast import numeric
from tests.fast.agreeing import Agreement, cotangent
from tests.fast.jumping import jumping
from tests.fuzz.batches import Checker
from tests.rules.harness import Case, case
from tests.structures import mapped
from tests.support import random_cotangent


def demand(found, covered):
    """No difference, and no fewer calls in the fast tier than `covered`."""
    assert not found.problems, "\n".join(found.problems[:20])
    assert found.covered >= covered, (found.covered, found.calls, found.generic.most_common(20))


def test_the_corpus():
    found = Agreement()
    for one in all_cases():
        sample = one.sample

        def fresh(sample=sample):
            sample.reset()
            return mapped((sample.f, *sample.args))

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            y, _ = sample.plain()
        found.compare(one.name, fresh, sample.kwargs, cotangent(y))
        sample.reset()
    demand(found, covered=260)


# ---- the tables of rules -------------------------------------------------------------------------


def of_tables():
    """Every line of the tables of rules: the file, the function, and the call."""
    for info in pkgutil.walk_packages(tests.rules.__path__, "tests.rules."):
        if ".test_" not in info.name:
            continue
        module = importlib.import_module(info.name)
        tables = [t for t in vars(module).values() if isinstance(t, dict)]
        for table in tables:
            if not all(isinstance(calls, list) for calls in table.values()):
                continue
            for key, calls in table.items():
                f = getattr(*key) if isinstance(key, tuple) and len(key) == 2 else key
                for call in calls:
                    if callable(f) and isinstance(call, tuple):
                        yield info.name, f, call if isinstance(call, Case) else case(*call)


def weighted(f, kwargs, weights):
    """The sum of what `f` returns, times weights; of a complex one the real part."""
    if np.iscomplexobj(weights):
        return lambda *args: np.sum(f(*args, **kwargs) * weights).real
    if np.ndim(weights) == 0:
        return lambda *args: f(*args, **kwargs) * weights
    return lambda *args: np.sum(f(*args, **kwargs) * weights)


def on_tables(kind, step=1):
    """Each so many lines of the tables whose result is of a kind, counted by table: one that is
    added changes nothing of the others."""
    found, rng, numbers = Agreement(), np.random.default_rng(0), Counter()
    for place, f, (args, kwargs, _) in of_tables():
        number = numbers[place]
        numbers[place] += 1
        if number % (4 if ".scipy." in place else step):
            continue  # one rule there is much like the next
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                y = f(*copy.deepcopy(args), **kwargs)
        except TypeError:
            continue  # a method of an object that the case makes
        if not isinstance(y, float | complex | np.inexact | np.ndarray):
            continue
        if np.asarray(y).dtype.kind != kind:
            continue
        weights = 1.5 if np.ndim(y) == 0 else rng.standard_normal(np.shape(y))
        g = weighted(f, kwargs, weights if kind == "f" else weights * (1 - 0.5j))
        name = (
            f"{place}: {getattr(f, '__name__', f)}{[getattr(x, 'shape', x) for x in args]}{kwargs}"
        )
        found.compare(name, lambda g=g, args=args: (g, *copy.deepcopy(args)))
    return found


def test_the_tables_of_rules():
    demand(on_tables("f"), covered=1850)


def test_rules_that_are_inlined_whole(monkeypatch):
    """As they are where the partial derivatives by themselves were not understood."""
    monkeypatch.setattr(differentiate, "_are_inlined", lambda *_: False)
    demand(on_tables("f", step=3), covered=600)


def test_the_tables_of_rules_for_complex_numbers():
    demand(on_tables("c", step=4), covered=255)


# ---- random programs -----------------------------------------------------------------------------


def test_random_numbers_and_arrays():
    """Functions that consist of what the fast tier is for."""
    found = Agreement()
    for seed in range(150):
        f = numeric.numeric(seed)
        for point in (2 * seed, 2 * seed + 1):
            args = numeric.arguments(point)
            found.compare(f"{seed}, {point}", lambda f=f, args=args: (f, *copy.deepcopy(args)))
    demand(found, covered=250)  # where the tiers would differ, a call is generic


def test_random_jumps():
    """Functions that consist of little but branches, loops and ways out of them."""
    found = Agreement()
    for seed in range(150):
        jump = jumping(seed)

        def f(a, b, jump=jump):
            n, x = jump(a, b)
            return a * x + b * n

        for args in [(1.0, 0.0), (2.0, 3.0)]:
            found.compare(f"{seed}, {args}", lambda f=f, args=args: (f, *args))
    demand(found, covered=150)


def test_random_programs():
    """Programs of everything, of which about half are specialised."""
    found = Agreement()

    def held(program, f):
        y = f(*program.args())
        y_bar = random_cotangent(y, np.random.default_rng(program.seed))
        found.compare(str(program.seed), lambda: (f, *program.args()), y_bar=y_bar)

    checker = Checker(seed=17, shrink=False, held_to=held)
    for number in range(60):
        checker.check(number)
    assert not checker.report.failures
    demand(found, covered=20)
    assert found.calls >= 50


@pytest.mark.parametrize("f", [np.max, np.min], ids=["max", "min"])
@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1)])
def test_extremes_beside_nan(f, axis):
    """Where one is NaN, so is the result; in other rows, equal ones share."""
    # as many are equal to the greatest as there are rows, and columns: not one in each
    x = np.array([[1.0, 1.0, 0.5], [np.nan, 2.0, 2.0], [3.0, 1.0, 2.0], [0.5, 1.0, 1.5]])
    x = x if f is np.max else -x

    def of_one(x):
        return np.ravel(f(x, axis=axis))[0]

    def of_the_last(x):
        return np.ravel(f(x, axis=axis))[-1]

    found = Agreement()
    for g in (of_one, of_the_last):
        found.compare(g.__name__, lambda g=g: (g, x.copy()))
    found.compare("pullback", lambda: (lambda x: f(x, axis=0), x.copy()), None, np.arange(1.0, 4.0))
    demand(found, covered=1)


WHOLE = [np.uint8(200), np.int8(100), np.int32(70_000), np.int64(4 * 10**9), np.uint8(3)]
OF_ONE = [np.arctan, np.arcsinh, np.cbrt, np.exp2, np.log1p, np.reciprocal, np.sqrt, np.square, abs]
OF_TWO = [math.hypot, math.pow, np.arctan2, np.float_power, np.hypot, np.logaddexp, operator.pow]


@pytest.mark.parametrize("x", WHOLE, ids=repr)
def test_numpys_integers(x):
    """Their squares overflow, and their logarithms have few digits: slopes are those of floats."""
    found = Agreement()
    many = np.array([x, 3], x.dtype)
    for g in OF_ONE:
        found.compare(g.__name__, lambda g=g: (lambda x: g(x) * 1.5, x), None, 1.0)
    for g in OF_TWO:
        for other in (2.0, 3, 0.5, np.uint8(7), np.float32(1.5)):
            name = f"{g.__name__}, {other!r}"
            found.compare(name, lambda g=g, y=other: (lambda x, y: g(x, y) * 1.0, x, y), None, 1.0)
            found.compare(name, lambda g=g, y=other: (lambda x, y: g(y, x) * 1.0, x, y), None, 1.0)
            if isinstance(g, np.ufunc):
                found.compare(name, lambda g=g, y=other: (lambda y: g(many, y).sum() * 1.0, y))
    demand(found, covered=45)
