"""Passes over single-assignment functions that preserve their meaning.

`sequence` orders those that simplify both sweeps; `fast/build/specialisation.py` applies the
others.
"""
