"""Direct calls of the methods of slot descriptors: a write is refused, a read in reverse mode."""

import pytest

import adjoint as ad
from adjoint.errors import MutationError, NoDerivativeError
from tests.errors.test_class_creation import MODES, REVERSE


class Slotted:
    __slots__ = ("a",)

    def __init__(self, a):
        self.a = a


class Halved(Slotted):
    """A property over a slot of the class that it is derived from."""

    @property
    def a(self):
        return self._a

    @a.setter
    def a(self, value):
        Slotted.a.__set__(self, value * value)


def read(x):
    return Slotted.a.__get__(Slotted(x * x)) * x


def written(x):
    obj = Slotted(x)
    Slotted.a.__set__(obj, x * x)
    return obj.a


def written_by_a_property(x):
    return Halved(x)._a


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("f", [written, written_by_a_property])
def test_a_write_is_refused(f, mode):
    with pytest.raises(MutationError, match="^'member_descriptor.__set__', which has neither"):
        MODES[mode](f, 0.7)


@pytest.mark.parametrize("mode", MODES)
def test_a_read_is_right_or_refused(mode):
    if mode in REVERSE:
        with pytest.raises(NoDerivativeError, match="of 'member_descriptor.__get__' is needed"):
            MODES[mode](read, 0.7)
    elif mode == "pushforward":
        assert MODES[mode](read, 0.7)[1] == pytest.approx(3 * 0.7**2)
    else:
        found = MODES[mode](read, 0.7)
        assert found in (pytest.approx(6 * 0.7), (pytest.approx(6 * 0.7),))


def test_a_slot_is_deleted():
    def deleted(x):
        obj = Slotted(x)
        first = obj.a
        Slotted.a.__delete__(obj)
        return first * x if getattr(obj, "a", None) is None else x

    assert ad.gradient(deleted, 0.7) == (1.4,)
