"""Objects that are their class and their fields, and nothing else."""

from __future__ import annotations

from typing import Any

from adjoint.primal.value_kinds import fields_of, is_plain_object
from adjoint.rulekit.registry import substitute

_OF_COPYING = frozenset(
    "__copy__ __getstate__ __new__ __reduce__ __reduce_ex__ __setstate__ __slots__".split()
)


def is_made_of_fields(value: Any) -> bool:
    """Return whether `copy.copy` of an object makes an object of its class, without a call of the
    user's code, and gives it the same fields in its ``__dict__``."""
    cls: Any = type(value)
    return (
        is_plain_object(value)
        and type(cls) is type
        and fields_of(value) is not None
        and not any(_OF_COPYING & vars(base).keys() for base in cls.__mro__[:-1])
    )


def object_of(cls: type, names: tuple[str, ...], *values: Any) -> Any:
    """Return a new object of a class with these fields, without a call of ``__init__``."""
    made: Any = object.__new__(cls)
    for name, value in zip(names, values, strict=True):
        object.__setattr__(made, name, value)
    return made


substitute(object_of)(object_of)  # followed in its own place
