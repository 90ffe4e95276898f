"""Tables go to pandas, Polars and awkward by name: words are words, lists stay lists, memory is shared."""

import numpy as np
import pytest
import varlen as vl
from hypothesis import given
from hypothesis import strategies as st

RECORDS = {
    "id": [7, 8, 9],
    "sex": ["m", "f", "m"],
    "word": [["to", "be"], [], ["to"]],
    "time": [[0.5, 1.5], [], [2.0]],
    "code": [[[1, 2], [3]], [], [[4]]],
}
ROWS = [{key: column[i] for key, column in RECORDS.items()} for i in range(3)]


def joint(**more):
    return vl.JointNestedRaggedTensorDict(RECORDS | more, schema={"word": str, "sex": str})


def sources():
    J = joint()
    shards = [J[:1], J[1:]]
    return [J, vl.data.Dataset(J), vl.data.Dataset(shards), vl.data.Dataset(J).select([0, 1, 2])]


def address(array):
    return array.__array_interface__["data"][0]


class TestPandas:
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    pd = pytest.importorskip("pandas", reason="pandas is not installed")

    @pytest.mark.parametrize("place", range(4))
    def test_rows_are_the_records(self, place):
        frame = sources()[place].to_pandas()
        assert frame.columns.tolist() == list(RECORDS)
        rows = self.pa.Table.from_pandas(frame, preserve_index=False).to_pylist()
        assert rows == ROWS

    def test_plain_columns_have_the_dtypes_of_any_frame(self):
        days = np.array(["2024-02-29", "NaT", "2025-01-01"], "M8[D]")
        frame = joint(day=days, ok=np.array([True, False, True])).to_pandas()
        assert frame["id"].dtype == np.uint8
        assert frame["ok"].dtype == bool
        assert frame["day"].dtype.kind == "M"
        assert frame["day"].isna().tolist() == [False, True, False]
        assert frame["sex"].dtype == self.pd.Series(["m"]).dtype
        assert (frame["sex"] == "m").tolist() == [True, False, True]

    def test_lists_have_arrow_dtypes(self):
        frame = joint().to_pandas()
        assert frame["time"].dtype == self.pd.ArrowDtype(self.pa.large_list(self.pa.float32()))
        assert frame["time"].list.len().tolist() == [2, 0, 1]
        assert frame.explode("word")["word"].dropna().tolist() == ["to", "be", "to"]

    def test_what_is_no_table_of_arrow_names_its_key(self):
        J = vl.JointNestedRaggedTensorDict({"z": vl.Ragged(np.ones(3, "c8"), [1, 2])}, narrow=False)
        time = vl.Dim("time", lengths=[1, 2])
        data = vl.dims.DataDict({"z": vl.Data(np.ones(3, "c8"), [vl.dims.batch_dim, time])})
        for table in (J, vl.data.Batch({"z": np.ones(3, "c8")}), data):
            with pytest.raises(TypeError, match="z: Arrow has no type for dtype complex64"):
                table.to_pandas()

    @pytest.mark.parametrize("place", range(4))
    def test_a_frame_of_the_table_itself_names_the_way(self, place):
        source = sources()[place]
        for make in (self.pd.DataFrame, np.asarray):
            with pytest.raises(TypeError, match=r"is a table, not one array; use to_pandas\(\)"):
                make(source)


