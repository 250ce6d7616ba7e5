"""`collections.defaultdict` and `Counter`, and `types.SimpleNamespace`: kinds of dicts."""

from __future__ import annotations

import collections
import types
from collections import defaultdict
from typing import Any

from adjoint.rulekit.registry import non_differentiable, substitute

_count_elements: Any = collections._count_elements  # type: ignore[attr-defined]


@substitute(defaultdict)
def _(default_factory: Any = None, /, *args: Any, **named: Any) -> Any:
    made = _new(default_factory)
    dict.update(made, *args, **named)
    return made


def _new(factory: Any) -> Any:
    return defaultdict(factory)


@substitute((defaultdict, "__init__"))
def _(d: Any, default_factory: Any = None, /, *args: Any, **named: Any) -> None:
    d.default_factory = default_factory
    dict.update(d, *args, **named)


@substitute((defaultdict, "__missing__"))
def _(d: Any, key: Any) -> Any:
    if d.default_factory is None:
        raise KeyError(key)
    value = d.default_factory()
    d[key] = value  # C calls the method of a subclass, too
    return value


@substitute((defaultdict, "copy"), (defaultdict, "__copy__"))
def _(d: Any) -> Any:
    return type(d)(d.default_factory, d)


def _united(like: Any, a: Any, b: Any) -> Any:
    made = type(like)(like.default_factory, a)
    dict.update(made, b)
    return made


@substitute((defaultdict, "__or__"))
def _(a: Any, b: Any) -> Any:
    return _united(a, a, b) if isinstance(b, dict) else NotImplemented


@substitute((defaultdict, "__ror__"))
def _(a: Any, b: Any) -> Any:
    return _united(a, b, a) if isinstance(b, dict) else NotImplemented


@substitute(_count_elements)
def _(counts: Any, elements: Any) -> None:
    for element in elements:
        counts[element] = counts.get(element, 0) + 1


@substitute(types.SimpleNamespace)
def _(*args: Any, **named: Any) -> Any:
    made = _namespace()
    dict.update(made.__dict__, *args, **named)
    return made


def _namespace() -> Any:
    return types.SimpleNamespace()


non_differentiable(_new, _namespace)
