"""Attributes that C makes: by class methods of properties, and by descriptors of nobody's."""

import ctypes
import sys

import numpy as np
import pytest

import adjoint as ad
from adjoint.errors import NoDerivativeError
from adjoint.testing import check_gradient


class Pair:
    def __init__(self, x):
        self.x = x
        self.kept = [1.0, 2.0]


class _Definition(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p), ("get", ctypes.c_void_p), ("set", ctypes.c_void_p),
        ("doc", ctypes.c_char_p), ("closure", ctypes.c_void_p),
    ]  # fmt: skip


_GETTER = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object, ctypes.c_void_p)
_new_getset = ctypes.pythonapi.PyDescr_NewGetSet
_new_getset.restype = ctypes.py_object
_new_getset.argtypes = [ctypes.py_object, ctypes.POINTER(_Definition)]
_held = []


def _getset(cls, name, get):
    getter = _GETTER(lambda obj, _: get(obj))
    definition = _Definition(name.encode(), ctypes.cast(getter, ctypes.c_void_p))
    _held.extend([getter, definition])
    setattr(cls, name, _new_getset(cls, ctypes.byref(definition)))


_getset(Pair, "as_number", lambda pair: pair.x * 2.0)
_getset(Pair, "as_list", lambda pair: [pair.x, pair.x**2])
_getset(Pair, "as_dict", lambda pair: {"square": pair.x**2})
_getset(Pair, "as_array", lambda pair: np.array([pair.x]))
_getset(Pair, "as_it_is", lambda pair: pair.kept)

MADE = {
    "a number": lambda v: Pair(v).as_number,
    "a list": lambda v: Pair(v).as_list[1],
    "a dict": lambda v: Pair(v).as_dict["square"],
    "an array": lambda v: Pair(v).as_array[0],
    "a list that is unpacked": lambda v: sum(Pair(v).as_list),
    "a list that is iterated": lambda v: sum([x * x for x in Pair(v).as_list]),
}


@pytest.mark.parametrize("f", MADE.values(), ids=MADE)
def test_what_descriptors_of_c_make_is_refused(f):
    with pytest.raises(NoDerivativeError, match="a derivative of 'getattr' is needed"):
        ad.gradient(f, 1.5)
    with pytest.raises(NoDerivativeError, match="a derivative of 'getattr' is needed"):
        ad.pushforward(f, (1.5,), (1.0,))


def test_what_holds_no_derivative_is_constant():
    check_gradient(lambda v: Pair(v).as_it_is[1] * v + Pair(3.0).as_list[1] * v * v, 1.5)


class Scaled:
    scale = 1.0

    @classmethod
    @property
    def square(cls):
        return cls.scale**2

    @classmethod
    @property
    def powers(cls):
        return [cls.scale, cls.scale**2]


CHAINED = {
    "a number": lambda cls: cls.square,
    "a number, of an object": lambda cls: cls().square,
    "a list": lambda cls: cls.powers[0] * cls.powers[1],
    "a list, of an object": lambda cls: cls().powers[0] * cls().powers[1],
}


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="class methods wrap functions only")
@pytest.mark.parametrize("read", CHAINED.values(), ids=CHAINED)
def test_class_methods_of_properties(read):
    def f(v):
        class Mine(Scaled):
            pass

        Mine.scale = 2.0 * v
        return read(Mine) * v

    check_gradient(f, 1.5)
