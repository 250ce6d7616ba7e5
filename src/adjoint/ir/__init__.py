"""The intermediate representation: what the frontend makes and the transforms read."""
