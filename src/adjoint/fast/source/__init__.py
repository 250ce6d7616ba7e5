"""The source text of programs."""
