"""The partial evaluator: runs a function on what is known of its arguments, and writes the rest."""
