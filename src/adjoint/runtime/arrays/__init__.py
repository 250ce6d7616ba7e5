"""Reading and writing arrays, arrays of objects, array subclasses."""
