"""Errors are records: what is wrong, with which argument, in which row, by which number."""

import pickle

import numpy as np
import pytest
import varlen as vl
from varlen.cli.conversion.wrong import Findings, WrongRows
from varlen.data import Dataset
from varlen.errors import (
    error_of,
    name_argument,
    name_file,
    name_place,
    naming,
    place_row,
    row_error,
    tell_cause,
)

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
    (lambda: R.to_dense(max_bytes=1), ValueError, {"argument": "max_bytes", "code": "padded_size"}),
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


NESTED = vl.Ragged.from_list([[[1, 2], [3]], [[4]]])
JOINT = vl.JointNestedRaggedTensorDict({"x": [[1, 2], [3]]})
LENGTHS = [2, 1]
PLACES = [
    (lambda: R[5], None, 5),
    (lambda: R.row(-9), None, -9),
    (lambda: R[[0, 5]], 1, 5),
    (lambda: R[:, 9], 0, 9),
    (lambda: NESTED[1, 3], None, 3),
    (lambda: NESTED[[0, 1, 7]], 2, 7),
    (lambda: JOINT[5], None, 5),
    (lambda: JOINT[0, 5], None, 5),
    (lambda: JOINT[[1, -3]], 1, -3),
    (lambda: vl.Padded.from_list([[1], [2, 3]])[7], None, 7),
    (lambda: vl.thinc.Ragged(np.ones((3, 1)), [2, 1])[4], None, 4),
    (lambda: vl.ops.gather_add(np.ones((2, 1)), [[0], [2]]), 1, 2),
    (lambda: vl.ops.gather_add(np.ones((2, 1)), np.array([[2**64 - 1]], np.uint64)), 0, None),
    (lambda: vl.ops.spans(R, [[0, 1], [0, 4]], row_ids=[0, 1]), 1, 4),
    (lambda: vl.ops.backprop_reduce_max(np.ones(2), np.array([0, 3]), LENGTHS), 1, 3),
    (lambda: vl.sequence_slice(R, [0, -1], [1, 1]), 1, -1),
    (lambda: vl.sequence_slice(R, [0, 0], [1, 4]), 1, 4),
]


@pytest.mark.parametrize(("call", "row", "number"), PLACES, ids=range(len(PLACES)))
def test_an_error_of_a_place_knows_it_and_its_row(call, row, number):
    with pytest.raises((IndexError, ValueError)) as found:
        call()
    assert (getattr(found.value, "row", None), getattr(found.value, "number", None)) == (row, number)


STEPS = [
    (R, slice(None, None, 0)),
    (R, (slice(None), slice(None, None, 0))),
    (NESTED, (0, slice(None, None, 0))),
    (NESTED, (slice(None), slice(None), slice(None, None, 0))),
    (JOINT, slice(None, None, 0)),
    (JOINT, (0, slice(None, None, 0))),
    (vl.Padded.from_list([[1], [2, 3]]), slice(None, None, 0)),
    (vl.ops.pack([1, 2, 3], [2, 1]), slice(None, None, 0)),
    (Dataset(JOINT), slice(None, None, 0)),
    (vl.Pairs([1], [2]), slice(None, None, 0)),
    (vl.thinc.Ragged(np.ones((3, 1)), [2, 1]), slice(None, None, 0)),
    (vl.lod.LoDTensor(np.arange(3), [[2, 1]]), slice(None, None, 0)),
]


@pytest.mark.parametrize(("container", "key"), STEPS, ids=range(len(STEPS)))
def test_a_step_of_zero_is_refused_by_a_record(container, key):
    with pytest.raises(ValueError, match="slice step cannot be zero") as found:
        container[key]
    assert found.value.number == 0


