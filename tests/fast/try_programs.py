"""Functions with `try`, `with` and `finally` that are programs, each with its arguments."""

from __future__ import annotations

import contextlib
import functools
import math
import warnings

import numpy as np

V = np.array([0.4, 1.3, -0.7])


def body_without_exception(x):
    try:
        return math.log(x) * x
    except ValueError:
        return 0.0


def with_else(x):
    try:
        y = x * x
    except ArithmeticError:
        y = 0.0
    else:
        y = y * x
    return y + x


def finally_after_return(x):
    seen = []

    def inner():
        try:
            return x * x
        finally:
            seen.append(3.0 * x)

    return inner() + seen[0] * x


def finally_overwrites_what_is_returned(x):
    def inner(y):
        try:
            return y * y
        finally:
            y = 100.0 * y

    return inner(x)


def jumps_past_a_finally_of_assignments(x):
    total, last, seen = 0.0, 1.0, 7.0
    for i in range(4):
        try:
            try:
                if i == 1:
                    continue
                if i == 3:
                    break
                total = total + x
            finally:
                last = i
        finally:
            seen = x * last
        total = total + seen
    return total * last + seen


def jumps_out_of_a_handler(x):
    total = 0.0
    for i in range(4):
        try:
            {}["a"]  # noqa: B018
        except KeyError as error:
            total = total + x * isinstance(error, LookupError)
            if i == 1:
                continue
            if i == 3:
                break
            total = total * x
        total = total + 1.0
    return total


def jumps_through_finally(x):
    total = [0.0]
    for i in range(5):
        try:
            if x * i > 2.5:
                break
            if i == 1:
                continue
            total[0] += x * i
        finally:
            total[0] += 0.5 * x * x
    else:
        total[0] *= 2.0
    return total[0]


def nested_finally(x):
    log = []

    def inner():
        for i in range(3):
            try:
                try:
                    if i == 1:
                        return x * i
                finally:
                    log.append(x + i)
            finally:
                log.append(x * log[-1])
        return 0.0

    return inner() + sum(log)


def missing_key(x, options):
    try:
        k = options["power"]
    except KeyError:
        k = 2.0 * x
    return k * x


def missing_attribute(v):
    try:
        scale = v.scale
    except AttributeError as error:
        assert error is not None
        scale = v[0]
    return np.sum(v * v) * scale


def array_or_number(v):
    try:
        return float(v) ** 2
    except TypeError:
        return float(np.sum(v * v * v))


def several_handlers(x):
    def looked_up(table, key):
        if not isinstance(table, dict):
            raise TypeError("no table")
        return table[key]

    total = 0.0
    for table in ({"a": x}, {}, None):
        try:
            total += looked_up(table, "a") * x
        except KeyError:
            total += 2.0 * x
        except (TypeError, IndexError):
            total += x**3
    return total


def raised_again(x):
    try:
        try:
            return {}["a"]
        except LookupError as error:
            raise ValueError("nothing there") from error
    except ValueError:
        return x * x


def bare_raise(x):
    def inner():
        try:
            raise ZeroDivisionError
        except ArithmeticError:
            raise

    try:
        return inner()
    except ZeroDivisionError:
        return x**3


def end_of_an_iterator(x):
    total = next(iter([x, 2.0 * x])) * x
    try:
        total += next(iter([]))
    except StopIteration:
        total += x
    return total


def index_out_of_range(x, xs):
    try:
        last = xs[3]
    except IndexError:
        last = xs[-1]
    return last * x


def wrong_number_of_arguments(x):
    def f(a):
        return a * a

    try:
        return f(x, x)
    except TypeError:
        return f(x) * x


def guards(x):
    assert isinstance(x, float), "a float is needed"
    if x < 0.0:
        raise ValueError(f"negative: {x}")
    if not math.isfinite(x):
        raise ArithmeticError
    return math.sqrt(x) * x


def retried(v):
    for scale in (None, "1.5", 2.0):
        try:
            factor = float(scale)
        except (TypeError, ValueError):
            continue
        return np.sum(np.sin(v * factor))
    raise RuntimeError("no scale fits")


