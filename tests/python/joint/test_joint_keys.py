"""A joint dict as a dict of keys, and what it carries beside numbers: words, times, vectors, row ids."""

import pickle

import numpy as np
import pytest
import varlen
from varlen import Ragged
from varlen.joint import JointNestedRaggedTensorDict as Joint

RAW = {"S": [8, 9], "T": [[1, 2], [3]], "id": [[[1], [2, 3]], [[]]]}


@pytest.fixture(params=["memory", "file"])
def make(request, tmp_path):
    def result(raw, **options):
        J = Joint(raw, **options)
        if request.param == "memory":
            return J
        J.save(tmp_path / "j.nrt")
        return Joint(tensors_fp=tmp_path / "j.nrt")

    return result


def test_keys_are_ragged_views(make):
    J = make(RAW)
    T, ids = J["T"], J["id"]
    assert isinstance(T, varlen.Ragged)
    assert (T.to_list(), ids.to_list(), J["S"].tolist()) == (RAW["T"], RAW["id"], RAW["S"])
    assert T.levels[0] is ids.levels[0]
    assert pickle.loads(pickle.dumps(J))["T"].levels[0] == T.levels[0]
    bounds = J.tensors["dim1/bounds"]
    bounds[0] = 3
    assert J["T"].lengths.tolist() == [3, 0]  # those of a live dict are read anew
    bounds[0] = 2
    assert J[0]["id"].to_list() == [[1], [2, 3]]
    assert J[0]["S"].tolist() == [8]
    with pytest.raises(KeyError, match="Key 'x' not found in 'S', 'T', 'id'"):
        J["x"]


def test_ragged_views_share_values_and_levels():
    J = Joint(RAW)
    assert J["T"].levels[0] is J["id"].levels[0]
    J["T"].values[0] = 7
    assert J.to_list()["T"] == [[7, 2], [3]]
    assert np.shares_memory(J[1:]["T"].values, J["T"].values)


def test_key_is_in_or_not(make):
    J = make(RAW)
    assert "T" in J
    assert "x" not in J
    assert 3 not in J
    assert [key for key, _ in J.items()] == list(dict(J.items()))
    assert {key: len(value) for key, value in J.items()} == {"S": 2, "T": 2, "id": 2}


def test_rows_iterate(make):
    assert [row.to_list()["T"] for row in make(RAW)] == RAW["T"]


def test_select_and_drop(make):
    J = make(RAW)
    assert (
        J.select("T").to_list() == J.select(["T"]).to_list() == J.drop("S", "id").to_list() == {"T": RAW["T"]}
    )
    assert J.select("T").max_n_dims == 2
    assert list(J.select(["id", "S"]).to_list()) == ["id", "S"]
    assert J.drop(["S", "T", "id"]).to_list() == {}
    assert J[0].select("id").to_list() == {"id": [[1], [2, 3]]}
    for act in (J.select, J.drop):
        with pytest.raises(KeyError, match="keys: there is no key 'x' among"):
            act("x")


def test_rename(make):
    J = make(RAW, row_ids="S", schema={"S": np.int64})
    new = J.rename({"T": "time"}, S="subject")
    assert new.to_list() == {"subject": [8, 9], "time": RAW["T"], "id": RAW["id"]}
    assert new.row_ids == "subject"
    assert new.schema["time"] == np.uint8
    with pytest.raises(ValueError, match="would each name two keys"):
        J.rename(T="S")
    with pytest.raises(ValueError, match="Reserved meta-names"):
        J.rename(T="mask")
    with pytest.raises(KeyError, match="there is no key 'x'"):
        J.rename(x="y")


def test_with_key(make):
    J = make(RAW)
    more = J.with_key("w", [[5, 6], [7]]).with_key("v", np.array([0.5, 1.5]))
    assert more.to_list()["w"] == [[5, 6], [7]]
    assert more.to_list()["v"] == [0.5, 1.5]
    assert "w" not in J
    assert J.with_key("T", np.array([1.5, 2, 3]), 1).schema["T"] == np.float64
    assert J.with_key("R", J["T"] * 2).to_list()["R"] == [[2, 4], [6]]
    assert J[1:].with_key("w", [[4]]).to_list() == {"S": [9], "T": [[3]], "id": [[[]]], "w": [[4]]}
    for bad, text in (
        ([[5], [6, 7]], r"Inconsistent bounds tensors! \[2 3\] vs. \[1 3\]"),
        ([5, 6, 7], "w: has 3 rows, but dim 0 has 2"),
        ([[[[1]], [[1], [1]]], [[]]], "values: w has 3 levels, there are 2"),
        (np.zeros(3), "w: has 3 rows, but dim 0 has 2"),
    ):
        with pytest.raises(ValueError, match=text):
            J.with_key("w", bad)
    with pytest.raises(ValueError, match="dim 5 is not one of the 3"):
        J.with_key("w", np.zeros(3), 5)


