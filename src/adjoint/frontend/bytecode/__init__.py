"""From the bytecode of a function without source to its IR, for CPython 3.11 to 3.13.

The instructions are run on operands instead of values (`machine`), block by block; the blocks are
put where structured code has them (`graph`, `structure`), and what is left of their jumps becomes
``if``, loops, ``break`` and ``continue`` (`regions`). There is one small function for each opcode,
in the files named after what the opcodes are about: the place for new ones.
"""

from adjoint.frontend.bytecode.lower import lower

__all__ = ["lower"]
