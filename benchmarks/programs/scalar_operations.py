"""Loops of one scalar operation, eight times in a round, so that the loop itself counts little."""

import math

ROUNDS = 250
PER_ROUND = 8


def add_active(x):
    y = x
    for _ in range(ROUNDS):
        y = y + x
        y = y + x
        y = y + x
        y = y + x
        y = y + x
        y = y + x
        y = y + x
        y = y + x
    return y


def subtract_active(x):
    y = x
    for _ in range(ROUNDS):
        y = x - y
        y = x - y
        y = x - y
        y = x - y
        y = x - y
        y = x - y
        y = x - y
        y = x - y
    return y


def multiply_active(x):
    y = x
    for _ in range(ROUNDS):
        y = y * x
        y = y * x
        y = y * x
        y = y * x
        y = y * x
        y = y * x
        y = y * x
        y = y * x
    return y


def multiply_constant(x):
    y = x
    for _ in range(ROUNDS):
        y = y * 1.001
        y = y * 1.001
        y = y * 1.001
        y = y * 1.001
        y = y * 1.001
        y = y * 1.001
        y = y * 1.001
        y = y * 1.001
    return y


def add_integer(x):
    y = x
    for _ in range(ROUNDS):
        y = y + 1
        y = y + 1
        y = y + 1
        y = y + 1
        y = y + 1
        y = y + 1
        y = y + 1
        y = y + 1
    return y


def divide_active(x):
    y = x
    for _ in range(ROUNDS):
        y = x / y
        y = x / y
        y = x / y
        y = x / y
        y = x / y
        y = x / y
        y = x / y
        y = x / y
    return y


def negate(x):
    y = x
    for _ in range(ROUNDS):
        y = -y
        y = -y
        y = -y
        y = -y
        y = -y
        y = -y
        y = -y
        y = -y
    return y


def square(x):
    y = x
    for _ in range(ROUNDS):
        y = y**2
        y = y**2
        y = y**2
        y = y**2
        y = y**2
        y = y**2
        y = y**2
        y = y**2
    return y


def sine(x):
    y = x
    for _ in range(ROUNDS):
        y = math.sin(y)
        y = math.sin(y)
        y = math.sin(y)
        y = math.sin(y)
        y = math.sin(y)
        y = math.sin(y)
        y = math.sin(y)
        y = math.sin(y)
    return y


def absolute(x):
    y = x
    for _ in range(ROUNDS):
        y = abs(y)
        y = abs(y)
        y = abs(y)
        y = abs(y)
        y = abs(y)
        y = abs(y)
        y = abs(y)
        y = abs(y)
    return y


def maximum(x):
    y = x
    for _ in range(ROUNDS):
        y = max(y, x)
        y = max(y, x)
        y = max(y, x)
        y = max(y, x)
        y = max(y, x)
        y = max(y, x)
        y = max(y, x)
        y = max(y, x)
    return y


def in_place_add(x):
    y = x
    for _ in range(ROUNDS):
        y += x
        y += x
        y += x
        y += x
        y += x
        y += x
        y += x
        y += x
    return y


def mixture(x):
    """The operations in turn, eight in one expression."""
    y = x
    for _ in range(ROUNDS):
        y = math.sin(y * x + 0.5) - y / (x + 2.0) + x * y
    return y


def one_in_a_round(x):
    """One operation per iteration: the iteration's own record is part of its cost."""
    y = x
    for _ in range(8 * ROUNDS):
        y = y * x
    return y
