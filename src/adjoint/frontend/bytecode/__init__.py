"""From the bytecode of functions without source, and of class bodies, to IR: CPython 3.11 to 3.13.

Functions with loops, generators and handlers of exceptions are refused. `machine` runs the
instructions on operands instead of values, and `branches` each arm of a conditional jump. Each
opcode has one small function, in a file named after the subject of the opcode.
"""

from adjoint.frontend.bytecode.lowering import lower

__all__ = ["lower"]