class TestColumns:
    """A Ragged as a column of pandas."""

    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    pd = pytest.importorskip("pandas", reason="pandas is not installed")

    @given(st.lists(st.lists(st.integers(0, 99), max_size=4), max_size=6))
    def test_a_series_and_back(self, rows):
        r = vl.Ragged(np.array([x for row in rows for x in row], np.int64), list(map(len, rows)))
        series = r.to_pandas()
        assert [list(row) for row in series] == rows
        assert vl.Ragged(series).equals(r)
        objects = self.pd.Series(r)
        assert objects.dtype == object
        assert [row.tolist() for row in objects] == rows

    def test_a_series_shares(self):
        r = vl.Ragged([3, 1, 4], [2, 0, 1])
        array = r.to_pandas().array.__arrow_array__().chunk(0)
        assert array.values.buffers()[1].address == address(r.values)
        assert np.shares_memory(self.pd.Series(r)[0], r.values)

    def test_frames_take_columns(self):
        r = vl.Ragged([3, 1, 4], [2, 0, 1])
        frame = self.pd.DataFrame({"x": r, "y": [1, 2, 3]})
        frame["z"] = r.to_pandas()
        frame["w"] = r
        for key in "xzw":
            assert vl.Ragged(frame[key]).to_list() == r.to_list()
        with pytest.raises(ValueError, match="Length of values"):
            frame["v"] = r[:2]

    def test_lists_of_one_length_are_objects_too(self):
        rows = self.pd.Series(vl.Ragged(np.arange(4), [2, 2]))
        assert [row.tolist() for row in rows] == [[0, 1], [2, 3]]

    def test_levels_and_axes_of_rows(self):
        nest = vl.Ragged(np.arange(4), [[2, 1], [1, 2, 1]])
        assert [row.to_list() for row in self.pd.Series(nest)] == nest.to_list()
        assert [list(map(list, row)) for row in nest.to_pandas()] == nest.to_list()
        wide = vl.Ragged(np.arange(6).reshape(3, 2), [2, 1])
        assert [row.tolist() for row in self.pd.Series(wide)] == [[[0, 1], [2, 3]], [[4, 5]]]

    def test_tensors(self):
        torch = pytest.importorskip("torch", reason="torch is not installed")
        r = vl.Ragged(torch.tensor([3, 1, 4]), [2, 1])
        assert [row.tolist() for row in self.pd.Series(r)] == [[3, 1], [4]]
        assert vl.Ragged(r.to_pandas()).to_list() == r.to_list()


def columns():
    """Containers of one column, and their sequences."""
    rows = [[3, 1], [], [4]]
    time = vl.Dim("time", lengths=[2, 0, 1])
    return {
        "ragged": (vl.Ragged.from_list(rows), rows),
        "nested": (vl.Ragged.from_list([rows, []]), [rows, []]),
        "no sequences": (vl.Ragged(np.empty(0), []), []),
        "padded": (vl.Padded.from_list(list(map(np.array, [[1], [3, 1]]))), [[1], [3, 1]]),
        "data": (vl.Data(np.array([3, 1, 4]), [vl.dims.batch_dim, time]), rows),
    }


def tables():
    """Containers whose keys are columns, and their rows."""
    dataset = vl.data.Dataset(joint())
    time = vl.Dim("time", lengths=[1, 2])
    data = {"x": vl.Data(np.array([3, 1, 4]), [vl.dims.batch_dim, time])}
    return {
        "joint": (joint(), ROWS),
        "dataset": (dataset, ROWS),
        "batch": (dataset.batch([1, 0], keys=["id", "time"], layout="padded"), None),
        "data": (vl.dims.DataDict(data), [{"x": [3]}, {"x": [1, 4]}]),
    }


NEIGHBOURS = {
    "to_arrow": ("pyarrow", lambda x: x.to_pylist()),
    "to_pandas": ("pandas", None),
    "to_polars": ("polars", lambda x: x.to_dicts() if hasattr(x, "to_dicts") else x.to_list()),
    "to_awkward": ("awkward", lambda x: x.to_list()),
}


@pytest.mark.parametrize("method", NEIGHBOURS)
class TestEveryContainer:
    """Whatever shows itself to Arrow goes to every neighbour by name."""

    def convert(self, source, method):
        library, rows_of = NEIGHBOURS[method]
        pytest.importorskip(library, reason=f"{library} is not installed")
        if method != "to_pandas":
            return rows_of(getattr(source, method)())
        pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
        frame = source.to_pandas()
        if frame.ndim == 1:
            return pa.array(frame).to_pylist()
        return pa.Table.from_pandas(frame, preserve_index=False).to_pylist()

    @pytest.mark.parametrize("name", columns())
    def test_a_column_is_its_sequences(self, method, name):
        source, rows = columns()[name]
        assert self.convert(source, method) == rows

    @pytest.mark.parametrize("name", tables())
    def test_a_table_is_its_rows(self, method, name):
        source, rows = tables()[name]
        if rows is None:
            rows = [
                {key: column[i].tolist() for key, column in source.items()} for i in range(len(source["id"]))
            ]
        assert self.convert(source, method) == rows

    def test_tensors_are_read_where_they_are(self, method):
        torch = pytest.importorskip("torch", reason="torch is not installed")
        r = vl.Ragged(torch.tensor([3, 1, 4]), [2, 1])
        assert self.convert(r, method) == [[3, 1], [4]]

    def test_a_dtype_without_a_type_is_named(self, method):
        dtype = "V3" if method == "to_awkward" else "c8"
        with pytest.raises(TypeError, match="no type for dtype"):
            self.convert(vl.Ragged(np.zeros(2, dtype), [2]), method)


