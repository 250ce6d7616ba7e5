"""Spectra, filters and peaks of `scipy.signal` in programs of all kinds."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import signal
from scipy.signal import _upfirdn

import adjoint as ad
from adjoint.fast.nested.signal_filters import _output_len
from tests.fast.second_order import check_programs

RNG = np.random.default_rng(0)
X, ROWS = RNG.normal(size=60), RNG.normal(size=(3, 40))
SECTIONS = signal.butter(3, 0.2, output="sos")
A = SECTIONS[:, 4:]
T = np.linspace(0.1, 1.0, 60)


def size(y):
    return (np.abs(y) ** 2).sum()


def cubed(y):
    return (y**3).sum()


def loudness(x):
    """The logarithms of spectra of several resolutions, as a loss of audio has them."""
    total = 0.0
    for n in (8, 16, 32):
        power = np.abs(signal.stft(x * x, nperseg=n)[2]) ** 2
        total = total + np.log(power + 1e-3).mean()
    return total


FUNCTIONS = {
    "welch": (lambda x: cubed(signal.welch(x * x, nperseg=16)[1]), X),
    "welch of rows": (lambda x: cubed(signal.welch(x, nperseg=16, scaling="spectrum")[1]), ROWS),
    "median of spectra": (lambda x: cubed(signal.welch(x, nperseg=8, average="median")[1]), X),
    "periodogram": (lambda x: cubed(signal.periodogram(x, window="hamming")[1]), X),
    "csd": (lambda x: size(signal.csd(x, x * T, nperseg=16)[1]), X),
    "coherence": (lambda x: cubed(signal.coherence(x, T * x + x * x, nperseg=16)[1]), X),
    "spectrogram": (lambda x: cubed(signal.spectrogram(x, nperseg=16)[2]), X),
    "stft": (lambda x: size(signal.stft(x * x, nperseg=16)[2]), X),
    "loudness": (loudness, X),
    "savgol_filter": (lambda x: cubed(signal.savgol_filter(x, 7, 3)), X),
    "slope of it": (lambda x: cubed(signal.savgol_filter(x, 7, 3, 1, 0.1)), X),
    "of columns": (lambda x: cubed(signal.savgol_filter(x, 5, 2, axis=0, mode="wrap")), ROWS.T),
    "ends of columns": (lambda x: cubed(signal.savgol_filter(x, 5, 2, axis=0)), ROWS.T),
    "in the step": (lambda d: cubed(signal.savgol_filter(X, 7, 3, 1, d[0])), T[3:4]),
    "decimate": (lambda x: cubed(signal.decimate(x, 2)), X),
    "sections": (lambda x: cubed(signal.sosfilt(signal.butter(3, 0.2, output="sos"), x)), X),
    "filtered in sections": (lambda x: cubed(signal.sosfilt(SECTIONS, x)), X),
    "of both sides": (lambda x: cubed(signal.filtfilt(*signal.butter(2, 0.3), x)), X),
    "resample_poly": (lambda x: cubed(signal.resample_poly(x, 2, 3)), X),
    "design": (lambda x: cubed(signal.lfilter(signal.firwin(11, 0.3), 1.0, x)), X),
    "window": (lambda x: cubed(x * signal.windows.hann(60)), X),
    "window of a length": (lambda x: cubed(x * signal.get_window("hamming", len(x))), X),
    "peaks": (lambda x: cubed(x[signal.find_peaks(x)[0]]), X),
    "some peaks": (lambda x: cubed(x[signal.find_peaks(x, height=0.2, distance=3)[0]]), X),
    "high peaks": (lambda x: cubed(signal.find_peaks(x, (0.1, 2.0))[1]["peak_heights"]), X),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_programs(name):
    f, x = FUNCTIONS[name]
    check_programs(f, x, 1e-5)
    assert ad.withgradient(f, x)[0] == pytest.approx(f(x), rel=1e-11)


def test_a_filter_of_the_given_sections():
    def f(p):
        sections = np.concatenate([p, np.ones((2, 1)), A], axis=1)
        return cubed(signal.sosfilt(sections, X))

    check_programs(f, SECTIONS[:, :3], 1e-5)


def test_designs_are_made_anew_for_each_call():
    def f(x):
        w = signal.windows.hann(5)
        w *= x
        return w.sum() * w[2]

    assert ad.gradient(f, 2.0) == ad.gradient(f, 2.0)
    assert ad.gradient(f, 2.0)[0] == pytest.approx(4.0 * signal.windows.hann(5).sum())


def test_designs_of_other_options():
    """What a program holds belongs to the options that it was made for."""

    def f(x, n, kind):
        return (signal.get_window(kind, n) * x).sum()

    for n, kind in itertools.product((4, 7), ("hann", "boxcar", ("kaiser", 5.0))):
        (x_bar, *_) = ad.gradient(f, 2.0, n, kind)
        assert x_bar == pytest.approx(signal.get_window(kind, n).sum())


def test_plateaus_are_peaks():
    x = np.array([0.0, 1.0, 1.0, 0.0, 2.0, 0.5])
    f = lambda x: (x[signal.find_peaks(x)[0]] ** 2).sum()
    assert ad.gradient(f, x)[0].tolist() == [0.0, 2.0, 0.0, 0.0, 4.0, 0.0]


def test_lengths_of_resampled_signals():
    for given in itertools.product(range(1, 9), range(1, 9), range(1, 6), range(1, 6)):
        assert _output_len(*given) == _upfirdn._output_len(*given)
