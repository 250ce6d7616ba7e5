"""Values that carry a derivative, put where reads are not followed: refused, never lost."""

import builtins
import math
import sys
import types
from unittest import mock

import numpy as np
import pytest
import traitlets
from scipy import optimize

import adjoint as ad
from adjoint.runtime.memory.saved_arrays import save_array
from adjoint.testing import check_gradient

CONFIG = types.ModuleType("config_of_the_test")
CONFIG.k, CONFIG.table = 2.0, {"a": 1.0}


@pytest.fixture(autouse=True)
def module(monkeypatch):
    monkeypatch.setitem(sys.modules, CONFIG.__name__, CONFIG)
    yield
    for owner, name in ((math, "zz"), (np, "zz")):
        assert not hasattr(owner, name)


def new_constant(x):
    math.zz = x * x
    return math.zz * x


def new_number_of_numpy(x):
    setattr(np, "zz", x * x)  # noqa: B010
    return np.zz * x


def patched(x):
    with mock.patch("math.tau", x):
        return math.tau * x


@pytest.mark.parametrize("f", [new_constant, new_number_of_numpy, patched])
def test_refused(f):
    with pytest.raises(ad.AdjointError) as info:
        ad.gradient(f, 1.3)
    assert info.value.hint
    assert math.tau == 2.0 * math.pi


def exchanged(x):
    with mock.patch("builtins.len", lambda xs: 7):
        return len([x]) * x


def exchanged_in_the_module(x):
    with mock.patch.object(builtins, "sum", lambda xs: 7):
        return sum([x]) * x


def exchanged_among_several(x):
    with mock.patch.multiple("builtins", max=lambda *xs: 7):
        return max(x, 2.0) * x


def exchanged_by_hand(x):
    before, builtins.len = len, lambda xs: 7
    try:
        return len([x]) * x
    finally:
        builtins.len = before


@pytest.mark.parametrize(
    "f", [exchanged, exchanged_in_the_module, exchanged_among_several, exchanged_by_hand]
)
def test_builtins_that_the_library_calls_are_not_exchanged(f):
    before = dict(vars(builtins))
    with pytest.raises(ad.AdjointError, match=r"builtins\.\w+' is exchanged"):
        ad.gradient(f, 1.3)
    assert vars(builtins) == before


def test_what_reads_and_prints_may_be_exchanged():
    def f(x):
        with mock.patch("builtins.open", mock.mock_open(read_data="3.0")):
            with open("numbers") as file, mock.patch("builtins.print") as shown:
                print(x)
                return float(file.read()) * x * shown.call_count

    def g(x):
        with mock.patch("builtins.input", return_value="4.0"):
            return float(input()) * x

    assert ad.gradient(f, 2.0) == (3.0,) and ad.gradient(g, 2.0) == (4.0,)


def test_what_is_assigned_to_a_module_of_ones_own():
    def f(x):
        before, CONFIG.k = CONFIG.k, x * x
        y = CONFIG.k * x
        CONFIG.k = before
        return y

    assert ad.gradient(f, 2.0) == (12.0,)


class Noting(float):
    """Its special methods, whose results have no derivative, note what they were asked of."""

    def __bool__(self):
        noted.append(self * self)
        return True

    def __len__(self):
        noted.append(self * self)
        return 1

    def __str__(self):
        noted.append(self * self)
        return "noting"

    def __hash__(self):
        noted.append(self * self)
        return 1

    def __format__(self, spec):
        noted.append(self * self)
        return "noting"

    def __index__(self):
        noted.append(self * self)
        return 1

    def __lt__(self, other):
        noted.append(self * self)
        return float(self) < float(other)

    __repr__ = __str__


noted = []


@pytest.mark.parametrize(
    "ask",
    [
        lambda v: 1 if v else 2,
        lambda v: not v,
        bool,
        len,
        str,
        repr,
        hash,
        lambda v: f"{v}",
        lambda v: f"{v!r:>10}",
        lambda v: "%s" % v,
        lambda v: "{}".format(v),
        lambda v: "".join(map(str, [v])),
        lambda v: any([v]),
        lambda v: [*filter(None, [v])],
        lambda v: sorted([v, v]),
        lambda v: range(v),
    ],
)
def test_what_a_number_notes_of_itself_is_not_lost(ask):
    def f(x):
        noted.clear()
        ask(Noting(x))
        return sum(noted)

    noted_before = f(1.3)
    assert noted_before > 0
    try:
        y, back = ad.pullback(f, 1.3)
        assert y == noted_before and ad.gradient(lambda x: (f(x), x)[1], 1.3) == (1.0,)
        (x_bar,) = back(1.0)[1:]
    except ad.AdjointError as error:
        assert error.hint and error.filename == __file__
    else:
        assert x_bar == pytest.approx(2 * noted_before / 1.3)


