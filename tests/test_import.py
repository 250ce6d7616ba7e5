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


def test_parts_of_numpy_are_imported_on_first_use():
    parts = {"numpy.polynomial", "numpy.random"}
    draw = "lambda x: x * np.random.default_rng(0).normal()"
    for f, used in (("np.tanh", set()), (draw, {"numpy.random"})):
        found = run(
            f"import sys, numpy as np, adjoint as ad; y = ad.gradient({f}, 1.0)[0]\n"
            f"assert abs(y - ad.derivative({f})(1.0)) < 1e-12\n"
            f"assert ad.tier({f}, 1.0).tier == 'fast'; print(*sys.modules)"
        )
        assert parts & set(found.split()) == used


def test_only_numpy_and_the_standard_library():
    before = set(run("import sys, numpy; print(*sys.modules)").split())
    after = set(run("import sys, adjoint; print(*sys.modules)").split())
    others = {name.partition(".")[0] for name in after - before}
    assert others <= {"adjoint", "numpy", *sys.stdlib_module_names, *sys.builtin_module_names}


@pytest.mark.parametrize(
    "use, loaded",
    [
        ("pass", []),
        ("ad.gradient(np.tanh, 1.0)", []),
        ("ad.nn.relu(1.0)", ["nn", "optim"]),
        ("from adjoint import optim", ["optim"]),
        ("from adjoint import *; value.Value(1.0)", ["nn", "optim", "testing", "value"]),
    ],
)
def test_packages_for_users_are_imported_on_first_use(use, loaded):
    found = run(
        f"import sys, numpy as np, adjoint as ad; {use}\n"
        "print(*sys.modules); assert set(ad.__all__) <= set(dir(ad))"
    )
    packages = {f"adjoint.{name}" for name in ("nn", "optim", "testing", "value")}
    assert packages & set(found.split()) == {f"adjoint.{name}" for name in loaded}


@pytest.mark.parametrize(
    "body",
    ["ad.nn.softmax(x)[0]", "(lambda n: n.softmax(x)[0])(ad.nn)", "ad.nn.Chain(np.sin)(x)[0]"],
)
def test_a_function_that_uses_such_a_package_first_has_a_program(body, tmp_path):
    path = tmp_path / "first.py"
    path.write_text(f"""
import numpy as np, adjoint as ad
from adjoint.fast.programs import store
def f(x):
    return {body}
x = np.array([0.1, 0.2, 0.3])
print(str(ad.tier(f, x)).partition("\\n")[0].partition(": ")[2])
first = ad.gradient(f, x)[0].tolist()
store.forget()
store.is_enabled[0] = False
assert np.allclose(first, ad.gradient(f, x)[0], rtol=1e-15)
assert np.allclose(ad.gradient(f, x)[0] @ np.ones(3), ad.pushforward(f, (x,), (np.ones(3),))[1])
""")
    command = [sys.executable, str(path)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "fast tier"


def test_the_generic_tier_reads_such_a_package_first():
    found = run(
        "import numpy as np, adjoint as ad; from adjoint.fast.programs import store\n"
        "store.is_enabled[0] = False\n"
        "print(ad.gradient(lambda x: ad.nn.relu(x) * 3.0, 2.0), ad.hessian("
        "lambda x: ad.nn.softmax(x * x)[0], np.ones(2)).shape)"
    )
    assert found == "(3.0,) (2, 2)"


def test_the_environment_has_each_rule_checked():
    env = {**os.environ, "ADJOINT_CHECK": "1"}
    code = """
import numpy as np, adjoint as ad
def g(x): return np.sin(x)
@ad.rrule.register(g)
def _(x): return np.sin(x), lambda y_bar: (None, 2.0 * y_bar)
try: ad.gradient(g, 1.0)
except ad.RuleError: print("wrong")
"""
    assert run(code, env) == "wrong"


def test_import_time(tmp_path):
    """At most 0.15 s more than NumPy's import; time of the process, for other work runs. On a busy
    machine that time grows, and NumPy's with it: a quiet one takes 0.08 s for it.

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
        (tuple(map(float, run(code, env).split())) for _ in range(9)), key=lambda times: times[1]
    )
    assert own_time < 0.15 * max(1, numpy_time / 0.08)


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
