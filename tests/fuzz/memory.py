"""Programs that write: views, aliases, buffers, callees that change their arguments, containers."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np

from tests.fuzz import preludes
from tests.fuzz.places import FOUR, KEYS, PlaceWriter
from tests.fuzz.program import Block, Line, Program, Statement, block


class Argument:
    """An object of the caller; the program overwrites its fields."""

    def __init__(self, v: np.ndarray, k: float) -> None:
        self.v = v
        self.k = k


class MemoryWriter(PlaceWriter):
    """Writes one program, in which a variable keeps its shape throughout."""

    def __init__(self, rng: random.Random, statements: int = 30) -> None:
        super().__init__(rng)
        self.left = statements
        self.setters: list[str] = []

    def program(self, name: str) -> Program:
        """A program that ends in a combination of everything that is still alive."""
        rng = np.random.default_rng(self.rng.randrange(1 << 30))

        def array(*shape: int) -> np.ndarray:
            return np.round(rng.uniform(-1.2, 1.2, shape), 3)

        args = (
            array(4),
            array(4),
            array(3, 4),
            float(array()),
            [array(4), array(4)],
            {"a": array(4), "b": array(4)},
            Argument(array(4), float(array())),
        )
        body: list[Statement] = [
            Line(f"p = {self.pick('0.5 * x', 'x', 'x[::-1]', 'm[1]')}"),
            Line(f"q = {self.pick('y.copy()', 'y', 'items[0]', 'm[0]')}"),
            Line(f"n = {self.pick('m', '0.7 * m', 'm[::-1]')}"),
            Line(f"t = {self.pick('m.T', 'm.reshape(4, 3)', 'n.T.copy()')}"),
            Line(f"u = {self.pick('x[1:3]', 'y[::2]', 'm[0, 1:3]')}"),
            Line(f"w = {self.pick('m[:, 1]', 'm.reshape(-1)[::5]', 'n[:, 2].copy()')}"),
            Line("named['c'] = x + y"),
            Line("items.append(x)"),
            Line("box = Box(q)"),
            Line("stack = [s, 0.4]"),
            Line("pair = (x, p)"),
        ]
        body += self.body(0, 14, 22)
        body.append(
            Line(
                "return alive(x) + alive(y) + alive(p) + alive(q) + alive(m) + alive(n) + alive(t)"
                " + alive(u) + alive(w) + sum(alive(v) * 0.8**k for k, v in enumerate(items))"
                " + sum(alive(named[key]) * 0.7**k for k, key in enumerate(sorted(named)))"
                " + alive(box.v) - alive(box.w) + box.k + alive(pair[0]) + alive(pair[1])"
                " + sum(v / (k + 2) for k, v in enumerate(stack)) + s + alive(obj.v) + obj.k"
            )
        )
        return Program(name, preludes.MEMORY, "x, y, m, s, items, named, obj", body, args)

    # ---- statements ------------------------------------------------------------------------------

    def body(self, depth: int, low: int, high: int) -> list[Statement]:
        """Statements of one block; closures defined in it are not seen outside."""
        setters, extra, integers = [*self.setters], [*self.extra], [*self.integers]
        result: list[Statement] = []
        for _ in range(self.rng.randint(low, high)):
            result.extend(self.statement(depth))
            if self.left <= 0:
                break
        self.setters, self.extra, self.integers = setters, extra, integers
        return result

    def statement(self, depth: int) -> list[Statement]:
        self.left -= 1
        choices: list[tuple[float, Callable[[int], list[Statement]]]] = [
            (2.5, self.rebind), (3.5, self.in_place), (3.5, self.element), (2.5, self.out),
            (3, self.callee), (3, self.list_operation), (2, self.dict_operation),
            (2, self.object_operation), (1, self.swap), (1.5, self.numbers), (0.7, self.method),
        ]  # fmt: skip
        if depth < 2:
            choices += [(2.5, self.loop), (1.2, self.branch), (1.5, self.closure)]
        if self.setters:
            choices.append((1.5, self.call_closure))
        weights, makers = zip(*choices, strict=True)
        return self.rng.choices(makers, weights)[0](depth)

    def rebind(self, depth: int) -> list[Statement]:
        roll = self.rng.random()
        if roll < 0.35:
            return [Line(f"{self.pick(*FOUR)} = {self.place4()}", "alias or view")]
        if roll < 0.55:
            return [Line(f"{self.pick(*FOUR)} = {self.value4(2)}", "rebound to a new array")]
        text, tag = self.rng.choice(
            (
                (f"u = {self.place2()}", "view of two"),
                (f"w = {self.place3()}", "view of three"),
                ("t = m.T", "transposed view"),
                ("t = n.reshape(4, 3)", "reshaped view"),
                ("n = m", "alias of a matrix"),
                ("n = m[::-1]", "strided view of a matrix"),
                (f"m = 0.6 * n + 0.3 * {self.value4()}", "rebound to a new array"),
                (f"n = np.stack([{self.place4()}, x, {self.value4()}])", "stacked copy"),
                (f"pair = ({self.place4()}, {self.value4()})", "tuple of arrays"),
                ("n = t.T", "view of a view"),
            )
        )
        return [Line(text, tag)]

    def in_place(self, depth: int) -> list[Statement]:
        roll = self.rng.random()
        if roll < 0.3:
            name = self.rng.choice(FOUR)
            op = self.pick("+= 0.3 *", "-= 0.3 *", "*= 0.4 +", "/= 1.5 + 0.2 *")
            guarded = f"np.cos({self.value4()})"
            return [Line(f"{name} {op} {guarded}", "augmented name")]
        if roll < 0.6:
            return [Line(self.update(self.place4_item(), self.value4()), "augmented part")]
        if roll < 0.75:
            text = self.pick(
                f"m *= 0.5 + 0.3 * np.cos({self.value4()})", "n += 0.3 * m", "t *= 0.9",
                "n -= 0.2 * np.sin(t.T)", f"m += 0.2 * {self.place3()}[:, None]", "u *= 0.8",
                "w += s",
            )  # fmt: skip
            return [Line(text, "augmented matrix or view")]
        if roll < 0.9:
            return [Line(self.update(self.place2_item(), self.value2()), "augmented two")]
        return [Line(self.update(self.place3_item(), self.value3()), "augmented three")]

    def element(self, depth: int) -> list[Statement]:
        roll, a = self.rng.random(), self.place4()
        if roll < 0.35:
            return [Line(f"{self.place()} = {self.scalar()}", "element written")]
        if roll < 0.5:
            return [Line(self.update(self.place(), self.scalar()), "element augmented")]
        text, tag = self.rng.choice(
            (
                (f"{a}[1:] = {self.value3()}", "slice written"),
                (f"{a}[:-1] = 0.8 * {a}[1:]", "overlapping slice written"),
                (f"{a}[{a} > 0.15] = {self.scalar()}", "mask written"),
                (f"{a}[{a} > 0.15] *= 0.7", "mask augmented"),
                (f"{a}[MASK] = {self.value2()}", "mask written"),
                (f"{a}[[2, 0]] = {self.value2()}", "fancy written"),
                (f"{a}[[1, 1, 3]] += 0.3 * {self.place3()}", "repeated fancy augmented"),
                (f"{a}[[0, 0]] = {self.value2()}", "repeated fancy written"),
                (f"m[1:, ::2] = {self.value2()}", "broadcast written"),
                (f"n[[0, 2]] = {self.value4()}", "rows written"),
                (f"m[:, [3, 1]] *= {self.value2()}", "columns augmented"),
                (f"m[np.ix_([0, 1], [2, 3])] = {self.value2()}", "open mesh written"),
                (f"n.T[1] = {self.value3()}", "transpose written"),
                (f"t[..., {self.index(3)}] = {self.value4()}", "ellipsis written"),
                (f"m[None, 0][0, 1:3] = {self.value2()}", "newaxis written"),
                (f"{a}[...] = {self.value4()}", "ellipsis written"),
                ("m[0], m[2] = m[2], m[0]", "rows exchanged through views"),
                (f"{a}[[0, 1]] = {a}[[1, 0]]", "elements exchanged"),
            )
        )
        return [Line(text, tag)]

    def out(self, depth: int) -> list[Statement]:
        a, v = self.place4(), self.value4()
        text, tag = self.rng.choice(
            (
                (f"np.sin({v}, out={a})", "out"),
                (f"np.tanh({a}, {a})", "out in place"),
                (f"np.multiply({v}, 0.6, out={a})", "out"),
                (f"np.add(0.4 * {v}, 0.3 * {self.place4()}, out={a})", "out"),
                (f"{self.pick(*FOUR)} = np.cos({v}, out={a})", "result of out kept"),
                (f"np.cumsum(0.4 * {v}, out={a})", "out of accumulation"),
                (f"np.multiply({v}, 0.5, out={a}, where=MASK)", "out with where"),
                (f"np.copyto({a}, {v})", "copyto"),
                (f"np.multiply(m, 0.8, out={self.pick('n', 'm', 't.T')})", "out of a matrix"),
                (f"np.sum(m * 0.4, axis=0, out={a})", "out of a reduction"),
                (f"np.matmul(0.4 * m, {v}, out=w)", "out of a product"),
                (f"np.add.at({a}, [0, 2, 0], 0.3 * {self.place3()})", "add.at"),
            )
        )
        return [Line(text, tag)]

    def callee(self, depth: int) -> list[Statement]:
        a, p = self.place4(), self.pick(*FOUR)
        text, tag = self.rng.choice(
            (
                (f"shrink({self.pick(a, self.slice_of(a))}, {self.scalar()})", "callee writes"),
                (f"{p} = add_into({a}, {self.value4()})", "callee writes and returns"),
                (f"u = write_and_view({a}, {self.scalar()})", "callee returns view"),
                (f"{p} = ends_swapped({a})", "callee returns reversed view"),
                (f"{p} = fill_rows({self.pick('m', 'n', 't.T')}, {self.place4()})", "callee loops"),
                (f"{p} = either({self.condition()}, {a}, {self.place4()})", "callee picks"),
                (f"{p} = settled({a}, steps={self.rng.randint(1, 2)})", "callee's buffer"),
                (f"items = collect(items, {a})[-4:]", "callee fills a list"),
                (f"add_into({a}, {self.value4()})[1:] *= 0.9", "result of a callee written"),
            )
        )
        return [Line(text, tag)]

    def list_operation(self, depth: int) -> list[Statement]:
        a = self.place4()
        k = self.index(2)
        few = "if len(items) < 5:"
        many = "if len(items) > 2:"
        guard, text, tag = self.rng.choice(
            (
                (few, f"items.append({a})", "append alias"),
                (few, f"items.append({self.value4()})", "append"),
                (few, f"items.insert({k}, {self.value4()})", "insert"),
                (few, f"items.extend([{a}, {self.value4()}])", "extend"),
                (few, f"items += [{a}]", "list +="),
                (few, f"items[1:1] = [{self.value4()}, {a}]", "slice insertion"),
                (many, f"{self.pick(*FOUR)} = items.pop({self.pick('', '0')})", "pop"),
                (many, f"del items[{k}]", "del item"),
                (many, f"items[:2] = [{self.value4()}]", "slice shortened"),
                ("", f"items[{k}] = {self.value4()}", "item replaced"),
                ("", f"items[{k}] = {a}", "item replaced by alias"),
                ("", f"items[{k}] += 0.3 * {self.value4()}", "item augmented"),
                ("", "items.sort(key=lambda v: v[0])", "sort by element"),
                ("", "items.sort(key=np.sum, reverse=True)", "sort by function"),
                ("", "items.reverse()", "reverse"),
                ("", "items = [0.9 * v for v in items]", "rebuilt list"),
                ("", "items[:] = [v * 0.9 for v in items]", "list overwritten"),
                ("", "items = list(items)", "list copied"),
                ("", "items = items[::-1]", "list sliced"),
                ("", "items = sorted(items, key=lambda v: -v[1])", "sorted"),
                ("", f"{self.pick(*FOUR)}, *_ = items", "unpacked"),
                ("", "items[0], items[-1] = items[-1], items[0]", "items exchanged"),
            )
        )
        made = Line(text, tag)
        return [block(guard, [made], tag="")] if guard else [made]

    def dict_operation(self, depth: int) -> list[Statement]:
        a, key = self.place4(), self.pick(*KEYS)
        text, tag = self.rng.choice(
            (
                (f"named['{key}'] = {a}", "key set to alias"),
                (f"named['{key}'] = {self.value4()}", "key set"),
                (f"named['{key}'] *= 0.8", "key augmented"),
                (f"named.update({key}={self.value4()})", "update"),
                (f"named.update({{'a': {a}, 'b': {self.value4()}}})", "update"),
                (f"named |= {{'{key}': {a}}}", "dict |="),
                (f"named.setdefault('{key}', {a})[0] = {self.scalar()}", "setdefault written"),
                (f"{self.pick(*FOUR)} = named.get('{key}', {a})", "get"),
                ("named = {key: 0.9 * v for key, v in named.items()}", "rebuilt dict"),
                (f"named = dict(named, {key}={a})", "dict copied"),
                (f"named = {{**named, '{key}': {self.value4()}}}", "dict merged"),
                ("named['a'], named['b'] = named['b'], named['a']", "keys exchanged"),
            )
        )
        if key != "c" and self.rng.random() < 0.2:
            popped = Line(f"{self.pick(*FOUR)} = named.pop('{key}')", "dict pop")
            again = self.value4().replace(f"named['{key}']", "named['c']")
            return [popped, Line(f"named['{key}'] = {again}", "key set")]
        return [Line(text, tag)]

    def object_operation(self, depth: int) -> list[Statement]:
        a, field = self.place4(), self.pick("box.v", "box.w", "obj.v")
        text, tag = self.rng.choice(
            (
                (f"{field} = {a}", "attribute set to alias"),
                (f"{field} = {self.value4()}", "attribute set"),
                (f"{field} += 0.3 * {self.value4()}", "attribute augmented"),
                (f"{field}[{self.index(4)}] = {self.scalar()}", "element of attribute"),
                (f"{self.pick('box.k', 'obj.k')} = {self.scalar()}", "number attribute"),
                ("obj.k *= 0.7", "number attribute augmented"),
                (f"box.bump({self.scalar()})", "method writes"),
                (f"{self.pick(*FOUR)} = box.bump({self.scalar()}).v", "method chained"),
                (f"box.middle[:] = {self.value2()}", "property's view written"),
                ("box.exchange()", "attributes exchanged"),
                (f"box = Box({a})", "object around an alias"),
                (f"obj.link = {a}", "new attribute"),
                ("setattr(box, 'w', getattr(obj, 'v'))", "setattr"),
            )
        )
        result: list[Statement] = [Line(text, tag)]
        if tag == "new attribute":
            result.append(Line(f"obj.link[1] = {self.scalar()}", "new attribute written"))
        return result

    def swap(self, depth: int) -> list[Statement]:
        a, b = self.rng.sample(FOUR, 2)
        return [Line(self.pick(f"{a}, {b} = {b}, {a}", "m, n = n, m"), "names exchanged")]

    def numbers(self, depth: int) -> list[Statement]:
        text, tag = self.rng.choice(
            (
                (f"s = 0.5 * s + 0.4 * {self.scalar()}", "number"),
                (f"s += 0.3 * {self.scalar()}", "number augmented"),
                (f"stack.append({self.scalar()})", "number appended"),
                ("s = 0.6 * stack.pop() + 0.3 * s", "number popped"),
                ("stack.sort()", "numbers sorted"),
                (f"stack[0] = {self.scalar()}", "number stored"),
                (f"stack.extend({self.place2()})", "list extended by an array"),
            )
        )
        result: list[Statement] = [Line(text, tag)]
        if tag == "number popped":
            result.insert(0, Line(f"stack.append({self.scalar()})", "number appended"))
        return result

    def method(self, depth: int) -> list[Statement]:
        a = self.place4()
        text = self.pick(
            f"{a}.sort()", f"{a}.fill({self.scalar()})", f"np.put({a}, [0, 2], {self.value2()})",
            f"{a}.__setitem__({self.index(4)}, {self.scalar()})", f"{a}.__imul__(0.9)",
            f"np.clip({a}, -0.8123, 0.8123, out={a})", f"{a}[::-1].sort()",
        )  # fmt: skip
        return [Line(text, "method writes array")]

    # ---- blocks ----------------------------------------------------------------------------------

    def loop(self, depth: int) -> list[Statement]:
        k, v = self.fresh("k"), self.fresh("v")
        header, tag, arrays, after = self.rng.choice(
            (
                (f"for {k} in range({self.rng.randint(2, 4)}):", "loop", (), ()),
                (f"for {k}, {v} in enumerate({self.pick('m', 'n', 't.T')}):", "rows", (v,), ()),
                (f"for {k}, {v} in enumerate(items[:3]):", "items of a list", (v,), ()),
                (f"for {k}, {v} in enumerate(list(named.values())):", "values", (v,), ()),
                (
                    f"for {k}, {v} in enumerate(items[:3]):",
                    "items replaced in a loop",
                    (v,),
                    (Line(f"items[{k} % len(items)] = 0.8 * {v}"),),
                ),
                (
                    f"for {k}, {v} in enumerate(sorted(named)):",
                    "keys",
                    (),
                    (Line(f"named[{v}] = 0.7 * named[{v}] + 0.2 * p"),),
                ),
            )
        )
        extra, integers = [*self.extra], [*self.integers]
        self.extra += arrays
        self.integers.append(k)
        inner = [*self.body(depth + 1, 2, 4), *after]
        if self.rng.random() < 0.3:
            leave = Line(self.pick("break", "continue"), "loop left")
            spot = self.rng.randint(1, len(inner))
            inner.insert(spot, block(f"if {self.condition()}:", [leave], tag=""))
        self.extra, self.integers = extra, integers
        return [block(header, inner, tag=tag)]

    def branch(self, depth: int) -> list[Statement]:
        clauses = [(f"if {self.condition()}:", self.body(depth + 1, 1, 3))]
        if self.rng.random() < 0.6:
            clauses.append(("else:", self.body(depth + 1, 1, 3)))
        return [Block(clauses, "if")]

    def closure(self, depth: int) -> list[Statement]:
        """A nested function that writes into what it captures, or rebinds it."""
        f, h, z = self.fresh("f"), self.fresh("h"), self.fresh("z")
        captured = self.pick(*FOUR)
        extra, setters = [*self.extra], [*self.setters]
        self.extra.append(h)
        if self.rng.random() < 0.5:
            first, tag = Line(f"nonlocal {captured}"), "closure rebinds"
            work = [first, Line(f"{captured} = {self.value4()}")]
        else:
            work, tag = [Line(f"{captured}[{self.index(4)}] = {z}")], "closure writes"
        work.append(Line(self.update(f"{h}[:]", self.value4()), "captured array written"))
        work.append(Line(f"return {self.pick(h, captured, f'{h}[::-1]', f'{h} * {z}')}"))
        self.extra, self.setters = extra, [*setters, f]
        made = block(f"def {f}({z}):", work, tag=tag)
        return [Line(f"{h} = {self.place4()}"), made, *self.call_closure(depth)]

    def call_closure(self, depth: int) -> list[Statement]:
        f = self.rng.choice(self.setters)
        p = self.pick(*FOUR)
        text = self.pick(
            f"{p} = {f}({self.scalar()})", f"{f}({self.scalar()})", f"{f}(s)[1:3] *= 0.9",
            f"items[0] = {f}({self.scalar()})",
        )  # fmt: skip
        return [Line(text, "closure called")]


def memory_program(seed: str) -> Program:
    """The program of a seed."""
    rng = random.Random(seed)
    return MemoryWriter(rng, rng.randint(8, 32)).program(f"memory_{seed.replace(':', '_')}")
