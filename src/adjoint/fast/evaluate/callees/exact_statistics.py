"""Functions of `statistics`, which calculate in fractions, with the derivatives of sums of floats:
definitions that programs inline."""

from __future__ import annotations

import math
import statistics

import numpy as np

from adjoint.fast.evaluate.callees.numpy_definitions import definition, with_derivative
from adjoint.rulekit.registry import non_differentiable
from adjoint.rules.scipy.equivalents import result_like


def _of_exact(f, numbers, y):
    """Return the result of `f` with the derivative of `y`, which is calculated in floats."""
    if not isinstance(y, float):
        raise TypeError("numbers that are no floats")
    if not math.isfinite(y):
        raise ArithmeticError("a value that sums of floats do not give")
    return with_derivative(_value(f, np.array(numbers), y), y)


@result_like(lambda f, numbers, y: y)
@non_differentiable
def _value(f, numbers, y):
    return type(y)(f(numbers.tolist()))


@definition(statistics.mean)
def _mean(data):
    numbers = list(data)
    return _of_exact(statistics.mean, numbers, sum(numbers) / len(numbers))


def _spread(f, less, is_root):
    @definition(f)
    def spread(data):
        numbers = list(data)
        centre = sum(numbers) / len(numbers)
        y = sum([(x - centre) ** 2 for x in numbers]) / (len(numbers) - less)
        if is_root:
            y = math.sqrt(y) if y else 0.0
        return _of_exact(f, numbers, y)


for _f, _less, _is_root in (
    (statistics.variance, 1, False),
    (statistics.stdev, 1, True),
    (statistics.pvariance, 0, False),
    (statistics.pstdev, 0, True),
):
    _spread(_f, _less, _is_root)
