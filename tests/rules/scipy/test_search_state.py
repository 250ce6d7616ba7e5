"""Searches whose functions store things: their results move as those of functions that do not,
where they are the same functions; a derivative of what is stored is refused."""

import numpy as np
import pytest
from scipy import optimize
from scipy.sparse import linalg as sl

import adjoint as ad
from adjoint.errors import NoDerivativeError
from adjoint.levels.foreign import search_state

A = np.array([1.3, 0.4])
EXACT = {"xtol": 1e-14, "rtol": 1e-14}
SEEN = []
last = 0.0


class Model:
    """Of a user who keeps what happens in an optimisation, and computes in arrays of its own."""

    def __init__(self, a, kind):
        self.a, self.kind = a, kind
        self.work, self.history, self.best, self.cache = np.zeros(2), [], None, {}

    def minimised(self, x):
        if self.kind == "workspace":
            np.subtract(x, self.a, out=self.work)
            value = self.work @ self.work + self.work[0] ** 4
        else:
            d = x - self.a
            value = d @ d + d[0] ** 4
        return self.kept(x, value)

    def solved(self, x):
        if self.kind == "workspace":
            self.work[:] = x**3 + x
            self.work -= self.a
            return self.work.copy()  # SciPy keeps what it is given
        return self.kept(x, x**3 + x - self.a)

    def crossing(self, x):
        if self.kind == "workspace":
            self.work[1] = x**3 + x - self.a[0]
            return self.work[1]
        return self.kept(x, x**3 + x - self.a[0])

    def kept(self, x, value):
        global last
        if self.kind == "history":
            self.history.append((np.copy(x), value))
        elif self.kind == "best":
            if self.best is None or np.sum(value**2) < self.best[0]:
                self.best = np.sum(value**2), np.copy(x)
        elif self.kind == "cache":
            return self.cache.setdefault(np.asarray(x).tobytes(), value)
        elif self.kind == "global":
            SEEN.append(value)
            last = value * 2
        return value


def _minimum(method):
    return lambda a, kind: (
        optimize.minimize(Model(a, kind).minimised, np.zeros(2), method=method, tol=1e-10).x
    )


SEARCHES = {
    "L-BFGS-B": _minimum("L-BFGS-B"),
    "Nelder-Mead": _minimum("Nelder-Mead"),
    "SLSQP": _minimum("SLSQP"),
    "fsolve": lambda a, kind: optimize.fsolve(Model(a, kind).solved, np.zeros(2), xtol=1e-13),
    "root": lambda a, kind: optimize.root(Model(a, kind).solved, np.zeros(2), tol=1e-13).x,
    "leastsq": lambda a, kind: optimize.leastsq(Model(a, kind).solved, np.zeros(2))[0],
    "brentq": lambda a, kind: np.array([optimize.brentq(Model(a, kind).crossing, -5, 5, **EXACT)]),
}


@pytest.mark.parametrize("kind", ["workspace", "history", "best", "cache", "global"])
@pytest.mark.parametrize("name", SEARCHES)
def test_what_is_found_moves_as_without_storing(name, kind):
    search = SEARCHES[name]
    x = search(A, kind)
    if name in ("L-BFGS-B", "Nelder-Mead", "SLSQP"):
        slopes = np.eye(2)  # the minimum is at a
    else:
        slopes = np.diag(1 / (3 * search(A, "") ** 2 + 1))
        slopes = slopes if name != "brentq" else np.hstack([slopes, [[0.0]]])
    value, back = ad.pullback(lambda a: search(a, kind), A)
    np.testing.assert_array_equal(value, x)
    weights = np.arange(1.0, 1 + len(x))
    found = back(weights)[1]
    np.testing.assert_allclose(found, weights @ slopes, rtol=1e-5, atol=1e-7)
    np.testing.assert_array_equal(back(weights)[1], found)
    forward = ad.jacobian_forward(lambda a: search(a, kind), A)
    np.testing.assert_allclose(forward, slopes, rtol=1e-5, atol=1e-7)


def test_what_it_leaves_is_what_plain_python_leaves():
    left = []

    def f(a, kind):
        model = Model(a, kind)
        left.append(model)
        return optimize.minimize(model.minimised, np.zeros(2), method="L-BFGS-B").x[0]

    for kind in ("workspace", "history", "best", "cache"):
        left.clear()
        f(A, kind)
        back = ad.pullback(lambda a, kind=kind: f(a, kind), A)[1]
        back(1.0)
        ad.jacobian_forward(lambda a, kind=kind: f(a, kind), A)
        plain = left[0]
        for other in left[1:]:
            np.testing.assert_array_equal(other.work, plain.work)
            assert repr(other.history) == repr(plain.history)
            assert repr(other.best) == repr(plain.best)
            assert list(other.cache) == list(plain.cache)


