"""Containers, objects and classes of known structure."""
