import sys

import numpy as np
import pytest

import adjoint as ad
from adjoint import nn


class Line:
    def __init__(self):
        self.w = np.zeros(2)

    def __call__(self, x):
        return self.w[0] + self.w[1] * x


X = np.linspace(-1.0, 1.0, 20)
Y = 3.0 - 2.0 * X


def test_finds_the_line_and_returns_the_history():
    model = Line()
    history = nn.gradient_descent(model, nn.mse, X, Y, learning_rate=0.3, max_iters=100)
    np.testing.assert_allclose(model.w, [3.0, -2.0], atol=1e-6)
    assert len(history) == 100 and all(type(value) is float for value in history)
    assert history[0] == pytest.approx(nn.mse(np.zeros(20), Y))
    assert all(b < a for a, b in zip(history[:50], history[1:]))


def test_one_step_is_one_gradient_step():
    model, reference = Line(), Line()
    nn.gradient_descent(model, nn.mse, X, Y, learning_rate=0.3, max_iters=1)
    residual = reference(X) - Y
    expected = -0.3 * 2 * np.array([residual.mean(), (residual * X).mean()])
    np.testing.assert_allclose(model.w, expected, rtol=1e-6)


def test_batches_deal_out_every_sample_once_per_round():
    seen = []

    class Recorder(Line):
        def __call__(self, x):
            seen.append(np.array(x))
            return super().__call__(x)

    model = Recorder()
    history = nn.gradient_descent(
        model,
        nn.mse,
        X,
        Y,
        learning_rate=0.0,
        max_iters=6,
        batch_size=8,
        rng=np.random.default_rng(0),
    )
    assert len(history) == 6
    sizes = [len(x) for x in seen]
    if sizes == [8, 8, 4] * 2:
        for epoch in (seen[:3], seen[3:]):
            np.testing.assert_array_equal(np.sort(np.concatenate(epoch)), X)
        assert not np.array_equal(seen[0], seen[3])


def test_batches_train_and_are_reproducible():
    histories = []
    for _ in range(2):
        model = Line()
        histories.append(
            nn.gradient_descent(
                model,
                nn.mse,
                list(X),
                list(Y),
                learning_rate=0.2,
                max_iters=150,
                batch_size=5,
                rng=np.random.default_rng(1),
            )
        )
        np.testing.assert_allclose(model.w, [3.0, -2.0], atol=1e-4)
    assert histories[0] == histories[1]


def test_callback_sees_each_step():
    calls = []
    history = nn.gradient_descent(
        Line(),
        nn.mse,
        X,
        Y,
        learning_rate=0.1,
        max_iters=3,
        callback=lambda i, value: calls.append((i, value)),
    )
    assert calls == list(enumerate(history))


def test_data_are_left_alone():
    x, y = X.copy(), Y.copy()
    nn.gradient_descent(Line(), nn.mse, x, y, learning_rate=0.1, max_iters=2)
    np.testing.assert_array_equal(x, X)
    np.testing.assert_array_equal(y, Y)


def test_no_iterations():
    model = Line()
    assert nn.gradient_descent(model, nn.mse, X, Y, learning_rate=0.1, max_iters=0) == []
    assert model.w.tolist() == [0.0, 0.0]


def test_a_closure_is_a_model():
    w = np.zeros(2)
    nn.gradient_descent(lambda x: w[0] + w[1] * x, nn.mse, X, Y, learning_rate=0.3, max_iters=100)
    np.testing.assert_allclose(w, [3.0, -2.0], atol=1e-6)


def test_tied_weights_get_their_total_gradient_once():
    w = np.array([[0.5]])

    class Tied:
        def __init__(self):
            self.encoder = self.decoder = w

        def __call__(self, x):
            return x @ self.encoder @ self.decoder

    x, y = np.array([[2.0]]), np.array([[8.0]])
    nn.gradient_descent(Tied(), nn.mse, x, y, learning_rate=0.01, max_iters=1)
    # d/dw (2 w^2 - 8)^2 = 2 (2 w^2 - 8) 4 w
    assert w[0, 0] == pytest.approx(0.5 - 0.01 * 2 * (2 * 0.25 - 8) * 4 * 0.5, rel=1e-6)


