"""Values that are computed again in the reverse sweep."""
