"""Failures of programs: what a program that cannot finish a call leaves, and when it rests."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Any

from adjoint.fast.not_covered import Defect, Deoptimize, NotFinite, NothingToSum

FEW_FAILURES = 8
"""Number of failures after which a program rests for some calls."""
LONGEST_REST = 256
"""Greatest number of calls until a resting program is tried again."""

FAILED: Any = type("Failed", (), {"__repr__": lambda self: "FAILED"})()
"""Result of an entry whose program fails: the call is generic."""

is_strict: list[bool] = [False]
"""Strict mode: whether an internal error of the fast tier is raised; else the call is generic."""


_INFINITE = (FloatingPointError, ZeroDivisionError, NotFinite)


class Failures:
    """Count the failures of a program.

    Later calls may succeed with other numbers. So a program that fails often rests for some calls
    and is tried again; if that fails, too, it rests for longer, else the count begins anew.

    Attributes
    ----------
    count
        The failures since the first call after a rest that has succeeded.
    reverse
        File and first line of the reverse sweep of a gradient.
    is_infinite
        Whether the last failure was a number in that sweep that is not finite.
    retire
        Called if the program cannot tell whether NumPy would warn, or has no numbers to sum:
        another takes its place.
    """

    __slots__ = (
        "bound", "count", "is_infinite", "last", "program", "rest", "retire", "reverse",
    )  # fmt: skip

    def __init__(self, bound: dict[str, Any], reverse: tuple[str, int]) -> None:
        self.reverse = reverse
        self.is_infinite = False
        self.retire: Callable[[Exception], None] | None = None
        self.count: int = 0
        self.rest: int = 0
        self.bound: dict[str, Any] = bound
        self.last: str = ""
        self.program: Callable[..., Any] | None = None

    @property
    def reason(self) -> str:
        """Why the last call was generic."""
        if self.rest > 0:
            return f"what made this program fail {self.count} times: {self.last}"
        return self.last

    def __call__(self, error: Exception | None) -> Any:
        demand_foreseen(error)
        self.is_infinite = error is None or (
            type(error) in _INFINITE and self._is_of_reverse(error.__traceback__)
        )
        if isinstance(error, NotFinite | NothingToSum) and self.retire is not None:
            self.retire(error)
        if type(error) is not _Resting:
            self.last = _what_happened(error)
            self.count += 1
            if self.count > FEW_FAILURES:
                self._let_rest(min(2 ** (self.count - FEW_FAILURES), LONGEST_REST))
        return FAILED

    def _is_of_reverse(self, raised: TracebackType | None) -> bool:
        name, first = self.reverse
        while raised is not None and raised.tb_frame.f_code.co_filename != name:
            raised = raised.tb_next
        return raised is not None and raised.tb_lineno >= first

    def _let_rest(self, calls: int) -> None:
        if self.rest > 0:  # set by another thread
            return
        if self.program is None:
            self.program = self.bound["program"]
        self.rest = calls
        self.bound["program"] = self._resting

    def _resting(self, *leaves: Any) -> Any:
        self.rest -= 1
        if self.rest <= 0:
            self.bound["program"] = self._trying
        raise _Resting

    def _trying(self, *leaves: Any) -> Any:
        assert self.program is not None
        self.bound["program"] = self._tried
        return self.program(*leaves)

    def _tried(self, *leaves: Any) -> Any:
        """Run the program; the call before, the first one after a rest, has succeeded."""
        assert self.program is not None
        self.count = 0
        self.bound["program"] = self.program
        return self.program(*leaves)


class _Resting(Deoptimize):
    """Raised in place of running a resting program."""


def _what_happened(error: Exception | None) -> str:
    """Return the reason of a failure in words."""
    if error is None:
        return "a cotangent that is not finite"
    if isinstance(error, Deoptimize):
        return str(error)
    if isinstance(error, FloatingPointError):
        return f"a warning of NumPy's: {error}"
    return f"an error: {type(error).__name__}"


def demand_foreseen(error: Exception | None) -> None:
    """Raise an error that only wrong generated source can cause, in strict mode."""
    if is_strict[0] and isinstance(error, NameError | Defect):
        raise error
