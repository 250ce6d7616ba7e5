"""Numbers in exceptions that C has raised, or has put into fields: refused in reverse mode where a
derivative is needed, and known in forward mode."""

from __future__ import annotations

import contextlib
import copy
import sys
import threading
import types

import pytest

import adjoint as ad
from adjoint.errors import NoDerivativeError


class Stopped(SystemExit):
    def __init__(self, value):
        super().__init__(value)
        self.value = value


class Missing(AttributeError):
    def __init__(self, text, value):
        super().__init__(text, name=text, obj=value)


class Unread(OSError):
    def __init__(self, value):
        super().__init__(2, "unread", value)


def fields_that_c_holds(x):
    found = Stopped(x).code * Stopped(x * x).value + Missing("name", x).obj * Unread(x).filename
    error = SyntaxError("text", ("file", 1, 2, x))
    other = ImportError("a", name=x)
    other.__init__("b", name=other.name * x, path=x)
    try:
        raise Unread(error.text * x)
    except OSError as raised:
        return found + raised.filename * other.name + other.path * error.args[1][3]


def left_by_exit(x):
    try:
        sys.exit(x * x)
    except SystemExit as error:
        first = error.code
    try:
        sys.exit()
    except SystemExit as error:
        return first * x if error.code is None else 0.0


def keys_that_are_missing(x):
    total, table = 0.0, {}
    try:
        table[x * x]
    except KeyError as error:
        total += error.args[0] * x
    try:
        table.pop(x * 2.0)
    except KeyError as error:
        total += error.args[0] * x
    try:
        del table[x + 1.0]
    except KeyError as error:
        total += error.args[0] * x
    for key in (x, x * 3.0):
        try:
            types.MappingProxyType(table)[key]
        except KeyError as error:
            total += error.args[0] * x
    return total


def numbers_without_an_attribute(x):
    try:
        x.nothing
    except AttributeError as error:
        first = error.obj
    try:
        (x * x).nothing()
    except AttributeError as error:
        second = error.obj
    try:
        getattr(first * x, "nothing")  # noqa: B009
    except AttributeError as error:
        return first * second * error.obj


class Swallowing:
    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        self.key = error.args[0]
        return True


def missing_keys_that_managers_see(x):
    with Swallowing() as outer:
        {}[x * x]
    with Swallowing() as inner, contextlib.ExitStack():
        {}[x * outer.key]
    return inner.key * outer.key


def missing_keys_that_go_on(x):
    def looked_up(table, key):
        try:
            return table[key]
        except KeyError:
            raise
        finally:
            table[0.0] = key

    table = {}
    try:
        looked_up(table, x * x)
    except KeyError as error:
        first = error.args[0]
    try:
        try:
            looked_up(table, first * x)
        except KeyError as error:
            raise ValueError(x) from error
    except ValueError as error:
        return error.__cause__.args[0] * error.args[0] * table[0.0]


def missing_keys_in_a_loop(x):
    total = 0.0
    for n in range(3):
        try:
            total += {0.0: x}[x * n]
        except KeyError as error:
            total += error.args[0] * x
    return total


def constants_that_are_missing(x):
    total = 0.0
    for key in (2.5, 3.5):
        try:
            {}[key]
        except KeyError as error:
            total += error.args[0] * x
    return total


def arguments_of_an_error_of_a_file(x):
    """C cuts ``args`` to two, and keeps the others in fields."""
    try:
        raise OSError(x, "z", "file")
    except OSError as error:
        first = error.errno * error.args[0]
    return first * copy.copy(OSError(1, x, "file")).strerror


def raised_by_c_under_a_lock(x, y=0.4):
    """What holds it passes the end of a `with` on its way."""
    lock, known = threading.RLock(), {}

    def look_up(key):
        with lock:
            with lock:
                return known[key * y]

    try:
        return look_up(x)
    except KeyError as error:
        once = error.args[0] * x
    try:
        try:
            look_up(x * x)
        finally:
            known[1.0] = y
    except KeyError as error:
        return once + error.args[0] ** 2 * known[1.0]


def given_by_name(x):
    return AttributeError("a", obj=x * x).obj * x


REFUSED = [
    given_by_name,
    fields_that_c_holds,
    left_by_exit,
    keys_that_are_missing,
    numbers_without_an_attribute,
    missing_keys_that_managers_see,
    missing_keys_that_go_on,
    missing_keys_in_a_loop,
    constants_that_are_missing,
    arguments_of_an_error_of_a_file,
    raised_by_c_under_a_lock,
]


@pytest.mark.parametrize("tier", ["fast", "generic"])
@pytest.mark.parametrize("f", REFUSED)
def test_reverse_mode_refuses_it(f, tier):
    y, y_dot = ad.pushforward(lambda v: f(v), (1.3,), (1.0,))
    slope = (f(1.3 + 1e-6) - f(1.3 - 1e-6)) / 2e-6
    assert y == f(1.3)
    assert y_dot == pytest.approx(slope, rel=1e-7)
    with pytest.raises(NoDerivativeError, match="which (was raised by code that|C has filled)"):
        ad.grad(f, tier=tier)(1.3)
