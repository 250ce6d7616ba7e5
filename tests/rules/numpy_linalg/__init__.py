"""Rules of `numpy.linalg`, by the files that they are in."""
