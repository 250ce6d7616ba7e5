"""`numpy.polynomial`: six bases, as functions of coefficients and as classes."""

from __future__ import annotations

import numpy as np
from numpy import polynomial
from numpy.polynomial.chebyshev import chebinterpolate

from tests.census.entries import Section, case, methods_of, public, via
from tests.rules.harness import reals

V, C, D = reals(6), reals(4, seed=5) + 2.5, reals(3, seed=6) + 3.1
C2, C3 = reals(4, 3, seed=7), reals(2, 3, 2, seed=7)
X, Y = np.sort(reals(7)), reals(7, seed=3)
CLASSES = {
    "poly": polynomial.Polynomial,
    "cheb": polynomial.Chebyshev,
    "leg": polynomial.Legendre,
    "herm": polynomial.Hermite,
    "herme": polynomial.HermiteE,
    "lag": polynomial.Laguerre,
}
FUNCTIONS = {
    "add": case(C, D),
    "companion": case(C),
    "der": case(C, 2),
    "div": case(C, D),
    "fit": case(X, Y, 2),
    "fromroots": case(V[:3]),
    "grid2d": case(V[:2], V[:3] + 1, C2),
    "grid3d": case(V[:2], V[:3], V[:2], C3),
    "int": case(C, 2, [1.0, 2.0]),
    "interpolate": via(lambda a: chebinterpolate(lambda x: np.tanh(a * x), 3), 1.5),
    "line": case(1.5, 2.5),
    "mul": case(C, D),
    "mulx": case(C),
    "pow": case(D, 3),
    "roots": case(C),
    "sub": case(C, D),
    "trim": case(C),
    "val": case(V, C),
    "val2d": case(V, V + 1, C2),
    "val3d": case(V, V + 1, V - 1, C3),
    "vander": case(V, 3),
    "vander2d": case(V, V + 1, [2, 1]),
    "vander3d": case(V, V + 1, V - 1, [1, 1, 2]),
    "valnd": case((V, V + 1), C2),
    "valfromroots": case(V, D),
    "weight": case(np.array([0.1, 0.5, 0.3])),
}
NODES = "nodes and weights of so many points"


def functions(prefix):
    """Examples of one module, whose functions are alike but for the prefix."""
    examples = {f"{prefix}{name}": example for name, example in FUNCTIONS.items()}
    if prefix != "poly":
        examples |= {f"{prefix}2poly": case(C), f"poly2{prefix}": case(C)}
    return examples


def methods(kind):
    """Examples of one class."""
    return {
        "basis": via(lambda x: kind.basis(3)(x), V),
        "cast": via(lambda c: kind.cast(polynomial.Polynomial(c)).coef, C),
        "convert": via(lambda c: kind(c).convert(kind=polynomial.Polynomial).coef, C),
        "copy": via(lambda c: kind(c).copy().coef * 2, C),
        "cutdeg": via(lambda c: kind(c).cutdeg(2).coef, C),
        "deriv": via(lambda c: kind(c, domain=[0, 2]).deriv(2).coef, C),
        "fit": via(lambda x, y: kind.fit(x, y, 2)(0.3), X, Y),
        "fromroots": via(lambda r: kind.fromroots(r).coef, V[:3]),
        "identity": via(lambda x: kind.identity()(x), V),
        "integ": via(lambda c, k: kind(c, domain=[0, 2]).integ(1, k=k).coef, C, 2.0),
        "interpolate": via(lambda a: kind.interpolate(lambda x: np.tanh(a * x), 3).coef, 1.5),
        "linspace": via(lambda c: kind(c).linspace(5), C),
        "mapparms": via(lambda a: kind([1, 2], domain=[a, 3.0]).mapparms(), 0.5),
        "roots": via(lambda c: kind(c).roots(), C),
        "trim": via(lambda c: kind(c).trim().coef, C),
        "truncate": via(lambda c: kind(c).truncate(2).coef, C),
        "(call)": via(lambda c, x: kind(c, domain=[-2.0, 3.0])(x), C, V),
        "(arithmetic)": via(
            lambda c, d: ((kind(c) * kind(d) - 2.0 * kind(d) ** 2) // kind(d)).coef, C, D
        ),
    }


def section(prefix, kind):
    """The functions of a module and the methods of its class."""
    module = getattr(polynomial, kind.__module__.rpartition(".")[2])
    name, class_name = module.__name__, kind.__name__
    names = public(module, leaving_out=f"{class_name}")
    names |= {f"{class_name}.{m}": key for m, key in methods_of(kind).items()}
    names |= {
        f"{class_name}.(call)": (kind, "__call__"),
        f"{class_name}.(arithmetic)": (kind, "__add__"),
    }
    own = functions(prefix) | {f"{class_name}.{m}": e for m, e in methods(kind).items()}
    return Section(
        name,
        names,
        {example: call for example, call in own.items() if example in names},
        {
            NODES: " ".join(n for n in names if n.endswith(("gauss", "pts1", "pts2"))),
            "comparisons, counts": " ".join(
                f"{class_name}.{m}"
                for m in "degree has_samecoef has_samedomain has_sametype has_samewindow".split()
            ),
        },
    )


UTILITIES = {
    "as_series": case([C, D]),
    "getdomain": case(V),
    "mapdomain": case(V, [0.0, 1.0], [2.0, 5.0]),
    "mapparms": case([0.0, 1.0], [2.0, 5.0]),
    "trimcoef": case(C),
    "trimseq": case(C),
}
SECTIONS = [
    *(section(prefix, kind) for prefix, kind in CLASSES.items()),
    Section(
        "numpy.polynomial.polyutils",
        public(polynomial.polyutils),
        UTILITIES,
        {"text": "format_float"},
    ),
    Section(
        "numpy.polynomial",
        {"set_default_printstyle": polynomial.set_default_printstyle},
        {},
        {"a setting": "set_default_printstyle"},
    ),
]
