"""What a file of rules imports: the registry, families of rules, projection, refusals."""
