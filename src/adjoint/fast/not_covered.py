"""Exceptions by which the fast tier leaves a call to the generic tier."""

from __future__ import annotations

from types import CodeType
from typing import TYPE_CHECKING, Any

from adjoint.ir.nodes import Span

if TYPE_CHECKING:
    from adjoint.ir.single import Value

NOT_SCALAR = "a result that is not one real number"
"""Reason for a function whose result has no gradient: the generic tier raises `NotScalarError`."""


class NotCovered(Exception):
    """Leave a call to the generic tier.

    Attributes
    ----------
    reason
        The construct that is not covered, in a few words.
    awaits
        The code of functions, and how many of their results were noted: with more of them the call
        may be covered.
    span, filename
        Place of the construct in user code, if it has one place.
    """

    reason: str

    def __init__(self, reason: str, span: Span | None = None) -> None:
        super().__init__(reason)
        self.reason, self.span = reason, span
        self.awaits: list[tuple[CodeType, int]] = []
        self.filename: str | None = None

    def at(self, span: Span | None, filename: str) -> None:
        """Set the place, unless the error has one."""
        if self.filename is None:
            self.span, self.filename = self.span or span, filename


class TooMany(NotCovered):
    """A variable that holds one of more things than a program has branches for."""


class WrittenCopy(NotCovered):
    """A write to a list or an object that a variable holds in a copy."""


class Raises(NotCovered):
    """The user code certainly raises an exception here, of class `kind` (``None``: not known).

    `raised` is the abstract value of an exception that a ``raise`` names.
    A handler around it is then run at specialisation. Where there is none, the call is generic.
    """

    def __init__(
        self,
        kind: type[BaseException] | None,
        reason: str,
        span: Span | None = None,
        raised: Any = None,
    ) -> None:
        super().__init__(reason, span)
        self.kind, self.raised = kind, raised

    def uncertain(self) -> NotCovered:
        """Return the refusal, without the class, of code that may not run at all."""
        refusal = NotCovered(self.reason, self.span)
        refusal.filename = self.filename
        return refusal


class NeedsSize(NotCovered):
    """The program needs the length of a dimension; a length above `most` is not covered."""

    most: int | None
    symbol: Any

    def __init__(self, symbol: Any, reason: str, span: Any = None, most: int | None = None) -> None:
        super().__init__(reason, span)
        self.symbol, self.most = symbol, most


class UnknownSizes(NotCovered):
    """A function accepts arrays of some sizes only, and the sizes are symbolic; `pair`: the two
    lengths that have to be equal, if that is all."""

    def __init__(self, name: str, pair: tuple[Any, Any] | None = None) -> None:
        super().__init__(f"{name} of arrays whose sizes are not known, nor whether they fit")
        self.pair = pair


class NeedsKnown(NotCovered):
    """The type of a result depends on the value of an integer."""

    def __init__(self, value: Value, reason: str, span: Any = None) -> None:
        super().__init__(reason, span)
        self.value = value


class TooDeep(NotCovered):
    """Calls are nested too deeply, mostly by a recursion that ends by what is not known."""


class NeedsGlobal(NotCovered):
    """The program stores a global variable."""

    def __init__(self, namespace: dict[str, Any], name: str, span: Any = None) -> None:
        super().__init__("an assignment to a global variable", span)
        self.namespace, self.name = namespace, name


class UsedAgain(NotCovered):
    """An iterator is used more than once, which is made at `place`."""

    def __init__(self, place: Any, span: Any = None) -> None:
        super().__init__("an iterator that is used more than once", span)
        self.place = place


class SharedWrite(NotCovered):
    """The program writes, at `place`, to an array that may have another name."""

    def __init__(self, place: Any, reason: str, span: Any = None) -> None:
        super().__init__(reason, span)
        self.place = place


class CarriedWrite(NotCovered):
    """The program writes to what may be a row of an array that is iterated over: `value`."""

    def __init__(self, value: Value, reason: str, span: Any = None) -> None:
        super().__init__(reason, span)
        self.value = value


class Deoptimize(ArithmeticError):
    """Raised by a running program when a value does not have the foreseen type.

    The generic tier runs the call again; the program has changed nothing outside itself so far.
    """


class NotFinite(Deoptimize):
    """Raised by a program that computes with numbers of Python where NumPy may have warned."""


class NothingToSum(Deoptimize):
    """Raised by a program for a sum of no numbers, which is the integer 0."""


class Defect(AssertionError):
    """A program gives a wrong result; checked for in tests."""
