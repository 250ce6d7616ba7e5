"""New arrays of lists, and what is known of strings and dicts, in specialised programs."""

import numpy as np
import pytest

import adjoint as ad
from adjoint.fast.programs import store as tier
from tests.fast.agreement import agrees, refused

A = np.array([1.1, 1.9, 3.1, 4.2, 5.3])
FIELD = np.array([0.3, -0.4, 0.9])
X2 = np.array([[1.0, 2.0], [3.0, 5.0], [7.0, 11.0]])


# ---- arrays of lists -----------------------------------------------------------------------------


def test_rows():
    def f(field, x):
        across = np.array([x * field[2] - field[1], field[2] * field[0], x])
        return np.sum(across * field) + across[0]

    def two(x):
        a = np.array([x, 2.0])
        return a[0] * a[1] + np.sum(a)

    def of_integers(x):
        return np.sum(np.array([1, 2, 3]) * x)

    def given(x):
        return np.sum(np.array([x, x * x], dtype=np.float64) ** 2)

    agrees(f, FIELD, 2.0)
    for g in (two, of_integers, given):
        agrees(g, 1.3)


SWAPPED = np.dtype(np.float64).newbyteorder()


def test_another_byte_order():
    """Is left to the generic tier, and stays."""
    makers = (
        lambda x: np.array([x[0], 2.0], dtype=SWAPPED),
        lambda x: np.array([3, 1, 2], SWAPPED),
        lambda x: x.astype(SWAPPED),
        lambda x: np.zeros(2, SWAPPED),
    )
    for make in makers:
        y, _ = ad.pullback(make, A)
        assert y.dtype == SWAPPED and refused(lambda x, make=make: make(x)[0] * x[1], A)


def test_matrices_and_arrays_of_arrays():
    def f(x, y):
        turn = np.array([[np.cos(x), -np.sin(x)], [np.sin(x), np.cos(x)]])
        return np.sum(turn @ np.array([y, 1.0]) ** 2 * np.array([1.0, 3.0]))

    def stacked(a, b):
        both = np.array([a, b * 2.0, a * b])
        return np.sum(both[1:] * both[0])

    def copied(a):
        b = np.array(a)
        b[0] = 2.0
        return np.sum(b * b * a)

    agrees(f, 0.4, 2.0)
    agrees(stacked, A, A + 1.0)
    agrees(copied, A)


def test_precession():
    spins = np.random.default_rng(3).normal(size=(40, 3))

    def precession(field):
        spin = np.array([1.0, 0.0, 0.0])
        for kick in spins:
            across = np.array(
                [
                    spin[1] * field[2] - spin[2] * field[1],
                    spin[2] * field[0] - spin[0] * field[2],
                    spin[0] * field[1] - spin[1] * field[0],
                ]
            )
            spin = spin + 0.01 * across + 0.001 * kick
            spin = spin / np.sqrt(np.sum(spin * spin))
        return spin[0]

    agrees(precession, FIELD)


def test_single_precision():
    def f(a):
        return np.sum(np.array([a, a * a]) ** 2)

    a = A.astype(np.float32)
    found = ad.gradient(f, a)[0]
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, 2 * a + 4 * a**3, rtol=1e-5)


def test_functions_of_lists():
    def f(xs):
        return np.sum(xs) * np.dot(xs, [1.0, 2.0]) + np.array(xs)[0] * np.mean([xs[1], 3.0])

    def of_rows(a, x):
        ys = [t * x for t in a]
        return np.sum(ys) * np.mean(ys) + np.dot(ys, a) + np.max(np.sqrt(ys))

    def stacked(a, b):
        return np.sum(np.stack([a, b, a * b], axis=0)[1:] * np.stack([a, b]) * 2.0)

    def by_columns(a, b):
        return np.sum(np.stack([a, b], axis=1) @ np.array([2.0, 3.0]) * a)

    agrees(f, [1.5, 2.5])
    agrees(of_rows, A, 2.0)
    agrees(stacked, A, A + 1.0)
    agrees(by_columns, A, A + 1.0)


