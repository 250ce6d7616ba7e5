"""Functions whose source cannot be found."""

from __future__ import annotations

import importlib
import pkgutil
import types
from pathlib import Path

import tests.corpus
from tests.corpus import all_cases, registry
from tests.corpus.registry import Case


def sourceless_cases() -> list[tuple[Case, Case]]:
    """Each case of the corpus, and the same case with no source for anything in its module."""
    cases = list(all_cases())
    saved, registry.CASES[:] = registry.CASES[:], []
    refused = registry.REFUSED[:]
    try:
        for info in pkgutil.iter_modules(tests.corpus.__path__):
            if info.name != "registry":
                _load(importlib.import_module(f"tests.corpus.{info.name}"), f"<{info.name}>")
        found = {case.name: case for case in registry.CASES}
    finally:
        registry.CASES[:], registry.REFUSED[:] = saved, refused
    return [(case, found[case.name]) for case in cases]


def _load(module: types.ModuleType, filename: str) -> None:
    copy = types.ModuleType(module.__name__)
    copy.__file__ = module.__file__
    text = Path(str(module.__file__)).read_text(encoding="utf-8")
    exec(compile(text, filename, "exec"), copy.__dict__)


def made(text: str, name: str, **namespace: object) -> types.FunctionType:
    """The function `name` that `text` defines, made by ``exec``."""
    exec(text, namespace)
    return namespace[name]  # type: ignore[return-value]
