"""Explanation of one derivative: each operation with its value, local derivative and cotangent."""
