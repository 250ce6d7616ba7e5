"""Prints `tests/optim/reference.py`; needs optax, and is run by hand: ``python -m
tests.optim.make_reference > tests/optim/reference.py``."""

import jax
import optax
from tests.optim.cases import COUNTS, OPTIMIZERS, SCHEDULES, trajectory


def rows():
    yield f'"""Numbers of optax {optax.__version__} in double precision (make_reference.py)."""\n'
    yield "# parameters after the last step of `cases.trajectory`"
    yield "OPTIMIZERS = {"
    for name, make in OPTIMIZERS.items():
        last = trajectory(make(optax), optax.apply_updates, convert=_jax)[-1]
        yield f"    {name!r}: {[*map(float, last)]},"
    yield "}\n\n# rates at `cases.COUNTS`\nSCHEDULES = {"
    for name, make in SCHEDULES.items():
        yield f"    {name!r}: {[float(make(optax)(count)) for count in COUNTS]},"
    yield "}"


def _jax(tree):
    return jax.tree.map(jax.numpy.asarray, tree)


if __name__ == "__main__":
    jax.config.update("jax_enable_x64", True)
    print(*rows(), sep="\n")
