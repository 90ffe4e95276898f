"""Graphs of make_fx and torch.export whose inputs are lengths: made of one batch, right for others."""

import numpy as np
import pytest
import varlen as vl
from torch_samples import rows
from varlen import ops, tracing

torch = pytest.importorskip("torch")

from torch.fx.experimental.proxy_tensor import make_fx  # noqa: E402

F = torch.nn.functional
LENGTHS = ([2, 1, 3], [4, 5, 1, 2], [2, 2, 3, 3, 9])
PLACES = torch.tensor([1, 0, 1])


def ragged(x, n):
    return vl.Ragged(x, n)


def offsets_of(n):
    return F.pad(n.cumsum(0), (1, 0))


VERBS = {
    "arithmetic": lambda x, n: abs(2 - ragged(x, n)) - ragged(x, n).mean(),
    "attributes": lambda x, n: x * ragged(x, n).lengths[0] + ragged(x, n).row_ids[:, None],
    "boolean_mask": lambda x, n: ragged(x, n).boolean_mask(n > 1),
    "broadcast_rows": lambda x, n: ops.broadcast_rows(x, ops.reduce_mean(x, n), n),
    "concatenate": lambda x, n: vl.concatenate([ragged(x, n), ragged(x, n)], axis=1),
    "cummax": lambda x, n: ragged(x, n).cummax(),
    "cumsum": lambda x, n: ops.cumsum(x, n, reverse=True),
    "diff": lambda x, n: ragged(x, n).diff(),
    "expand": lambda x, n: vl.sequence_expand_as(ragged(x, n).sum(), ragged(x, n)),
    "extremes": lambda x, n: ragged(x, n).max() * ragged(x, n).argmax() + ragged(x, n).min(empty=0.0),
    "first, last": lambda x, n: ragged(x, n).first() + ragged(x, n).last(empty=-1.0),
    "functions": lambda x, n: F.linear(torch.exp(ragged(x, n)), torch.ones(3, 2, dtype=torch.float64)),
    "gather": lambda x, n: ragged(x, n).gather(PLACES),
    "gather, places of an input": lambda x, n: ragged(x, n).gather(n[:2] * 0),
    "index of an input beside a Level": lambda x, n: vl.Ragged(x[:6], vl.Level([2, 4]))[n[:1] * 0],
    "level": lambda x, n: vl.Ragged(x, levels=[vl.Level(n)]).sum(),
    "level of offsets": lambda x, n: ops.softmax(x, vl.Level.from_offsets(offsets_of(n))),
    "mask": lambda x, n: x.sum() * ops.mask(n, padding_side="left"),
    "mean": lambda x, n: ragged(x, n).mean(),
    "offsets": lambda x, n: vl.Ragged(x, offsets=offsets_of(n)).log_softmax(),
    "pad": lambda x, n: ops.to_dense(x, n),
    "pad, cut": lambda x, n: ragged(x, n).to_dense(max_len=2, pad_to_multiple_of=3, padding_side="left"),
    "pad, mask": lambda x, n: ragged(x, n).to_dense(mask=True, fill=-1.0),
    "positions": lambda x, n: x * (ops.positions(n) + ops.segment_ids(n))[:, None],
    "row": lambda x, n: ragged(x, n)[1],
    "several levels": lambda x, n: vl.Ragged(x, [torch.full_like(n[:1], n.shape[0]), n]).sum(level=0),
    "shift": lambda x, n: ragged(x, n).shift(1, fill=2.0) + ragged(x, n).roll(n),
    "slices": lambda x, n: (ragged(x, n)[1:], ragged(x, n)[:, :1], ragged(x, n)[::-1], ragged(x, n)[:, 0]),
    "softmax": lambda x, n: ragged(x, n).softmax(),
    "sort": lambda x, n: ragged(x, n).sort(descending=True),
    "std": lambda x, n: ragged(x, n).std(),
    "sum": lambda x, n: ops.reduce_sum(x, n),
    "topk": lambda x, n: ragged(x, n).topk(2)[0],
    "unpad": lambda x, n: ops.from_dense(ragged(x, n).to_dense() * 2, n),
    "unpad, mask": lambda x, n: ops.from_dense(ragged(x, n).to_dense(), mask=ops.mask(n)),
    "where": lambda x, n: vl.where(n > 1, ragged(x, n), 0.0),
}
each_verb = pytest.mark.parametrize("verb", VERBS)


def parts(result):
    """The tensors of a result."""
    if isinstance(result, tuple):
        return tuple(part for each in result for part in parts(each))
    return (torch.as_tensor(result.values if isinstance(result, vl.Ragged) else result),)


class Step(torch.nn.Module):
    """A verb as a module that gives tensors."""

    def __init__(self, verb):
        super().__init__()
        self.verb = verb

    def forward(self, x, n):
        return parts(self.verb(x, n))


def check(graph, verb, batches=LENGTHS, dtype=torch.int64):
    for lengths in batches:
        x, n = rows([sum(lengths)], (2,)), torch.tensor(lengths, dtype=dtype)
        for result, wanted in zip(graph(x, n), parts(verb(x, n)), strict=True):
            assert (result.shape, result.dtype) == (wanted.shape, wanted.dtype)
            assert torch.allclose(result, wanted, equal_nan=True)


