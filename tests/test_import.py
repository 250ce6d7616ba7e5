"""``import adjoint`` is light."""

import os
import subprocess
import sys

import pytest

HEAVY = [
    "scipy",
    "matplotlib",
    "rich",
    "torch",
    "jax",
    "autograd",
    "pandas",
    "hypothesis",
    "pytest",
]


def run(code, env=None):
    """What a fresh interpreter prints."""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=env)
    return done.stdout.strip()


@pytest.mark.parametrize(
    "use",
    [
        "pass",
        "ad.gradient(np.tanh, 1.0); ad.gradient(statistics.fmean, [1.0, 2.0])",
        "ad.nn.Chain(ad.nn.Dense(2, 2)); ad.value.Value(1.0); ad.testing.check_rule(np.tanh, 1.0)",
    ],
)
def test_nothing_heavy_is_imported(use):
    loaded = run(f"import sys, statistics, numpy as np, adjoint as ad; {use}; print(*sys.modules)")
    found = {name.partition(".")[0] for name in loaded.split()}
    assert not found & set(HEAVY)


def test_only_numpy_and_the_standard_library():
    before = set(run("import sys, numpy; print(*sys.modules)").split())
    after = set(run("import sys, adjoint; print(*sys.modules)").split())
    others = {name.partition(".")[0] for name in after - before}
    assert others <= {"adjoint", "numpy", *sys.stdlib_module_names, *sys.builtin_module_names}


def test_import_time(tmp_path):
    """At most as long as NumPy's own import and 0.2 s; time of the process, for other work runs.

    The modules' bytecode is kept, as that of an installed package is.
    """
    code = (
        "import time; a = time.process_time(); import numpy; b = time.process_time();"
        "import adjoint; print(b - a, time.process_time() - b)"
    )
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    env["PYTHONPYCACHEPREFIX"] = str(tmp_path)
    run(code, env)
    assert list(tmp_path.rglob("adjoint/__init__*.pyc"))
    numpy_time, own_time = min(
        (tuple(map(float, run(code, env).split())) for _ in range(5)), key=lambda times: times[1]
    )
    assert own_time < numpy_time + 0.2


def test_every_public_name_is_there_and_documented():
    import adjoint as ad

    for name in ad.__all__:
        assert getattr(ad, name).__doc__, name
    assert set(ad.__all__) <= set(dir(ad))
    errors = [
        x
        for x in vars(ad.errors).values()
        if isinstance(x, type) and x.__module__ == ad.errors.__name__
    ]
    assert {x.__name__ for x in errors if issubclass(x, Exception)} <= set(ad.__all__)


def test_no_entry_is_made_for_a_library_before_its_rules():
    """An entry for forward mode alone would be taken for all the rules of a function."""
    found = run(
        "import adjoint as ad; ad.gradient(lambda x: x, 1.0)\n"
        "from adjoint.rulekit.registry import _module_of, table\n"
        "print([key for key, rules in table.items() if rules.leveled is not None"
        " and not _module_of(key).startswith('adjoint.') and not"
        " (rules.rrules or rules.primitive or rules.structural or rules.substitute"
        " or rules.inactive)])"
    )
    assert found == "[]"


@pytest.mark.parametrize(
    "call, gradient",
    [
        ("np.multiply.at(a, [1, 1], 0.5) or a.sum()", "[1.0, 0.25, 1.0]"),
        ("np.lib.stride_tricks.as_strided(a, (2, 2), (8, 8)).sum()", "[1.0, 2.0, 1.0]"),
        ("np.atleast_2d(a).sum()", "[1.0, 1.0, 1.0]"),
    ],
)
def test_the_very_first_call_of_a_library(call, gradient):
    code = f"import numpy as np, adjoint as ad; print(ad.gradient(lambda a: {call}, np.ones(3))[0]"
    assert run(f"{code}.tolist())") == gradient


def test_the_first_thing_that_is_done_to_an_array_goes_by_rule():
    """Also where that is an assignment to a part of it, before any other rule was looked for."""
    code = """
import numpy as np, adjoint as ad
def f(v):
    before, a = v * v, v * 1.0
    a.real = [3, 4]
    return (before * a).sum()
print(ad.gradient(f, np.array([1.0, 2.0]))[0].tolist())
"""
    assert run(code) == "[6.0, 16.0]"
