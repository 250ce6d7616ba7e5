"""What `node` makes of a class: a frozen dataclass with slots."""

import copy
import pickle
from dataclasses import FrozenInstanceError, field, fields, replace

import pytest

from adjoint.ir.node import node


@node
class Point:
    """A point."""

    x: float
    y: float = 0.0
    label: str = field(default="", compare=False)

    def moved(self):
        return replace(self, x=self.x + 1.0)


@node(eq=False)
class Unique:
    x: float


@node
class Named(Point):
    name: str = ""

    def __repr__(self):
        return self.name


@node
class Empty:
    pass


def test_instances_compare_and_hash_by_their_fields():
    a, b = Point(1.0, label="a"), Point(1.0, 0.0, "b")
    assert a == b and hash(a) == hash(b) and len({a, b, Point(2.0)}) == 2
    assert Point(1.0) != (1.0, 0.0) and Point(1.0) != Named(1.0) and Empty() == Empty()
    assert Unique(1.0) != Unique(1.0)


def test_text_and_constructor():
    assert repr(Point(1.0)) == "Point(x=1.0, y=0.0, label='')" and repr(Empty()) == "Empty()"
    assert repr(Named(1.0, name="p")) == "p"
    assert Point.__doc__ == "A point." and Point.__init__.__qualname__ == "Point.__init__"
    with pytest.raises(TypeError, match="x"):
        Point()


def test_instances_are_frozen_and_have_slots():
    point = Point(1.0)
    for change in (lambda: setattr(point, "x", 2.0), lambda: delattr(point, "x")):
        with pytest.raises(FrozenInstanceError, match="field 'x'"):
            change()
    assert not hasattr(point, "__dict__")
    assert [part.name for part in fields(Named)] == ["x", "y", "label", "name"]


@pytest.mark.parametrize("point", [Point(1.0, 2.0, "a"), Named(1.0, name="b"), Empty()])
def test_instances_are_copied_and_pickled(point):
    for twin in (copy.copy(point), copy.deepcopy(point), pickle.loads(pickle.dumps(point))):
        assert twin == point and repr(twin) == repr(point) and twin is not point


def test_instances_are_matched_and_replaced():
    match Point(1.0, 2.0).moved():
        case Point(x, y=y):
            assert (x, y) == (2.0, 2.0)