def test_lengths_of_a_level(make):
    J = make(RAW)
    assert J.lengths().tolist() == [2, 1]
    assert J.lengths(2).tolist() == [1, 2, 0]
    with pytest.raises(IndexError, match="dim: expected at most 2, got 3"):
        J.lengths(3)


def test_words_are_ids_with_a_vocabulary(make):
    words = [["b", "a"], ["b"], []]
    J = make({"w": words, "n": [[1, 2], [3], []]}, schema={"w": str})
    assert J.vocabularies["w"] == ("[PAD]", "b", "a")
    assert J["w"].values.tolist() == [1, 2, 1]
    assert J.to_list()["w"] == words
    assert J[0].to_list()["w"] == ["b", "a"]
    assert Joint.concatenate([J[1:], J[:1]]).to_list()["w"] == [["b"], [], ["b", "a"]]
    assert J.rename(w="word").vocabularies["word"] == ("[PAD]", "b", "a")
    assert "w" not in J.with_key("w", [[1, 1], [1], []]).vocabularies
    J.tensors["dim1/n"] = J.tensors["dim1/n"] * 2
    assert J.to_list()["w"] == words


def test_given_vocabulary_makes_shards_agree(make):
    a = make({"w": [["x"], ["y", "x"]]}, vocabularies={"w": ["x", "y", "z"]})
    b = Joint({"w": [["z"]]}, vocabularies={"w": ["x", "y", "z"]})
    assert Joint.concatenate([a, b]).to_list()["w"] == [["x"], ["y", "x"], ["z"]]
    assert a != Joint({"w": [[0], [1, 0]]})
    with pytest.raises(ValueError, match="other vocabularies, units or row ids"):
        Joint.concatenate([a, Joint({"w": [[1]]})])
    with pytest.raises(ValueError, match="w: 'q' is not in its vocabulary of 2 words"):
        Joint({"w": [["q"]]}, vocabularies={"w": ["x", "y"]})
    with pytest.raises(TypeError, match=r"w\[0\]\[1\]: expected text, got int"):
        Joint({"w": [["x", 1]]}, schema={"w": str})
    with pytest.raises(KeyError, match="'v' is not among the keys"):
        Joint({"w": [["x"]]}, vocabularies={"w": ["x"], "v": []})


def test_vocabularies_become_one(make):
    a = make({"w": [["x"], ["y", "x"]]}, schema={"w": str})
    b = Joint({"w": [["z", "y"], []]}, schema={"w": str})
    both = Joint.concatenate([a, b])
    assert both.to_list()["w"] == [["x"], ["y", "x"], ["z", "y"], []]
    assert both.vocabularies["w"] == ("[PAD]", "x", "y", "z")
    assert Joint.vstack([a, b]).to_list()["w"] == [[["x"], ["y", "x"]], [["z", "y"], []]]
    assert b.vocabularies["w"] == ("[PAD]", "z", "y")


def test_words_of_one_dim(make):
    J = make({"name": ["ann", "bob", "ann"], "T": [[1], [2], [3]]}, schema={"name": str}, row_ids=None)
    assert J.to_list()["name"] == ["ann", "bob", "ann"]
    assert J[1].to_list()["name"] == "bob"


@pytest.mark.parametrize("unit", ["s", "ns", "D"])
def test_times_keep_their_unit(make, unit):
    days = np.array(["2020-01-01", "2021-06-05", "NaT"], f"datetime64[{unit}]")
    J = make({"when": [days[:2], days[2:]]}, schema={"when": days.dtype})
    assert J["when"].values.dtype == days.dtype
    np.testing.assert_array_equal(J["when"].values, days)
    assert J.to_dense()["when"].dtype == days.dtype
    np.testing.assert_array_equal(
        J.to_dense(fill={"when": np.datetime64("NaT", unit)})["when"][1], np.array(["NaT", "NaT"], days.dtype)
    )
    assert J.equals(J[:], equal_nan=True)
    kept = make({"when": [days[:2], days[2:]]}, narrow=False)
    assert kept.schema["when"] == days.dtype
    assert Joint({"when": [days]}).schema["when"] == days.dtype


def test_times_in_a_file_are_int64(tmp_path):
    from safetensors.numpy import load_file

    Joint({"when": [np.array([5], "datetime64[ms]")]}, narrow=False).save(tmp_path / "t.nrt")
    assert load_file(tmp_path / "t.nrt")["dim1/when"].dtype == np.int64


