"""Operations of Python: attributes, classes, subscripts, iteration, exceptions."""
