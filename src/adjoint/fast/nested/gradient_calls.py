"""The gradient of an inner function with loops, as one operation.

A reverse sweep over that of a loop would have to reverse its tape. It is not needed: with the inner
gradient g = ∂f/∂x at x, of a function of x and of captured variables c, the pullback of g gives

    x̄ = ∂/∂x (g · ḡ),  c̄ = ∂/∂c (g · ḡ),

which by the symmetry of second derivatives is the tangent of the gradient of f in x and c, for the
tangent ḡ of x: forward over reverse (Griewank & Walther, *Evaluating Derivatives*, 2nd ed., ch. 5).
"""

from __future__ import annotations

from collections.abc import Sequence

from adjoint.fast.evaluate.composites import Composite, composite_of, expanded
from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.types import ANYTHING, Array, Number, bar_type
from adjoint.fast.forward.sweep import ForwardSweep
from adjoint.fast.forward.tangent_values import TangentValues
from adjoint.fast.nested.block_copies import copied
from adjoint.fast.reverse.arithmetic import product
from adjoint.fast.reverse.block_cotangents import Scope
from adjoint.fast.reverse.cotangent_types import whole
from adjoint.fast.reverse.forward_sweep import both_sweeps
from adjoint.fast.reverse.result import finished
from adjoint.fast.reverse.sweep import Sweep
from adjoint.fast.single_assignment.primitives import same
from adjoint.fast.single_assignment.substitution import free_values
from adjoint.fast.single_assignment.walk import result_of, walk
from adjoint.fast.support import functions as runtime
from adjoint.ir.single import Block, Call, Const, Loop, Op, Operand, Unpack, Value


def gradient_ops(
    ev: Evaluator, block: Block, leaves: Sequence[Value]
) -> tuple[list[Op], list[Operand]]:
    """Return the operations of a function and of its reverse sweep, and the cotangents of the
    variables `leaves`; the result of `block` is one real number."""
    assert block.results is not None
    forward, reverse = both_sweeps(
        ev,
        block,
        leaves,
        [(block.results[0], Const(1.0))],
        lambda scope: [finite(ev, finished(ev, scope.take_all(x), x)) for x in leaves],
    )
    return [*forward.ops, *reverse.ops], [*(reverse.results or ())]


def finite(ev: Evaluator, x: Operand) -> Operand:
    """Write an array of its own, or a number that is no integer; infinite ones are refused."""
    if isinstance(x, Const):
        return Const(float(x.value)) if isinstance(x.value, int) else x
    assert isinstance(x, Value)
    t = ev.types[x]
    if isinstance(t, Number):
        whole_kinds = {kind for kind in t.kinds if issubclass(kind, int)}
        t = Number((t.kinds - whole_kinds) | {float}) if whole_kinds else t
    return ev.operation(runtime.inner_derivative, (x,), t, name=x.name)


def as_one(ev: Evaluator, block: Block, leaves: Sequence[Value]) -> list[Operand] | None:
    """Write the gradient of a function with loops as one operation; return the result of the
    function and the cotangents of its variables `leaves`.

    Returns ``None`` for a function without loops, whose sweeps can be reversed, and for one of
    captured variables that are neither numbers nor arrays.
    """
    if not any(isinstance(op, Loop) or composite_of(op) for op in walk(block)):
        return None
    captured = [x for x in free_values(block) if x not in leaves]
    assert block.results is not None
    (y,) = block.results
    if not isinstance(y, Value):
        return None
    if not all(isinstance(ev.types[x], Number | Array) for x in captured):
        return None
    given = (*leaves, *captured)
    callee = InnerGradient(Block(given, block.ops, block.results), len(leaves))
    found = [ev.value(ev.types[y], y.name)]
    found += [ev.value(bar_type(ev.types[x]), f"{x.name}_bar") for x in leaves]
    ev.fresh.update(x for x in found if isinstance(ev.types[x], Array))
    pack = ev.operation(callee, given, ANYTHING, name="gradient")
    ev.write(Unpack(tuple(found), pack, None, ev.span))
    return [*found]


