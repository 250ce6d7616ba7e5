"""The training of micrograd's demo, step by step, beside the losses of micrograd itself.

``docs/tutorial/micrograd_losses.csv`` holds the losses and accuracies that the code of
https://github.com/karpathy/micrograd/blob/master/demo.ipynb gives with micrograd 0.1.0.
"""

import csv
import random
from pathlib import Path

import pytest

from adjoint.value import MLP, Value

REFERENCE = Path(__file__).parents[2] / "docs" / "tutorial" / "micrograd_losses.csv"


def test_the_losses_of_all_steps():
    make_moons = pytest.importorskip("sklearn.datasets").make_moons
    random.seed(1337)
    X, y = make_moons(n_samples=100, noise=0.1, random_state=1337)
    y = y * 2 - 1
    model = MLP(2, [16, 16, 1], "relu", init="uniform")
    with open(REFERENCE, encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 100
    for k, row in enumerate(rows):
        scores = [model(list(map(Value, xrow))) for xrow in X]
        losses = [(1 + -yi * scorei).relu() for yi, scorei in zip(y, scores, strict=True)]
        data_loss = sum(losses) * (1.0 / len(losses))
        total_loss = data_loss + 1e-4 * sum(p * p for p in model.parameters())
        right = [(yi > 0) == (scorei.data > 0) for yi, scorei in zip(y, scores, strict=True)]
        model.zero_grad()
        total_loss.backward()
        for p in model.parameters():
            p.data -= (1.0 - 0.9 * k / 100) * p.grad
        assert total_loss.data == pytest.approx(float(row["loss"]), rel=0.0, abs=1e-14)
        assert sum(right) / len(right) == float(row["accuracy"])
