"""Sums, products, extrema, quantiles and other statistics."""
