"""Random programs that write into arrays, in loops and branches, and read them again: both tiers
agree."""

from __future__ import annotations

import linecache
import math
import os
import random
import subprocess
import sys
import warnings

import numpy as np
import pytest

import adjoint as ad

POINT = np.array([0.7, 1.3, -0.4, 0.2])
PROGRAMS = 40


class Grammar:
    """Programs of two arrays ``a`` and ``c``, a matrix ``m``, a number ``s``, and the argument
    ``v``."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)

    def index(self) -> str:
        return self.rng.choice(["0", "1", "-1", "2"])

    def number(self, depth: int = 0) -> str:
        kind = self.rng.randrange(9)
        if kind < 3:
            return f"{'acv'[kind]}[{self.index()}]"
        if kind == 4:
            return self.rng.choice(["0.5", "1.3"])
        if kind == 3 or (depth > 1 and kind < 8):
            return "s"
        if kind == 5:
            return f"math.sin({self.number(depth + 1)})"
        if kind < 8:
            sign = "*-"[kind - 6]
            return f"({self.number(depth + 1)} {sign} {self.number(depth + 1)})"
        return self.rng.choice(["a.sum()", "c.mean()", "(a * c).sum()", "m[1] @ v", "m.sum()"])

    def array(self) -> str:
        return self.rng.choice(
            ["a", "c", "v", "a * c", "np.sin(a)", "v * 0.5", "a + c", "c * s", "np.tanh(c)", "m[1]"]
        )

    def part(self, x: str) -> str:
        """A write into several places of a vector."""
        sign = self.rng.choice(["", "+", "-", "*"])
        part, values = self.rng.choice(
            [
                ("1:", f"({self.array()})[:-1] * 0.5"),
                (":-1", f"0.3 * {x}[1:]"),
                (":2", "v[2:]"),
                ("1:3", f"({self.array()})[:1]"),
                (":", self.number()),
                ("::2", "m[1:, 1]"),
                (":", "v"),
            ]
        )
        return f"{x}[{part}] {sign}= {values}"

    def matrix(self) -> str:
        """A write into the matrix."""
        sign = self.rng.choice(["", "+", "-", "*"])
        part, values = self.rng.choice(
            [
                ("[1]", self.array()),
                ("[1:]", self.array()),
                ("[:, 1]", self.number()),
                ("[:, 1]", "v[:3]"),
                ("[:2]", "(v * c)[:2, None]"),
                ("[:, 1:3]", "a[2:]"),
                ("", self.array()) if sign else ("[:]", self.array()),
            ]
        )
        return f"m{part} {sign}= {values}"

    def block(self, most: int, depth: int) -> list[str]:
        lines = [line for _ in range(self.rng.randrange(1, most)) for line in self.step(depth)]
        return ["    " + line for line in lines]

    def step(self, depth: int) -> list[str]:
        kind, x = self.rng.randrange(15), self.rng.choice("ac")
        if kind == 9 and depth < 2:
            head = f"for i in range({self.rng.randrange(1, 4)}):"
            return [head, *self.block(4, depth + 1)]
        if kind == 10 and depth < 2:
            head = f"if {self.number()} > {self.rng.choice(['0.1', 's', '0.7'])}:"
            other = ["else:", *self.block(3, depth + 1)] if self.rng.random() < 0.5 else []
            return [head, *self.block(3, depth + 1), *other]
        writes = {
            3: f"{x}[{self.index()}] += {self.number()}",
            4: f"{x} *= {self.rng.choice(['0.5', '0.9'])}",
            5: f"{x} += {self.array()}",
            6: f"{x}[1:] = ({self.array()})[:-1]",
            7: f"s = s + {self.number()} * 0.1",
            8: f"s = {self.number()}",
            11: f"{x} = {self.array()} * 1.0",
            12: self.part(x),
            13: self.matrix(),
            14: "m = np.zeros_like(m) + a" if self.rng.random() < 0.3 else self.matrix(),
        }
        return [writes.get(kind, f"{x}[{self.index()}] = {self.number()}")]

    def program(self) -> str:
        a = self.rng.choice(["v * 1.0", "v.copy()", "np.zeros_like(v)", "np.ones(4)"])
        lines = [f"a = {a}", "c = np.zeros(4) + v[1]", "m = np.zeros((3, 4))", "s = 0.3"]
        for _ in range(self.rng.randrange(3, 8)):
            lines += self.step(0)
        ends = [
            "s",
            "s + a.sum()",
            "(a * c).sum()",
            "c.mean() * s",
            "s + c[1] + a[2]",
            "(m * m).sum()",
        ]
        lines.append(f"return {self.rng.choice(ends)}")
        return "\n    ".join(["def f(v):", *lines]) + "\n"


def made(text: str, name: str):
    filename = f"<writes {name}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    scope = {"math": math, "np": np}
    exec(compile(text, filename, "exec"), scope)
    return scope["f"]


@pytest.mark.parametrize("seed", range(6))
def test_both_tiers_agree(seed):
    grammar, covered = Grammar(seed), 0
    for number in range(PROGRAMS):
        text = grammar.program()
        f = made(text, f"{seed} {number}")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if not abs(f(POINT)) < 1e6:
                continue
            found, expected = ad.grad(f)(POINT), ad.grad(f, tier="generic")(POINT)
        if expected is None or found is None:
            assert found is expected, text
        else:
            np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-10, err_msg=text)
        covered += ad.tier(f, POINT).tier == "fast"
    assert covered >= 5


def test_what_was_read_from_disk_is_specialised_as_well(tmp_path):
    """Constants that were one object in the source are two in what was kept."""
    script = tmp_path / "parts.py"
    script.write_text(
        "import numpy as np\n"
        "import adjoint as ad\n"
        "def f(v):\n"
        "    a = v * 2.0\n"
        "    a[1:] += v[0]\n"
        "    m = np.zeros((2, 4))\n"
        "    m[1, 1:] -= v[1:]\n"
        "    return (a * a).sum() + (m * m).sum()\n"
        "print(ad.tier(f, np.ones(4)).tier)\n",
        encoding="utf-8",
    )
    environment = {**os.environ, "ADJOINT_CACHE": str(tmp_path / "cache")}
    for _ in range(2):
        found = subprocess.run(
            [sys.executable, str(script)], env=environment, capture_output=True, text=True
        )
        assert found.stdout == "fast\n", found
