"""What calls of different kinds of functions mean in programs, and how arguments are bound."""
