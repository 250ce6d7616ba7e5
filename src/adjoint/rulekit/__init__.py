"""The kit for rule files: the registry, families of rules, projection, refusals."""
