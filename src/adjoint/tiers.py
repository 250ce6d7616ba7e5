"""Which tier a call takes, and why."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from types import FunctionType
from typing import Any

from adjoint.derivatives.selection import Argnums, select
from adjoint.fast import tier as fast
from adjoint.fast.inside import InnerCall
from adjoint.generic import calls_inside
from adjoint.public import PublicFunction, public

__all__ = ["Asked", "TierReport", "asked_for", "report", "tier"]


@dataclass(frozen=True, slots=True)
class Asked:
    """What `grad` and `value_and_grad` have made a function of.

    Attributes
    ----------
    f, argnums, has_aux, tier
        What they were given.
    mode
        Of which kind the programs are.
    """

    f: Any
    argnums: Argnums
    has_aux: bool
    tier: str | None
    mode: Any


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

    A call with keyword arguments is generic until its function was called often, and then where
    they are those of the parameters that follow, in order; ``gradient(lambda x: f(x, scale=2.0),
    x)`` is not. With ``has_aux``, calls are generic until the second one.

    Parameters
    ----------
    f : callable
        The function; or what `grad` or `value_and_grad` has made of it, whose programs are others,
        and whose ``tier`` counts.
    *args
        Arguments as for `gradient`. The function may be called with them.

    Returns
    -------
    TierReport
        Readable as text; for a function that does not return one real number it is about
        `pullback`.

    Raises
    ------
    ArgumentError
        What `grad` or `value_and_grad` has made finds no argument to differentiate in.

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
    asked = asked_for(f)
    if asked.argnums is not None:
        select(asked.f, asked.argnums, args, {})  # raises what the call does
    if asked.tier == "generic" or (asked.tier is None and not fast.is_enabled[0]):
        reason = "ADJOINT_TIER=generic" if asked.tier is None else "tier='generic'"
        return _Looking(asked.f, asked.mode).generic(reason)
    if asked.has_aux:
        return _of_pair(asked, args)
    found = _Looking(asked.f, asked.mode).at(args)
    if found.reason == fast.NOT_SCALAR and f is asked.f:
        found = _Looking(f, "pullback").at(args)
    if found.tier == "generic":
        return replace(found, calls=calls_inside(asked.f, args)[1])
    return found


def _of_pair(asked: Asked, args: tuple[Any, ...]) -> TierReport:
    """Of a function that returns a value and something else: where there is no program for that as
    a whole, its calls are like those inside."""
    looking = _Looking(asked.f, asked.mode)
    found = looking.at(args)
    if found.tier == "fast":
        return found
    own, calls = calls_inside(asked.f, args)
    if own is not None and own.fast and not own.generic:
        return looking.at(args)
    if own is None:
        return replace(looking.generic("has_aux"), calls=calls)
    return replace(looking.generic(own.reason or "has_aux", own.place), calls=calls)


def asked_for(f: Any) -> Asked:
    """What a function that `grad` or `value_and_grad` has made differentiates; any other function
    itself."""
    known = vars(f).get("asks_for") if isinstance(f, PublicFunction | FunctionType) else None
    return known if isinstance(known, Asked) else Asked(f, None, False, None, "gradient")


class _Looking:
    """Which tier calls of a function take, by programs of one kind."""

    def __init__(self, f: Any, mode: Any) -> None:
        self.f, self.mode = f, mode
        self.name = getattr(f, "__qualname__", None) or type(f).__qualname__
        self.operator = mode if isinstance(mode, str) else mode[0]

    def generic(self, reason: str, place: str | None = None, cost: float = 0.0) -> TierReport:
        """What there is to say of a call in the generic tier; `cost` in seconds."""
        kept = fast.known(self.f, self.mode)
        count = 0 if kept is None else len(kept.entries)
        return TierReport(self.name, self.operator, "generic", reason, place, (), 1e3 * cost, count)

    def at(self, args: tuple[Any, ...]) -> TierReport:
        """What becomes of one call."""
        f = self.f
        fast.run(f, args, self.mode)
        kept = fast.known(f, self.mode)
        if kept is None:
            return self.generic(f"a {type(f).__qualname__}, which has no code of its own")
        for entry in kept.entries:
            result = entry.run(f, args)
            if result is fast.FAILED:
                return self.generic(entry.failures.reason, None, entry.cost)
            if result is not fast.MISS:
                return TierReport(
                    self.name,
                    self.operator,
                    "fast",
                    inlined=entry.inlined,
                    cost=1e3 * entry.cost,
                    programs=len(kept.entries),
                    source=entry.source,
                )
        refused = kept.refuses(f, args)
        if refused is None:
            return self.generic("something else at each call")
        return self.generic(refused.reason, refused.place, refused.cost)
