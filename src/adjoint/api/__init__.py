"""The public operators, and what chooses the tier of a call."""
