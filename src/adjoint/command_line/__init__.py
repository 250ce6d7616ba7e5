"""``python -m adjoint``: what the library makes of a function or a file, from the command line."""
