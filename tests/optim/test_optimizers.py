"""The optimizers, by optax and by written-out formulas."""

import functools
import pickle

import numpy as np
import pytest
from tests.optim import reference
from tests.optim.cases import (
    COUNTS,
    OPTIMIZERS,
    SCHEDULES,
    STEPS,
    bars_at,
    start,
    trajectory,
)

import adjoint as ad
from adjoint import optim

EMPTY = optim.sgd(0.1).init([1.0])


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_frozen_numbers_of_optax(name):
    found = trajectory(OPTIMIZERS[name](optim), optim.apply_updates)
    np.testing.assert_allclose(found[-1], reference.OPTIMIZERS[name], rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name", SCHEDULES)
def test_frozen_rates_of_optax(name):
    schedule = SCHEDULES[name](optim)
    found = [schedule(count) for count in COUNTS]
    np.testing.assert_allclose(found, reference.SCHEDULES[name], rtol=1e-12, atol=1e-14)


def test_each_step_agrees_with_optax():
    optax = pytest.importorskip("optax")
    jax = pytest.importorskip("jax")
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    try:
        for name, make in OPTIMIZERS.items():
            expected = trajectory(
                make(optax),
                optax.apply_updates,
                convert=lambda tree: jax.tree.map(jax.numpy.asarray, tree),
            )
            found = trajectory(make(optim), optim.apply_updates)
            np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14, err_msg=name)
        for name, make in SCHEDULES.items():
            ours, theirs = make(optim), make(optax)
            np.testing.assert_allclose(
                [ours(i) for i in range(30)], [theirs(i) for i in range(30)], rtol=1e-12, atol=1e-14
            )
    finally:
        jax.config.update("jax_enable_x64", before)


# ---- formulas, written out -----------------------------------------------------------------------


def by_hand(step):
    """The parameters after all steps of ``step(g, p, t, memory)`` on one vector."""
    p = np.array([*start()["w"], start()["b"]])
    memory = {}
    for t in range(STEPS):
        bars = bars_at(t)
        p = p + step(np.array([*bars["w"], bars["b"]]), p, t + 1, memory)
    return p


def polyak(g, p, t, memory):
    memory["v"] = g + 0.9 * memory.get("v", 0.0)
    return -0.1 * memory["v"]


def nesterov(g, p, t, memory):
    memory["v"] = g + 0.8 * memory.get("v", 0.0)
    return -0.1 * (g + 0.8 * memory["v"])


def kingma_ba(g, p, t, memory):
    m = memory["m"] = 0.9 * memory.get("m", 0.0) + 0.1 * g
    v = memory["v"] = 0.999 * memory.get("v", 0.0) + 0.001 * g * g
    return -0.05 * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)


def loshchilov_hutter(g, p, t, memory):
    return kingma_ba(g, p, t, memory) - 0.05 * 0.1 * p


def graves(g, p, t, memory):
    v = memory["v"] = 0.9 * memory.get("v", 0.0) + 0.1 * g * g
    m = memory["m"] = 0.9 * memory.get("m", 0.0) + 0.1 * g
    return -0.05 * g / np.sqrt(v - m * m + 1e-2)


def pascanu(g, p, t, memory):
    norm = np.sqrt(np.sum(g * g))
    g = g if norm < 0.9 else g * (0.9 / norm)
    memory["v"] = g + 0.5 * memory.get("v", 0.0)
    return -0.1 * memory["v"]


@pytest.mark.parametrize(
    "name, step",
    [
        ("sgd", lambda g, p, t, memory: -0.1 * g),
        ("momentum", polyak),
        ("nesterov", nesterov),
        ("adam", kingma_ba),
        ("adamw", loshchilov_hutter),
        ("centered", graves),
        ("clip", lambda g, p, t, memory: -0.1 * np.clip(g, -0.3, 0.3)),
        ("clip by norm", pascanu),
    ],
)
def test_formulas(name, step):
    found = trajectory(OPTIMIZERS[name](optim), optim.apply_updates)
    np.testing.assert_allclose(found[-1], by_hand(step), rtol=1e-12)