def test_fixed_dims_behind_the_ragged_ones(make):
    a, b = np.arange(6, dtype=np.float32).reshape(3, 2), np.ones((1, 2), np.float32)
    J = make({"n": [[1, 2, 3], [4]], "wave": [a, b]}, trailing_dims={"wave": 1})
    assert J["wave"].values.shape == (4, 2)
    assert J.to_dense()["wave"].shape == (2, 3, 2)
    assert J[0].to_dense()["wave"].tolist() == a.tolist()
    assert J[[1, 0]].to_list()["wave"] == [b.tolist(), a.tolist()]
    assert Joint.concatenate([J, J]).to_dense()["wave"].shape == (4, 3, 2)
    deep = make({"wave": [[a[0], a[1]], [b[0]]]}, trailing_dims={"wave": 1})
    assert deep.to_list()["wave"] == [[a[0].tolist(), a[1].tolist()], [b[0].tolist()]]
    flat = make({"wave": a, "n": [[1], [2], [3]]}, trailing_dims={"wave": 1})
    assert flat["wave"].shape == (3, 2)
    with pytest.raises(ValueError, match="wave: expected arrays of 1 fixed dims"):
        Joint({"wave": [a, b[0]]}, trailing_dims={"wave": 1})


def test_lists_of_one_length_are_fixed_dims_where_asked():
    J = Joint({"p": [[[1, 2], [3, 4]], [[5, 6]]], "q": [[1, 2], [3, 4]]}, trailing_dims={"p": 1, "q": 1})
    assert [J[key].values.shape if key == "p" else J[key].shape for key in "pq"] == [(3, 2), (2, 2)]
    assert J.to_list() == {"q": [[1, 2], [3, 4]], "p": [[[1, 2], [3, 4]], [[5, 6]]]}
    words = Joint({"w": [["a", "b"], ["b", "b"]]}, schema={"w": str}, trailing_dims={"w": 1})
    assert words["w"].tolist() == [[1, 2], [2, 2]]
    with pytest.raises(ValueError, match="p: a list of 1 at row 1, but its fixed dims say 2"):
        Joint({"p": [[[1, 2], [3, 4]], [[5]]]}, trailing_dims={"p": 1})


def test_rows_are_found_by_their_ids(make):
    J = make({"who": [30, 10, 20], "T": [[1], [], [2, 3]]}, row_ids="who")
    assert J.row_ids == "who"
    assert J.rows_of([20, 30]).tolist() == [2, 0]
    assert J[J.rows_of([20])].to_list() == {"who": [20], "T": [[2, 3]]}
    assert int(J.rows_of(10)) == 1
    assert J[1:].rows_of([20]).tolist() == [1]
    assert J.rows_of([]).tolist() == []
    for bad in (5, 15, 99):
        with pytest.raises(KeyError, match=f"ids: no row has who {bad}"):
            J.rows_of([30, bad])
    with pytest.raises(ValueError, match=r"who has 30 twice, at rows \[0, 1\]"):
        Joint.concatenate([J[:1], J]).rows_of([30])
    with pytest.raises(ValueError, match="no key of dim 0 holds the ids of rows; name one with row_ids="):
        J.drop("who").rows_of([30])
    with pytest.raises(ValueError, match="row_ids: 'T' is not a key of dim 0"):
        Joint({"T": [[1]]}, row_ids="T")


def test_rows_are_found_by_words(make):
    J = make({"who": ["ann", "bob"], "T": [[1], [2]]}, schema={"who": str}, row_ids="who")
    assert J.rows_of(["bob", "ann"]).tolist() == [1, 0]
    with pytest.raises(KeyError, match="ids: no row has who eve"):
        J.rows_of(["eve"])


def test_dense_into_given_arrays(make):
    J = make(RAW)
    want = J.to_dense()
    out = {key: np.full_like(value, 1) for key, value in want.items()}
    got = J.to_dense(out=out)
    assert all(got[key] is out[key] for key in out)
    for key in want:
        np.testing.assert_array_equal(out[key], want[key])
    out["T"] = np.zeros((2, 3), np.uint8)
    with pytest.raises(ValueError, match=r"out\['T'\]: needs uint8\(2, 2\), got uint8\(2, 3\)"):
        J.to_dense(out=out)
    out["T"] = np.zeros((2, 2), np.int64)
    with pytest.raises(ValueError, match=r"out\['T'\]: needs uint8"):
        J.to_dense(out=out)
    out["T"] = np.zeros((2, 4), np.uint8)[:, ::2]
    with pytest.raises(ValueError, match=r"out\['T'\]: is not C-contiguous"):
        J.to_dense(out=out)
    with pytest.raises(KeyError, match="out: there is no 'x' in the result"):
        J.to_dense(out={"x": out["T"]})
    values = np.arange(4)
    J = Joint(processed_tensors={"dim1/x": values, "dim1/bounds": np.array([2, 4])})
    with pytest.raises(ValueError, match=r"out\['x'\]: shares memory with an input"):
        J.to_dense(out={"x": values.reshape(2, 2)})


