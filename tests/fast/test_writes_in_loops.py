"""Arrays that a loop reads before it writes to them, by themselves and through views: both tiers
agree, and agree with differences."""

from __future__ import annotations

import itertools
import linecache
import math

import numpy as np
import pytest

import adjoint as ad

NAMES = [
    "b = a",
    "b = a[:]",
    "b = a[::-1]",
    "b = a[1:]",
    "b = a[:2]",
    "b = a.reshape(2, 2)[1]",
    "b = a.ravel()",
    "b = a[1:][::-1]",
]
WRITES = [
    "a[0] = a[1] * a[2]",
    "a[-1] = 2 * v[0]",
    "b[0] = v[1] * v[2]",
    "b[-1] = b[0] * 2",
    "a[1:] = b[0] * v[1]",
    "b *= 2",
    "a *= 0.3",
    "a += v",
    "a[1] = math.sin(s)",
]
LOOPS = [
    "for i in range(3):\n        s = s + b[0] * b[1] * (i + 1)\n        WRITE",
    "for i in range(3):\n        if i:\n            s += b.sum() * b[-1]\n        WRITE",
    "for e in b:\n        s = s + e * e\n        WRITE",
    "for e, w in zip(reversed(b), v):\n        s = s + e * e * w\n        WRITE",
    "while s < 1.5:\n        s = s + b[0] ** 2 + 0.4\n        WRITE",
]
POINT = np.array([0.7, 1.3, -0.4, 0.2])


ENDS = ["s", "s + a.sum()", "s * b.mean()"]


def made(number: int, name: str, write: str, loop: str, end: str = "s"):
    loop = loop.replace("WRITE", write)
    text = f"def f(v):\n    a = v * 1.0\n    s = 0.0\n    {name}\n    {loop}\n    return {end}\n"
    filename = f"<write in a loop {number}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    scope = {"math": math, "np": np}
    exec(compile(text, filename, "exec"), scope)
    return scope["f"], text


COMBINATIONS = list(itertools.product(NAMES, WRITES, LOOPS, ENDS))


@pytest.mark.parametrize("part", range(12))
def test_both_tiers_agree(part):
    for number in range(part, len(COMBINATIONS), 12):
        f, text = made(number, *COMBINATIONS[number])
        found, expected = ad.grad(f)(POINT), ad.grad(f, tier="generic")(POINT)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12, err_msg=text)


READ_FIRST = [
    ("b = a", "a[0] = a[1] * a[2]", LOOPS[0]),
    ("b = a", "a *= 0.3", LOOPS[0]),
    ("b = a", "a += v", LOOPS[1]),
    ("b = a", "a[-1] = 2 * v[0]", LOOPS[2]),
    ("b = a", "a[1] = math.sin(s)", LOOPS[4]),
]


@pytest.mark.parametrize("which", range(len(READ_FIRST)))
def test_what_is_read_first_is_specialised(which):
    f, text = made(1000 + which, *READ_FIRST[which])
    assert ad.tier(f, POINT).tier == "fast"
    steps = 1e-6 * np.eye(4)
    differences = [(f(POINT + step) - f(POINT - step)) / 2e-6 for step in steps]
    np.testing.assert_allclose(ad.grad(f)(POINT), differences, rtol=1e-6, atol=1e-6, err_msg=text)


def test_a_loop_that_carries_nothing_before_a_write_to_a_view():
    def f(xs, y):
        a = sum(iter(lambda: xs.pop() if len(xs) > 3 else None, None))
        m = np.zeros((3, 4))
        m[0] = y
        for k in range(1, 3):
            m[k] = np.sin(m[k - 1]) + 0.2 * y
        np.fliplr(m)[1:, ::2] = y[1:3]
        return a + np.sum(m * m)

    for n in (3, 5):
        found = ad.grad(f, (0, 1))([0.1] * n, np.ones(4))
        expected = ad.grad(f, (0, 1), tier="generic")([0.1] * n, np.ones(4))
        assert found[0] == expected[0] == [0.0] * 3 + [1.0] * (n - 3)
        np.testing.assert_allclose(found[1], expected[1], rtol=1e-13)
