"""Rules of powers and chains of matrix products.

The derivative of Aⁿ along E is the sum of Aᵏ E Aⁿ⁻¹⁻ᵏ; squaring pairs of a power and its derivative
gives it in O(log n) products (Higham, *Functions of matrices* (2008), section 3.4). The transpose
of this map is that of Aᴴ.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from adjoint.rulekit.elementwise_forward import filled, like_result
from adjoint.rulekit.projection import as_numeric, projector
from adjoint.rulekit.registry import frule
from adjoint.rules.numpy.linalg.forward_rules import forward_rule
from adjoint.rules.numpy.linalg.matrices import dagger, floating
from adjoint.rules.numpy.operands import array_rule, like_sequence

# ---- powers --------------------------------------------------------------------------------------


def power_dot(a: Any, e: Any, n: int) -> Any:
    """Return the derivative of the power `n` along `e`."""
    if n == 0:
        return np.zeros(np.shape(e))
    if n < 0:
        a = np.linalg.inv(a)
        e, n = -(a @ e @ a), -n
    power = power_e = None
    while True:
        if n % 2:
            power_e = e if power is None else power_e @ a + power @ e
            power = a if power is None else power @ a
        n //= 2
        if n == 0:
            return power_e
        a, e = a @ a, e @ a + a @ e


@array_rule(np.linalg.matrix_power)
def _(a, n):
    y, n = np.linalg.matrix_power(a, n), operator.index(n)
    return y, lambda y_bar: (None, power_dot(dagger(floating(a)), y_bar, n))


@forward_rule(np.linalg.matrix_power)
def _(dots, a, n):
    y = np.linalg.matrix_power(a, n)
    return y, power_dot(floating(a), dots[0], operator.index(n))


# ---- chains --------------------------------------------------------------------------------------


@array_rule(np.linalg.multi_dot, operands="arrays", nested=False)
def _(arrays):
    factors = [as_numeric(a) for a in arrays]
    if any(a is None or not np.ndim(a) for a in factors):
        return NotImplemented
    y = np.linalg.multi_dot(factors)
    to_bars = [projector(a) for a in arrays]
    matrices = [np.asarray(a) for a in factors]
    matrices[0] = np.atleast_2d(matrices[0])
    if matrices[-1].ndim == 1:
        matrices[-1] = matrices[-1][:, None]
    rows, columns = len(matrices[0]), matrices[-1].shape[1]

    def multi_dot_back(y_bar):
        """Multiply ȳ by the conjugate transposes of the factors on the left and on the right."""
        mirrored = [dagger(m) for m in matrices]
        inner = np.reshape(y_bar, (rows, columns))
        bars = []
        for i, (factor, to_bar) in enumerate(zip(factors, to_bars, strict=True)):
            chain = [*mirrored[:i][::-1], inner, *mirrored[i + 1 :][::-1]]
            bars.append(to_bar(np.reshape(np.linalg.multi_dot(chain), factor.shape)))
        return None, like_sequence(bars, arrays)

    return y, multi_dot_back


@frule.register(np.linalg.multi_dot)
def _(dots, arrays):
    y = np.linalg.multi_dot(arrays)
    if dots[0] is None:
        return y, None
    terms = [
        np.linalg.multi_dot([*arrays[:i], filled(dot, arrays[i]), *arrays[i + 1 :]])
        for i, dot in enumerate(dots[0])
        if dot is not None
    ]
    return y, like_result(sum(terms[1:], terms[0]), y) if terms else None
