"""Files that user code has dropped without closing them.

Plain Python closes such a file at once, which writes its buffer. Records hold operands longer, so
the buffers are written before any unknown callee runs, which might read the file.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any
from weakref import ref as weakref

if TYPE_CHECKING:
    from adjoint.runtime.memory.memory import Memory

_BUFFERED = frozenset({io.TextIOWrapper, io.BufferedWriter, io.BufferedRandom})


def note_file(memory: Memory, y: Any) -> None:
    """Note a result that is an open file with a buffer."""
    if type(y) in _BUFFERED and _is_of_python(y) and y.writable():
        memory.files.append(weakref(y))


def _is_of_python(file: Any) -> bool:
    """Return whether the innermost file is of Python's own class."""
    while type(file) in _BUFFERED:
        file = file.buffer if type(file) is io.TextIOWrapper else file.raw
    return type(file).__module__ == "_io"


def flush(memory: Memory) -> None:
    """Write the buffers of all files that were noted."""
    alive = []
    for reference in memory.files:
        file = reference()
        if file is not None and not file.closed:
            file.flush()
            alive.append(reference)
    memory.files[:] = alive
