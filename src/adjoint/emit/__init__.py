"""Emitters: IR → Python source text."""
