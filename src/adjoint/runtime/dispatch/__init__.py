"""What a call does: a rule, else the source of the callee, else an unknown run."""
