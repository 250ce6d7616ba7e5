"""Arguments that hold numbers in fields of C: exceptions show their cotangents, others say that
they cannot."""

import types

import numpy as np
import pytest

import adjoint as ad
from adjoint.errors import ArgumentError, NoDerivativeError


class Stopped(SystemExit):
    def __init__(self, code, factor):
        super().__init__(code)
        self.factor = factor


class Slotted:
    __slots__ = ("a",)


class Open(Slotted):
    pass


def opened():
    made = Open()
    made.a, made.b = 3.0, 2.0
    return made


def with_cause():
    error = ValueError(2.0)
    error.__cause__ = KeyError(3.0)
    return error


def in_reverse(f, *args):
    """The gradient by both tiers."""
    found = ad.gradient(f, *args)
    generic = ad.grad(f, argnums=tuple(range(len(args))), tier="generic")(*args)
    return found, generic


def test_fields_of_exceptions():
    for bar in (b[0] for b in in_reverse(lambda e: e.code**2, SystemExit(3.0))):
        assert type(bar) is ad.Tangent and bar.code == 6.0
    for bar in (b[0] for b in in_reverse(lambda e: e.args[0] ** 2, ValueError(3.0))):
        assert bar.args == (6.0,)
    bar = ad.gradient(lambda e: e.code * e.factor * e.args[0], Stopped(3.0, 2.0))[0]
    assert (bar.code, bar.factor, bar.args) == (6.0, 9.0, (6.0,))
    bar = ad.gradient(lambda e: e.value @ e.value, StopIteration(np.array([1.0, 2.0])))[0]
    assert bar.value.tolist() == bar.args[0].tolist() == [2.0, 4.0]
    bar = ad.gradient(lambda e: e.filename * e.errno, OSError(2, "text", 3.0))[0]
    assert (bar.filename, bar.errno) == (2.0, 3.0)
    bar = ad.gradient(lambda e: e.exceptions[0].args[0] ** 2, ExceptionGroup("", [KeyError(3.0)]))
    assert bar[0].exceptions[0].args == (6.0,)


def test_exceptions_that_are_held():
    error = SystemExit(3.0)
    assert ad.gradient(lambda d: d["a"].code ** 2, {"a": error})[0]["a"].code == 6.0
    assert ad.pullback(lambda v: error.code * v, 2.0)[1](1.0)[0].error.code == 2.0
    assert ad.gradient(lambda v: error.code * v, 2.0) == (3.0,)


def test_exceptions_that_are_changed():
    def changed(error, v):
        error.code = error.code * v
        return error.code * error.args[0]

    error = SystemExit(3.0)
    bar, v_bar = ad.gradient(changed, error, 2.0)
    assert (bar.code, bar.args, v_bar, error.code) == (6.0, (6.0,), 9.0, 6.0)


def test_exceptions_in_forward_mode():
    error = SystemExit(3.0)
    assert ad.pushforward(lambda e: e.code**2, (error,), ({"code": 2.0},)) == (9.0, 12.0)
    assert ad.pushforward(lambda e: e.args[0] ** 2, (error,), ({"args": (2.0,)},)) == (9.0, 12.0)
    assert (error.code, error.args) == (3.0, (3.0,))
    assert ad.jacobian(ad.grad(lambda e: e.code**3), error).code.code == 18.0
    y, y_dot = ad.pushforward(lambda v: Stopped(v * v, v), (3.0,), (1.0,))
    assert (y.code, y_dot.code, y_dot.factor) == (9.0, 6.0, 1.0)


def test_exceptions_are_not_copied():
    for held in (SystemExit(3.0), {"a": [SystemExit(3.0)]}):
        f = (lambda e: e.code**3) if type(held) is SystemExit else lambda d: d["a"][0].code ** 3
        with pytest.raises(ArgumentError, match="a SystemExit that holds numbers"):
            ad.hessian(f, held)
        with pytest.raises(ArgumentError, match="a SystemExit that holds numbers"):
            ad.vhp(f, held, None)
    assert ad.hessian(lambda d: d["b"] ** 3, {"a": KeyError("text"), "b": 1.0})["b"]["b"] == 6.0


