"""The rules of `scipy.sparse` by topic; imported on the first call into it."""

from adjoint.rules.scipy.sparse import (
    arrays,
    eigen,
    invariant,
    leaves,
    lists,
    pairs,
    patterns,
    products,
    solving,
    zeros,
)

__all__ = [
    "arrays",
    "eigen",
    "invariant",
    "leaves",
    "lists",
    "pairs",
    "patterns",
    "products",
    "solving",
    "zeros",
]
