"""Containers show themselves to Arrow, share what they have, and let it live as long as it is read."""

import gc

import numpy as np
import pytest
import varlen as vl
from hypothesis import given
from hypothesis import strategies as st
from varlen import _core
from varlen.interop import arrow_nodes
from varlen.testing import strategies

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")


def exported(source):
    array = pa.array(source)
    array.validate(full=True)
    return array


def address(array):
    return array.__array_interface__["data"][0]


@given(strategies.raggeds())
def test_a_ragged_is_the_same_lists(r):
    if r.dtype.kind in "c" or r.dtype.itemsize > 8 or r.dtype.hasobject:
        with pytest.raises(TypeError, match=f"Arrow has no type for dtype {r.dtype}"):
            r.__arrow_c_array__()
        return
    array = exported(r)
    assert len(array) == len(r)
    if r.dtype.kind in "biuf":
        np.testing.assert_equal(array.to_pylist(), r.to_list())


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_levels_of_any_depth_share_their_offsets(depth):
    nest = [[3, 1], [2, 0, 1, 1], [1, 2, 0, 3]][-depth:]
    r = vl.Ragged(np.arange(6.0)[: sum(nest[-1])], nest if depth > 1 else nest[0])
    array = exported(r)
    assert array.to_pylist() == r.to_list()
    for level in r.levels:
        assert array.buffers()[1].address == address(level.offsets)
        array = array.values
    assert array.buffers()[1].address == address(r.values)


def test_a_part_is_shared_where_it_begins():
    r = vl.Ragged(np.arange(10), [3, 0, 2, 5])
    part = r[1:]
    array = exported(part)
    assert array.to_pylist() == part.to_list()
    assert array.values.buffers()[1].address == address(r.values) + 3 * 8


@pytest.mark.parametrize("shape", [(2,), (2, 3), (0,), (2, 0)])
def test_axes_of_a_row_are_lists_of_fixed_size(shape):
    r = vl.Ragged(np.arange(4 * int(np.prod(shape))).reshape(4, *shape), [3, 0, 1])
    array = exported(r)
    assert array.to_pylist() == r.to_list()
    kind = array.type.value_type
    for size in shape:
        assert kind.list_size == size
        kind = kind.value_type


@pytest.mark.parametrize(
    "name", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", ">i4", ">f8", "?"]
)
def test_numbers_keep_their_dtype(name):
    values = np.array([0, 1, 2, 3, 100]).astype(name)
    array = exported(vl.Ragged(values, [3, 0, 2]))
    assert array.type == pa.large_list(pa.from_numpy_dtype(values.dtype.newbyteorder("=")))
    assert array.to_pylist() == [values[:3].tolist(), [], values[3:].tolist()]


@pytest.mark.parametrize(
    ("dtype", "kind"),
    [
        ("M8[s]", pa.timestamp("s")),
        ("M8[ms]", pa.timestamp("ms")),
        ("M8[us]", pa.timestamp("us")),
        ("M8[ns]", pa.timestamp("ns")),
        ("M8[m]", pa.timestamp("s")),
        ("M8[10s]", pa.timestamp("s")),
        ("M8[h]", pa.timestamp("s")),
        ("M8[D]", pa.date32()),
        ("M8[W]", pa.date32()),
        ("M8[M]", pa.date32()),
        ("M8[Y]", pa.date32()),
        ("m8[s]", pa.duration("s")),
        ("m8[ms]", pa.duration("ms")),
        ("m8[us]", pa.duration("us")),
        ("m8[ns]", pa.duration("ns")),
        ("m8[D]", pa.duration("s")),
    ],
)
def test_times_keep_their_unit_and_what_is_no_time_is_null(dtype, kind):
    values = np.array([0, 7, "NaT", -3], dtype)
    array = exported(vl.Ragged(values, [1, 3]))
    assert array.type == pa.large_list(kind)
    assert array.values.null_count == 1
    plain = array.values.fill_null(pa.scalar(0, pa.int32() if kind == pa.date32() else pa.int64()).cast(kind))
    back = plain.to_numpy(zero_copy_only=False).astype(dtype)
    np.testing.assert_array_equal(back[[0, 1, 3]], values[[0, 1, 3]])


def from_node(node):
    array = pa.Array._import_from_c_capsule(_core.arrow_schema(node), _core.arrow_array(node))
    array.validate(full=True)
    return array


