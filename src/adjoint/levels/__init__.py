"""Nested differentiation: levels that stand on one another (design, section 3.6)."""
