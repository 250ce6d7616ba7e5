"""Attributes, classes, subscripts, iteration, exceptions."""
