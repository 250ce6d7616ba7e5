"""Reading and writing arrays, arrays of objects, classes derived from arrays."""
