"""A derivative step by step, in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from adjoint.explanation.events import Event, Operand
from adjoint.explanation.run import Run
from adjoint.explanation.text import local_text
from adjoint.explanation.value_text import is_number, text_of


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the forward or of the reverse sweep.

    Attributes
    ----------
    sweep : str
        ``forward``, ``reverse``, or ``gradient`` for what is found in the end.
    line : int
        In the file of the function; 0 outside of source.
    operation, value, local_derivative, cotangent : str
        What is written there, its value, its derivative in its operands, and the cotangent of the
        value: the derivative of the result in it. The last two are empty in the forward sweep.
    words : str
        The step as a sentence.
    """

    sweep: str
    line: int
    operation: str
    value: str
    local_derivative: str
    cotangent: str
    words: str

    def __str__(self) -> str:
        return self.words


def steps(run: Run) -> Iterator[Step]:
    """Yield the operations in their order, then the cotangents in theirs, then the gradient."""
    kept = [event for event in run.tape.events if event.is_kept]
    for event in kept:
        yield _forward(event)
    for event in reversed(kept):
        if event.bar is not None:
            yield _reverse(event)
    for one, bar in zip(run.tape.inputs, run.bars, strict=True):
        shown = "0" if bar is None else text_of(bar)
        words = f"The derivative of the result in {one.name} is {shown}."
        yield Step("gradient", 0, one.name, one.snapshot.text, "", shown, words)


def _place(event: Event) -> str:
    loop = f", iteration {event.path[-1][1]}" if event.path else ""
    return f"Line {event.line}{loop}" if event.line else "Outside of source"


def _forward(event: Event) -> Step:
    value = "" if event.value is None else event.value.text
    if event.form == "write":
        given = event.operands[0].value.text
        words = f"{_place(event)}: {event.text} stores {given}; the array is {value} now."
    else:
        words = f"{_place(event)}: {event.text} is {value}{_given(event)}."
    return Step("forward", event.line, event.text, value, "", "", words)


def _given(event: Event) -> str:
    parts = [
        f"{one.label} = {one.value.text}" for one in event.operands if one.label != one.value.text
    ]
    return f", from {' and '.join(parts)}" if parts else ""


def _reverse(event: Event) -> Step:
    bar = "" if event.bar is None else event.bar.text
    value = "" if event.value is None else event.value.text
    gives = [_gives(event, one, bar) for one in event.operands if one.bar is not None]
    told = "; ".join(gives) or "nothing that depends on an input receives a part"
    what = f"the value that {event.text} stores" if event.form == "write" else event.text
    words = f"{_place(event)}: {what} has cotangent {bar}; {told}."
    return Step("reverse", event.line, event.text, value, local_text(event), bar, words)


def _gives(event: Event, one: Operand, bar: str) -> str:
    assert one.bar is not None
    is_product = event.form == "elementwise" or (
        event.value is not None and is_number(event.value.value)
    )
    factors = f"{one.local.text} × {bar} = " if is_product and one.local is not None else ""
    return f"{one.label} receives {factors}{one.bar.text}"
