"""`scipy.signal` and its windows: what is not in the tables of rules."""

from __future__ import annotations

import numpy as np
from scipy import signal as ss
from scipy.signal import windows

from tests.census.entries import Section, case, public, via
from tests.rules.harness import reals

X, Y, IMAGE = reals(40), reals(40, seed=1), reals(6, 7)
B, A = reals(3, seed=2), np.array([1.0, 0.3, -0.2])
ANALOG_B, ANALOG_A = np.array([1.0, 0.5]), np.array([1.0, 1.4, 0.8])
FREE = np.array([[1.2, 0.4, 0.3, 0.3, -0.2], [0.7, 0.1, -0.3, -0.4, 0.1]])
ZEROS, POLES = np.array([0.3, -0.7]), np.array([-0.5, 0.2, 0.4])
SYSTEM = (
    np.array([[-0.7, 0.2], [0.1, -0.4]]), reals(2, 1), reals(1, 2, seed=1), np.array([[0.3]]),
)  # fmt: skip
TIMES, FREQUENCIES = np.arange(6.0), np.array([0.1, 0.4])
SQUARE = reals(30, 30)


def sections(free):
    """Second-order sections, whose fourth column is of ones."""
    return np.insert(free, 3, 1.0, 1)


def of_sections(f, *others, **named):
    return via(lambda free, *xs: f(sections(free), *xs, **named), FREE, *others)


def part(f, i, *args, **named):
    """One of several results, the others of which are frequencies or times."""
    return via(lambda *xs: f(*xs, **named)[i], *args)


DESIGNS = {
    name: via(lambda w, f=getattr(ss, name): f(3, w), 0.3) for name in ("bessel", "butter")
} | {
    "cheby1": via(lambda ripple, w: ss.cheby1(3, ripple, w), 1.0, 0.3),
    "cheby2": via(lambda down, w: ss.cheby2(3, down, w), 30.0, 0.3),
    "ellip": via(lambda ripple, down, w: ss.ellip(3, ripple, down, w), 1.0, 30.0, 0.3),
    "iirdesign": via(lambda ripple: ss.iirdesign(0.2, 0.3, ripple, 40.0, ftype="cheby1"), 1.0),
    "iirfilter": via(lambda w: ss.iirfilter(3, w, btype="low"), 0.3),
    "iircomb": via(lambda q: ss.iircomb(0.25, q), 30.0),
    "iirnotch": case(0.3, 30.0),
    "iirpeak": case(0.3, 30.0),
    "gammatone": via(lambda w: ss.gammatone(w, "fir", fs=1000.0), 100.0),
    "buttord": part(ss.buttord, 1, 0.2, 0.3, 1.0, 40.0),
    "cheb1ord": part(ss.cheb1ord, 1, 0.2, 0.3, 1.0, 40.0),
    "cheb2ord": part(ss.cheb2ord, 1, 0.2, 0.3, 1.0, 40.0),
    "ellipord": part(ss.ellipord, 1, 0.2, 0.3, 1.0, 40.0),
    "cheb1ap": via(lambda ripple: ss.cheb1ap(3, ripple), 1.0),
    "cheb2ap": via(lambda down: ss.cheb2ap(3, down), 30.0),
    "ellipap": via(lambda ripple, down: ss.ellipap(3, ripple, down), 1.0, 30.0),
    "firls": via(lambda gains: ss.firls(7, [0, 0.3, 0.6, 1], gains), np.array([1, 0.8, 0.5, 0.2])),
    "firwin": via(lambda w: ss.firwin(7, w), 0.3),
    "firwin2": via(lambda gains: ss.firwin2(7, [0, 0.5, 1], gains), np.array([1.0, 0.5, 0.1])),
    "firwin_2d": via(lambda w: ss.firwin_2d((5, 5), (("kaiser", 5.0), ("kaiser", 5.0)), fc=w), 0.4),
    "kaiser_atten": via(lambda width: ss.kaiser_atten(9, width), 0.3),
    "kaiser_beta": case(30.0),
    "kaiserord": part(ss.kaiserord, 1, 40.0, 0.2),
    "minimum_phase": case(ss.firwin(9, 0.3)),
    "savgol_coeffs": via(lambda d: ss.savgol_coeffs(7, 3, deriv=1, delta=d), 2.0),
}