def test_a_variance_that_rounding_makes_negative():
    """Where optax 0.2.8 gives NaN."""
    opt = optim.rmsprop(0.05, centered=True, eps=1e-2, eps_in_sqrt=False, bias_correction=True)
    found = trajectory(opt, optim.apply_updates)
    assert np.isfinite(found).all()


def test_complex_parameters_move_against_the_gradient():
    """The average of the square is real: both parts are divided by one number."""
    z = np.array([1.0 + 2.0j])
    opt = optim.adam(0.1)
    updates, _ = opt.update([np.array([3.0 + 4.0j])], opt.init([z]), [z])
    np.testing.assert_allclose(updates[0], -0.1 * np.array([0.6 + 0.8j]), rtol=1e-7)


# ---- models --------------------------------------------------------------------------------------


class Model:
    def __init__(self):
        self.layers = [{"W": np.ones((2, 3), np.float32)}, (np.zeros(3), 0.5)]
        self.n, self.name, self.mask = 3, "model", np.array([True])
        self.tied = self.layers[0]["W"]

    def loss(self):
        return 0.01 * np.sum(
            (self.layers[0]["W"] @ self.layers[1][0] - self.n + self.layers[1][1]) ** 2
        )


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_objects(name):
    model, opt = Model(), OPTIMIZERS[name](optim)
    state, first = opt.init(model), model.loss()
    for _ in range(4):
        (bars,) = ad.gradient(Model.loss, model)
        updates, state = opt.update(bars, state, model)
        model = optim.apply_updates(model, updates)
    assert type(updates) is ad.Tangent and updates.name is None and updates.n is None
    assert type(model) is Model and model.n == 3 and type(model.n) is int and model.mask is not None
    assert model.loss() < first
    assert model.layers[0]["W"].dtype == np.float32 and model.tied is model.layers[0]["W"]
    assert type(model.layers[1][1]) is float
    again = pickle.loads(pickle.dumps(state))
    np.testing.assert_equal(again, state)


def test_nothing_is_changed_in_place():
    params, opt = start(), optim.adam(0.1)
    state = opt.init(params)
    copies = [start(), pickle.loads(pickle.dumps(state)), bars_at(1)]
    bars = bars_at(1)
    updates, _ = opt.update(bars, state, params)
    optim.apply_updates(params, updates)
    np.testing.assert_equal([params, state, bars], copies)


def test_none_means_no_update():
    params = {"a": 1.0, "b": np.ones(2), "c": [2.0, "text"]}
    for opt in (optim.adamw(0.1), optim.sgd(0.1, momentum=0.9), optim.rmsprop(0.1)):
        state = opt.init(params)
        full = {"a": 1.0, "b": np.ones(2), "c": [1.0, None]}
        updates, state = opt.update(full, state, params)
        sparse = {"a": 1.0, "b": None, "c": None}
        updates, after = opt.update(sparse, state, params)
        assert updates["b"] is None and updates["c"] is None and updates["a"] != 0.0
        moved = optim.apply_updates(params, updates)
        assert moved["b"].tolist() == [1.0, 1.0] and moved["c"] == [2.0, "text"]
        opt.update(full, after, params)  # the state has kept its part


def test_arrays_that_functions_capture():
    """They stay as they are: who thinks that they are trained is told."""
    w, layer = np.ones(2), ad.nn.Dense(2, 2)
    for f in (lambda x: w * x, functools.partial(np.dot, w), layer.__call__):
        with pytest.warns(RuntimeWarning, match=r"function at params\[1\] captures an array"):
            optim.adam(0.1).init([1.0, f])
    slope = 0.01
    optim.adam(0.1).init([1.0, lambda x: np.maximum(x, slope * x), np.tanh, layer])


def test_order_of_keys_does_not_matter():
    opt = optim.adam(0.1)
    state = opt.init({"a": 1.0, "b": 2.0})
    _, state = opt.update({"b": 5.0, "a": -1.0}, state)
    assert state[0].mu["a"] == pytest.approx(-0.1) and state[0].mu["b"] == pytest.approx(0.5)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_single_precision_stays(name):
    found = trajectory(OPTIMIZERS[name](optim), optim.apply_updates, np.float32)
    assert found.dtype == np.float32
    expected = reference.OPTIMIZERS[name]
    np.testing.assert_allclose(found[-1], expected, rtol=2e-4)
    opt = OPTIMIZERS[name](optim)
    _, state = opt.update(bars_at(0, np.float32), opt.init(start(np.float32)), start(np.float32))
    dtypes = {np.asarray(x).dtype for x in ad.tree_leaves(state) if not isinstance(x, int)}
    assert dtypes <= {np.dtype(np.float32)}


