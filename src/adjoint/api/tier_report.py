"""The tier that a call takes, and the reason."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from types import FunctionType
from typing import Any

from adjoint.api.argument_selection import Argnums
from adjoint.api.generic_tier import calls_inside
from adjoint.api.program_choice import asked_mode, gradient_mode, pullback_mode
from adjoint.diagnostics.public_function import PublicFunction, public
from adjoint.fast.build.modes import Mode
from adjoint.fast.not_covered import NOT_SCALAR
from adjoint.fast.programs import store as fast
from adjoint.fast.programs.entries import Entry
from adjoint.fast.programs.inner_calls import InnerCall
from adjoint.fast.programs.owners import owner_of
from adjoint.ir.node import node
from adjoint.pictures.html import text_html


@node
class OperatorCall:
    """The function and the options that `grad` or `value_and_grad` was called with.

    Attributes
    ----------
    f, argnums, has_aux, tier
        Its arguments.
    with_value
        Whether it was `value_and_grad`.
    """

    f: Any
    argnums: Argnums
    has_aux: bool
    tier: str | None
    with_value: bool = False


@dataclass(frozen=True)
class TierReport:
    """Result of `tier`.

    Attributes
    ----------
    function : str
        The name of the function.
    operator : str
        ``gradient``, or ``pullback`` for a function that does not return one real number.
    tier : str
        ``fast`` or ``generic``.
    reason : str or None
        Why the tier is generic.
    place : str or None
        File and line of the reason in the user's code.
    inlined : tuple of str
        The user's functions that the specialised program contains.
    opaque : tuple of str
        The calls that the specialised program leaves to the generic tier, with place and reason.
    cost : float
        Milliseconds that specialising took, on the first call.
    programs : int
        The number of programs stored for the function.
    source : str or None
        The specialised program.
    calls : tuple of InnerCall
        For a generic call: the tiers of the calls in it, by function, once those functions have
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
    opaque: tuple[str, ...] = ()

    def __str__(self) -> str:
        lines = [f"{self.operator} of {self.function}: {self.tier} tier"]
        if self.reason is not None:
            lines.append(f"  because of {self.reason}")
        if self.place is not None:
            lines.append(f"  at {self.place}")
        if self.inlined:
            lines.append(f"  inlined: {', '.join(self.inlined)}")
        lines += [f"  opaque: {call}" for call in self.opaque]
        if self.cost and self.tier == "generic":
            lines.append(f"  seen in {self.cost:.1f} ms")
        elif self.cost:
            programs = "1 program is" if self.programs == 1 else f"{self.programs} programs are"
            lines.append(f"  specialised in {self.cost:.1f} ms; {programs} kept")
        if self.calls:
            lines.append("  calls inside:")
            lines += [f"    {call}" for call in self.calls]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        head, *lines = str(self).splitlines()
        return text_html(head, "\n".join(line.removeprefix("  ") for line in lines))


