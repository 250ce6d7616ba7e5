"""Rules of `numpy.fft`."""
