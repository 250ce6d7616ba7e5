"""What a program checks and reads before it runs, and what it makes of its results."""
