"""Generated code as text. After an intended change: ``python -m tests.golden.test_code``."""

from pathlib import Path

import pytest

import adjoint as ad
from tests.golden.functions import SHOWN

GOLDEN = Path(__file__).parent / "code"


def golden_path(function):
    return GOLDEN / f"{function.__qualname__.replace('.__call__', '').lower()}.txt"


def shown(function):
    """The text, without the blanks that end its empty lines."""
    return "\n".join(line.rstrip() for line in ad.code(function).splitlines()) + "\n"


@pytest.mark.parametrize("function", SHOWN, ids=lambda f: f.__qualname__)
def test_code_is_the_golden_one(function):
    assert shown(function) == golden_path(function).read_text(encoding="utf-8")


def test_there_is_no_file_too_many():
    assert {path.name for path in GOLDEN.iterdir()} == {golden_path(f).name for f in SHOWN}


@pytest.mark.parametrize("function", SHOWN, ids=lambda f: f.__qualname__)
def test_no_path_and_no_address_is_shown(function):
    text = ad.code(function)
    assert "0x" not in text and "/" not in text.replace(" / ", "") and "\\" not in text


def test_the_functions_are_right():
    for function, *args in [
        (SHOWN[0], 1.5, 2.0),
        (SHOWN[1], 1.5),
        (SHOWN[2], 1.5, 4),
        (SHOWN[3], 1.5, [1.0, 2.0, 3.0]),
        (SHOWN[7], 1.5),
        (SHOWN[7], -1.5),
        (lambda xs: sum(SHOWN[4](xs)), [1.0, 2.0]),
        (lambda xs: sum(SHOWN[8](xs)), [1.0, 2.0]),
    ]:
        ad.testing.check_gradient(function, *args)


if __name__ == "__main__":
    GOLDEN.mkdir(parents=True, exist_ok=True)
    for old in GOLDEN.iterdir():
        old.unlink()
    for one in SHOWN:
        golden_path(one).write_text(shown(one), encoding="utf-8")
