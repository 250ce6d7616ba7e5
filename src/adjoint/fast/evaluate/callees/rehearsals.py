"""Rehearsals of steps with objects of libraries, on the values of the call at specialisation.

They tell what the steps return. They have no effects: objects from outside are copied, and a step
that draws random numbers or changes an object from outside is not covered.
"""

from __future__ import annotations

import copy
import io
import pickle
import random
import time
import warnings
from collections.abc import Sequence
from types import FunctionType
from typing import Any

import numpy as np

from adjoint.fast.evaluate.attribute_reads import HEAP_TYPE
from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.result_types.examples import example
from adjoint.fast.evaluate.sample_values import sample_value
from adjoint.fast.evaluate.types import ANYTHING, Array, Symbol
from adjoint.fast.evaluate.values import SegmentOf
from adjoint.fast.not_covered import NotCovered
from adjoint.fast.support.segments import Step, value_of, values_in
from adjoint.ir.single import Value
from adjoint.primal.packages import is_of_a_library

MOST_SECONDS = 2.0
"""Greatest time of a step that is rehearsed."""


def rehearsed(ev: Evaluator, address: int, step: Step) -> Any:
    """Return the result of the last step of a segment in its rehearsal."""
    segment = ev.heap[address]
    assert isinstance(segment, SegmentOf)
    steps, (done, known) = segment.steps, ev.rehearsals.get(address, ((), {}))
    if steps[: len(done)] != done:  # what was rehearsed since then is not part of the program
        done, known = (), {}
    known = dict(known)
    for x in values_in(steps):
        if x not in known:
            known[x] = _sample(ev, x)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for one in steps[len(done) :]:
            known[one] = _run(ev, one, known)
    ev.rehearsals[address] = steps, known
    _demand_unchanged(ev, steps)
    for shown, y in segment.shown:
        if not np.array_equal(known[shown], ev.samples[y], equal_nan=True):
            raise NotCovered("a write to an object that shows an array", ev.span)
    return known[step]


def _run(ev: Evaluator, step: Step, known: dict[Any, Any]) -> Any:
    f = value_of(step.callee, known)
    args = [value_of(x, known) for x in step.args]
    keywords = {name: value_of(x, known) for name, x in step.keywords}
    before, begin = _generators(), time.perf_counter()
    try:
        y = f(*args, **keywords)
    except Exception as error:
        name = getattr(f, "__name__", type(f).__name__)
        raise NotCovered(f"{name} raises {type(error).__name__}: {error}", ev.span) from None
    finally:
        if _generators() != before:
            random.setstate(before[0])
            np.random.set_state(before[1])  # noqa: NPY002
            raise NotCovered("an object of a library that draws random numbers", ev.span)
    parts = (*step.args, *(x for _, x in step.keywords))
    if not all(map(_has_items, (*args, *keywords.values()), (value_of(x, known) for x in parts))):
        raise NotCovered("a library that changes a container", ev.span)
    if time.perf_counter() - begin > MOST_SECONDS:
        raise NotCovered("a call of a library that takes long", ev.span)
    return y


def _has_items(x: Any, y: Any) -> bool:
    """Return whether two values are the same, or containers of the same items."""
    if type(x) in (list, tuple) and type(x) is type(y) and len(x) == len(y):
        return all(map(_has_items, x, y))
    if type(x) is dict and type(y) is dict and [*x] == [*y]:
        return all(map(_has_items, x.values(), y.values()))
    return x is y or isinstance(x, slice)


def _generators() -> tuple[Any, Any]:
    """Return the states of the generators of random numbers that functions share."""
    name, keys, *rest = np.random.get_state()  # noqa: NPY002
    return random.getstate(), (name, tuple(keys), *rest)


def _sample(ev: Evaluator, x: Value) -> Any:
    """Return a value of the program in the call at specialisation, or one of its type."""
    if x not in ev.samples:
        ev.samples[x] = _found(ev, x)
    ev.contents_of_samples.setdefault(x, _contents(ev, ev.samples[x]))
    return ev.samples[x]


def _found(ev: Evaluator, x: Value) -> Any:
    t = ev.types[x]
    if t == ANYTHING:
        leaf = next(leaf for leaf in ev.outside.leaves if leaf.value is x)
        try:
            return copy.deepcopy(leaf.sample)
        except Exception:
            raise NotCovered("an object from outside that cannot be copied", ev.span) from None
    if isinstance(t, Array):
        ev.demand_known("an array, given to an object of a library", *t.shape)
    found = sample_value(ev, x)
    if found is None:
        sizes = {n: 3 for n in getattr(t, "shape", ()) if isinstance(n, Symbol)}
        found = example(ev.type_of(x), sizes, np.random.default_rng(0))
    return found


def _demand_unchanged(ev: Evaluator, steps: Sequence[Step]) -> None:
    """Refuse steps that have changed an array, or an object from outside."""
    for x in values_in(steps):
        if _contents(ev, ev.samples[x]) != ev.contents_of_samples[x]:
            raise NotCovered("a library that changes what it is given", ev.span)


def _contents(ev: Evaluator, x: Any) -> bytes:
    """Return a value as bytes; refuse objects that hold code of the user, which may act."""
    if type(x) is np.ndarray or isinstance(x, np.generic):
        return x.tobytes()
    written = io.BytesIO()
    try:
        _Pickler(written).dump(x)
    except Exception:
        raise NotCovered("an object from outside that may hold code of the user", ev.span) from None
    return written.getvalue()


class _Pickler(pickle.Pickler):
    """Writes objects without functions or classes of the user."""

    def persistent_id(self, x: Any) -> None:
        """Refuse functions and classes of the user; write all else as it is."""
        home: Any = None
        if type(x) is FunctionType:
            home = x.__globals__.get("__name__")
        elif isinstance(x, type) and x.__flags__ & HEAP_TYPE:
            home = x.__module__
        if home is not None and not is_of_a_library(home):
            raise pickle.PicklingError
