"""Levels that come into a graph of torch.compile are checked when it runs, whatever it reads of them."""

import pytest
import varlen as vl
from deep import mostly_deep
from varlen import ops

torch = pytest.importorskip("torch")

X = torch.arange(3.0)
READ = {
    "count": lambda r: r.count(),
    "cu_seqlens": lambda r: r.cu_seqlens * 1,
    "first": lambda r: r.first(empty=0.0),
    "last": lambda r: r.last(),
    "lengths": lambda r: torch.as_tensor(r.lengths + 0),
    "mask": lambda r: ops.mask(r),
    "positions": lambda r: r.positions * 1,
    "row": lambda r: r[0],
    "row_ids": lambda r: r.row_ids * 1,
    "shape": lambda r: r.values * r.shape[0],
    "softmax": lambda r: r.softmax().values,
    "values": lambda r: r.values * 2,
}


@pytest.fixture(autouse=True)
def fresh():
    torch.compiler.reset()
    yield
    torch.compiler.reset()


@pytest.mark.parametrize("given", ["lengths", "offsets"])
@pytest.mark.parametrize("read", mostly_deep(READ, "first", "lengths", "mask", "row_ids", "values"))
def test_levels_that_do_not_fit_the_rows_are_refused_whatever_is_read(read, given):
    step = torch.compile(
        lambda x, n: READ[read](vl.Ragged(x, **{given: n})), fullgraph=True, backend="aot_eager", dynamic=True
    )
    fits, short, wrong = (
        ([2, 1], [1, 1], [2, -1, 2]) if given == "lengths" else ([0, 2, 3], [0, 1, 2], [0, 2, 1, 3])
    )
    r = vl.Ragged(X, [2, 1])
    assert torch.equal(step(X, torch.tensor(fits)), READ[read](r))
    with pytest.raises(ValueError, match=f"{given}: the lengths add up to 2, but there are 3 values"):
        step(X, torch.tensor(short))
    with pytest.raises(ValueError, match=f"{given}: row 1"):
        step(X, torch.tensor(wrong))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # torch's own
def test_levels_are_checked_where_gradients_flow_and_code_is_generated():
    def step(x, offsets):
        return (vl.Ragged(x, offsets=offsets).values * 2).sum()

    for backend in ("aot_eager", "inductor"):
        compiled = torch.compile(step, fullgraph=True, backend=backend, dynamic=True)
        x = X.clone().requires_grad_()
        compiled(x, torch.tensor([0, 2, 3])).backward()
        assert x.grad.tolist() == [2, 2, 2]
        with pytest.raises(ValueError, match="offsets: the lengths add up to 2, but there are 3 values"):
            compiled(x, torch.tensor([0, 1, 2]))


def test_a_level_is_checked_against_rows_that_it_did_not_come_with():
    step = torch.compile(
        lambda x, r: vl.Ragged(x, levels=r.levels).values, fullgraph=True, backend="aot_eager"
    )
    r = vl.Ragged(torch.ones(3), [2, 1])
    assert step(X, r).tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="levels: the lengths add up to 3, but there are 4 values"):
        step(torch.ones(4), r)


def test_levels_are_checked_against_each_other():
    step = torch.compile(
        lambda x, m, n: vl.Ragged(x, [m, n]).values * 1, fullgraph=True, backend="aot_eager", dynamic=True
    )
    assert step(X, torch.tensor([1, 1]), torch.tensor([2, 1])).tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="lengths: the lengths add up to 3"):
        step(X, torch.tensor([1, 2]), torch.tensor([2, 1]))


def test_lengths_that_the_function_itself_writes_down_are_not_read_too_early():
    def step(x):
        r = ops.from_dense(x, torch.tensor([1, 3]))
        return r.to_dense(), r[0], ops.mask(torch.tensor([2, 1]))

    x = torch.arange(6.0).reshape(2, 3)
    results, wanted = torch.compile(step, fullgraph=True, backend="aot_eager")(x), step(x)
    assert all(torch.equal(a, b) for a, b in zip(results, wanted, strict=True))
