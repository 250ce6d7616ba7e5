"""Generators: the reverse of a generator is a generator (design, section 3.4).

Each resumption of the forward generator runs one segment of its body, from one ``yield`` to the
next. The pullback of a resumption resumes the reverse generator, which runs the same segment
backwards: it is sent the cotangent of what was yielded and gives that of what was sent.
"""

from __future__ import annotations

import dis
from collections.abc import Callable
from types import CodeType, FrameType, GeneratorType
from typing import Any

from adjoint.rules.registry import primitive
from adjoint.run.accumulate import accumulate
from adjoint.run.iterator import Iterator
from adjoint.run.memory import Memory, refused

__all__ = ["Generator"]


class Generator(Iterator):
    """What a call of a generator function gives inside differentiated code; it behaves as a
    generator does."""

    stands_for = GeneratorType

    def __init__(
        self,
        memory: Memory,
        forward: Any,
        record: list[Any],
        reverse: Callable[..., Any],
        name: str,
    ) -> None:
        super().__init__(memory)
        self.__name__ = self.__qualname__ = name
        self._forward = forward
        self.segments = Segments(memory, record, reverse)
        self._advance = _advance if _returns_nothing(forward.gi_code) else _advance_to_value

    def __repr__(self) -> str:
        return f"<generator {self.__name__}>"

    def __del__(self) -> None:
        """Let go at a ``yield``: what is left of its body runs now, and no record has a place for
        that."""
        position = self.memory.position
        self._forward.close()
        if self.memory.position != position:
            self.segments.error = refused(
                f"the generator '{self.__name__}' was let go at a 'yield', and what it has changed"
                " then has no place in the sweep",
                "call its close(), or take what it yields to the end",
            )

    @property
    def gi_running(self) -> bool:
        """Whether its body is being run."""
        return bool(self._forward.gi_running)

    @property
    def gi_suspended(self) -> bool:
        """Whether it waits at a ``yield``."""
        return bool(self._forward.gi_suspended)

    @property
    def gi_frame(self) -> FrameType | None:
        """The frame of its body; ``None`` when it has come to an end."""
        return self._forward.gi_frame  # type: ignore[no-any-return]

    def send(self, value: Any) -> Any:
        """Resume, from code that is not differentiated."""
        return self.resume([self.memory, None], 1, self._forward.send, value)

    def throw(self, *error: Any) -> Any:
        """Resume with an exception, from code that is not differentiated."""
        return self.resume([self.memory, None], 1, self._forward.throw, *error)

    def close(self) -> None:
        """Finish, from code that is not differentiated."""
        self._forward.close()

    def step(self, record: list[Any], slot: int) -> Any:
        return self.resume(record, slot, self._advance, self._forward)

    def finish(self, record: list[Any], slot: int) -> None:
        """Close it, as one more segment."""
        self.resume(record, slot, self._forward.close)

    def resume(self, record: list[Any], slot: int, run: Callable[..., Any], *operands: Any) -> Any:
        """Run one segment; its pullback takes the cotangent of the result and gives that of what
        was sent."""
        if self._forward.gi_frame is None:
            return run(*operands)  # it has finished: nothing of its body runs
        closing = run == self._forward.close
        finished = True
        stop: StopIteration | None = None
        memory, segments = self.memory, self.segments

        def segment_back(bar: Any) -> Any:  # does not hold the generator: the program lets it go
            if stop is not None:
                bar = accumulate(bar, memory.take_entry(stop, "value"))
            return segments.back(bar, finished)

        record[slot] = segment_back
        try:
            value = run(*operands)
        except StopIteration as end:
            stop = end.with_traceback(None)  # carries what the generator returned
            raise
        finished = closing
        return value

    def poison(self, bar: Any) -> list[Any]:
        self.memory.shadows["poison", id(self.segments)] = bar
        return []


class Segments:
    """What the sweep knows of a generator.

    Attributes
    ----------
    error
        Something was changed when it was let go.
    """

    def __init__(self, memory: Memory, record: list[Any], reverse: Callable[..., Any]) -> None:
        self.memory, self._record, self._reverse = memory, record, reverse
        self.error: Exception | None = None

    def back(self, bar: Any, finished: bool) -> Any:
        """Run one segment backwards; takes the cotangent of what was yielded, or, if it came to an
        end, of what was returned, and gives that of what was sent."""
        if self.error is not None:
            raise self.error
        memory = self.memory
        shadows, key = memory.shadows, ("reverse", id(self))
        backward = shadows.get(key)
        if backward is None:
            # What was returned, if this segment came to an end, else nothing happened after the
            # last yield.
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
        """Take what the reverse generator has left: the cotangents of the parameters."""
        self.memory.shadows["parameters", id(self)] = self.memory.passed
        self.memory.passed = None

    def parameters_back(self) -> tuple[Any, ...]:
        """The cotangents of the parameters, when all segments were run backwards."""
        shadows, key = self.memory.shadows, ("parameters", id(self))
        while key not in shadows:
            # Segments that nobody recorded: there are none, or code that is not differentiated ran
            # them.
            self.back(None, ("reverse", id(self)) not in shadows)
        bars = shadows.pop(key)
        bad = shadows.get(("poison", id(self)))
        if bad is not None:
            bars = (None, *(bad,) * (len(bars) - 1))
        shadows.pop(("reverse", id(self)), None)
        return bars  # type: ignore[no-any-return]


# ---- steps ---------------------------------------------------------------------------------------
#
# CPython 3.12 limits how deep calls of C may be nested, and counts `send` thrice and `next` twice;
# a loop is not one. So what a reverse generator is sent, and what it returns, go by the memory.


def _advance(forward: Any) -> Any:
    for value in forward:
        return value
    raise StopIteration


def _advance_to_value(forward: Any) -> Any:
    """Of a loop one does not learn what the generator returns."""
    return next(forward)


_silent: dict[int, tuple[CodeType, bool]] = {}


def _returns_nothing(code: CodeType) -> bool:
    """Whether a generator returns ``None`` only, which is seen since 3.12: constants are returned
    by an instruction of their own."""
    known = _silent.get(id(code))
    if known is None:
        silent = all(
            each.opname == "RETURN_CONST" and each.argval is None
            for each in dis.get_instructions(code)
            if each.opname.startswith("RETURN_") and each.opname != "RETURN_GENERATOR"
        )
        known = _silent[id(code)] = code, silent
    return known[1]


@primitive(Generator.send)
def _(record: list[Any], slot: int, generator: Generator, value: Any) -> Any:
    inner: list[Any] = [record[0], None]

    def send_back(y_bar: Any) -> tuple[Any, ...]:
        return None, None, None if inner[1] is None else inner[1](y_bar)

    record[slot] = send_back
    return generator.resume(inner, 1, generator._forward.send, value)


@primitive(Generator.close)
def _(record: list[Any], slot: int, generator: Generator) -> Any:
    return run_segment(record, slot, generator, 0, generator._forward.close)


def run_segment(
    record: list[Any],
    slot: int,
    generator: Generator,
    n: int,
    run: Callable[..., Any],
    *operands: Any,
) -> Any:
    """Run one segment; none of the `n` arguments of the call has a cotangent."""
    inner: list[Any] = [record[0], None]

    def run_back(y_bar: Any) -> tuple[Any, ...]:
        if inner[1] is not None:
            inner[1](y_bar)
        return (None,) * (n + 2)

    record[slot] = run_back
    return generator.resume(inner, 1, run, *operands)
