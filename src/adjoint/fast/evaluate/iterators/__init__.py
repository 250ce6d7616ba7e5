"""Iterators and generators that run code, or whose items are taken one by one."""
