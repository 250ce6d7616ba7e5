import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import adjoint as ad
from adjoint.demo import cubic, figures, moons, scalar
from adjoint.demo.__main__ import main


@pytest.fixture(scope="module")
def short_runs():
    return cubic.run(max_iters=300, progress=False), moons.run(max_iters=60, progress=False)


def test_cubic(short_runs):
    result, _ = short_runs
    target, least_squares, descent = result.fits
    assert len(result.history) == 300 and result.history[-1] < result.history[0]
    assert descent.loss < result.history[-1]
    assert least_squares.loss < target.loss
    # the normal equations: least squares is a minimum
    powers = np.vander(result.xs, 4, increasing=True)
    residual = powers @ least_squares.weights - result.ys
    np.testing.assert_allclose(powers.T @ residual, 0.0, atol=1e-6)


def test_cubic_data_have_the_noise_that_they_should():
    xs, ys = cubic.noisy_cubic(20_000, np.random.default_rng(0))
    exact = cubic.Polynomial(cubic.TARGET)(xs)
    assert np.std(ys - exact) == pytest.approx(0.2 * np.abs(exact).mean(), rel=0.03)


def test_moons(short_runs):
    _, result = short_runs
    assert result.accuracy > 0.8 and result.loss < result.history[0]
    assert result.seconds_per_step > 0


def test_scalars_follow_the_arrays():
    """The same weights, data and steps: an independent check of the whole training."""
    X, labels = ad.nn.datasets.make_moons(20, noise=0.1, rng=np.random.default_rng(1))
    arrays = ad.nn.gradient_descent(
        moons.network(),
        ad.nn.logit_cross_entropy,
        X,
        ad.nn.onehot(labels, 2),
        learning_rate=moons.LEARNING_RATE,
        max_iters=4,
    )
    scalars = scalar.run(X, labels, steps=4, progress=False)
    assert scalars.history == pytest.approx(arrays, rel=1e-10)
    assert scalars.nodes > 20 * 354


def test_scalar_cross_entropy_does_not_overflow():
    loss = scalar.logit_cross_entropy([ad.value.Value(800.0), ad.value.Value(-800.0)], 1)
    assert loss.data == 1600.0


def test_figures(tmp_path, short_runs):
    import matplotlib.image

    paths = figures.write(tmp_path / "new" / "folder", *short_runs)
    assert [p.name for p in paths] == ["cubic.png", "loss.png", "moons.png", "overview.png"]
    for path in paths:
        image = matplotlib.image.imread(path)
        assert image.shape[1] > 900 and image.std() > 0.05


def test_the_whole_demo(tmp_path, capsys):
    assert main(["--quick", "--output", str(tmp_path)]) == 0
    text = capsys.readouterr().out
    for expected in (
        "least squares",
        "gradient descent",
        "accuracy",
        "times faster",
        "overview.png",
    ):
        assert expected in text
    code = text[text.index("overview.png") :]
    assert code.count("def reverse(") == 2 and "evalpoly" in code and "mse" in code


def test_without_the_extras(tmp_path):
    """The message names what is missing, and nothing runs."""
    code = (
        "import sys; sys.modules['rich'] = None\n"
        "import importlib.util as u; find = u.find_spec\n"
        "u.find_spec = lambda n: None if n == 'rich' else find(n)\n"
        "from adjoint.demo.__main__ import main; sys.exit(main([]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": str(Path(ad.__file__).parents[1])},
    )
    assert done.returncode == 1
    assert done.stderr == "the demo needs rich: pip install 'adjoint-ad[plots,progress]'\n"
    assert not list(tmp_path.iterdir())
