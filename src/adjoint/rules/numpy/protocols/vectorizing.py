"""Substitute for `np.vectorize`, whose loop over the elements is in C."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from adjoint.primal.array_classes import is_subclassed
from adjoint.primal.value_kinds import is_one_object
from adjoint.rulekit.registry import non_differentiable, substitute
from adjoint.rules.numpy.shapes.creation import of_elements
from adjoint.runtime.arrays.wrap_results import data_of, wrap_calls, wrapped_result

_vectorize_call: Any = np.vectorize._vectorize_call  # type: ignore[attr-defined]


@substitute(_vectorize_call)
def vectorize_call(self, func, args):
    """Call `func` for Python numbers, and for the first elements twice, as NumPy does to learn the
    types of results."""
    if self.signature is not None:
        return self._vectorize_call_with_signature(func, args)
    if not args:
        return func()
    operands = [_Constant(arg) if is_one_object(arg) else np.asanyarray(arg) for arg in args]
    arrays = [data_of(operand) for operand in operands]
    otypes, kept = self.otypes, []
    if otypes is None:
        if any(array.size == 0 for array in arrays):
            raise ValueError("cannot call `vectorize` on size 0 inputs unless `otypes` is set")
        first = func(*[array[(0,) * array.ndim] for array in arrays])
        otypes = _types(first)
        if self.cache:
            kept.append(first)
    arrays = [_loop_array(arg, array) for arg, array in zip(args, arrays, strict=True)]
    when = _visits(arrays)
    arrays = [a if isinstance(a, _Constant) else np.broadcast_to(a, when.shape) for a in arrays]
    results = []
    for index in in_order(when):
        results.append(kept.pop() if kept else func(*[_element(a, index) for a in arrays]))
    if len(otypes) == 1:
        made = _arranged(results, otypes[0], when)
    else:
        made = tuple(
            [_arranged([result[k] for result in results], t, when) for k, t in enumerate(otypes)]
        )
    return wrapped_result(made, operands, _answers(operands, arrays, len(otypes)))


def _arranged(results, otype, when):
    """Put the results, in the order of the visits, into their places."""
    if np.dtype(otype).hasobject:
        return of_objects(results, otype, when)
    made = of_elements(results, otype)
    if when.flags.c_contiguous:
        return np.reshape(made, when.shape)
    y = np.empty_like(when, made.dtype)
    y[...] = made[when]
    return y


def _visits(arrays: Any) -> Any:
    """Return the position of each element in NumPy's loop, in an array laid out like the result."""
    count = itertools.count()
    loop: Any = np.frompyfunc(lambda *_: next(count), len(arrays), 1)
    alone = np.empty((), object)
    when = loop(*[alone if isinstance(a, _Constant) else np.asarray(a, object) for a in arrays])
    return np.asarray(np.asarray(when).astype(np.intp))


def in_order(when: Any) -> list[tuple[int, ...]]:
    """Return the indices of the elements, in the order of the visits."""
    if not when.ndim:
        return [()]
    order = np.unravel_index(np.argsort(when, axis=None), when.shape)
    return [*zip(*[part.tolist() for part in order], strict=True)]


def _loop_array(arg, array):
    """Return the array of the loop; NumPy numbers keep their type, except in arrays of them."""
    if isinstance(arg, np.ndarray | _Constant) or isinstance(array, _Constant):
        return array
    return np.asarray(arg, object)


def _answers(operands: list[Any], arrays: list[Any], n: int) -> Any:
    """Return how array subclasses among the operands wrap the `n` results of NumPy's loop."""
    if not any(map(is_subclassed, operands)):
        return None
    loop: Any = np.frompyfunc(lambda *_: (0,) * n if n > 1 else 0, len(operands), n)
    return wrap_calls(lambda stand_ins: loop(*stand_ins), operands, arrays)


class _Constant:
    """An operand that is one object, which NumPy puts into an array."""

    shape, ndim, size = (), 0, 1

    def __init__(self, value):
        self.value = value

    def __getitem__(self, index):
        return self.value


def _element(array, index):
    value = array[index]
    if isinstance(array, _Constant) or array.dtype.hasobject:
        return value
    return value.item() if isinstance(value, np.generic) else value


def of_objects(results: list[Any], otype: Any, when: Any) -> Any:
    """Return an array with the results as elements, even if these are containers."""
    made = np.empty_like(when, otype)
    for index, result in zip(in_order(when), results, strict=True):
        made[index] = result
    return made


def _types(first: Any) -> str:
    results = first if isinstance(first, tuple) else (first,)
    return "".join([np.asarray(result).dtype.char for result in results])


non_differentiable(_types, is_one_object, _answers, _visits, in_order)

_with_signature: Any = np.vectorize._vectorize_call_with_signature  # type: ignore[attr-defined]
_shapes: Any = _with_signature.__globals__.get("_parse_input_dimensions")
if _shapes is not None:  # reads shapes only
    non_differentiable(_shapes)
