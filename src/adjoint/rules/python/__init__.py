"""Rules of Python's standard library: a file per module, builtins by type in `builtins`."""
