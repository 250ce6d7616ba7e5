"""Transforms of the IR."""
