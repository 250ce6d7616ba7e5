"""Rule files of libraries: imported on the first call into a library, not before.

The rules of Python, NumPy and SciPy are named by `adjoint.rules`. Those of any other package are
found by its name in the entry-point group ``adjoint.rules``: each entry is the name of a package,
or of a part of one, and the module with rules for it. Entry points are read on the first call into
a package that `adjoint.rules` does not name.
"""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Callable
from typing import Any

from adjoint.locks import in_child, make_lock

GROUP = "adjoint.rules"
"""The entry-point group in which packages name their rules."""

_libraries: dict[str, tuple[str, ...]] = {}
"""By package, the modules with its rules."""

_own: set[str] = {"__main__", "adjoint", *sys.stdlib_module_names}
"""Top-level packages for which no entry points are asked."""

_shipped_by: dict[str, str] = {}
"""By module with rules of another package: the distribution that it is from."""

_are_extensions_known = [False]

_loaded: set[str] = set()
_loading: set[str] = set()
_settled: set[str] = set()
"""Modules of which nothing is left to import."""
_lock = make_lock()
_later: dict[str, list[Callable[[], None]]] = {}
_waiting: dict[str, tuple[str, Callable[[Any], None]]] = {}


in_child(_loading.clear)


def library(package: str, rules: str) -> None:
    """Say that the module `rules` holds the rules of `package`, which is a library or a part of one
    (``"scipy.special"``); it is imported on the first call into it."""
    _libraries[package] = (rules,)
    _own.add(package.partition(".")[0])
    _settled.clear()


def find_extensions() -> None:
    """Read which other packages have rules: from the entry points of what is installed, and from
    the table of `adjoint.extensions`, for a checkout on ``PYTHONPATH`` has no entry points."""
    if _are_extensions_known[0]:
        return
    from importlib import metadata  # takes longer than all of `import adjoint` may

    with _lock:
        for package, rules in importlib.import_module("adjoint.extensions").RULES.items():
            _extend(package, rules, "adjoint-ad")
        for point in metadata.entry_points(group=GROUP):
            _extend(point.name, point.value, point.dist.name if point.dist else "?")
        _are_extensions_known[0] = True
        _settled.clear()


def _extend(package: str, rules: str, distribution: str) -> None:
    modules = _libraries.get(package, ())
    if package.partition(".")[0] not in _own and rules not in modules:
        _libraries[package] = (*modules, rules)
        _shipped_by[rules] = distribution


def all_loaded() -> bool:
    """Whether there is nothing left to import."""
    return _are_extensions_known[0] and len(_loaded) == len(_libraries)


def load(package: str) -> None:
    """Import the rules of `package` if there are any; other threads wait until they are whole."""
    if package in _loaded or package not in _libraries:
        return
    with _lock:
        if package in _loaded or package in _loading:
            return  # the latter: a rule file asks for rules of its own library
        _loading.add(package)
        try:
            are_whole = [_load_rules(package, rules) for rules in _libraries[package]]
        finally:
            _loading.discard(package)
        if not all(are_whole):
            return
        _loaded.add(package)
        for then in _later.pop(package, ()):
            then()


def _load_rules(package: str, rules: str) -> bool:
    """Import one module with rules; false if it still waits for the library that it is about."""
    try:
        importlib.import_module(rules)
        if rules in _waiting:
            name, register = _waiting[rules]
            if name not in sys.modules:
                return False
            del _waiting[rules]
            register(sys.modules[name])
    except Exception as error:
        if rules not in _shipped_by:
            raise
        warnings.warn(
            f"the rules of {package!r} are left out: the entry point '{package} = {rules}' of"
            f" {_shipped_by[rules]!r} in the group {GROUP!r} fails with"
            f" {type(error).__name__}: {error}",
            RuntimeWarning,
            stacklevel=2,
        )
    return True


def load_for(module: str) -> None:
    """Import the rules of what is defined in a module."""
    if module in _settled:
        return
    package, _, rest = module.partition(".")
    if package not in _own:
        find_extensions()
    packages = [package, f"{package}.{rest.partition('.')[0]}"] if rest else [package]
    for package in packages:
        load(package)
    if all(package in _loaded or package not in _libraries for package in packages):
        _settled.add(module)


def load_what_is_imported() -> None:
    """Import the rules of any part of SciPy, and of any other package, that was imported."""
    find_extensions()
    for package, (rules, *_) in list(_libraries.items()):
        if package in sys.modules and (package.startswith("scipy.") or rules in _shipped_by):
            load(package)


def when_loaded(module: str, then: Callable[[], None]) -> bool:
    """Have `then` called when the rules of the library of a module are loaded; false if there are
    none that are not loaded yet."""
    package = module.partition(".")[0]
    if package not in _libraries or package in _loaded:
        return False
    _later.setdefault(package, []).append(then)
    return True


def registering(name: str) -> Callable[[Callable[[Any], None]], Callable[[Any], None]]:
    """The decorated function registers the rules of a library that a rule file does not import
    itself; it is given the library when that is there, whoever has imported the rule file
    before."""

    def decorate(register: Callable[[Any], None]) -> Callable[[Any], None]:
        if name in sys.modules:
            register(sys.modules[name])
        else:
            _waiting[register.__module__] = name, register
        return register

    return decorate