def test_a_schedule_counts_updates():
    seen = []
    opt = optim.sgd(lambda count: seen.append(count) or 0.1 * count)
    state = opt.init([1.0])
    steps = []
    for _ in range(3):
        updates, state = opt.update([1.0], state)
        steps += updates
    assert seen == [0, 1, 2] and steps == pytest.approx([0.0, -0.1, -0.2])


@pytest.mark.parametrize(
    "wrong, message",
    [
        (lambda: optim.sgd(-0.1), "learning_rate must be a finite number and not negative"),
        (lambda: optim.sgd("fast"), "learning_rate must be a finite number"),
        (lambda: optim.sgd(0.1, momentum=1.0), "momentum must be less than 1"),
        (lambda: optim.adam(0.1, b2=1.5), "b2 must be less than 1"),
        (
            lambda: optim.adam(0.1).init({"n": 1}),
            "holds no floats .*\nhint: integers are constants",
        ),
        (lambda: optim.adam(0.1).init({"a.b": 1.0, "a": {"b": 1.0}}), "have the name 'a.b'"),
        (lambda: optim.adam(0.1).update([1.0], ()), "not one of this optimizer"),
        (lambda: optim.adam(0.1).update([1.0], optim.adam(0.1).init({"w": 1.0})), "no part '0'"),
        (
            lambda: optim.adam(0.1).update([np.ones(3)], optim.adam(0.1).init([np.ones(2)])),
            r"'0' has shape \(3,\), its gradient or state \(2,\)",
        ),
        (
            lambda: optim.sgd(0.1).update([np.ones(3)], EMPTY, [np.ones((3, 1))]),
            r"'0' has shape \(3, 1\), its gradient or state \(3,\)",
        ),
        (lambda: optim.sgd(0.1).update([1j], EMPTY, [1.0]), "'0' is real, its gradient is complex"),
        (
            lambda: optim.adamw(0.1).update([1.0], optim.adamw(0.1).init([1.0])),
            r"needs the weights\nhint: write updates, state = opt.update\(bars, state, params\)",
        ),
        (lambda: optim.clip(1.0).update([1j], EMPTY), "hint: use clip_by_global_norm"),
        (lambda: optim.chain(0.1), r"chain takes transformations, got a float"),
        (lambda: optim.apply_updates([np.ones(3)], [np.ones((3, 3))]), r"has shape \(3,\)"),
        (lambda: optim.apply_updates([1.0, 2.0], [1.0]), "the trees differ"),
        (lambda: optim.exponential_decay(0.1, 0, 0.5), "transition_steps must be at least 1"),
        (lambda: optim.exponential_decay(0.1, 5, 0.0), "decay_rate must be positive"),
        (lambda: optim.cosine_decay_schedule(0.1, 0), "decay_steps must be at least 1"),
        (lambda: optim.warmup_cosine_decay_schedule(0, 1, 5, 5), "decay_steps must be at least 6"),
        (lambda: optim.piecewise_constant_schedule(1.0, {3: -1.0}), "must not be negative, got -1"),
    ],
)
def test_bad_input(wrong, message):
    with pytest.raises(ad.ArgumentError, match=message):
        wrong()


@pytest.mark.parametrize(
    "opt",
    [
        optim.adam(1e-3),
        optim.sgd(optim.exponential_decay(0.1, 10, 0.5), momentum=0.9),
        optim.chain(optim.clip_by_global_norm(1.0), optim.adamw(0.1)),
    ],
)
def test_optimizers_travel(opt):
    again = pickle.loads(pickle.dumps(opt))
    params, bars = {"w": np.ones(3)}, {"w": np.array([1.0, -2.0, 3.0])}
    here, _ = opt.update(bars, opt.init(params), params)
    there, _ = again.update(bars, again.init(params), params)
    np.testing.assert_array_equal(here["w"], there["w"])
