"""What the code of libraries does around its formulas: dispatch, checks, conversions, shims."""

import ast
import math
import numbers
import types
from typing import cast

import numpy as np
from scipy import special

from tests.corpus.registry import case, made

X = np.array([0.3, 0.8, 1.4, -0.6])
M = np.sqrt(np.arange(1.0, 25.0)).reshape(2, 3, 4)


# ---- NumPy's scalars and arrays of no axes -------------------------------------------------------


@case(X)
def scalars_have_a_shape(x):
    """SciPy ends in ``y[()] if y.ndim == 0 else y``, whether `y` is an array or not."""
    total = np.sum(x * x)
    total = total[()] if total.ndim == 0 else total
    spread = np.asarray(total)[()] * x.max()
    return spread * total[...] + (total[None] * x).sum() + total[..., np.newaxis][0]


@case(M, X)
def products_along_other_axes(m, x):
    total = np.matmul(m, m[0], axes=[(1, 2), (-1, 0), (0, 2)]).sum()
    if hasattr(np, "vecdot"):
        total += (
            np.vecdot(x, x, axis=-1) * 2.0 + (np.vecdot(m, m, axis=1, keepdims=True) ** 2).sum()
        )
        total += (np.vecdot(m, m[0], axes=[1, 0]) * x).sum()
    return total


@case(X, 1.5)
def arrays_asked_for_an_array(x, c):
    """statsmodels asks whatever it is given."""
    return (x * c).__array__() * x + x.__array__(np.float64) * np.sum(x).__array__()


@case(X, 1.5)
def broadcast_with_constants(x, c):
    """SciPy's distributions broadcast the parameters with the argument."""
    a, b, n = np.broadcast_arrays(x, c, 3)
    d, e = np.broadcast_arrays(x[:, np.newaxis], c * x)
    f, m = np.atleast_1d(c, 3)
    total = np.sum(special.chdtrc(n, a**2) * b) + np.sum(d * e * e) + special.chdtrc(m, f)[0]
    x = x * 2.0
    f, g = np.broadcast_arrays(x, np.ones((2, 4)))
    x[1:] = x[0] * c
    return total + np.sum(f * f * g)


# ---- functions made by libraries -----------------------------------------------------------------


def smooth(xs):
    total = 0.0
    for x in xs:
        try:
            if x:
                total = total + x * x
        except ValueError:
            pass
    return total, xs[1:2]


@made
def without_builtins():
    namespace = {"__builtins__": {}}
    return types.FunctionType(smooth.__code__, namespace | {"ValueError": ValueError}), [0.3, 0.8]


@made
def builtins_named_otherwise():
    names = ("len", "reversed", "bool", "slice", "BaseException")
    return types.FunctionType(smooth.__code__, dict.fromkeys(names)), [0.3, 0.8]


@case(0.7)
def function_made_by_exec(x):
    """SciPy's frozen distributions write the parser of their arguments."""
    namespace = {"sin": math.sin}
    exec("def made(a, *, scale=1):\n    return sin(a) * scale", namespace)
    return namespace["made"](x, scale=x) + namespace["made"](x * x)


# ---- keywords that say how, not what -------------------------------------------------------------


@case(X)
def casting_of_operands(x):
    """scikit-learn writes the products of features so."""
    out = np.empty((4, 4))
    np.multiply(x[:, np.newaxis], x, out=out, casting="no")
    return (np.add(out, 2.0, order="F", casting="unsafe") ** 2).sum()


# ---- types that are told to checkers -------------------------------------------------------------


@case(0.7)
def casts_for_type_checkers(x):
    y = cast("float", x * x)
    return y * cast(float, val=x)


class AnyArray(type):
    """pandas asks in class methods of the metaclass what a value is."""

    @classmethod
    def __instancecheck__(cls, value):
        return getattr(value, "shape", ()) != ()


@case(X)
def class_methods_that_answer_isinstance(x):
    kind = AnyArray("kind", (), {})
    return np.sum(x * x) if isinstance(x, kind) and not isinstance(x[0], kind) else x[0]


class Evaluated(ast.NodeVisitor):
    """Of an expression, with the values of its names."""

    def __init__(self, **values):
        self.values = values

    def visit_Expression(self, node):
        return self.visit(node.body)

    def visit_Name(self, node):
        return self.values[node.id]

    def visit_Constant(self, node):
        return node.value

    def visit_BinOp(self, node):
        left, right = self.visit(node.left), self.visit(node.right)
        return left * right if isinstance(node.op, ast.Mult) else left + right


@case(1.3)
def visitors_of_expressions(x):
    return Evaluated(a=x, b=x * x).visit(ast.parse("a * b + 2.0 * b", mode="eval"))


class Length(numbers.Real):
    """Derived from an abstract number, which subtracts by what it is given."""

    def __init__(self, value):
        self.value = value

    def __add__(self, other):
        return Length(self.value + float(other))

    def __neg__(self):
        return Length(-self.value)

    def __float__(self):
        return self.value

    __radd__ = __mul__ = __rmul__ = __abs__ = __ceil__ = __floor__ = __add__
    __eq__ = __le__ = __lt__ = __floordiv__ = __mod__ = __pow__ = __rfloordiv__ = __add__
    __pos__ = __rmod__ = __round__ = __rpow__ = __rtruediv__ = __truediv__ = __trunc__ = __add__
    __hash__ = None


@case(1.3)
def numbers_of_abstract_classes(x):
    return (Length(x * x) - Length(x)).value * (5.0 - Length(x)).value
