"""Objects of other libraries as Raggeds and back: what is shared, what stays, what is refused."""

import importlib.util
import io
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
import varlen as vl
from hypothesis import given, settings
from hypothesis import strategies as st

DTYPES = ["i2", "i8", "u1", "f4", "f8"]
ROWS = st.lists(st.lists(st.integers(0, 9), max_size=4), max_size=6)


def ragged(rows, dtype="i8"):
    return vl.Ragged(np.array([x for row in rows for x in row], dtype), [len(row) for row in rows])


def shares(a, b):
    return np.shares_memory(np.asarray(a), np.asarray(b))


def refuses(error, text, door, *args, **options):
    with pytest.raises(error, match=text):
        door(*args, **options)


class TestScipy:
    sparse = pytest.importorskip("scipy.sparse", reason="scipy is not installed")

    @pytest.mark.parametrize("kind", ["csr", "csc"])
    @pytest.mark.parametrize("make", ["array", "matrix"])
    @pytest.mark.parametrize("dtype", DTYPES)
    def test_rows_or_columns_are_sequences_that_share_data_and_ids(self, kind, make, dtype):
        dense = np.array([[0, 5, 6], [0, 0, 0], [7, 0, 0], [1, 1, 1]], dtype)
        m = getattr(self.sparse, f"{kind}_{make}")(dense)
        ids, data = vl.Ragged.from_scipy(m)
        rows = dense if kind == "csr" else dense.T
        assert data.to_list() == [row[row != 0].tolist() for row in rows]
        assert ids.to_list() == [np.flatnonzero(row).tolist() for row in rows]
        assert data.dtype == dtype
        assert shares(data.values, m.data)
        assert shares(ids.values, m.indices)
        assert ids.levels[0] is data.levels[0]
        back = data.to_scipy(ids, rows.shape[1], kind)
        assert (back.toarray() == dense).all()
        assert back.format == kind
        assert back.dtype == dtype
        assert shares(back.data, data.values)
        assert shares(back.indices, ids.values)

    def test_what_is_no_such_matrix_is_an_error(self):
        refuses(
            TypeError,
            r"CSR or CSC .* got lil_array; call tocsr",
            vl.Ragged.from_scipy,
            self.sparse.lil_array((2, 2)),
        )
        refuses(TypeError, r"Ragged.from_scipy\(\) takes it", vl.Ragged, self.sparse.csr_array((2, 2)))
        r = vl.Ragged([5.0, 6.0, 7.0], [2, 1])
        refuses(ValueError, "ids: 3 at position 1 is out of range for width=3", r.to_scipy, [1, 3, 0], 3)
        refuses(ValueError, "ids: -1 at position 0 is negative", r.to_scipy, [-1, 3, 0])
        refuses(ValueError, "ids: 2 ids for data", r.to_scipy, [1, 3])
        refuses(TypeError, "ids: expected integers", r.to_scipy, [1.0, 3, 0])
        refuses(ValueError, "ids: nest differently", r.to_scipy, vl.Ragged([1, 2, 3], [1, 2]))
        refuses(ValueError, "format", r.to_scipy, [1, 3, 0], format="lil")
        broken = self.sparse.csr_array(np.eye(3))
        broken.indptr[1] = 3
        refuses(ValueError, "offset", vl.Ragged.from_scipy, broken)

    def test_no_rows(self):
        ids, data = vl.Ragged.from_scipy(self.sparse.csr_array((0, 3)))
        assert (len(ids), len(data)) == (0, 0)
        assert data.to_scipy(ids).shape == (0, 0)


