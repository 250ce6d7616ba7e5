"""Functions that draw with parameters: the draws are constants, the same for every tangent."""

import numpy as np
import pytest

import adjoint as ad

POINT = np.array([0.7, 1.3])

DRAWS = {
    "normal": lambda rng, p: rng.normal(p[0], p[1], 5),
    "uniform": lambda rng, p: rng.uniform(p[0], p[1] + 2.0, 5),
    "exponential": lambda rng, p: rng.exponential(p[1], 5) * p[0],
    "one by one": lambda rng, p: np.array([rng.normal(p[0], p[1]) for _ in range(3)]),
    "permutation": lambda rng, p: rng.permutation(np.concatenate([p, p**2])),
    "choice": lambda rng, p: rng.choice(np.concatenate([p, p**2]), 3),
    "shuffle": lambda rng, p: shuffled(rng, np.concatenate([p, p**2])),
}


def shuffled(rng, xs):
    rng.shuffle(xs)
    return xs


def generator():
    return np.random.default_rng(3)


def state():
    return np.random.RandomState(3)


def module():
    np.random.seed(3)  # noqa: NPY002
    return np.random


SOURCES = [generator, state, module]


@pytest.mark.parametrize("make", SOURCES)
@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)
def test_every_way_to_a_jacobian_has_the_same_draws(draw, make):
    def f(p):
        return draw(make(), p) * p[0]

    h = 1e-6
    differences = np.stack(
        [(f(POINT + h * e) - f(POINT - h * e)) / (2 * h) for e in np.eye(2)], axis=1
    )
    push = ad.linearize(f, POINT)[1]
    for found in (
        ad.jacobian_forward(f, POINT),
        ad.jacobian_reverse(f, POINT),
        ad.value_and_jacobian(f, POINT)[1],
        np.stack([push(e) for e in np.eye(2)], axis=1),
        np.stack([push(e) for e in np.eye(2)], axis=1),
        np.stack([ad.pushforward(f, (POINT,), (e,))[1] for e in np.eye(2)], axis=1),
    ):
        np.testing.assert_allclose(found, differences, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("make", SOURCES)
@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)
def test_the_source_goes_on_where_the_function_left_it(draw, make):
    draw_from = make()
    draw(draw_from, POINT)
    expected = draw_from.normal()
    for over in (ad.jacobian_forward, ad.jacobian_reverse, ad.value_and_jacobian):
        source = make()
        over(lambda p: draw(source, p), POINT)  # noqa: B023
        assert source.normal() == expected
    source = make()
    _, push = ad.linearize(lambda p: draw(source, p), POINT)
    push(POINT)
    push(POINT)
    assert source.normal() == expected


@pytest.mark.parametrize("make", SOURCES)
@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)
def test_second_derivatives(draw, make):
    def f(p):
        return (draw(make(), p) ** 3).sum()

    expected = ad.jacobian_reverse(ad.grad(f), POINT)
    for mode in ("forward", "reverse"):
        np.testing.assert_allclose(ad.hessian(f, POINT, mode=mode), expected, rtol=1e-10)
    push = ad.linearize(ad.grad(f), POINT)[1]
    found = np.stack([push(e) for e in np.eye(2)], axis=1)
    np.testing.assert_allclose(found, expected, rtol=1e-10)
    slopes = ad.gradient(lambda p: ad.linearize(f, p)[1](POINT), POINT)[0]
    np.testing.assert_allclose(slopes, expected @ POINT, rtol=1e-10)
