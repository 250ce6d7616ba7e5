"""Random numbers of generators that the program makes with a known seed, of those from outside, and
of NumPy's global one.

A generator that the program makes is an object of the heap with one field: the generator at run
time. The program draws from a generator from outside itself, whose state is put back if the program
fails, like the contents of arrays that it writes to. Draws that depend on values of the program are
standard ones, shifted and scaled by arithmetic, as NumPy does, or elements at places that are
drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
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
from adjoint.ir.single import Const, Operand, Value

_Generator, _RandomState = np.random.Generator, np.random.RandomState
_SOURCES: tuple[Any, ...] = (_Generator, _RandomState)
_FIELD = "stream"

# ---- generators ----------------------------------------------------------------------------------


def _makes(make: Any, kind: Any) -> None:
    @handler(make)
    def _(ev: Evaluator, seed: Abstract) -> Abstract:
        if not isinstance(seed, Known) or type(seed.value) is not int:
            raise NotCovered("a generator of random numbers without a known seed", ev.span)
        operands = Const(make), Const(seed.value)
        made = ev.operation(runtime.new_stream, operands, ANYTHING, name="stream")
        return ev.allocate(Instance(kind, (_FIELD,), (made,)))


_makes(np.random.default_rng, _Generator)
_makes(_RandomState, _RandomState)


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


# ---- draws ---------------------------------------------------------------------------------------


def _standard(ev: Evaluator, generator: Abstract, name: str, size: Abstract) -> Value:
    """Write a draw of standard random numbers."""
    stream = _stream(ev, generator)
    t: Any = number(float)
    if not isinstance(size, Known) or size.value is not None:
        t = ev.types[ev.infer(np.empty, [size])]  # type: ignore[index]
    return ev.operation(runtime.draw, (stream, Const(name), ev.operand(size)), t)


def _of_size(name: str, kinds: Sequence[Any] = _SOURCES) -> None:
    for kind in kinds:

        @handler(getattr(kind, name))
        def _(ev: Evaluator, generator: Abstract, size: Abstract = Known(None)) -> Abstract:
            return _standard(ev, generator, name, size)


_of_size("standard_normal")
_of_size("random")
_of_size("random_sample", (_RandomState,))


@definition(_RandomState.randn)
def _randn(generator: Any, *shape: Any) -> Any:
    return generator.standard_normal(shape if len(shape) > 0 else None)


@definition(_RandomState.rand)
def _rand(generator: Any, *shape: Any) -> Any:
    return generator.random_sample(shape if len(shape) > 0 else None)


def _arranged(generator: Any, name: Any, size: Any, loc: Any, scale: Any) -> Any:
    """Return standard draws for parameters that are arrays or numbers."""
    draw = generator.random if name == "random" else generator.standard_normal
    if np.ndim(loc) == 0 and np.ndim(scale) == 0:
        return draw(size)
    shape = np.shape(loc + scale)
    if size is None:
        return draw(shape)
    z = draw(size)
    if np.shape(z + loc + scale) != np.shape(z):
        raise ValueError("parameters of another shape")
    return z


def _real(x: Any) -> Any:
    return x if np.ndim(x) else float(x)


def _normal(generator: Any, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
    if np.any(scale < 0):
        raise ValueError("scale < 0")
    z = _arranged(generator, "standard_normal", size, loc, scale)
    return _real(loc) + _real(scale) * z


def _uniform(generator: Any, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
    u = _arranged(generator, "random", size, low, high)
    return _real(low) + (_real(high) - _real(low)) * u


def _lognormal(generator: Any, mean: Any = 0.0, sigma: Any = 1.0, size: Any = None) -> Any:
    y = _normal(generator, mean, sigma, size)
    return np.exp(y) if np.ndim(y) else float(np.exp(y))


def _exponential(generator: Any, scale: Any = 1.0, size: Any = None) -> Any:
    if np.ndim(scale) or scale < 0:
        raise ValueError("scale < 0, or an array")
    return float(scale) * generator.standard_exponential(size)


def _gamma(generator: Any, shape: Any, scale: Any = 1.0, size: Any = None) -> Any:
    if np.ndim(scale) or scale < 0:
        raise ValueError("scale < 0, or an array")
    return float(scale) * generator.standard_gamma(shape, size)


def _permutation(generator: Any, x: Any) -> Any:
    return generator.permutation(x) if np.ndim(x) == 0 else x[generator.permutation(len(x))]


def _shuffle(generator: Any, x: Any) -> Any:
    if not isinstance(x, np.ndarray):
        raise TypeError("a list")
    x[...] = x[generator.permutation(len(x))]


def _choice(generator: Any, a: Any, size: Any = None, replace: Any = True, p: Any = None) -> Any:
    places = generator.choice(a if np.ndim(a) == 0 else len(a), size, replace, p)
    return places if np.ndim(a) == 0 else a[places]


for _kind in _SOURCES:
    for _f in (_normal, _uniform, _lognormal, _exponential, _gamma, _shuffle):
        definition(getattr(_kind, _f.__name__[1:]))(_f)


# ---- draws with options --------------------------------------------------------------------------

_OF_INTEGERS = frozenset("binomial geometric integers poisson randint".split())
"""Draws that have no derivative in their parameters."""
_CHOSEN: dict[str, Any] = {"permutation": _permutation, "choice": _choice}
"""Definitions for arrays of draws of places."""
_POSITIONS = {
    "integers": 2, "randint": 2, "binomial": 2, "poisson": 1, "geometric": 1, "choice": 1,
    "standard_exponential": 0, "standard_gamma": 1,
}  # fmt: skip
"""Number of parameters before the size."""


def _drawn(kind: Any, name: str) -> None:
    @handler(getattr(kind, name))
    def _(ev: Evaluator, generator: Abstract, *args: Abstract, **keywords: Abstract) -> Abstract:
        """Write a draw whose options are known, or lengths, besides its size and parameters of
        integers."""
        if name in _CHOSEN:
            args = (*(_as_array(ev, x) for x in args[:1]), *args[1:])
            keywords = {k: _as_array(ev, x) if k == "p" else x for k, x in keywords.items()}
        x = args[0] if args else None
        if name in _CHOSEN and isinstance(x, Value) and isinstance(ev.types[x], Array):
            return ev.inline(ev.outside.own(_CHOSEN[name]), [generator, *args], keywords)  # type: ignore[arg-type]
        stream = _stream(ev, generator)
        at = _POSITIONS.get(name, len(args))
        size = args[at] if len(args) > at else keywords.get("size", Known(None))
        others = [*args[:at], *args[at + 1 :], *(v for k, v in keywords.items() if k != "size")]
        for option in others:
            _demand_plain(ev, name, option)
        operands = [_constant(ev, option) for option in args]
        named = tuple((k, _constant(ev, option)) for k, option in keywords.items())
        t = _type(ev, kind, name, args, keywords, size)
        return ev.operation(runtime.draw, (stream, Const(name), *operands), t, named)


def _as_array(ev: Evaluator, x: Abstract) -> Abstract:
    is_list = ev.class_of(x) in (list, tuple)
    return ev.call(Known(np.asarray), [x], {}) if is_list else x


def _demand_plain(ev: Evaluator, name: str, option: Abstract) -> None:
    """Refuse a parameter in which a draw may have a derivative, or which is an array."""
    if isinstance(option, Value):
        t = ev.types[option]
        if option in ev.dims or (name in _OF_INTEGERS and isinstance(t, Number)):
            return
        if name == "choice" and isinstance(t, Array):  # the probabilities
            return
    elif isinstance(option, Known):
        return
    raise NotCovered("random numbers with options that are not known", ev.span)


def _constant(ev: Evaluator, option: Abstract) -> Operand:
    operand = ev.operand(option)
    if isinstance(operand, Value) and operand not in ev.dims:
        t = ev.types[operand]
        if isinstance(t, Array | Number):
            return ev.operation(runtime.constant, (operand,), t)
    return operand


def _type(
    ev: Evaluator,
    kind: Any,
    name: str,
    args: Sequence[Abstract],
    keywords: dict[str, Abstract],
    size: Abstract,
) -> Any:
    """Return the type of a draw, by one with made-up lengths and parameters and without a size."""
    at = _POSITIONS.get(name, len(args))
    given = [_example(ev, x) for i, x in enumerate(args) if i != at]
    made = {k: _example(ev, x) for k, x in keywords.items() if k not in ("size", "p", "replace")}
    if name == "choice":
        given = given[:1]
    y = run(getattr(kind(np.random.MT19937(0)), name), given, made)
    t = type_of(y)
    if name == "permutation":
        return ev.types[ev.infer(np.arange, list(args))]  # type: ignore[index]
    if isinstance(size, Known) and size.value is None and isinstance(t, Array | Number):
        return t
    if not isinstance(t, Number):
        raise NotCovered(f"random numbers as {type(y).__name__}", ev.span)
    shape = ev.types[ev.infer(np.empty, [size])].shape  # type: ignore[index,union-attr]
    return Array(np.asarray(y).dtype, shape)


def _example(ev: Evaluator, option: Abstract) -> Any:
    if isinstance(option, Known):
        return option.value
    assert isinstance(option, Value)
    return 5 if option in ev.dims or ev.types[option] == number(int) else 0.5


for _kind in _SOURCES:
    for _name in _POSITIONS.keys() | {"permutation"}:
        if hasattr(_kind, _name):
            _drawn(_kind, _name)


# ---- the global generator ------------------------------------------------------------------------


def _seed(ev: Evaluator, generator: Abstract, seed: Abstract) -> Abstract:
    if not isinstance(seed, Known) or type(seed.value) is not int:
        raise NotCovered("a seed that is not known", ev.span)
    ev.operation(runtime.draw, (_stream(ev, generator), Const("seed"), Const(seed.value)), ANYTHING)
    return Known(None)


handler(_RandomState.seed)(_seed)


def _global(name: str) -> None:
    @handler(getattr(np.random, name))
    def _(ev: Evaluator, *args: Abstract, **keywords: Abstract) -> Abstract:
        names = vars(np.random.mtrand)
        source = ev.outside.root("object", names)
        generator = ev.outside.read(source, "item", "_rand", names["_rand"])
        return ev.call(Known(getattr(_RandomState, name)), [generator, *args], keywords)


for _name in (
    "binomial", "choice", "exponential", "gamma", "geometric", "lognormal", "normal", "permutation",
    "poisson", "rand", "randint", "randn", "random", "random_sample", "seed", "shuffle",
    "standard_exponential", "standard_gamma", "standard_normal", "uniform",
):  # fmt: skip
    _global(_name)
