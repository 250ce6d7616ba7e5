"""What belongs to the engine itself."""

__all__ = ["Hidden"]


class Hidden:
    """An object of the engine: what it holds is not looked into, it is no value of the user's."""

    __slots__ = ()