class InnerGradient(Composite):
    """``y, *bars = inner_gradient(*leaves, *captured)``.

    Parameters
    ----------
    block
        The inner function; its parameters are the `count` variables, then the captured ones.
    """

    def __init__(self, block: Block, count: int) -> None:
        self.block: Block = block
        self.count: int = count

    def copy_at(
        self, ev: Evaluator, operands: Sequence[Operand], apart: Sequence[int]
    ) -> tuple[Block, list[Value]]:
        """Return a copy of the block at `operands`, and the copies of those at the places `apart`,
        which are variables of their own."""
        names = dict(zip(self.block.parameters, operands, strict=True))
        variables = []
        for i in apart:
            x = self.block.parameters[i]
            names[x] = made = ev.operation(same, (operands[i],), ev.types[x], name=x.name)
            variables.append(made)
        return copied(ev, self.block, names), variables

    def write(self, ev: Evaluator, op: Call) -> Sequence[Operand]:
        """Write the function and its reverse sweep; return its result and the cotangents."""
        block, leaves = self.copy_at(ev, op.operands, range(self.count))
        ops, bars = gradient_ops(ev, block, leaves)
        for one in expanded(ev, Block((), tuple(ops), ())).ops:
            ev.write(one)
        assert block.results is not None
        return block.results[0], *bars

    def tangent(self, sweep: TangentValues, op: Call) -> Operand:
        """Write the operation, and a second one for the tangent of its result."""
        ev = sweep.ev
        ev.write(op)
        pairs = zip(self.block.parameters, op.operands, strict=True)
        moving = {x: dot for x, y in pairs if (dot := sweep.of(y)) is not None}
        along = TangentOfGradient(self, [*moving])
        given = [whole(ev, dot, x) for x, dot in moving.items()]
        return ev.operation(along, (*op.operands, *given), ANYTHING, name="gradient_dot")

    def back(self, sweep: Sweep, scope: Scope, op: Call) -> None:
        """Write the gradient in all active operands, and its tangent."""
        ev, packed = sweep.ev, scope.take(result_of(op))
        if packed is None:
            return
        y_bar, *dots = ev.packs[packed]  # type: ignore[index]
        own = range(self.count)
        active = [i for i, x in enumerate(op.operands) if i in own or sweep.is_active((x,))]
        block, variables = self.copy_at(ev, op.operands, active)
        ops, bars = gradient_ops(ev, block, variables)
        ops = list(expanded(ev, Block((), tuple(ops), ())).ops)
        pairs = zip(variables[: self.count], dots, strict=True)
        given = {x: whole(ev, dot, x) for x, dot in pairs if dot != Const(0.0)}
        tangents = ForwardSweep(ev, [*given])
        for one in tangents.push(Block((), tuple(ops), ()), given):
            ev.write(one)
        for i, bar in zip(active, bars, strict=True):
            moved = tangents.of(bar)
            if moved is not None:
                scope.add(op.operands[i], moved)
            if y_bar != Const(0.0):
                scope.add(op.operands[i], product(ev, bar, y_bar, "t"))


class TangentOfGradient(Composite):
    """``y_dot, *bar_dots = tangent_of_gradient(*leaves, *captured, *dots)``.

    Parameters
    ----------
    gradient
        The gradient that it is the tangent of.
    moving
        The parameters of the inner function that have tangents, in the order of `dots`.
    """

    def __init__(self, gradient: InnerGradient, moving: Sequence[Value]) -> None:
        self.gradient: InnerGradient = gradient
        self.moving: Sequence[Value] = moving

    def write(self, ev: Evaluator, op: Call) -> Sequence[Operand]:
        """Write the gradient with tangents: forward over reverse."""
        parameters = self.gradient.block.parameters
        places = [*range(self.gradient.count)]
        places += [i for i, x in enumerate(parameters) if x in self.moving and i not in places]
        block, variables = self.gradient.copy_at(ev, op.operands[: len(parameters)], places)
        ops, bars = gradient_ops(ev, block, variables[: self.gradient.count])
        own = dict(zip((parameters[i] for i in places), variables, strict=True))
        dots = zip(self.moving, op.operands[len(parameters) :], strict=True)
        given = {own[x]: whole(ev, dot, own[x]) for x, dot in dots}
        tangents = ForwardSweep(ev, [*given])
        for one in tangents.push(expanded(ev, Block((), tuple(ops), ())), given):
            ev.write(one)
        assert block.results is not None
        ends = (block.results[0], *bars)
        return [
            tangents.settle(tangents.full(x), x) if isinstance(x, Value) else Const(0.0)
            for x in ends
        ]

    def tangent(self, sweep: TangentValues, op: Call) -> Operand:
        """Treat it as the gradient of the tangent of the function."""
        return self._as_gradient(sweep.ev).tangent(sweep, op)

    def back(self, sweep: Sweep, scope: Scope, op: Call) -> None:
        """Treat it as the gradient of the tangent of the function."""
        self._as_gradient(sweep.ev).back(sweep, scope, op)

    def _as_gradient(self, ev: Evaluator) -> InnerGradient:
        """Return the same as a gradient: the tangent of the gradient of f is the gradient of the
        tangent of f, in the same variables."""
        parameters = self.gradient.block.parameters
        own = {x: ev.value(ev.types[x], x.name) for x in parameters}
        block = copied(ev, self.gradient.block, own)
        moving = [own[x] for x in self.moving]
        inner = ForwardSweep(ev, moving)
        dots, ops = inner.run(block, moving)
        assert block.results is not None
        (y,) = block.results
        with ev.writing(ops):
            y_dot = inner.settle(inner.full(y), y) if isinstance(y, Value) else Const(0.0)
        whole_block = Block((*own.values(), *dots), tuple(ops), (y_dot,))
        return InnerGradient(whole_block, self.gradient.count)
