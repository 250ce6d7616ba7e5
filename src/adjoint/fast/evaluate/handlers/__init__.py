"""What builtins and library functions mean in programs, by subject.

`iterating_builtins` has `sorted`.
"""
