"""The fast tier: programs specialised on the types of the arguments, with inlined callees."""
