"""What ``make demo`` runs: a noisy cubic, two moons, and the moons with a node per number."""
