"""Lowering of bytecode, for functions without source."""

from __future__ import annotations

import inspect
from types import FunctionType

from adjoint.frontend.bytecode.flow_graph import Graph, IrreducibleError
from adjoint.frontend.bytecode.instructions import Instruction, decode, file_of, refused
from adjoint.frontend.bytecode.machine import Machine
from adjoint.frontend.bytecode.regions import region_of
from adjoint.frontend.bytecode.structure import structured
from adjoint.ir import nodes as ir
from adjoint.ir.walk import operands, targets, walk

_ASYNCHRONOUS = inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR | inspect.CO_ITERABLE_COROUTINE


def lower(function: FunctionType) -> ir.Function:
    """Lower a function from its bytecode.

    Parameters
    ----------
    function : types.FunctionType
        Any function; or a function made of the body of a ``class`` statement or of code for
        ``exec``, which then takes the namespace to fill. In the latter case its name differs from
        that of its code.

    Returns
    -------
    Function
        As `adjoint.frontend.lowering` returns for the source, except for the names of temporaries
        and the form of conditions and loops.

    Raises
    ------
    UnsupportedSyntaxError
        An instruction is not lowered (exceptions are handled, for example); the message names it.
    """
    code = function.__code__
    start = ir.Span(code.co_firstlineno, 0, code.co_firstlineno, 0)
    if code.co_flags & _ASYNCHRONOUS:
        raise refused(code, "RETURN_GENERATOR", start, "async def")
    if code.co_name == "<module>" == function.__name__:
        raise refused(code, "STORE_NAME", start, "module")
    instructions = decode(code)
    try:
        graph = Graph(instructions)
        machine, body = _attempt(function, graph, instructions, frozenset())
        own = _own_names(machine, instructions, body)
        if own:
            machine, body = _attempt(function, graph, instructions, own)
    except IrreducibleError:
        raise refused(code, "JUMP_BACKWARD", start) from None
    except RecursionError:
        raise refused(code, "JUMP_FORWARD", start, "deep nesting") from None
    free = tuple(zip(code.co_freevars, machine.free, strict=True))
    return ir.Function(
        code.co_name,
        _parameters(machine),
        free,
        (*_unbound(machine, body, start), *body),
        bool(code.co_flags & inspect.CO_GENERATOR),
        code,
        file_of(code),
        start,
    )


def _attempt(
    function: FunctionType, graph: Graph, instructions: list[Instruction], own: frozenset[str]
) -> tuple[Machine, ir.Region]:
    machine = Machine(function, instructions, own)
    items = structured(graph, machine)
    return machine, region_of(items, machine.variable, machine.temporary)


def _own_names(
    machine: Machine, instructions: list[Instruction], body: ir.Region
) -> frozenset[str]:
    """Return the names that only comprehensions use: their variables need no renaming."""
    names = {step.value for step in instructions if step.name == "LOAD_FAST_AND_CLEAR"}
    if not names:
        return frozenset()
    used = {parameter.name for parameter in machine.parameters}
    for op in walk(body):
        used |= {var.name for var in (*operands(op), *targets(op)) if isinstance(var, ir.Var)}
    return frozenset(names - used)


def _parameters(machine: Machine) -> tuple[ir.Parameter, ...]:
    """Return the parameters in the order of the signature: ``*args`` before keyword-only ones."""
    if machine.namespace is not None:
        return (ir.Parameter(machine.namespace.name, 0),)
    code = machine.code
    variables = [var.name for var in machine.parameters]
    n, named = code.co_argcount, code.co_kwonlyargcount
    parameters = [
        ir.Parameter(name, 0 if i < code.co_posonlyargcount else 1)
        for i, name in enumerate(variables[:n])
    ]
    rest = variables[n + named :]
    if code.co_flags & inspect.CO_VARARGS:
        parameters.append(ir.Parameter(rest.pop(0), 2))
    parameters += [ir.Parameter(name, 3) for name in variables[n : n + named]]
    parameters += [ir.Parameter(name, 4) for name in rest]
    return tuple(parameters)


def _unbound(machine: Machine, body: ir.Region, span: ir.Span) -> ir.Region:
    """Return dead code that assigns the local variables without any binding, so that no global is
    read instead."""
    bound = {parameter.name for parameter in _parameters(machine)}
    bound |= {var.name for var in machine.free}
    read: set[str] = set()
    for op in walk(body):
        bound |= {var.name for var in targets(op)}
        read |= {var.name for var in operands(op) if isinstance(var, ir.Var)}
    never = sorted(read - bound)
    if not never:
        return ()
    assigned = tuple(ir.Assign(ir.Var(name), ir.Const(None), span) for name in never)
    return (ir.If(ir.Const(False), assigned, (), span),)
