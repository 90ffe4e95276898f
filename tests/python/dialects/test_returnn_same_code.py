"""The same code under RETURNN's frontend and under ours gives the same valid numbers."""

import os
from types import SimpleNamespace

import numpy as np
import pytest
import varlen.returnn as ours
import varlen.returnn.frontend as our_frontend

# Numbers behind the ends of sequences, which no result may depend on.
LENGTHS, SOURCES = [4, 1, 3], [2, 3, 1]


def world(library, frontend):
    torch = pytest.importorskip("torch")
    drawn = np.random.default_rng(0)
    batch = library.Dim(3, name="rows")

    def block(*shape):
        return torch.tensor(drawn.normal(size=shape).astype("f"))

    def dynamic(name, lengths):
        sizes = torch.tensor(lengths, dtype=torch.int32)
        return library.Dim(library.Tensor(name, [batch], "int32", raw_tensor=sizes), name=name)

    time, source = dynamic("time", LENGTHS), dynamic("source", SOURCES)
    feature, out = library.Dim(5, name="feature"), library.Dim(2, name="out")
    places = torch.tensor([[0, 3, 99], [0, 0, 0], [2, 99, 99]])
    return SimpleNamespace(
        rf=frontend,
        Dim=library.Dim,
        batch=batch,
        time=time,
        source=source,
        feature=feature,
        out=out,
        x=library.Tensor("x", [batch, time, feature], "float32", raw_tensor=block(3, 4, 5)),
        y=library.Tensor("y", [batch, source, feature], "float32", raw_tensor=block(3, 3, 5)),
        w=library.Tensor("w", [feature, out], "float32", raw_tensor=block(5, 2)),
        ids=library.Tensor(
            "ids",
            [batch, time],
            "int64",
            sparse_dim=feature,
            raw_tensor=torch.tensor(drawn.integers(0, 5, (3, 4))),
        ),
        at=library.Tensor("at", [batch, source], "int64", sparse_dim=time, raw_tensor=places % 4),
        keep=library.Tensor(
            "keep", [batch, time], "bool", raw_tensor=torch.tensor(drawn.integers(0, 2, (3, 4)).astype(bool))
        ),
    )


@pytest.fixture(scope="module")
def both():
    torch = pytest.importorskip("torch")
    os.environ.setdefault("RETURNN_FRONTEND_NATIVE_OPT", "0")  # compiles nothing
    theirs = pytest.importorskip("returnn.tensor")
    pytest.importorskip("tree", reason="RETURNN's frontend needs dm-tree")
    import returnn.frontend as frontend

    frontend.select_backend_torch()
    threads = torch.get_num_threads()
    yield world(theirs, frontend), world(ours, our_frontend)
    torch.set_num_threads(threads)


def over(name, *axes, **options):
    return lambda e: getattr(e.rf, name)(e.x, axis=[getattr(e, axis) for axis in axes], **options)


CODE = {
    **{f"reduce_{mode}_{axis}": over(f"reduce_{mode}", axis)
       for mode in ("sum", "max", "min", "mean", "logsumexp") for axis in ("time", "feature")},
    **{f"reduce_{mode}_of_all": over(f"reduce_{mode}", "batch", "time")
       for mode in ("sum", "mean", "logsumexp")},
    **{f"{name}_{axis}": (lambda e, name=name, axis=axis: getattr(e.rf, name)(e.x, axis=getattr(e, axis)))
       for name in ("softmax", "log_softmax", "reduce_argmax", "reduce_argmin")
       for axis in ("time", "feature")},
    **{name: (lambda e, name=name: getattr(e.rf, name)(e.x))
       for name in ("relu", "gelu", "silu", "sigmoid", "tanh", "exp", "square", "abs", "log1p")},
    "arithmetic": lambda e: (e.x * 2.0 - 1.0) / 3.0,
    "comparison": lambda e: e.x > 0.0,
    "outer_sum": lambda e: e.rf.combine_bc(e.rf.reduce_sum(e.x, axis=e.feature), "+",
                                           e.rf.reduce_sum(e.y, axis=e.feature)),
    "cast": lambda e: e.rf.cast(e.keep, "int32"),
    "clip_by_value": lambda e: e.rf.clip_by_value(e.x, -0.5, 0.5),
    "concat": lambda e: e.rf.concat((e.x, e.time), (e.y, e.source))[0],
    "cross_entropy": lambda e: e.rf.cross_entropy(
        target=e.ids, estimated=e.x, estimated_type="logits", axis=e.feature),
    "cumsum": lambda e: e.rf.cumsum(e.x, spatial_dim=e.time),
    "embedding": lambda e: e.rf.gather(e.w, indices=e.ids),
    "expand_dim": lambda e: e.rf.expand_dim(e.x, e.out),
    "gather": lambda e: e.rf.gather(e.x, indices=e.at),
    "last_frame": lambda e: e.rf.gather(e.x, indices=e.rf.last_frame_position_of_dim(e.time)),
    "masked_select": lambda e: e.rf.masked_select(e.x, mask=e.keep, dims=[e.time])[0],
    "matmul": lambda e: e.rf.matmul(e.x, e.w, reduce=e.feature),
    "matmul_of_two_lengths": lambda e: e.rf.matmul(e.x, e.y, reduce=e.feature),
    "merge_dims": lambda e: e.rf.merge_dims(e.x, dims=[e.time, e.feature])[0],
    "minimum": lambda e: e.rf.minimum(e.x, 0.25),
    "moments": lambda e: e.rf.moments(e.x, axis=[e.batch, e.time])[1],
    "one_hot": lambda e: e.rf.one_hot(e.ids),
    "pad": lambda e: e.rf.pad(e.x, axes=[e.time], padding=[(1, 2)], value=7.0, handle_dynamic_dims=True)[0],
    "reverse_sequence": lambda e: e.rf.reverse_sequence(e.x, axis=e.time),
    "shift_left": lambda e: e.rf.shift_left(e.x, axis=e.time, pad_value=0.5),
    "shift_right": lambda e: e.rf.shift_right(e.x, axis=e.time, pad_value=0.5),
    "slice": lambda e: e.rf.slice(e.x, axis=e.time, start=1)[0],
    "slice_of_features": lambda e: e.rf.slice(e.x, axis=e.feature, start=1, end=4)[0],
    "sort": lambda e: e.rf.sort(e.x, axis=e.feature)[0],
    "split": lambda e: e.rf.split(e.x, axis=e.feature, out_dims=[e.Dim(2, name="a"), e.Dim(3, name="b")])[1],
    "stack": lambda e: e.rf.stack([e.x, e.x + 1.0])[0],
    "top_k": lambda e: e.rf.top_k(e.x, axis=e.feature, k=2)[0],
    "where": lambda e: e.rf.where(e.keep, e.x, 0.0),
}  # fmt: skip


@pytest.mark.parametrize("name", CODE)
def test_same_code_gives_the_same_valid_numbers(name, both):
    theirs, own = (CODE[name](each) for each in both)
    found = ours.from_returnn(theirs)
    wanted, got = leaves(found.to_list()), leaves(own.to_list())
    assert [path for path, _ in got] == [path for path, _ in wanted]
    np.testing.assert_allclose([x for _, x in got], [x for _, x in wanted], rtol=1e-5, atol=1e-6)


def leaves(nested, path=()):
    """Each number and where it is."""
    if not isinstance(nested, list):
        return [(path, nested)]
    return [leaf for i, inner in enumerate(nested) for leaf in leaves(inner, (*path, i))]
