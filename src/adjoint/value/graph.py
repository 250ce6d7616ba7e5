"""`Value`, the node of the scalar graph, and the walk over the nodes."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from numbers import Real
from typing import Any, NoReturn

from adjoint.errors import ArgumentError
from adjoint.pictures.graph_drawing import dot, svg
from adjoint.value.picture import picture

_UFUNCS = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.truediv,
    "power": operator.pow,
    "float_power": operator.pow,
}
"""What NumPy makes of the operators of its numbers."""

_FUNCTIONS = ("exp", "log", "tanh", "relu", "sigmoid")


class Value:
    """A real number that remembers how it was computed.

    Parameters
    ----------
    data : real number
        Stored as a `float`.
    label : str, optional
        A name for `repr` and `format_graph`.

    Attributes
    ----------
    data : float
    grad : float
        d(root)/d(self), set by ``root.backward()``; 0 before.
    prev : tuple of Value
        The operands, in order (``x * x`` has ``x`` twice); empty for a leaf.
    op : str
        The operation that made the node; empty for a leaf.
    label : str

    Raises
    ------
    TypeError
        `data` is no real number.

    Notes
    -----
    Operators take numbers beside values. `backward` adds ``partial * grad`` to each operand, from
    the result to the leaves, as in micrograd (https://github.com/karpathy/micrograd).

    Examples
    --------
    >>> x = Value(3.0)
    >>> y = x * x + x
    >>> y.backward()
    >>> x.grad
    7.0
    """

    __slots__ = ("_partials", "data", "grad", "label", "op", "prev")

    def __init__(self, data: float, *, label: str = "") -> None:
        self.data: float = _number(data)
        self.grad: float = 0.0
        self.prev: tuple[Value, ...] = ()
        self.op: str = ""
        self.label: str = label
        self._partials: tuple[float, ...] = ()

    @classmethod
    def operation(
        cls,
        data: float,
        operands: Sequence[Value],
        partials: Sequence[float],
        op: str = "",
        *,
        label: str = "",
    ) -> Value:
        """Make the node of an operation of one's own.

        Parameters
        ----------
        data : real number
            The result.
        operands : sequence of Value
            What it was computed from.
        partials : sequence of real numbers
            The derivative of the result by each operand, at this point.
        op, label : str, optional
            The name of the operation, and of the result.

        Examples
        --------
        >>> def sin(x):
        ...     return Value.operation(math.sin(x.data), [x], [math.cos(x.data)], "sin")
        >>> x = Value(0.0)
        >>> (2 * sin(x)).backward()
        >>> x.grad
        2.0
        """
        for operand in operands:
            if not isinstance(operand, Value):
                raise ArgumentError(
                    f"an operand must be a Value, got a {type(operand).__name__}",
                    hint="constants are no operands: use them for the partial derivatives",
                )
        if len(operands) != len(partials):
            raise ArgumentError(
                f"got {len(partials)} partial derivatives for {len(operands)} operands",
                hint="give d(data)/d(operand.data) for each operand, in order",
            )
        node = _node(_number(data), op, tuple(operands), tuple(map(_number, partials)))
        node.label = label
        return node

    def __repr__(self) -> str:
        op = f", op={self.op!r}" if self.op else ""
        label = f", label={self.label!r}" if self.label else ""
        return f"Value(data={self.data!r}, grad={self.grad!r}{op}{label})"

    # ---- arithmetic ------------------------------------------------------------------------------

    def __add__(self, other: Value | float) -> Value:
        b = _value(other)
        return _node(self.data + b.data, "+", (self, b), (1.0, 1.0))

    def __sub__(self, other: Value | float) -> Value:
        b = _value(other)
        return _node(self.data - b.data, "-", (self, b), (1.0, -1.0))

    def __mul__(self, other: Value | float) -> Value:
        b = _value(other)
        return _node(self.data * b.data, "*", (self, b), (b.data, self.data))

    def __truediv__(self, other: Value | float) -> Value:
        b = _value(other)
        y = self.data / b.data
        return _node(y, "/", (self, b), (1.0 / b.data, -y / b.data))

    def __pow__(self, exponent: Value | float) -> Value:
        """``x ** n``. A plain number as exponent is part of the operation, not an operand."""
        if isinstance(exponent, Value):
            x, n = self.data, exponent.data
            y = _power(x, n)
            return _node(y, "**", (self, exponent), (_power_partial(x, n), _exponent_partial(x, y)))
        n = _number(exponent)
        y = _power(self.data, n)
        return _node(y, f"**{exponent}", (self,), (_power_partial(self.data, n),))

    def __neg__(self) -> Value:
        return _node(-self.data, "neg", (self,), (-1.0,))

    def __pos__(self) -> Value:
        return self

    def __radd__(self, other: float) -> Value:
        return _value(other) + self

    def __rsub__(self, other: float) -> Value:
        return _value(other) - self

    def __rmul__(self, other: float) -> Value:
        return _value(other) * self

    def __rtruediv__(self, other: float) -> Value:
        return _value(other) / self

    def __rpow__(self, base: float) -> Value:
        return _value(base) ** self

    # ---- functions of other libraries ------------------------------------------------------------

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Value:
        """Do the operators of NumPy's numbers, and refuse NumPy's functions."""
        if ufunc.__name__ in _UFUNCS and method == "__call__" and not options:
            result: Value = _UFUNCS[ufunc.__name__](*map(_value, inputs))
            return result
        return _refuse(f"np.{ufunc.__name__}", ufunc.__name__)

    def __float__(self) -> NoReturn:
        _refuse("float(v), or a function of math,", "")

    # ---- functions -------------------------------------------------------------------------------

    def exp(self) -> Value:
        """e to the power of this number."""
        y = math.exp(self.data)
        return _node(y, "exp", (self,), (y,))

    def log(self) -> Value:
        """Natural logarithm; `ValueError` unless this number is positive."""
        return _node(math.log(self.data), "log", (self,), (1.0 / self.data,))

    def tanh(self) -> Value:
        """Hyperbolic tangent."""
        y = math.tanh(self.data)
        return _node(y, "tanh", (self,), (1.0 - y * y,))

    def relu(self) -> Value:
        """``max(self, 0)``; its derivative at 0 is 0."""
        active = self.data > 0.0
        # `nan > 0` is false, but NaN must stay NaN
        y = 0.0 if self.data <= 0.0 else self.data
        return _node(y, "relu", (self,), (1.0 if active else 0.0,))

    def sigmoid(self) -> Value:
        """``1 / (1 + exp(-self))``."""
        e = math.exp(-abs(self.data))  # at most 1: cannot overflow
        y = (1.0 if self.data >= 0.0 else e) / (1.0 + e)
        return _node(y, "sigmoid", (self,), (e / (1.0 + e) ** 2,))

    # ---- derivatives -----------------------------------------------------------------------------

    def backward_step(self) -> None:
        """Add to ``grad`` of the operands by the chain rule: one step of `backward`."""
        if self.grad == 0.0:
            return  # an infinite partial times zero would be NaN
        for operand, partial in zip(self.prev, self._partials, strict=True):
            operand.grad += partial * self.grad

    def backward(self, *, accumulate: bool = False) -> None:
        """Set ``grad`` of every node that this one was computed from.

        Parameters
        ----------
        accumulate : bool
            Add to what ``grad`` was before, in every node: after two calls it is the sum of two
            gradients, also where both go through one node. By default it is overwritten.
        """
        nodes = build_graph(self)
        before = [node.grad if accumulate else 0.0 for node in nodes]
        for node in nodes:
            node.grad = 0.0
        self.grad = 1.0
        for node in reversed(nodes):
            node.backward_step()
        if accumulate:
            for node, grad in zip(nodes, before, strict=True):
                node.grad += grad

    # ---- pictures --------------------------------------------------------------------------------

    def to_svg(self) -> str:
        """The graph of all that this number was computed from, as SVG: each node with its data and
        its gradient.

        Raises
        ------
        ValueError
            The graph has more than 300 nodes: `to_dot` and `format_graph` draw larger ones.

        Examples
        --------
        >>> (Value(2.0) * Value(3.0)).to_svg().count("<rect")
        3
        """
        if len(build_graph(self)) > MOST_DRAWN:
            raise ValueError(f"more than {MOST_DRAWN} nodes: use to_dot or format_graph")
        return svg(picture(build_graph(self)))

    def to_dot(self) -> str:
        """The graph in the language DOT, for Graphviz.

        Examples
        --------
        >>> print((-Value(2.0, label="x")).to_dot())
        digraph {
          label="graph of neg"; rankdir=LR; node [shape=box, fontname=monospace];
          n0 [label="x\\ndata 2\\ngrad 0"];
          n1 [label="neg\\ndata -2\\ngrad 0"];
          n0 -> n1;
        }
        """
        return dot(picture(build_graph(self)))

    def _repr_svg_(self) -> str | None:
        return self.to_svg() if len(build_graph(self)) <= MOST_DRAWN else None


MOST_DRAWN = 300
"""The number of nodes that a drawing has room for."""


def build_graph(root: Value) -> list[Value]:
    """All nodes that `root` was computed from, each once, operands before results.

    Parameters
    ----------
    root : Value

    Returns
    -------
    list of Value
        In topological order; `root` is the last.

    Raises
    ------
    TypeError
        `root` is no `Value`.

    Notes
    -----
    The walk keeps its own stack, so a graph may be deeper than Python's recursion limit.

    Examples
    --------
    >>> x = Value(3.0)
    >>> [node.data for node in build_graph(x * x + 1)]
    [3.0, 9.0, 1.0, 10.0]
    """
    if not isinstance(root, Value):
        raise TypeError(f"build_graph takes a Value, not {type(root).__name__}")
    nodes: list[Value] = []
    seen = {id(root)}
    stack = [(root, iter(root.prev))]
    while stack:
        node, operands = stack[-1]
        for operand in operands:
            if id(operand) not in seen:
                seen.add(id(operand))
                stack.append((operand, iter(operand.prev)))
                break
        else:
            nodes.append(node)
            stack.pop()
    return nodes


def zero_grad(root: Value) -> None:
    """Set ``grad`` to 0 in `root` and in all nodes that it was computed from.

    Parameters
    ----------
    root : Value

    Raises
    ------
    TypeError
        `root` is no `Value`.

    Examples
    --------
    >>> x = Value(3.0)
    >>> y = x * x
    >>> y.backward()
    >>> zero_grad(y)
    >>> x.grad, y.grad
    (0.0, 0.0)
    """
    for node in build_graph(root):
        node.grad = 0.0


# ---- making nodes --------------------------------------------------------------------------------


def _node(data: float, op: str, prev: tuple[Value, ...], partials: tuple[float, ...]) -> Value:
    """Return the result of an operation; `partials` are its derivatives by each operand."""
    node = Value.__new__(Value)  # `data` is a float already
    node.data, node.grad, node.label = data, 0.0, ""
    node.op, node.prev, node._partials = op, prev, partials
    return node


def _value(x: Value | float) -> Value:
    return x if isinstance(x, Value) else Value(x)


def _refuse(function: str, name: str) -> NoReturn:
    methods = ", ".join(f"v.{known}()" for known in _FUNCTIONS)
    hint = f"write v.{name}()" if name in _FUNCTIONS else f"write {methods}"
    raise ArgumentError(
        f"{function} does not take a Value: its result would not remember how it was computed",
        hint=f"{hint}; v.data is the number, and Value.operation makes operations of one's own",
    )


def _number(x: object) -> float:
    if isinstance(x, Real):
        return float(x)
    hint = "; it is one already" if isinstance(x, Value) else ""
    raise TypeError(f"a Value holds one real number, not {type(x).__name__}{hint}")


def _power(x: float, n: float) -> float:
    if x < 0.0 and not n.is_integer():
        raise ValueError(f"{x} ** {n} is not a real number")
    return float(x**n)


def _power_partial(x: float, n: float) -> float:
    """d(x ** n)/dx."""
    if n == 0.0:
        return 0.0
    if x == 0.0 and n < 1.0:
        return math.inf
    return n * _power(x, n - 1.0)


def _exponent_partial(x: float, y: float) -> float:
    """d(y = x ** n)/dn; NaN for a negative base."""
    if x < 0.0:
        return math.nan
    return y * math.log(x) if x > 0.0 else 0.0
