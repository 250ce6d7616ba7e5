"""Rules for `astropy`."""