@public
def tier(f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> TierReport:
    """Tier that ``gradient(f, *args, **kwargs)`` takes.

    The fast tier runs a program made for the types of the arguments, without a call of the library
    in it. A call that it does not cover runs in the generic tier, with the same result, and the
    calls inside take the fast tier where they can, once a function has been called often. The
    environment variable ``ADJOINT_TIER=generic`` switches the fast tier off.

    With ``has_aux``, where the function as a whole is not covered, calls are generic until the
    second one.

    Parameters
    ----------
    f : callable
        The function, or a result of `grad` or `value_and_grad`, which has its own programs and its
        own ``tier``.
    *args, **kwargs
        Arguments as for `gradient`. The function may be called with them.

    Returns
    -------
    TierReport
        Readable as text. For a function that does not return one real number it describes
        `pullback`.

    Raises
    ------
    ArgumentError
        The arguments that `grad` or `value_and_grad` was told to differentiate in do not exist.

    Examples
    --------
    >>> print(tier(lambda x: x * x, 3.0).tier)
    fast
    >>> found = tier(lambda x: eval("2.0") * x, 3.0)
    >>> found.tier, found.reason
    ('generic', 'a call of eval')
    """
    return report(f, args, kwargs)


def report(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> TierReport:
    """Return the report of `tier` for a function and its arguments."""
    asked = operator_call_of(f)
    if asked is None:
        given, mode = (*args, *kwargs.values()), gradient_mode(kwargs)
        wanted_tier = None
    else:
        f, wanted_tier = asked.f, asked.tier
        given, mode = asked_mode(f, asked.argnums, args, kwargs, has_aux=asked.has_aux)
    if wanted_tier == "generic" or (wanted_tier is None and not fast.is_enabled[0]):
        reason = "ADJOINT_TIER=generic" if wanted_tier is None else "tier='generic'"
        return _Looking(f, mode).generic(reason)
    if asked is not None and asked.has_aux:
        return _of_pair(_Looking(f, mode), given, args, kwargs)
    found = _Looking(f, mode).at(given)
    if found.reason == NOT_SCALAR and asked is None:
        found = _Looking(f, pullback_mode(kwargs)).at(given)
    if found.tier == "generic":
        return replace(found, calls=calls_inside(f, args, kwargs)[1])
    return found


def _of_pair(
    looking: _Looking, given: tuple[Any, ...], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> TierReport:
    """Report on a function that returns a value and something else. Where no program covers it as a
    whole, its calls count as inner calls."""
    found = looking.at(given)
    if found.tier == "fast":
        return found
    own, calls = calls_inside(looking.f, args, kwargs)
    if own is not None and own.fast and not own.generic:
        return looking.at(given)
    if own is None:
        return replace(looking.generic("has_aux"), calls=calls)
    return replace(looking.generic(own.reason or "has_aux", own.place), calls=calls)


def operator_call_of(f: Any) -> OperatorCall | None:
    """Return what `grad` or `value_and_grad` was called with to make `f`; ``None`` for others."""
    known = vars(f).get("asks_for") if isinstance(f, PublicFunction | FunctionType) else None
    return known if isinstance(known, OperatorCall) else None


class _Looking:
    """Reports on calls of a function by programs of one kind."""

    def __init__(self, f: Any, mode: Mode) -> None:
        self.f, self.mode = f, mode
        self.name = getattr(f, "__qualname__", None) or type(f).__qualname__
        self.operator = mode.kind

    def generic(self, reason: str, place: str | None = None, cost: float = 0.0) -> TierReport:
        """Return the report on a call in the generic tier; `cost` is in seconds."""
        kept = fast.known(self.f, self.mode)
        count = 0 if kept is None else len(kept.entries)
        return TierReport(self.name, self.operator, "generic", reason, place, (), 1e3 * cost, count)

    def at(self, args: tuple[Any, ...]) -> TierReport:
        """Return the report on one call."""
        f = self.f
        owner = owner_of(f)
        if owner is None:
            return self.generic(f"a {type(f).__qualname__}, which has no code of its own")
        kept = fast.known(f, self.mode)
        for entry in () if kept is None else [*kept.entries]:
            if (found := self._by(entry, args)) is not None:
                return found
        refused = None if kept is None else kept.reason_for(f, args)
        if refused is None:
            made = fast.entry_of(owner, f, args, self.mode)
            if isinstance(made, Entry):
                return self._by(made, args) or self.generic("something else at each call")
            refused = made
        return self.generic(refused.reason, refused.place, refused.cost)

    def _by(self, entry: Entry, args: tuple[Any, ...]) -> TierReport | None:
        """Return the report on a call by a program; ``None`` if the program does not fit it."""
        result = entry.run(self.f, args)
        if result is fast.FAILED:
            return self.generic(entry.failures.reason, None, entry.cost)
        if result is fast.MISS:
            return None
        kept = fast.known(self.f, self.mode)
        return TierReport(
            self.name,
            self.operator,
            "fast",
            inlined=entry.inlined,
            cost=1e3 * entry.cost,
            programs=1 if kept is None else len(kept.entries),
            source=entry.source,
            opaque=entry.opaque,
        )
