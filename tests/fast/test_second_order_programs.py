"""Functions of NumPy and `math` in programs of tangents: how many have one, and the numbers.

A program is counted if it calls no rule whose tangent only the interpreter can find.
"""

from __future__ import annotations

import copy
import itertools
import linecache
import types
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from adjoint.fast.build import specialisation
from adjoint.fast.build.modes import mode_of
from adjoint.fast.programs import store
from tests.fast.agreeing import generic_tier
from tests.rules.harness import Case, case, name_of
from tests.rules.test_variants import _lines

LEAST = 0.9
"""The part of the functions with a program of their gradient that have both programs of tangents,
without such a call, for each line of their tables."""
KINKS = {"fabs", "copysign"}
"""Functions with lines at a point without a derivative."""
STEP = 1e-6
numbers = itertools.count()


def is_real(x: Any) -> bool:
    return type(x) is float or (
        type(x) is np.ndarray and x.dtype in (np.float64, np.float32) and x.size > 0 and x.ndim > 0
    )


def lines(kind: type) -> Iterator[tuple[str, Any, tuple[Any, ...], dict[str, Any]]]:
    """Yield name, function, arguments and keywords of calls that give a real number or an array."""
    for key, _, calls in _lines():
        function = key[0] if isinstance(key, tuple) else key
        module = str(getattr(function, "__module__", None) or type(function).__module__)
        if isinstance(function, np.ufunc) and getattr(np, function.__name__, None) is not function:
            continue
        if module.partition(".")[0] not in ("numpy", "math"):
            continue
        for call in calls:
            given, keywords, _ = call if isinstance(call, Case) else case(*call)
            args = tuple(
                x.astype(kind) if type(x) is np.ndarray and x.dtype == float else x for x in given
            )
            if any(map(is_real, args)) and "out" not in keywords:
                named = getattr(*key) if isinstance(key, tuple) else key
                yield f"{module}.{name_of(key)}", named, args, keywords


def defined(count: int, is_array: bool, function: Any, keywords: Any, weights: Any) -> Any:
    """Return a function that is not linear, in code of its own: programs are kept by code."""
    names = [f"x{i}" for i in range(count)]
    called, given = "function", names
    if isinstance(function, types.MethodDescriptorType):
        called, given = f"x0.{function.__name__}", names[1:]
    if keywords:
        given = [*given, "**keywords"]
    total = "np.sum((y + y * y) * weights)" if is_array else "y + y * y"
    text = f"def f({', '.join(names)}):\n    y = {called}({', '.join(given)})\n    return {total}\n"
    filename = f"<second order {next(numbers)}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    names_in = {"np": np, "function": function, "keywords": keywords, "weights": weights}
    namespace: dict[str, Any] = {**names_in, "__name__": __name__}
    exec(compile(text, filename, "exec"), namespace)
    return namespace["f"]


