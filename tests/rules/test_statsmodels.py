"""Likelihoods of state space models: the values of the compiled filters of statsmodels, and
derivatives by differences of these."""

import numpy as np
import pytest

import adjoint as ad

pytest.importorskip("statsmodels")

from statsmodels.tsa.arima.model import ARIMA  # noqa: E402
from statsmodels.tsa.statespace.kalman_filter import KalmanFilter  # noqa: E402
from statsmodels.tsa.statespace.sarimax import SARIMAX  # noqa: E402
from statsmodels.tsa.statespace.structural import UnobservedComponents  # noqa: E402

Y = np.array([0.3, -0.2, 0.9, 0.4, 1.1, 0.2, -0.5, 0.6, 0.1, 0.7])
WITH_GAPS = np.where(np.arange(10) % 4 == 2, np.nan, Y)


def local_level(rho):
    """The program of which it is known what it should give."""
    model = KalmanFilter(k_endog=1, k_states=1)
    model.bind(Y[:8])
    model["design", 0, 0] = model["selection", 0, 0] = 1.0
    model["obs_cov", 0, 0] = model["state_cov", 0, 0] = 1.0
    model.initialize_known(np.zeros(1), np.eye(1))
    model.loglike()  # which makes the objects in C

    def f(v):
        model["transition", 0, 0] = v[0]
        return model.loglike()

    return f, np.array([rho])


def two_series():
    """Two series of which one has gaps, of a model that changes with time."""
    y = np.column_stack([Y, WITH_GAPS])
    model = KalmanFilter(k_endog=2, k_states=2)
    model.bind(y)
    model["selection"] = np.eye(2)
    model["state_cov"] = np.array([[1.0, 0.2], [0.2, 0.5]])
    model["transition"] = np.array([[0.6, 0.1], [-0.2, 0.4]])
    model["obs_intercept"] = np.zeros((2, 10))
    model.initialize_known(np.array([0.1, 0.2]), np.eye(2))

    def f(v):
        times = np.linspace(0.0, 1.0, 10)
        model["obs_cov"] = np.array([[v[0] ** 2, 0.1], [0.1, 1.0 + v[1] ** 2]])
        model["design"] = np.eye(2)[:, :, None] * (1.0 + v[2] * times)
        model["state_intercept"] = np.array([[0.1], [1.0]]) * v[1]
        return model.loglike()

    return f, np.array([0.9, 0.4, 0.3])


def of_model(model, point):
    return model.loglike, np.array(point)


def each_observation():
    model = ARIMA(WITH_GAPS, order=(1, 0, 1))
    weights = np.linspace(0.5, 1.5, 10)
    return lambda p: model.loglikeobs(p) @ weights, np.array([0.2, 0.4, 0.3, 0.7])


PROGRAMS = {
    "local level": lambda: local_level(0.6),
    "two series": two_series,
    "ARMA": lambda: of_model(SARIMAX(Y, order=(1, 0, 1)), [0.5, 0.2, 0.8]),
    "approximately diffuse": lambda: of_model(
        SARIMAX(Y, order=(1, 1, 0), trend="c"), [0.1, 0.3, 0.8]
    ),
    "gaps": lambda: of_model(ARIMA(WITH_GAPS, order=(1, 0, 0)), [0.1, 0.3, 0.8]),
    "seasonal": lambda: of_model(
        SARIMAX(Y, order=(0, 0, 1), seasonal_order=(1, 0, 0, 2)), [0.3, 0.2, 0.8]
    ),
    "level": lambda: of_model(UnobservedComponents(Y, "local level"), [0.8, 0.5]),
    "each observation": each_observation,
}


@pytest.fixture(params=PROGRAMS)
def program(request):
    return PROGRAMS[request.param]()


def differences(f, x, step=1e-5):
    """Central differences with the next order taken out."""
    found = []
    for axis in np.eye(x.size):
        slope = [(f(x + h * axis) - f(x - h * axis)) / (2 * h) for h in (step, 2 * step)]
        found.append((4 * slope[0] - slope[1]) / 3)
    return np.array(found)


def test_values_and_gradients(program):
    f, x = program
    want = differences(f, x)
    for run in (ad.value_and_grad(f), ad.value_and_grad(f, tier="generic")):
        y, bar = run(x)
        np.testing.assert_allclose(y, f(x), rtol=1e-9)
        np.testing.assert_allclose(bar, want, rtol=1e-5, atol=1e-5)


def test_tangents(program):
    f, x = program
    y, slope = ad.pushforward(f, (x,), (np.ones(x.size),))
    np.testing.assert_allclose(y, f(x), rtol=1e-9)
    np.testing.assert_allclose(slope, differences(f, x).sum(), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", ["local level", "ARMA", "gaps"])
def test_second_derivatives(name):
    f, x = PROGRAMS[name]()
    gradient = ad.grad(f)
    want = [
        (gradient(x + h) - gradient(x - h)) / 2e-5 for h in 1e-5 * np.eye(x.size)
    ]  # the gradients are tested above
    np.testing.assert_allclose(ad.hessian(f, x), want, rtol=1e-5, atol=1e-5)


def test_the_slope_of_the_local_level():
    """-0.990969, by the filter written out in Python and its differences."""
    f, x = local_level(0.6)
    np.testing.assert_allclose(ad.gradient(f, x)[0], [-0.990969], rtol=1e-5)


def exactly_diffuse():
    return UnobservedComponents(Y, "local level", use_exact_diffuse=True), np.array([0.8, 0.5])


def concentrated():
    return SARIMAX(Y, order=(1, 0, 0), concentrate_scale=True), np.array([0.5])


@pytest.mark.parametrize("make", [exactly_diffuse, concentrated])
def test_what_is_left_to_the_compiled_filters_is_refused(make):
    model, x = make()
    model.loglike(x)
    runs = (
        lambda f: ad.gradient(f, x),
        lambda f: ad.grad(f, tier="generic")(x),
        lambda f: ad.pushforward(f, (x,), (np.ones(x.size),)),
    )
    for run in runs:
        with pytest.raises(ad.AdjointError):
            run(model.loglike)


def test_constant_likelihoods_are_constants():
    model, x = exactly_diffuse()
    want = model.loglike(x)
    np.testing.assert_allclose(ad.gradient(lambda v: v**2 * model.loglike(x), 3.0)[0], 6 * want)
