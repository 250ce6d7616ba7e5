"""What tells who holds an object: inside differentiated code, the notes for the reverse sweep hold
it, too, so that the answer is another one. Libraries ask it to save copies or to warn, and may."""

from __future__ import annotations

import gc
import sys
import weakref
from functools import partial
from typing import Any

from adjoint.rules.registry import primitive
from adjoint.run.memory import refused
from adjoint.run.native import native
from adjoint.run.place import current_place
from adjoint.run.watch import is_of_a_library

_COUNTING = (
    sys.getrefcount,
    weakref.getweakrefcount,
    weakref.getweakrefs,
    gc.get_referrers,
    gc.get_objects,
)


def _counted(f: Any, record: list[Any], slot: int, /, *args: Any, **kwargs: Any) -> Any:
    place = current_place()
    if place is not None and place.called is None and not is_of_a_library(place.filename):
        raise refused(
            f"'{f.__name__}' is asked inside differentiated code, where more hold an object than"
            " else",
            "ask it outside",
        )
    return native(record, slot, f, args, kwargs)


for _f in _COUNTING:
    primitive(_f)(partial(_counted, _f))
