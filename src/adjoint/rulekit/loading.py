"""Rule files of libraries: imported on the first call into a library, not before.

The rules of Python, NumPy and SciPy are named by `adjoint.rules`. Those of any other package are
found by its name in the entry-point group ``adjoint.rules``: each entry is the name of a package,
or of a part of one, and the module with rules for it. Entry points are read on the first call into
a package that `adjoint.rules` does not name.
"""

from __future__ import annotations

import importlib
import os
import sys
import warnings
from collections.abc import Callable
from importlib.machinery import PathFinder
from typing import Any

from adjoint.locks import in_child, make_lock

GROUP = "adjoint.rules"
"""The entry-point group in which packages name their rules."""

_libraries: dict[str, tuple[str, ...]] = {}
"""Modules with the rules, by package."""

_own: set[str] = {"__main__", "adjoint", *sys.stdlib_module_names}
"""Top-level packages for which entry points are not read."""

_shipped_by: dict[str, str] = {}
"""Distribution of each module with rules of another package."""

_are_extensions_known = [False]

_loaded: set[str] = set()
_loading: set[str] = set()
_settled: set[str] = set()
"""Modules for which nothing is left to import."""
complete: set[Any] = set()
"""Functions of such modules that have rules."""
_lock = make_lock()
_later: dict[str, list[Callable[[], None]]] = {}
_waiting: dict[str, tuple[str, Callable[[Any], None]]] = {}


in_child(_loading.clear)


def library(package: str, rules: str) -> None:
    """Declare that the module `rules` holds the rules of `package`, a library or a part of one
    (``"scipy.special"``). It is imported on the first call into the package."""
    _libraries[package] = (rules,)
    _own.add(package.partition(".")[0])
    _unsettle()


def _unsettle() -> None:
    _settled.clear()
    complete.clear()


def find_extensions() -> None:
    """Find the packages with rules: by the entry points of installed distributions, and by the
    table of `adjoint.extensions`, because a checkout on ``PYTHONPATH`` has no entry points."""
    if _are_extensions_known[0]:
        return
    with _lock:
        for package, rules in importlib.import_module("adjoint.extensions").RULES.items():
            _extend(package, rules, "adjoint-ad")
        if _others_may_ship_rules():
            from importlib import metadata  # its import takes longer than a gradient may

            for point in metadata.entry_points(group=GROUP):
                _extend(point.name, point.value, point.dist.name if point.dist else "?")
        _are_extensions_known[0] = True
        _unsettle()


def _others_may_ship_rules() -> bool:
    """Return whether `importlib.metadata` may find entry points of another distribution: a folder
    of ``sys.path`` has the metadata of one that names the group, or is an archive."""
    if any(x is not PathFinder and hasattr(x, "find_distributions") for x in sys.meta_path):
        return True
    for folder in filter(_is_text, sys.path):
        try:
            names = os.listdir(folder or ".")
        except OSError:
            if os.path.isfile(folder):
                return True
            continue
        for name in names:
            if name.lower().endswith("-info") and not name.startswith(_OWN_METADATA):
                try:
                    with open(os.path.join(folder, name, "entry_points.txt"), "rb") as file:
                        if GROUP.encode() in file.read():
                            return True
                except OSError:  # it has none
                    continue
    return False


def _is_text(folder: object) -> bool:
    """Return whether Python looks into an entry of ``sys.path``."""
    return isinstance(folder, str)


_OWN_METADATA = ("adjoint_ad-", "adjoint_ad.")
"""How the names of the folders of this distribution's metadata begin."""


def _extend(package: str, rules: str, distribution: str) -> None:
    modules = _libraries.get(package, ())
    if package.partition(".")[0] not in _own and rules not in modules:
        _libraries[package] = (*modules, rules)
        _shipped_by[rules] = distribution


def all_loaded() -> bool:
    """Return whether there is nothing left to import."""
    return _are_extensions_known[0] and len(_loaded) == len(_libraries)


def load(package: str) -> None:
    """Import the rules of `package` if there are any; other threads wait until they are whole."""
    if package in _loaded or package not in _libraries:
        return
    with _lock:
        if package in _loaded or package in _loading:
            return  # a rule file needs rules of its own library
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
    """Import one module with rules. Return false if it waits for its library to be imported."""
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


def is_settled(module: str) -> bool:
    """Return whether nothing is left to import for the functions of a module."""
    return module in _settled


def load_for(module: str) -> None:
    """Import the rules of functions defined in a module."""
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
    """Import the rules of all imported parts of SciPy and of all other imported packages."""
    find_extensions()
    for package, (rules, *_) in list(_libraries.items()):
        if package in sys.modules and (package.startswith("scipy.") or rules in _shipped_by):
            load(package)


def load_all_imported() -> None:
    """Import the rules of all imported packages."""
    find_extensions()
    for package in list(_libraries):
        if package in sys.modules:
            load(package)


def when_loaded(module: str, then: Callable[[], None]) -> bool:
    """Call `then` once the rules of the library of a module are loaded; return false if there are
    none left to load."""
    package, _, rest = module.partition(".")
    part = f"{package}.{rest.partition('.')[0]}"
    package = part if part in _libraries else package
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