class TestXarray:
    xr = pytest.importorskip("xarray", reason="xarray is not installed")

    def test_contiguous_ragged_arrays_share_values_and_a_level(self):
        t, x = np.array([3.0, 1.0, 4.0]), np.arange(6, dtype="i2").reshape(3, 2)
        rows = ("profile", [2, 0, 1], {"sample_dimension": "obs"})
        ids = ("profile", [7, 8, 9])
        dataset = self.xr.Dataset({"rows": rows, "t": ("obs", t), "x": (("obs", "axis"), x), "id": ids})
        found = vl.Ragged.from_xarray(dataset)
        assert list(found) == ["t", "x", "id"]
        assert found["t"].to_list() == [[3, 1], [], [4]]
        assert found["x"].dtype == np.int16
        assert shares(found["t"].values, t)
        assert found["t"].levels[0] is found["x"].levels[0]
        J = vl.JointNestedRaggedTensorDict(found)
        assert J["t"].to_list() == found["t"].to_list()
        assert J["id"].tolist() == [7, 8, 9]

    def test_indexed_ragged_arrays_come_in_any_order(self):
        dataset = self.xr.Dataset({
            "which": ("obs", [2, 0, 2, 0], {"instance_dimension": "profile"}), "t": ("obs", [3, 1, 4, 1]),
            "id": ("profile", [7, 8, 9, 6]),
        })  # fmt: skip
        assert vl.Ragged.from_xarray(dataset)["t"].to_list() == [[1, 1], [], [3, 4], []]

    def test_through_a_netcdf_file(self, tmp_path):
        pytest.importorskip("h5netcdf", reason="h5netcdf is not installed")
        for r in (vl.Ragged(np.array([3, 1, 4], "i2"), [1, 0, 2]), vl.Ragged(np.ones((3, 2)), [3])):
            dataset = r.to_xarray("t", ("station", "time"))
            assert shares(dataset["t"].values, r.values)
            dataset.to_netcdf(tmp_path / "a.nc", engine="h5netcdf")
            with self.xr.open_dataset(tmp_path / "a.nc", engine="h5netcdf") as stored:
                found = vl.Ragged.from_xarray(stored)["t"]
            assert found.equals(r)
            assert found.dtype == r.dtype

    def test_what_has_no_ragged_array_is_an_error(self):
        plain = self.xr.Dataset({"t": ("obs", [1.0])})
        refuses(ValueError, "sample_dimension or instance_dimension.*got 0", vl.Ragged.from_xarray, plain)
        refuses(TypeError, "expected an xarray Dataset, got dict", vl.Ragged.from_xarray, {})
        refuses(TypeError, r"Ragged.from_xarray\(\) takes it", vl.Ragged, plain)
        wrong = plain.assign(rows=("profile", [2], {"sample_dimension": "obs"}))
        refuses(ValueError, "add up to 2, but there are 1 values", vl.Ragged.from_xarray, wrong)
        floats = plain.assign(rows=("profile", [1.0], {"sample_dimension": "obs"}))
        refuses(TypeError, "rows: expected integers, got float64", vl.Ragged.from_xarray, floats)


@given(st.lists(st.integers(0, 4), max_size=8))
@settings(max_examples=50)
def test_a_batch_vector_in_any_order_is_what_a_loop_makes(ids):
    values, batch = np.arange(len(ids)), np.array(ids, np.int64)
    r = vl.Ragged.from_pyg(values, batch, 5)
    assert r.to_list() == [[i for i, graph in enumerate(ids) if graph == k] for k in range(5)]
    assert shares(r.values, values) == (ids == sorted(ids) and len(ids) > 0)


def test_a_batch_vector_keeps_tensors_and_gradients():
    torch = pytest.importorskip("torch")
    x = torch.arange(4.0, requires_grad=True)
    r = vl.Ragged.from_pyg(x, torch.tensor([1, 0, 1, 0]))
    (r.values * torch.arange(4)).sum().backward()
    assert r.to_list() == [[1, 3], [0, 2]]
    assert x.grad.tolist() == [2, 0, 3, 1]
    refuses(ValueError, "batch: 1 ids for 4 rows", vl.Ragged.from_pyg, x, [0])
    refuses(ValueError, "batch", vl.Ragged.from_pyg, x, [0, 1, 2, -1])
    refuses(ValueError, "batch", vl.Ragged.from_pyg, x, [0, 1, 2, 3], 3)


def test_a_batch_of_pytorch_geometric_is_a_sequence_a_graph():
    data = pytest.importorskip("torch_geometric.data", reason="torch_geometric is not installed")
    torch = pytest.importorskip("torch")
    graphs = [data.Data(x=torch.ones(n, 2) * n) for n in (2, 1, 3)]
    batch = data.Batch.from_data_list(graphs)
    r = vl.Ragged.from_pyg(batch)
    assert r.lengths.tolist() == [2, 1, 3]
    assert shares(r.values, batch.x)
    assert r.levels[0].offsets.tolist() == batch.ptr.tolist()
    assert r.levels[0].row_ids.tolist() == batch.batch.tolist()
    refuses(TypeError, r"Ragged.from_pyg\(\) takes it", vl.Ragged, batch)


@given(ROWS, st.sampled_from(DTYPES))
@settings(max_examples=50)
def test_arrays_of_arrays_come_back(rows, dtype):
    r = ragged(rows, dtype)
    objects = r.to_objects()
    assert objects.dtype == object
    assert objects.shape == (len(rows),)
    assert all(shares(a, r.values) for a in objects if len(a))
    if rows:
        for door in (vl.Ragged, vl.Ragged.from_list):
            assert door(objects).equals(r)
            assert door(objects).dtype == dtype


def test_variable_lengths_of_hdf5():
    h5py = pytest.importorskip("h5py", reason="h5py is not installed")
    r = ragged([[3], [], [1, 4]], "i4")
    with h5py.File(io.BytesIO(), "w") as file:
        file.create_dataset("x", data=r.to_objects(), dtype=h5py.vlen_dtype(r.dtype))
        for door in (vl.Ragged, vl.Ragged.from_list):
            assert door(file["x"]).equals(r)
            assert door(file["x"]).dtype == np.int32
        r.to_zarr(file.create_group("g"))
        assert vl.Ragged.from_zarr(file["g"]).equals(r)


def run_alone(module, code):
    """Code in a process of its own, because the library has threads, and other tests fork."""
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"{module} is not installed")
    subprocess.run([sys.executable, "-c", "import numpy as np, varlen as vl\n" + code], check=True)