def sample(dtype=torch.int64):
    return rows([6], (2,)), torch.tensor(LENGTHS[0], dtype=dtype)


def exported(verb, dtype=torch.int64):
    sizes = ({0: torch.export.Dim.AUTO}, {0: torch.export.Dim.AUTO})
    return torch.export.export(Step(verb), sample(dtype), strict=False, dynamic_shapes=sizes)


@each_verb
def test_symbolic_graph_of_make_fx_takes_other_lengths(verb):
    check(make_fx(Step(VERBS[verb]), tracing_mode="symbolic")(*sample()), VERBS[verb])


@each_verb
def test_exported_program_takes_other_lengths(verb):
    check(exported(VERBS[verb]).module(), VERBS[verb])


def test_graph_of_fixed_sizes_takes_other_lengths_of_those_sizes():
    for verb in ("softmax", "pad", "gather", "unpad"):
        graph = make_fx(Step(VERBS[verb]), tracing_mode="fake")(*sample())
        check(graph, VERBS[verb], ([2, 1, 3], [1, 4, 1]))


def test_exported_program_takes_lengths_of_int32():
    check(exported(VERBS["softmax"], torch.int32).module(), VERBS["softmax"], dtype=torch.int32)


def test_exported_program_takes_sequences_without_rows():
    check(exported(VERBS["sum"]).module(), VERBS["sum"], ([0, 3], [0, 0, 2]))


def test_exported_program_says_which_lengths_are_wrong():
    program = exported(VERBS["softmax"]).module()
    with pytest.raises(ValueError, match="lengths: the lengths add up to 4, but there are 3 values"):
        program(rows([3], (2,)), torch.tensor([2, 2]))
    with pytest.raises(ValueError, match="lengths: row 1 has a negative length, -1"):
        program(rows([3], (2,)), torch.tensor([4, -1]))


@pytest.mark.parametrize("verb", ["cumsum", "gather", "mean", "pad", "softmax", "std"])
def test_exported_program_trains(verb):
    program = exported(VERBS[verb]).module()
    for lengths in LENGTHS:
        n = torch.tensor(lengths)
        leaves = [rows([sum(lengths)], (2,)).requires_grad_() for _ in range(2)]
        results = [program(leaves[0], n)[0], parts(VERBS[verb](leaves[1], n))[0]]
        found, wanted = (
            torch.autograd.grad(y.sin().sum(), x)[0] for x, y in zip(leaves, results, strict=True)
        )
        assert torch.allclose(found, wanted)


@pytest.mark.parametrize("verb", ["cumsum", "extremes", "gather", "mean", "pad", "softmax", "sort", "unpad"])
def test_gradient_is_part_of_a_symbolic_graph(verb):
    def gradient(x, n):
        x = x.detach().requires_grad_()
        return (torch.autograd.grad(parts(VERBS[verb](x, n))[0].sin().sum(), x)[0],)

    graph = make_fx(gradient, tracing_mode="symbolic")(*sample())
    for lengths in LENGTHS:
        x, n = rows([sum(lengths)], (2,)), torch.tensor(lengths)
        assert torch.allclose(graph(x, n)[0], gradient(x, n)[0])


def test_levels_from_outside_are_constants_of_a_graph_of_lengths():
    level = vl.Level([2, 4])

    def both(x, n):
        return vl.Ragged(x, levels=[level]).softmax().values + ragged(x, n).softmax().values

    graph = make_fx(both, tracing_mode="symbolic")(*sample())
    for lengths in ([2, 1, 3], [1, 1, 1, 3]):
        x, n = rows([6], (2,)), torch.tensor(lengths)
        assert torch.allclose(graph(x, n), both(x, n))


def test_verbs_that_no_graph_holds_refuse_lengths_that_are_inputs():
    outside = {
        "pack": lambda x, n: ragged(x, n).pack().values,
        "to_padded": lambda x, n: ragged(x, n).to_padded().data,
        "seq2col": lambda x, n: ops.seq2col(x, 1, lengths=n),
    }
    for verb in outside.values():
        with pytest.raises(TypeError, match="whose numbers do not show in a graph in the making"):
            make_fx(verb, tracing_mode="symbolic")(*sample())
    with pytest.raises(NotImplementedError, match="have to show their numbers"):
        make_fx(lambda x, n: vl.sequence_mask(n), tracing_mode="symbolic")(*sample())
    with pytest.raises(TypeError, match=r"len: the number of sequences does not show .* r.shape\[0\]"):
        make_fx(lambda x, n: x * len(ragged(x, n)), tracing_mode="symbolic")(*sample())


def test_graph_in_the_making_leaves_nothing_behind():
    make_fx(VERBS["sum"], tracing_mode="symbolic")(*sample())
    assert not tracing.is_tracing()
    x, n = sample()
    assert type(ragged(x, n).levels[0]) is vl.Level
    assert type(ragged(x, n).lengths) is np.ndarray
    compiled = torch.compile(VERBS["softmax"], fullgraph=True, backend="aot_eager")
    assert torch.allclose(compiled(x, n).values, VERBS["softmax"](x, n).values)
