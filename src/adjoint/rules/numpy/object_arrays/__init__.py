"""Rules for arrays of objects."""
