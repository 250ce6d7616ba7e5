"""The intermediate representation that the frontend builds and the transforms read."""
