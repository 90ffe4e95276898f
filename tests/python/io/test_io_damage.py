"""A damaged file gives an error or values, the same mapped and read, and never anything else."""

import numpy as np
import pytest
import safetensors.numpy
import varlen
from hypothesis import example, given, settings
from hypothesis import strategies as st
from test_io_file import content, entries
from varlen import io


@pytest.fixture(scope="module")
def undamaged(tmp_path_factory):
    path = tmp_path_factory.mktemp("damage") / "undamaged.nrt"
    io.save(path, entries(6, seed=3), row_ids="id")
    return path.read_bytes()


def everything(path, mmap):
    """What a reader may ask of a file; the text of the first error, or all that was read."""
    try:
        source = io.open_shards(path, mmap=mmap)
        out = [len(source), source.names, source.row_ids, source.depth]
        out += [content(source.read(row)) for row in range(min(len(source), 8))]
        out.append(content(source.read_many(np.arange(len(source))[::-1], 0, 2)))
        source.validate()
        out.append([content(joint) for joint in source.joints])
        source.prefetch(np.arange(len(source)))
    except ValueError as error:
        return "refused", type(error).__name__
    return "read", repr(out)


# Where bounds lie single bytes matter most: a high one makes a number negative or huge, a low one decreasing.
flips = st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(1, 255)), min_size=1, max_size=3)


@settings(max_examples=400, deadline=None)
@given(flips=flips, in_data=st.booleans())
@example(flips=[(0.0, 128)], in_data=True)
def test_flipped_bytes_are_refused_or_read_alike(undamaged, tmp_path_factory, flips, in_data):
    raw = bytearray(undamaged)
    start = 8 + int.from_bytes(raw[:8], "little") if in_data else 0
    for where, bits in flips:
        raw[start + int(where * (len(raw) - start))] ^= bits
    path = tmp_path_factory.mktemp("d") / "a.nrt"
    path.write_bytes(raw)
    mapped, read = everything(path, True), everything(path, False)
    if mapped[0] == "read":
        assert read == mapped
    else:
        assert read[0] == "refused"


@settings(max_examples=200, deadline=None)
@given(
    outer=st.lists(st.integers(-3, 9), max_size=4),
    inner=st.lists(st.integers(-3, 9) | st.sampled_from([2**63 - 1, -(2**63), 2**32]), max_size=6),
    total=st.integers(0, 6),
)
def test_any_bounds_are_refused_or_nest(tmp_path_factory, outer, inner, total):
    path = tmp_path_factory.mktemp("b") / "a.nrt"
    tensors = {
        "dim1/bounds": np.array(outer, np.int64),
        "dim2/bounds": np.array(inner, np.int64),
        "dim2/x": np.arange(total),
    }
    safetensors.numpy.save_file(tensors, path)
    edges = [0, *outer]
    nests = len(outer) == 0 or (outer == sorted(outer) and outer[0] >= 0)
    nests = nests and (inner == sorted(inner) and (not inner or inner[0] >= 0))
    nests = nests and edges[-1] == len(inner) and (inner[-1] if inner else 0) == total
    for mmap in (True, False):
        assert everything(path, mmap)[0] == ("read" if nests else "refused")


def test_an_undamaged_file_is_read(undamaged, tmp_path):
    path = tmp_path / "a.nrt"
    path.write_bytes(undamaged)
    assert everything(path, True) == everything(path, False)
    assert everything(path, True)[0] == "read"


def damaged(path, tensors, words=None):
    metadata = {"varlen.version": "1", "varlen.schema": "{}"}
    metadata |= {} if words is None else {"varlen.vocabulary.x": words}
    safetensors.numpy.save_file(tensors, path, metadata=metadata)
    return path


ENDS = {"dim1/bounds": np.array([2, 3])}
WORDS = {**ENDS, "dim1/x": np.array([0, 1, 7], np.int8)}
MAPPED = pytest.mark.parametrize("mmap", [True, False], ids=["mapped", "pread"])


@MAPPED
@pytest.mark.parametrize("wrong", [7, -1])
def test_ids_without_a_word_are_named_with_file_key_and_row(tmp_path, mmap, wrong):
    ids = np.array([0, 1, wrong], np.int8)
    path = damaged(tmp_path / "a.nrt", {**ENDS, "dim1/x": ids}, '["a", "b"]')
    data = varlen.open(path, mmap=mmap)
    text = rf"a.nrt: key 'x': row \d holds the id {wrong}, its vocabulary has 2 words"
    joint = varlen.JointNestedRaggedTensorDict(tensors_fp=path)
    for read in (data.source.validate, lambda: data[1].to_list(), lambda: data[:].to_list(), joint.to_list):
        with pytest.raises(ValueError, match=text):
            read()
    assert data[0].to_list() == {"x": ["a", "b"]}


