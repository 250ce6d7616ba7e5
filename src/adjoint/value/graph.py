"""`Value`, the node of the scalar graph, and the walk over the nodes."""

from __future__ import annotations

import math
from numbers import Real


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

    Examples
    --------
    >>> x = Value(3.0)
    >>> y = x * x + x
    >>> y.backward()
    >>> x.grad
    7.0
    """

    __slots__ = ("_partials", "data", "grad", "label", "op", "prev")

    __array_ufunc__ = None  # makes NumPy's numbers on the left defer to the methods below

    def __init__(self, data: float, *, label: str = "") -> None:
        self.data: float = _number(data)
        self.grad: float = 0.0
        self.prev: tuple[Value, ...] = ()
        self.op: str = ""
        self.label: str = label
        self._partials: tuple[float, ...] = ()

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

    # ---- functions -------------------------------------------------------------------------------

    def exp(self) -> Value:
        y = math.exp(self.data)
        return _node(y, "exp", (self,), (y,))

    def log(self) -> Value:
        return _node(math.log(self.data), "log", (self,), (1.0 / self.data,))

    def tanh(self) -> Value:
        y = math.tanh(self.data)
        return _node(y, "tanh", (self,), (1.0 - y * y,))

    def relu(self) -> Value:
        """``max(self, 0)``; its derivative at 0 is 0."""
        active = self.data > 0.0
        # `nan > 0` is false, but NaN must stay NaN
        y = 0.0 if self.data <= 0.0 else self.data
        return _node(y, "relu", (self,), (1.0 if active else 0.0,))

    def sigmoid(self) -> Value:
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

    def backward(self) -> None:
        """Set ``grad`` of every node that this one was computed from.

        Gradients of an earlier call are overwritten, not added to.
        """
        nodes = build_graph(self)
        for node in nodes:
            node.grad = 0.0
        self.grad = 1.0
        for node in reversed(nodes):
            node.backward_step()


def build_graph(root: Value) -> list[Value]:
    """All nodes that `root` was computed from, each once, operands before results.

    Returns
    -------
    list of Value
        In topological order; `root` is the last.

    Notes
    -----
    The walk keeps its own stack, so a graph may be deeper than Python's recursion limit.
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
    """Set ``grad`` to 0 in `root` and in all nodes that it was computed from."""
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
