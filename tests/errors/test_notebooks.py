"""Errors in cells of a notebook: the lines that IPython marks, the places that messages name."""

import json
import subprocess
import sys
import textwrap

import pytest

pytest.importorskip("IPython")

BEGIN = """
import contextlib, io, json
from IPython.core.compilerop import CachingCompiler
from IPython.core.interactiveshell import InteractiveShell

class KernelCompiler(CachingCompiler):
    # names as those of Jupyter's kernel, which are of files that need not be there
    def get_code_name(self, raw_code, transformed_code, number):
        return f"/tmp/ipykernel_77/{hash(transformed_code) % 10**9}.py"

shell = InteractiveShell.instance(colors="NoColor")
outputs = []

def run(cell):
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        shell.run_cell(cell, store_history=True)
    outputs.append(out.getvalue())
"""

CELLS = [
    "import decimal\nimport numpy as np\nimport adjoint as ad",
    """
    def inner(v):
        a = 1.0
        return v * np.dot(v, v[:1])

    def outer(v):
        b = 2.0
        return inner(v)
    """,
    "ad.gradient(outer, np.ones(2))",
    "ad.grad(outer, tier='generic')(np.ones(2))",
    "ad.pushforward(outer, (np.ones(2),), (np.ones(2),))",
    "ad.hessian(outer, np.ones(2))",
    """
    import math
    def unknown(v):
        first = math.sin(v)
        return float(decimal.Decimal(v)) * first

    ad.gradient(unknown, 2.0)
    """,
    """
    import math
    def handled(v):
        try:
            return math.sqrt(v)
        except ValueError:
            return 0.0

    print(ad.gradient(handled, 4.0))
    """,
    """
    async def fetched(v):
        return v
    ad.gradient(fetched, 2.0)
    """,
    """
    def mixed(v):
        return eval("2 * v") * v
    print(ad.tier(mixed, 2.0))
    """,
    "ad.pullback(outer.__globals__['scaled'], np.ones(2))[1]('text')",
]
CELLS[1] += "\n    def scaled(v):\n        return 2.0 * v\n"


@pytest.fixture(scope="module", params=["IPython", "kernel"])
def outputs(request):
    code = textwrap.dedent(BEGIN)
    if request.param == "kernel":
        code += "shell.compile = KernelCompiler()\n"
    code += "".join(f"run({textwrap.dedent(cell).strip()!r})\n" for cell in CELLS)
    code += "print(json.dumps(outputs))"
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True
    )
    return json.loads(found.stdout.splitlines()[-1])


@pytest.mark.parametrize("number", [2, 3, 4, 5])
def test_lines_of_the_users_errors(outputs, number):
    found = outputs[number]
    assert f"Cell In[{number + 1}], line 1\n----> 1 ad." in found
    assert "Cell In[2], line 7, in outer(" in found
    assert "----> 7     return inner(v)" in found
    assert "Cell In[2], line 3, in inner(" in found
    assert "----> 3     return v * np.dot(v, v[:1])" in found or "----> 3 return v * np" in found
    assert "adjoint" not in found.replace("adjoint as ad", "")


def test_places_in_messages(outputs):
    found = outputs[6]
    assert "\n  Cell In[7], line 4\n" in found
    assert "    return float(decimal.Decimal(v)) * first\n                 ^^^^^^^^^^^^" in found
    found = outputs[8]
    assert (
        "UnsupportedSyntaxError: 'async def' cannot be differentiated\n  Cell In[9], line 1"
        in found
    )
    assert "at Cell In[10], line 2" in outputs[9]


def test_a_cell_that_imports_what_its_functions_use_is_read(outputs):
    assert outputs[7] == "(0.25,)\n"


def test_no_message_names_a_temporary_file(outputs):
    for found in outputs:
        assert "ipykernel" not in found and "ipython-input" not in found
