"""Dictionaries: built, read, changed in place, iterated."""

import collections
import math

import numpy as np

from tests.corpus.registry import case


@case({"a": 0.3, "b": 0.8})
def read_by_key(d):
    return d["a"] * d["b"] + d.get("b") * 2 + d.get("c", 4.0)


@case({"a": 0.3, "b": 0.8, "unused": 1.0, "label": "text"})
def argument_overwritten(d):
    d["a"] = d["a"] * d["b"]
    d["c"] = d["a"] + d["b"]
    d["c"] *= 2
    return d["c"] * d["a"]


@case(0.7)
def built_by_loop(x):
    d = {}
    for k in range(4):
        d[k] = x**k
    del d[1]
    return sum(d.values()) * d[3]


@case(0.7)
def update_pop_setdefault(x):
    d = {"a": x}
    d.update(b=x * x, c=2.0)
    d.update({"a": d["a"] * 3})
    d.setdefault("a", 100.0)
    e = d.setdefault("e", x * d["b"])
    popped = d.pop("b") + d.pop("none", x)
    key, value = d.popitem()
    return sum(d.values()) * popped + e * value


@case({"a": 0.3, "b": 0.8})
def iteration_over_items(d):
    total = 0.0
    for key, value in d.items():
        total += value * (2 if key == "a" else 3)
    for key in d:
        total *= d[key]
    return total + sum(d[key] for key in d.keys()) + max(d.values())


@case({"a": 0.3, "b": 0.8}, {"b": 0.5})
def merging(d, e):
    merged = {**d, **e, "c": d["b"]}
    union = d | e
    d |= {"a": e["b"] * 2}
    return merged["b"] * union["b"] + merged["c"] * d["a"] + union["a"]


@case(
    {"layers": [{"w": np.array([0.3, 0.4]), "b": 0.1}, {"w": np.array([0.5, 0.6]), "b": 0.2}]}, 0.7
)
def nested_parameters(model, x):
    h = x
    for layer in model["layers"]:
        h = np.tanh(layer["w"] * h + layer["b"]).sum()
    return h


@case(0.7)
def dict_of_lists(x):
    groups = {}
    for k in range(5):
        groups.setdefault(k % 2, []).append(x * k)
    return sum(groups[0]) * sum(groups[1])


@case(0.7)
def default_dict(x):
    totals = collections.defaultdict(float)
    groups = collections.defaultdict(list)
    for k in range(5):
        totals[k % 3] += x**k
        groups[k % 2].append(totals[k % 3])
    return totals[0] * totals[1] + sum(groups[1])


@case(0.4)
def memo_dict(x):
    memo = {}

    def fib(n):
        if n < 2:
            return x if n else 1.0
        if n not in memo:
            memo[n] = fib(n - 1) * x + fib(n - 2)
        return memo[n]

    return fib(12)


@case(0.4)
def tuple_keys(x):
    table = {(0, 0): x}
    for i in range(3):
        for j in range(3):
            if (i, j) not in table:
                up = table.get((i - 1, j), 1.0)
                left = table.get((i, j - 1), 0.5)
                table[i, j] = up * left + x
    return table[2, 2]


@case({"a": 0.3, "b": 0.8})
def copied_dict_is_separate(d):
    e = d.copy()
    f = dict(d, c=2.0)
    e["a"] = e["b"] * f["c"]
    return d["a"] * e["a"] + f["a"]


@case({"a": 0.3, "b": 0.8})
def dict_result(d):
    return {"sum": d["a"] + d["b"], "parts": [d["a"] * 2, math.sin(d["b"])]}


@case({1: 0.3, 2: 0.8})
def aliased_dict(d):
    e = d
    e[1] = d[2] * d[1]
    holder = {"inner": d}
    holder["inner"][2] *= 3.0
    return d[1] * e[2]


@case(0.3)
def ordered_dict(x):
    d = collections.OrderedDict(a=x, b=x * x, c=1.0)
    d.move_to_end("a")
    total = 1.0
    for k, value in enumerate(d.values()):
        total += value * (k + 1)
    return total


class Key:
    """Compared by a field, which a sweep may have rewound."""

    def __init__(self, k):
        self.k = k

    def __hash__(self):
        return hash(self.k)

    def __eq__(self, other):
        return self.k == other.k


@case(1.5)
def keys_of_a_class(x):
    d = {Key(1): x}
    d[Key(2)] = x * x
    d[Key(3), 1] = x * 0.5
    total = d.pop(Key(2)) * d[Key(1)] + d.get(Key(7), x) + d[Key(3), 1]
    for value in d.values():
        total += value * value
    return total


@case(1.5)
def numbers_as_keys(x):
    d = {x: 2.0}
    d[x * x] = 3.0
    return sum(key * value for key, value in d.items()) + list(d)[0] * d.popitem()[0]
