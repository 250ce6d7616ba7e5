"""``__array_wrap__``: conversion of NumPy's results by the classes of operands."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from types import MethodDescriptorType
from typing import Any

import numpy as np

from adjoint.diagnostics.refusals import missing
from adjoint.errors import NoDerivativeError
from adjoint.primal.array_classes import has_array_wrap, is_subclassed
from adjoint.runtime.dispatch import rule_call


def wrapped_call(f: Any, args: Any, kwargs: Any) -> Any:
    """Return ``f(*args, **kwargs)`` for operands with ``__array_wrap__``; a substitute."""
    arrays = [np.asarray(arg) if may_wrap(arg) else arg for arg in args]
    named = {}
    for name, value in kwargs.items():
        named[name] = np.asarray(value) if may_wrap(value) else value
    y = f(*arrays, **named)
    operands = [*args, *kwargs.values()]
    n = len(arrays)

    def ask(stand_ins):
        return f(*stand_ins[:n], **dict(zip(named, stand_ins[n:], strict=True)))

    return wrapped_result(y, operands, wrap_calls(ask, operands, [*arrays, *named.values()]))


def wrapped_result(y: Any, operands: Any, answers: Any) -> Any:
    """Return the result, or several for a tuple of `answers`, as ``__array_wrap__`` of the operands
    converts them."""
    if isinstance(answers, tuple):
        return tuple(
            [wrapped_result(part, operands, a) for part, a in zip(y, answers, strict=True)]
        )
    if answers is None:
        return y
    owner, told = operands[answers.place], answers.more
    if answers.context is not None:
        f, places, i = answers.context
        told = ((f, tuple([operands[place] for place in places]), i), *told)
    return owner.__array_wrap__(np.asanyarray(y), *told)


def data_of(x: Any) -> Any:
    """Return the data that NumPy computes with: a plain view of an array of a subclass."""
    if is_subclassed(x):
        return np.ndarray.view(x, np.ndarray)
    return np.asarray(x) if has_array_wrap(x) else x


def wrapped_output(f: Any, out: Any, args: Any, outs: Any, i: Any) -> Any:
    """Return `out`, the output number `i` of a ufunc, as its class converts it."""
    if not has_array_wrap(out):
        return out
    context = (f, (*args, *outs), i)
    return out.__array_wrap__(out, *_accepted(out, (context, False)))


def scalar_operator(f: Any, number: Any, other: Any, swapped: Any) -> Any:
    """Return ``f(number, other)`` for an operator of a NumPy scalar, which converts `other` to an
    array first, so that ``__array_wrap__`` is not called."""
    other = np.asarray(other)
    return f(other, number) if swapped else f(number, other)


@functools.cache
def scalars_wrap() -> bool:
    """Return whether operators of scalars call ``__array_wrap__`` in this version of NumPy."""

    class Asked:
        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            return np.ones(1)

        def __array_wrap__(self, *told: Any) -> str:
            return "told"

    number: Any = np.float64(1.0)
    return isinstance(number * Asked(), str)


def may_wrap(operand: Any) -> bool:
    """Return whether NumPy may call ``__array_wrap__`` of an operand."""
    return is_subclassed(operand) or has_array_wrap(operand)


class _Answer:
    """The operand whose ``__array_wrap__`` gets a result, and further arguments of that call: for a
    ufunc, the ufunc, the positions of its operands, and the number of the result."""

    def __init__(self, place: int, told: tuple[Any, ...]) -> None:
        self.place = place
        self.more = told
        self.context: Any = None


def wrap_calls(
    ask: Callable[[list[Any]], Any], operands: Sequence[Any], arrays: Sequence[Any]
) -> Any:
    """Find out, with stand-ins for operands, which ``__array_wrap__`` NumPy calls for `ask`."""
    stand_ins = [
        _stand_in(place, operand, array) if may_wrap(operand) else array
        for place, (operand, array) in enumerate(zip(operands, arrays, strict=True))
    ]
    try:
        with np.errstate(all="ignore"):
            y = ask(stand_ins)
    except Exception as error:  # the function goes on to compute with a wrapped result
        raise _unknown_wrap(operands) from error
    return _answer(y, operands, stand_ins)


def _answer(y: Any, operands: Sequence[Any], stand_ins: list[Any]) -> Any:
    if type(y) is tuple:
        answers = tuple([_answer(part, operands, stand_ins) for part in y])
        return None if answers == (None,) * len(answers) else answers
    if not isinstance(y, _Answer):
        return None
    y.more = _accepted(operands[y.place], y.more)
    if y.more and y.more[0] is not None:
        (f, given, i), *more = y.more
        places = [next((k for k, x in enumerate(stand_ins) if x is arg), None) for arg in given]
        if None in places:
            raise _unknown_wrap(operands)
        y.context, y.more = (f, places, i), tuple(more)
    return y


def _unknown_wrap(operands: Sequence[Any]) -> Exception:
    kind = next(type(operand).__name__ for operand in operands if has_array_wrap(operand))
    return missing(
        f"what '{kind}.__array_wrap__' is given within a function of NumPy is not known",
        "give the function the array itself, and wrap its result",
    )


def _stand_in(place: int, operand: Any, array: Any) -> Any:
    def array_wrap(self: Any, _: Any, *told: Any) -> _Answer:
        return _Answer(place, told)

    known: dict[str, Any] = {"__array_wrap__": array_wrap}
    priority = getattr(operand, "__array_priority__", None)
    if priority is not None:
        known["__array_priority__"] = priority
    if is_subclassed(operand):
        return array.view(type("StandIn", (np.ndarray,), known))
    known["__array__"] = lambda self, dtype=None, copy=None: array
    return type("StandIn", (), known)()


def _accepted(owner: Any, told: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the arguments that ``__array_wrap__`` of `owner` accepts: NumPy 1, and methods written
    for it, have no ``return_scalar``."""
    told = told[:1] if np.lib.NumpyVersion(np.__version__) < "2.0.0" else told
    if not has_array_wrap(owner):  # NumPy's own method
        return told
    signature = inspect.signature(owner.__array_wrap__)
    while told:
        try:
            signature.bind(None, *told)
        except TypeError:
            told = told[:-1]
        else:
            break
    return told


def wraps_result(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Return whether NumPy wraps the result of a ufunc, or of a method that calls one."""
    if type(f) is not np.ufunc and (type(f) is not MethodDescriptorType or f.__name__ not in _ASK):
        return False
    operands = (*args, *kwargs.values())
    if not any(map(may_wrap, operands)):
        return False  # a trial call would also call methods of objects in arrays twice
    arrays = list(map(data_of, operands))
    n = len(args)

    def ask(stand_ins: list[Any]) -> Any:
        return f(*stand_ins[:n], **dict(zip(kwargs, stand_ins[n:], strict=True)))

    try:
        return wrap_calls(ask, operands, arrays) is not None
    except NoDerivativeError:
        return False  # the call itself raises the error


_ASK = frozenset(
    [
        *("sum", "prod", "any", "all", "max", "min", "cumsum", "cumprod", "round", "conj"),
        *("conjugate", "reduce", "accumulate", "reduceat"),
    ]
)


rule_call.wraps_result = wraps_result
