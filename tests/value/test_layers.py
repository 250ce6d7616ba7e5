import random

import numpy as np
import pytest

from adjoint.value import MLP, Layer, Module, Neuron, Value, build_graph


def test_neuron_computes_what_it_says():
    neuron = Neuron(3, "tanh", rng=np.random.default_rng(0))
    w = np.array([v.data for v in neuron.weights])
    x = [0.5, -1.0, 2.0]
    assert neuron(x).data == pytest.approx(np.tanh(w @ x))
    assert neuron.parameters() == [*neuron.weights, neuron.bias]


def test_mlp_agrees_with_arrays():
    mlp = MLP(2, [4, 3], "relu", rng=np.random.default_rng(0))

    def layer(l, h):
        W = np.array([[w.data for w in n.weights] for n in l.neurons]).T
        return h @ W + np.array([n.bias.data for n in l.neurons])

    x = np.array([0.3, -0.7])
    expected = layer(mlp.layers[1], np.maximum(layer(mlp.layers[0], x), 0))
    assert [v.data for v in mlp(list(x))] == pytest.approx(expected)
    assert len(mlp.parameters()) == (2 * 4 + 4) + (4 * 3 + 3)
    assert len(set(map(id, mlp.parameters()))) == len(mlp.parameters())


def test_gradient_of_every_parameter():
    mlp = MLP(2, [3, 1], "tanh", "sigmoid", rng=np.random.default_rng(5))
    for layer in mlp.layers:
        for neuron in layer.neurons:
            neuron.bias.data = 0.1
    x = [Value(0.4), Value(-0.2)]
    y = mlp(x)
    y.backward()
    for p in [*mlp.parameters(), *x]:
        grad, h = p.grad, 1e-6
        p.data += h
        high = mlp(x).data
        p.data -= 2 * h
        low = mlp(x).data
        p.data += h
        assert grad == pytest.approx((high - low) / (2 * h), rel=1e-6, abs=1e-9)


def test_mlp_learns_xor():
    rng = np.random.default_rng(0)
    mlp = MLP(2, [4, 1], rng=rng)
    data = [((0, 0), -1), ((0, 1), 1), ((1, 0), 1), ((1, 1), -1)]
    for _ in range(300):
        loss = sum(((mlp(x) - y) ** 2 for x, y in data), Value(0))
        loss.backward()
        for p in mlp.parameters():
            p.data -= 0.1 * p.grad
    assert loss.data < 0.05
    assert all(mlp(x).data * y > 0 for x, y in data)


def test_parameters_are_reached():
    mlp = MLP(2, [3, 2], rng=np.random.default_rng(0))
    nodes = set(map(id, build_graph(sum(mlp([1.0, 2.0])))))
    assert all(id(p) in nodes for p in mlp.parameters())


def test_reproducible_and_readable():
    a, b = (MLP(2, [3], rng=np.random.default_rng(7)) for _ in range(2))
    assert [p.data for p in a.parameters()] == [p.data for p in b.parameters()]
    assert repr(Neuron(2)) == "Neuron(2, 'tanh')"
    assert repr(MLP(2, [3, 1], "relu")) == "MLP(Layer(2, 3, 'relu'), Layer(3, 1, None))"


def test_bad_input():
    with pytest.raises(ValueError, match="at least one input"):
        Neuron(0)
    with pytest.raises(ValueError, match="unknown activation 'gelu'; known are None, 'relu'"):
        Neuron(2, "gelu")
    with pytest.raises(ValueError, match="at least one output"):
        Layer(2, 0)
    with pytest.raises(ValueError, match="at least one layer"):
        MLP(2, [])
    with pytest.raises(ValueError, match="expected 2 inputs, got 3"):
        MLP(2, [1])([1.0, 2.0, 3.0])


def test_one_output_is_a_value():
    x = [0.5, -1.0]
    assert type(MLP(2, [3, 1], rng=0)(x)) is Value and type(Layer(2, 1, rng=0)(x)) is Value
    assert [type(y) for y in MLP(2, [3, 2], rng=0)(x)] == [Value, Value]
    narrow = MLP(2, [1, 1], "relu", rng=0)
    (a,), (b,) = (layer.neurons for layer in narrow.layers)
    assert narrow(x).data == b([a(x)]).data


def test_zero_grad():
    for model in (MLP(2, [3, 1], rng=0), Layer(2, 1, rng=0), Neuron(2, rng=0)):
        assert isinstance(model, Module)
        model([1.0, 2.0]).backward()
        assert any(p.grad for p in model.parameters())
        model.zero_grad()
        assert all(p.grad == 0.0 for p in model.parameters())
    assert Module().parameters() == []


def test_weights_of_micrograd():
    """In the order in which micrograd draws them from the module `random`."""
    state = random.getstate()
    try:
        random.seed(1337)
        expected = [random.uniform(-1, 1) for _ in range(2 * 3 + 3)]
        random.seed(1337)
        mlp = MLP(2, [3, 1], "relu", init="uniform")
        later = random.random()
        random.seed(1337)
        MLP(2, [3, 1], init="uniform", rng=5)
        assert random.uniform(-1, 1) == expected[0] != later, "a seed leaves the module alone"
    finally:
        random.setstate(state)
    assert [w.data for layer in mlp.layers for n in layer.neurons for w in n.w] == expected
    assert all(n.b.data == 0.0 for layer in mlp.layers for n in layer.neurons)
    for rng in (1337, random.Random(1337), np.int64(1337)):
        again = MLP(2, [3, 1], "relu", init="uniform", rng=rng)
        assert [p.data for p in again.parameters()] == [p.data for p in mlp.parameters()]


@pytest.mark.parametrize("init", ["scaled", "uniform"])
def test_generators(init):
    def weights(rng):
        return [p.data for p in MLP(4, [3, 1], init=init, rng=rng).parameters()]

    one = weights(np.random.default_rng(3))
    assert weights(np.random.default_rng(3)) == one and len(set(one)) == 16
    assert weights(4) == weights(4) != weights(5)
    assert weights(random.Random(4)) == weights(random.Random(4))
    bound = 1.0 if init == "uniform" else 0.5
    drawn = [w.data for w in Layer(4, 500, init=init, rng=0).neurons[0].weights]
    assert max(map(abs, drawn)) <= bound
    if init == "scaled":
        assert weights(3) == one
    with pytest.raises(
        TypeError, match="rng is a seed, a numpy.random.Generator or a random.Random"
    ):
        weights("seed")


def test_unknown_init():
    with pytest.raises(ValueError, match="unknown init 'xavier'; known are 'scaled', 'uniform'"):
        MLP(2, [1], init="xavier")