def test_small_network_learns():
    X, labels = nn.datasets.make_moons(40, noise=0.05, rng=np.random.default_rng(0))
    model = nn.Chain(
        nn.Dense(2, 4, nn.tanh, rng=np.random.default_rng(1)),
        nn.Dense(4, 2, rng=np.random.default_rng(2)),
    )
    history = nn.gradient_descent(
        model, nn.logit_cross_entropy, X, nn.onehot(labels, 2), learning_rate=1.0, max_iters=60
    )
    assert history[-1] < 0.35 < history[0]


def test_progress_bar(capsys):
    nn.gradient_descent(Line(), nn.mse, X, Y, learning_rate=0.1, max_iters=3, progress=True)
    text = capsys.readouterr().out
    assert "gradient descent" in text and "3/3" in text and "loss" in text


def test_progress_without_the_extra(monkeypatch):
    for name in [n for n in sys.modules if n.partition(".")[0] == "rich"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "rich", None)
    with pytest.raises(ImportError, match=r"pip install 'adjoint-ad\[progress\]'"):
        nn.gradient_descent(Line(), nn.mse, X, Y, learning_rate=0.1, max_iters=1, progress=True)


def constant(x):
    return x


@pytest.mark.parametrize(
    "change, error, message",
    [
        (
            {"learning_rate": -1.0},
            ValueError,
            "learning_rate must be finite and not negative, got -1.0",
        ),
        ({"max_iters": -1}, ValueError, "max_iters must not be negative, got -1"),
        ({"batch_size": 0}, ValueError, "batch_size must be at least 1, got 0"),
        ({"Y": Y[:-1]}, ValueError, "X has 20 samples, Y has 19"),
        ({"X": X[:0], "Y": Y[:0]}, ValueError, "no samples"),
        ({"model": {"w": np.ones(2)}}, TypeError, "model must be callable, got dict"),
        ({"model": constant}, ValueError, "function holds no arrays of floats"),
    ],
)
def test_bad_input(change, error, message):
    arguments = {
        "model": Line(),
        "loss": nn.mse,
        "X": X,
        "Y": Y,
        "learning_rate": 0.1,
        "max_iters": 1,
    }
    arguments |= change
    positional = [arguments.pop(name) for name in ("model", "loss", "X", "Y")]
    with pytest.raises(error, match=message):
        nn.gradient_descent(*positional, **arguments)


def test_predictions_of_another_shape_are_refused():
    with pytest.raises(ValueError, match=r"differ in shape: \(20,\) and \(20, 1\)"):
        nn.gradient_descent(Line(), nn.mse, X, Y[:, None], learning_rate=0.1, max_iters=1)


def test_a_loss_without_the_model():
    class Unused:
        def __init__(self):
            self.w = np.ones(2)

        def __call__(self, x):
            return x

    with pytest.warns(RuntimeWarning, match="zero in all of the model's arrays"):
        nn.gradient_descent(Unused(), nn.mse, X, Y, learning_rate=0.1, max_iters=1)


def test_gradient_of_the_scalar_loss_is_available_to_own_loops():
    model = Line()
    for _ in range(100):
        value, (gradient,) = ad.withgradient(lambda m: nn.mse(m(X), Y), model)
        nn.update(model, gradient, 0.3)
    assert value < 1e-10


# ---- optimizers, schedules, early stopping -------------------------------------------------------


def test_an_optimizer_makes_its_own_steps():
    """The same steps on the arrays by hand, in batches of one order."""
    model, reference, opt = Line(), Line(), ad.optim.adam(0.1)
    history = nn.gradient_descent(
        model, nn.mse, X, Y, optimizer=opt, max_iters=7, batch_size=8, rng=3
    )
    state, rng, losses = opt.init(reference), np.random.default_rng(3), []
    batches = [
        order[i : i + 8] for order in (rng.permutation(20) for _ in range(3)) for i in (0, 8, 16)
    ]
    for chosen in batches[:7]:
        value, (bars,) = ad.withgradient(lambda m: nn.mse(m(X[chosen]), Y[chosen]), reference)
        updates, state = opt.update(bars, state, reference)
        reference = ad.optim.apply_updates(reference, updates)
        losses.append(value)
    np.testing.assert_allclose(history, losses, rtol=1e-14)
    np.testing.assert_allclose(model.w, reference.w, rtol=1e-14)


