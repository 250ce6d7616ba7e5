"""Cotangents as values: sums, poison, finiteness, structural zeros."""
