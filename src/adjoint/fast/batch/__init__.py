"""The pass from a program of one row to a program of all rows at once, along a leading axis."""
