"""Operators and ``math`` on numbers."""

import cmath
import math
import operator

import numpy as np

from tests.corpus.registry import case


@case(1.3, 0.7)
def four_operations(x, y):
    return (x + y) * (x - y) / (1.5 + y) - x


@case(1.7, 0.6)
@case(2, 3)
def powers(x, y):
    return x**y + x**2 + 2.0**y + x**-1


@case(0.4)
def unary_signs(x):
    return -x * +x - (-(-x))


@case(7.3, 2.1)
@case(-7.3, 2.1)
def floor_division_and_modulo(x, y):
    return x % y + 3.0 * (x // y) * y


@case(7.3, -2.1)
def divmod_builtin(x, y):
    quotient, remainder = divmod(x, y)
    return quotient * x + remainder * y


@case(-1.4)
@case(1.4)
def absolute_value(x):
    return abs(x) * x + abs(2.0 * x - 1.0)


@case(0.6)
def trigonometry(x):
    return math.sin(x) * math.cos(2 * x) + math.tan(x) - math.asin(x) * math.acos(x) + math.atan(x)


@case(0.6)
def hyperbolic(x):
    return math.sinh(x) / math.cosh(x) - math.tanh(x) ** 2 + math.asinh(x) * math.atanh(x)


@case(1.8)
def logarithms_and_exponentials(x):
    return (
        math.log(x)
        + math.log(x, 3.0)
        + math.log2(x) * math.log10(x)
        + math.log1p(x)
        - math.expm1(-x)
    )


@case(1.8, 0.4)
def two_argument_math(x, y):
    return math.hypot(x, y) * math.atan2(y, x) + math.pow(x, y) + math.fmod(5 * x, 2.0)


@case(0.7)
def special_functions(x):
    return (
        math.erf(x) + math.erfc(2 * x) * math.sqrt(x) + math.cbrt(x + 1)
        if hasattr(math, "cbrt")
        else math.erf(x)
    )


@case(1.3, 0.2)
def operator_module(x, y):
    total = operator.add(x, operator.mul(y, 3.0))
    return operator.truediv(operator.neg(total), operator.pow(x, 2))


@case(1.3)
def augmented_assignments(x):
    y = x
    y += 2.0
    y *= x
    y -= 1.0
    y /= x + 1.0
    y **= 2
    y %= 100.0
    return y


@case(3)
@case(3.0)
def integer_point(n):
    return n * n / 2 + 1


@case(1.5)
def mixed_integers(x):
    count = 7 // 2
    flags = 5 & 3 | 8 ^ 1
    return x * count + (flags << 2) * x * x - (~count) * x


@case(1.25)
def rounding_is_flat(x):
    return (
        x * math.floor(x + 0.5)
        + int(3.7 * x) * x
        + round(x) * x * x
        + math.trunc(x)
        - math.ceil(x) * x
    )


@case(1.25)
def float_conversion(x):
    return float(x) * float(2) + float("1.5") * x


@case(0.3, 0.4)
def complex_product_with_real_result(x, y):
    z = complex(x, y) * (1.0 + 2.0j)
    return z.real * z.imag + abs(z)


@case(0.3 + 0.4j)
def complex_argument(z):
    w = z * z + (1 - 2j) * z.conjugate()
    return w.real * 2.0 - w.imag


@case(0.3 + 0.4j)
def complex_result(z):
    return z * z * (2 + 1j) - z


@case(0.3 + 0.4j)
def complex_functions(z):
    w = cmath.exp(z) * cmath.sin(z) if z.real > 0 else z
    return w.real + cmath.sqrt(z).imag


@case(0.8, 0.1)
def no_path_through_comparison(x, y):
    return (x > y) * 2.0 + x * (y < x)


@case(1.1, 2.2)
def swapped(x, y):
    x, y = y, x
    x, y = y * 2.0, x * 3.0
    return x * x + y


@case(1.1)
def chained_assignment(x):
    a = b = c = x * x
    a = a + 1.0
    return a * b + c


@case(1.1, 2.0)
def argument_rebound(x, y):
    x = x * y
    x = x * x
    y = x + y
    return x * y


@case(np.float64(0.9), np.float32(1.5))
def numpy_scalars(x, y):
    return x * y + np.sin(x) * 2


@case(1.3, 4.0, fixed=1)
def same_operand_twice(x, unused):
    return x * x * x + x / x + x - x


@case(1.3)
def constant_result(x):
    return 4.5


@case(1.3)
def identity(x):
    return x


@case(0.5)
def deep_expression(x):
    return ((((x + 1) * x + 2) * x + 3) * x + 4) * x + 5 - (x * (x * (x * (x + 1))))


@case(0.5, -1.5)
def copysign_and_fabs(x, y):
    return math.copysign(x, y) * 3 + math.fabs(y) * x


@case([1.0, 2.5, 0.5], [0.3, -0.2, 0.9])
def sequence_math(xs, ys):
    return math.fsum(xs) * math.prod(ys) + math.dist(xs, ys)


@case(7.3, 2.0)
def operators_called_by_name(x, y):
    total = x.__divmod__(y)[1] * 2 + y.__rdivmod__(x)[1] + x.__rsub__(y) * x.__rtruediv__(y)
    return total + x.__rpow__(y) + x.__rmul__(y) + x.__radd__(y) + divmod(x, y)[1] * x.__rmod__(y)


@case(np.array([1.3, 0.4, 2.2]))
def operators_of_arrays_called_by_name(x):
    first = x.__iter__().__next__()
    return first * x.__rsub__(1.0).sum() + x.__rpow__(2.0).sum() + x.__divmod__(0.7)[1].sum()
