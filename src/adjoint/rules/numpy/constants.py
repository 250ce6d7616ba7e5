"""NumPy's functions without derivative, grouped by their results."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.rulekit.registry import non_differentiable
from adjoint.rules.numpy.operands import core

FUNCTIONS = {
    "which elements, where, how many": """
        all any argmax argmin nanargmax nanargmin argwhere count_nonzero nonzero flatnonzero
        digitize diag_indices diag_indices_from tril_indices tril_indices_from triu_indices
        triu_indices_from mask_indices unravel_index ravel_multi_index isin in1d packbits unpackbits
        argsort argpartition lexsort searchsorted ndindex
    """,
    "comparisons": """
        allclose isclose array_equal array_equiv iscomplex iscomplexobj isreal isrealobj isfortran
        isscalar isneginf isposinf iterable may_share_memory shares_memory
    """,
    "shapes and types": """
        shape ndim size broadcast_shapes can_cast common_type finfo iinfo isdtype issubdtype
        min_scalar_type mintypecode promote_types result_type typename einsum_path dtype
    """,
    "arrays that are the same whatever their arguments": """
        zeros ones empty zeros_like ones_like empty_like eye identity tri indices bartlett blackman
        hamming hanning
    """,
    "text, files, settings": """
        array2string array_repr array_str base_repr binary_repr format_float_positional
        format_float_scientific get_printoptions set_printoptions printoptions getbufsize setbufsize
        seterr seterrcall errstate info save savez savez_compressed savetxt load
        loadtxt genfromtxt fromfile fromregex fromstring show_config show_runtime get_include
        datetime_as_string datetime_data
    """,
    "roundings, which are steps": "around round fix",
}
METHODS = """
    all any argmax argmin argpartition argsort device dtype dump dumps flags
    itemsize nbytes ndim nonzero round searchsorted shape size strides tofile __len__
    __bool__ __contains__ __eq__ __ne__ __lt__ __le__ __gt__ __ge__ is_integer
"""


def members(owner: Any, names: str) -> list[Any]:
    """Return the functions, or ``(type, name)`` pairs, that this version of NumPy has."""
    return [
        (owner, name) if isinstance(owner, type) else getattr(owner, name)
        for name in names.split()
        if hasattr(owner, name)
    ]


for _names in FUNCTIONS.values():
    non_differentiable(*members(np, _names))
non_differentiable(core.multiarray.count_nonzero)
non_differentiable(*members(np.ndarray, METHODS), *members(np.generic, METHODS))
