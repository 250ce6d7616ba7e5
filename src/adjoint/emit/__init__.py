"""Emitters: IR → source text."""