def test_an_optimizer_and_tied_weights():
    w = np.array([[0.5]])
    model = nn.Chain(nn.Dense(1, 1), nn.Dense(1, 1))
    model[0].W = model[1].W = w
    x, y = np.array([[2.0]]), np.array([[8.0]])
    nn.gradient_descent(model, nn.mse, x, y, optimizer=ad.optim.sgd(0.01), max_iters=1)
    assert w[0, 0] == pytest.approx(0.5 - 0.01 * 2 * (2 * 0.25 - 8) * 4 * 0.5, rel=1e-12)


def test_a_schedule_as_the_learning_rate():
    model, reference = Line(), Line()
    rate = ad.optim.exponential_decay(0.3, 2, 0.5)
    nn.gradient_descent(model, nn.mse, X, Y, learning_rate=rate, max_iters=4)
    for count in range(4):
        nn.gradient_descent(reference, nn.mse, X, Y, learning_rate=rate(count), max_iters=1)
    np.testing.assert_array_equal(model.w, reference.w)
    with pytest.raises(ValueError, match="finite and not negative, got nan"):
        nn.gradient_descent(
            model, nn.mse, X, Y, learning_rate=lambda count: float("nan"), max_iters=1
        )


def test_patience():
    def run(**options):
        model = Line()
        history = nn.gradient_descent(
            model, nn.mse, X, Y, learning_rate=0.3, max_iters=400, rng=0, **options
        )
        np.testing.assert_allclose(model.w, [3.0, -2.0], atol=0.05)
        return len(history)

    assert run() == 400
    # the loss falls by more than 1e-3 in each of the first iterations, then no more: two in vain
    losses = nn.gradient_descent(Line(), nn.mse, X, Y, learning_rate=0.3, max_iters=400)
    lowest, waited, expected = np.inf, 0, 0
    while waited < 2:
        better = losses[expected] < lowest - 1e-3
        lowest, waited = (losses[expected], 0) if better else (lowest, waited + 1)
        expected += 1
    assert run(patience=2, min_delta=1e-3) == expected < 100
    # rounds of three batches
    assert run(patience=3, min_delta=1e-9, batch_size=8) % 3 == 0


def test_validation_decides():
    """The model learns the samples and gets worse at the validation samples at once."""
    history = nn.gradient_descent(
        Line(), nn.mse, X, Y, learning_rate=0.1, max_iters=50, patience=4, validation=(X, -Y)
    )
    assert len(history) == 5 and history[-1] < history[0]


def test_a_loss_that_is_not_a_number_ends_patience():
    model = Line()
    with np.errstate(all="ignore"):
        history = nn.gradient_descent(
            model, nn.mse, X, Y, learning_rate=1e200, max_iters=50, patience=3
        )
    assert len(history) < 10


@pytest.mark.parametrize(
    "options, error, message",
    [
        ({}, ad.ArgumentError, "either a learning_rate or an optimizer\nhint: write"),
        ({"learning_rate": 0.1, "optimizer": ad.optim.sgd(0.1)}, ad.ArgumentError, "either"),
        ({"optimizer": "adam"}, ad.ArgumentError, "must be one of ad.optim, got a str"),
        ({"learning_rate": 0.1, "patience": 0}, ValueError, "patience must be at least 1"),
        ({"learning_rate": 0.1, "min_delta": -1.0}, ValueError, "min_delta must be finite"),
        ({"learning_rate": 0.1, "validation": (X, Y)}, ValueError, "give patience"),
        (
            {"learning_rate": 0.1, "validation": (X, Y[1:]), "patience": 1},
            ValueError,
            "X has 20 samples, Y has 19",
        ),
    ],
)
def test_bad_options(options, error, message):
    with pytest.raises(error, match=message):
        nn.gradient_descent(Line(), nn.mse, X, Y, max_iters=1, **options)
