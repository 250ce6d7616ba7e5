"""The standard library: exact statistics, colours, heaps, random numbers as constants."""

import heapq
import math
import random
import statistics

from tests.library.registry import case

P, Q = [0.3, 1.2, 0.7, 2.1, 1.6], [1.1, 0.4, 2.2, 0.9, 3.1]

for name in (
    "mean", "fmean", "geometric_mean", "harmonic_mean", "median", "variance", "pvariance", "stdev",
    "pstdev", "quantiles",
):  # fmt: skip
    case(f"statistics.{name}", P)
case("statistics.covariance", P, Q)
case("statistics.correlation", P, Q)
case(
    "statistics.linear_regression",
    P,
    Q,
    call=lambda x, y: tuple(statistics.linear_regression(x, y)),
)
for name in ("pdf", "cdf", "zscore"):
    case(
        f"statistics.NormalDist.{name}",
        0.3,
        1.2,
        0.4,
        call=lambda m, s, x, name=name: getattr(statistics.NormalDist(m, s), name)(x),
    )
case(
    "statistics.NormalDist.inv_cdf",
    0.3,
    1.2,
    0.4,
    call=lambda m, s, p: statistics.NormalDist(m, s).inv_cdf(p),
)
for name in ("rgb_to_hls", "rgb_to_hsv", "rgb_to_yiq", "hls_to_rgb", "hsv_to_rgb", "yiq_to_rgb"):
    case(f"colorsys.{name}", 0.3, 0.4, 0.2)
case("math.dist", P, Q)
case("math.fsum", P)
case("heapq.nsmallest", P, call=lambda xs: heapq.nsmallest(2, xs))
case("heapq.merge", P, Q, call=lambda xs, ys: list(heapq.merge(sorted(xs), sorted(ys))))


def _drawn(x):
    random.seed(3)
    return x * random.gauss(0, 1) + random.uniform(x, 2.0) + random.triangular(0.0, x, 0.3)


case("random.uniform", 0.7, call=_drawn)
case("math.lgamma", 2.3, call=lambda x: math.lgamma(x))
