"""Loops of one operation on arrays of three, four times in a round."""

import numpy as np

ROUNDS = 100
PER_ROUND = 4
MATRIX = np.array([[0.6, 0.2, 0.1], [0.1, 0.7, 0.2], [0.2, 0.1, 0.5]])


def add_active(v):
    y = v
    for _ in range(ROUNDS):
        y = y + v
        y = y + v
        y = y + v
        y = y + v
    return y[0]


def multiply_active(v):
    y = v
    for _ in range(ROUNDS):
        y = y * v
        y = y * v
        y = y * v
        y = y * v
    return y[0]


def multiply_constant(v):
    y = v
    for _ in range(ROUNDS):
        y = y * 1.001
        y = y * 1.001
        y = y * 1.001
        y = y * 1.001
    return y[0]


def divide_active(v):
    y = v
    for _ in range(ROUNDS):
        y = v / y
        y = v / y
        y = v / y
        y = v / y
    return y[0]


def negate(v):
    y = v
    for _ in range(ROUNDS):
        y = -y
        y = -y
        y = -y
        y = -y
    return y[0]


def square(v):
    y = v
    for _ in range(ROUNDS):
        y = y**2
        y = y**2
        y = y**2
        y = y**2
    return y[0]


def sine(v):
    y = v
    for _ in range(ROUNDS):
        y = np.sin(y)
        y = np.sin(y)
        y = np.sin(y)
        y = np.sin(y)
    return y[0]


def exponential(v):
    y = v
    for _ in range(ROUNDS):
        y = np.exp(y)
        y = np.log(y)
        y = np.exp(y)
        y = np.log(y)
    return y[0]


def maximum(v):
    y = v
    for _ in range(ROUNDS):
        y = np.maximum(y, v)
        y = np.maximum(y, v)
        y = np.maximum(y, v)
        y = np.maximum(y, v)
    return y[0]


def matrix_vector(v):
    y = v
    for _ in range(ROUNDS):
        y = MATRIX @ y
        y = MATRIX @ y
        y = MATRIX @ y
        y = MATRIX @ y
    return y[0]


def inner_product(v):
    """A product of two vectors, then of a number and a vector."""
    y = v
    for _ in range(ROUNDS):
        y = np.dot(y, v) * v
        y = np.dot(y, v) * v
    return y[0]


def sum_of_elements(v):
    """A sum, then the product of a number and a vector."""
    y = v
    for _ in range(ROUNDS):
        y = np.sum(y) * v
        y = np.sum(y) * v
    return y[0]


def read_element(v):
    """An element, then the product of a number and a vector."""
    y = v
    for _ in range(ROUNDS):
        y = y[1] * v
        y = y[2] * v
    return y[0]


def read_slice(v):
    """A slice, then a broadcast sum."""
    y = v
    for _ in range(ROUNDS):
        y = y[:1] + v
        y = y[2:] + v
    return y[0]


def write_element(v):
    y = v * 1.0
    for _ in range(ROUNDS):
        y[0] = 0.5
        y[1] = 0.5
        y[2] = 0.5
        y[0] = 0.5
    return y[1]


def in_place_add(v):
    y = v * 1.0
    for _ in range(ROUNDS):
        y += v
        y += v
        y += v
        y += v
    return y[0]


def array_of_numbers(v):
    """Three elements, and an array of them: four operations in all."""
    y = v
    for _ in range(ROUNDS):
        y = np.array([y[1], y[2], y[0]])
    return y[0]
