"""Generated code: made, compiled, kept in the process and on disk."""