@pytest.mark.parametrize("dtype", ["U", "T"])
def test_text(dtype):
    if dtype == "T" and not hasattr(np.dtypes, "StringDType"):
        pytest.skip("this NumPy has no strings of any length")
    words = ["to", "be", "", "ö"]
    array = from_node(arrow_nodes.values_node(np.array(words, dtype)))
    assert array.type == pa.large_string()
    assert array.to_pylist() == words


def test_bytes():
    words = [b"to", b"be", b"", b"x"]
    assert exported(vl.Ragged(np.array(words), [4])).to_pylist() == [words]
    fixed = exported(vl.Ragged(np.array([b"to", b"x\0"]).view("V2"), [2]))
    assert fixed.type == pa.large_list(pa.binary(2))
    assert fixed.to_pylist() == [[b"to", b"x\0"]]


def test_records_are_structs():
    values = np.array([(1, 0.5), (2, 1.5)], [("id", "i4"), ("x", "f8", ())])
    array = exported(vl.Ragged(values, [2, 0]))
    assert array.to_pylist() == [[{"id": 1, "x": 0.5}, {"id": 2, "x": 1.5}], []]


@pytest.mark.parametrize("dtype", ["c8", "c16", "g", "G", "m8[M]", "m8", "M8[ps]"])
def test_a_dtype_that_arrow_lacks_is_named(dtype):
    r = vl.Ragged(np.zeros(3, dtype), [2, 1])
    with pytest.raises(TypeError, match="Arrow has no type for dtype") as raised:
        pa.array(r)
    assert str(r.dtype) in str(raised.value)


def test_dates_beyond_arrow_are_named():
    r = vl.Ragged(np.array([0, 2**40], "M8[D]"), [2])
    with pytest.raises(ValueError, match="1099511627776 days do not fit a date") as raised:
        pa.array(r)
    assert raised.value.row == 1


def test_values_live_as_long_as_arrow_reads_them():
    array = exported(vl.Ragged(np.arange(100_000), [50_000, 50_000]))
    parts = array.slice(1, 1)
    del array
    gc.collect()
    assert parts.to_pylist()[0] == list(range(50_000, 100_000))


def test_capsules_that_nobody_reads_let_go():
    values = np.arange(1000)
    r = vl.Ragged(values, [1000])
    import sys

    before = sys.getrefcount(values)
    capsules = r.__arrow_c_schema__(), r.__arrow_c_array__(), r.__arrow_c_stream__()
    assert sys.getrefcount(values) > before
    del capsules
    assert sys.getrefcount(values) == before
    array = pa.array(r)
    del array
    assert sys.getrefcount(values) == before


def test_a_stream_is_one_array():
    r = vl.Ragged([3, 1, 4], [2, 0, 1])
    chunked = pa.chunked_array(r)
    assert chunked.num_chunks == 1
    assert chunked.to_pylist() == r.to_list()


def test_a_stream_tells_what_its_arrays_raise():
    def nodes():
        yield node
        raise ValueError("no more of them")

    class Source:
        def __arrow_c_stream__(self, requested_schema=None):
            return _core.arrow_stream(node, nodes())

    node = arrow_nodes.values_node(np.arange(3))
    with pytest.raises(pa.ArrowInvalid, match="ValueError: no more of them"):
        pa.chunked_array(Source())


def test_padded_is_its_sequences():
    p = vl.Padded.from_list([[1, 2], [3, 4, 5], []])
    assert exported(p).to_pylist() == [[1, 2], [3, 4, 5], []]


@pytest.mark.parametrize("node", [(), ("c", 1, [], (), None, 0, "", 2, b""), None])
def test_a_tree_that_is_none_is_refused(node):
    with pytest.raises(TypeError, match="node: expected a tuple"):
        _core.arrow_array(node)


def test_polars_shares():
    pl = pytest.importorskip("polars", reason="polars is not installed")
    r = vl.Ragged([3, 1, 4], [2, 0, 1])
    series = pl.Series(r)
    assert series.dtype == pl.List(pl.Int64)
    assert series.to_list() == r.to_list()
    wide = vl.Ragged(np.ones((3, 2), "f4"), [2, 0, 1])
    assert pl.Series("x", wide).dtype == pl.List(pl.Array(pl.Float32, 2))


def test_pandas_takes_a_column():
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    if not hasattr(pd.Series, "from_arrow"):
        pytest.skip("this pandas has no Series.from_arrow")
    r = vl.Ragged([3, 1, 4], [2, 0, 1])
    assert [row.tolist() for row in pd.Series.from_arrow(r)] == r.to_list()


