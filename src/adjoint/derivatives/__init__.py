"""Derivatives of more than one number: linear maps, Jacobians, Hessians."""
