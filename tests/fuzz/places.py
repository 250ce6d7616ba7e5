"""The expressions of the programs that write: what has which shape, and what may be written."""

from __future__ import annotations

import random

FOUR = ("x", "y", "p", "q")
WIDE = ("m", "n")
KEYS = ("a", "b", "c")


class PlaceWriter:
    """Writes expressions; every choice comes from `rng`.

    Attributes
    ----------
    integers, extra
        Names of integers and of arrays of shape (4,) that are known besides the usual ones.
    """

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.names = 0
        self.integers: list[str] = []
        self.extra: list[str] = []

    def pick(self, *choices: str) -> str:
        return self.rng.choice(choices)

    def fresh(self, stem: str) -> str:
        self.names += 1
        return f"{stem}{self.names}"

    def index(self, n: int) -> str:
        if self.integers and self.rng.random() < 0.5:
            return f"{self.rng.choice(self.integers)} % {n}"
        return str(self.rng.randrange(-n, n))

    def place4(self) -> str:
        """Something of shape (4,) that can be written into."""
        if self.extra and self.rng.random() < 0.2:
            return self.rng.choice(self.extra)
        roll = self.rng.random()
        if roll < 0.45:
            return self.rng.choice(FOUR)
        if roll < 0.6:
            return f"{self.pick(*WIDE)}[{self.index(3)}]"
        return self.pick(
            f"t[:, {self.index(3)}]", "items[0]", "items[-1]", f"items[{self.index(2)}]",
            f"named['{self.pick(*KEYS)}']", "box.v", "box.w", "pair[0]", "pair[1]", "obj.v",
            "m.reshape(6, 2)[:2].reshape(4)", "n.ravel()[2:10:2]", "n[:, ::-1][1]",
        )  # fmt: skip

    def place2(self) -> str:
        """Something of shape (2,) that can be written into."""
        return self.pick(
            "u", f"{self.place4()}[1:3]", f"{self.place4()}[::2]", f"{self.place4()}[-1:-3:-1]",
            f"{self.place4()}[[0, 3]]", f"{self.place4()}[MASK]", f"m[{self.index(3)}, 1:3]",
            f"m[[0, 2], [{self.index(4)}, 1]]", "box.middle", "n[:2, 0]", "t[1:3][:, 0]",
            f"{self.place4()}[np.array([2, 1])]",
        )  # fmt: skip

    def place3(self) -> str:
        """Something of shape (3,) that can be written into."""
        return self.pick(
            "w", f"m[:, {self.index(4)}]", f"t[{self.index(4)}]", f"{self.place4()}[1:]",
            f"{self.place4()}[:-1]", "n.reshape(-1)[::5]", "m[::-1, 2]", f"n[..., {self.index(4)}]",
        )  # fmt: skip

    def place(self) -> str:
        """One element that can be written."""
        return self.pick(
            f"{self.place4()}[{self.index(4)}]", f"m[{self.index(3)}, {self.index(4)}]",
            f"t[{self.index(4)}][{self.index(3)}]", f"u[{self.index(2)}]", f"w[{self.index(3)}]",
        )  # fmt: skip

    def scalar(self) -> str:
        roll = self.rng.random()
        if roll < 0.3:
            return self.place()
        return self.pick(
            "s", "s", "box.k", "obj.k", "stack[-1]", "0.35", f"0.2 * np.sum({self.value4(0)})",
            f"0.2 * np.dot({self.place4()}, {self.place4()})", f"np.tanh({self.place()})",
            f"0.3 * {self.place4()}.mean()", "0.1 * m.sum()", f"0.2 * ({self.place3()} @ w)",
        )  # fmt: skip

    def value4(self, depth: int = 1) -> str:
        """A new or an old array of shape (4,)."""
        if depth == 0:
            return self.place4()
        a = self.value4(depth - 1)
        return self.pick(
            f"np.sin({a})", f"(0.6 * {a} + 0.3 * {self.place4()})",
            f"np.tanh({a} * {self.place4()})",
            f"{a}[::-1]", f"{a}[[3, 0, 0, 1]]", f"np.roll({a}, 1)",
            f"({self.scalar()} * {a} * 0.5)",
            f"np.where({a} > 0.1234, {self.place4()}, 0.5 * {a})", f"{a}.copy()",
            f"np.concatenate([{self.place2()}, {self.place2()}])", "0.4 * m.sum(axis=0)",
            f"0.3 * (t @ {self.place3()})", f"0.5 * np.outer(u, {self.place2()}).ravel()",
            f"np.array([{self.scalar()}, {self.scalar()}, 0.2, s])", f"0.5 * np.cumsum({a})",
            f"np.append({self.place3()}, {self.scalar()})", f"{a}.reshape(2, 2).T.ravel()",
            f"either({self.condition()}, {a}, {self.place4()})",
        )  # fmt: skip

    def value3(self) -> str:
        a = self.place3()
        return self.pick(a, f"np.sin({a})", f"0.5 * {a} + 0.3 * w", f"{a}[::-1]", "0.3 * (m @ x)")

    def value2(self) -> str:
        a = self.place2()
        return self.pick(a, f"np.sin({a})", f"0.5 * {a} + 0.3 * u", f"{a}[::-1]", f"{a} * s")

    def condition(self) -> str:
        limit = round(self.rng.uniform(-0.9, 0.9), 4)
        if self.integers and self.rng.random() < 0.5:
            return f"{self.rng.choice(self.integers)} % 2 == {self.rng.randrange(2)}"
        return self.pick(f"{self.place()} > {limit}", f"s < {limit}", "len(items) > 2")

    def update(self, target: str, value: str) -> str:
        """An in-place operator that keeps numbers moderate."""
        return self.pick(
            f"{target} += 0.3 * {value}", f"{target} -= 0.3 * {value}", f"{target} *= 0.85",
            f"{target} *= np.cos({value})", f"{target} /= 1.5 + np.square({value})",
            f"{target} = 0.9 * {value}", f"{target} = {value}", f"{target} += {value} * 0.2",
        )  # fmt: skip

    def place4_item(self) -> str:
        """A target of an assignment that writes memory or a container, not a name."""
        while (target := self.place4()) in (*FOUR, *self.extra, "pair[0]", "pair[1]"):
            if target.startswith("pair"):
                return f"{target}[:]"
            return f"{target}[{self.pick('...', ':')}]"
        return f"{target}[:]" if target.endswith(")") else target

    def place2_item(self) -> str:
        target = self.place2()
        return f"{target}[...]" if target in ("u", "box.middle") else target

    def place3_item(self) -> str:
        target = self.place3()
        return f"{target}[...]" if target == "w" else target

    def slice_of(self, a: str) -> str:
        return f"{a}[{self.pick(':2', '1:', '::2', '::-1', '1:3')}]"
