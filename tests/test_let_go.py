"""Files that a program lets go without closing them are written before they are read again, and
generators of loops that are left do what is left for them."""

import json

import numpy as np
import pytest

import adjoint as ad

pytestmark = pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)


def _written_and_read(x, path):
    open(path, "w").write("2.5\n3\n")
    y = sum(float(line) for line in open(path)) * x
    json.dump({"k": 2.0}, open(path, "w"))
    y = y * json.load(open(path))["k"]
    open(path, "wb").write(b"4.5 5.5")
    return y * np.loadtxt(path).sum() + len(path.read_text()) * x * x


def test_files_that_are_let_go(tmp_path):
    path = tmp_path / "let_go.txt"
    expected = 5.5 * 2.0 * 10.0 * 1.3 + 7 * 1.3**2
    y, (x_bar, _) = ad.withgradient(_written_and_read, 1.3, path)
    assert (y, x_bar) == (expected, 110.0 + 14 * 1.3)
    y, y_dot = ad.pushforward(_written_and_read, (1.3, path), (1.0, None))
    assert (y, y_dot) == (expected, 110.0 + 14 * 1.3)


@pytest.mark.parametrize("call", [ad.pullback, lambda f, x: ad.pushforward(f, (x,), (1.0,))])
def test_a_file_is_written_when_the_call_ends(tmp_path, call):
    path = tmp_path / "let_go.txt"

    def f(x):
        open(path, "w").write("7")
        return x * x

    held = call(f, 2.0)
    assert path.read_text() == "7"
    del held


def _left_early(x):
    log = []

    def ticks(n):
        try:
            yield from ticks(n - 1) if n else ()
            yield x
            yield x * x
        finally:
            log.append(x * n)

    for first in ticks(2):
        break
    for second in ticks(0):
        break
    return first * 2.0 * second + sum((k + 1) * value for k, value in enumerate(log))


def test_generators_of_loops_that_are_left():
    expected = 2 * 1.3**2 + 8 * 1.3, 4 * 1.3 + 8
    assert _left_early(1.3) == pytest.approx(expected[0])
    assert ad.withgradient(_left_early, 1.3) == (pytest.approx(expected[0]), (expected[1],))
    assert ad.pushforward(_left_early, (1.3,), (1.0,)) == pytest.approx(expected)
