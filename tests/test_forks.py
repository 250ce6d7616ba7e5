"""A child of a fork goes on as if it were alone, whatever other threads were in the midst of."""

import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import pytest

BEGIN = """
import gc, os, sys, threading, time, warnings
import numpy as np
import adjoint as ad

warnings.simplefilter("ignore")  # newer Pythons warn of forks beside threads
x = np.ones(3)

def made(power):
    names = {"np": np}
    exec(f"def f(v): return np.sum(v**{power})", names)
    return names["f"]

def forked(child):
    pid = os.fork()
    if pid == 0:
        try:
            os._exit(0 if child() else 1)
        except BaseException as error:
            print(repr(error), flush=True)
            os._exit(2)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
"""

OPERATORS = {
    "gradient": "ad.gradient(f, x)[0]",
    "generic tier": "ad.grad(f, tier='generic')(x)",
    "forward mode": "ad.pushforward(f, (x,), (np.ones(3),))[1] * x / 3",
    "hessian": "ad.hessian(f, x) @ x / 2",
    "vjp": "ad.pullback(f, x)[1](1.0)[1]",
}


def run(text):
    code = textwrap.dedent(BEGIN) + textwrap.dedent(text)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "forks.py")  # code without a file cannot be followed past a ``try``
        path.write_text(code)
        found = subprocess.run(
            [sys.executable, path], capture_output=True, text=True, timeout=60, check=False
        )
    assert found.stderr == ""
    return found.stdout.split("\n")


@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="there is no fork")
@pytest.mark.parametrize("name", OPERATORS)
def test_while_another_thread_specialises(name):
    """Locks that it holds, imports that it has begun, what it has switched off."""
    operator = OPERATORS[name]
    found = run(f"""
        def differentiated(f):
            return {operator}

        def work():
            for power in range(4, 100_000):
                differentiated(made(power))

        def child():
            found = differentiated(made(3))
            return np.allclose(found, 3.0) and gc.isenabled() and sys.getrecursionlimit() == limit

        limit = sys.getrecursionlimit()
        threading.Thread(target=work, daemon=True).start()
        for _ in range(4):
            time.sleep(0.05)
            print(forked(child), flush=True)
        os._exit(0)
    """)
    assert found == ["0"] * 4 + [""]


@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="there is no fork")
def test_inside_differentiated_code():
    """The thread that forks may be in the midst of a derivative itself."""
    found = run("""
        def f(v):
            codes.append(forked(lambda: np.allclose(ad.gradient(made(3), x)[0], 3.0)))
            return ad.hook(hooked, v) @ v

        def hooked(bar):
            codes.append(forked(lambda: np.allclose(ad.gradient(made(5), x)[0], 5.0)))
            return bar

        codes = []
        for tier in ("fast", "generic"):
            print(ad.grad(f, tier=tier)(x).tolist(), codes)
    """)
    assert found == ["[2.0, 2.0, 2.0] [0, 0]", "[2.0, 2.0, 2.0] [0, 0, 0, 0]", ""]
