"""What a program prints: once, in order, and as if the function itself had run."""

from __future__ import annotations

import contextlib
import io
import logging
import sys
import time
import warnings

import numpy as np
import pytest

import adjoint as ad
from adjoint.fast.build.modes import PULLBACK
from adjoint.fast.programs import store
from tests.fast.agreeing import generic_tier
from tests.fast.second_order import check_programs

POINT = np.array([0.7, 1.3, -0.6])
V = np.array([0.3, -0.2, 0.5])


def printed(run):
    with contextlib.redirect_stdout(io.StringIO()) as text, contextlib.redirect_stderr(text):
        found = run()
    return found, text.getvalue()


def report(a, total):
    print(f"sum {total:.3f}", "of", len(a), sep="|", end=";\n")


def numbers(a):
    total = np.sum(a * a)
    print("begin", a[0], total, True, None)
    report(a, total)
    print("%s and %5.2f" % ("text", total), repr(total), str(a.shape) + "!")
    print()
    return total * a[1]


def arrays_that_are_written_later(a):
    y = a * 2.0
    print(y, [y[0], 1.0], (a, "x"))
    y[0] = 9.0 * a[1]
    print("y = {} {z}".format(y, z=y[0]))  # noqa: UP032
    return np.sum(y * y)


def in_an_unrolled_loop(a):
    total = 0.0
    for k, x in enumerate((a[0], a[1])):
        total = total + x * x
        print(k, total, flush=True)
    return total


def of_plain_numbers(a):
    x = float(a[0])
    y = x * 3 if x > 0.5 else x
    print(x, y, 2 * int(x), abs(-x))
    return y * x


def in_a_branch(a):
    if a[0] > 0.5:
        print("large", a[0])
    else:
        print(f"small {a[1]:.3f}")
    return a[0] ** 2


def in_a_loop(a):
    total = 0.0
    for x in a:
        total = total + x * x
        print(total, repr(x))
    return total


def in_a_loop_that_is_left(a):
    x = a.copy()
    for step in range(50):
        new = np.cos(x) + 0.1 * a
        if step % 5 == 0:
            print(f"{step}: {x}")
        if np.abs(new - x).max() < 1e-2:
            print("converged", step)
            break
        x = new
    else:
        print("not converged")
    return np.sum(x * a)


def in_a_loop_of_unknown_length(a):
    x, steps = a[0], 0
    while abs(x) < 30.0:
        x = x * x + 2.0 * a[1] ** 2
        steps += 1
        print("step", steps, x)
    return x


def in_a_helper(a):
    def shown(x):
        print("shown", x)
        return np.sin(x)

    return sum(shown(x) for x in a) + sum(map(shown, a)) * sum([shown(x) for x in a[:2]])


def of_written_arrays(a):
    y = np.zeros(3)
    for i in range(3):
        y[i] = a[i] ** 2
        print(y, y[i])
    y[0] = a[1]
    print("end", y)
    return y.sum() * y[1]


def of_a_number_or_none(a):
    best = None
    for x in a:
        if x > 1.0 and (best is None or x > best):
            best = x
    print(f"{best=}", best)
    return np.sum(a**3)


def of_the_greatest(a):
    scores = {"a": a[0], "b": 2 * a[1], "c": a[2] ** 2}
    best = max(scores, key=scores.get)
    print(f"{best=}")
    return scores[best] * a[0]


def of_a_list_that_may_be_empty(a):
    found = []
    for x in a:
        if x > 0.5:
            found.append(f"{x:.2f}")
    if found:
        print(len(found), "; ".join(found))
    return np.sum(a**3)


def of_a_search(a):
    def halved(x):
        for count in range(20):
            if np.sum(x) < 1e-3:
                return x, count
            x = x * 0.5
        raise RuntimeError("no end")

    u, count = halved(a * a)
    print(f"after {count}")
    return np.sum(u) * a[0]


def of_a_sorted_table(a):
    rows = [("u", a[0]), ("v", 2 * a[1]), ("w", a[2] ** 2)]
    for i, (name, x) in enumerate(sorted(rows, key=lambda row: -row[1])):
        print(f"{i}. {name:<4} {x:.3f}")
    best = max(rows, key=lambda row: row[1])
    print("best:", best[0], "with", best[1])
    return best[1] * a[0]


def messages_of_branches(a):
    def label(x):
        if x > 1:
            return f"large {x:.1f}"
        return "middle" if x > 0 else f"small {x:.2f} {x * x}"

    print(label(a[0]), label(a[1]), "positive" if a[2] > 0 else f"no: {a[2]}")
    for x in a:
        print(label(x), end="|")
    return np.sum(a * a)


