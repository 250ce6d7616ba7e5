"""Random functions that consist of little but jumps."""

from __future__ import annotations

import linecache
import random

NAMES = "abcd"


def made(text):
    """The function ``f`` of a source."""
    filename = f"made/{len(linecache.cache)}.py"
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    namespace = {"__name__": "made"}
    exec(compile(text, filename, "exec"), namespace)
    return namespace["f"]


def jumping(seed):
    """A function of two integers; it may raise ``UnboundLocalError`` or ``ValueError``."""
    return made(source(seed))


def source(seed):
    rng = random.Random(seed)
    first = "    c, d, n = b, a, 0" if rng.random() < 0.7 else "    n = 0"
    body = _Writer(rng).block(1, 0, False)
    last = [f"    return n, {rng.choice(NAMES)}", "    d = c = 0"]  # variables of its own
    return "\n".join(["def f(a, b):", first, *body, *last, ""])


class _Writer:
    def __init__(self, rng):
        self.rng, self.loops = rng, 0

    def block(self, indent, depth, in_loop):
        lines = []
        for _ in range(self.rng.randint(1, 4)):
            lines += self.statement(indent, depth, in_loop)
            if lines[-1].split()[0] in ("break", "continue", "return", "raise"):
                if lines[-1].startswith("    " * indent) and lines[-1][4 * indent] != " ":
                    break
        return lines

    def statement(self, indent, depth, in_loop):
        rng, pad = self.rng, "    " * indent
        kinds = ["set"] * 4 + ["del"] + (["if"] * 5 + ["for", "while"] if depth < 4 else [])
        kinds += (
            ["return"]
            + (["break", "continue"] * 2 if in_loop else [])
            + ["raise"] * (rng.random() < 0.1)
        )
        if depth == 0:
            kinds = [kind for kind in kinds if kind not in ("return", "raise")]
        match rng.choice(kinds):
            case "set":
                x, y = rng.choice(NAMES), rng.choice(NAMES + "ab")
                return [f"{pad}{x} = {y} + {rng.randint(-2, 3)}"]
            case "del":
                return [f"{pad}del {rng.choice(NAMES)}" if rng.random() < 0.3 else f"{pad}n += 1"]
            case "if":
                lines = [f"{pad}if {self.test()}:", *self.block(indent + 1, depth + 1, in_loop)]
                if rng.random() < 0.5:
                    lines += [f"{pad}else:", *self.block(indent + 1, depth + 1, in_loop)]
                return lines
            case "for":
                target = rng.choice([*NAMES, "k"])
                head = f"{pad}for {target} in range({rng.randint(0, 3)}):"
                return self.loop(head, indent, depth, in_loop)
            case "while":
                self.loops += 1
                count = f"i{self.loops}"
                test = rng.choice(["True", self.test(), f"({rng.choice(NAMES)} := n) < 9"])
                lines = self.loop(f"{pad}while {test}:", indent, depth, in_loop)
                stop = [
                    f"{pad}    {count} += 1",
                    f"{pad}    if {count} > 4:",
                    f"{pad}        break",
                ]
                return [f"{pad}{count} = 0", lines[0], *stop, *lines[1:]]
            case "return":
                return [f"{pad}return {rng.choice(NAMES)}, n"]
            case "raise":
                return [f"{pad}raise ValueError({rng.choice(NAMES)})"]
            case jump:
                return [f"{pad}{jump}"]

    def loop(self, head, indent, depth, in_loop):
        pad = "    " * indent
        lines = [head, f"{pad}    n += 1", *self.block(indent + 1, depth + 1, True)]
        if self.rng.random() < 0.4:
            lines += [f"{pad}else:", *self.block(indent + 1, depth + 1, in_loop)]
        return lines

    def test(self):
        return (
            f"{self.rng.choice('aabbbncd')} % {self.rng.randint(2, 4)} == {self.rng.randint(0, 2)}"
        )
