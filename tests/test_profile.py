"""`python -m adjoint.profile`: its tables, where its arguments come from, and what it refuses."""

import re
import sys
from collections import Counter

import numpy as np
import pytest

import adjoint as ad
from adjoint import profile
from adjoint.diagnostics.line_times import line_shares

HEAT = """\
import numpy as np

def heat(x, n):
    total = 0.0
    for i in range(n):
        x = np.sin(x) * x
        total += x.sum()
    return total

def caught(x):
    exec("", {})
    y = np.sum(np.tanh(x))
    x[:] = 0.0
    return y

def vector(x):
    return np.cos(x)

def heat_example():
    return np.ones(50), 10

example = (np.ones(3),)
one = np.ones(4)
"""


@pytest.fixture(autouse=True)
def short(monkeypatch):
    monkeypatch.setattr(profile, "SECONDS", 0.01)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setenv("ADJOINT_CACHE", "off")
    yield
    sys.modules.pop("heat_of_tests", None)


@pytest.fixture
def path(tmp_path):
    made = tmp_path / "heat_of_tests.py"
    made.write_text(HEAT)
    return made


def test_fast_tier(path, capsys):
    profile.main([f"{path}:heat"])
    text = capsys.readouterr().out
    assert text.startswith("gradient of heat: fast tier\n")
    first = text.partition("first call")[2].partition("later calls")[0]
    for stage in ("lowering", "transform", "code generation", "compilation"):
        assert re.search(rf"^  {stage} +\d+\.\d ms$", first, re.MULTILINE), stage
    for what in ("value, by Python", "gradient", "  forward sweep", "  reverse sweep"):
        assert re.search(rf"^  {what} +\d+\.\d+ ms +\d+\.\d$", text, re.MULTILINE), what
    shares = [float(share) for share in re.findall(r" (\d+\.\d)%$", text, re.MULTILINE)]
    assert 50.0 < sum(shares) <= 100.5 and shares == sorted(shares, reverse=True)
    assert re.search(r"<adjoint fast heat #\d+>:\d+ t = np.sin\(", text)


def test_generic_tier(path, capsys):
    """The lines are the user's; the arguments are made anew for each call, which writes to them."""
    profile.main([f"{path}:caught"])
    text = capsys.readouterr().out
    assert text.startswith("gradient of caught: generic tier\n")
    for sweep in ("forward", "reverse"):
        assert f"heat_of_tests.py:12 {sweep}: y = np.sum(np.tanh(x))" in text


def test_a_function_that_returns_an_array(path, capsys):
    profile.main([f"{path}:vector", "--args", "one"])
    assert "share of pullback and back" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["{path}:nothing"], "there is no function 'nothing' in"),
        (["{path}:heat", "--args", "nothing"], "has no nothing that gives the arguments of 'heat'"),
        (["{path}"], "is not path.py:function"),
        (["nowhere.py:heat"], "is not path.py:function"),
        (["{path}:np.ones(3)"], "is not path.py:function"),
    ],
)
def test_refused(path, arguments, message, capsys):
    with pytest.raises(SystemExit):
        profile.main([argument.format(path=path) for argument in arguments])
    assert message in capsys.readouterr().err


def test_stages_are_apart():
    assert profile._stage("/x/adjoint/fast/source/writer.py") == "code generation"
    assert profile._stage("/x/adjoint/frontend/lowering.py") == "lowering"
    assert profile._stage("<frozen importlib._bootstrap>") == "rules, and loading them"
    assert profile._stage("/home/adjoint/heat.py") == "the function itself, and the rest"


def test_lines_sum_up_and_the_tracer_is_put_back():
    def slow(x):
        return np.sort(x).sum()

    def f(x):
        y = x * 2.0
        for _ in range(3):
            y = y + slow(x)
        return y.sum()

    before = sys.gettrace()
    args = lambda: (np.random.default_rng(0).normal(size=20_000),)
    shares = line_shares(ad.grad(f, tier="generic"), args)
    assert sys.gettrace() is before
    assert sum(share for _, share in shares) == pytest.approx(1.0)
    by_text = Counter({name.partition(": ")[2]: share for name, share in shares})
    assert by_text["return np.sort(x).sum()"] > by_text["for _ in range(3):"]

    def failing(x):
        raise ValueError

    with pytest.raises(ValueError):
        line_shares(failing, args)
    assert sys.gettrace() is before
