"""Functions that programs call."""
