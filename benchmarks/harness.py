"""How things are measured and shown.

What has run before in a process weighs on what is measured next: its heap is scattered, and long
loops over many small objects take up to half as long again. So every program is measured in a new
process of its own, and what a ratio compares is measured in the same one.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import pickle
import statistics
import time
import tracemalloc
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any, TypeVar, cast

__all__ = ["CLOCK", "Line", "apart", "measure", "peak", "ratio", "show", "with_room", "within"]

Result = TypeVar("Result")
Function = TypeVar("Function", bound=Callable[..., Any])

SAMPLE = 0.01
"""Seconds that one sample takes at least."""

ROUNDS = 11

_clocks = {name: time.get_clock_info(name) for name in ("process_time", "perf_counter")}
CLOCK = time.process_time if _clocks["process_time"].resolution < 1e-6 else time.perf_counter
"""Time of this process, in which waiting for others does not count, where it is counted finely."""


@dataclass(frozen=True, slots=True)
class Line:
    """One measured thing.

    Attributes
    ----------
    value
        In `unit`.
    bar
        What `value` has to keep below, or above if `at_least`; ``None``: only reported.
    detail
        What the value was computed from.
    """

    name: str
    value: float
    unit: str
    bar: float | None = None
    at_least: bool = False
    detail: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the bar is met; ``None`` if there is none."""
        if self.bar is None:
            return None
        return self.value >= self.bar if self.at_least else self.value <= self.bar


def apart(
    call: Callable[..., Result], tasks: Iterable[tuple[object, ...]], tier: str = "fast"
) -> Iterator[Result]:
    """``call(*task)`` of each task, one after the other, each in a new process, which starts in
    this tier.

    `call` is a function of a module; what it takes and gives has to be pickled. Arrays had better
    be made where they are used: a type of elements that was pickled is no longer NumPy's own.
    """
    context = multiprocessing.get_context("spawn")
    for task in tasks:
        with ProcessPoolExecutor(1, context, _prepare, (tier,)) as process:
            yield process.submit(call, *task).result()


def within(limit: float, call: Callable[..., Result], *task: object) -> Result:
    """``call(*task)`` in a new process, as `apart` has it, which is ended after so many seconds:
    `TimeoutError`. What the call raises is the text of a
    `RuntimeError`."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_answer, args=(sender, pickle.dumps((call, task))))
    process.start()
    sender.close()
    try:
        if not receiver.poll(limit):
            raise TimeoutError(f"not within {limit:g} s")
        try:
            result, error = receiver.recv()
        except EOFError:
            raise RuntimeError("the process ended without a result") from None
    finally:
        process.kill()
        process.join()
        receiver.close()
    if error is not None:
        raise RuntimeError(error)
    return cast(Result, result)


def _answer(sender: Connection, pickled: bytes) -> None:
    _prepare("fast")
    try:
        call, task = pickle.loads(pickled)  # imports the library, which reads the tier
        sender.send((call(*task), None))
    except Exception as error:  # it may not be one that can be pickled
        sender.send((None, f"{type(error).__name__}: {error}"))


def _prepare(tier: str) -> None:
    os.environ["ADJOINT_TIER"] = tier  # read when the library is imported
    _keep_memory()


def _keep_memory() -> None:
    """Let the C library keep what arrays free, as it does in a process that has run for a while.

    Otherwise it hands the top of its heap back after some programs and not after others, and the
    pages that have to be got again cost more than the arithmetic on them.
    """
    for size in (4, 16, 31):
        bytearray(size << 20)


def measure(*calls: Callable[[], object], rounds: int = ROUNDS) -> tuple[list[float], ...]:
    """Seconds per call, one sample of each per round.

    The samples of the calls alternate, and each comes first in its turn, so that what else happens
    on the machine, and what one leaves to the next (memory, caches, clocks), meets all of them
    alike. The garbage collector runs between samples, and is off during them, for all.
    """
    counts = [_count(call) for call in calls]
    samples: tuple[list[float], ...] = tuple([] for _ in calls)
    for turn in range(rounds):
        for i in range(len(calls)):
            at = (turn + i) % len(calls)
            samples[at].append(_sample(calls[at], counts[at]) / counts[at])
    return samples


def _count(call: Callable[[], object]) -> int:
    """How many calls fill a sample; warms up on the way."""
    call()
    count = 1
    while (seconds := _sample(call, count)) < SAMPLE:
        count = max(count + 1, min(10 * count, int(1.2 * count * SAMPLE / max(seconds, 1e-7))))
    return count


def with_room(f: Function) -> Function:
    """A function with room for the frames of what it calls.

    CPython keeps frames in pieces of 16 KB. Where a call in a loop happens to begin a new piece,
    each turn gets it from the system and gives it back, which costs more than a microsecond: how
    deep the stack is would decide what is measured. The piece of a frame this large has room.
    """
    f.__code__ = f.__code__.replace(co_stacksize=1 << 17)  # type: ignore[attr-defined]
    return f


@with_room
def _sample(call: Callable[[], object], count: int) -> float:
    """Seconds of `count` calls, after one that is not counted: the collection leaves caches and
    free lists empty, which would weigh on few long calls more than on many short ones."""
    gc.collect()
    gc.disable()
    try:
        call()
        start = CLOCK()
        for _ in range(count):
            call()
        return CLOCK() - start
    finally:
        gc.enable()


def ratio(over: list[float], under: list[float]) -> float:
    """The median of the ratios of samples that were taken side by side."""
    return statistics.median(a / b for a, b in zip(over, under, strict=True))


def peak(call: Callable[[], object]) -> int:
    """Bytes that a call needs on top of what is there before it, at the worst moment."""
    call()
    gc.collect()
    tracemalloc.start()
    try:
        call()
        gc.collect()
        tracemalloc.reset_peak()
        before, _ = tracemalloc.get_traced_memory()
        call()
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


# ---- the table -----------------------------------------------------------------------------------


def show(title: str, lines: Iterable[Line]) -> Iterator[Line]:
    """Print lines as they come, and hand them on."""
    print(f"\n{title}\n{'-' * len(title)}")
    for line in lines:
        print(_text(line), flush=True)
        yield line


def _text(line: Line) -> str:
    bar = ""
    if line.bar is not None:
        bar = f"{'>=' if line.at_least else '<='} {line.bar:g}"
    verdict = {True: "met", False: "MISSED", None: ""}[line.met]
    value = f"{line.value:.3g}" if line.value < 1000 else f"{line.value:.0f}"
    text = f"  {line.name:<44} {value:>8} {line.unit:<9} {bar:<7} {verdict:<7} {line.detail}"
    return text.rstrip()
