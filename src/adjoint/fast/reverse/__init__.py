"""The reverse sweep of a specialised program."""
