"""What builtins and library functions mean in programs, by subject."""