# ---- whole programs, compared with differences ---------------------------------------------------


def several_searches_with_one_model(a):
    work, history, x, total = np.zeros(2), [], np.zeros(2), 0.0

    def f(z):
        work[:] = z - a
        work[1] += 0.3 * z[0]
        history.append(work @ work + 0.1 * (z @ z) ** 2)
        return history[-1]

    for method in ("L-BFGS-B", "SLSQP", "Nelder-Mead"):
        found = optimize.minimize(f, x, method=method, tol=1e-12)
        x = found.x
        total = total + x @ np.array([1.0, 2.0]) + found.fun
    return total * (len(history) > 3)


def used_before(a):
    work = np.zeros(2)
    work[0], work[1] = a * a, a
    y = a * work[0]

    def f(z):
        work[0] = z[0] - a
        return work @ work + z[0] ** 4

    return optimize.minimize(f, [0.0], method="SLSQP", tol=1e-13).x[0] * y


def a_search_in_a_search(a):
    log = []

    def f(z):
        y = optimize.brentq(lambda t: (log.append(t * a), t**3 + t - z[0] - a)[1], -9, 9, **EXACT)
        log.append(y)
        return (y - 1.0) ** 2 + z[0] ** 2

    return optimize.fmin_slsqp(f, [0.0], acc=1e-14, iprint=0)[0]


def part_of_it_cached(a):
    known = {}

    def h(x):
        if x not in known:
            known[x] = x * a
        return known[x]

    return optimize.brentq(lambda x: x**3 - a + 0.5 * h(x), 0, 5, **EXACT)


def set_up_by_the_first_call(a):
    class Problem:
        pass

    problem = Problem()

    def f(x):
        if not hasattr(problem, "level"):
            problem.level = a * a
        return x**3 - problem.level

    return optimize.brentq(f, 0, 50, **EXACT)


def drawing(a):
    rng, drawn = np.random.default_rng(0), []

    def f(x):
        drawn.append(rng.normal())
        return x**3 - a

    return optimize.brentq(f, 0, 5, **EXACT) * rng.normal()


@pytest.mark.parametrize(
    "f",
    [
        several_searches_with_one_model, used_before, a_search_in_a_search, part_of_it_cached,
        set_up_by_the_first_call, drawing,
    ],
)  # fmt: skip
def test_programs(f):
    step = 1e-4
    difference = (f(2.0 + step) - f(2.0 - step)) / (2 * step)
    value, slope = ad.value_and_grad(f)(2.0)
    assert value == f(2.0)
    np.testing.assert_allclose([slope, ad.derivative(f)(2.0)], difference, rtol=1e-3)


def test_second_derivatives():
    def f(a):
        work, history = np.zeros(2), []

        def cost(z):
            work[:] = z - a[0]
            history.append(work @ work + 0.1 * (z @ z) ** 2)
            return history[-1]

        found = optimize.minimize(cost, np.zeros(2), method="SLSQP", tol=1e-13)
        return found.x @ np.array([1.0, 2.0]) + found.fun

    def slow(a):
        return optimize.newton(lambda y: 2 * (y - a) + 0.8 * y**3, 1.0, tol=1e-14, maxiter=200)

    def value(a):
        y = slow(a)
        return 3 * y + 2 * (y - a) ** 2 + 0.4 * y**4

    second = (value(2.0 + 1e-3) - 2 * value(2.0) + value(2.0 - 1e-3)) / 1e-6
    np.testing.assert_allclose(ad.hessian(f, np.array([2.0])), second, rtol=1e-4)


# ---- what is put back ----------------------------------------------------------------------------


class Part:
    pass


def far_inside(a, left):
    model, rows = Part(), [np.array([i, 1.0]) for i in range(5000)]
    model.rows, model.part, model.history = rows, Part(), []
    model.part.values, model.part.best = {}, [1.0]
    left.append(model)

    def f(x):
        if x not in model.part.values:
            model.part.values[x] = x * a
        model.part.best = [x]
        model.history.extend([x] for _ in range(500))
        return x**3 - a + 0.5 * model.part.values[x]

    return optimize.brentq(f, 0, 5, **EXACT)


def test_models_of_many_objects():
    left = []
    far_inside(2.0, left)
    value, back = ad.pullback(lambda a: far_inside(a, left), 2.0)
    assert back(1.0)[1] == pytest.approx(0.125)
    plain, other = left[:2]
    assert list(other.part.values) == list(plain.part.values) != []
    assert other.part.best == plain.part.best == [value]
    assert len(other.history) == len(plain.history)


