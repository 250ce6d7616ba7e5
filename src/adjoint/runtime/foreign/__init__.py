"""Runs of foreign code, and what they may change."""
