"""Random numbers of generators that the program makes with a known seed, and of those from outside.

A generator that the program makes is an object of the heap with one field: the generator at run
time. The program draws from a generator from outside itself, whose state is put back if the program
fails, like the contents of arrays that it writes to. Draws that depend on values of the program are
standard ones, shifted and scaled by arithmetic, as NumPy does.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.fast.evaluate.callees.numpy_definitions import definition
from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.handlers.table import handler
from adjoint.fast.evaluate.leaves import Leaf
from adjoint.fast.evaluate.result_types.ones import run
from adjoint.fast.evaluate.types import ANYTHING, Array, Number, number, type_of
from adjoint.fast.evaluate.values import Abstract, External, Instance, Known
from adjoint.fast.not_covered import NotCovered
from adjoint.fast.support import functions as runtime
from adjoint.ir.single import Const, Value

_Generator = np.random.Generator
_FIELD = "stream"


@handler(np.random.default_rng)
def _(ev: Evaluator, seed: Abstract) -> Abstract:
    if not isinstance(seed, Known) or type(seed.value) is not int:
        raise NotCovered("a generator of random numbers without a known seed", ev.span)
    operands = Const(np.random.default_rng), Const(seed.value)
    made = ev.operation(runtime.new_stream, operands, ANYTHING, name="stream")
    return ev.allocate(Instance(_Generator, (_FIELD,), (made,)))


def _stream(ev: Evaluator, generator: Abstract) -> Value:
    held = ev.held(generator)
    if isinstance(generator, External):
        return _from_outside(ev, generator)
    if isinstance(held, Instance) and held.names == (_FIELD,) and isinstance(held.items[0], Value):
        return held.items[0]
    raise NotCovered("random numbers of a generator from outside", ev.span)


def _from_outside(ev: Evaluator, generator: External) -> Value:
    """Return a generator from outside as a parameter of the program."""
    outside, source = ev.outside, generator.source
    if not outside.may_write(source, True):
        raise NotCovered("random numbers of a generator from outside", ev.span)
    value = next((leaf.value for leaf in outside.leaves if leaf.source is source), None)
    if value is None:
        value = Value("stream")
        outside.leaves.append(Leaf(source, value, ANYTHING, generator.sample))
        ev.types[value] = ANYTHING
        ev.written.add(value)
    return value


def _standard(ev: Evaluator, generator: Abstract, name: str, size: Abstract) -> Value:
    """Write a draw of standard random numbers."""
    stream = _stream(ev, generator)
    t: Any = number(float)
    if not isinstance(size, Known) or size.value is not None:
        t = ev.types[ev.infer(np.empty, [size])]  # type: ignore[index]
    return ev.operation(runtime.draw, (stream, Const(name), ev.operand(size)), t)


@handler(_Generator.standard_normal)
def _(ev: Evaluator, generator: Abstract, size: Abstract = Known(None)) -> Abstract:
    return _standard(ev, generator, "standard_normal", size)


@handler(_Generator.random)
def _(ev: Evaluator, generator: Abstract, size: Abstract = Known(None)) -> Abstract:
    return _standard(ev, generator, "random", size)


@definition(_Generator.normal)
def _normal(generator: Any, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
    if np.ndim(loc) or np.ndim(scale):
        raise TypeError("a size that may follow from arrays")
    if scale < 0:
        raise ValueError("scale < 0")
    return float(loc) + float(scale) * generator.standard_normal(size)


@definition(_Generator.uniform)
def _uniform(generator: Any, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
    if np.ndim(low) or np.ndim(high):
        raise TypeError("a size that may follow from arrays")
    return float(low) + (float(high) - float(low)) * generator.random(size)


def _by_example(name: str) -> None:
    @handler(getattr(_Generator, name))
    def _(ev: Evaluator, generator: Abstract, *args: Abstract, **keywords: Abstract) -> Abstract:
        """Write a draw with options that are all known."""
        stream = _stream(ev, generator)
        named = tuple((k, ev.operand(x)) for k, x in keywords.items())
        operands = tuple(map(ev.operand, args))
        if not all(isinstance(x, Const) for x in (*operands, *(x for _, x in named))):
            raise NotCovered("random numbers with options that are not known", ev.span)
        f = getattr(np.random.default_rng(0), name)
        y = run(f, [x.value for x in operands], {k: x.value for k, x in named})  # type: ignore[union-attr]
        t = type_of(y)
        if not isinstance(t, Array | Number):
            raise NotCovered(f"random numbers as {type(y).__name__}", ev.span)
        return ev.operation(runtime.draw, (stream, Const(name), *operands), t, named)


for _name in (
    "integers",
    "permutation",
    "choice",
    "standard_exponential",
    "exponential",
    "poisson",
):
    _by_example(_name)
