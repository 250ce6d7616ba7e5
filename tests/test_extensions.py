"""Rules of other packages are found by entry points: ours, and those of any package."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

from adjoint import extensions
from adjoint.rulekit import loading

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "tests" / "packages" / "example_rules"

USE = """
import sys, adjoint as ad, adjoint.testing, example_rules
try:
    print(*ad.gradient(example_rules.cube_root, 8.0))
    adjoint.testing.check_rule(example_rules.cube_root, 8.0)
except ad.NoDerivativeError as error:
    print(error.problem)
"""


def run(code, *folders, options=()):
    """What a fresh interpreter prints that finds this library, and packages in these folders."""
    done = subprocess.run(
        [sys.executable, *options, "-c", code],
        check=False,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (ROOT / "src", *folders)))},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def ships(folder, package, module, text, distribution="someones"):
    """Put into a folder what is installed of a distribution that ships the rules of a package."""
    metadata = folder / f"{distribution}-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1\n")
    (metadata / "entry_points.txt").write_text(f"[adjoint.rules]\n{package} = {module}\n")
    (folder / f"{module}.py").write_text(text)


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A folder into which the example package was built and installed, without network."""
    folder = tmp_path_factory.mktemp("site")
    source = "--no-index --no-deps --no-build-isolation --quiet --disable-pip-version-check"
    command = [sys.executable, "-m", "pip", "install", *source.split(), "--target", folder, EXAMPLE]
    subprocess.run(command, check=True, capture_output=True)
    return folder


def test_the_rules_of_an_installed_package_are_found(installed):
    gradient = run(USE, installed, options=("-W", "error"))
    assert float(gradient) == pytest.approx(1 / 12)


def test_it_is_the_entry_point_by_which_they_are_found():
    assert "'decimal.Decimal'" in run(USE, EXAMPLE / "src")


def test_they_are_imported_on_the_first_call_into_the_package(installed):
    code = """
import sys, adjoint as ad, example_rules, numpy as np
ad.gradient(lambda x: np.sin(x) ** 2, 1.0)
print("importlib.metadata" in sys.modules, "example_rules.adjoint_rules" in sys.modules)
ad.gradient(example_rules.cube_root, 8.0)
print("importlib.metadata" in sys.modules, "example_rules.adjoint_rules" in sys.modules)
"""
    assert run(code, installed).splitlines() == ["False False", "True True"]


def test_metadata_is_not_imported_where_nobody_ships_rules():
    code = """
import sys, adjoint as ad, example_rules
try:
    ad.gradient(example_rules.cube_root, 8.0)
except ad.NoDerivativeError:
    print("importlib.metadata" in sys.modules)
"""
    assert run(code, EXAMPLE / "src") == "False"


BROKEN = """
import warnings, adjoint as ad, example_rules
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for _ in range(2):
        try:
            print(*ad.gradient(example_rules.cube_root, 8.0))
        except ad.NoDerivativeError:
            print("refused")
print(*ad.gradient(lambda x: x * x, 3.0))
print(*[warning.message for warning in caught], sep="; ")
"""


def test_rules_that_fail_are_left_out_with_a_warning(tmp_path):
    ships(tmp_path, "example_rules", "someones_rules", "import no_such_module")
    *results, message = run(BROKEN, EXAMPLE / "src", tmp_path).splitlines()
    assert results == ["refused", "refused", "6.0"]
    assert message == (
        "the rules of 'example_rules' are left out: the entry point"
        " 'example_rules = someones_rules' of 'someones' in the group 'adjoint.rules' fails with"
        " ModuleNotFoundError: No module named 'no_such_module'"
    )


def test_rules_in_an_archive_are_found(tmp_path):
    folder = tmp_path / "packed"
    folder.mkdir()
    ships(folder, "example_rules", "someones_rules", "1 / 0")
    archive = shutil.make_archive(str(folder), "zip", folder)
    *_, message = run(BROKEN, EXAMPLE / "src", archive).splitlines()
    assert message.endswith("ZeroDivisionError: division by zero")


def test_rules_that_fail_leave_those_of_other_distributions(tmp_path, installed):
    ships(tmp_path, "example_rules", "someones_rules", "1 / 0")
    gradient, *_, message = run(BROKEN, installed, tmp_path).splitlines()
    assert float(gradient) == pytest.approx(1 / 12)
    assert message.endswith("ZeroDivisionError: division by zero")


def test_nobody_ships_rules_of_numpy(tmp_path):
    """They would be found or not, by what was called before."""
    ships(tmp_path, "numpy", "someones_rules", "1 / 0")
    code = """
import adjoint as ad, numpy as np, example_rules
try:
    ad.gradient(example_rules.cube_root, 8.0)
except ad.NoDerivativeError:
    print(*ad.gradient(np.tanh, 0.0))
"""
    assert run(code, EXAMPLE / "src", tmp_path, options=("-W", "error")) == "1.0"


def test_functions_that_do_not_say_whose_they_are():
    """Ufuncs of ERFA have no module; its rules are loaded because it was imported."""
    pytest.importorskip("erfa")
    code = "import erfa, adjoint as ad; print(*ad.gradient(lambda x: erfa.anp(2.0 * x), 1.0))"
    assert run(code) == "2.0"


def test_our_own_are_entry_points_like_any_other():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["entry-points"][loading.GROUP] == extensions.RULES
    for module in extensions.RULES.values():
        assert module.startswith("adjoint.extensions.") and import_module(module)


def test_the_text_has_the_files_of_the_example():
    text = (ROOT / "docs" / "extending.md").read_text("utf-8")
    blocks = set(re.findall(r"^```(?:python|toml)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE))
    files = (
        "pyproject.toml",
        "src/example_rules/__init__.py",
        "src/example_rules/adjoint_rules.py",
    )
    assert {(EXAMPLE / file).read_text("utf-8") for file in files} <= blocks