CONVERSIONS = {
    "abcd_normalize": case(*SYSTEM),
    "bilinear": case(ANALOG_B, ANALOG_A, 2.0),
    "bilinear_zpk": case(ZEROS, POLES, 1.3, 2.0),
    "cont2discrete": via(lambda *system: ss.cont2discrete(system, 0.1)[:4], *SYSTEM),
    "invres": case(B, POLES, []),
    "invresz": case(B, POLES, []),
    "lp2bp": case(ANALOG_B, ANALOG_A, 1.3, 0.7),
    "lp2bp_zpk": case(ZEROS, POLES, 1.2, 1.3, 0.7),
    "lp2bs": case(ANALOG_B, ANALOG_A, 1.3, 0.7),
    "lp2bs_zpk": case(ZEROS, POLES, 1.2, 1.3, 0.7),
    "lp2hp": case(ANALOG_B, ANALOG_A, 1.0),
    "lp2hp_zpk": case(ZEROS, POLES, 1.2, 1.3),
    "lp2lp": case(ANALOG_B, ANALOG_A, 1.3),
    "lp2lp_zpk": case(ZEROS, POLES, 1.2, 1.3),
    "normalize": case(B, A),
    "residue": case(B, A),
    "residuez": case(B, A),
    "sos2tf": of_sections(ss.sos2tf),
    "sos2zpk": of_sections(ss.sos2zpk),
    "ss2tf": case(*SYSTEM),
    "ss2zpk": case(*SYSTEM),
    "tf2sos": case(B, A),
    "tf2ss": case(B, A),
    "tf2zpk": case(B, A),
    "unique_roots": case(POLES),
    "zpk2sos": case(ZEROS, POLES[:2], 1.2),
    "zpk2ss": case(ZEROS, POLES, 1.2),
    "zpk2tf": case(ZEROS, POLES, 1.2),
}

RESPONSES = {
    "StateSpace": via(lambda *system: ss.StateSpace(*system).A ** 2, *SYSTEM),
    "TransferFunction": via(lambda b, a: ss.TransferFunction(b, a).num ** 2, B, A),
    "ZerosPolesGain": via(lambda *zpk: ss.ZerosPolesGain(*zpk).to_tf().den, ZEROS, POLES, 1.2),
    "lti": via(lambda b, a: ss.lti(b, a).num ** 2, ANALOG_B, ANALOG_A),
    "dlti": via(lambda b, a: ss.dlti(b, a, dt=0.1).num ** 2, B, A),
    "bode": via(lambda b, a: ss.bode((b, a), FREQUENCIES)[1:], ANALOG_B, ANALOG_A),
    "dbode": via(lambda b, a: ss.dbode((b, a, 1.0), FREQUENCIES)[1:], B, A),
    "dfreqresp": via(lambda b, a: ss.dfreqresp((b, a, 1.0), FREQUENCIES)[1], B, A),
    "dimpulse": via(lambda b, a: ss.dimpulse((b, a, 1.0), n=6)[1], B, A),
    "dlsim": via(lambda b, a, u: ss.dlsim((b, a, 1.0), u)[1], B, A, X[:6]),
    "dstep": via(lambda b, a: ss.dstep((b, a, 1.0), n=6)[1], B, A),
    "freqresp": via(lambda b, a: ss.freqresp((b, a), FREQUENCIES)[1], ANALOG_B, ANALOG_A),
    "freqs": via(lambda b, a: ss.freqs(b, a, FREQUENCIES)[1], ANALOG_B, ANALOG_A),
    "freqs_zpk": via(lambda *zpk: ss.freqs_zpk(*zpk, FREQUENCIES)[1], ZEROS, POLES, 1.2),
    "freqz": part(ss.freqz, 1, B, A, worN=8),
    "freqz_sos": via(lambda free: ss.sosfreqz(sections(free), 8)[1], FREE),
    "freqz_zpk": via(lambda *zpk: ss.freqz_zpk(*zpk, 8)[1], ZEROS, POLES, 1.2),
    "group_delay": via(lambda b, a: ss.group_delay((b, a), 8)[1], B, A),
    "impulse": via(lambda b, a: ss.impulse((b, a), T=TIMES)[1], ANALOG_B, ANALOG_A),
    "lsim": via(lambda b, a, u: ss.lsim((b, a), u, TIMES)[1], ANALOG_B, ANALOG_A, X[:6]),
    "sosfreqz": via(lambda free: ss.sosfreqz(sections(free), 8)[1], FREE),
    "step": via(lambda b, a: ss.step((b, a), T=TIMES)[1], ANALOG_B, ANALOG_A),
}


HANN = windows.hann(8)


def short_time(x):
    return ss.ShortTimeFFT(HANN, 4, 1.0).stft(x)


PEAKS = ss.find_peaks(X)[0]


