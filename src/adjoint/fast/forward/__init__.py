"""The pass from a program to the program of its derivative along tangents (forward mode).

Applied to the computation of a function it gives a pushforward; applied to the sweeps of a
gradient, the product of a Hessian and a vector.
"""
