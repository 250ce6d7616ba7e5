"""The fast tier: specialised, inlined, flat code of forward and reverse (design, section 3.7)."""