def test_ranges():
    def f(x):
        return np.sum(np.arange(4) * x + np.linspace(0.0, 1.0, 4) * x * x)

    def of_a_length(a):
        n = len(a)
        return np.sum(a * np.arange(n)) + np.sum(np.zeros(n) + a * np.ones(n))

    def of_a_number(a, x):
        return np.sum(np.arange(0.0, x, 0.5)) * a[0]

    agrees(f, 1.3)
    agrees(of_a_length, A)
    assert ad.gradient(of_a_number, A, 1.3)[0].tolist() == [1.5, 0.0, 0.0, 0.0, 0.0]


def test_tolist():
    def f(a, x):
        total = 0.0
        for v in a.tolist():
            total = total * x + v
        return total

    agrees(f, A, 0.5)
    agrees(f, np.linspace(0.5, 1.5, 40), 0.5)


def test_backwards():
    def f(a, x):
        total = 0.0
        for v in reversed(a):
            total = total * x + v
        return total

    def numbered(a, x):
        total = 0.0
        for i, v in enumerate(reversed(a)):
            total = total * x + v * i
        return total

    def of_list(a, x):
        ys = [t * x for t in a]
        total = 0.0
        for y in reversed(ys):
            total = total * y + 1.0
        return total

    def written(a, x):
        ys = [t * x for t in a]
        total = 0.0
        for y in reversed(ys):
            ys[0] = y
            total = total * y + 1.0
        return total

    for g in (f, numbered, of_list):
        agrees(g, A, 0.5)
    assert refused(written, A, 0.5)


# ---- strings and dicts ---------------------------------------------------------------------------


def test_dicts():
    def f(parameters, x):
        total = 0.0
        for key, value in parameters.items():
            total += value * x if key.startswith("w") else value
        return total * sum(parameters.values()) + len("".join(parameters.keys()))

    def own(x):
        d = {"a": x, "b": x * x}
        for key, value in d.items():
            d[key] = value * 2.0
        for key in sorted(d):
            d[key] += d.get("c", 1.0) + d.get("a")
        return sum(d.values()) * d["a"]

    agrees(f, {"w1": 2.0, "w2": 3.0, "b": 0.5}, 1.5)
    agrees(own, 1.5)


def test_strings():
    def f(x, kind):
        name = f"{kind.upper()}_{2}"
        if name.split("_")[0] == "RELU" and name.endswith("2"):
            return max(x, 0.0) * 2.0
        return x * x

    agrees(f, 1.5, "relu")
    agrees(f, 1.5, "square")

    def joined(x):
        def words():
            for _ in range(3):
                yield "a"

        return x * len("".join(words()) + ",".join(["1", "2"]))

    agrees(joined, 1.5)

    def of_numbers(x):
        return x * len(f"{x:.2f}")

    assert refused(of_numbers, 1.5)


def test_attributes():
    class Model:
        scale = 2.0

        def __init__(self):
            self.w = 3.0

    def f(x, model):
        scale = model.scale if hasattr(model, "scale") else 1.0
        w = model.w if hasattr(model, "w") else 1.0
        return x * scale * w if hasattr(A, "shape") else x

    def missing(x, model):
        return x * 2.0 if hasattr(model, "bias") else x

    agrees(f, 1.5, Model())
    model = Model()
    agrees(missing, 1.5, model)
    model.bias = 1.0
    agrees(missing, 1.5, model)
    agrees(missing, 1.5, Model())
    Model.bias = 2.0
    agrees(missing, 1.5, Model())


def test_a_dict_that_grows_raises():
    def f(x):
        d = {"a": x}
        for key in d.keys():  # noqa: SIM118
            d[key + "b"] = x
        return d["a"]

    with pytest.raises(RuntimeError):
        ad.gradient(f, 1.0)


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2, -3])
def test_arrays_stacked_along_an_axis_that_is_given(axis):
    """The axis decides the shape of the result."""
    tier.forget()
    x = np.arange(1.0, 13.0).reshape(3, 4)

    class Merge:
        def __init__(self, axis):
            self.axis = axis

        def __call__(self, x):
            y = np.stack([x, x * x], axis=self.axis)
            return np.mean(y) * y.shape[1] + y[0].size * np.sum(y[0])

    def f(x, k):
        return Merge(k)(x)

    for k in (1, axis):
        agrees(f, x, k)
        agrees(Merge(k), x)
        agrees(lambda x, k=k: np.mean(np.stack((x, x), k) * np.stack([x, 2.0 * x], axis=k)), x)
