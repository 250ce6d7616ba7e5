"""Runs the IR of a function as it stands: what the operations mean, with no engine in between."""

from __future__ import annotations

import functools
import inspect
import types

from adjoint.frontend import lower, lower_any
from adjoint.ir import primitives
from adjoint.ir.nodes import (
    Assign,
    Break,
    Call,
    Const,
    Continue,
    Delete,
    For,
    Global,
    If,
    Raise,
    Return,
    Try,
    Unpack,
    Var,
    While,
    Yield,
)
from tests.ir.verify import verify

BREAK, CONTINUE = object(), object()


class Stopped(BaseException):
    """Carries a StopIteration through the generators that the interpreter is made of."""

    def __init__(self, inner):
        super().__init__(inner)
        self.inner = inner


class Returned:
    def __init__(self, value):
        self.value = value


def interpreted(function, *, deep=False, lower=lower):
    """A function that does what `function` does, by its IR; `deep`: so do the functions and class
    bodies made inside it. `lower` is the frontend."""
    is_class_body = not function.__code__.co_flags & inspect.CO_OPTIMIZED
    lowered = lower_any(function) if is_class_body else lower(function)
    verify(lowered)
    signature = inspect.signature(fill if is_class_body else function, follow_wrapped=False)

    def bind(args, kwargs):
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        values = {
            p.name: bound.arguments[name]
            for p, name in zip(lowered.parameters, signature.parameters)
        }
        cells = function.__closure__ or ()
        values.update({var.name: cell for (_, var), cell in zip(lowered.free, cells)})
        return Activation(function, values, deep and lower)

    if lowered.is_generator:

        @functools.wraps(function)
        def run(*args, **kwargs):
            return generate(bind(args, kwargs), lowered.body)

    else:

        @functools.wraps(function)
        def run(*args, **kwargs):
            steps = bind(args, kwargs).region(lowered.body)
            try:
                next(steps)
            except Stopped as stopped:
                raise stopped.inner from stopped.inner.__cause__
            except StopIteration as done:
                assert isinstance(done.value, Returned), "every path of a function returns"
                return done.value.value
            raise AssertionError("a function that is no generator has yielded")

    return run


def fill(namespace, /):
    """Stands for a class body, of which Python does not say that it has a parameter."""


def generate(activation, body):
    try:
        done = yield from activation.region(body)
    except Stopped as stopped:
        raise stopped.inner from None
    return done.value


class Activation:
    def __init__(self, function, values, deep):
        self.function, self.values, self.deep = function, values, deep

    def read(self, operand):
        match operand:
            case Const(value=value):
                return value
            case Var(name=name):
                if name not in self.values:
                    where = "where it is not associated with a value"
                    raise UnboundLocalError(f"cannot access local variable '{name}' {where}")
                return self.values[name]
            case Global(name=name):
                return primitives.load_global(self.function.__globals__, name)

    def region(self, region):
        for op in region:
            signal = yield from self.step(op)
            if signal is not None:
                return signal
        return None

    def step(self, op):
        read, values = self.read, self.values
        match op:
            case Call(target=target):
                result = self.call(op)
                if target is not None:
                    values[target.name] = result
            case Assign(target=target, source=source):
                values[target.name] = read(source)
            case Unpack():
                self.unpack(op)
            case Delete(target=target):
                read(target)
                del values[target.name]
            case If(condition=condition, body=body, orelse=orelse):
                test = read(condition)
                assert isinstance(test, bool), f"the condition is {test!r}"
                return (yield from self.region(body if test else orelse))
            case For():
                return (yield from self.loop(op))
            case While():
                return (yield from self.loop_while(op))
            case Break():
                return BREAK
            case Continue():
                return CONTINUE
            case Return(value=value):
                return Returned(read(value))
            case Raise(exception=None):
                raise
            case Raise(exception=exception, cause=None):
                error = read(exception)
                if error is StopIteration or isinstance(error, StopIteration):
                    raise Stopped(error if isinstance(error, StopIteration) else error())
                raise error
            case Raise(exception=exception, cause=cause):
                raise read(exception) from read(cause)
            case Try():
                return (yield from self.guarded(op))
            case Yield(target=target, value=value):
                sent = yield read(value)
                if target is not None:
                    values[target.name] = sent
        return None

    def call(self, op):
        callee = self.read(op.callee)
        operands = [self.read(operand) for operand in op.operands]
        keywords = {name: self.read(operand) for name, operand in op.keywords}
        if callee is primitives.current_globals:
            return self.function.__globals__
        if callee is primitives.apply:
            callee, operands, keywords = operands
        if callee is primitives.build_class and self.deep:
            body, name, *bases = operands
            return types.new_class(name, tuple(bases), keywords, body)
        try:
            result = callee(*operands, **keywords)
        except StopIteration as stop:
            raise Stopped(stop) from None
        if self.deep and callee is primitives.make_function and is_body(result):
            return interpreted(result, deep=True, lower=self.deep)
        return result

    def unpack(self, op):
        names = [target.name for target in op.targets]
        if op.starred is None:
            parts = unpacked(self.read(op.value), len(names))
        else:
            after = len(names) - op.starred - 1
            items = list(iter(self.read(op.value)))
            if len(items) < len(names) - 1:
                counts = f"(expected at least {len(names) - 1}, got {len(items)})"
                raise ValueError(f"not enough values to unpack {counts}")
            end = len(items) - after
            parts = [*items[: op.starred], items[op.starred : end], *items[end:]]
        self.values.update(zip(names, parts))

    def loop(self, op):
        for item in self.read(op.iterable):
            self.values[op.target.name] = item
            signal = yield from self.region(op.body)
            if signal is BREAK:
                return None
            if isinstance(signal, Returned):
                return signal
        return (yield from self.region(op.orelse))

    def loop_while(self, op):
        while True:
            assert (yield from self.region(op.test)) is None
            test = self.read(op.condition)
            assert isinstance(test, bool), f"the condition is {test!r}"
            if not test:
                return (yield from self.region(op.orelse))
            signal = yield from self.region(op.body)
            if signal is BREAK:
                return None
            if isinstance(signal, Returned):
                return signal

    def guarded(self, op):
        signal = None
        try:
            if op.caught is None:
                signal = yield from self.region(op.body)
                if signal is None:
                    signal = yield from self.region(op.orelse)
            else:
                try:
                    signal = yield from self.region(op.body)
                except BaseException as caught:
                    self.values[op.caught.name] = getattr(caught, "inner", caught)
                    signal = yield from self.region(op.handler)
                else:
                    if signal is None:
                        signal = yield from self.region(op.orelse)
        finally:
            last = yield from self.region(op.final)
            if last is not None:
                return last  # noqa: B012  (a `return` in `finally` does that)
        return signal


def unpacked(value, count):
    try:
        iterator = iter(value)
    except TypeError:
        raise TypeError(f"cannot unpack non-iterable {type(value).__name__} object") from None
    items = []
    for item in iterator:
        items.append(item)
        if len(items) > count:
            raise ValueError(f"too many values to unpack (expected {count})")
    if len(items) < count:
        raise ValueError(f"not enough values to unpack (expected {count}, got {len(items)})")
    return items


def is_body(function):
    """Whether it is what a user wrote, not the scope of type parameters or the like."""
    code = function.__code__
    return not code.co_name.startswith("<") or code.co_name in ("<lambda>", "<genexpr>")


__all__ = ["interpreted"]
