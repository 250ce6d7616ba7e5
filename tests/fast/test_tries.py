"""Functions with `try`, `with` and `finally`: programs as long as nothing is raised, each effect
once when something is."""

from __future__ import annotations

import contextlib
import math

import numpy as np
import pytest

import adjoint as ad
from adjoint.fast.programs import store as tier
from tests.fast.agreement import agrees
from tests.fast.raising import raising
from tests.fast.try_programs import PROGRAMS
from tests.structures import difference

STEP = 1e-6


@pytest.fixture(autouse=True)
def _no_programs():
    tier.forget()


def name(case):
    return case[0].__name__


def by_both_tiers(run):
    """The result of `run`, which must be that of a program, and of the generic tier."""
    found = run()
    made = [kept for kept in tier._kept.values() if kept.entries]
    failures = sum(entry.failures.count for kept in made for entry in kept.entries)
    assert made and not failures
    before, tier.is_enabled[0] = tier.is_enabled[0], False
    try:
        return found, run()
    finally:
        tier.is_enabled[0] = before


@pytest.mark.parametrize("case", PROGRAMS, ids=name)
def test_gradient(case):
    agrees(*case)


@pytest.mark.parametrize("case", PROGRAMS, ids=name)
def test_pullback(case):
    f, *args = case

    def run():
        y, back = ad.pullback(f, *args)
        return y, back(1.5), back(-0.5), back(1.5)

    found, expected = by_both_tiers(run)
    assert not difference(found, expected, rtol=1e-11)


def along(x):
    return 0.7 if isinstance(x, float) else np.array([0.3, -0.5, 0.8])


@pytest.mark.parametrize("case", PROGRAMS, ids=name)
def test_pushforward_and_second_order(case):
    f, x, *rest = case

    def one(x):
        return f(x, *rest)

    x_dot = along(x)
    found, expected = by_both_tiers(lambda: ad.pushforward(one, (x,), (x_dot,)))
    np.testing.assert_allclose(found, expected, rtol=1e-11)
    tier.forget()
    found, expected = by_both_tiers(lambda: ad.hvp(one, x, x_dot))
    assert not difference(found, expected, rtol=1e-8)
    ends = [ad.gradient(one, x + h * x_dot)[0] for h in (STEP, -STEP)]
    np.testing.assert_allclose(found, (ends[0] - ends[1]) / (2 * STEP), rtol=1e-4, atol=1e-6)


def outcome(run):
    try:
        return tuple(run())
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize("batch", range(4))
def test_random_functions(batch):
    covered = 0
    for seed in range(batch * 12, (batch + 1) * 12):
        f = raising(seed)
        tier.forget()
        for x, n in ((0.7, 2), (2.9, 0), (-1.3, 2), (0.2, 1)):
            found = outcome(lambda: ad.value_and_grad(f)(x, n))
            expected = outcome(lambda: ad.value_and_grad(f, tier="generic")(x, n))
            assert not difference(found, expected, rtol=1e-9), (seed, x, n)
            if type(found[0]) is float:
                found = ad.pushforward(lambda x: f(x, n), (x,), (1.0,))
                np.testing.assert_allclose(found, expected, rtol=1e-9)
        covered += any(kept.entries for kept in tier._kept.values())
    assert covered >= 6


# ---- when something is raised --------------------------------------------------------------------


def test_an_exception_takes_the_generic_tier():
    log = []

    def f(x):
        log.append("called")
        return g(x)

    def g(x):
        try:
            return math.log(x) * x
        except ValueError:
            return 3.0 * x

    for x in (2.0, -2.0, 0.0, 5.0):
        expected = math.log(x) + 1.0 if x > 0 else 3.0
        assert ad.gradient(g, x) == (expected,)
        assert ad.gradient(f, x) == (expected,)
    assert len(log) == 4


@pytest.mark.parametrize("x", [0.5, 3.0, 30.0])
def test_effects_happen_once(x):
    entered = []

    @contextlib.contextmanager
    def counted(kind):
        entered.append(kind)
        try:
            yield
        finally:
            entered.append(-kind)

    def f(x):
        total = x
        with counted(1):
            try:
                if x > 1.0:
                    raise OverflowError
                total = total * x
            except OverflowError:
                total = total + math.sqrt(x)
            finally:
                entered.append(2)
        return total

    slope = 2.0 * x if x < 1.0 else 1.0 + 0.5 / math.sqrt(x)
    for _ in range(3):
        entered.clear()
        assert ad.gradient(f, x)[0] == pytest.approx(slope, rel=1e-12)
        assert entered == [1, 2, -1]


