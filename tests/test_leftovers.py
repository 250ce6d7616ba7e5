"""What a call leaves behind: nothing of its arguments, and of functions only what is in use."""

import contextlib
import functools
import gc
import linecache
import weakref

import numpy as np
import pytest

import adjoint as ad
from adjoint.runtime.cache import unit_cache


class Dictionary(dict):
    """That can be referred to weakly, as `Row` and `Model` can."""


class Row(list):
    pass


class Model:
    def __init__(self, w):
        self.w = w

    def __call__(self, x):
        return ((self.w * x) ** 2).sum()

    def method(self, x):
        return self(x) + self.w.sum()


def array():
    return np.linspace(1.0, 2.0, 20)


def squares(x, *others):
    return (x**2).sum()


def of_elements(x, y):
    total = 0.0
    for i in range(len(x)):
        total = total + x[i] * y[i]
    return total


def written(x):
    y = np.zeros_like(x)
    y[:] = x
    y *= x
    return y.sum()


def handled(x):
    try:
        return float((x * x).sum())
    except ValueError:
        return 0.0


def raising(x):
    raise ValueError(x.sum())


def asynchronous(x):
    async def inner():
        pass

    return (x**2).sum()


def nested(x):
    return ad.gradient(lambda v: (v * x).sum(), x)[0].sum() + squares(x)


def unknown(x):
    return np.frombuffer(x.tobytes()).sum()


def closure(a):
    return lambda x: ((a * x) ** 2).sum()


def with_default(a):
    return lambda x, y=a: ((x * y) ** 2).sum()


CALLS = {
    "arrays": lambda: (squares, array(), array(), Model(array())),
    "a view": lambda: (squares, array()[::2]),
    "elements": lambda: (of_elements, array(), array()),
    "writes": lambda: (written, array()),
    "exceptions": lambda: (handled, array()),
    "raises": lambda: (raising, array()),
    "not supported": lambda: (asynchronous, array()),
    "nested": lambda: (nested, array()),
    "unknown": lambda: (unknown, array()),
    "a list": lambda: (lambda row: sum(v.sum() for v in row), Row([array(), array()])),
    "a dict": lambda: (lambda d: sum(v.sum() for v in d.values()), Dictionary(a=array())),
    "an object": lambda: (lambda m: m(m.w), Model(array())),
    "a callable object": lambda: (Model(array()), array()),
    "a method": lambda: (Model(array()).method, array()),
    "a partial": lambda: (functools.partial(squares, array()), array()),
    "a closure": lambda: (closure(array()), array()),
    "a default": lambda: (with_default(array()), array()),
    "parameters": lambda: (lambda m: sum(p.sum() for p in ad.nn.parameters(m)), Model(array())),
}

OPERATORS = {
    "gradient": lambda f, args: ad.gradient(f, *args),
    "pullback": lambda f, args: ad.pullback(f, *args)[1](1.0),
    "value_and_grad": lambda f, args: ad.value_and_grad(f)(*args),
    "generic tier": lambda f, args: ad.grad(f, tier="generic")(*args),
    "forward mode": lambda f, args: ad.pushforward(f, args[:1], ad.gradient(f, *args)[:1]),
    "hvp": lambda f, args: ad.hvp(lambda x: f(x, *args[1:]), args[0], ad.gradient(f, *args)[0]),
    "tier": lambda f, args: ad.tier(f, *args),
    "code": lambda f, args: ad.code(f, *args),
}


def references(parts):
    """To all that stands in the arguments of a call, and in what its function has captured."""
    found = []
    for part in parts:
        if isinstance(part, np.ndarray | Model | Row | Dictionary):
            found.append(weakref.ref(part))
        if isinstance(part, list | tuple):
            found += references(part)
        elif isinstance(part, dict):
            found += references(part.values())
        elif isinstance(part, Model):
            found += references([part.w])
        elif isinstance(part, functools.partial):
            found += references(part.args)
        elif hasattr(part, "__self__"):
            found += references([part.__self__])
        elif hasattr(part, "__closure__"):
            found += references([cell.cell_contents for cell in part.__closure__ or ()])
            found += references(part.__defaults__ or ())
    return found


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("name", CALLS)
def test_nothing_of_a_call_is_kept(name, operator):
    """The first call makes a program, the second one runs it; neither keeps what it was given."""
    for _ in range(2):
        f, *args = CALLS[name]()
        found = references([f, *args])
        with contextlib.suppress(ValueError, TypeError, ad.AdjointError):
            OPERATORS[operator](f, tuple(args))
        del f, args
        gc.collect()
        assert found and not [one() for one in found if one() is not None]


def made():
    """A function of its own module, with a class and data."""
    names = {"np": np, "data": np.ones(4)}
    text = """
class Model:
    def __init__(self, w):
        self.w = w

    def __call__(self, v):
        return np.sum(self.w * v)

def g(v):
    return 2.0 * v

def f(v):
    return np.sum(g(v) * data) + Model(v)(v)
"""
    exec(text, names)
    return names["f"]


def unsupported():
    names = {"np": np, "data": np.ones(4)}
    exec("def f(v):\n  try: return np.sum(v * data)\n  finally: pass", names)
    return names["f"]


MADE = {
    "gradient": (made, lambda f, x: ad.gradient(f, x)),
    "generic tier": (made, lambda f, x: ad.grad(f, tier="generic")(x)),
    "forward mode": (made, lambda f, x: ad.pushforward(f, (x,), (x,))),
    "hessian": (made, lambda f, x: ad.hessian(f, x)),
    "not supported": (unsupported, lambda f, x: ad.gradient(f, x)),
}


@pytest.fixture
def little_room(monkeypatch):
    from adjoint.fast.programs import store as tier

    monkeypatch.setattr(unit_cache, "NEW_UNITS", 20)
    monkeypatch.setattr(tier, "MOST_FUNCTIONS", 40)
    for cache in unit_cache.CACHES:
        cache._drop_unused()
        cache._drop_unused()  # what earlier tests have used lately, too
        monkeypatch.setattr(cache, "_room", 20)


@pytest.mark.parametrize("name", MADE)
def test_functions_that_are_gone_are_forgotten(name, little_room):
    make, operator = MADE[name]
    x, counts = np.ones(4), []
    f = make()
    gone = [weakref.ref(f), weakref.ref(f.__code__), weakref.ref(f.__globals__["data"])]
    for _ in range(5):
        for _ in range(50):
            with contextlib.suppress(ad.AdjointError):
                operator(f, x)
            f = make()
        gc.collect()
        counts.append((len(gc.get_objects()), len(linecache.cache)))
    assert [one() for one in gone] == [None] * len(gone)
    objects, texts = zip(*counts, strict=True)
    # every other round: what is kept at the end of one alternates with the room that is left
    assert objects[4] - objects[2] < 500 and texts[4] - texts[2] < 20


def test_functions_in_use_are_kept(little_room):
    """Their units outlive any number of others; closures of one code share theirs."""
    from adjoint.runtime.cache.units import known_unit

    x = np.ones(4)

    def scaled(by):
        return lambda v: np.sum(v * v * by)

    first = scaled(1.0)
    ad.grad(first, tier="generic")(x)
    unit = known_unit(first)
    for _ in range(100):
        again = scaled(2.0)
        assert ad.grad(again, tier="generic")(x).tolist() == [4.0] * 4
        assert known_unit(again) is unit
        ad.grad(made(), tier="generic")(x)