def test_exceptions_that_are_returned():
    _, back = ad.pullback(lambda v: Stopped(v * v, v**3), 2.0)
    assert back({"args": (1.0,)}) == (None, 4.0)
    assert back(ad.Tangent(Stopped, {"args": (1.0,), "factor": 1.0})) == (None, 16.0)
    with pytest.raises(NoDerivativeError, match="the field 'code' of a 'Stopped'"):
        back({"code": 1.0})


def test_slots_beside_fields():
    for (bar,) in in_reverse(lambda o: o.a**2 + o.b, opened())[:1]:
        assert (bar.a, bar.b) == (6.0, 1.0)
    bar = ad.grad(lambda o: o.a**2 + o.b, tier="generic")(opened())
    assert (bar.a, bar.b) == (6.0, 1.0)
    assert ad.grad(lambda o: o.b)(opened()).a == 0.0
    empty = Slotted()
    empty.a = 3.0
    assert ad.grad(lambda _: 1.0)(empty).a == 0.0


HOLDING = {
    "slice": (slice(3.0, 4.0), lambda s: s.start * s.stop),
    "cell": (types.CellType(3.0), lambda c: c.cell_contents**2),
    "memoryview": (memoryview(np.ones(3)), lambda m: m.obj[0] ** 2),
    "flatiter": (np.ones(3).flat, lambda flat: flat[0] ** 2),
    "ValueError": (with_cause(), lambda e: e.__cause__.args[0] ** 2),
}


@pytest.mark.parametrize("kind", HOLDING)
def test_what_cannot_be_shown_is_refused(kind):
    held, f = HOLDING[kind]
    with pytest.raises(ArgumentError, match=f"in what a {kind} holds is needed"):
        ad.gradient(f, held)
    with pytest.raises(ArgumentError, match=f"in what a {kind} holds is needed"):
        ad.grad(f, tier="generic")(held)
    with pytest.raises(ArgumentError, match=f"a {kind} has no tangent|does not fit"):
        ad.pushforward(f, (held,), ({"a": 1.0},))
    assert ad.gradient(lambda held, v: v * v, held, 3.0)[1] == 6.0


def test_what_an_unknown_function_raises():
    made = {}
    exec(
        "class Failed(Exception):\n"
        "    pass\n"
        "def careful(v):\n"
        "    try:\n"
        "        return [][0]\n"
        "    except IndexError:\n"
        "        raise Failed(v * v, [v * v])\n",
        made,
    )
    careful, failed = made["careful"], made["Failed"]

    def f(v, read):
        try:
            careful(v)
        except failed as error:
            return read(error.args) * v

    for read in (lambda args: args[0], lambda args: args[1][0]):
        with pytest.raises(NoDerivativeError, match="is needed"):
            ad.gradient(lambda v: f(v, read), 3.0)  # noqa: B023
        with pytest.raises(NoDerivativeError, match="is needed"):
            ad.pushforward(lambda v: f(v, read), (3.0,), (1.0,))  # noqa: B023
        with pytest.raises(NoDerivativeError, match="is needed"):
            ad.hessian(lambda v: f(v, read), 3.0)  # noqa: B023
    assert ad.gradient(lambda v: f(v, len), 3.0) == (2.0,)


def test_keys_in_an_iterator_are_refused():
    def f(v):
        try:
            return list(map({}.__getitem__, [v]))
        except KeyError as error:
            return error.args[0] * v

    with pytest.raises(NoDerivativeError, match="of what a 'KeyError' holds is needed"):
        ad.gradient(f, 3.0)
    assert ad.pushforward(f, (3.0,), (1.0,)) == (9.0, 6.0)