def test_an_unused_operation_still_raises():
    def f(x):
        try:
            1.0 / (x - 2.0)  # noqa: B018
            math.sqrt(x)
        except (ZeroDivisionError, ValueError):
            return -x
        return x * x

    assert [ad.gradient(f, x)[0] for x in (3.0, 2.0, -1.0, 3.0)] == [6.0, -1.0, -1.0, 6.0]


def test_an_unused_factorisation_still_raises():
    def f(a):
        try:
            np.linalg.cholesky(a)
        except np.linalg.LinAlgError:
            return np.sum(a)
        return np.sum(a * a)

    good, bad = np.array([[2.0, 0.5], [0.5, 1.0]]), np.array([[1.0, 2.0], [2.0, 1.0]])
    for a, expected in ((good, 2.0 * good), (bad, np.ones((2, 2))), (good, 2.0 * good)):
        np.testing.assert_allclose(ad.gradient(f, a)[0], expected)


def test_exceptions_reach_the_caller():
    def f(x):
        try:
            if x < 0.0:
                raise KeyError("negative")
        finally:
            x = x * 2.0
        return x

    assert ad.gradient(f, 1.0) == (2.0,)
    for run in (ad.gradient, ad.pullback):
        with pytest.raises(KeyError, match="negative"):
            run(f, -1.0)


def test_a_program_that_always_fails_rests():
    def f(x):
        try:
            math.sqrt(-abs(x))
        except ValueError:
            return x * x
        return x

    for k in range(40):
        assert ad.gradient(f, 1.0 + k) == (2.0 + 2.0 * k,)
    (entry,) = next(kept.entries for kept in tier._kept.values() if kept.entries)
    assert entry.failures.count < 16


# ---- what a handler sees -------------------------------------------------------------------------


def test_a_variable_that_the_body_has_written():
    def f(x):
        n = 1.0
        try:
            n = 2.0 * x
            n = {}["a"]
        except KeyError:
            pass
        return n * x

    agrees(f, 1.5)
    assert ad.gradient(f, 1.5) == (6.0,)


def test_a_variable_that_branches_and_loops_of_the_body_have_written():
    def f(x):
        n = m = k = x
        try:
            if x > 1.0:
                n = 2.0 * x
                if x > 2.0:
                    m = n * x
            for i in range(int(x) + 2):
                k = k * x
            else:
                n = n + k
            while k > 1.0:
                k = k * 0.5 * x if k < 3.0 else 0.5
            {}["a"]  # noqa: B018
        except KeyError:
            k = k + 1.0
        return n * m + k * x

    for x in (0.7, 1.5, 2.5):
        agrees(f, x)


def test_a_variable_that_a_branch_may_have_deleted():
    def f(x):
        n = x * x
        try:
            if x > 1.0:
                del n
            raise KeyError
        except KeyError:
            pass
        try:
            return n * x
        except NameError:
            return x * 5.0

    assert ad.gradient(f, 1.5) == (5.0,)
    assert ad.gradient(f, 0.5) == (0.75,)


def test_exceptions_that_pass_a_finally():
    def root(x, log):
        y = x
        try:
            y = y * 2.0
            if y > 2.0:
                raise ValueError("too large")
            return y**0.5
        finally:
            log.append(y)

    def f(x):
        log, total = [], 0.0
        for k in (0.5, 1.0, 2.0):
            try:
                total = total + root(k * x, log)
            except ValueError as error:
                total = total * x + len(error.args)
            else:
                total = total + 1.0
        return total * log[0] * log[1] + log[2]

    for x in (0.8, 1.5, 5.0):
        agrees(f, x)


def test_a_variable_that_a_finally_has_written():
    def f(x):
        n = 7.0
        try:
            try:
                raise KeyError
            finally:
                n = x
        except KeyError:
            return n * x

    assert ad.gradient(f, 1.5) == (3.0,)


def test_a_variable_of_an_earlier_iteration():
    def f(x):
        total = 0.0
        for i in range(3):
            try:
                if i:
                    total = total + last  # noqa: F821
                last = x * (i + 1)
                {}["a"]  # noqa: B018
            except KeyError:
                pass
        return total

    assert ad.gradient(f, 1.5) == (3.0,)


def test_a_list_that_the_body_has_changed():
    def f(x):
        xs = [x]
        try:
            xs.append(2.0 * x)
            xs[5] = x
        except IndexError:
            xs.append(x)
        return xs[1] * len(xs)

    assert ad.gradient(f, 1.5) == (6.0,)


def test_a_branch_of_the_body_that_raises_on_some_data_only():
    def f(x):
        n = x
        try:
            if x > 1.0:
                n = {}["a"]
        except KeyError:
            n = 5.0 * x
        return n

    assert [ad.gradient(f, x)[0] for x in (0.5, 2.0, 0.7)] == [1.0, 5.0, 1.0]


