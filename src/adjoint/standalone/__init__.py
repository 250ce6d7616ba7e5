"""Standalone files: the program of one derivative, with all that it calls, as one Python file."""
