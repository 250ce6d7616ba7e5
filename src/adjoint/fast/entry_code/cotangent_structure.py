"""Source that arranges the cotangents of leaves in the structure of the arguments."""

from __future__ import annotations

from collections.abc import Sequence
from types import FunctionType
from typing import Any

import numpy as np

from adjoint.fast.build.modes import Mode
from adjoint.fast.build.program import Program
from adjoint.fast.entry_code.inputs import Reading
from adjoint.fast.entry_code.unread_inputs import MOST_UNREAD, keys_of
from adjoint.fast.evaluate.values import Source
from adjoint.fast.not_covered import NotCovered
from adjoint.fast.source.expression_text import tuple_text
from adjoint.primal.value_kinds import fields_of, slots_of


def cotangents(made: Reading, program: Program, mode: Mode, count: int) -> str:
    """Return the source of the cotangents that a mode asks for, of `count` arguments."""
    roots = mode.positions(count)
    leaves = zip(program.wanted, program.definite, strict=True)
    at = {id(leaf.source): i for i, (leaf, known) in enumerate(leaves) if known is not None}
    if not mode.is_scalar:
        return _structure(made, at, roots)
    texts = [_with_zeros(made, at, i) for i in roots]
    return texts[0] if mode.is_single else tuple_text(texts)


def _with_zeros(made: Reading, at: dict[int, int], argument: int) -> str:
    source = made.outside.root("argument", argument)
    text = _assembled(made, source, at)
    if text is not None and _is_complete(made, source, at):
        return str(_assembled(made, source, at))
    return f"filled(a{argument}, {text})"


def _is_complete(made: Reading, source: Source, at: dict[int, int]) -> bool:
    """Return whether `_assembled` writes the whole cotangent of a source, zeros included; note
    those of numbers."""
    if id(source) in at:
        return True
    if (first := made.outside.twins.get(id(source))) is not None:
        return _is_complete(made, first, at)
    sample = made.outside.samples.get(id(source))
    if sample is None or type(sample) is FunctionType or not _has_keys(sample):
        return False
    children = {c.key: c for c in made.inside.get(id(source), ())}
    keys = _keys(sample)
    if len(keys) > len(children) + MOST_UNREAD:
        return False
    found = False  # without any cotangent inside, `_assembled` writes none
    for key in keys:
        part = sample[key] if isinstance(sample, list | tuple | dict) else getattr(sample, key)
        if _has_none(part):
            if key not in children:  # parts that are read have guards
                made.lines.append(_unless_alike(made, made.place(source, key), part))
        elif type(part) in (float, int) and not (key in children and id(children[key]) in at):
            if key not in children:
                made.lines.append(_unless_alike(made, made.place(source, key), part))
            made.zeros.setdefault(id(source), []).append(key)
            found = True
        elif key not in children or not _is_complete(made, children[key], at):
            return False
        else:
            found = True
    return found


def _has_none(part: Any) -> bool:
    """Return whether a part has the cotangent ``None`` even if zeros are filled in."""
    if type(part) is FunctionType:
        return part.__closure__ is None
    return part is None or type(part) in (str, np.ufunc)


def _unless_alike(made: Reading, place: str, part: Any) -> str:
    """Return a test that the object at `place` is still of the class of `part`, a number or
    something whose cotangent is ``None``."""
    if part is None:
        return f"if {place} is not None: return MISS"
    if type(part) is FunctionType:
        return f"if getattr({place}, '__closure__', 0) is not None: return MISS"
    return f"if type({place}) is not {made.bind(type(part))}: return MISS"


def _structure(made: Reading, at: dict[int, int], roots: Sequence[int]) -> str:
    """Return the source of the cotangents of the function and of the arguments `roots`."""
    root = made.outside.root
    sources = [root("function"), *(root("argument", i) for i in roots)]
    return tuple_text(str(_assembled(made, source, at)) for source in sources)


def _assembled(made: Reading, source: Source, at: dict[int, int]) -> str | None:
    """Return the source of the cotangent of a source; ``None`` if there is no path."""
    if id(source) in at:
        return f"bars[{at[id(source)]}]"
    if (first := made.outside.twins.get(id(source))) is not None:
        return _assembled(made, first, at)
    inside = made.inside.get(id(source), ())
    if any(s.kind.startswith("partial") and _assembled(made, s, at) for s in inside):
        raise NotCovered("the cotangent of a functools.partial")
    own = [s for s in inside if s.kind == "self"]
    if own:  # the cotangent of a bound method is that of its object
        return _assembled(made, own[0], at)
    if id(source) not in made.outside.samples:
        return None
    sample = made.outside.samples[id(source)]
    parts = {child.key: _assembled(made, child, at) for child in _shown(made, source)}
    parts |= dict.fromkeys(made.zeros.get(id(source), ()), "0.0")
    if not any(parts.values()):
        return None
    items = [str(parts.get(key)) for key in _keys(sample)]
    if isinstance(sample, list):
        return f"[{', '.join(items)}]"
    if isinstance(sample, tuple):
        text = f"({', '.join(items)},)"
        if type(sample) is not tuple:
            text = f"{made.bind(type(sample))}._make({text})"
        return text
    names = _keys(sample)
    if type(sample) is FunctionType:
        names = sample.__code__.co_freevars
    if isinstance(sample, dict):
        texts = [repr(key) if type(key) is str else made.bind(key) for key in names]
        named = ", ".join(f"{key}: {item}" for key, item in zip(texts, items, strict=True))
        return f"{{{named}}}"
    named = ", ".join(f"{name!r}: {item}" for name, item in zip(names, items, strict=True))
    if type(sample) is not FunctionType:
        made.require_same_fields(source)
    return f"Tangent({made.bind(tangent_maker(sample))}, {{{named}}})"


def _shown(made: Reading, source: Source) -> list[Source]:
    """Return the children of a source that its cotangent shows: of a function, its captured
    variables, but not its defaults."""
    is_function = type(made.outside.samples.get(id(source))) is FunctionType
    return [
        child
        for child in made.inside.get(id(source), ())
        if not is_function or child.kind == "cell"
    ]


def tangent_maker(sample: Any) -> Any:
    """Return the primal that a `Tangent` names: the class of an object, the name of a function."""
    return sample.__name__ if type(sample) is FunctionType else type(sample)


def _has_keys(sample: Any) -> bool:
    """Return whether the cotangent of a container, an object or a function can be written."""
    if isinstance(sample, list | tuple | dict | FunctionType):
        return True
    return fields_of(sample) is not None and not slots_of(type(sample))


def _keys(sample: Any) -> Sequence[Any]:
    if not _has_keys(sample):
        raise NotCovered(f"the cotangent of a {type(sample).__name__}")
    return [*keys_of(sample)]