class TestPolars:
    pl = pytest.importorskip("polars", reason="polars is not installed")

    @pytest.mark.parametrize("place", range(4))
    def test_rows_are_the_records(self, place):
        frame = sources()[place].to_polars()
        assert frame.columns == list(RECORDS)
        assert frame.to_dicts() == ROWS


class TestAwkward:
    ak = pytest.importorskip("awkward", reason="awkward is not installed")

    @pytest.mark.parametrize("place", range(4))
    def test_rows_are_the_records(self, place):
        array = sources()[place].to_awkward()
        assert self.ak.is_valid(array)
        assert array.to_list() == ROWS

    def test_values_are_shared(self):
        J = joint()
        flat = self.ak.Array(J)["time"].layout.content.data
        assert address(flat) == address(J["time"].values)

    def test_every_dtype_comes_out(self):
        day = np.array(["2024-02-29", "NaT", "2025-01-01"], "M8[D]")
        columns = {
            "day": day,
            "second": day.astype("M8[s]"),
            "span": np.array([1, 2, 3], "m8[ms]"),
            "half": np.array([0.5, 1, 2], "f2"),
            "ok": np.array([True, False, True]),
        }
        array = joint(**columns).to_awkward()
        for key, values in columns.items():
            np.testing.assert_array_equal(np.asarray(self.ak.to_numpy(array[key])), values)
        wide = vl.JointNestedRaggedTensorDict({"x": vl.Ragged(np.arange(6).reshape(3, 2), [2, 1])})
        assert wide.to_awkward()["x"].to_list() == wide["x"].to_list()

    def test_words_that_are_missing_are_none(self):
        J = vl.JointNestedRaggedTensorDict(
            processed_tensors={"dim0/w": np.array([0, -1, 1])},
            schema={"w": np.int64},
            vocabularies={"w": ["to", "be"]},
        )
        array = J.to_awkward()["w"]
        assert self.ak.is_valid(array)
        assert array.to_list() == ["to", None, "be"]

    def test_its_functions_take_containers(self):
        ak, r = self.ak, vl.Ragged([3, 1, 4], [2, 0, 1])
        assert ak.Array(r).layout.content.data.ctypes.data == address(r.values)
        assert ak.sum(r, axis=1).to_list() == [4, 0, 4]
        assert ak.concatenate([r, r]).to_list() == r.to_list() * 2
        assert ak.num(array=r).to_list() == [2, 0, 1]
        assert ak.Array({"x": r, "y": [1, 2, 3]})["x"].to_list() == r.to_list()
        assert ak.Array(vl.Padded.from_list([[1], [2, 3]])).to_list() == [[1], [2, 3]]
        assert ak.Array(vl.Ragged(np.array(["a"]), [1])).to_list() == [["a"]]

    @pytest.mark.parametrize("dtype", ["c8", "?", "M8[M]", "m8[ps]", ">i4", "f2", "U2", "S1", "a"])
    def test_a_dtype_comes_out_of_every_container(self, dtype):
        """Those that Arrow lacks as well, and what awkward has is shared."""
        dtype = np.dtype([("a", "c8"), ("b", "?")] if dtype == "a" else dtype)
        values = np.arange(3).astype(dtype)
        r = vl.Ragged(values, [2, 1])
        data = vl.Data(values, [vl.dims.batch_dim, vl.Dim("time", lengths=[2, 1])])
        columns = [r, r.to_padded(), data]
        tables = [
            vl.data.Batch(x=r.to_dense()),
            vl.dims.DataDict({"x": data}),
            vl.JointNestedRaggedTensorDict({"x": r}, narrow=False),
        ]
        flat = [dict(zip(dtype.names, x, strict=True)) if dtype.names else x for x in values.tolist()]
        if dtype.kind in "Mm":
            flat = list(values)
        rows = [flat[:2], flat[2:]]
        for x, array in [(x, x.to_awkward()) for x in columns] + [(x, x.to_awkward()["x"]) for x in tables]:
            assert self.ak.is_valid(array)
            assert array.to_list()[:1] == rows[:1], x
            assert array.to_list()[1][:1] == rows[1], x
        if dtype.isnative and dtype.kind in "cbMm":
            assert address(r.to_awkward().layout.content.data) == address(values)

    def test_gradients_are_named(self):
        torch = pytest.importorskip("torch", reason="torch is not installed")
        r = vl.Ragged(torch.ones(3, requires_grad=True), [2, 1])
        for x, key in ((r, "values"), (r.to_padded(), "values"), (vl.data.Batch(x=r.values), "x")):
            with pytest.raises(ValueError, match=f"{key}: a tensor that requires gradients"):
                x.to_awkward()
