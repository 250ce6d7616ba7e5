"""From the bytecode of functions without source, and of class bodies, to IR: CPython 3.11 to 3.13.

`machine` runs the instructions on operands instead of values, block by block. `flow_graph` and
`structure` arrange the blocks as in structured code. `regions` turns the remaining jumps into
``if``, loops, ``break`` and ``continue``. Each opcode has one small function, in a file named after
the subject of the opcode: the place to add new ones.
"""

from adjoint.frontend.bytecode.lowering import lower

__all__ = ["lower"]
