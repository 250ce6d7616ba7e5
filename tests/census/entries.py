"""How one function is differentiated, found by trying: an example is compared with differences."""

from __future__ import annotations

import contextlib
import importlib
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from adjoint.derivatives.differences import leaves
from adjoint.errors import AdjointError
from adjoint.rulekit import registry
from tests.rules.harness import Case, case, load_all_rules
from tests.support import check_reverse

__all__ = ["KINDS", "Entry", "Section", "case", "methods_of", "public", "via"]

BOTH, REVERSE, SOURCE = "rule, both modes", "rule, reverse mode", "its own source"
CONSTANT, REFUSED = "non-differentiable", "refused"
UNCLASSIFIED, FAILING = "unclassified", "failing"
KINDS = (BOTH, REVERSE, SOURCE, CONSTANT, REFUSED, UNCLASSIFIED, FAILING)


@dataclass(frozen=True)
class Entry:
    """One public name.

    Attributes
    ----------
    kind
        One of `KINDS`.
    why
        Why its derivative is zero, or refused; in which arguments a rule refuses; what is wrong
        with a failing one.
    key
        What it is: names of one function have one key.
    """

    name: str
    kind: str
    why: str
    key: Any


@dataclass(frozen=True)
class Via:
    """An example that calls a function in an expression of its own."""

    f: Callable[..., Any]
    args: tuple[Any, ...]
    options: dict[str, Any]


def via(f: Callable[..., Any], *args: Any, **options: Any) -> Via:
    """An example ``f(*args)``; `options` are ``rtol`` and ``atol`` of `check_reverse`, and
    keywords that are held constant."""
    return Via(f, args, options)


@dataclass(frozen=True)
class Section:
    """The names of one module or class, and what is known of them.

    Attributes
    ----------
    names
        What each is: a function, or ``(type, name)``.
    examples
        Calls: arguments of the function itself (`case`), or any expression (`via`). Functions in
        the tables of rules need none.
    constants, refused
        Names by reason, separated by spaces: those without derivative that no rule tells of, and
        those of which no example can be given.
    seldom
        Names of slow examples, seconds each, of a kind of which others are tried: they are when the
        page is written, and a run of the tests takes its word.
    """

    title: str
    names: Mapping[str, Any]
    examples: Mapping[str, Any] = field(default_factory=dict)
    constants: Mapping[str, str] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)
    seldom: str = ""

    def entries(self, told: Mapping[str, tuple[str, str]] | None = None) -> Iterator[Entry]:
        """All names with how they are differentiated; of slow ones what the page has `told`."""
        believed = self.seldom.split() if told is not None else ()
        for name, key in sorted(self.names.items()):
            found = told[name] if name in believed else self._classified(name, key)
            yield Entry(name, *found, registry.key_of(key))

    def unknown(self) -> set[str]:
        """Names that are spoken of here and do not exist in these versions."""
        told = {*self.examples, *_by_name(self.constants), *_by_name(self.refused)}
        return told - set(self.names)

    def _classified(self, name: str, key: Any) -> tuple[str, str]:
        if (why := _by_name(self.refused).get(name)) is not None:
            return REFUSED, why
        if (why := _by_name(self.constants).get(name)) is not None:
            return CONSTANT, why
        rules = registry.lookup(key)
        if rules is not None and rules.inactive:
            return CONSTANT, ""
        examples = [self.examples[name]] if name in self.examples else _lines(key)
        if not examples:
            return UNCLASSIFIED, "it has neither a rule nor an example"
        return _tried(name, key, examples, _kind_of(rules))


def _by_name(names_by_reason: Mapping[str, str]) -> dict[str, str]:
    return {name: why for why, names in names_by_reason.items() for name in names.split()}


def _kind_of(rules: registry.Rules | None) -> str:
    if rules is None or not (rules.rrules or rules.structural or rules.primitive):
        return SOURCE
    if not rules.rrules and rules.primitive is not None and rules.structural is None:
        return SOURCE  # a primitive for ``out=`` only
    return BOTH if rules.frules or rules.leveled is not None else REVERSE


# ---- trying --------------------------------------------------------------------------------------


def _tried(name: str, key: Any, examples: list[Any], kind: str) -> tuple[str, str]:
    """What the first example shows that returns something with a derivative."""
    for example in examples:
        f, args, options = _call(key, example)
        try:
            _check(f, args, options)
        except AdjointError as error:
            return _in_some(name, f, args, options, kind, error)
        except AssertionError as error:
            if "returned nothing that has a derivative" in str(error):
                continue
            return FAILING, str(error).splitlines()[0]
        except Exception as error:  # it is reported, by name
            return FAILING, f"{type(error).__name__}: {error}".splitlines()[0]
        return kind, ""
    return FAILING, "no example returns anything that has a derivative"


