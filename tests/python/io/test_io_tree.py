"""Objects that nest as they like, to a file and back: `varlen.save`, `varlen.load`, `save` of containers."""

import contextlib
import copy
import json
import math
import os

import numpy as np
import pytest
import safetensors.numpy
import varlen as vl
from hypothesis import given, settings
from hypothesis import strategies as st
from varlen.io import FileFormatError
from varlen.testing import strategies

DTYPES = ["?", "i1", "u1", "i2", ">i4", "u8", "f2", "f4", "f8", "c8", "c16", "M8[us]", "m8[D]", "U3", "S2"]
STRUCTURE = np.dtype([("a", "i4"), ("b", "f8", (2,)), ("c", [("d", "U2")])])


@pytest.fixture
def path(tmp_path):
    return tmp_path / "x.safetensors"


def again(x, path, **options):
    vl.save(x, path, durable=False)
    return vl.load(path, **options)


def same(a, b):
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    if isinstance(a, (list, tuple)):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    if hasattr(a, "equals"):
        return type(a) is type(b) and a.equals(b, equal_nan=True)
    if hasattr(a, "dtype"):
        return type(a) is type(b) and a.dtype == b.dtype and a.shape == b.shape and (a == b).all()
    return type(a) is type(b) and (a == b or (a != a and b != b))


leaves = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5).filter(str.isprintable),
    strategies.raggeds(), st.sampled_from(DTYPES).map(lambda name: np.zeros((2, 3), name)),
    st.just(np.zeros((0, 3), STRUCTURE)), st.just(np.array(5, "i2")), st.just(np.float32(0.5)),
)  # fmt: skip
trees = st.recursive(
    leaves,
    lambda x: st.one_of(
        st.lists(x, max_size=3),
        st.lists(x, max_size=3).map(tuple),
        st.dictionaries(st.one_of(st.text(max_size=3), st.integers(), st.none()), x, max_size=3),
    ),
    max_leaves=8,
)


@given(trees)
@settings(max_examples=60)
def test_what_was_saved_is_what_is_loaded(tmp_path_factory, x):
    path = tmp_path_factory.mktemp("tree") / "x"
    assert same(x, again(x, path))
    assert same(x, vl.load(path, mmap=False))


@pytest.mark.parametrize("dtype", [*DTYPES, ">f8", ">c8", ">U2", ">M8[s]", STRUCTURE], ids=str)
def test_arrays_of_every_dtype_come_back(path, dtype):
    x = np.ones((2, 3), dtype)
    assert same([x, vl.Ragged(x, [2, 0])], again([x, vl.Ragged(x, [2, 0])], path))


def test_containers_of_all_classes_come_back_with_what_they_share(path):
    r = vl.Ragged.from_list([[[3.0, 1.0], [4.0]], [], [[1.0]]])
    time = vl.Dim("time", lengths=[3, 0, 2])
    words = vl.Dim("words", vocab=list("abcde"))
    data = vl.Data(np.arange(5), [vl.dims.batch_dim, time], sparse_dim=words)
    flat = vl.Ragged([3, 1, 4], [1, 2])
    x = {
        "r": r, "twice": [r * 2, r], "pad": flat.to_padded(), "pack": vl.ops.pack(flat), "data": data,
        "two": vl.Pairs(flat, flat), "time": time, "level": r.levels[0], "joint": joint(), "kind": vl.Ragged,
        "table": vl.RankTable.of(vl.Level([1, 2])), "thinc": vl.thinc.Ragged(np.arange(3), np.array([1, 2])),
    }  # fmt: skip
    y = again(x, path)
    for name in ("r", "pad", "pack", "joint", "kind", "thinc", "time"):
        assert type(x[name]) is type(y[name])
        assert x[name] == y[name] if name in ("kind", "time") else x[name].equals(y[name]), name
    assert y["twice"][1] is y["r"]
    assert y["twice"][0].levels[0] is y["r"].levels[0] is y["level"]
    assert y["data"].dims == data.dims
    assert y["data"].dims[1] is y["time"]
    assert y["data"].sparse_dim.vocab == words.vocab
    assert y["two"].one is y["two"].two
    assert list(y["table"].indices) == list(x["table"].indices)
    assert y["joint"].vocabularies == joint().vocabularies


def joint():
    return vl.JointNestedRaggedTensorDict(
        {"t": [[1, 2], [3]], "w": [["x", "y"], ["z"]], "id": [7, 8]}, schema={"w": str}, row_ids="id"
    )


