"""Attributes of objects of C in pandas, and what properties do with those of Python."""

from __future__ import annotations

from types import GetSetDescriptorType, MemberDescriptorType
from typing import Any

from adjoint.rulekit.registry import primitive, substitute
from adjoint.runtime.memory.memory import Memory

_KEPT = (GetSetDescriptorType, MemberDescriptorType)


def register(pandas: Any) -> None:
    """Register the rules of attributes of blocks, managers, indexers, series and frames."""
    from pandas._libs import indexing, internals, properties
    from pandas.core.internals import blocks

    for owner in (internals.BlockManager, internals.Block, indexing.NDFrameIndexerBase):
        for name, attribute in vars(owner).items():
            if type(attribute) in _KEPT and name != "values":
                _kept_as_it_is(owner, name)
    _kept_as_it_is(blocks.Block, "dtype")
    frame, series = pandas.DataFrame, pandas.Series
    for owner, name in ((frame, "columns"), (frame, "index"), (series, "index")):
        _kept_as_it_is(owner, name)
    _cached(properties)


def is_hiding(memory: Memory, block: Any) -> bool:
    """Whether C has made it of something active, on a level."""
    level = memory.level
    return level is not None and any(one.holds(block) for one in level.down())


def _kept_as_it_is(owner: Any, name: str) -> None:
    """An attribute of C that is the very thing that was put there, not made of anything."""

    @primitive((owner, name))
    def read(record: list[Any], slot: int, obj: Any) -> Any:
        return NotImplemented if is_hiding(record[0], obj) else getattr(obj, name)


def _cached(properties: Any) -> None:
    """Properties that keep what they have found once, and those that set an axis."""

    @substitute((properties.cache_readonly, "__get__"))
    def filled(self, obj, kind):
        if obj is None:
            return self
        cache = getattr(obj, "_cache", None)
        if cache is None:
            try:
                cache = obj._cache = {}
            except AttributeError:
                return self
        if self.name not in cache:
            cache[self.name] = self.fget(obj)
        return cache[self.name]

    @substitute((properties.AxisProperty, "__set__"))
    def set_axis(self, obj, value):
        obj._set_axis(self.axis, value)
