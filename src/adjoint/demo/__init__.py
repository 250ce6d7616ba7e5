"""The demo of ``make demo``: a noisy cubic, two moons, and the moons with a node per number."""