def _in_some(
    name: str,
    f: Callable[..., Any],
    args: tuple[Any, ...],
    options: dict[str, Any],
    kind: str,
    refusal: AdjointError,
) -> tuple[str, str]:
    """Of a function that refuses: in which arguments it does not, and whether these are right."""
    right, why = False, []
    for i in range(len(args)):
        try:
            _check(_alone, (args[i],), options, of=f, held=args, i=i)
        except AdjointError as error:
            why.append(_argument(error))
        except (AssertionError, ValueError) as error:
            if any(np.asarray(leaf.value).dtype.kind in "fc" for leaf in leaves(args[i])):
                return FAILING, str(error).splitlines()[0]
        else:
            right = right or any(True for _ in leaves(args[i]))
    if not right or None in why:
        return REFUSED, _reason(name, refusal)
    return kind, f"not in {', '.join(dict.fromkeys(map(str, why)))}"


def _alone(x: Any, *, of: Callable[..., Any], held: tuple[Any, ...], i: int, **named: Any) -> Any:
    """The function of one argument; keywords are held constant."""
    return of(*held[:i], x, *held[i + 1 :], **named)


def _call(key: Any, example: Any) -> tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]:
    if isinstance(example, Via):
        return example.f, example.args, example.options
    call = example if isinstance(example, Case) else case(*example)
    f = _callable(key)
    return f, call.args, call.tolerances | call.kwargs


def _check(
    g: Callable[..., Any], point: tuple[Any, ...], options: dict[str, Any], **named: Any
) -> None:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        check_reverse(g, *point, **options, **named)


def _callable(key: Any) -> Callable[..., Any]:
    if not isinstance(key, tuple):
        return key  # type: ignore[no-any-return]
    kind, name = key
    if callable(getattr(kind, name)):
        return lambda x, *args, **kwargs: getattr(x, name)(*args, **kwargs)
    return lambda x: getattr(x, name)


PROBLEM = re.compile(r"a derivative of '([^']*)'(?: in (.*?))? is needed, which (.*)")


def _argument(error: AdjointError) -> str | None:
    """The argument in which a rule refuses."""
    match = PROBLEM.match(error.problem)
    return match.group(2) if match else None


def _reason(name: str, error: AdjointError) -> str:
    """Why it is refused: by itself, or for something that it calls."""
    match = PROBLEM.match(error.problem)
    if match is None:
        return error.problem.replace("'", "`")
    function, argument, why = match.groups()
    if function.rpartition(".")[2] == name.rpartition(".")[2]:
        return f"in {argument} it {why}" if argument else f"it {why}"
    return f"calls `{function}`, which {why}".replace("'", "`")


@cache
def _tables() -> dict[Any, list[Any]]:
    """The lines of the tables of rules."""
    load_all_rules()
    tests, lines = Path(__file__).parent.parent, {}
    for path in sorted((tests / "rules").rglob("test_*.py")):
        name = ".".join(path.relative_to(tests.parent).with_suffix("").parts)
        for key, calls in getattr(importlib.import_module(name), "CASES", {}).items():
            lines.setdefault(registry.key_of(key), []).extend(calls)
    return lines


def _lines(key: Any) -> list[Any]:
    with contextlib.suppress(TypeError):  # not hashable: it is in no table
        return _tables().get(registry.key_of(key), [])
    return []


# ---- names ---------------------------------------------------------------------------------------


def public(module: Any, *, leaving_out: str = "") -> dict[str, Any]:
    """The public callables of a module, but for exceptions."""
    names = getattr(module, "__all__", None) or [n for n in dir(module) if not n.startswith("_")]
    found = {name: getattr(module, name) for name in names if hasattr(module, name)}
    return {
        name: f
        for name, f in found.items()
        if callable(f)
        and not name.startswith("_")
        and name not in leaving_out.split()
        and not (isinstance(f, type) and issubclass(f, BaseException))
    }


def methods_of(kind: type, *, leaving_out: str = "", prefix: bool = False) -> dict[str, Any]:
    """The public methods of a class, as ``(type, name)``."""
    return {
        f"{kind.__name__}.{name}" if prefix else name: (kind, name)
        for name in dir(kind)
        if not name.startswith("_")
        and name not in leaving_out.split()
        and callable(getattr(kind, name))
    }
