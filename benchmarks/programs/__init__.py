"""The programs that are differentiated: plain Python and NumPy, that of their users."""