@MAPPED
@pytest.mark.parametrize(
    ("tensors", "words", "text"),
    [
        ({**WORDS, "dim-1/w": np.array([3])}, None, "dim-1/w: belongs to no row"),
        (WORDS, '["a", "a"]', "vocabulary of 'x': has the word 'a' twice"),
        ({**ENDS, "dim1/x": np.zeros(3, "f4")}, '["a"]', "vocabulary of 'x': the key is float32"),
    ],
)
def test_what_no_reader_can_use_is_refused_by_the_first_read(tmp_path, mmap, tensors, words, text):
    path = damaged(tmp_path / "a.nrt", tensors, words)
    with pytest.raises(io.FileFormatError, match=f"a.nrt: {text}"):
        varlen.open(path, mmap=mmap).batch([0])
    with pytest.raises(io.FileFormatError, match=f"a.nrt: {text}"):
        io.open_file(path, mmap=mmap).validate()


@MAPPED
def test_a_value_that_an_index_left_behind_hides_no_rows(tmp_path, mmap):
    path = damaged(tmp_path / "a.nrt", {**WORDS, "dim-1/w": np.array([3])})
    data = varlen.open(path, mmap=mmap, keys=["x"])
    assert data.batch([1], masks=False)["x"].tolist() == [[7]]


@MAPPED
def test_bounds_that_fall_are_named_with_their_file(tmp_path, mmap):
    path = damaged(tmp_path / "a.nrt", {"dim1/bounds": np.array([3, 2, 3]), "dim1/x": np.arange(3)})
    data = varlen.open(path, mmap=mmap)
    reads = [lambda: data[1], lambda: data[:].to_list(), lambda: data[[1, 2]], lambda: data.batch([1])]
    for read in [*reads, lambda: data.lengths, lambda: data.save(tmp_path / "b.nrt"), data.source.validate]:
        with pytest.raises(ValueError, match=r"a.nrt: dim1/bounds: row 1 ends"):
            read()


def test_names_in_metadata_and_indexes_are_there_once(tmp_path):
    schema = '{"keys": {"x": {"dtype": "datetime64[s]"}, "x": {"dtype": "datetime64[ns]"}}}'
    metadata = {"varlen.version": "1", "varlen.schema": schema}
    safetensors.numpy.save_file({"dim0/x": np.arange(3)}, tmp_path / "a.nrt", metadata=metadata)
    with pytest.raises(io.FileFormatError, match=r"a.nrt: metadata varlen.schema: has the name 'x' twice"):
        varlen.open(tmp_path / "a.nrt").batch([0])
    with io.ShardWriter(tmp_path / "b", rows_per_shard=2) as writer:
        writer.append({"x": [1, 2, 3]})
    index = tmp_path / "b" / "index.json"
    index.write_text(index.read_text().replace('"keys": {', '"keys": {"x": {}, ', 1))
    with pytest.raises(io.FileFormatError, match=r"index.json: has the name 'x' twice"):
        varlen.open(tmp_path / "b")


READS = {
    "a key": lambda ds: ds["k"],
    "rows": lambda ds: ds[0:2].to_list(),
    "a row": lambda ds: ds[0],
    "a batch": lambda ds: ds.batch([0]),
    "lengths": lambda ds: ds.lengths,
    "describe": lambda ds: ds.describe(),
    "print": str,
    "a view": lambda ds: ds.select([1, 0])[:].to_list(),
    "a joint dict": lambda ds: varlen.JointNestedRaggedTensorDict(tensors_fp=ds.paths[0])["k"],
    "a row of a joint dict": lambda ds: varlen.JointNestedRaggedTensorDict(tensors_fp=ds.paths[0])[0],
    "dense": lambda ds: varlen.JointNestedRaggedTensorDict(tensors_fp=ds.paths[0]).to_dense(),
    "load": lambda ds: varlen.load(ds.paths[0])["k"],
}


@pytest.mark.parametrize("name", READS)
def test_damaged_bounds_are_an_error_that_names_the_file(tmp_path, name):
    path, bounds = tmp_path / "a.nrt", np.array([2, 4])
    io.save(path, {"dim1/bounds": bounds, "dim1/k": np.arange(4)})
    raw = path.read_bytes()
    path.write_bytes(raw.replace(bounds.tobytes(), np.array([-3, 4]).tobytes()))
    with pytest.raises(io.FileFormatError, match=r"dim1/bounds: row [01] ends") as caught:
        READS[name](varlen.open(path))
    assert caught.value.file == str(path)
