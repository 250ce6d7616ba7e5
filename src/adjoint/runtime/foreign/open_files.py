"""Files that the program has let go without closing them.

Python closes such a file at once, which writes what is in its buffer. Records keep what operations
were given, so it would be written too late: before anything else is called that might read it, the
buffers are written.
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
    """Whether no class of the user's is what is written to in the end."""
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
