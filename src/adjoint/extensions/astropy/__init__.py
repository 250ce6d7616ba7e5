"""Rules of `astropy`."""
