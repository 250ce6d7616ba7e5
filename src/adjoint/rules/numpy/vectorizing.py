"""`np.vectorize`, whose loop over the elements is in C: the same loop in Python."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.rules.numpy.wrapping import answers_of, data_of, wrapped_result
from adjoint.rules.registry import non_differentiable, substitute
from adjoint.run.kinds import is_one_object
from adjoint.run.subclasses import is_subclassed

__all__: list[str] = []

_vectorize_call: Any = np.vectorize._vectorize_call  # type: ignore[attr-defined]


@substitute(_vectorize_call)
def vectorize_call(self, func, args):
    """Like NumPy's own, it calls `func` on the first elements once more to learn what it returns,
    and gives it Python's numbers.
    """
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
    shape = np.broadcast_shapes(*[array.shape for array in arrays])
    arrays = [a if isinstance(a, _Constant) else np.broadcast_to(a, shape) for a in arrays]
    results = []
    for index in np.ndindex(*shape):
        results.append(kept.pop() if kept else func(*[_element(a, index) for a in arrays]))
    if len(otypes) == 1:
        made = _arranged(results, otypes[0], shape)
    else:
        made = tuple(
            [_arranged([result[k] for result in results], t, shape) for k, t in enumerate(otypes)]
        )
    return wrapped_result(made, operands, _answers(operands, arrays, len(otypes)))


def _arranged(results, otype, shape):
    if np.dtype(otype).hasobject:
        return of_objects(results, otype, shape)
    return np.reshape(np.array(results, otype), shape)


def _answers(operands: list[Any], arrays: list[Any], n: int) -> Any:
    """What arrays of classes of their own make of the `n` results of NumPy's loop."""
    if not any(map(is_subclassed, operands)):
        return None
    loop: Any = np.frompyfunc(lambda *_: (0,) * n if n > 1 else 0, len(operands), n)
    return answers_of(lambda stand_ins: loop(*stand_ins), operands, arrays)


class _Constant:
    """An object among the operands: NumPy makes an array of it, with one element."""

    shape, ndim, size = (), 0, 1

    def __init__(self, value):
        self.value = value

    def __getitem__(self, index):
        return self.value


def _element(array, index):
    value = array[index]
    return value.item() if isinstance(value, np.generic) else value


def of_objects(results: list[Any], otype: Any, shape: tuple[int, ...]) -> Any:
    """An array whose elements they are, whatever these hold themselves."""
    made = np.empty(len(results), otype)
    for i, result in enumerate(results):
        made[i] = result
    return np.reshape(made, shape)


def _types(first: Any) -> str:
    results = first if isinstance(first, tuple) else (first,)
    return "".join([np.asarray(result).dtype.char for result in results])


non_differentiable(_types, is_one_object, _answers)

_with_signature: Any = np.vectorize._vectorize_call_with_signature  # type: ignore[attr-defined]
_shapes: Any = _with_signature.__globals__.get("_parse_input_dimensions")
if _shapes is not None:  # it looks at shapes only
    non_differentiable(_shapes)
