"""Rules of masked arrays: their text, and `tolist`, which NumPy does by arrays of objects."""

from __future__ import annotations

import numpy as np

from adjoint.rulekit.registry import non_differentiable, substitute

non_differentiable(np.ma.MaskedArray.__str__, np.ma.MaskedArray.__repr__)


@substitute(np.ma.MaskedArray.tolist)
def _tolist(self, fill_value=None):
    """List the elements, with None for masked ones."""
    if fill_value is not None or self.mask is np.ma.nomask:
        return np.asarray(self if fill_value is None else self.filled(fill_value)).tolist()
    return _without_masked(np.asarray(self).tolist(), self.mask.tolist())


def _without_masked(values, mask):
    if isinstance(mask, list | tuple):  # a tuple for the fields of a structured array
        kept = [_without_masked(*pair) for pair in zip(values, mask, strict=True)]
        return kept if isinstance(mask, list) else tuple(kept)
    return None if mask else values
