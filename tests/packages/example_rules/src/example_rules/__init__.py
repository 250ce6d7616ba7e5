"""A package that knows nothing of Adjoint but in one module, which it does not import."""

from decimal import Decimal


def cube_root(x: float) -> float:
    """∛x of a positive number, calculated in C: no derivative of it is known without a rule."""
    return float(Decimal(x) ** (Decimal(1) / 3))
