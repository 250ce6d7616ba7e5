"""Calls: by rule, else by the source of the callee, else as an unknown callee."""
