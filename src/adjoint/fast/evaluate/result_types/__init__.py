"""Result types of operations."""