def messages_of_iterations(a):
    latest = "nothing"
    for k in range(60):
        if a[k % 3] * k > 20.0:
            latest = f"{k}: {a[k % 3] * k}"
        if a[k % 3] > 0:
            seen = f"positive {a[k % 3]}"
    print(latest)
    print(seen)
    return np.sum(a**3)


def numbers_of_several_classes(a):
    total, count, x = 0, 0, a[0]
    for k in range(40):
        if a[k % 3] > 0.6:
            total, count = total + a[k % 3] ** 2, count + 1
        print(f"{total:.3f}", repr(total), [total], f"{count=}")
        x = 1.0 if x > 2 else x * 1.1
        print(repr(x))
    return total * a[0] * x


def around_a_derivative(a):
    def inner(x):
        print("inside", x)
        return x**3

    print("around")
    x = a[0]
    for k in range(3):
        (slope,) = ad.gradient(inner, x)
        x = x - 0.01 * slope
        print(k, x, slope)
    return x * np.sum(ad.hvp(lambda y: np.sum(inner(y)), a, a))


FAST = [
    of_a_sorted_table,
    messages_of_branches,
    messages_of_iterations,
    numbers_of_several_classes,
    around_a_derivative,
    numbers,
    arrays_that_are_written_later,
    in_an_unrolled_loop,
    of_plain_numbers,
    in_a_branch,
    in_a_loop,
    in_a_loop_that_is_left,
    in_a_loop_of_unknown_length,
    in_a_helper,
    of_written_arrays,
    of_a_number_or_none,
    of_the_greatest,
    of_a_list_that_may_be_empty,
    of_a_search,
]


def before_an_exception(a):
    print("before", a[0])
    try:
        y = 1.0 / int(a[0])
    except ZeroDivisionError:
        y = a[1]
    print("after", y)
    return y * a[0]


def of_lists_that_change(a):
    found = []
    for k in range(50):
        if a[k % 3] * k > 20:
            found.append(a[k % 3])
        if k == 45:
            print(found)
    text = f"{found} and {found!r}"
    found.append(1.0)
    found[0] = a[0] ** 2
    print(text, {"found": found, "a": [a, None, True, "x"]}, (1, found))
    return sum(found) * a[1]


FAST.append(of_lists_that_change)

SHOWN = [
    lambda a: {"u": a[0], "v": {"w": [a[1], (1, a[2] * a[0])]}, 3: a},
    lambda a: [list({"u": a[0]}.items()), [], {}, (), [[1, 2], [3.0, None]]],
    lambda a: [x for x in a],  # noqa: C416
    lambda a: [f"{x:.1f}" for x in a],
    lambda a: ", ".join(f"{x:.2f}" for x in a),
    lambda a: sorted(a),
    lambda a: f"{a[0]:.3f}".rjust(10) + "|" + f"{a[1]:.1f}".center(9, "*").upper(),
    lambda a: "-" * int(3 * abs(a[0]) + 2),
    lambda a: a.dtype,
    lambda a: a.astype(np.float32),
    lambda a: (complex(a[0], 1.0), a > 0, int(a[1] > 0), np.float32(a[1]), (a > 0).sum()),
    lambda a: "%5.2f %s %d" % (a[0], a, 3) + f"{a[0]:{10}.{2}e} {a.mean():+.1%} {len(a)=}",
]


@pytest.mark.parametrize("shown", SHOWN)
def test_text_of(shown):
    def f(a):
        print(shown(a), str(shown(a)), f"{shown(a)}")
        return a @ a

    for point in (POINT, -POINT[::-1]):
        for run in (ad.gradient, ad.hessian, lambda f, x: ad.pushforward(f, (x,), (x,))):
            text = printed(lambda run=run, point=point: run(f, point))[1]
            assert text == printed(lambda point=point: f(point))[1]
    assert printed(lambda: ad.tier(f, POINT))[0].tier == "fast"


def for_each_row(a):
    def shown(x):
        print("row", x)
        return x**3

    return np.sum(ad.vmap(shown)(a))


def of_a_variable_without_a_value(a):
    if a[0] > 0.65:
        text = f"large {a[0]}"
    try:
        print(text)
    except UnboundLocalError:
        print("no text")
    return a @ a


ALL = [*FAST, before_an_exception, for_each_row, of_a_variable_without_a_value]


