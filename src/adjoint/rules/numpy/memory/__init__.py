"""Functions that write to arrays or walk through their memory."""
