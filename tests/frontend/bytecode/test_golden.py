"""The IR of functions without source as text, for each version of Python. After an intended change:
``python -m tests.frontend.bytecode.test_golden`` in each."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from adjoint.frontend.bytecode import lower
from adjoint.ir.printer import format_function
from tests.frontend.bytecode.sourceless import made
from tests.ir.verify import verify

GOLDEN = Path(__file__).parent / "golden" / f"{sys.version_info[0]}.{sys.version_info[1]}"

TEXT = """
def initialise(self, x, y=2.0, *, rest=MISSING):
    self.x = x
    object.__setattr__(self, "y", y)
    self.rest = list() if rest is MISSING else rest
    self.check(x, scale=y)


def polynomial(x, *coefficients):
    assert coefficients and x is not None, f"no {x:.3}"
    result = 0.0
    for c in reversed(coefficients):
        if c == 0.0 or c != c:
            result *= x
            continue
        result = result * x + c
    return result


def pairs(xs, n):
    found = {i: (x, -x) for i, x in enumerate(xs) if x > n}
    while n > 0:
        n -= 1
        first, *others = found.pop(n, (0.0,))
        if first < n < 10:
            return first, lambda y: y + n, [*others, n]
    return None
"""
FUNCTIONS = [made(TEXT, name, MISSING=None) for name in ("initialise", "polynomial", "pairs")]


def golden_path(function):
    return GOLDEN / f"{function.__name__}.txt"


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_ir_is_the_golden_one(function):
    lowered = lower(function)
    verify(lowered)
    assert format_function(lowered) == golden_path(function).read_text(encoding="utf-8")


if __name__ == "__main__":
    GOLDEN.mkdir(parents=True, exist_ok=True)
    for one in FUNCTIONS:
        golden_path(one).write_text(format_function(lower(one)), encoding="utf-8")