@pytest.mark.parametrize("container", [R, NESTED, JOINT], ids=["one level", "two levels", "joint"])
def test_a_slice_of_words_is_refused_by_a_record(container):
    with pytest.raises(TypeError, match="slice indices must be integers or None") as found:
        container["a":]
    assert "'a'" in found.value.reason


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
    error = error_of(ValueError, "lengths", "sequence 1 is empty", "pass empty= for its result")
    assert str(error) == "lengths: sequence 1 is empty; pass empty= for its result"
    assert (
        str(name_argument(error, lengths="x", advice="leave it out"))
        == "x: sequence 1 is empty; leave it out"
    )


def _damaged(folder):
    path = folder / "a.nrt"
    vl.io.save(path, {"dim1/bounds": np.array([2, 3]), "dim1/t": np.arange(5, 8)})
    content = path.read_bytes()
    at = content.index(np.array([2, 3]).tobytes())
    path.write_bytes(content[:at] + np.array([9, 3]).tobytes() + content[at + 16 :])
    return str(path)


FILES = [
    lambda path: vl.JointNestedRaggedTensorDict(tensors_fp=path).to_list(),
    lambda path: vl.open(path)[0].to_list(),
    lambda path: vl.open(path).batch([0]),
    lambda path: vl.io.open_file(path).validate(),
]


@pytest.mark.parametrize("read", FILES, ids=["joint", "row", "batch", "check"])
def test_an_error_knows_the_file_and_the_row(tmp_path, read):
    path = _damaged(tmp_path)
    with pytest.raises(ValueError, match="dim1/bounds") as found:
        read(path)
    error = found.value
    assert error.file == path
    assert str(error) == f"{path}: {error.argument}: {error.reason}"
    assert error.argument == "dim1/bounds"
    assert vars(pickle.loads(pickle.dumps(error))) == vars(error)


def test_an_error_that_knows_its_file_keeps_it():
    error = error_of(ValueError, "x", "is null", "fill it", file="a.csv", place="line 3")
    assert str(error) == "a.csv, line 3: x: is null; fill it"
    assert name_file(error, "b.csv", ValueError) is error
    assert str(name_file(ValueError("no UTF-8"), "b.csv", ValueError)) == "b.csv: no UTF-8"
    with pytest.raises(UnicodeDecodeError) as found:
        b"\xff".decode()
    named = name_file(found.value, "b.csv", ValueError)
    assert (str(named), named.file) == (f"b.csv: {found.value}", "b.csv")


def test_a_row_is_that_of_its_file():
    error = place_row(row_error("x", "'a'", 12, " does not fit int8"), 2, " at line 4")
    assert str(name_file(error, "b.csv", ValueError)) == "b.csv: x: 'a' at line 4 does not fit int8"
    assert (error.file, error.argument, error.row) == ("b.csv", "x", 2)


def test_a_place_stands_in_front_of_the_argument():
    error = name_place(
        error_of(TypeError, "x", "is no number", "cast it"), "samples[3]", advice="or leave it"
    )
    assert str(error) == "samples[3]: x: is no number; cast it; or leave it"
    assert str(name_place(KeyError("y"), "samples[3]", ValueError)) == "samples[3]: 'y'"
    assert type(name_place(vl.dims.OutShapeError("y"), "x")) is vl.dims.OutShapeError


def test_an_error_tells_what_caused_it():
    error = error_of(ValueError, "x", "is no column", "see --types")
    assert tell_cause(error) is error
    error.__cause__ = TypeError("x[1]: expected a number")
    assert str(tell_cause(error)) == "x: is no column (x[1]: expected a number); see --types"


def test_wrong_rows_keep_their_records():
    findings = Findings()
    for row in (3, 4):
        with findings.gather():
            raise row_error("x", "'a'", row, " does not fit int8")
    with pytest.raises(WrongRows, match=r"^x: 'a' at row 3 does not fit int8; x: .*; 2 wrong rows") as found:
        findings.finish()
    for error in (found.value, pickle.loads(pickle.dumps(found.value))):
        assert [(each.argument, each.row) for each in error.errors] == [("x", 3), ("x", 4)]
