"""The reverse sweep of programs."""
