"""Errors are records: what is wrong, with which argument, in which row, by which number."""

import pickle
import re
from pathlib import Path

import numpy as np
import pytest
import varlen as vl
from varlen.data import Dataset
from varlen.errors import error_of, name_argument, naming

R = vl.Ragged([3, 1, 4], [2, 1])

RECORDS = [
    (
        lambda: vl.Level([2, -1]),
        ValueError,
        {"argument": "lengths", "code": "negative_length", "row": 1, "number": -1},
    ),
    (
        lambda: vl.Level.from_offsets([0, 3, 2]),
        ValueError,
        {"argument": "offsets", "code": "decreasing", "row": 1},
    ),
    (lambda: vl.ops.reduce_max(np.ones(1), [1, 0]), ValueError, {"argument": "lengths", "row": 1}),
    (lambda: R.to_dense(fill=0.5), ValueError, {"argument": "fill", "reason": "0.5 does not fit int64"}),
    (lambda: R.to_dense(max_bytes=1), ValueError, {"argument": "values", "code": "padded_size"}),
    (lambda: vl.ops.pad([[1, 2]], max_bytes=1), ValueError, {"argument": "arrays", "number": 16}),
    (lambda: vl.Ragged.from_list([[1], ["a"]]), TypeError, {"argument": "data[1][0]"}),
    (lambda: vl.Ragged([1, 2], [1]), ValueError, {"argument": "lengths"}),
    (lambda: vl.RankTable.of(R.levels[0], [0, 0]), ValueError, {"argument": "order"}),
    (lambda: vl.sequence_pad(R, 0.5), ValueError, {"argument": "pad_value"}),
    (lambda: vl.sequence_pool(vl.Ragged([1.0], [1, 0]), "max", pad_value=None), ValueError, {"row": 1}),
    (
        lambda: Dataset(vl.JointNestedRaggedTensorDict({"x": [[1, 2]]})).batch([0], max_bytes=1),
        ValueError,
        {"code": "padded_size"},
    ),
]


@pytest.mark.parametrize(("call", "kind", "record"), RECORDS, ids=range(len(RECORDS)))
def test_an_error_knows_what_is_wrong(call, kind, record):
    with pytest.raises(kind) as found:
        call()
    error = found.value
    assert {name: getattr(error, name) for name in record} == record
    advice = getattr(error, "advice", "")
    assert str(error) == f"{error.argument}: {error.reason}" + (f"; {advice}" if advice else "")
    assert vars(pickle.loads(pickle.dumps(error))) == vars(error)


def test_an_error_names_the_argument_of_the_caller():
    with (
        pytest.raises(ValueError, match=r"^given: row 1 has a negative length, -1$") as found,
        naming("given"),
    ):
        vl.Level([2, -1])
    assert (found.value.argument, found.value.row) == ("given", 1)
    with pytest.raises(ValueError, match=r"^lengths: row 1"), naming(offsets="given"):
        vl.Level([2, -1])
    with pytest.raises(KeyError, match=r"^'x'$"), naming("given"):
        raise KeyError("x")


def test_advice_is_that_of_the_caller():
    error = error_of(ValueError, "lengths", "sequence 1 is empty", "say what it gives with empty=")
    assert str(error) == "lengths: sequence 1 is empty; say what it gives with empty="
    assert (
        str(name_argument(error, lengths="x", advice="leave it out"))
        == "x: sequence 1 is empty; leave it out"
    )


# Where the text of an error of others is put behind a place, which it becomes a part of.
PLACED = {"cli", "io", "data/devices", "dims/axes.py", "sequence/lod.py"}


def test_no_text_of_an_error_is_edited():
    package = Path(vl.__file__).parent
    edits = re.compile(r"str\((?:error|wrong|failure)\)")
    found = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if edits.search(path.read_text())
        and not path.relative_to(package).as_posix().startswith(tuple(PLACED))
    }
    assert not found
