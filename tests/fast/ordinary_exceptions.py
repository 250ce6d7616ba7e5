"""Exceptions that depend on numbers and are caught: functions of one array of four floats, which
run as programs. At the points of the tests some raise and some do not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

TABLE: dict[str, Callable[[np.ndarray], Any]] = {}


def program(f: Callable[[np.ndarray], Any]) -> Callable[[np.ndarray], Any]:
    TABLE[f.__name__] = f
    return f


class TooLarge(Exception):
    def __init__(self, amount):
        super().__init__()
        self.amount = amount


def limited(x, most):
    if x > most:
        raise TooLarge(x - most)
    return x * most


@program
def caught(a):
    try:
        y = limited(a[0] * a[0], 0.5)
    except TooLarge as error:
        y = 2.0 * error.amount
    return y * a[1]


@program
def in_a_loop(a):
    total = 0.0
    for x in a:
        try:
            total += limited(x * x, 0.6)
        except TooLarge:
            total -= x
    return total * a[3]


@program
def one_of_several(a):
    try:
        first = limited(a[0], 5.0)
        if a[2] < 0.0:
            raise ValueError("negative")
        y = first * limited(a[1], 0.2)
    except TooLarge as error:
        y = error.amount * a[0]
    except (ValueError, KeyError):
        y = a[3] * a[1]
    else:
        y = y + 1.0
    return y * y


@program
def containers_before(a):
    kept = []
    found = {"x": 1.0, "y": a[3]}
    try:
        kept.append(a[0] * 2.0)
        found["x"] = a[1]
        kept.append(limited(a[1], 1.2))
        found["y"] = a[2]
    except TooLarge:
        kept.append(a[3])
    return sum(x * x for x in kept) * len(kept) + found["x"] * found["y"]


@program
def outer_handler(a):
    def inner(x):
        try:
            return limited(x, 1.0)
        except KeyError:
            return x

    try:
        return inner(a[1]) * a[0]
    except TooLarge as error:
        return error.amount * a[1]


@program
def again_with_less(a):
    x, count = a[1] * 3.0, 0
    while True:
        count += 1
        try:
            return limited(x, 1.0) * count
        except TooLarge:
            x = x * 0.8


@program
def nothing_there(a):
    total = 0.0
    for x in a:
        try:
            y = limited(x, 0.8)
        except TooLarge:
            continue
        total += y * y
    return total + a[1]


@program
def a_write_before(a):
    b = np.zeros(3)
    try:
        b[0] = b[0] + a[0]
        b[1] = limited(-a[2], 0.605)
    except TooLarge:
        b[2] = a[1]
    return np.sum(b * b * a[:3])


@program
def a_draw_before(a):
    rng = np.random.default_rng(3)
    try:
        y = rng.normal() * limited(-a[2], 0.605)
    except TooLarge:
        y = rng.normal()
    return y * a[0] + rng.normal() * a[1]


@program
def many_tests(a):
    try:
        y = 1.0
        for x in (a[0], a[1], a[2], a[3], a[0] * 2, a[1] * 2, a[3] * 2, a[3] * 4, a[1] * 4):
            z = limited(x, 50.0)
            y = y + z * z
    except TooLarge:
        return a[0]
    return y


@program
def of_the_library(a):
    class Store:
        def __init__(self):
            self.calls = 0

        def root(self, x):
            self.calls += 1
            if x < 0:
                raise ValueError("no real root")
            return np.sqrt(x)

    store, total = Store(), 0.0
    for x in (a[0], a[2]):
        try:
            y = store.root(x)
        except ValueError:
            y = -x * 0.5
        total = total + y * store.calls
    return total


# ---- what the body has written, what exceptions hold, generators that are sent values ------------


@program
def written_before_it_is_raised(a):
    total, steps = a[0], 0
    for x in (a[0], a[1], a[3]):
        try:
            total = total * x
            steps += 1
            total += limited(x * x, 0.9)
            total -= 0.5 * x
        except TooLarge as error:
            total = total + error.amount * steps
    return total * steps


@program
def cleaned_up(a):
    log = []

    def guarded(x):
        kept = x * x
        try:
            kept += limited(kept, 0.7)
            return kept
        finally:
            log.append(kept * x)

    total = 0.0
    for x in (a[0], a[1]):
        try:
            total += guarded(x)
        except TooLarge as error:
            total -= error.amount
    return total * log[0] + log[1]


@program
def raised_again(a):
    y = a[0]
    try:
        try:
            y = y * a[1]
            y = y + limited(y, 0.1)
        except TooLarge:
            y = y * 3.0
            raise
    except Exception as error:
        return y * error.amount
    return y


@program
def arguments_of_an_exception(a):
    try:
        if a[1] > 1.0:
            raise ValueError("too large", a[1] * a[0])
        raise KeyError(a[2])
    except (ValueError, KeyError) as error:
        return error.args[-1] * a[3] * len(error.args) * isinstance(f"{error}", str)


@program
def cause_of_an_exception(a):
    try:
        try:
            raise KeyError(a[0] * a[1])
        except KeyError as error:
            raise TooLarge(a[2] * a[0]) from error
    except TooLarge as error:
        return error.amount * error.__cause__.args[0]


@program
def values_sent(a):
    def averages():
        total, average = 0.0, 0.0
        for count in range(1, 9):
            total += yield average
            average = total / count
        return total

    of = averages()
    next(of)
    last = [of.send(x * x) for x in (a[0], a[1], a[2] * a[3])][-1]
    of.close()
    return last * next(of, a[1])


@program
def value_of_a_generator(a):
    def squares(n):
        for k in range(n):
            yield a[k] ** 2
        return a[0] * a[3]

    of, total = squares(2), 0.0
    while True:
        try:
            total += next(of)
        except StopIteration as end:
            return total * end.value
