"""A scalar graph for teaching: each operation makes a node, and `backward` visits them in reverse.

This is operator overloading on a recorded graph; the rest of the library does not use it.
"""

from adjoint.value.graph import Value, build_graph, zero_grad
from adjoint.value.layers import MLP, Layer, Module, Neuron
from adjoint.value.text import format_graph

__all__ = ["MLP", "Layer", "Module", "Neuron", "Value", "build_graph", "format_graph", "zero_grad"]
