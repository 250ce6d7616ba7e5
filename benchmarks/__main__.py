"""``python -m benchmarks [module ...]``"""

from __future__ import annotations

import importlib
import platform
import statistics
import sys

import numpy as np

from benchmarks import history
from benchmarks.harness import Line, measure

MODULES = (
    "scalar",
    "small_arrays",
    "large",
    "families",
    "growth",
    "lowering",
    "checkpoint",
    "nesting",
    "second_order",
    "specialised",
)


def main(names: list[str]) -> int:
    """Run the modules that are named, all of them by default."""
    unknown = [name for name in names if name not in MODULES]
    if unknown:
        print(f"no module {', '.join(unknown)}; there are {', '.join(MODULES)}", file=sys.stderr)
        return 2
    print(f"CPython {platform.python_version()}, NumPy {np.__version__}; {_plain_cost()}")
    lines: dict[str, list[Line]] = {}
    for name in names or MODULES:
        lines[name] = list(importlib.import_module(f"benchmarks.{name}").run())
    _summary([line for some in lines.values() for line in some])
    history.append(lines)
    return 0


def _plain_cost() -> str:
    """What the machine is worth, for those who compare the figures of two of them."""

    def loop() -> float:
        y = 0.0
        for _ in range(10_000):
            y = y * 0.5 + 1.0
        return y

    x = np.ones(3)
    (python,), (array,) = (
        [statistics.median(samples)]
        for samples in measure(loop, lambda: [x * x for _ in range(1000)])
    )
    operation, product = python / 1e4 * 1e9, array * 1e6
    return f"y * 0.5 + 1.0 in a loop takes {operation:.0f} ns, x * x of 3 {product:.0f} ns"


def _summary(lines: list[Line]) -> None:
    missed = [line for line in lines if line.met is False]
    bars = sum(line.bar is not None for line in lines)
    print(f"\n{bars - len(missed)} of {bars} bars met")
    for line in missed:
        sign = ">=" if line.at_least else "<="
        print(f"  missed: {line.name}: {line.value:.3g} {line.unit}, bar {sign} {line.bar:g}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
