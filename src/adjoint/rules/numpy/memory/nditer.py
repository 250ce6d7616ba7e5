"""Rules of `numpy.nditer`: each element is read and written as a view of its operand."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.diagnostics.refusals import refused
from adjoint.primal.array_memory import address_of
from adjoint.rulekit.registry import non_differentiable, primitive
from adjoint.runtime.dispatch.linked import linked
from adjoint.runtime.dispatch.source_call import call_function
from adjoint.runtime.memory.active_iterator import STAND_IN_CLASSES

FACTS = frozenset({
    "dtypes", "finished", "has_delayed_bufalloc", "has_index", "has_multi_index", "index",
    "iterationneedsapi", "iterindex", "iterrange", "itersize", "multi_index", "ndim", "nop",
    "shape",
})  # fmt: skip
"""Attributes of the iterator that describe its position and its operands."""


class Iteration:
    """A `numpy.nditer` without buffers, with its operands."""

    def __init__(self, native: Any, operands: Any) -> None:
        self.native: Any = native
        self.operands: Any = operands
        self._begun = False

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return np.nditer

    def __getattr__(self, name: Any) -> Any:
        return _fact(self.native, name)

    def __setattr__(self, name: Any, value: Any) -> None:
        if name in FACTS:
            _move(self.native, name, value)
        else:
            object.__setattr__(self, name, value)

    def __len__(self) -> int:
        return len(self.operands)

    def __getitem__(self, k: Any) -> Any:
        if isinstance(k, slice):
            return tuple([self[i] for i in range(*k.indices(len(self.operands)))])
        operand = self.operands[k]
        place, shape, strides = _place(self.native, operand, k)
        if type(operand) is not np.ndarray:  # the parts of any class are plain arrays
            operand = operand.view(np.ndarray)
        view = operand[place]
        if shape:
            view = np.lib.stride_tricks.as_strided(view, shape, strides)
        _lock(view, self.native, k)
        return view

    def __setitem__(self, k: Any, value: Any) -> None:
        self[k][...] = value

    @property
    def value(self) -> Any:
        return self[0] if len(self.operands) == 1 else self[:]

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        if not _advance(self.native, self._begun):
            raise StopIteration
        self._begun = True
        return self.value

    def iternext(self) -> Any:
        return _iternext(self.native)

    def reset(self) -> None:
        self._begun = False
        _reset(self.native)

    def close(self) -> None:
        _close(self.native)

    def __enter__(self) -> Any:
        return self

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> Any:
        _close(self.native)


def _iteration(native, op):
    given = op if isinstance(op, list | tuple) else (op,)
    made = native.operands
    return Iteration(native, tuple([made[k] if x is None else x for k, x in enumerate(given)]))


def _of_arrays(options, op):
    """Make the iterator with numbers and lists converted to arrays."""
    args, kwargs = options
    if not isinstance(op, list | tuple):
        return np.nditer(np.asanyarray(op), *args, **kwargs)
    arrays = [x if x is None else np.asanyarray(x) for x in op]
    return np.nditer(arrays, *args, **kwargs)


STAND_IN_CLASSES.add(Iteration)


@primitive(np.nditer)
def _(record: list[Any], slot: int, /, op: Any, *args: Any, **kwargs: Any) -> Any:
    """Iterate over views of the operands; decline an iterator that copies them."""
    flags = args[0] if args else kwargs.get("flags")
    given = op if isinstance(op, list | tuple) else (op,)
    if "buffered" in (flags or ()):
        return NotImplemented
    none = (None,) * (len(args) + len(kwargs))

    def run(f: Any, *operands: Any) -> Any:
        def arrange(bars: tuple[Any, ...]) -> tuple[Any, ...]:
            return None, bars[2], *none

        return linked(record, slot, arrange, call_function, f, operands, {})

    if not all(x is None or isinstance(x, np.ndarray) for x in given):
        return run(_of_arrays, (args, kwargs), op)
    native: Any = np.nditer(op, *args, **kwargs)
    if not all(x is None or x is y for x, y in zip(given, native.operands, strict=True)):
        return NotImplemented
    return run(_iteration, native, op)


# ---- the iterator itself, which has no derivative ------------------------------------------------


def _place(native: Any, operand: Any, k: int) -> tuple[Any, Any, Any]:
    """Return the subscript of the next element, as a view, and its shape and strides."""
    part = native[k]
    rest = address_of(part) - address_of(operand)
    place = [0] * operand.ndim
    sizes = list(zip(operand.strides, operand.shape, range(operand.ndim), strict=True))
    for step, n, _ in sizes:
        rest -= (n - 1) * step if step < 0 else 0
    for step, n, axis in sorted(sizes, key=lambda size: -abs(size[0])):
        count, rest = divmod(rest, abs(step)) if step else (0, rest)
        place[axis] = n - 1 - count if step < 0 else count
    return (*place, ...), part.shape, part.strides


def _lock(view: Any, native: Any, k: int) -> None:
    """Make a view read-only if the iterator has it so."""
    if not native[k].flags.writeable:
        view.flags.writeable = False


def _advance(native: Any, begun: bool) -> bool:
    return not native.finished and (not begun or native.iternext())


def _iternext(native: Any) -> bool:
    return bool(native.iternext())


def _reset(native: Any) -> None:
    native.reset()


def _close(native: Any) -> None:
    native.close()


def _move(native: Any, name: str, value: Any) -> None:
    setattr(native, name, value)


def _fact(native: Any, name: str) -> Any:
    if name in FACTS:
        return getattr(native, name)
    if hasattr(native, name):
        raise refused(
            f"'{name}' of a numpy.nditer is used inside differentiated code",
            "iterate, or use value, operands, multi_index and iternext",
        )
    raise AttributeError(f"'numpy.nditer' object has no attribute {name!r}")


non_differentiable(_place, _lock, _advance, _iternext, _reset, _close, _move, _fact)
