"""Specialised code as text. After an intended change: ``python -m tests.fast.test_golden``."""

from pathlib import Path

import pytest

import adjoint as ad
from adjoint.fast.build.program_source import written
from adjoint.fast.build.specialisation import specialise
from tests.fast.representative import REPRESENTATIVE, pendulum

GOLDEN = Path(__file__).parent / "golden"
NAMES = [f.__name__ for f, _ in REPRESENTATIVE]


def shown(f, args):
    return "\n".join(written(specialise(f, args)).lines) + "\n"


@pytest.mark.parametrize(("f", "args"), REPRESENTATIVE, ids=NAMES)
def test_code_is_the_golden_one(f, args):
    assert shown(f, args) == (GOLDEN / f"{f.__name__}.txt").read_text(encoding="utf-8")


def test_there_is_no_file_too_many():
    assert {path.stem for path in GOLDEN.iterdir()} == set(NAMES)


@pytest.mark.parametrize(("f", "args"), REPRESENTATIVE, ids=NAMES)
def test_nothing_else_is_called_than_formulas(f, args):
    """No dispatch, no records: NumPy, `math`, and at most a helper with an English name."""
    text = shown(f, args)
    assert "0x" not in text and "pullback" not in text and "record" not in text


@pytest.mark.parametrize(("f", "args"), REPRESENTATIVE, ids=NAMES)
def test_the_functions_are_right(f, args):
    if f is pendulum:
        ad.testing.check_gradient(lambda angle, length: f(angle, length, args[2]), *args[:2])
    else:
        ad.testing.check_gradient(f, *args)


if __name__ == "__main__":
    GOLDEN.mkdir(parents=True, exist_ok=True)
    for old in GOLDEN.iterdir():
        old.unlink()
    for one, arguments in REPRESENTATIVE:
        path = GOLDEN / f"{one.__name__}.txt"
        path.write_text(shown(one, arguments), encoding="utf-8")
