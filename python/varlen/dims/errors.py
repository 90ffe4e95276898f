"""What can be wrong with dims."""


class LengthMismatchError(ValueError):
    """Lengths differ where they have to be the same; the text names the row."""
