"""Generated code: generation, compilation, caches in the process and on disk."""
