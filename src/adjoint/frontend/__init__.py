"""From a Python function to its IR: syntax by subject, `bytecode` for functions without source."""

from adjoint.frontend.either import lower_any
from adjoint.frontend.lower import lower

__all__ = ["lower", "lower_any"]