SIGNALS = {
    "CZT": via(lambda x: ss.CZT(40, 10)(x), X),
    "ShortTimeFFT": via(short_time, X),
    "ZoomFFT": via(lambda x: ss.ZoomFFT(40, [0.1, 0.4], 10)(x), X),
    "closest_STFT_dual_window": via(
        lambda w: ss.closest_STFT_dual_window(w, hop=2)[0], reals(8, low=1)
    ),
    "coherence": part(ss.coherence, 1, X, Y, nperseg=16),
    "csd": part(ss.csd, 1, X, Y, nperseg=16),
    "cspline1d": case(X),
    "cspline1d_eval": case(X, np.array([2.3, 4.6])),
    "cspline2d": case(SQUARE),
    "czt": via(lambda x: ss.czt(x, 10), X),
    "decimate": case(X, 2),
    "deconvolve": via(lambda y, d: ss.deconvolve(y, d), X[:8], A),
    "detrend": case(X),
    "envelope": case(X),
    "filtfilt": case(B, A, X),
    "gauss_spline": case(X, 3),
    "hilbert": case(X),
    "hilbert2": case(IMAGE),
    "istft": via(lambda z: ss.istft(z, nperseg=16)[1], ss.stft(X, nperseg=16)[2]),
    "lombscargle": case(np.arange(40) + 0.1 * Y, X, np.array([0.5, 0.8])),
    "medfilt": case(X, 3),
    "medfilt2d": case(IMAGE, 3),
    "order_filter": case(X, np.ones(3), 2),
    "periodogram": part(ss.periodogram, 1, X),
    "qspline1d": case(X),
    "qspline1d_eval": case(X, np.array([2.3, 4.6])),
    "qspline2d": case(SQUARE),
    "resample": via(lambda x: ss.resample(x, 30), X),
    "resample_poly": case(X, 3, 2),
    "savgol_filter": via(lambda x: ss.savgol_filter(x, 7, 3), X),
    "sosfilt": of_sections(ss.sosfilt, X),
    "sosfilt_zi": of_sections(ss.sosfilt_zi),
    "sosfiltfilt": of_sections(ss.sosfiltfilt, X),
    "spectrogram": part(ss.spectrogram, 2, X, nperseg=16),
    "spline_filter": via(ss.spline_filter, SQUARE, rtol=1e-4),
    "stft": part(ss.stft, 2, X, nperseg=16),
    "symiirorder1": via(lambda x, c: ss.symiirorder1(x, c, 0.3), X, 0.5),
    "symiirorder2": via(lambda x: ss.symiirorder2(x, 0.5, 0.3), X),
    "vectorstrength": case(X, 2.0),
    "welch": part(ss.welch, 1, X, nperseg=16),
    "wiener": via(lambda x: ss.wiener(x, 3), IMAGE),
    "zoom_fft": via(lambda x: ss.zoom_fft(x, [0.1, 0.4], 10), X),
    "find_peaks": via(lambda x: ss.find_peaks(x, height=0)[1]["peak_heights"], X),
    "peak_prominences": via(lambda x: ss.peak_prominences(x, PEAKS)[0], X),
    "peak_widths": via(lambda x, part: ss.peak_widths(x, PEAKS, part), X, 0.4),
}

WAVES = {
    "chirp": case(X, 1.0, 2.0, 3.0),
    "gausspulse": case(X, 5.0, 0.5),
    "sawtooth": case(X, 0.3),
    "sweep_poly": via(lambda t: ss.sweep_poly(t, np.poly1d([0.1, 0.2, 0.3])), X),
    "get_window": via(lambda beta: ss.get_window(("kaiser", beta), 8), 3.0),
}

COUNTS = "find_peaks_cwt argrelextrema argrelmax argrelmin correlation_lags"
CONSTANTS = {
    "positions": COUNTS,
    "points on a circle, an impulse, a sequence of bits": "czt_points unit_impulse max_len_seq",
    "choices": "choose_conv_method check_COLA check_NOLA findfreqs",
    "a square wave": "square",
    "a prototype of that order": "besselap buttap",
}
REFUSED = {
    "the basis that it chooses may be any": "place_poles",
    "solved iteratively, in compiled code": "remez band_stop_obj",
}

OF_A_NUMBER = {
    "chebwin": 50.0, "exponential": 3.0, "gaussian": 3.0, "general_hamming": 0.6, "kaiser": 3.0,
    "kaiser_bessel_derived": 3.0, "tukey": 0.4,
}  # fmt: skip


def of_a_number(name):
    f = getattr(windows, name)
    if name == "exponential":
        return via(lambda tau: f(8, tau=tau), OF_A_NUMBER[name])
    return via(lambda x: f(8, x), OF_A_NUMBER[name])


WINDOWS = {name: of_a_number(name) for name in OF_A_NUMBER} | {
    "general_cosine": via(lambda a: windows.general_cosine(8, a), X[:4]),
    "general_gaussian": via(lambda p, s: windows.general_gaussian(8, p, s), 1.5, 3.0),
    "get_window": via(lambda beta: windows.get_window(("kaiser", beta), 8), 3.0),
    "taylor": via(lambda down: windows.taylor(8, 4, down), 30.0),
    "dpss": via(lambda half: windows.dpss(8, half), 2.5),
}
OF_SO_MANY_POINTS = """
    barthann bartlett blackman blackmanharris bohman boxcar cosine flattop hamming hann lanczos
    nuttall parzen triang
"""

EXAMPLES = DESIGNS | CONVERSIONS | RESPONSES | SIGNALS | WAVES
SECTIONS = [
    Section("scipy.signal", public(ss), EXAMPLES, CONSTANTS, REFUSED),
    Section(
        "scipy.signal.windows",
        public(windows),
        WINDOWS,
        {"a window of so many points": OF_SO_MANY_POINTS},
    ),
]
