"""Derivatives in many numbers: linear maps, Jacobians, Hessians."""
