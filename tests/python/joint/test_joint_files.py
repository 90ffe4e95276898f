"""Joint dicts in files: opened when needed, written whole, and handed to other processes as their path."""

import copy
import multiprocessing
import pickle
import re

import numpy as np
import pytest
from joint_data import RAW, same
from varlen.joint import JointNestedRaggedTensorDict as Joint


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "visits.nrt"
    Joint(RAW | {"S": [8, 9, 10]}).save(path)
    return path


def test_file_must_be_there(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"Tensors filepath must exist, got .*nothing\.nrt"):
        Joint(tensors_fp=tmp_path / "nothing.nrt")
    with pytest.raises(FileNotFoundError, match="Tensors filepath must exist"):
        Joint(tensors_fp=tmp_path)


def test_file_is_not_opened_before_it_is_needed(tmp_path):
    junk = tmp_path / "junk.nrt"
    junk.write_bytes(b"no header at all")
    J = Joint(tensors_fp=junk)
    with pytest.raises(ValueError, match=r"junk\.nrt"):
        len(J)


def test_path_may_be_text(path):
    assert Joint(tensors_fp=str(path)) == Joint(tensors_fp=path)


def test_repr_of_a_file_shows_path_and_schema(tmp_path):
    path = tmp_path / "a.nrt"
    Joint({"A": [[1], [2]], "B": [1, 2]}).save(path)
    assert repr(Joint(tensors_fp=path)) == (
        f"JointNestedRaggedTensorDict(tensors_fp={path}, schema={{'B': dtype('uint8'), 'A': dtype('uint8')}})"
    )


def test_subset_of_keys(path):
    J = Joint(tensors_fp=path, keys={"T"})
    assert (J.keys(), J.max_n_dims) == ({"T"}, 2)
    assert list(J.tensors) == ["dim1/T", "dim1/bounds"]
    assert Joint(tensors_fp=path, keys={"T", "id"}).keys() == {"T", "id"}
    assert Joint(tensors_fp=path, keys=["S"])._tensor_keys == {"dim0/S"}
    for keys in (["T"], ("T",), {"T": 1}, frozenset({"T"}), (key for key in "T")):
        assert Joint(tensors_fp=path, keys=keys)[0].to_list() == {"T": [1, 2, 3]}
    with (
        pytest.raises(
            KeyError, match=re.escape("Key 'dim2/id' is not part of the loaded subset ['dim1/T', ")
        ),
        Joint(tensors_fp=path, keys={"T"})._tensor_at_key("dim2/id"),
    ):
        pass


@pytest.mark.parametrize(
    ("keys", "error", "text"),
    [
        ("T", TypeError, "`keys` must be an iterable of strings, not a bare str/bytes."),
        (b"T", TypeError, "`keys` must be an iterable of strings, not a bare str/bytes."),
        ([], ValueError, "`keys` must be non-empty."),
        ({"T", 1}, TypeError, "`keys` must contain only strings; got elements of type ['int']."),
        ({"bounds"}, ValueError, "`keys` may not contain reserved meta-names ['bounds']; these refer to"),
        (["mask"], ValueError, "`keys` may not contain reserved meta-names ['mask']"),
        ({"T", "missing"}, KeyError, "Requested keys ['missing'] not found in "),
        (["dim1/T"], KeyError, "Available: ['S', 'T', 'id', 'val']"),
    ],
)
def test_subset_that_cannot_be_is_refused(path, keys, error, text):
    with pytest.raises(error, match=re.escape(text)):
        Joint(tensors_fp=path, keys=keys)


def test_saved_twice_only_after_loading(path, tmp_path):
    J = Joint(tensors_fp=path)
    with pytest.raises(ValueError, match=f"Already saved to {re.escape(str(path))}!"):
        J.save(tmp_path / "other.nrt")
    J.tensors["dim0/S"] = np.array([1, 2, 3])
    J.save(tmp_path / "other.nrt")
    assert Joint(tensors_fp=tmp_path / "other.nrt").to_list()["S"] == [1, 2, 3]
    Joint.save(J[1:], tmp_path / "part.nrt")
    assert len(Joint(tensors_fp=tmp_path / "part.nrt")) == 2
    Joint.save(Joint(tensors_fp=path)[0], tmp_path / "row.nrt")
    assert Joint(tensors_fp=tmp_path / "row.nrt").to_list() == Joint(tensors_fp=path).drop("S")[0].to_list()


def test_loading_gives_arrays_of_its_own(path):
    J = Joint(tensors_fp=path)
    J.tensors["dim1/T"][0] = 99
    assert Joint(tensors_fp=path).to_list()["T"][0] == [1, 2, 3]
    assert all(type(a) is np.ndarray and a.flags.writeable for a in J.tensors.values())
    part = Joint(tensors_fp=path)[1]
    part.tensors["dim0/T"][:] = 0
    assert Joint(tensors_fp=path)[1].to_list()["T"] == [4, 5]


def test_load_reads_all_at_once(path):
    whole, row, rows, some = (
        Joint.load(path),
        Joint.load_slice(path, 1),
        Joint.load_slice(path, slice(1, None)),
        Joint.load_slice(path, np.array([2, 0])),
    )
    want = Joint(RAW | {"S": [8, 9, 10]})
    path.unlink()
    for got, like in ((whole, want), (row, want[1]), (rows, want[1:]), (some, want[[2, 0]])):
        assert got == like
        same(got.to_dense(), like.to_dense())


