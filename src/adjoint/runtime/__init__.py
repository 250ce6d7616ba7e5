"""The runtime of generated code: dispatch of calls, memory, iteration, errors."""
