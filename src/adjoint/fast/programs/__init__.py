"""The store of programs, and the calls that run them."""
