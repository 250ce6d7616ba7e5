"""Tools for symbols, graphs, containers and quantities: sympy, networkx, toolz, pint, …"""

import attrs
import einops
import more_itertools
import networkx
import numpy as np
import pint
import sympy
import toolz
from uncertainties import ufloat, umath

from tests.library.registry import case, reals

V = reals(5)
W = reals(4, low=0.5, high=2.0, seed=1)

# ---- sympy: its own derivative -------------------------------------------------------------------

a, b = sympy.symbols("a b")
EXPRESSION = sympy.sin(a) * b**2 + sympy.exp(-a * b) / sympy.sqrt(a + b)
EXPRESSION += sympy.Piecewise((a * b, a > b), (b, True))
for module in ("math", "numpy"):
    value = sympy.lambdify((a, b), EXPRESSION, module)
    slopes = sympy.lambdify((a, b), [EXPRESSION.diff(a), EXPRESSION.diff(b)], module)
    case("sympy.lambdify", 0.7, 0.4, call=value, derived=slopes)
case(
    "sympy.lambdify",
    np.array([0.7, 0.4]),
    call=sympy.lambdify([[a, b]], sympy.Matrix([[a * b, a], [b, a**2]]), "numpy", cse=True),
)

# ---- networkx ------------------------------------------------------------------------------------


def _graph(weights):
    graph = networkx.Graph()
    graph.add_weighted_edges_from(
        [(0, 1, weights[0]), (1, 2, weights[1]), (0, 2, weights[2]), (2, 3, weights[3])]
    )
    return graph


case(
    "networkx.dijkstra_path_length",
    W,
    call=lambda w: networkx.dijkstra_path_length(_graph(w), 0, 3),
)
case(
    "networkx.minimum_spanning_edges",
    W,
    call=lambda w: sum(d["weight"] for *_, d in networkx.minimum_spanning_edges(_graph(w))),
)
case("networkx.wiener_index", W, call=lambda w: networkx.wiener_index(_graph(w), weight="weight"))

# ---- containers ----------------------------------------------------------------------------------

case("einops.rearrange", V, call=lambda v: einops.rearrange(v, "(h w) -> w h", h=1))
case("einops.reduce", reals(4, 3), call=lambda m: einops.reduce(m, "(a b) c -> b c", "mean", a=2))
case(
    "einops.einsum",
    reals(4, 3),
    reals(3, 2),
    call=lambda m, n: einops.einsum(m, n, "i j, j k -> i k"),
)
case(
    "more_itertools.windowed",
    V.tolist(),
    call=lambda v: [p * q for p, q in more_itertools.windowed(v, 2)],
)
case(
    "more_itertools.convolve",
    V.tolist(),
    call=lambda v: list(more_itertools.convolve(v, [0.2, 0.3])),
)
case("more_itertools.polynomial_eval", V.tolist(), 0.3)
case(
    "toolz.pipe",
    0.7,
    call=lambda v: toolz.pipe(v, lambda z: z * z, toolz.curry(lambda p, q: p * q)(v)),
)
case(
    "toolz.reduceby",
    V.tolist(),
    call=lambda v: toolz.reduceby(lambda z: z > 0, lambda p, q: p + q * q, v, 0.0),
)
case("toolz.merge_with", 0.7, call=lambda v: toolz.merge_with(sum, {"p": v}, {"p": v * v}))


@attrs.define
class Point:
    x: float
    y: float = attrs.field(default=2.0, converter=float)

    def norm(self):
        return (self.x**2 + self.y**2) ** 0.5


case("attrs.evolve", 0.7, call=lambda v: attrs.evolve(Point(v, v * v), x=v * 3).norm())
case("attrs.astuple", 0.7, call=lambda v: attrs.astuple(Point(v, v * v)))

# ---- quantities ----------------------------------------------------------------------------------

registry = pint.UnitRegistry(cache_folder=None)
case(
    "pint.Quantity.to",
    1.3,
    call=lambda v: (v * registry.meter / (2 * registry.second)).to("km/h").magnitude,
)
case("pint.Quantity.__pow__", V, call=lambda v: ((v * registry.m) ** 2).to("cm^2").magnitude)


def _uncertain(value, spread):
    x = ufloat(value, spread)
    y = x * umath.sin(x) + 2.0
    return y.nominal_value, y.std_dev


case("uncertainties.ufloat", 0.7, 0.1, call=_uncertain)
