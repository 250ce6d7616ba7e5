"""Rule files of libraries: imported on the first call into a library, not before."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import Any

from adjoint.locks import in_child, make_lock

_libraries: dict[str, str] = {}
"""Module with the rules, by package."""

_loaded: set[str] = set()
_loading: set[str] = set()
_settled: set[str] = set()
"""Modules for which nothing is left to import."""
_lock = make_lock()
_later: dict[str, list[Callable[[], None]]] = {}
_waiting: dict[str, tuple[str, Callable[[Any], None]]] = {}


in_child(_loading.clear)


def library(package: str, rules: str) -> None:
    """Declare that the module `rules` holds the rules of `package`, a library or a part of one
    (``"scipy.special"``). It is imported on the first call into the package."""
    _libraries[package] = rules
    _settled.clear()


def all_loaded() -> bool:
    """Return whether there is nothing left to import."""
    return len(_loaded) == len(_libraries)


def load(package: str) -> None:
    """Import the rule file of `package` if there is one; other threads wait until it is whole."""
    if package in _loaded or package not in _libraries:
        return
    with _lock:
        if package in _loaded or package in _loading:
            return  # a rule file needs rules of its own library
        _loading.add(package)
        try:
            rules = importlib.import_module(_libraries[package])
        finally:
            _loading.discard(package)
        if rules.__name__ in _waiting:
            name, register = _waiting[rules.__name__]
            if name not in sys.modules:
                return  # the rule file is imported, the library not yet
            del _waiting[rules.__name__]
            register(sys.modules[name])
        _loaded.add(package)
        for then in _later.pop(package, ()):
            then()


def load_for(module: str) -> None:
    """Import the rules of functions defined in a module."""
    if module in _settled:
        return
    package, _, rest = module.partition(".")
    packages = [package, f"{package}.{rest.partition('.')[0]}"] if rest else [package]
    for package in packages:
        load(package)
    if all(package in _loaded or package not in _libraries for package in packages):
        _settled.add(module)


def load_what_is_imported() -> None:
    """Import the rules of all imported parts of SciPy, and of ERFA."""
    for package in _libraries:
        if package.startswith(("scipy.", "erfa")) and package in sys.modules:
            load(package)


def when_loaded(module: str, then: Callable[[], None]) -> bool:
    """Call `then` once the rules of the library of a module are loaded; return false if there are
    none left to load."""
    package = module.partition(".")[0]
    if package not in _libraries or package in _loaded:
        return False
    _later.setdefault(package, []).append(then)
    return True


def registering(name: str) -> Callable[[Callable[[Any], None]], Callable[[Any], None]]:
    """Decorate a function that registers the rules of a library which its rule file does not
    import. It is called with the library once that is imported, whoever imports the rule file
    first."""

    def decorate(register: Callable[[Any], None]) -> Callable[[Any], None]:
        if name in sys.modules:
            register(sys.modules[name])
        else:
            _waiting[register.__module__] = name, register
        return register

    return decorate
