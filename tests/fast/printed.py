"""The functions whose single assignment is kept as text in ``tests/golden/single``."""

import math

GRAVITY = 9.81


def halved(x):
    count = 0
    while x > 1:
        x = x / 2
        count += 1
    return x, count


def norms(rows):
    return [math.sqrt(row[0]) for row in rows if len(row) and row[0] is not None]


def clamp(x, low=0.0, *, high=1.0):
    if low < x < high:
        return x
    return low if x <= low else high


def skipped(xs, limit):
    total = 0.0
    for i, x in enumerate(xs):
        if x < 0:
            continue
        if x > limit:
            break
        total += x
        last = i
    else:
        total *= 2
    return total, last


def found(rows, wanted):
    for row in rows:
        for item in row:
            if item == wanted:
                return item * GRAVITY
            if item is None:
                break
    return None


def nested_ways(x, y):
    if x > 1:
        if y > 1:
            return x
        z = y
    else:
        z = x
    while True:
        z += 1
        if z > y:
            return z


def captured(start):
    count = start

    def step(by=1):
        nonlocal count
        count += by
        return count

    return step() + step(2) + count


def deleted(x):
    y, *rest = x
    if y:
        del rest
    assert y, rest
    raise ValueError(y) from rest


PRINTED = [halved, norms, clamp, skipped, found, nested_ways, captured, deleted]
