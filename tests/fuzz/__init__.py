"""Random programs: ``python -m tests.fuzz --programs 1000 --seed 1 --kind memory``."""