def test_a_loop_that_may_not_run():
    def f(x, n):
        total = x
        try:
            for _ in range(n):
                total = total * {}["a"]
        except KeyError:
            total = 3.0 * x
        return total

    assert [ad.grad(f)(2.0, n) for n in (0, 1, 2, 0)] == [1.0, 3.0, 3.0, 1.0]


def test_fields_and_keys_that_come_later():
    class Model:
        pass

    def by_attribute(x, model):
        try:
            return x * model.scale
        except AttributeError:
            return x

    def by_key(x, table):
        try:
            return x * table["scale"]
        except KeyError:
            return x

    def by_default(x, model):
        return x * getattr(model, "scale", 1.0)

    model, table = Model(), {}
    for f, given in ((by_attribute, model), (by_default, model), (by_key, table)):
        assert ad.grad(f)(2.0, given) == 1.0
    model.scale = table["scale"] = 4.0
    for f, given in ((by_attribute, model), (by_default, model), (by_key, table)):
        assert ad.grad(f)(2.0, given) == 4.0
    Model.scale = 5.0
    for f in (by_attribute, by_default):
        assert [ad.grad(f)(2.0, given) for given in (model, Model())] == [4.0, 5.0]


def test_an_exception_that_is_kept_or_returned():
    def kept(x):
        try:
            {}["a"]  # noqa: B018
        except KeyError as error:
            return x * len(error.args)

    def returned(x):
        return x * x, ValueError("never raised")

    assert ad.gradient(kept, 2.0) == (1.0,)
    y, back = ad.pullback(returned, 2.0)
    assert y[0] == 4.0 and y[1].args == ("never raised",)
    assert back((1.0, None)) == (None, 4.0)


# ---- context managers ----------------------------------------------------------------------------


def test_errors_of_numpy_that_raise():
    def f(v):
        try:
            with np.errstate(divide="raise", invalid="raise"):
                return np.sum(np.log(v))
        except FloatingPointError:
            return np.sum(v)

    good, bad = np.array([1.0, 2.0]), np.array([0.0, 2.0])
    for v, expected in ((good, 1 / good), (bad, np.ones(2)), (good, 1 / good)):
        np.testing.assert_allclose(ad.gradient(f, v)[0], expected)


def test_underflow_that_raises():
    def f(v):
        try:
            with np.errstate(all="raise"):
                return np.sum(np.exp(v))
        except FloatingPointError:
            return np.sum(v)

    assert ad.gradient(f, np.array([-740.0, 1.0]))[0].tolist() == [1.0, 1.0]


def test_a_manager_that_restores_what_it_has_changed():
    class Settings:
        scale = 1.0

        @contextlib.contextmanager
        def at(self, scale):
            before, self.scale = self.scale, scale
            try:
                yield self
            finally:
                self.scale = before

    def f(x):
        settings = Settings()
        settings.scale = x
        with settings.at(3.0 * x) as inner:
            y = inner.scale * x
        return y * settings.scale

    agrees(f, 1.5)


def test_a_generator_that_is_left_early_within_a_try():
    log = []

    def numbers(x):
        try:
            for k in range(5):
                yield k * x
        finally:
            log.append("closed")

    def f(x):
        for y in numbers(x):
            if y > 2.0:
                break
        return y

    assert ad.gradient(f, 1.5) == (2.0,)
    assert log == ["closed"]


# ---- effects before an exception that depends on numbers -----------------------------------------


def added_to(x, m):
    try:
        m[1][1:] -= 0.2 * m[0][1:]
        np.add.at(m, [0, 0], x)
        if x > 2.0:
            raise ValueError
        y = x * 2
    except ValueError:
        y = x * 3
    return y * np.sum(np.sin(m))


def lists_grown(x, m):
    grown = []
    for row in m:
        try:
            grown.append(x * row[0])
            if x > 2.0:
                raise ValueError
            grown[-1] += row[1]
        except ValueError:
            grown.append(row[2])
    return sum(v * v for v in grown) + len(grown)


@pytest.mark.parametrize("f", [added_to, lists_grown])
def test_effects_before_an_exception_that_depends_on_numbers_happen_once(f):
    for x in (1.0, 3.0, 1.5):
        given, expected, plain = (np.arange(6.0).reshape(2, 3) / 7 for _ in range(3))
        y = f(x, plain)
        found = ad.withgradient(f, x, given)
        assert found.value == pytest.approx(y, rel=1e-14)
        assert np.array_equal(given, plain)
        value, gradient = ad.value_and_grad(f, (0, 1), tier="generic")(x, expected)
        assert not difference(found.gradient, gradient, rtol=1e-12)
        assert not difference(found.value, value, rtol=1e-14)
