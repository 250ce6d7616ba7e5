"""Global variables that a function may assign without naming them in its code."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import FunctionType
from typing import Any

from adjoint.primal.reachability import spaces_of
from adjoint.primal.value_kinds import content_of

_ANY_VARIABLE = frozenset("eval exec globals __globals__ f_globals".split())


def variables_asked_for(f: FunctionType) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield the global variables, also of modules, that `f` may assign, if it looks variables up by
    name or imports modules."""
    code, namespace = f.__code__, f.__globals__
    by_name = not _ANY_VARIABLE.isdisjoint(code.co_names)
    words = [const for const in code.co_consts if type(const) is str]
    known = [*code.co_names, *words]
    if not (by_name or "modules" in code.co_names or any(n in sys.modules for n in code.co_names)):
        return
    for name in (*known, *namespace) if by_name else code.co_names:
        if name in namespace or name not in code.co_names:
            yield namespace, name
    captured = map(content_of, f.__closure__ or ())
    named = [namespace.get(name) for name in code.co_names]
    spaces = spaces_of((*captured, *named, *map(sys.modules.get, known)))
    for space in {id(space): space for space in spaces}.values():
        for name in dict.fromkeys((*known, *namespace) if by_name else known):
            yield space, name
