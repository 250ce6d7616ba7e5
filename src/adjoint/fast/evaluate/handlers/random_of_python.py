"""Random numbers of a `random.Random` that the program makes with a known seed; see
`random_numbers`, whose generators are objects of the same kind."""

from __future__ import annotations

import random
from typing import Any

from adjoint.fast.evaluate.callees.numpy_definitions import definition
from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.handlers.table import handler, in_programs
from adjoint.fast.evaluate.types import ANYTHING, number
from adjoint.fast.evaluate.values import Abstract, Instance, Known
from adjoint.fast.not_covered import NotCovered
from adjoint.fast.support import functions as runtime
from adjoint.ir.single import Const, Value

_Random: Any = random.Random
_FIELD = "stream"


@handler(_Random)
def _(ev: Evaluator, seed: Abstract = Known(None)) -> Abstract:
    if not isinstance(seed, Known) or type(seed.value) is not int:
        raise NotCovered("a generator of random numbers without a known seed", ev.span)
    operands = Const(_Random), Const(seed.value)
    made = ev.operation(runtime.new_stream, operands, ANYTHING, name="stream")
    return ev.allocate(Instance(_Random, (_FIELD,), (made,)))


def _draw(ev: Evaluator, generator: Abstract, name: str, kind: type, *options: Abstract) -> Value:
    held = ev.held(generator)
    if not isinstance(held, Instance) or held.names != (_FIELD,):
        raise NotCovered("random numbers of a generator from outside", ev.span)
    (stream,) = held.items
    assert isinstance(stream, Value)
    constants = [
        ev.operation(runtime.constant, (x,), ev.types[x]) if isinstance(x, Value) else ev.operand(x)
        for x in options
    ]
    return ev.operation(runtime.draw, (stream, Const(name), *constants), number(kind))


@handler(_Random.random)
def _(ev: Evaluator, generator: Abstract) -> Abstract:
    return _draw(ev, generator, "random", float)


def _of_integers(name: str) -> None:
    @handler(getattr(_Random, name))
    def _(ev: Evaluator, generator: Abstract, *options: Abstract) -> Abstract:
        for x in options:
            is_known = isinstance(x, Known) and type(x.value) is int
            if not is_known and not (isinstance(x, Value) and ev.types[x] == number(int)):
                raise NotCovered("a random integer within something else than integers", ev.span)
        return _draw(ev, generator, name, int, *options)


for _name in ("randrange", "randint", "getrandbits"):
    _of_integers(_name)


@in_programs
def _standard(ev: Evaluator, generator: Abstract, name: Abstract) -> Abstract:
    """Stand for a draw with mean 0 and deviation 1, or with rate 1."""
    assert isinstance(name, Known)
    options = (1.0,) if name.value == "expovariate" else (0.0, 1.0)
    return _draw(ev, generator, name.value, float, *map(Known, options))


@definition(_Random.gauss)
def _gauss(self: Any, mu: Any = 0.0, sigma: Any = 1.0) -> Any:
    return mu + _standard(self, "gauss") * sigma


@definition(_Random.normalvariate)
def _normalvariate(self: Any, mu: Any = 0.0, sigma: Any = 1.0) -> Any:
    return mu + _standard(self, "normalvariate") * sigma


@definition(_Random.expovariate)
def _expovariate(self: Any, lambd: Any = 1.0) -> Any:
    return _standard(self, "expovariate") / lambd


@definition(_Random.uniform)
def _uniform(self: Any, a: Any, b: Any) -> Any:
    return a + (b - a) * self.random()


@definition(_Random.choice)
def _choice(self: Any, seq: Any) -> Any:
    return seq[self.randrange(len(seq))]


@definition(_Random.shuffle)
def _shuffle(self: Any, x: Any) -> Any:
    for i in range(len(x) - 1, 0, -1):
        j = self.randrange(i + 1)
        x[i], x[j] = x[j], x[i]
