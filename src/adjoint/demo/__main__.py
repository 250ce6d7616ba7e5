"""``python -m adjoint.demo``."""

from __future__ import annotations

import argparse
import importlib.util
import sys
from pathlib import Path

import adjoint as ad
from adjoint.demo import cubic, figures, moons, report, scalar


def main(arguments: list[str] | None = None) -> int:
    """Run all parts; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m adjoint.demo", description=__doc__)
    parser.add_argument(
        "--output", type=Path, default=Path("demo-output"), help="folder of figures"
    )
    parser.add_argument("--quick", action="store_true", help="a tenth of the steps")
    options = parser.parse_args(arguments)
    missing = [n for n in ("matplotlib", "rich") if importlib.util.find_spec(n) is None]
    if missing:
        print(
            f"the demo needs {' and '.join(missing)}: pip install 'adjoint-ad[plots,progress]'",
            file=sys.stderr,
        )
        return 1
    scale = 10 if options.quick else 1

    report.heading("A noisy cubic: 100 points, four weights")
    polynomial = cubic.run(max_iters=5000 // scale)
    report.cubic(polynomial)

    report.heading("Two moons: a 2-16-16-2 network on 200 points")
    network = moons.run(max_iters=500 // scale)
    report.moons(network)

    report.heading("The same moons with one graph node per number")
    report.scalar(network, scalar.run(network.X, network.labels, steps=1 if options.quick else 3))

    report.heading("Figures")
    for path in figures.write(options.output, polynomial, network):
        print(f"  {path}")

    report.heading("The code that was generated for the polynomial, and for its loss")
    print(ad.code(cubic.Polynomial.__call__))
    print(ad.code(cubic.polynomial_loss))
    return 0


if __name__ == "__main__":
    sys.exit(main())