def test_a_container_saves_itself(path):
    r = vl.Ragged([3, 1, 4], [1, 2])
    for x in (r, r.to_padded(), vl.Data(np.zeros(2), [vl.Dim("two", 2)]), vl.Pairs(r, r)):
        x.save(path)
        assert type(vl.load(path)) is type(x)


def test_a_joint_dict_alone_is_a_nrt_file(path):
    vl.save(joint(), path)
    assert vl.JointNestedRaggedTensorDict.load(path) == vl.load(path) == vl.load(path, mmap=False) == joint()
    vl.save(vl.open(path), os.fspath(path) + "2")
    assert vl.load(os.fspath(path) + "2") == joint()


def test_the_file_is_one_of_safetensors(path):
    vl.save({"a": vl.Ragged([3, 1, 4], [1, 2]), "b": [np.eye(2)]}, path)
    tensors = safetensors.numpy.load_file(path)
    assert {name: tensors[name].tolist() for name in tensors} == {
        "a/values": [3, 1, 4], "a/levels/0": [0, 1, 3], "b/0": [[1, 0], [0, 1]],
    }  # fmt: skip
    safetensors.numpy.save_file({"w": np.eye(2, dtype="f4")}, path)
    assert list(vl.load(path)) == ["w"]
    assert vl.load(path)["w"].dtype == np.float32


def test_names_that_meet_are_kept_apart(path):
    x = {"a": {"b": np.arange(2)}, "a/b": np.arange(3), "a/b-2": np.arange(4), "": np.arange(5), "dim0/x": 1}
    assert same(x, again(x, path))


def test_arrays_lie_in_the_file_until_they_are_written(path):
    r = vl.Ragged(np.arange(5), [2, 3])
    for dtype in ("f8", "c16", "U5", "i1", STRUCTURE):
        x = again({"pad": np.zeros(3, "i1"), "x": np.zeros(7, dtype)}, path)["x"]
        assert x.flags.aligned
        assert not x.flags.owndata
    loaded = again([r, r.values], path)
    assert loaded[0].values is loaded[1]
    loaded[1][0] = 9
    assert loaded[0].to_list() == [[9, 1], [2, 3, 4]]
    assert vl.load(path)[0].to_list() == r.to_list()


def test_tensors_keep_dtype_gradient_and_memory(path):
    torch = pytest.importorskip("torch")
    shared = torch.arange(6.0).reshape(3, 2)
    leaf = torch.ones(2, dtype=torch.bfloat16, requires_grad=True)
    r = vl.Ragged(shared, [1, 2])
    x = again({"r": r, "values": shared, "leaf": leaf, "one": torch.tensor(2), "slice": shared[:, 1]}, path)
    assert x["r"].values is x["values"]
    assert torch.equal(x["values"], shared)
    assert x["leaf"].dtype == torch.bfloat16
    assert x["leaf"].requires_grad
    assert x["one"].shape == ()
    assert x["slice"].tolist() == [1, 3, 5]
    x["values"][0] = 7
    assert vl.load(path)["values"][0].tolist() == [0, 1]
    with pytest.raises(TypeError, match="a/0: expected a dense tensor"):
        vl.save({"a": [torch.eye(2).to_sparse()]}, path)


class Own(vl.Ragged):
    pass


@pytest.mark.parametrize(
    ("x", "text"),
    [
        ({"a": [object()]}, "a/0: expected containers, arrays, .* got object"),
        ({"a": np.array([None])}, "a: a file cannot hold dtype object; Ragged.from_list"),
        ({"a": np.ma.array([1], mask=[1])}, "a: expected an array without a mask"),
        ({(1, 2): 3}, r"x: expected text or numbers as keys, got \(1, 2\)"),
        ({"a": Own([1], [1])}, "a: expected a class of varlen, got Own; save a Ragged"),
    ],
)
def test_what_no_file_holds_is_an_error_with_its_place(path, x, text):
    with pytest.raises(TypeError, match=text):
        vl.save(x, path)
    assert not path.exists()


def test_an_object_that_holds_itself_is_an_error(path):
    x = {"a": []}
    x["a"].append(x)
    with pytest.raises(ValueError, match="a/0: is an object that holds itself"):
        vl.save(x, path)