def test_models_of_too_many_objects(monkeypatch):
    monkeypatch.setattr(search_state, "MOST", 100)
    with pytest.raises(NoDerivativeError, match="reaches more than"):
        ad.grad(lambda a: far_inside(a, []))(2.0)


def test_flags_and_counts_in_arrays():
    left = []

    def f(a):
        filled, values, calls = np.zeros(4, bool), np.zeros(4), np.zeros(1, int)
        left.append((filled, calls))

        def g(x):
            calls[0] += 1
            for i in range(4):
                if not filled[i]:
                    values[i], filled[i] = a * i, True
            return x**3 - values[1]

        return optimize.brentq(g, 0, 5, **EXACT)

    f(2.0)
    slope = 2.0 ** (-2 / 3) / 3
    np.testing.assert_allclose([ad.grad(f)(2.0), ad.derivative(f)(2.0)], slope)
    for filled, calls in left[1:]:
        np.testing.assert_array_equal(filled, left[0][0])
        np.testing.assert_array_equal(calls, left[0][1])


# ---- what is refused -----------------------------------------------------------------------------


def warm_start(a):
    y = [1.0]

    def f(x):
        for _ in range(2):
            y[0] = 0.5 * (y[0] + (x + a) / y[0])
        return y[0] ** 3 - 4 * a

    return optimize.brentq(f, 0.1, 50)


def a_penalty_that_changes(a):
    weight = {"of": 1.0}

    def weaker(*_):
        weight["of"] *= 0.5

    def f(z):
        return (z[0] - a) ** 2 + weight["of"] * z[0] ** 2

    return optimize.minimize(f, [0.0], method="L-BFGS-B", callback=weaker).x[0]


def the_value_there_of_another_function(a):
    calls = [a]

    def f(z):
        calls.append(calls[-1] * 0.9)
        return (z[0] - 1.0) ** 2 + calls[-1]

    return optimize.minimize(f, [0.0], method="SLSQP").fun


def the_history(a):
    history = []

    def f(z):
        history.append((z[0] - a) ** 2 + z[0] ** 4)
        return history[-1]

    return optimize.minimize(f, [0.0], method="L-BFGS-B").x[0] + sum(history)


def the_workspace(a):
    work = np.zeros(2)

    def f(z):
        work[0] = z[0] - a
        return work @ work + z[0] ** 4

    return optimize.minimize(f, [0.0], method="L-BFGS-B").x[0] + work[0]


def the_best(a):
    best = [np.inf]

    def f(z):
        value = (z[0] - a) ** 2 + a * z[0] ** 4
        best[0] = min(best[0], value)
        return value

    optimize.minimize(f, [0.0], method="Nelder-Mead")
    return best[0]


def a_float_as_a_key(a):
    seen = {}

    def f(x):
        y = x**3 - a
        seen[y] = len(seen)
        return y

    return optimize.brentq(f, 0, 5, **EXACT) + min(seen)


def what_stood_there_before(a):
    work = np.array([2.0, 0.0])

    def f(x):
        work[0] = a
        work[1] = x**3 - a
        return work[1]

    return optimize.brentq(f, 0, 5, **EXACT) + work[0]


@pytest.mark.parametrize(
    "f",
    [
        a_float_as_a_key, what_stood_there_before,
        warm_start, a_penalty_that_changes, the_value_there_of_another_function, the_history,
        the_workspace, the_best,
    ],
)  # fmt: skip
def test_what_depends_on_what_is_stored_is_refused(f):
    for differentiate in (ad.grad(f), ad.derivative(f)):
        with pytest.raises(NoDerivativeError, match="stores something while it searches"):
            differentiate(2.0)


@pytest.mark.parametrize("find", [optimize.fsolve, lambda f, x: optimize.root(f, x).x])
def test_what_objects_of_scipy_keep_of_active_values(find):
    """An operator keeps its adjoint when it is first asked for it: by a search, that is a
    constant."""

    def f(a):
        operator = sl.aslinearoperator(a)
        return find(lambda z: operator.H @ z - RIGHT, np.zeros(2)).sum()

    a = np.array([[2.0, 0.3], [0.1, 1.5]])
    expected = ad.gradient(lambda a: np.linalg.solve(a.T, RIGHT).sum(), a)[0]
    np.testing.assert_allclose(ad.gradient(f, a)[0], expected, rtol=1e-9)
    np.testing.assert_allclose(ad.pushforward(f, (a,), (a,))[1], np.sum(a * expected), rtol=1e-9)


RIGHT = np.array([1.0, 2.0])
