"""Questions about values, classes and code of the user: no cotangent, no memory."""
