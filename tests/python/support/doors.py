"""Bad input for every door: what is given, which exception it must be, and what its text must say.

A door is a function of what is given. The texts stand behind the name of the argument, which each door adds.
"""

import pickle
from pathlib import Path

import numpy as np
import pytest

NAN = float("nan")


def read_only(array):
    array = np.array(array)
    array.flags.writeable = False
    return array


def masked(values=(1, 2), mask=(False, True)):
    return np.ma.array(values, mask=mask)


# Where an array of integers is asked for.
INTEGERS = [
    (3, ValueError, "expected one dimension, got 0"),
    (np.array(3), ValueError, "expected one dimension, got 0"),
    (np.array([[1], [2]]), ValueError, "expected one dimension, got 2"),
    (np.array([1.0, 2.0]), TypeError, "expected integers, got dtype float64"),
    (np.array([1, NAN]), TypeError, "expected integers, got dtype float64"),
    (np.array([True, False]), TypeError, "expected integers, got dtype bool"),
    (np.array(["a", "b"]), TypeError, "expected integers, got dtype <U1"),
    (np.array([1, 2], "M8[s]"), TypeError, "expected integers, got dtype datetime64"),
    (np.array([1, None], object), TypeError, "position 1 holds NoneType, not an integer"),
    (np.array([1, "2"], object), TypeError, "position 1 holds str, not an integer"),
    (np.array([1, True], object), TypeError, "position 1 holds bool, not an integer"),
    (np.array([1, 2**70], object), OverflowError, f"position 1 holds {2**70}, which does not fit 64 bits"),
    (np.array([1, 2**63], "u8"), OverflowError, "63 bits"),
    (masked(), TypeError, "expected an array without a mask"),
]

# Where one number of things is asked for, at least 1.
WHOLE = [
    (2.5, TypeError, "expected an int"),
    (NAN, TypeError, "expected an int"),
    ("2", TypeError, "expected an int"),
    (True, TypeError, "expected an int"),
    (np.True_, TypeError, "expected an int"),
    (object, TypeError, "expected an int"),
    (-1, ValueError, "-1"),
    (2**70, OverflowError, "63 bits|64 bits"),
]

# An output of int64 (2, 3) is asked for.
OUTPUTS = [
    ([[0] * 3] * 2, TypeError, "expected an array, got list"),
    (np.zeros((2, 3), np.float32), (ValueError, TypeError), "float32"),
    (np.zeros((2, 3), ">i8"), (ValueError, TypeError), ">i8"),
    (np.zeros((2, 3), object), (ValueError, TypeError), "object"),
    (read_only(np.zeros((2, 3), np.int64)), ValueError, "read-only|writ"),
    (np.zeros((2, 6), np.int64)[:, ::2], ValueError, "C-contiguous"),
    (np.asfortranarray(np.zeros((2, 3), np.int64)), ValueError, "C-contiguous"),
    (np.ma.zeros((2, 3), np.int64), TypeError, "expected an array without a mask"),
]

# The same integers, oddly laid out.
ODD = {
    "strided": lambda x: np.repeat(np.asarray(x), 2)[::2],
    "reversed": lambda x: np.asarray(x)[::-1].copy()[::-1],
    "read-only": read_only,
    "big-endian": lambda x: np.asarray(x).astype(">i8"),
    "uint8": lambda x: np.asarray(x).astype(np.uint8),
    "list": lambda x: np.asarray(x).tolist(),
    "tuple": lambda x: tuple(np.asarray(x).tolist()),
}


def doors(table, **result):
    """Every entry of a table at every door: (door, given, error, text with the argument's name)."""
    return [
        pytest.param(door, given, error, f"{name.split()[0]}.*({text})", id=f"{name}-{i}")
        for name, door in result.items()
        for i, (given, error, text) in enumerate(table)
    ]


def state_of(thing):
    if isinstance(thing, Path):
        return {path: path.read_bytes() for path in thing.rglob("*") if path.is_file()}
    return pickle.dumps(thing)


def refuses(door, given, error, text, *untouched):
    """The door raises this error with this text, and leaves alone what is given and what is named."""
    things = [given, *untouched]
    before = [state_of(thing) for thing in things]
    with pytest.raises(error, match=f"(?s){text}"):
        door(given)
    assert [state_of(thing) for thing in things] == before