def test_groups_of_zarr():
    run_alone(
        "zarr",
        "import zarr\n"
        "for x in ([[3], [], [1, 4]], [[[1], []], [], [[2, 3]]]):\n"
        "    r, group = vl.Ragged.from_list(x, dtype='i2'), zarr.group(store={})\n"
        "    r.to_zarr(group)\n"
        "    found = vl.Ragged.from_zarr(group)\n"
        "    assert found.equals(r) and found.dtype == r.dtype\n",
    )
    text = r"group: expected arrays called values and offsets, got \['a'\]"
    refuses(ValueError, text, vl.Ragged.from_zarr, {"a": 1})


def test_rows_of_a_tensordict_are_sequences():
    tensordict = pytest.importorskip("tensordict", reason="tensordict is not installed")
    torch = pytest.importorskip("torch")
    r = vl.Ragged(torch.arange(6.0), [2, 0, 1, 3])
    td = tensordict.TensorDict({"x": r.to_nested()}, batch_size=[4])
    assert td[0]["x"].tolist() == [0, 1]
    for door in (vl.Ragged, vl.Ragged.from_list, vl.Ragged.from_nested):
        assert door(td["x"]).equals(r)
        assert door(td[2:]["x"]).to_list() == r[2:].to_list()
    assert shares(vl.Ragged(td["x"]).values, r.values)


def test_ragged_tensors_of_tensorflow():
    splits = [np.array([0, 2, 3]), np.array([0, 1, 1, 4])]
    tensor = SimpleNamespace(flat_values=np.arange(4), nested_row_splits=splits)
    for door in (vl.Ragged, vl.Ragged.from_list, vl.Ragged.from_tensorflow):
        assert door(tensor).to_list() == [[[0], []], [[1, 2, 3]]]
        assert shares(door(tensor).values, tensor.flat_values)
    tensor.nested_row_splits[0] = np.array([0, 4])
    refuses(ValueError, "offsets|levels", vl.Ragged, tensor)


def test_ragged_tensors_of_tensorflow_itself():
    run_alone(
        "tensorflow",
        "import tensorflow as tf\n"
        "for x in ([[3.0], [], [1.0, 4.0]], [[[1], []], [], [[2, 3]]]):\n"
        "    r = vl.Ragged.from_list(x)\n"
        "    tensor = r.to_tensorflow()\n"
        "    assert isinstance(tensor, tf.RaggedTensor) and tensor.to_list() == x\n"
        "    assert vl.Ragged(tensor).equals(r) and vl.Ragged(tensor).dtype == r.dtype\n",
    )


def test_jagged_tensors_of_torchrec():
    torch = pytest.importorskip("torch")
    values, lengths = torch.arange(6.0), torch.tensor([1, 2, 0, 3], dtype=torch.int32)
    one = SimpleNamespace(values=lambda: values, lengths=lambda: lengths)
    for door in (vl.Ragged, vl.Ragged.from_list, vl.Ragged.from_torchrec):
        assert door(one).to_list() == [[0], [1, 2], [], [3, 4, 5]]
        assert door(one).values.data_ptr() == values.data_ptr()
    two = SimpleNamespace(keys=lambda: ["a", "b"], **vars(one))
    found = vl.Ragged.from_torchrec(two)
    assert {key: r.to_list() for key, r in found.items()} == {"a": [[0], [1, 2]], "b": [[], [3, 4, 5]]}
    assert shares(found["b"].values, values)
    refuses(TypeError, r"Ragged.from_torchrec\(\) takes it", vl.Ragged, two)
    three = SimpleNamespace(keys=lambda: ["a", "b", "c"], **vars(one))
    refuses(ValueError, "tensor: 4 lengths for 3 keys", vl.Ragged.from_torchrec, three)
    short = SimpleNamespace(keys=two.keys, values=lambda: values[:5], lengths=lambda: lengths)
    refuses(
        ValueError, "tensor: its lengths add up to 6, but there are 5 values", vl.Ragged.from_torchrec, short
    )


def test_values_of_jax_are_shared_by_dlpack():
    run_alone(
        "jax",
        "import jax\n"
        "values = jax.numpy.arange(3.0)\n"
        "assert vl.Ragged(values, [1, 2]).values is values\n"
        "ours = vl.Ragged(np.arange(3, dtype='f4'), [1, 2])\n"
        "there = vl.Ragged(jax.dlpack.from_dlpack(ours.values), levels=ours.levels)\n"
        "assert there.to_list() == ours.to_list()\n"
        "assert there.levels[0] is ours.levels[0]\n",
    )


def test_dlpack_carries_values_and_says_so():
    r = ragged([[3], [1, 4]])
    assert shares(np.from_dlpack(r.values), r.values)
    refuses(TypeError, r"one array, without offsets; pass .values, and .offsets", np.from_dlpack, r)
    torch = pytest.importorskip("torch")
    refuses(AttributeError, r"one array, without offsets; pass .values, and .offsets", torch.from_dlpack, r)
    assert not hasattr(r, "__dlpack_device__")  # else awkward takes the Ragged for an array
