"""What benchmarks/harness.py runs in processes of their own."""

import time

import pytest
from benchmarks.harness import within
from benchmarks.programs import second_order as programs
from benchmarks.second_order import _source_lines


def test_a_call_in_another_process():
    assert within(60.0, divmod, 7, 2) == (3, 1)
    with pytest.raises(RuntimeError, match="ZeroDivisionError: "):
        within(60.0, divmod, 7, 0)


def test_a_call_that_does_not_end_in_time():
    start = time.monotonic()
    with pytest.raises(TimeoutError, match=r"not within 0\.5 s"):
        within(0.5, time.sleep, 60.0)
    assert time.monotonic() - start < 30.0


def test_lines_of_a_program_are_those_of_its_functions():
    """Without documentation and empty lines."""
    assert _source_lines(programs.rosenbrock) == 2
    assert _source_lines(programs.field) == 2
    assert _source_lines(programs.runge_kutta) == 10 + 2
