"""Emitters of the generic tier and of levels: sweeps → Python source text."""
