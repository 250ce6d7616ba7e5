"""``__init__`` of exceptions, which stores its arguments in ``args``."""

from __future__ import annotations

import builtins
from functools import partial
from typing import Any

from adjoint.rulekit.registry import structural
from adjoint.runtime.memory.log_entries import swap_with
from adjoint.runtime.memory.memory import Memory
from adjoint.runtime.python.caught_exceptions import bars_of_args


def _by_init(kind: Any) -> None:
    @structural((kind, "__init__"))
    def init(memory: Memory, self: Any, /, *args: Any, **kwargs: Any) -> Any:
        before = self.args
        kind.__init__(self, *args, **kwargs)
        held = self.args
        position = memory.note(
            swap_with, partial(setattr, self, "args", before), partial(setattr, self, "args", held)
        )

        def init_back(_: Any) -> tuple[Any, ...]:
            memory.rewind(position)
            bars = bars_of_args(memory, self, held, args)
            return (None, None, *bars, *(None,) * len(kwargs))

        return None, init_back


for _kind in vars(builtins).values():
    if isinstance(_kind, type) and issubclass(_kind, BaseException) and "__init__" in vars(_kind):
        _by_init(_kind)
