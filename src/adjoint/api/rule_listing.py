"""What is registered, by package."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator
from typing import Any

from adjoint.ir.node import node
from adjoint.rulekit import loading, registry
from adjoint.rulekit.registry import Rules


@node
class RuleEntry:
    """What is registered for one function.

    Attributes
    ----------
    name : str
        The function, with its module: ``numpy.linalg.inv``, ``builtins.list.append``.
    package : str
        The top-level package.
    kinds : tuple of str
        Of ``reverse``, ``forward``, ``zero`` (no derivative, or none but zero), ``substitute``
        (Python that is differentiated in its place), ``structural`` and ``primitive`` (of the
        engine).
    by_user : bool
        Whether a rule comes from outside this library.
    """

    name: str
    package: str
    kinds: tuple[str, ...]
    by_user: bool = False


class RuleListing(tuple[RuleEntry, ...]):
    """Entries in the order of their names; printed as a table by package."""

    __slots__ = ()

    def by_package(self) -> dict[str, list[RuleEntry]]:
        """Return the entries of each package."""
        found: dict[str, list[RuleEntry]] = {}
        for entry in self:
            found.setdefault(entry.package, []).append(entry)
        return found

    def __str__(self) -> str:
        lines = []
        for package, entries in self.by_package().items():
            count = "1 function" if len(entries) == 1 else f"{len(entries)} functions"
            lines.append(f"{package}: {count}")
            width = max(len(entry.name) for entry in entries)
            lines += [f"  {one.name:<{width}}  {_kinds(one)}" for one in entries]
        return "\n".join(lines) or "no rules"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        parts = []
        for package, entries in self.by_package().items():
            rows = "".join(
                f"<tr><td><code>{html.escape(one.name)}</code></td>"
                f"<td>{html.escape(_kinds(one))}</td></tr>"
                for one in entries
            )
            title = html.escape(f"{package}: {len(entries)}")
            parts.append(f"<details><summary>{title}</summary><table>{rows}</table></details>")
        return "".join(parts) or "no rules"


def _kinds(entry: RuleEntry) -> str:
    return ", ".join(entry.kinds) + (" (yours)" if entry.by_user else "")


def rules(name: str | Callable[..., Any] = "") -> RuleListing:
    """List the functions that have rules.

    Rules of Python, of NumPy and other packages that have been imported, and your own. A function
    without a rule is differentiated by its source; see `tier` and `ir`.

    Parameters
    ----------
    name : str or callable
        Only functions whose name contains it: ``"numpy.linalg"``, ``"solve"``. The rules of a
        package of that name are loaded if need be. Or one function.

    Returns
    -------
    RuleListing
        A tuple of entries (``name``, ``package``, ``kinds``, ``by_user``) that prints as a table.

    Examples
    --------
    >>> print(rules("numpy.linalg.eig"))
    numpy: 4 functions
      numpy.linalg.eig       reverse, forward
      numpy.linalg.eigh      reverse, forward
      numpy.linalg.eigvals   reverse, forward
      numpy.linalg.eigvalsh  reverse, forward
    """
    if not isinstance(name, str):
        name = _name(name) or repr(name)
    loading.load_for(name)
    loading.load_all_imported()
    entries = {one.name: one for one in _entries() if name in one.name}
    return RuleListing(entries[key] for key in sorted(entries))


def _entries() -> Iterator[RuleEntry]:
    for key, of_key in list(registry.table.items()):
        named = _name(key)
        kinds = _kinds_of(of_key)
        if named is None or not kinds:
            continue
        by_user = any(rule.foreign for rule in (*of_key.rrules, *of_key.frules))
        yield RuleEntry(named, named.partition(".")[0], kinds, by_user)


def _kinds_of(of_key: Rules) -> tuple[str, ...]:
    given = {
        "reverse": of_key.rrules,
        "forward": of_key.frules,
        "zero": of_key.inactive,
        "substitute": of_key.substitute,
        "structural": of_key.structural,
        "primitive": of_key.primitive or of_key.leveled,
    }
    return tuple(kind for kind, value in given.items() if value)


def _name(key: Any) -> str | None:
    """Return the full name of a function; ``None`` for those of this library."""
    if type(key) is tuple and key[0] == "unhashable":
        key = registry.function_of(key)
    if type(key) is tuple:
        kind, name = key
        return f"{kind.__module__}.{kind.__qualname__}.{name}"
    module = getattr(key, "__module__", None) or type(key).__module__
    if not module.startswith("__"):
        module = module.removeprefix("_")
    if module == "adjoint" or module.startswith("adjoint."):
        return None
    name = getattr(key, "__qualname__", None) or getattr(key, "__name__", None)
    return f"{module}.{name or type(key).__qualname__}"
