"""Rules of methods and attributes of arrays and NumPy scalars that share no rule with a function.

An attribute is a function of one argument.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from adjoint.rulekit.elementwise_forward import filled
from adjoint.rulekit.projection import project, projector
from adjoint.rulekit.registry import frule, non_differentiable, primitive, rrule, substitute
from adjoint.rulekit.tangents import steady_in
from adjoint.rules.numpy.forward_rules import array_frule
from adjoint.rules.numpy.operands import array_rule, core, methods

# ---- attributes ----------------------------------------------------------------------------------


def _attribute(name: str, transpose: Any) -> None:
    """Register a linear attribute; ``transpose(y_bar, shape)`` may return another dtype."""
    keys = methods(name)

    @rrule.register(*keys, alias=True)
    def _(a):
        shape, to_bar = a.shape, projector(a)
        return getattr(a, name), lambda y_bar: (None, to_bar(transpose(y_bar, shape)))

    @frule.register(*keys, alias=True)
    def _(dots, a):
        return getattr(a, name), None if dots[0] is None else getattr(dots[0], name)


_attribute("T", lambda y_bar, shape: np.transpose(y_bar))
_attribute("real", lambda y_bar, shape: y_bar)
_attribute("imag", lambda y_bar, shape: 1j * y_bar)
if hasattr(np.ndarray, "mT"):
    _attribute("mT", lambda y_bar, shape: np.swapaxes(y_bar, -1, -2))


@array_rule(np.real, operands="val", alias=True)
def _(val):
    return np.real(val), lambda y_bar: (None, y_bar)


@array_rule(np.imag, operands="val", alias=True)
def _(val):
    return np.imag(val), lambda y_bar: (None, 1j * y_bar)


@array_frule(np.real, operands="val", alias=True)
def _(dots, y, val):
    return np.real(dots[0])


@array_frule(np.imag, operands="val", alias=True)
def _(dots, y, val):
    return np.imag(dots[0])


# ---- conversions to Python -----------------------------------------------------------------------


@rrule.register((np.generic, "item"))
def _item_of_number(a, *index):
    kind = type(a)
    if issubclass(kind, np.void):
        return NotImplemented
    y = a.item(*index)

    def item_back(y_bar):
        a_bar = project(y_bar, kind(0)) if issubclass(kind, np.number) else None
        return None, a_bar, *(None for _ in index)

    return y, item_back


@frule.register((np.generic, "item"))
def _item_and_tangent(dots, a, *index):
    if isinstance(a, np.void):
        return NotImplemented
    y = a.item(*index)
    moves = dots[0] is not None and isinstance(a, np.number)
    return y, project(dots[0], y) if moves else None


@rrule.register((np.generic, "tolist"))
def _(a):
    return _item_of_number(a)


@frule.register((np.generic, "tolist"))
def _(dots, a):
    return _item_and_tangent(dots, a)


@substitute((np.ndarray, "item"))
def _item(a, *index):
    """Read one element, at a cost independent of the size, and convert it to a Python number."""
    if len(index) == 1 and isinstance(index[0], tuple):
        index = index[0]
    if len(index) == 1 or len(index) == a.ndim:
        index = tuple([i if isinstance(i, bool | np.bool_) else operator.index(i) for i in index])
    _demand_item(a, index)
    if not index:
        index = (0,) * a.ndim
    elif len(index) == 1 and a.ndim != 1:
        index = np.unravel_index(index[0] + a.size if index[0] < 0 else index[0], a.shape)
    a = np.ndarray.view(a, np.ndarray)  # no ``__getitem__`` of a subclass
    return a[index] if a.dtype.kind == "O" else a[index].item()


def _demand_item(a, index):
    """Raise NumPy's error if there is no such element."""
    np.ndarray.item(a, *index)


non_differentiable(_demand_item)


@rrule.register((np.ndarray, "tolist"))
def _(a):
    if a.dtype.kind == "O":
        return NotImplemented
    shape, to_bar = a.shape, projector(a)

    def tolist_back(y_bar):
        return None, to_bar(np.reshape(np.array(_filled(y_bar, shape)), shape))

    return a.tolist(), tolist_back


@frule.register((np.ndarray, "tolist"))
def _(dots, a):
    return a.tolist(), None if dots[0] is None else filled(dots[0], a).tolist()


@substitute((np.ndarray, "tolist"))
def _(a):
    """List the elements of a subclass without calls of its methods, or those of objects."""
    a = np.ndarray.view(a, np.ndarray)
    if a.dtype.kind != "O":
        return a.tolist()
    if not a.ndim:
        return a[()]
    return [a[i] if a.ndim == 1 else a[i].tolist() for i in range(len(a))]


def _filled(bars: Any, shape: tuple[int, ...]) -> Any:
    """Replace None in nested lists of cotangents by zeros."""
    if bars is None:
        return np.zeros(shape).tolist()
    return [_filled(bar, shape[1:]) for bar in bars] if shape else bars


@array_rule(*methods("view"), alias=True)
def _(a, type=None):
    if type is not None and type is not np.ndarray:
        return NotImplemented
    return a.view(), lambda y_bar: (None, y_bar)


@array_frule(*methods("view"), alias=True)
def _(dots, y, a, type=None):
    return NotImplemented if type not in (None, np.ndarray) else dots[0].view()


# ---- methods that call ufuncs --------------------------------------------------------------------


@rrule.register(*methods("conj", "conjugate"), alias=True)
def _(a):
    to_bar = projector(a)
    return a.conj(), lambda y_bar: (None, to_bar(np.conj(y_bar)))


@frule.register(*methods("conj", "conjugate"), alias=True)
def _(dots, a):
    return a.conj(), None if dots[0] is None else np.conj(dots[0])


@array_rule(*methods("clip"), operands="a min max", nested=False)
def _(a, min=None, max=None, out=None):
    if out is not None:
        return NotImplemented
    applied = rrule(np.clip, a, min, max)
    return NotImplemented if applied is None else applied


@frule.register(*methods("clip"))
def _(dots, a, min=None, max=None):
    applied = frule(np.clip, dots, a, min, max)
    return NotImplemented if applied is None else applied


steady_in(np.clip, *methods("clip"), places=range(5))

# What the rules decline (subclasses, `out`, other types) runs NumPy's own Python around ufuncs.
substitute((np.ndarray, "clip"))(core._methods._clip)
for _name in ("mean", "var", "std", *(["ptp"] if np.__version__ < "2" else [])):
    substitute((np.ndarray, _name))(getattr(core._methods, f"_{_name}"))


@primitive((np.ndarray, "__array_finalize__"))
def _(record: list[Any], slot: int, x: Any, other: Any, /) -> None:
    """End a chain of ``super().__array_finalize__``; NumPy's own method does nothing."""
    _finalize(x, other)


_finalize: Any = vars(np.ndarray)["__array_finalize__"]