def test_arrays_that_are_lent_for_a_call_are_not_kept():
    """Their memory may be gone when the call is; who looks at it later reads and writes what is
    somebody else's."""
    lent, kept = [], []

    def residual(u):
        lent.append(u.base is None and not u.flags.owndata)
        kept.append(save_array(u))
        return u * u - 2.0

    optimize.root(residual, [1.0])
    assert [bool(one) for one in kept] == [not is_lent for is_lent in lent]

    def f(x):
        calls = []

        def residual(u):
            calls.append(1.0)
            return u * u - held[0]

        held = [x]
        return optimize.root(residual, [1.0]).x[0] * x

    for _ in range(20):
        np.testing.assert_allclose(ad.grad(f)(2.0), 1.5 * 2.0**0.5, rtol=1e-6)


class Restored(np.ndarray):
    """A view of one puts back into it what it has kept."""

    def __array_finalize__(self, other):
        if type(other) is Restored:
            other.flat = other.kept


class RestoredPart(np.ndarray):
    def __array_finalize__(self, other):
        if type(other) is RestoredPart:
            other.real = other.kept


@pytest.mark.parametrize("kind", [Restored, RestoredPart])
def test_elements_that_an_attribute_stands_for_may_be_put_there_again(kind):
    """Nothing differs then: a derivative in what they were would be wrong."""

    def f(v, kept):
        w = np.ndarray.view(v * 2.0, kind)
        w.kept = kept
        w.view(kind)
        return np.sum(np.asarray(w) * v)

    with pytest.raises(ad.AdjointError):
        ad.gradient(f, np.array([1.5, 2.0]), np.array([3.0, 4.0]))


# ---- modules -------------------------------------------------------------------------------------


def imported_by_name(x):
    CONFIG.k = x * x
    from config_of_the_test import k

    return k * x


def imported_by_a_callee(x):
    def product():
        from config_of_the_test import k as found
        from config_of_the_test import table

        return found * len(table)

    CONFIG.k = x * x
    return product() * x


def computed_by_the_module(x):
    CONFIG.k = x * x
    from config_of_the_test import twice

    return twice * CONFIG.twice * x + getattr(CONFIG, "thrice", 2.0)


@pytest.mark.parametrize(
    "f", [imported_by_name, imported_by_a_callee, computed_by_the_module], ids=lambda f: f.__name__
)
def test_variables_of_modules_carry_derivatives(f, monkeypatch):
    monkeypatch.setattr(CONFIG, "k", 2.0)

    def made(name):
        if name != "twice":
            raise AttributeError(name)
        return CONFIG.k * 2.0

    monkeypatch.setattr(CONFIG, "__getattr__", made, raising=False)
    check_gradient(f, 1.3, modes=("reverse", "forward"))


def test_a_name_that_is_not_there():
    def f(x):
        try:
            from config_of_the_test import missing
        except ImportError:
            return x * x
        return missing

    assert ad.gradient(f, 1.3) == (2.6,)

    def g(x):
        from os import path

        return x * len(path.join("a", "b"))

    assert ad.gradient(g, 1.3) == (3.0,)


# ---- objects of traitlets ------------------------------------------------------------------------


class Spring(traitlets.HasTraits):
    v = traitlets.Float(2.0)
    k = traitlets.Float()
    s = 1.0

    @traitlets.default("k")
    def _default(self):
        return self.s * 2.0

    @traitlets.validate("v")
    def _validated(self, proposal):
        return min(proposal["value"] * 2.0, 100.0)


def test_traits_carry_derivatives():
    def f(x):
        spring = Spring()
        spring.s = x * x
        for _ in range(2):
            spring.v = spring.v * spring.k * x
        return spring.v

    check_gradient(f, 0.8, modes=("reverse", "forward"))


# ---- text ----------------------------------------------------------------------------------------


GENERATOR = "def g():\n  yield from [x * x]\ny = 0.0\nfor v in g(): y = y + v"
"""It reads a global variable when it is asked, after the call that has made it."""


def test_a_generator_that_cannot_be_read():
    def f(x):
        names = {"x": x}
        exec(GENERATOR, names)
        return names["y"] * x

    for derivative in (lambda: ad.gradient(f, 1.5), lambda: ad.derivative(f)(1.5)):
        with pytest.raises(ad.AdjointError, match="'g' may store something"):
            derivative()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("try:\n  y = x * x\nexcept ValueError:\n  y = 0.0", "text is run by 'exec'"),
        ("with __import__('contextlib').nullcontext(x * x) as y: pass", "text is run by 'exec'"),
        ("match {'k': x * x}:\n  case {'k': a}: y = a", "text is run by 'exec'"),
        ("from config_of_the_test import *\ny = k", "text is run by 'exec'"),
    ],
)
def test_text_that_cannot_be_read(text, words):
    """Nobody sees what it puts under which name."""

    def f(x):
        CONFIG.k = x * x
        names = {"x": x}
        exec(text, names)
        return names["y"] * x

    for derivative in (lambda: ad.gradient(f, 1.5), lambda: ad.derivative(f)(1.5)):
        with pytest.raises(ad.AdjointError, match=f"{words}.* cannot be read"):
            derivative()


def test_text_that_can_be_read():
    def f(x):
        names = {"x": x}
        exec("y = x * x", names)
        return names["y"] * x

    check_gradient(f, 1.5, modes=("reverse", "forward"))