class TestTensors:
    torch = pytest.importorskip("torch", reason="torch is not installed")

    def test_values_are_shared(self):
        tensor = self.torch.arange(5, dtype=self.torch.int32)
        array = exported(vl.Ragged(tensor, [3, 0, 2]))
        assert array.to_pylist() == [[0, 1, 2], [], [3, 4]]
        assert array.values.buffers()[1].address == tensor.data_ptr()

    def test_gradients_are_not_lost_in_silence(self):
        r = vl.Ragged(self.torch.ones(3, requires_grad=True), [2, 1])
        with pytest.raises(ValueError, match="a tensor that requires gradients"):
            pa.array(r)

    @pytest.mark.parametrize("name", ["bfloat16", "complex64", "float8_e4m3fn"])
    def test_dtypes_that_arrow_lacks(self, name):
        r = vl.Ragged(self.torch.zeros(3, dtype=getattr(self.torch, name)), [2, 1])
        with pytest.raises(TypeError, match=f"Arrow has no type for dtype .*{name}"):
            pa.array(r)


@given(st.lists(st.booleans(), max_size=80))
def test_bits_of_bools(values):
    assert exported(vl.Ragged(np.array(values, bool), [len(values)])).to_pylist() == [values]


class TestTypesThatAreAskedFor:
    """A consumer gets the type that it asks for where nothing is lost, else the type that there is."""

    @staticmethod
    def array(source, kind):
        schema, array = source.__arrow_c_array__(requested_schema=kind.__arrow_c_schema__())
        result = pa.Array._import_from_c_capsule(schema, array)
        result.validate(full=True)
        return result

    @pytest.mark.parametrize("kind", [pa.int8(), pa.uint16(), pa.int64(), pa.float32()])
    def test_offsets_and_numbers_that_fit(self, kind):
        r = vl.Ragged([3, 1, 4], [2, 0, 1])
        for lists in (pa.list_, pa.large_list):
            array = self.array(r, lists(kind))
            assert array.type == lists(kind)
            assert array.to_pylist() == r.to_list()

    @pytest.mark.parametrize(
        ("values", "kind"),
        [
            ([300], pa.int8()),
            ([-1], pa.uint64()),
            ([2**53 + 1], pa.float64()),
            ([0.5], pa.int32()),
            ([1e300], pa.float32()),
            ([float("nan")], pa.int8()),
            (np.array([2**63], "u8"), pa.int64()),
            ([1], pa.string()),
            ([1], pa.timestamp("s")),
        ],
    )
    def test_what_does_not_fit_stays(self, values, kind):
        r = vl.Ragged(values, [1])
        np.testing.assert_equal(self.array(r, pa.list_(kind)).to_pylist(), pa.array(r).to_pylist())

    def test_missing_floats_narrow(self):
        r = vl.Ragged([0.5, np.nan], [2])
        assert self.array(r, pa.list_(pa.float32())).type == pa.list_(pa.float32())

    def test_fields_are_found_by_name(self):
        J = vl.JointNestedRaggedTensorDict({"x": vl.Ragged([1, 2], [1, 1]), "y": np.array([3, 4])})
        kind = pa.struct({"y": pa.int8(), "x": pa.list_(pa.int16()), "z": pa.int8()})
        assert self.array(J, kind).type == pa.struct({"x": pa.list_(pa.int16()), "y": pa.int8()})

    def test_a_stream(self):
        small, large = ({"x": vl.Ragged(np.array(v), [1])} for v in ([1], [300]))
        ds = vl.data.Dataset(
            [vl.JointNestedRaggedTensorDict(columns, narrow=False) for columns in (small, large)]
        )

        def read(kind):
            schema = pa.schema({"x": pa.list_(kind)})
            capsule = ds.__arrow_c_stream__(requested_schema=schema.__arrow_c_schema__())
            return pa.RecordBatchReader._import_from_c_capsule(capsule).read_all()

        table = read(pa.int16())
        assert table["x"].type == pa.list_(pa.int16())
        assert table["x"].to_pylist() == [[1], [300]]
        with pytest.raises(pa.ArrowInvalid, match="requested_schema: it does not hold the numbers"):
            read(pa.int8())
        r = vl.Ragged([3, 1], [1, 1])
        stream = r.__arrow_c_stream__(requested_schema=pa.list_(pa.int8()).__arrow_c_schema__())
        assert pa.ChunkedArray._import_from_c_capsule(stream).type == pa.list_(pa.int8())

    def test_what_is_no_schema_is_refused(self):
        with pytest.raises(TypeError, match="expected a capsule called 'arrow_schema', got int"):
            vl.Ragged([1], [1]).__arrow_c_array__(requested_schema=3)
