"""Which tier a call takes, and why."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from types import FunctionType
from typing import Any

from adjoint.fast import tier as fast
from adjoint.fast.inside import InnerCall
from adjoint.generic import calls_inside
from adjoint.public import PublicFunction, public

__all__ = ["TierReport", "asked_for", "report", "tier"]


@dataclass(frozen=True)
class TierReport:
    """What `tier` found.

    Attributes
    ----------
    function : str
        The name of the function.
    operator : str
        ``gradient``, or ``pullback`` for a function that does not return one real number.
    tier : str
        ``fast`` or ``generic``.
    reason : str or None
        Why it is the generic one.
    place : str or None
        Where in the user's code that is: the file and the line.
    inlined : tuple of str
        The functions of the user's that the specialised program contains.
    cost : float
        Milliseconds that specialising took, on the first call.
    programs : int
        The number of programs that are kept for the function.
    source : str or None
        The specialised program.
    calls : tuple of InnerCall
        Of a generic call: what becomes of the calls in it, by function, once those functions have
        been called often.
    """

    function: str
    operator: str
    tier: str
    reason: str | None = None
    place: str | None = None
    inlined: tuple[str, ...] = ()
    cost: float = 0.0
    programs: int = 0
    source: str | None = field(default=None, repr=False)
    calls: tuple[InnerCall, ...] = ()

    def __str__(self) -> str:
        lines = [f"{self.operator} of {self.function}: {self.tier} tier"]
        if self.reason is not None:
            lines.append(f"  because of {self.reason}")
        if self.place is not None:
            lines.append(f"  at {self.place}")
        if self.inlined:
            lines.append(f"  inlined: {', '.join(self.inlined)}")
        if self.cost and self.tier == "generic":
            lines.append(f"  seen in {self.cost:.1f} ms")
        elif self.cost:
            programs = "1 program is" if self.programs == 1 else f"{self.programs} programs are"
            lines.append(f"  specialised in {self.cost:.1f} ms; {programs} kept")
        if self.calls:
            lines.append("  calls inside:")
            lines += [f"    {call}" for call in self.calls]
        return "\n".join(lines)


@public
def tier(f: Callable[..., Any], /, *args: Any) -> TierReport:
    """Say which tier ``gradient(f, *args)`` takes.

    The fast tier runs a program that was made for the types of the arguments, without a call of
    the library in it. A call that it does not cover runs in the generic tier, with the same result,
    and the calls inside take the fast tier where they can, once a function was called often.
    The environment variable ``ADJOINT_TIER=generic`` switches it off.

    Parameters
    ----------
    f : callable
        The function; or what `grad` or `value_and_grad` has made of it, whose programs are others.
    *args
        Arguments as for `gradient`. The function may be called with them.

    Returns
    -------
    TierReport
        Readable as text; for a function that does not return one real number it is about
        `pullback`.

    Examples
    --------
    >>> print(tier(lambda x: x * x, 3.0).tier)
    fast
    >>> found = tier(lambda x: print(end="") or x * x, 3.0)
    >>> found.tier, found.reason
    ('generic', 'a call of print')
    """
    return report(f, args)


def report(f: Any, args: tuple[Any, ...]) -> TierReport:
    """`tier` of a function and a tuple of arguments."""
    f, mode = asked_for(f)
    found = _of_mode(f, args, mode)
    if found.reason == fast.NOT_SCALAR:
        found = _of_mode(f, args, "pullback")
    if found.tier == "generic" and fast.is_enabled[0]:
        return replace(found, calls=calls_inside(f, args))
    return found


def asked_for(f: Any) -> tuple[Any, Any]:
    """What a function that `grad` or `value_and_grad` has made differentiates, and of which kind
    its program is; any other function itself."""
    known = vars(f).get("asks_for") if isinstance(f, PublicFunction | FunctionType) else None
    return (f, "gradient") if known is None else known


def _of_mode(f: Any, args: tuple[Any, ...], mode: Any) -> TierReport:
    name = getattr(f, "__qualname__", None) or type(f).__qualname__
    operator = mode if isinstance(mode, str) else mode[0]

    def generic(reason: str, place: str | None = None, cost: float = 0.0) -> TierReport:
        return TierReport(name, operator, "generic", reason, place, (), 1e3 * cost, _count(f, mode))

    if not fast.is_enabled[0]:
        return generic("ADJOINT_TIER=generic")
    fast.run(f, args, mode)
    kept = fast.known(f, mode)
    if kept is None:
        return generic(f"a {type(f).__qualname__}, which has no code of its own")
    for entry in kept.entries:
        result = entry.run(f, args)
        if result is fast.FAILED:
            return generic(entry.failures.reason, None, entry.cost)
        if result is not fast.MISS:
            return TierReport(
                name,
                operator,
                "fast",
                inlined=entry.inlined,
                cost=1e3 * entry.cost,
                programs=len(kept.entries),
                source=entry.source,
            )
    refused = kept.refuses(f, args)
    if refused is None:
        return generic("something else at each call")
    return generic(refused.reason, refused.place, refused.cost)


def _count(f: Any, mode: Any) -> int:
    kept = fast.known(f, mode)
    return 0 if kept is None else len(kept.entries)