@pytest.mark.parametrize("f", FAST, ids=lambda f: f.__name__)
def test_prints_in_programs(f):
    printed(lambda: check_programs(f, POINT))
    assert printed(lambda: ad.tier(f, POINT))[0].tier == "fast"


@pytest.mark.parametrize("f", ALL, ids=lambda f: f.__name__)
def test_what_is_printed(f):
    for point in (POINT, POINT[::-1].copy(), -POINT):
        check_text(f, point)


def check_text(f, point):
    """Require that each operator prints what the function prints, once."""
    _, expected = printed(lambda: f(point.copy()))
    for _ in range(2):
        (slope,), text = printed(lambda: ad.gradient(f, point))
        assert text == expected
        value, text = printed(lambda: ad.withgradient(f, point)[0])
        assert text == expected
        (y, back), text = printed(lambda: ad.pullback(f, point))
        assert text == expected
        assert printed(lambda: back(1.0))[1] == ""
        with generic_tier():
            (wanted,), _ = printed(lambda: ad.gradient(f, point))
        np.testing.assert_allclose(slope, wanted, rtol=1e-12)
        for run in (
            lambda: ad.pushforward(f, (point,), (V,)),
            lambda: ad.hvp(f, point, V),
            lambda: ad.gradient_and_hvp(f, point, V),
            lambda: ad.hessian(f, point),
            lambda: ad.jacobian(f, point),
        ):
            found, text = printed(run)
            assert text == expected
            with generic_tier():
                wanted, plain = printed(run)
            assert text == plain
            for one, other in zip(found, wanted, strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


def test_a_linearized_function_prints_once():
    for f in (numbers, in_a_loop_of_unknown_length):
        _, expected = printed(lambda f=f: f(POINT))
        for linear in (ad.linearize, lambda f, x: ad.linearize(ad.grad(f), x)):
            (_, push), text = printed(lambda f=f, linear=linear: linear(f, POINT))
            assert text == expected
            for dot in (V, 2 * V, V.astype(np.float32), V * np.inf):  # the last two run it again
                with np.errstate(all="ignore"):
                    assert printed(lambda push=push, dot=dot: push(dot))[1] == ""
            slope, text = printed(lambda push=push: ad.gradient(lambda v: np.sum(push(v)), V))
            assert text == ""


def test_a_pullback_prints_once():
    def f(a):
        print("point", a)
        return a * np.exp(a), {"sum": np.sum(a)}

    def g(a):
        print("point", a, file=sys.stderr)
        return np.sum(a * np.exp(a))

    store.forget()
    for y_bar, h in (((V, {"sum": 1.0}), f), (2.0, g)):
        (_, back), text = printed(lambda h=h: ad.pullback(h, POINT))
        assert text == f"point {POINT}\n"
        wide = (V * np.inf, None) if h is f else np.inf  # runs the function again
        for bar in (y_bar, wide, y_bar):
            with np.errstate(all="ignore"):
                found, text = printed(lambda back=back, bar=bar: back(bar))
            assert text == ""
        with generic_tier():
            np.testing.assert_allclose(found[1], ad.pullback(h, POINT)[1](y_bar)[1], rtol=1e-12)
        assert len(store.known(h, PULLBACK).entries) == 1
    xs = [POINT, POINT]  # one variable at two places
    (_, back), text = printed(lambda: ad.pullback(lambda xs: g(xs[0]) + g(xs[1]), xs))
    assert text == 2 * f"point {POINT}\n"
    pair, text = printed(lambda: ad.value_and_grad(lambda a: (g(a), a), has_aux=True)(POINT))
    assert text == f"point {POINT}\n"


def test_calls_inside_the_generic_tier():
    def inner(x):
        print("inner", x)
        return x * x

    def f(a):
        total = 0.0
        for x in eval("a"):  # only the generic tier
            total = total + inner(x) * a[0]
        return total

    _, expected = printed(lambda: f(POINT))
    for _ in range(12):
        (slope,), text = printed(lambda: ad.gradient(f, POINT))
        assert text == expected


def test_a_failure_after_a_line():
    def f(x):
        print("point", x)
        return np.sum(np.sqrt(x) * x)

    for point in ([1.0, 2.0], [0.0, 1.0], [1e-320, 1.0]):
        x = np.array(point)
        _, expected = printed(lambda x=x: f(x))
        for run in (ad.gradient, ad.hessian, lambda f, x: ad.hvp(f, x, np.ones(2))):
            with np.errstate(all="ignore"):
                assert printed(lambda run=run, x=x: run(f, x))[1] == expected


def test_other_points():
    ad.gradient(lambda a: a @ a, POINT)
    for scale in (1.0, 2.0, -1.0):
        x = POINT * scale
        assert printed(lambda: ad.gradient(numbers, x))[1] == printed(lambda: numbers(x))[1]


def test_a_clock():
    def timed(a):
        begin = time.perf_counter()
        y = np.sum(a * a)
        taken = time.perf_counter() - begin
        return y if taken >= 0.0 else y * 0.0

    assert ad.gradient(timed, POINT)[0].tolist() == (2 * POINT).tolist()
    assert ad.tier(timed, POINT).tier == "fast"


def test_text_of_a_list_that_a_branch_may_have_extended():
    def f(x, xs):
        if x > 0.5:
            xs.extend([x, x])
        return len(repr(xs)) * 0.0 + sum(xs) * x

    for x in (0.7, 0.2):
        found = ad.grad(f)(x, [0.1, 0.2, 0.3])
        with generic_tier():
            assert found == ad.grad(f)(x, [0.1, 0.2, 0.3])


class Model:
    def __init__(self):
        self.log = logging.getLogger("adjoint.tests.model")

    def energy(self, a):
        self.log.info("energy of %s", a)
        return a @ a


LOGGER = logging.getLogger("adjoint.tests.logger")


def with_a_logger(a):
    LOGGER.info("at %s: %.3f", a, a[0])
    for k in range(3):
        logging.getLogger("adjoint.tests.logger").debug(f"step {k}: {a[k]}")
    if a[0] > 100.0:
        LOGGER.warning("large")
        warnings.warn("large", stacklevel=2)
    LOGGER.log(logging.INFO, "%(first)s", {"first": a[0]})
    return Model().energy(a) * a[1]


def test_a_logger_that_is_disabled_and_enabled():
    root = logging.getLogger("adjoint.tests")
    store.forget()
    form = logging.Formatter("%(name)s %(pathname)s:%(lineno)d %(funcName)s:%(message)s")
    try:
        for level in (logging.WARNING, logging.INFO, logging.WARNING, logging.DEBUG):
            root.setLevel(level)
            root.handlers, root.propagate = [logging.StreamHandler(text := io.StringIO())], False
            root.handlers[0].setFormatter(form)
            with_a_logger(POINT)
            expected = text.getvalue()
            assert bool(expected) is (level < logging.WARNING)
            for run in (ad.gradient, ad.hessian, lambda f, x: ad.pullback(f, x)[1](np.inf)):
                text.truncate(0)
                text.seek(0)
                run(with_a_logger, POINT)
                assert text.getvalue() == expected
            assert ad.tier(with_a_logger, POINT).tier == "fast"
    finally:
        root.handlers, root.propagate = [], True
        root.setLevel(logging.NOTSET)


def test_progress():
    def f(a):
        total = 0.0
        for k in range(20):
            total = total + np.sin(total + a[k % 3])
            sys.stderr.write(f"\r{k}: {total:.3f}")
            sys.stderr.flush()
        sys.stdout.write("end\n")
        return total

    for run in (ad.gradient, ad.hessian, lambda f, x: ad.hvp(f, x, x)):
        for x in (POINT, -POINT):
            text = printed(lambda run=run, x=x: run(f, x))[1]
            assert text == printed(lambda x=x: f(x))[1]
    assert printed(lambda: ad.tier(f, POINT))[0].tier == "fast"


def test_a_level_that_a_logger_has_not_been_asked_for():
    def f(a):
        logging.getLogger("adjoint.tests.unasked").info("at %s", a)
        return a @ a

    assert ad.tier(f, POINT).tier == "fast"
    logging.getLogger("adjoint.tests").setLevel(logging.INFO)
    try:
        assert ad.tier(f, POINT).reason == "a call of a logger that is enabled"
        logging.disable(logging.INFO)
        assert ad.tier(f, POINT).tier == "fast"
    finally:
        logging.disable(logging.NOTSET)
        logging.getLogger("adjoint.tests").setLevel(logging.NOTSET)


def test_records_that_other_code_handles():
    class Kept(logging.Handler):
        def emit(self, record):
            return record.getMessage()

    root = logging.getLogger("adjoint.tests")
    root.setLevel(logging.INFO)
    root.handlers, root.propagate = [Kept()], False
    try:
        assert ad.tier(with_a_logger, POINT).tier == "generic"
    finally:
        root.handlers, root.propagate = [], True
        root.setLevel(logging.NOTSET)
