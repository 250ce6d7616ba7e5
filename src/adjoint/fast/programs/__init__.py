"""Programs that are kept, and who runs them."""
