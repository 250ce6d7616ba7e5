"""Rules for `scipy.sparse`, one module per topic; imported on the first call into it."""

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
