"""Questions about the user's values, classes and code: no cotangent, no memory."""
