"""Runs a function in single assignment: what its operations mean, on real values."""

from __future__ import annotations

import functools
import inspect
import sys
import types

from adjoint.errors import UnsupportedSyntaxError
from adjoint.fast.not_covered import NotCovered
from adjoint.fast.single_assignment.construction import single
from adjoint.fast.single_assignment.primitives import (
    assigned,
    attempt,
    caught_exception,
    completed,
    latest,
    wrote,
)
from adjoint.frontend.source_or_bytecode import lower_any
from adjoint.ir import primitives
from adjoint.ir.single import (
    Call,
    Const,
    Global,
    If,
    Loop,
    Path,
    Raise,
    Undefined,
    Unpack,
    Value,
)
from tests.fast.verifier import verify
from tests.ir.interpreter import fill, is_body, unpacked


def converted(function):
    """The function in single assignment, verified."""
    result = single(lower_any(function))
    verify(result)
    return result


def interpreted(function, *, deep=False, convert=converted):
    """A function that does what `function` does, by its single assignment; `deep`: so do the
    functions and class bodies made inside it that are covered."""
    lowered = convert(function)
    is_class_body = not function.__code__.co_flags & inspect.CO_OPTIMIZED
    signature = inspect.signature(fill if is_class_body else function, follow_wrapped=False)

    @functools.wraps(function)
    def run(*args, **kwargs):
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        given = [bound.arguments[name] for name in signature.parameters]
        given += function.__closure__ or ()
        activation = Activation(function, deep and convert)
        (result,) = activation.block(lowered.body, given)
        return result

    run.interpreted = True
    return run


class Attempt:
    """The state of the body of a ``try``."""

    def __init__(self):
        self.is_over, self.left = False, {}

    def complete(self):
        self.is_over = True

    def write(self, name, *value):
        self.left[name] = value

    def latest(self, name, *value):
        (found,) = self.left.get(name, value) or (Undefined(name),)
        return found


_OF_ATTEMPTS = {
    id(attempt): Attempt,
    id(completed): Attempt.complete,
    id(latest): Attempt.latest,
    id(wrote): Attempt.write,
}


_AS_THEY_ARE = {id(assigned), id(latest), id(wrote)}


class Activation:
    def __init__(self, function, deep):
        self.function, self.deep, self.values = function, deep, {}

    def read(self, operand):
        match operand:
            case Value():
                return self.values[operand]
            case Const(value=value):
                return value
            case Global(name=name):
                return primitives.load_global(self.function.__globals__, name)
            case Path(names=(first, *others)):
                start = primitives.load_global(self.function.__globals__, first)
                return functools.reduce(getattr, others, start)
            case Undefined():
                return operand

    def used(self, operand):
        """What an operation reads; a variable without a value has to be found out before."""
        value = self.read(operand)
        assert type(value) is not Undefined, f"{value!r} is used"
        return value

    def block(self, block, given=()):
        self.values.update(zip(block.parameters, given, strict=True))
        for op in block.ops:
            self.step(op)
        assert block.results is not None, "the end of a block without results"
        return [self.read(result) for result in block.results]

    def step(self, op):
        match op:
            case Call(result=result):
                value = self.call(op)
                if result is not None:
                    self.values[result] = value
            case Unpack():
                self.unpack(op)
            case If():
                test = self.used(op.condition)
                if isinstance(test, Attempt):
                    results = self.attempted(test, op)
                else:
                    assert isinstance(test, bool), f"the condition is {test!r}"
                    results = self.block(op.body if test else op.orelse)
                self.values.update(zip(op.results, results, strict=True))
            case Loop(iterable=None):
                self.finish(op, *self.while_loop(op))
            case Loop():
                self.finish(op, *self.for_loop(op))
            case Raise(exception=None):
                raise
            case Raise(exception=exception, cause=None):
                raise self.used(exception)
            case Raise(exception=exception, cause=cause):
                raise self.used(exception) from self.used(cause)

    def attempted(self, state, op):
        try:
            return self.block(op.body)
        except BaseException:
            if state.is_over:
                raise
            return self.block(op.orelse)

    def finish(self, op, ended, carried):
        results = [ended, *carried] if op.stops else carried
        self.values.update(zip(op.results, results, strict=True))

    def for_loop(self, op):
        iterable, carried = self.used(op.iterable), [self.read(first) for first in op.initial]
        for item in iterable:
            going, carried = self.iteration(op, [item, *carried])
            if not going:
                return False, carried
        return True, carried

    def while_loop(self, op):
        carried = [self.read(first) for first in op.initial]
        while True:
            test, *carried = self.block(op.test, carried)
            assert isinstance(test, bool), f"the condition is {test!r}"
            if not test:
                return True, carried
            going, carried = self.iteration(op, carried)
            if not going:
                return False, carried

    def iteration(self, op, given):
        results = self.block(op.body, given)
        if not op.stops:
            return True, results
        assert isinstance(results[0], bool), f"whether to go on is {results[0]!r}"
        return results[0], results[1:]

    def call(self, op):
        callee = self.used(op.callee)
        read = self.read if id(callee) in _AS_THEY_ARE else self.used
        operands = [read(operand) for operand in op.operands]
        keywords = {name: read(operand) for name, operand in op.keywords}
        if callee is caught_exception:
            return sys.exception()
        if id(callee) in _OF_ATTEMPTS:
            return _OF_ATTEMPTS[id(callee)](*operands)
        if callee is primitives.current_globals:
            return self.function.__globals__
        if callee is primitives.apply:
            callee, operands, keywords = operands
        if callee is primitives.build_class and hasattr(operands[0], "interpreted"):
            body, name, *bases = operands
            return types.new_class(name, tuple(bases), keywords, body)
        result = callee(*operands, **keywords)
        if self.deep and callee is primitives.make_function and is_body(result):
            return within(result, self.deep)
        return result

    def unpack(self, op):
        if op.starred is None:
            parts = unpacked(self.used(op.value), len(op.results))
        else:
            after = len(op.results) - op.starred - 1
            items = list(iter(self.used(op.value)))
            if len(items) < len(op.results) - 1:
                counts = f"(expected at least {len(op.results) - 1}, got {len(items)})"
                raise ValueError(f"not enough values to unpack {counts}")
            end = len(items) - after
            parts = [*items[: op.starred], items[op.starred : end], *items[end:]]
        self.values.update(zip(op.results, parts, strict=True))


def within(function, convert):
    """A function made inside another one, interpreted if it is covered."""
    try:
        return interpreted(function, deep=True, convert=convert)
    except (NotCovered, UnsupportedSyntaxError):
        return function
