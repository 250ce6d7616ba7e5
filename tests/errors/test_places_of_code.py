"""What a derivative is, and what is refused, does not depend on where a function lies: in a folder
of the user's, installed, in an archive, in a notebook; nor on the name of its module."""

from __future__ import annotations

import importlib
import linecache
import sys
import types
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import adjoint as ad

TEXT = '''
import weakref
import numpy as np
from scipy.optimize import _minpack
import adjoint as ad

seen = []
held = {"total": 0.0}
last = 0.0


def solved(residual):
    """A root by code in C, which calls back."""
    return _minpack._hybrd(residual, np.ones(1), (), 1, 1e-8, 400, -10, -10, 1e-16, 100, None)[0][0]


def keeps(x):
    seen.append(x)
    return x**3


def by_an_operator(x):
    return ad.gradient(keeps, x)[0] * seen[-1]


def looked_at(x):
    seen[:] = [x * x]
    return solved(lambda z: z - seen[0]) * x


def in_a_list(x):
    def residual(z):
        seen.append(x * x)
        return z - 2.0

    solved(residual)
    return seen[-1] * x


def in_a_global(x):
    def residual(z):
        global last
        last = x * x
        return z - 2.0

    solved(residual)
    return last * x


class Model:
    best = 0.0

    def residual(self, z):
        type(self).best = self.x * self.x
        return z - 2.0

    def of_class(self, z):
        return z - Model.best


def in_a_class(x):
    model = Model()
    model.x = x
    solved(model.residual)
    return Model.best * x


def of_a_class(x):
    Model.best = x * x
    return solved(Model().of_class) * x


class Swapped:
    def residual(self, z):
        self.__dict__ = {"x": self.x, "y": self.x * self.x}
        return z - 2.0


def exchanged(x):
    swapped = Swapped()
    swapped.x, swapped.y = x, 1.0
    solved(swapped.residual)
    return swapped.y * x


class Owner:
    pass


def when_it_goes(x):
    owner, out = Owner(), []
    finalizer = weakref.finalize(owner, lambda: out.append(x * x))
    del owner
    return out[-1] * x


def __getattr__(name):
    if name != "computed":
        raise AttributeError(name)
    return held["total"] * 2.0


def by_the_module(x):
    import sys

    held["total"] = x * x
    return sys.modules[__name__].computed * x


class Counted:
    def __array__(self, dtype=None, copy=None):
        seen.append(self.x * self.x)
        return np.zeros(2)


def by_a_special_method(x):
    counted = Counted()
    counted.x = x
    np.linalg.slogdet([counted, counted])
    return seen[-1] * x
'''

TIMES = {
    "by_an_operator": 3.0,
    "looked_at": 1.0,
    "in_a_list": 1.0,
    "in_a_global": 1.0,
    "in_a_class": 1.0,
    "of_a_class": 1.0,
    "exchanged": 1.0,
    "when_it_goes": 1.0,
    "by_the_module": 2.0,
    "by_a_special_method": 1.0,
}
"""How many times x³ each function is."""
MODES: dict[str, Callable[[Any], Any]] = {
    "reverse": lambda f: ad.gradient(f, 1.3)[0],
    "generic": lambda f: ad.grad(f, tier="generic")(1.3),
    "forward": lambda f: ad.pushforward(f, (1.3,), (1.0,))[1],
    "nested": lambda f: ad.gradient(lambda x: ad.gradient(f, x)[0], 1.3)[0],
}
PLACES = ["a folder", "site-packages", "dist-packages", "an archive", "a notebook", "profile"]


def module_in(place: str, folder: Path) -> types.ModuleType:
    """The module, at a place; `profile` is one of the user's that is called as one of Python's."""
    name = "profile" if place == "profile" else "somebodys_program"
    if place == "a notebook":
        module = types.ModuleType("__main__")
        linecache.cache["Cell In[1]"] = len(TEXT), None, TEXT.splitlines(True), "Cell In[1]"
        exec(compile(TEXT, "Cell In[1]", "exec"), vars(module))
        return module
    at = folder / "lib" / place
    at.mkdir(parents=True)
    if place == "an archive":
        at = at / "site-packages.zip"
        with zipfile.ZipFile(at, "w") as archive:
            archive.writestr(f"{name}.py", TEXT)
    else:
        (at / f"{name}.py").write_text(TEXT, encoding="utf-8")
    before = sys.modules.pop(name, None)
    sys.path.insert(0, str(at))
    importlib.invalidate_caches()
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(at))
        del sys.modules[name]
        if before is not None:
            sys.modules[name] = before


@pytest.fixture(scope="module")
def modules(tmp_path_factory: pytest.TempPathFactory) -> dict[str, types.ModuleType]:
    return {place: module_in(place, tmp_path_factory.mktemp("code")) for place in PLACES}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", TIMES)
def test_it_is_right_or_refused(
    modules: dict[str, types.ModuleType], name: str, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: dict[str, Any] = {}
    for place, module in modules.items():
        monkeypatch.setitem(sys.modules, module.__name__, module)
        f = getattr(module, name)
        assert mode != "reverse" or f(1.3) == pytest.approx(TIMES[name] * 1.3**3)
        try:
            found[place] = MODES[mode](f)
        except ad.AdjointError as error:
            found[place] = type(error), error.problem
    right = TIMES[name] * (6 * 1.3 if mode == "nested" else 3 * 1.3**2)
    first = found["a folder"]
    assert isinstance(first, tuple) or first == pytest.approx(right)
    assert found == dict.fromkeys(PLACES, first)


def test_a_package_beside_this_one_may_begin_with_its_name() -> None:
    """``adjoint_of_somebody`` beside ``adjoint`` is the user's."""
    beside = str(Path(ad.__file__).parent) + "_of_somebody.py"
    linecache.cache[beside] = len(TEXT), None, TEXT.splitlines(True), beside
    module = types.ModuleType("adjoint_of_somebody")
    exec(compile(TEXT, beside, "exec"), vars(module))
    for name in ("looked_at", "in_a_list"):
        with pytest.raises(ad.AdjointError) as caught:
            ad.gradient(getattr(module, name), 1.3)
        assert caught.value.filename == beside
