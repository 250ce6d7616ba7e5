"""Evaluations of GradBench in plain Python: ``python -m benchmarks.gradbench``.

GradBench (https://github.com/gradbench/gradbench) compares tools of automatic differentiation. An
evaluation sends a tool the names of functions and their inputs, and checks and times the outputs.
There is one module per evaluation here. Each has an objective that knows nothing of derivatives,
written twice: with whole arrays and element by element. Below the objective is what GradBench
calls. The formulas are those that the evaluations of GradBench state; the code is our own.
"""
