"""Nested differentiation: levels, each of which computes on the level below."""
