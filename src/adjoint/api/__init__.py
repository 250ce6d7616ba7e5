"""The public operators, and the choice of the tier of a call."""
