"""Protocols of NumPy: array classes, outputs, conversions, error settings."""
