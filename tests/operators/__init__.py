"""The operators that steer derivatives."""
