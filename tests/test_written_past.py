"""What C writes past the ``__setitem__`` of a class of its own, and reads past its
``__getitem__``."""

import copy

import numpy as np
import pytest

from adjoint.testing import check_gradient

V = np.array([1.31, 0.72])


class TimesTen(np.ndarray):
    def __setitem__(self, index, value):
        super().__setitem__(index, np.asarray(value) * 10.0)


class TenTimes(np.ndarray):
    def __getitem__(self, index):
        return np.asarray(super().__getitem__(index)) * 10.0


WRITES = {
    "put": lambda a, v: a.put([0, 1], v[::-1]),
    "np.put": lambda a, v: np.put(a, [1], v[0]),
    "an item of flat": lambda a, v: a.flat.__setitem__(0, v[1]),
    "flat": lambda a, v: setattr(a, "flat", v[::-1]),
    "copyto": lambda a, v: np.copyto(a, v[::-1]),
    "copyto, where": lambda a, v: np.copyto(a, v[::-1], where=[True, False]),
    "putmask": lambda a, v: np.putmask(a, [True, False], v[1]),
    "place": lambda a, v: np.place(a, [True, False], [v[1]]),
    "fill_diagonal": lambda a, v: np.fill_diagonal(a.reshape(2, 1), v[1]),
    "add.at": lambda a, v: np.add.at(a, [0, 0], v),
    "setfield": lambda a, v: a.setfield(v[1], float),
    "fill": lambda a, v: a.fill(v[1]),
    "item": lambda a, v: np.asarray(a).__setitem__(0, a.item(1) * v[0]),
    "sort": lambda a, v: a.sort(),
    "partition": lambda a, v: a.partition(1),
    "real": lambda a, v: setattr(a, "real", v[::-1] * v),
}


@pytest.mark.parametrize("kind", [TimesTen, TenTimes])
@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_past_the_class(write, kind):
    def f(v):
        a = (v * 1.0).view(kind)
        write(a, v)
        a = np.asarray(a)
        return np.sum(a) + np.sum(a * np.array([1.0, 3.0])) * a[1]

    check_gradient(f, V, modes=("reverse", "forward"))


def test_a_mask_of_another_shape():
    def f(v):
        o = v * 1.0
        np.putmask(o.reshape(2, 2), v > 1.0, 5.0)
        return np.sum(o * v)

    check_gradient(f, np.array([0.7, 1.3, 0.2, 1.1]), modes=("reverse", "forward"))


class Doubles:
    __slots__ = ("a",)

    def __init__(self, a):
        object.__setattr__(self, "a", a)

    def __setattr__(self, name, value):
        object.__setattr__(self, name, value * 2.0)


@pytest.mark.parametrize("made", [copy.copy, copy.deepcopy])
def test_a_copy_sets_slots_as_python_does(made):
    check_gradient(lambda x: made(Doubles(x)).a * x, 0.7, modes=("reverse", "forward"))
