"""User code as type checkers see it: mypy reads this file beside the package, and the tests run it."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import torch
import varlen as vl
from numpy.typing import NDArray
from typing_extensions import assert_type
from varlen.data.records import RowNumbers
from varlen.lod import LoDTensor
from varlen.tf import RaggedTensor
from varlen.thinc import Ragged as ThincRagged

if TYPE_CHECKING:
    import cupy
    from varlen.backends.kinds import CupyArray

Array = NDArray[Any]
Tensor = torch.Tensor


def constructors() -> None:
    assert_type(vl.Ragged([3, 1, 4], [1, 2]), vl.Ragged[Array])
    assert_type(vl.Ragged(np.arange(3, dtype=np.int8), [1, 2]), vl.Ragged[Array])
    assert_type(vl.Ragged(torch.arange(3), [1, 2]), vl.Ragged[Tensor])
    assert_type(vl.Ragged.from_list([[3], [1, 4]]), vl.Ragged[Array])
    assert_type(vl.Ragged.from_list([[[3.0], []], [[1.0, 4.0]]]), vl.Ragged[Array])
    assert_type(vl.Ragged.from_list([np.arange(2), np.arange(3)]), vl.Ragged[Array])
    assert_type(vl.Ragged.from_list([torch.arange(2), torch.arange(3)]), vl.Ragged[Tensor])
    assert_type(vl.Ragged.from_list([[torch.arange(2)], [torch.arange(3)]]), vl.Ragged[Tensor])
    assert_type(vl.Ragged.from_offsets(torch.arange(3), [0, 1, 3]), vl.Ragged[Tensor])
    assert_type(vl.Ragged.from_dense(np.eye(2), [1, 2]), vl.Ragged[Array])
    assert_type(vl.Padded.from_list([torch.arange(2)]), vl.Padded[Tensor])
    assert_type(vl.Padded.from_list([[1], [2, 3]]), vl.Padded[Array])
    assert_type(vl.Pairs([1, 2], [3, 4]), vl.Pairs[list[int]])


def arrays(r: vl.Ragged[Array]) -> None:
    assert_type(r.values, Array)
    assert_type(r.dtype, np.dtype[Any])
    assert_type(r.lengths, NDArray[np.int64])
    assert_type(r.shape, tuple[int | None, ...])
    assert_type(r.row_ids, Array)
    assert_type(r.to_dense(), Array)
    assert_type(r.to_dense("left", -1, mask=True), tuple[Array, Array])
    assert_type(r.copy().astype(np.float32), vl.Ragged[Array])
    assert_type(r + 1, vl.Ragged[Array])
    assert_type(2 * r > r.values[:1], vl.Ragged[Array])
    assert_type(-r, vl.Ragged[Array])
    assert_type(divmod(r, 2), tuple[vl.Ragged[Array], vl.Ragged[Array]])
    assert_type(r.softmax().cumsum(), vl.Ragged[Array])
    assert_type(r.unique(), vl.Ragged[Array])
    assert_type(r.unique(counts=True), tuple[vl.Ragged[Array], vl.Ragged[Array]])
    assert_type(r.topk(2), tuple[vl.Ragged[Array], vl.Ragged[Array]])
    assert_type(r.boolean_mask(r > 1), vl.Ragged[Array])
    assert_type(r.split(1), list[vl.Ragged[Array]])
    assert_type(r.to_list(), list[Any])
    assert_type(r.to_padded(), vl.Padded[Array])
    assert_type(r.to_padded().to_ragged(), vl.Ragged[Array])
    assert_type(r.to_padded().to_list(), list[Array])
    assert_type(r.to_padded().dtype, np.dtype[Any])
    assert_type(r.pack(), vl.Packed[Array])
    assert_type(r.pack().values, Array)
    assert_type(r.pack().to_ragged(), vl.Ragged[Array])
    for x in (r, r.to_padded(), r.pack()):
        assert_type(x.tolist(), list[Any])
    assert_type(r.to_padded().numpy(), vl.Padded[Array])
    assert_type(r.to_numpy(), Array)


def keys(r: vl.Ragged[Array]) -> None:
    assert_type(r[0], Array | Any)
    assert_type(r[1:], vl.Ragged[Array])
    assert_type(r[[1, 0]], vl.Ragged[Array])
    assert_type(r[r.lengths > 1], vl.Ragged[Array])
    assert_type(r[:, :2], vl.Ragged[Array])
    assert_type(r[:, 0], Array | Any)
    assert_type(iter(r), Iterator[Array | Any])
    rows: Array = r[0]  # what one level gives is used as what it is
    assert rows.ndim == 1


def tensors(r: vl.Ragged[Tensor]) -> None:
    assert_type(r.values, Tensor)
    assert_type(r.dtype, torch.dtype)
    assert_type(r.cu_seqlens, Tensor)
    assert_type(r.to_dense(mask=True), tuple[Tensor, Tensor])
    assert_type(r.mean(), Tensor | Any)
    assert_type(r.softmax(), vl.Ragged[Tensor])
    assert_type(r * torch.ones(1), vl.Ragged[Tensor])
    assert_type(r[torch.tensor([1, 0])], vl.Ragged[Tensor])
    assert_type(r.to_padded().data, Tensor)
    assert_type(r.pack().with_values(np.arange(3)), vl.Packed[Array])
    loss: Tensor = r.mean().sum()
    assert loss.ndim == 0


def arrays_of_cupy(x: "CupyArray", r: "vl.Ragged[cupy.ndarray]") -> "vl.Ragged[CupyArray]":
    assert_type(vl.Ragged(x, [1, 2]), "vl.Ragged[CupyArray]")
    assert_type(vl.Ragged(x, [1, 2]).values, "CupyArray")
    assert_type(vl.Ragged(x, [1, 2]).to_dense(mask=True), "tuple[CupyArray, CupyArray]")
    assert_type(vl.Ragged(x, [1, 2]).softmax(), "vl.Ragged[CupyArray]")
    assert_type(vl.ops.reduce_sum(x, [1, 2]), "CupyArray")
    assert_type(vl.ops.softmax(x * 2, [1, 2]), "CupyArray")
    assert_type(x.sum(), "CupyArray")
    also: vl.Ragged[CupyArray] = r
    return also.softmax()


def batches_of_cupy(ds: vl.Dataset) -> None:
    assert_type(ds.batch([0], framework="cupy")["code"], "CupyArray")
    assert_type(ds.batch([0], device="cuda:1", framework="cupy"), "vl.data.Batch[CupyArray]")
    assert_type(ds.batch([0], device=1), vl.data.Batch[Tensor])
    for batch in ds.epoch(2, framework="cupy", prefetch=2):
        assert_type(batch["code"].get(), Any)


def functions(r: vl.Ragged[Tensor]) -> None:
    lengths = [1, 2]
    assert_type(vl.ops.reduce_sum(np.arange(3), lengths), Array)
    assert_type(vl.ops.reduce_sum([3, 1, 4], lengths), Array)
    assert_type(vl.ops.reduce_sum(torch.arange(3), lengths), Tensor)
    assert_type(vl.ops.reduce_sum(r), Tensor | Any)
    assert_type(vl.ops.reduce_max(np.arange(3), lengths, which=True), tuple[Array, Array])
    assert_type(vl.ops.softmax(torch.ones(3), lengths), Tensor)
    assert_type(vl.ops.softmax(r), vl.Ragged[Tensor])
    assert_type(vl.ops.softmax(np.arange(3), lengths), Array)
    assert_type(vl.ops.reverse(r), vl.Ragged[Tensor])
    assert_type(vl.ops.reverse([3, 1, 4], lengths), Array)
    assert_type(vl.ops.topk([3, 1, 4], lengths, k=1), tuple[vl.Ragged[Array], vl.Ragged[Array]])
    assert_type(vl.ops.tile(r, [1, 2]), vl.Ragged[Tensor])
    assert_type(vl.ops.pad([np.arange(2), np.arange(3)]), Array)
    assert_type(vl.ops.pad([torch.arange(2)], mask=True), tuple[Tensor, Tensor])
    assert_type(vl.ops.list2padded([torch.arange(2)]), vl.Padded[Tensor])
    assert_type(vl.ops.positions([1, 2]), Array)
    assert_type(vl.ops.positions(r), Tensor)
    assert_type(vl.concatenate([r, r]), vl.Ragged[Tensor])
    assert_type(vl.split(r, 1), list[vl.Ragged[Tensor]])
    assert_type(vl.sequence_reverse(r), vl.Ragged[Tensor])
    assert_type(vl.sequence_unpad(torch.ones(2, 2), [1, 2]), vl.Ragged[Tensor])
    assert_type(vl.sequence_pool(r, "max"), Tensor | Any)


def dialects() -> None:
    r = LoDTensor.from_list([[3, 1], [4]])
    assert_type(r, LoDTensor[Array])
    assert_type(r[1:], LoDTensor[Array])
    assert_type(r.lod(), list[list[int]])
    assert_type(vl.ops.softmax(r), LoDTensor[Array])
    t = RaggedTensor.from_list([torch.ones(2), torch.ones(1)])
    assert_type(t, RaggedTensor[Tensor])
    assert_type(t.to_tensor(), Tensor)
    assert_type(t.bounding_shape(0), int)
    x = ThincRagged.from_list([[3, 1], [4]])
    assert_type(x[0], ThincRagged[Array])
    assert_type(x[1:], ThincRagged[Array])
    assert_type(next(iter(x)), ThincRagged[Array])
    assert_type(vl.thinc.reshape2f(x.values, 3, 1), Array)
    assert_type(vl.thinc.asarray(torch.ones(2)), Tensor)
    assert_type(vl.thinc.asarray([3, 1]), Array)
    thinc_ops = vl.thinc.get_current_ops()
    assert_type(thinc_ops, vl.thinc.NumpyOps)
    assert_type(thinc_ops.alloc2f(2, 3), Array)
    assert_type(thinc_ops.reduce_max(thinc_ops.alloc2f(2, 3), [2]), tuple[Array, Array])
    model = vl.thinc.chain(vl.thinc.list2ragged(), vl.thinc.with_array(vl.thinc.Linear(2, 3), pad=0))
    assert_type(model, vl.thinc.Model)
    assert_type(model.initialize().get_dim("nO"), int)


def joint_dicts(J: vl.JointNestedRaggedTensorDict) -> None:
    assert_type(J["code"], vl.Ragged[Array] | Any)
    assert_type(J[0], vl.JointNestedRaggedTensorDict)
    assert_type(J[0, :1], vl.JointNestedRaggedTensorDict)
    assert_type(J[[1, 0]][np.array([True, False])], vl.JointNestedRaggedTensorDict)
    assert_type(J.to_dense(), dict[str, Array])
    assert_type(J.select("code").flatten(), vl.JointNestedRaggedTensorDict)
    assert_type(vl.JointNestedRaggedTensorDict.vstack([J[0], J[1]]), vl.JointNestedRaggedTensorDict)
    assert_type(next(iter(J)), vl.JointNestedRaggedTensorDict)
    assert_type(dict(J.items()), dict[str, vl.Ragged[Array] | Any])
    codes: vl.Ragged[Array] = J["code"]
    assert codes.lengths.tolist() == [2, 1]


def datasets(ds: vl.Dataset) -> None:
    assert_type(ds[0], vl.JointNestedRaggedTensorDict)
    assert_type(ds[[1, 0]]["code"], vl.Ragged[Array] | Any)
    assert_type(ds.lengths, NDArray[np.int64])
    assert_type(ds.batch([0, 1])["code"], Array)
    assert_type(ds.batch([0, 1], framework="torch", max_len=2)["code"], Tensor)
    assert_type(ds.batch([0], layout="ragged")["dim1/max_length"], int)
    assert_type(ds.collate([0, 1])["code"], Array)
    assert_type(ds.collator(framework="torch", padding_side="left")([0, 1])["code"], Tensor)
    assert_type(ds.collator(framework="torch")(ds.__getitems__([0]))["code"], Tensor)
    assert_type(ds.__getitems__([0, 1])[0], vl.JointNestedRaggedTensorDict)
    for batch in ds.epoch(2, seed=0, shuffle=True):
        assert_type(batch["code"], Array)
    for tensors in ds.epoch(2, framework="torch"):
        assert_type(tensors["code"], Tensor)
    for rows in vl.data.TokenBudget(ds.lengths, 8):
        assert_type(rows, RowNumbers)
        assert_type(ds.batch(rows)["code"], Array)
    arrays: dict[str, Array] = ds.batch([0])
    with vl.Dataset([ds[:1], ds[1:]]) as again:
        assert_type(again, vl.Dataset)
    assert arrays["code"].shape == (1, 2)


def collated() -> None:
    collate = vl.data.Collate(padding_side="left")
    assert_type(collate([{"x": [1, 2]}, {"x": [3]}]), dict[str, Any])
    assert_type(collate([(np.arange(2), 0), (np.arange(1), 1)]), tuple[Any, ...])
    assert_type(collate([torch.arange(2), torch.arange(1)]), Tensor | tuple[Tensor, Tensor])
    assert_type(vl.data.collate(["a", "b"]), list[str])
    assert_type(vl.data.collate([{"x": 1}]), dict[str, Any])


def dims() -> None:
    time = vl.Dim("time", lengths=[3, 0, 2])
    assert_type(2 * time + 1, vl.Dim)
    assert_type(time.ceildiv_right(2) // time - 1, vl.Dim)
    assert_type(sum([time, time]), vl.Dim | Literal[0])
    assert_type(time.size, int | None)
    assert_type(time.lengths, NDArray[np.int64] | None)
    assert_type(time.level, vl.Level | None)
    assert_type(time.over, tuple[vl.Dim, ...])
    assert_type(vl.dims.FeatureDim("labels", vocab=["a", "b"]).vocab, vl.dims.Vocabulary | None)
    assert_type(vl.dims.read_dims(vl.dims.write_dims([time])), list[vl.Dim])


def of_any_kind(r: vl.Ragged[Any]) -> vl.Ragged[Any]:
    assert_type(r.values, Any)
    return r.softmax()


def main() -> None:
    r = vl.Ragged(np.array([3.0, 1.0, 4.0]), [1, 2])
    t = vl.Ragged(torch.tensor([3.0, 1.0, 4.0], requires_grad=True), [1, 2])
    constructors()
    arrays(r)
    keys(r)
    tensors(t)
    functions(t)
    dialects()
    J = vl.JointNestedRaggedTensorDict({"code": [[1, 2], [3]]})
    joint_dicts(J)
    datasets(vl.Dataset(J))
    collated()
    dims()
    assert of_any_kind(t).lengths.tolist() == of_any_kind(r).lengths.tolist() == [1, 2]


if __name__ == "__main__":
    main()
