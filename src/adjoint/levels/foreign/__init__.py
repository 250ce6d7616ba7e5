"""Code that a level does not follow, and values out of its sight."""
