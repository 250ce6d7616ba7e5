"""`scipy.fft`: all of it is in the tables of rules."""

from __future__ import annotations

from scipy import fft

from tests.census.entries import Section, public

SECTIONS = [Section("scipy.fft", public(fft), constants={"an offset of a grid": "fhtoffset"})]