def test_paths_that_do_not_fit_name_the_way(path, tmp_path):
    with pytest.raises(TypeError, match=r"path: expected a path, got list; call save\(x, path\)"):
        vl.save(path, [1])
    with pytest.raises(IsADirectoryError, match=r"vl.open\(path\)"):
        vl.load(tmp_path)
    with pytest.raises(FileNotFoundError):
        vl.load(path)
    for x in (1, np.arange(3)):
        vl.save(x, path)
        for door in (vl.open, vl.JointNestedRaggedTensorDict.load, vl.io.open_file):
            with pytest.raises(FileFormatError, match=r"`varlen\.load` reads it"):
                door(path)
    with pytest.raises(ValueError, match=r"expected packed storage, .*; save x.packed\(\)"):
        vl.Data(np.arange(3), [vl.dims.batch_dim, vl.Dim("t", lengths=[1, 2])]).padded().save(path)


def damage(path, change):
    """The file with another nesting."""
    data = path.read_bytes()
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + size])
    metadata = header["__metadata__"]
    metadata["varlen.tree"] = json.dumps(change(json.loads(metadata["varlen.tree"])))
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(len(text).to_bytes(8, "little") + text + data[8 + size :])


def spots(x, place=()):
    """The places in nested JSON."""
    items = x.items() if isinstance(x, dict) else enumerate(x) if isinstance(x, list) else ()
    yield from ((*place, key) for key, _ in items)
    for key, item in items if not isinstance(x, list) else enumerate(x):
        yield from spots(item, (*place, key))


junk = st.sampled_from(
    [None, True, -1, 0, 1, 99, 2.5, "values", "level", "varlen.types.ragged:Ragged", "os:system", "<f8", [],
     [0], [1], ["values"], {}, {"a": 1}, [[0, [0]]], "varlen.nowhere:X", "varlen.io:Writer",
     "varlen.__main__:X", "\0"]
)  # fmt: skip


@given(st.data())
@settings(max_examples=200)
def test_a_damaged_nesting_is_a_format_error(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("tree") / "x"
    r = vl.Ragged(np.arange(3).astype("U2"), [1, 2])
    vl.save({"r": [r, r.to_padded()], "d": vl.Data(np.arange(2), [vl.Dim("two", 2)]), "j": joint()}, path)

    def change(nesting):
        for _ in range(data.draw(st.integers(1, 3))):
            *way, last = data.draw(st.sampled_from(list(spots(nesting))))
            home = nesting
            for key in way:
                home = home[key]
            home[last] = copy.deepcopy(data.draw(junk))  # the next change may go into it
        return nesting

    damage(path, change)
    with contextlib.suppress(FileFormatError):
        repr(vl.load(path))


@pytest.mark.parametrize("place", range(5))
def test_a_damaged_fact_is_a_format_error(path, place):
    vl.save(vl.Data(np.arange(2), [vl.Dim("two", 2)], name="named"), path)

    def change(nesting):
        facts = next(rest for kind, rest in nesting["nodes"] if kind == "tuple" and [0, "named"] in rest)
        facts[place] = [place, True]
        return nesting

    damage(path, change)
    with pytest.raises(FileFormatError, match=r"expected a|is not among"):
        vl.load(path)


def test_a_file_cut_short_is_a_format_error(path):
    vl.save(np.arange(100), path)
    data = path.read_bytes()
    for size in (0, 7, 50, len(data) - 1):
        path.write_bytes(data[:size])
        with pytest.raises(FileFormatError):
            vl.load(path)


def test_numbers_that_json_lacks_come_back(path):
    x = again([math.inf, -math.inf, math.nan, 2**70, -0.0], path)
    assert x[:2] == [math.inf, -math.inf]
    assert math.isnan(x[2])
    assert x[3] == 2**70
    assert math.copysign(1, x[4]) == -1


def test_a_split_of_hugging_face_is_a_file_and_back(path):
    datasets = pytest.importorskip("datasets", reason="datasets is not installed")
    pa = pytest.importorskip("pyarrow")
    rows = {"t": [[0.5, 1.5], [], [2.5]], "y": [2**40, 2, 3], "w": [["a", "b"], [], ["a"]]}
    split = datasets.Dataset.from_dict(rows).select([2, 0, 1])
    vl.save(split, path)
    J = vl.load(path)
    assert J["t"].to_list() == split["t"][:]
    assert (J["t"].dtype, J["y"].dtype) == (np.float64, np.int64)
    assert J["y"].tolist() == [3, 2**40, 2]
    words = J.vocabularies["w"]
    assert [[words[i] for i in row] for row in J["w"].to_list()] == split["w"][:]
    back = datasets.Dataset(pa.table({"t": pa.array(J["t"]), "y": J["y"]}))
    assert back[:] == {"t": split["t"][:], "y": split["y"][:]}
