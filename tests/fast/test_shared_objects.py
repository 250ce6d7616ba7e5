"""Arrays and objects that stand in several places of one argument: each place shows the total."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

import adjoint as ad
from adjoint.fast.programs import store as tier
from tests.fast.agreeing import generic_tier
from tests.structures import difference


class Part:
    def __init__(self, w):
        self.w = w


class Model:
    def __init__(self, w, part):
        self.w, self.same = w, w
        self.part, self.also = part, part
        self.listed = [part, w]

    def loss(self, x):
        total = np.sum(self.w * self.same * x) + np.sum(self.part.w**2 * self.also.w)
        return total + np.sum(self.listed[0].w * self.listed[1] * x)


def made():
    return Model(np.array([1.0, 2.0]), Part(np.array([3.0, -4.0])))


X = np.array([0.5, 1.5])


def of_method(model):
    return model.loss(X)


def of_list(pair):
    return np.sum(pair[0] * pair[1]) + np.sum(pair[1] ** 3)


def captured(model):
    return lambda x: model.loss(x)


def test_each_place_of_an_object_shows_its_cotangent():
    model = made()
    (bar,) = ad.gradient(of_method, model)
    assert ad.tier(of_method, model).tier == "fast"
    w, v = model.w, model.part.w
    w_bar, v_bar = 2 * w * X + v * X, 3 * v**2 + w * X
    for found in (bar.w, bar.same, bar.listed[1]):
        assert np.allclose(found, w_bar, rtol=1e-14)
    for found in (bar.part.w, bar.also.w, bar.listed[0].w):
        assert np.allclose(found, v_bar, rtol=1e-14)
    with generic_tier():
        assert not difference((bar,), ad.gradient(of_method, model))


class Pair(NamedTuple):
    first: float
    second: float


def test_numbers_of_a_tuple_are_variables_of_each_place():
    pair = Pair(0.5, 0.7)

    def f(pairs):
        return pairs[0].first ** 2 + 2.0 * pairs[1].first + pairs[0].second * pairs[1].second

    assert ad.gradient(f, (pair, pair)) == ((Pair(1.0, 0.7), Pair(2.0, 0.7)),)


def test_captured_objects_show_it_too():
    f = captured(made())
    y, back = ad.pullback(f, X)
    found = y, back(1.5)
    with generic_tier():
        y, back = ad.pullback(f, X)
        assert not difference(found, (y, back(1.5)))


class Network:
    """Holds its weights by name, and once more in containers that the loss does not read."""

    def __init__(self, w, b, unused):
        self.w, self.b, self.unused = w, b, unused
        self.weights = [w, b, unused]
        self.by_layer = {"first": {"w": w}, "scale": 2.0}

    def loss(self):
        return np.sum(np.tanh(X @ self.w + self.b) ** 2)


def of_network(network):
    return network.loss()


def test_places_that_are_not_read_show_it_too():
    tier.forget()
    rng = np.random.default_rng(3)
    w, b, unused = rng.normal(size=(2, 3)), rng.normal(size=3), np.ones(2)
    tied = Network(w, b, unused)
    (bar,) = ad.gradient(of_network, tied)
    assert ad.tier(of_network, tied).tier == "fast"
    assert np.array_equal(bar.weights[0], bar.w) and np.array_equal(bar.weights[1], bar.b)
    assert np.array_equal(bar.by_layer["first"]["w"], bar.w) and not np.any(bar.weights[2])
    apart = Network(w, b, unused)
    apart.weights[0] = w.copy()
    for network in (tied, apart, tied):
        found = ad.gradient(of_network, network)
        with generic_tier():
            assert not difference(found, ad.gradient(of_network, network))


@pytest.mark.parametrize("tie", [True, False])
def test_a_program_is_for_objects_that_are_shared_alike(tie):
    tier.forget()
    ways = {True: [X, X], False: [X, X + 1.0]}
    ad.gradient(of_list, ways[tie])
    for key in (not tie, tie):
        found = ad.gradient(of_list, ways[key])
        with generic_tier():
            assert not difference(found, ad.gradient(of_list, ways[key]))


def test_tangents_of_shared_objects_are_for_the_generic_tier():
    x_dot = [np.array([1.0, 0.0]), np.array([1.0, 0.0])]
    y, y_dot = ad.pushforward(of_list, ([X, X],), (x_dot,))
    with generic_tier():
        assert not difference((y, y_dot), ad.pushforward(of_list, ([X, X],), (x_dot,)))