class Scaled:
    """A context manager with state."""

    def __init__(self, factor):
        self.factor, self.depth = factor, 0

    def __enter__(self):
        self.depth += 1
        return self

    def __exit__(self, kind, error, trace):
        self.depth -= 1
        return kind is KeyError


def user_manager(x):
    manager = Scaled(2.0 * x)
    with manager as inner:
        y = x * inner.factor * inner.depth
    return y + manager.depth * x


def manager_that_swallows(x):
    y = x
    with Scaled(3.0):
        y = y * {}["a"]
    return y * y


def two_managers(x):
    with Scaled(3.0) as a, Scaled(x) as b:
        return a.factor * b.factor * x


@contextlib.contextmanager
def logged(x, log, power=2):
    log.append(x)
    try:
        yield x**power
    finally:
        log.append(3.0 * x)


def generator_manager(x):
    log = []
    with logged(x, log, power=3) as cube:
        y = cube * x
    return y + log[0] * log[1]


def left_early(x):
    log = []
    for i in range(4):
        with logged(x, log) as square:
            if i == 2:
                break
            if i == 1:
                continue
            log.append(square)
    return sum(log) * len(log)


def returned_within(x):
    log = []

    def inner():
        with logged(x, log) as square:
            if square > 1.0:
                return square * x
            less = 3.0 * square
        return less

    return inner() * log[-1]


def of_contextlib(x):
    y = x
    with contextlib.suppress(KeyError, IndexError):
        y = y * x
    with contextlib.nullcontext(y) as z, contextlib.suppress(LookupError):
        z = z * [][1]
    return z * x


def quiet(v):
    with np.errstate(divide="ignore", invalid="ignore"):
        y = np.where(v > 0, np.log(np.abs(v)), v * v)
    return np.sum(y)


def no_warnings(v):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        y = np.exp(v)
    return np.sum(y * v)


def decorated(f):
    @functools.wraps(f)
    def checked(*args, **kwargs):
        if not args:
            raise TypeError("no argument")
        try:
            return f(*args, **kwargs)
        except ZeroDivisionError:
            return 0.0

    return checked


@decorated
def reciprocal(x, scale=2.0):
    return scale / x


def by_a_decorator(x):
    return reciprocal(x) * reciprocal(x, scale=x)


def yields_in_a_try(v):
    def pairs(xs):
        try:
            for x in xs:
                yield x, 2.0 * x
        finally:
            v[0]  # noqa: B018

    return sum(a * b * a for a, b in pairs(v))


def loop_with_a_try(v):
    total = 0.0
    for i in range(len(v)):
        try:
            total = total + math.sqrt(v[i] ** 2 + 1.0)
        except ValueError:
            total = 0.0
    return total


PROGRAMS = [
    (body_without_exception, 1.7),
    (with_else, 1.7),
    (finally_after_return, 1.7),
    (finally_overwrites_what_is_returned, 1.7),
    (jumps_past_a_finally_of_assignments, 1.1),
    (jumps_out_of_a_handler, 1.1),
    (jumps_through_finally, 1.1),
    (jumps_through_finally, 0.3),
    (nested_finally, 1.7),
    (missing_key, 1.7, {"other": 3.0}),
    (missing_key, 1.7, {"power": 3.0}),
    (missing_attribute, V),
    (array_or_number, V),
    (array_or_number, 1.7),
    (several_handlers, 1.7),
    (raised_again, 1.7),
    (bare_raise, 1.7),
    (end_of_an_iterator, 1.7),
    (index_out_of_range, 1.7, [0.5, 2.5]),
    (wrong_number_of_arguments, 1.7),
    (guards, 1.7),
    (retried, V),
    (user_manager, 1.7),
    (manager_that_swallows, 1.7),
    (two_managers, 1.7),
    (generator_manager, 1.7),
    (left_early, 1.7),
    (returned_within, 1.7),
    (returned_within, 0.7),
    (of_contextlib, 1.7),
    (quiet, V),
    (no_warnings, V),
    (by_a_decorator, 1.7),
    (yields_in_a_try, V),
    (loop_with_a_try, V),
]
