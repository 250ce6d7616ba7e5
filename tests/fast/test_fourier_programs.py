"""Fourier, cosine and sine transforms of NumPy and SciPy in programs of all kinds, also with
lengths that follow from those of the operands."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.fft as sf
from scipy import signal

from tests.fast.second_order import check_programs

RNG = np.random.default_rng(0)
X, M, K = RNG.normal(size=20), RNG.normal(size=(6, 5)), RNG.normal(size=(3, 3))


def size(y):
    return np.log1p(np.abs(y) ** 2).sum()


def autocorrelation(x):
    n = len(x)
    spectrum = np.fft.fft(x - x.mean(), n=2 * n)
    return (np.fft.ifft(spectrum * np.conj(spectrum)).real[:n] ** 2).sum()


def padded(x):
    n = len(x) + 2
    return (np.fft.irfft(np.fft.rfft(x * x, n) * np.fft.rfft(K[0], n), n) ** 2).sum()


def low_pass(x):
    spectrum, f = np.fft.rfft(x * x), np.fft.rfftfreq(len(x))
    spectrum[f > 0.2] = 0
    return (np.fft.irfft(spectrum, len(x)) ** 2).sum()


def blurred(x):
    y = np.fft.ifft2(np.fft.fft2(x * x) * np.fft.fft2(K, s=x.shape))
    return (np.real(y) ** 2).sum()


FUNCTIONS = {
    "autocorrelation": (autocorrelation, X),
    "padded": (padded, X),
    "low pass": (low_pass, X),
    "blurred": (blurred, M),
    "without length": (lambda x: np.sum(np.fft.irfft(np.fft.rfft(x * x) * 1j) ** 3), X),
    "hfft": (lambda x: size(np.fft.hfft(x * x)), X),
    "ihfft": (lambda x: size(np.fft.ihfft(x * x, len(x) - 1)), X),
    "rfft2": (lambda x: size(np.fft.rfft2(x * x)), M),
    "irfft2": (lambda x: (np.fft.irfft2(np.fft.rfft2(x * x) * 2, s=x.shape) ** 2).sum(), M),
    "columns": (lambda x: size(np.fft.rfft(x * x, 2 * len(x), axis=0)), M),
    "SciPy: fft": (lambda x: size(sf.fft(x * x)), X),
    "SciPy: rfft": (lambda x: size(sf.irfft(np.abs(sf.rfft(x, 2 * len(x))) ** 2, 2 * len(x))), X),
    "SciPy: rfftn": (lambda x: size(sf.rfftn(x * x, axes=(0, 1))), M),
    "SciPy: fft2": (lambda x: size(sf.fftshift(sf.fft2(x * x), axes=0)[1:]), M),
    "dct": (lambda x: size(sf.dct(x * x)), X),
    "idct": (lambda x: size(sf.idct(x * x, norm="ortho")), X),
    "dst": (lambda x: size(sf.dst(x * x, type=1)), X),
    "dctn": (lambda x: size(sf.dctn(x * x, norm="ortho")), M),
    "hilbert": (lambda x: size(signal.hilbert(x * x)), X),
    "resample": (lambda x: size(signal.resample(x * x, 13)), X),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_programs(name):
    f, x = FUNCTIONS[name]
    check_programs(f, x)


@pytest.mark.parametrize("name", ["without length", "SciPy: rfft", "dct"])
def test_single_precision(name):
    f, x = FUNCTIONS[name]
    check_programs(f, x.astype(np.float32))


@pytest.mark.parametrize("name", ["without length", "padded", "SciPy: rfft"])
@pytest.mark.parametrize("n", [2, 7])
def test_lengths(name, n):
    check_programs(FUNCTIONS[name][0], X[:n])
