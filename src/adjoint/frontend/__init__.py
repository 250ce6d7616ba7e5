"""From a Python function to its IR: syntax by subject, `bytecode` for functions without source."""

from adjoint.frontend.lowering import lower
from adjoint.frontend.source_or_bytecode import lower_any

__all__ = ["lower", "lower_any"]