class Line:
    """A function that is not linear, with a call in it, and what the tiers say of it."""

    def __init__(self, function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> None:
        y = function(*copy.deepcopy(args), **keywords)
        rng = np.random.default_rng(5)
        weights: Any = rng.normal(size=np.shape(y))
        if isinstance(y, np.ndarray):
            weights = weights.astype(y.dtype)
        f = defined(len(args), isinstance(y, np.ndarray), function, keywords, weights)
        self.f, self.args = f, args
        self.is_covered = is_real(float(y) if isinstance(y, np.floating) else y)
        self.wanted = tuple(i for i, x in enumerate(args) if is_real(x))
        real = [y, *(args[i] for i in self.wanted)]
        self.is_precise = all(np.asarray(x).dtype == np.float64 for x in real)
        self.dots = [
            None
            if i not in self.wanted
            else rng.normal(size=x.shape).astype(x.dtype)
            if isinstance(x, np.ndarray)
            else float(rng.normal())
            for i, x in enumerate(args)
        ]
        self.gradient = ad.grad(f, self.wanted)

    def entries(self, kind: Any) -> list[Any]:
        kept = store.known(self.f, mode_of(kind, self.wanted, is_single=False))
        return [] if kept is None else kept.entries

    @property
    def has_programs(self) -> bool:
        products = self.entries("hvp")
        opaque = any("TangentsOfRule" in entry.source for entry in products)
        return bool(self.entries("pushforward")) and bool(products) and not opaque

    def pushed(self) -> Any:
        return ad.pushforward(self.f, copy.deepcopy(self.args), self.dots)

    def product(self) -> Any:
        """The gradient and its tangent, by position."""
        args = copy.deepcopy(self.args)
        found = specialised_product(self, args)
        if found is None:
            found = ad.pushforward(self.gradient, args, self.dots)
        gradient, moved = found
        moved = [None] * len(self.wanted) if moved is None else moved
        places = zip(self.wanted, moved, strict=True)
        return gradient, [np.zeros(np.shape(args[i])) if dot is None else dot for i, dot in places]

    def differences(self) -> Any:
        ends = []
        for step in (STEP, -STEP):
            moved = [
                copy.deepcopy(x) if dot is None else x + step * dot
                for x, dot in zip(self.args, self.dots, strict=True)
            ]
            ends.append(self.gradient(*moved))
        return [(np.asarray(a) - np.asarray(b)) / (2 * STEP) for a, b in zip(*ends, strict=True)]


def specialised_product(line: Line, args: tuple[Any, ...]) -> Any:
    from adjoint.fast.programs.tangents import along_of

    along = along_of("hvp", line.f, args, {}, line.wanted)
    return None if along is None else along(line.dots)


def outcome(run: Any) -> Any:
    try:
        return run()
    except AssertionError:
        raise
    except Exception as error:
        return type(error)


def fault(found: Any, expected: Any, tolerance: float) -> str | None:
    """How numbers of a program differ from those of the generic tier."""
    if isinstance(expected, type) or isinstance(found, type):
        return None if found is expected else f"{found} against {expected}"
    for a, b in zip(leaves(found), leaves(expected), strict=True):
        if np.shape(a) != np.shape(b):
            return f"{a} against {b}"
        if not np.allclose(a, b, rtol=tolerance, atol=tolerance / 10, equal_nan=True):
            return f"{a} against {b}"
    return None


def leaves(x: Any) -> list[Any]:
    return [leaf for part in x for leaf in leaves(part)] if isinstance(x, list | tuple) else [x]


def compared(line: Line, tolerance: float, is_smooth: bool = True) -> str | None:
    """How the programs differ from the generic tier, and from differences of the gradient."""
    found = outcome(line.pushed), outcome(line.product)
    with generic_tier():
        expected = outcome(line.pushed), outcome(line.product)
    for a, b in zip(found, expected, strict=True):
        wrong = fault(a, b, tolerance)
        if wrong is not None:
            return wrong
    if isinstance(found[1], type) or not (is_smooth and line.is_precise):
        return None
    for moved, slope in zip(found[1][1], line.differences(), strict=True):
        scale = 1 + float(np.max(np.abs(slope)))
        if not np.allclose(moved, slope, rtol=1e-4, atol=1e-5 * scale):
            return f"{moved} against differences {slope}"
    return None


def turn_round(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the first order in which products are derived."""
    plain = specialisation._specialised

    def specialised(ev: Any, f: Any, args: Any, mode: Any, order: str) -> Any:
        if mode.kind == "hvp" and order == specialisation.ORDERS[0]:
            raise specialisation._OtherOrder
        return plain(ev, f, args, mode, order)

    monkeypatch.setattr(specialisation, "_specialised", specialised)


@pytest.mark.parametrize(
    "kind, order, least, tolerance",
    [
        pytest.param(np.float64, None, LEAST, 1e-6, id="double"),
        pytest.param(np.float64, "reverse over forward", LEAST, 1e-6, id="turned"),
        pytest.param(np.float32, None, LEAST, 5e-3, id="single"),
    ],
)
def test_most_functions_have_programs_of_tangents(kind, order, least, tolerance, monkeypatch):
    if order is not None:
        turn_round(monkeypatch)
    wrong, covered = [], {}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for name, function, args, keywords in lines(kind):
            try:
                line = Line(function, args, keywords)
                line.gradient(*copy.deepcopy(args))
            except (ad.errors.AdjointError, ArithmeticError, TypeError, ValueError):
                continue
            if not line.is_covered or not line.entries("gradient"):
                continue
            problem = compared(line, tolerance, name.split(".")[-1] not in KINKS)
            if problem is not None:
                wrong.append((name, args, keywords, problem))
            if not any(entry.opaque for entry in line.entries("gradient")):
                covered[name] = covered.get(name, True) and line.has_programs
    assert not wrong, wrong[0]
    missing = sorted(name for name, is_covered in covered.items() if not is_covered)
    assert len(covered) > 200
    assert len(missing) <= (1 - least) * len(covered), missing


# ---- shapes, axes, ties, zeros -------------------------------------------------------------------

X = np.array([[1.0, -2.0, 0.5, 3.0], [0.25, 1.5, -1.0, 2.0], [1.0, 1.0, -0.5, 1.0]])
TIES = np.array([[1.0, 1.0, -2.0], [0.0, -2.0, 1.0]])
GAPS = np.array([[1.0, np.nan, 2.0], [0.5, -1.5, np.nan]])
SQUARE = np.array([[2.0, 1.0, 0.0], [0.5, 3.0, 1.0], [1.0, 0.0, 1.5]])
STACK = np.stack([SQUARE, SQUARE.T + np.eye(3)])
SINGULAR = np.array([[1.0, 2.0], [2.0, 4.0]])
KNOTS = np.array([0.0, 1.0, 2.0, 4.0])
REDUCTIONS = [np.prod, np.var, np.std, np.max, np.ptp, np.median, np.sum, np.mean, np.average]
WITHOUT_NAN = [np.nanprod, np.nanvar, np.nanstd, np.nanmax, np.nanmedian, np.nansum, np.nanmean]
AXES: list[dict[str, Any]] = [{}, {"axis": 0}, {"axis": -1}, {"axis": 1, "keepdims": True}]
TRAPEZOID = getattr(np, "trapezoid", None) or getattr(np, "trapz")  # noqa: B009
EDGES = [
    *((f, (X,), axes) for f in REDUCTIONS for axes in AXES),
    *((f, (GAPS,), axes) for f in WITHOUT_NAN for axes in AXES[:3]),
    *((f, (STACK,), {"axis": (0, 2)}) for f in (np.prod, np.var, np.std, np.max, np.nanvar)),
    *((f, (TIES,), axes) for f in (np.max, np.min, np.ptp, np.median) for axes in AXES),
    *((f, (np.zeros((0, 3)),), {"axis": 0}) for f in (np.sum, np.prod, np.cumprod)),
    *((f, (np.array([2.0, 0.0, 3.0]),), {}) for f in (np.prod, np.cumprod, np.nanprod)),
    *((f, (np.array([2.0, 2.0, 2.0]),), {}) for f in (np.var, np.std, np.nanstd)),
    (np.std, (np.array([[2.0, 2.0], [1.0, 3.0]]),), {"axis": 1, "ddof": 1}),
    (np.prod, (np.array([1e-200, 1e-200, 3.0]),), {}),
    (np.cumprod, (X,), {"axis": 1}),
    (np.cumprod, (X,), {}),
    (np.sort, (TIES,), {"axis": 0}),
    (np.sort, (TIES,), {"axis": None}),
    (np.partition, (X,), {"kth": 1}),
    (np.clip, (X, -1.0, 1.5), {}),
    (np.clip, (X, X[0] - 1.0, 2.0), {}),
    (np.fmax, (TIES, TIES[:, ::-1].copy()), {}),
    (np.quantile, (X,), {"q": 0.3, "axis": 0}),
    (np.percentile, (X,), {"q": 40, "axis": 1}),
    (np.average, (X, 0, np.array([1.0, 2.0, 0.5])), {}),
    (np.average, (X, 1, X[0] ** 2), {"keepdims": True}),
    (np.average, (X, None, X**2), {}),
    (np.interp, (np.array([-1.0, 0.5, 1.0, 3.3, 4.0, 5.0]), KNOTS, KNOTS**2), {}),
    (np.interp, (2.5, KNOTS, KNOTS**2), {"left": 1.0}),
    (np.linalg.det, (STACK,), {}),
    (np.linalg.det, (SINGULAR,), {}),
    (np.linalg.pinv, (X,), {}),
    (np.linalg.pinv, (SINGULAR,), {}),
    (np.einsum, ("ij,jk,k->i", SQUARE, SQUARE + 1.0, SQUARE[0]), {}),
    (np.einsum, ("ij,ij->j", X, X - 1.0), {}),
    (TRAPEZOID, (X, np.array([0.0, 1.0, 3.0, 4.0])), {}),
    (np.outer, (X[0], X[1]), {}),
    (np.cross, (SQUARE, SQUARE + 1.0), {}),
    (np.tensordot, (SQUARE, STACK[0], 1), {}),
    (np.trace, (STACK, 0, 1, 2), {}),
    (np.linspace, (0.5, 2.0, 4), {}),
    (np.unique, (TIES,), {}),
    (np.polyval, (np.array([1.0, -2.0, 3.0]), X), {}),
    (np.polyval, (np.array([2.0]), 1.5), {}),
    (np.logaddexp, (X, -np.inf), {}),
]


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("order", [None, "reverse over forward"])
@pytest.mark.parametrize("function, args, keywords", EDGES)
def test_edges_are_those_of_the_generic_tier(function, args, keywords, order, kind, monkeypatch):
    if order is not None:
        turn_round(monkeypatch)
    given = tuple(x.astype(kind) if isinstance(x, np.ndarray) else x for x in args)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        line = Line(function, given, keywords)
        assert compared(line, 1e-6 if kind is np.float64 else 5e-3, is_smooth=False) is None


# ---- derivatives inside --------------------------------------------------------------------------


def slope_by_values(x):
    """The inner variable enters linearly, the outer one does not."""
    g = ad.grad(lambda fp: np.sum(np.interp(x, KNOTS, fp) ** 2))(KNOTS**2)
    return np.sum(g * g)


def slope_by_points(x):
    g = ad.grad(lambda at: np.sum(np.interp(at, KNOTS, np.concatenate([x, x[:1]])) ** 2))(
        KNOTS[:3] + 0.5
    )
    return np.sum(g**3)


def pushed_by_values(x):
    values = KNOTS**2
    return np.sum(ad.pushforward(lambda fp: np.interp(x, KNOTS, fp) ** 2, (values,), (values,))[1])


def pushed_sort(x):
    return np.sum(ad.pushforward(lambda v: np.sort(v) * np.ptp(v), (x * x,), (x,))[1] * x)


def slope_of_product(x):
    return np.sum(ad.grad(lambda v: np.sum(np.kron(v, x) ** 2))(2.0 * x) * np.clip(x, 0.5, 2.0))


def pushed_fraction(x):
    dot = ad.pushforward(lambda v: np.quantile(v, x[0] / 4.0) ** 2, (x,), (x,))[1]
    return dot * x[1]


def sorted_often(x):
    y = x
    for _ in range(3):
        y = np.sort(y * y) * x + np.outer(y, x) @ np.cumprod(x) * 0.1
    return np.sum(y)


def one_of_two(x):
    y = np.prod(x) if x[0] > 1.0 else np.var(x)
    return y * np.median(x)


def by_keyword(x):
    y = np.average(np.outer(x, x), axis=0, weights=x * x)
    return np.sum(y**2) * np.interp(x[0], xp=KNOTS, fp=np.cumsum(KNOTS * x[1]))


@pytest.mark.parametrize(
    "f",
    [
        slope_by_values, slope_by_points, pushed_by_values, pushed_sort, slope_of_product,
        pushed_fraction, sorted_often, one_of_two, by_keyword,
    ],
)  # fmt: skip
def test_derivatives_inside_and_loops(f):
    x, v = np.array([0.7, 1.4, 1.9]), np.array([0.3, -1.0, 0.5])
    found = ad.gradient_and_hvp(f, x, v), ad.pushforward(f, (x,), (v,))
    with generic_tier():
        expected = ad.gradient_and_hvp(f, x, v), ad.pushforward(f, (x,), (v,))
    assert fault(found, expected, 1e-9) is None
    slope = ad.grad(f)
    with generic_tier():
        ends = slope(x + STEP * v), slope(x - STEP * v)
    np.testing.assert_allclose(found[0][1], (ends[0] - ends[1]) / (2 * STEP), rtol=1e-5, atol=1e-6)


def test_the_sign_of_a_real_number_is_a_constant():
    def cubes(x):
        return np.sum(np.abs(x) ** 3 * np.sign(x))

    x, v = np.array([1.5, -0.5, 0.0, 2.0, -3.0]), np.array([1.0, 2.0, -1.0, 0.5, 0.25])
    assert "pullback" not in str(ad.code(cubes, x)) and "back" not in str(ad.code(cubes, x))
    assert ad.gradient(cubes, x)[0] == pytest.approx(3 * x**2)
    assert ad.hvp(cubes, x, v) == pytest.approx(6 * x * v)
    mode = mode_of("hvp", (0,), is_single=True)
    assert "pair" not in store.known(cubes, mode).entries[0].source
    with generic_tier():
        assert ad.hessian(cubes, x) == pytest.approx(np.diag(6 * x))
    z = np.array([1.0 + 2.0j, -0.5 + 1.0j])
    turned = lambda z: np.sum(np.real(np.sign(z)) ** 2)
    expected = ad.grad(turned, tier="generic")(z)
    assert ad.gradient(turned, z)[0] == pytest.approx(expected) and np.all(expected != 0)
