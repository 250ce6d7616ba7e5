"""Distances to the background, which depend on an image only by its background."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from scipy import ndimage as ni

from adjoint.rulekit.refusal import NoDerivative, refused_bar
from adjoint.rulekit.registry import non_differentiable, primitive
from adjoint.rules.numpy.operands import array_rule
from adjoint.rules.numpy.transposition import forward_from_reverse
from adjoint.runtime.dispatch.linked import linked
from adjoint.runtime.dispatch.source_call import call_function


def _slopes(places: Any, sampling: Any, y: Any) -> Any:
    """Return ∂y/∂sampling along a first axis; 0 in the background."""
    steps = places - np.indices(y.shape)
    widths = np.broadcast_to(np.asarray(sampling, np.float64), (y.ndim,))
    widths = widths.reshape(-1, *(1,) * y.ndim)
    return widths * steps**2 / np.where(y == 0, 1.0, y)


def _measured(input: Any, sampling: Any, both: bool) -> Any:
    y, places = ni.distance_transform_edt(input, sampling, return_indices=True)
    return y, places, (y, places) if both else y


@array_rule(ni.distance_transform_edt, operands="sampling")
def _(input, sampling=None, return_distances=True, return_indices=False):
    if sampling is None or not return_distances:
        return NotImplemented
    y, places, result = _measured(input, sampling, return_indices)

    def distances_back(y_bar: Any) -> Any:
        y_bar = y_bar[0] if return_indices else y_bar
        if y_bar is None:
            return None, None
        bars = np.sum(_slopes(places, sampling, y) * y_bar, tuple(range(1, 1 + y.ndim)))
        return None, bars if np.ndim(sampling) else np.sum(bars)

    return result, distances_back


SAMPLING = NoDerivative("the sampling", "has no rule: use distance_transform_edt")


@array_rule(ni.distance_transform_bf, operands="sampling")
def _(input, metric="euclidean", sampling=None, return_distances=True, return_indices=False):
    y = ni.distance_transform_bf(input, metric, sampling, return_distances, return_indices)
    return y, lambda y_bar: (None, refused_bar(ni.distance_transform_bf, SAMPLING, y_bar))


forward_from_reverse(ni.distance_transform_edt, ni.distance_transform_bf)


CONSTANT = """
    binary_closing binary_dilation binary_erosion binary_fill_holes binary_hit_or_miss
    binary_opening binary_propagation distance_transform_cdt find_objects generate_binary_structure
    histogram iterate_structure label maximum_position minimum_position value_indices watershed_ift
"""
"""Functions that separate the background from the rest, or count."""

non_differentiable(*[getattr(ni, name) for name in CONSTANT.split()])


def _into(f: Any) -> None:
    """Make the arrays that `f` writes to constant."""
    signature = inspect.signature(f)

    @primitive(f)
    def into(record: list[Any], slot: int, /, *args: Any, **kwargs: Any) -> Any:
        try:
            given = signature.bind(*args, **kwargs).arguments
        except TypeError:
            return NotImplemented  # the call itself raises
        outputs = [name for name in _OUTPUTS if isinstance(given.get(name), np.ndarray)]
        if not outputs:
            return NotImplemented
        written = {name: np.array(given[name]) for name in outputs}
        found = f(**given | written)
        pairs = [(given[name], written[name]) for name in outputs]
        none = (None,) * (1 + len(args) + len(kwargs))
        linked(record, slot, lambda _: none, call_function, _write_all, (pairs,), {})
        return next((out for out, copy in pairs if found is copy), found)


_OUTPUTS = frozenset({"output", "distances", "indices"})


def _write_all(pairs):
    for out, values in pairs:
        out[...] = values


for _name in CONSTANT.split():
    _f = getattr(ni, _name)
    if not _OUTPUTS.isdisjoint(inspect.signature(_f).parameters):
        _into(_f)
