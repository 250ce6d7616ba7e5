"""Generators: the reverse of a generator is a generator (design, section 3.4).

Each resumption of the forward generator runs one segment of its body, from one ``yield`` to the
next. The pullback of a resumption resumes the reverse generator, which runs the same segment
backwards: it is sent the cotangent of what was yielded and gives that of what was sent.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable
from types import CodeType, FrameType, FunctionType, GeneratorType
from typing import Any, TypeVar

from adjoint.cotangents.accumulate import accumulate
from adjoint.diagnostics.refusals import refused
from adjoint.primal.value_kinds import by_value
from adjoint.rulekit.registry import primitive
from adjoint.runtime.dispatch.linked import linked
from adjoint.runtime.foreign.freed_objects import cleans_up
from adjoint.runtime.memory.active_iterator import ActiveIterator
from adjoint.runtime.memory.memory import Memory


class Generator(ActiveIterator):
    """The result of a generator function in differentiated code; it behaves like a generator."""

    __name__: str

    stands_for: type = GeneratorType

    def __init__(
        self,
        memory: Memory,
        forward: Any,
        record: list[Any],
        reverse: Callable[..., Any],
        function: FunctionType,
    ) -> None:
        super().__init__(memory)
        self.__name__, self.__qualname__ = function.__name__, function.__qualname__
        self._code = function.__code__
        self._forward = forward
        self._delegate: Any = None
        self._has_ended = False
        self.restart: Callable[[list[Any], int], Generator] | None = None
        self.segments: Segments = Segments(memory, record, reverse)
        if cleans_up(function.__code__):
            if memory.unfinished is None:
                memory.unfinished = weakref.WeakSet()
            memory.unfinished.add(self)

    def __repr__(self) -> str:
        return f"<generator {self.__name__}>"

    def __del__(self) -> None:
        self._finish_when_freed()

    def end_with_call(self) -> None:
        """Finish a suspended generator when the differentiated call that made it ends."""
        if self.gi_suspended:
            self._finish_when_freed()
            self._has_ended = True

    def _finish_when_freed(self) -> None:
        """Finish a generator that is freed at a ``yield``; note an error if its body then writes,
        as no record has a slot for that."""
        memory = self.memory
        before = memory.writes()
        self.finish([memory, None], 1)
        if memory.writes() != before:
            memory.freeing_error = self.segments.error = refused(
                f"the generator '{self.__name__}' was let go at a 'yield', and what it has changed"
                " then has no place in the sweep",
                "call its close(), or take what it yields to the end",
            )

    @property
    def gi_running(self) -> bool:
        """Whether the body is running."""
        return bool(self._forward.gi_running)

    @property
    def gi_suspended(self) -> bool:
        """Whether the generator waits at a ``yield``."""
        return bool(self._forward.gi_suspended)

    @property
    def gi_code(self) -> CodeType:
        """The code of the generator function."""
        return self._code

    @property
    def gi_yieldfrom(self) -> Any:
        """The iterator that a ``yield from`` waits for, or ``None``."""
        return self._delegate

    @property
    def gi_frame(self) -> FrameType | None:
        """The frame of the body, or ``None`` after its end."""
        return self._forward.gi_frame  # type: ignore[no-any-return]

    def send(self, value: Any) -> Any:
        """Resume from foreign code, whose numbers would have no way back."""
        if by_value(value) and type(value) is not bool:
            raise refused(
                "a number is sent to a generator by code that is not followed",
                "send it from Python code that is not called by C",
            )
        return self.resume([self.memory, None], 1, _send, self._forward, value)

    def throw(self, *error: Any) -> Any:
        """Resume with an exception from foreign code."""
        return self.resume([self.memory, None], 1, self._forward.throw, *error)

    def close(self) -> Any:
        """Finish from foreign code."""
        return self.finish([self.memory, None], 1)

    def step(self, record: list[Any], slot: int) -> Any:
        return self.resume(record, slot, _advance, self._forward)

    def finish(self, record: list[Any], slot: int) -> Any:
        """Close the generator, as a last segment."""
        chain = [self]
        while type(inner := chain[-1]._delegate) is Generator and inner.gi_suspended:
            chain.append(inner)
        if len(chain) == 1:
            return self.resume(record, slot, _close, self._forward)
        return _close_from_within(record, slot, chain)

    def resume(self, record: list[Any], slot: int, run: Callable[..., Any], *operands: Any) -> Any:
        """Run one segment; its pullback returns the cotangent of the value sent."""
        if _leaves_body(self._forward, run, operands):
            if self._has_ended and run is not _close:
                raise refused(
                    f"the generator '{self.__name__}' is resumed after the differentiated call that"
                    " it was made in, which has closed it",
                    "take what it yields inside, or call its close()",
                )
            return run(*operands)
        closing = run is _close
        finished = True
        returned: StopIteration | None = None
        memory, segments = self.memory, self.segments
        self._delegate = memory.delegate = None

        def segment_back(bar: Any) -> Any:  # does not keep the generator alive
            if returned is not None:
                (shown,) = memory.take_items(returned.args, 1)
                bar = accumulate(bar, accumulate(memory.take_entry(returned, "value"), shown))
            return segments.back(bar, finished)

        record[slot] = segment_back
        try:
            value = run(*operands)
        except StopIteration:
            if segments.result is not None:
                returned = StopIteration(segments.result)
        else:
            finished = closing
            if not closing:
                self._delegate, memory.delegate = memory.delegate, None
            return value
        raise returned or StopIteration

    def poison(self, bar: Any, poison: Any) -> list[Any]:
        self.memory.shadows["poison", id(self.segments)] = bar
        return []


class GeneratorSubstitute(ActiveIterator):
    """An iterator of C in plain Python (without ``send``, ``throw`` and ``close``) that is a
    generator in differentiated code."""

    def __init__(self, generator: Generator, kind: type) -> None:
        super().__init__(generator.memory)
        self.stands_for: type = kind
        self._generator = generator

    def step(self, record: list[Any], slot: int) -> Any:
        try:
            return self._generator.step(record, slot)
        except StopIteration:
            raise
        except BaseException as error:
            self._resume(record, slot)
            if type(error) is not RuntimeError or type(error.__cause__) is not StopIteration:
                raise
            ended = error.__cause__  # C takes a StopIteration for the iterator's own end
        raise ended

    def _resume(self, record: list[Any], slot: int) -> None:
        """Continue after an error, as the iterator of C does, with a new generator."""
        again = self._generator.restart
        if again is None:
            return
        failed = record[slot]
        made: list[Any] = [self.memory, None]
        self._generator = again(made, 1)

        def resumed_back(bar: Any) -> None:
            if made[1] is not None:
                made[1](None)
            if failed is not None:
                failed(bar)

        record[slot] = resumed_back


F = TypeVar("F", bound=Callable[..., Any])
_resuming: set[CodeType] = set()


def restarting(f: F) -> F:
    """Mark a substitute for an iterator of C that continues after errors: the generator function is
    called again. Its arguments hold its whole state, and must not be active numbers."""
    _resuming.add(f.__code__)
    return f


def is_restarting(f: FunctionType) -> bool:
    """Return whether a generator function was decorated with `restarting`."""
    return f.__code__ in _resuming


def as_type(kind: type, y: Any) -> Any:
    """Return the result of a substitute as an iterator that reports the type `kind`."""
    if type(y) is Generator:
        return GeneratorSubstitute(y, kind)
    if issubclass(type(y), ActiveIterator):
        y.stands_for = kind
    return y


class Segments:
    """The segments of one generator, for the sweep.

    Attributes
    ----------
    error
        The error for writes while the generator was freed, or ``None``.
    """

    memory: Memory

    def __init__(self, memory: Memory, record: list[Any], reverse: Callable[..., Any]) -> None:
        self.memory, self._record, self._reverse = memory, record, reverse
        self._slots = len(record)
        self.error: Exception | None = None

    @property
    def result(self) -> Any:
        """The return value of the generator, stored behind the slots of its record."""
        return self._record[-1] if len(self._record) > self._slots else None

    def back(self, bar: Any, finished: bool) -> Any:
        """Run one segment backwards, and return the cotangent of the value sent.

        `bar` is the cotangent of the yielded value, or of the returned one if `finished`.
        """
        if self.error is not None:
            raise self.error
        memory = self.memory
        shadows, key = memory.shadows, ("reverse", id(self))
        backward = shadows.get(key)
        if backward is None:
            # A generator that did not finish returned nothing.
            backward = shadows[key] = self._reverse(self._record, bar if finished else None)
            for sent_bar in backward:
                if finished:
                    return sent_bar
                break
            else:
                return self._ended()
        memory.passed = bar
        for sent_bar in backward:
            return sent_bar
        return self._ended()

    def _ended(self) -> None:
        """Store the cotangents of the parameters, which the reverse generator has returned."""
        self.memory.shadows["parameters", id(self)] = self.memory.passed
        self.memory.passed = None

    def parameters_back(self) -> tuple[Any, ...]:
        """Return the cotangents of the parameters, after running the segments that remain."""
        shadows, key = self.memory.shadows, ("parameters", id(self))
        while key not in shadows:
            # No record has these segments: foreign code ran them.
            self.back(None, ("reverse", id(self)) not in shadows)
        bars = shadows.pop(key)
        bad = shadows.get(("poison", id(self)))
        if bad is not None:
            bars = (None, *(bad,) * (len(bars) - 1))
        shadows.pop(("reverse", id(self)), None)
        return bars  # type: ignore[no-any-return]


# ---- steps ---------------------------------------------------------------------------------------
#
# CPython 3.12 limits the nesting of C calls, and counts `send` three times, `next` twice, and a
# ``for`` loop not at all. So loops resume generators, and values pass through `Memory.passed`.


_send = GeneratorType.send


def _leaves_body(forward: Any, run: Callable[..., Any], operands: tuple[Any, ...]) -> bool:
    """Return whether a resumption does not run the body of a generator, because the generator has
    finished, is running, or is sent a value before its start."""
    if forward.gi_frame is None or forward.gi_running:
        return True
    return run is _send and operands[1] is not None and not forward.gi_suspended


def _advance(forward: Any) -> Any:
    for value in forward:
        return value
    raise StopIteration


_close = GeneratorType.close


def _close_from_within(record: list[Any], slot: int, chain: list[Generator]) -> Any:
    """Close generators each of which waits for the next: from the last one, without nesting."""
    steps: list[list[Any]] = []

    def close_back(bar: Any) -> None:
        for step in reversed(steps):
            if step[1] is not None:
                step[1](bar)
            bar = None

    record[slot] = close_back
    value: Any = None
    error: BaseException | None = None
    for generator in reversed(chain):
        step: list[Any] = [generator.memory, None]
        steps.append(step)
        forward = generator._forward
        try:
            if error is None:
                value = generator.resume(step, 1, _close, forward)
            else:
                generator.resume(step, 1, forward.throw, error)
                error = RuntimeError("generator ignored GeneratorExit")
        except GeneratorExit:
            error = None
        except StopIteration as end:
            error = None
            value = end.value if sys.version_info >= (3, 13) else None
        except BaseException as raised:  # raised in the next generator at its ``yield from``
            error = raised
    if error is not None:
        raise error
    return value


@primitive(Generator.send)
def _(record: list[Any], slot: int, generator: Generator, value: Any) -> Any:
    operands = _send, generator._forward, value
    return linked(record, slot, lambda bar: (None, None, bar), generator.resume, *operands)


@primitive(Generator.close)
def _(record: list[Any], slot: int, generator: Generator) -> Any:
    return linked(record, slot, lambda _: (None, None), generator.finish)


def run_segment(
    record: list[Any],
    slot: int,
    generator: Generator,
    n: int,
    run: Callable[..., Any],
    *operands: Any,
) -> Any:
    """Run one segment for a call whose `n` arguments have no cotangents."""
    return linked(record, slot, lambda _: (None,) * (n + 2), generator.resume, run, *operands)
