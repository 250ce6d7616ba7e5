"""Source text of programs."""
