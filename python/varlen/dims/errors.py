"""What can be wrong with dims."""


class LengthMismatchError(ValueError):
    """Lengths differ where they have to be the same; the text names the row.

    Examples
    --------
    >>> time = vl.Dim("time", lengths=[3, 0, 2])
    >>> time + time.bind([3, 1, 2])
    Traceback (most recent call last):
    varlen.dims.errors.LengthMismatchError: row 1 of 'time' has length 0 in one and 1 in the other
    """