def test_dense_options(make):
    J = make(RAW)
    assert J.to_dense(fill={"T": 7})["T"].tolist() == [[1, 2], [3, 7]]
    assert J.to_dense(fill=5)["id"].tolist() == [[[1, 5], [2, 3]], [[5, 5], [5, 5]]]
    assert J.to_dense(masks=False).keys() == {"S", "T", "id"}
    assert J.to_dense(max_len=1)["T"].tolist() == [[1], [3]]
    assert J.to_dense(max_len=1, truncate="left")["T"].tolist() == [[2], [3]]
    assert J.to_dense(max_len=(None, 1))["id"].tolist() == [[[1], [2]], [[0], [0]]]
    with pytest.raises(ValueError, match=r"T: the padded shape \(2, 2\) of 1 bytes an entry .* max_bytes=9"):
        J.to_dense(max_bytes=9)
    with pytest.raises(ValueError, match="fill of 'T': -1 does not fit uint8"):
        J.to_dense(fill=-1)
    with pytest.raises(KeyError, match="fill: there is no key 'x'"):
        J.to_dense(fill={"x": 1})
    for bad in ((1, 2, 3), -1):
        with pytest.raises(ValueError, match="max_len"):
            J.to_dense(max_len=bad)


def test_side_of_padding(make):
    import enum

    class Side(str, enum.Enum):
        LEFT = "left"

    J = make(RAW)
    np.testing.assert_array_equal(J.to_dense(Side.LEFT)["T"], J.to_dense("left")["T"])
    for bad in ("up", None):
        with pytest.raises(ValueError, match=f"padding_side must be 'left' or 'right'; got '{bad}'"):
            J.to_dense(padding_side=bad)


def test_a_key_may_have_an_empty_name(tmp_path):
    J = Joint({"": [[1], [2, 3]], "b": [1, 2]})
    J.save(tmp_path / "a.nrt")
    for one in (
        J,
        Joint(tensors_fp=tmp_path / "a.nrt"),
        Joint(tensors_fp=tmp_path / "a.nrt", keys=["", "b"]),
    ):
        assert one.keys() == {"", "b"}
        assert one[""].to_list() == [[1], [2, 3]]
        assert one[1].to_list() == {"": [2, 3], "b": 2}
        assert one.rename({"": "a", "b": ""}).to_list() == {"a": [[1], [2, 3]], "": [1, 2]}
        assert one.to_dense()[""].tolist() == [[1, 0], [2, 3]]
    upstream = pytest.importorskip("nested_ragged_tensors.ragged_numpy").JointNestedRaggedTensorDict
    assert upstream(tensors_fp=tmp_path / "a.nrt").to_dense()[""].tolist() == [[1, 0], [2, 3]]
    upstream({"": [5, 6]}).save(tmp_path / "theirs.nrt")
    assert Joint(tensors_fp=tmp_path / "theirs.nrt").to_list() == {"": [5, 6]}


@pytest.mark.parametrize(
    ("values", "options"),
    [
        (np.array(["b", "a", "b"]), {"dim": 1}),
        (np.array(["b", "a", "b"], object), {"dim": 1}),
        ([["b", "a"], ["b"]], {"dtype": str}),
        ([np.array(["b", "a"]), np.array(["b"])], {}),
        (Ragged(np.array(["b", "a", "b"]), [2, 1]), {}),
    ],
)
def test_a_key_of_strings_brings_its_vocabulary(values, options):
    J = Joint({"a": [[1, 2], [3]]}).with_key("w", values, **options)
    assert J.to_list()["w"] == [["b", "a"], ["b"]]
    assert dict(J.vocabularies) == {"w": ("[PAD]", "b", "a")}
    assert J.schema["w"] == np.uint8
    assert dict(J.with_key("w", [1, 2]).vocabularies) == {}


@pytest.mark.parametrize(
    ("dtype", "fill"), [("f4", 1e300), ("f2", 70000), ("f2", -1e6), ("f4", np.float64(4e38))]
)
def test_a_finite_fill_that_becomes_infinite_is_refused(dtype, fill):
    J = Joint({"t": [[1.0], []]}, schema={"t": dtype})
    with pytest.raises(ValueError, match=r"fill of 't': .* does not fit float"):
        J.to_dense(fill=fill)
    with pytest.raises(ValueError, match=r"fill of 't': .* does not fit float"):
        J.to_dense(fill={"t": fill})
    assert J.to_dense(fill=np.inf)["t"].tolist() == [[1.0], [np.inf]]
    assert J.to_dense(fill=0.1)["t"][1, 0] == np.dtype(dtype).type(0.1)


def test_the_first_rows_of_one_id_are_named():
    J = Joint({"id": [5, *range(100, 160), 5, 5]}, row_ids="id")
    with pytest.raises(ValueError, match=r"id has 5 twice, at rows \[0, 61\]"):
        J.rows_of([5])