def test_pickle_and_copies(path):
    lazy = Joint(tensors_fp=path)
    assert len(lazy) == 3
    subset = Joint(tensors_fp=path, keys=["T"])
    for J in (lazy, lazy[1:], lazy[0], subset, Joint(RAW), Joint(RAW)[0, 1], Joint({})):
        for again in (pickle.loads(pickle.dumps(J)), copy.deepcopy(J), copy.copy(J)):
            assert again == J
            assert again.keys() == J.keys()
            assert repr(again) == repr(J)
    assert len(pickle.dumps(lazy)) < 300  # the path alone


def test_pickle_keeps_what_a_subclass_added(path):
    J = Joint(RAW)
    J.note = "mine"
    assert pickle.loads(pickle.dumps(J)).note == "mine"
    buffers = []
    pickle.dumps(J, protocol=5, buffer_callback=buffers.append)
    assert len(buffers) >= 3


def rows_of(J, out):
    out.put([J[i].to_list() for i in range(len(J))])


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_other_processes_read_the_same_file(path, method):
    J = Joint(tensors_fp=path)
    want = [J[i].to_list() for i in range(3)]
    context = multiprocessing.get_context(method)
    out = context.Queue()
    child = context.Process(target=rows_of, args=(J, out))
    child.start()
    assert out.get(timeout=60) == want
    child.join(60)
    assert child.exitcode == 0


def test_upstream_reads_ours_and_we_read_upstreams(path, tmp_path):
    upstream = pytest.importorskip("nested_ragged_tensors.ragged_numpy").JointNestedRaggedTensorDict
    theirs = upstream(tensors_fp=path)
    assert theirs.keys() == {"S", "T", "id", "val"}
    same(theirs.to_dense(), Joint(tensors_fp=path).to_dense())
    upstream(RAW).save(tmp_path / "theirs.nrt")
    ours = Joint(tensors_fp=tmp_path / "theirs.nrt")
    assert ours == Joint(RAW)
    assert list(ours.tensors) == list(upstream(tensors_fp=tmp_path / "theirs.nrt").tensors)


def test_file_of_the_first_generation(tmp_path):
    from safetensors.numpy import save_file

    path = tmp_path / "first.pt"
    save_file(
        {
            "dim1/lengths": np.array([2, 1]),
            "dim1/bounds": np.array([2, 3]),
            "dim2/lengths": np.array([1, 0, 2]),
            "dim2/bounds": np.array([1, 1, 3]),
            "dim1/T": np.array([4, 5, 6]),
            "dim2/id": np.array([7, 8, 9]),
        },
        path,
    )
    J = Joint(tensors_fp=path)
    assert J.keys() == {"T", "id"}
    assert J.to_list() == {"T": [[4, 5], [6]], "id": [[[7], []], [[8, 9]]]}
    assert Joint.load_slice(path, 1).to_list() == {"T": [6], "id": [[8, 9]]}


def test_damaged_levels_are_refused(tmp_path):
    from safetensors.numpy import save_file

    path = tmp_path / "bad.nrt"
    for bounds in ([2, 1, 3], [-1, 2, 3], [1, 2], [1, 2, 9]):
        save_file({"dim1/bounds": np.array(bounds), "dim1/T": np.array([4, 5, 6])}, path)
        with pytest.raises(ValueError, match="dim1"):
            Joint(tensors_fp=path).to_dense()


def test_load_sees_a_file_that_was_replaced(path, tmp_path, monkeypatch):
    assert len(Joint.load(path)) == 3
    held = Joint.load(path)
    Joint(RAW)[1:].save(path)
    assert len(Joint.load(path)) == 2
    assert held.to_list()["T"] == RAW["T"]
    other = tmp_path / "other"
    other.mkdir()
    Joint(RAW)[:1].save(other / path.name)
    monkeypatch.chdir(path.parent)
    assert len(Joint.load(path.name)) == 2
    monkeypatch.chdir(other)
    assert len(Joint.load(path.name)) == 1
    (other / path.name).unlink()
    with pytest.raises(FileNotFoundError):
        Joint.load(path.name)


def test_a_replaced_file_of_the_same_size_is_read_anew(tmp_path):
    path, other = tmp_path / "a.nrt", tmp_path / "b.nrt"
    Joint({"a": [[1], [2]]}).save(path)
    assert Joint.load(path).to_list() == {"a": [[1], [2]]}
    before = path.stat()
    Joint({"a": [[7], [8]]}).save(other)
    assert other.stat().st_size == before.st_size
    other.replace(path)
    assert Joint.load(path).to_list() == {"a": [[7], [8]]}
    assert Joint(tensors_fp=path)[0].to_list() == {"a": [7]}


def test_row_ids_are_saved_where_their_key_is(tmp_path):
    J = Joint({"id": [7, 8], "a": [[1], [2]]}, row_ids="id")
    J.drop("id").save(tmp_path / "a.nrt")
    assert Joint.load(tmp_path / "a.nrt").row_ids is None
    J[:1].save(tmp_path / "b.nrt")
    assert Joint.load(tmp_path / "b.nrt").row_ids == "id"
    popped = J[:]
    popped.tensors.pop("dim0/id")
    popped.save(tmp_path / "c.nrt")
    assert Joint.load(tmp_path / "c.nrt").row_ids is None
