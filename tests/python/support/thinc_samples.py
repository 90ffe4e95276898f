"""What the cases of Thinc's sequences are made of."""

import numpy as np
from varlen.thinc import Ragged

ROWS = np.arange(12.0).reshape(6, 2)
TENS = np.arange(10.0).reshape(5, 2)


def same(result, wanted):
    """Equal numbers in equal shapes."""
    np.testing.assert_array_equal(result, wanted)
    assert np.shape(result) == np.shape(wanted)


def ragged(data=ROWS, lengths=(2, 0, 3, 1)):
    return Ragged(data, list(lengths))


def of_lengths(lengths, width=5, dtype=np.float32):
    return [np.full((n, width), i + 1, dtype) for i, n in enumerate(lengths)]
