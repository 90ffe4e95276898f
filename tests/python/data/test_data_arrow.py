"""Joint dicts, datasets, batches and named Data are tables of Arrow, a key a column, in shared memory."""

import numpy as np
import pytest
import varlen as vl
from hypothesis import given
from hypothesis import strategies as st

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")

RECORDS = {
    "id": [7, 8, 9],
    "word": [["to", "be"], [], ["to"]],
    "time": [[0.5, 1.5], [], [2.0]],
    "code": [[[1, 2], [3]], [], [[4]]],
}
ROWS = [{key: column[i] for key, column in RECORDS.items()} for i in range(3)]


def joint(rows=slice(None)):
    J = vl.JointNestedRaggedTensorDict(RECORDS, schema={"word": str}, row_ids="id")
    return J[rows]


def table_of(source):
    table = pa.table(source)
    table.validate(full=True)
    return table


def test_a_joint_dict_is_a_table():
    J = joint()
    table = table_of(J)
    assert table.column_names == list(RECORDS)
    assert table.to_pylist() == ROWS
    assert table["code"].type == pa.large_list(pa.large_list(pa.uint8()))
    assert table["word"].type.value_type == pa.dictionary(pa.uint8(), pa.large_string())
    values = table["time"].chunk(0).values
    assert values.buffers()[1].address == J["time"].values.__array_interface__["data"][0]


def test_keys_share_one_level():
    table = table_of(joint())
    first, second = (table[key].chunk(0).buffers()[1].address for key in ("word", "time"))
    assert first == second


def test_a_row_is_a_table_of_its_events():
    assert table_of(joint()[0]).to_pylist() == [
        {"id": 7, "word": "to", "time": 0.5, "code": [1, 2]},
        {"id": 7, "word": "be", "time": 1.5, "code": [3]},
    ]


@given(
    st.lists(st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=3), max_size=3), min_size=1).filter(
        any
    )
)
def test_any_nesting_comes_out_as_lists(code):
    source = vl.JointNestedRaggedTensorDict({"code": code, "n": [[len(x) for x in row] for row in code]})
    assert table_of(source)["code"].to_pylist() == code


def test_a_key_that_arrow_lacks_is_named():
    source = vl.JointNestedRaggedTensorDict({"z": vl.Ragged(np.ones(3, "c8"), [1, 2])}, narrow=False)
    with pytest.raises(TypeError, match="z: Arrow has no type for dtype complex64") as raised:
        pa.table(source)
    assert raised.value.argument == "z"


class TestDatasets:
    def test_rows(self):
        ds = vl.data.Dataset(joint())
        assert table_of(ds).to_pylist() == ROWS
        assert table_of(ds[:2]).to_pylist() == ROWS[:2]
        array = pa.array(ds)
        assert array.to_pylist() == ROWS

    def test_a_view_has_its_rows(self):
        view = vl.data.Dataset(joint()).select([2, 0])
        assert table_of(view).to_pylist() == [ROWS[2], ROWS[0]]
        assert table_of(view.select([])).num_rows == 0

    def test_files_are_shared(self, tmp_path):
        joint().save(tmp_path / "a.nrt")
        ds = vl.open(tmp_path / "a.nrt")
        table = table_of(ds)
        assert table.to_pylist() == ROWS
        values = ds[:]["time"].values
        assert table["time"].chunk(0).values.buffers()[1].address == values.__array_interface__["data"][0]

    def test_a_shard_is_a_chunk(self, tmp_path):
        for name in "ab":
            joint().save(tmp_path / f"{name}.nrt")
        table = table_of(vl.open(tmp_path))
        assert table["id"].num_chunks == 2
        assert table.to_pylist() == ROWS + ROWS

    def test_shards_of_other_dtypes_and_orders_agree(self):
        small = vl.JointNestedRaggedTensorDict({"x": [[1], [2]], "y": [3, 4]})
        large = vl.JointNestedRaggedTensorDict({"y": [5], "x": [[1000, 2]]})
        table = table_of(vl.data.Dataset([small, large]))
        assert table.to_pylist() == [{"x": [1], "y": 3}, {"x": [2], "y": 4}, {"x": [1000, 2], "y": 5}]
        assert table["x"].type == pa.large_list(pa.uint16())

    def test_sql(self):
        duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
        ds = vl.data.Dataset(joint())  # noqa: F841
        rows = duckdb.sql("select id, len(time), word from ds where id > 7").fetchall()
        assert rows == [(8, 0, []), (9, 1, ["to"])]

    def test_polars(self):
        pl = pytest.importorskip("polars", reason="polars is not installed")
        frame = pl.DataFrame(vl.data.Dataset(joint())[:2])
        assert frame.columns == list(RECORDS)
        assert frame.to_dicts() == ROWS[:2]

    def test_pandas(self):
        pd = pytest.importorskip("pandas", reason="pandas is not installed")
        if not hasattr(pd.DataFrame, "from_arrow"):
            pytest.skip("this pandas has no DataFrame.from_arrow")
        assert pd.DataFrame.from_arrow(joint())["id"].tolist() == [7, 8, 9]

    def test_hugging_face(self):
        datasets = pytest.importorskip("datasets", reason="datasets is not installed")
        assert datasets.Dataset(pa.table(joint()))[0] == ROWS[0]


def test_a_padded_batch_is_a_table():
    batch = vl.data.Dataset(joint()).batch([0, 2], keys=["id", "time"])
    assert pa.array(batch).to_pylist() == [
        {"id": 7, "dim1/mask": [True, True], "time": [0.5, 1.5]},
        {"id": 9, "dim1/mask": [True, False], "time": [2.0, 0.0]},
    ]


def test_a_ragged_batch_says_which_has_columns():
    batch = vl.data.Dataset(joint()).batch([0, 2], keys=["time"], layout="ragged")
    with pytest.raises(ValueError, match="is no column of rows; make a batch with layout='padded'"):
        pa.array(batch)


class TestNames:
    def test_data_are_their_rows(self):
        data = vl.Data.from_joint(joint(), "code")
        assert pa.array(data).to_pylist() == RECORDS["code"]
        assert pa.array(vl.Data.from_joint(joint(), "word")).to_pylist() == RECORDS["word"]
        assert pa.array(vl.Data.from_joint(joint(), "id")).to_pylist() == RECORDS["id"]

    def test_a_batch_is_a_table(self):
        batch = vl.data.Dataset(joint()).batch([2, 0], layout="named")
        assert table_of(batch).to_pylist() == [ROWS[2], ROWS[0]]

    def test_columns_are_equally_long(self):
        two, three = vl.Dim("two", 2), vl.Dim("three", 3)
        batch = vl.dims.DataDict({"x": vl.Data(np.zeros(2), [two]), "y": vl.Data(np.zeros(3), [three])})
        with pytest.raises(ValueError, match="'y' has 3 rows, 'x' 2"):
            pa.table(batch)

    def test_a_number_has_no_rows(self):
        with pytest.raises(ValueError, match="a number without dims has no rows"):
            pa.array(vl.Data(np.float64(1), []))
