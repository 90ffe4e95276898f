"""What stands where no value is: for tensors, followed or not and in graphs, as for arrays."""

import numpy as np
import pytest
import varlen as vl
from test_fills import joint

torch = pytest.importorskip("torch")

LEVEL = vl.Level([2, 0, 1])

# What holds for arrays holds for tensors, followed or not, and in graphs.
KINDS = {
    "array": lambda x: x,
    "tensor": torch.tensor,
    "followed": lambda x: torch.tensor(x, requires_grad=True),
    "halves": lambda x: torch.tensor(x, dtype=torch.bfloat16),
    "bytes": lambda x: torch.tensor(x).to(torch.float8_e5m2),
}
# What stands in the place of the empty sequence, or of what a shift leaves.
ROWS = {
    "shift": lambda r, fill: r.shift(1, fill=fill).values[0],
    "to_dense": lambda r, fill: r.to_dense(fill=fill)[1, 0],
    "first": lambda r, fill: r.first(empty=fill)[1],
    "last": lambda r, fill: r.last(empty=fill)[1],
    "fill_empty_rows": lambda r, fill: r.fill_empty_rows(fill)[0].values[2],
    "sequence_pad": lambda r, fill: vl.sequence_pad(r, fill)[0][1, 0],
}


def _numbers(x):
    return x.detach().double().tolist() if isinstance(x, torch.Tensor) else x.tolist()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("verb", ROWS)
def test_one_element_is_a_number_and_more_are_a_row(verb, kind):
    plain = vl.Ragged(KINDS[kind](np.ones(3)), [2, 0, 1])
    wide = vl.Ragged(KINDS[kind](np.ones((3, 2))), [2, 0, 1])
    call = ROWS[verb]
    for one in (2, 2.0, [2], np.array([2.0]), np.array([[2]]), torch.tensor([[2.0]]), torch.tensor(2)):
        assert _numbers(call(plain, one)) == 2
        assert _numbers(call(wide, one)) == [2, 2]
    for row in ([7, 8], (7, 8), np.array([7.0, 8.0]), np.array([[7, 8]])[0], torch.tensor([7, 8])):
        assert _numbers(call(wide, row)) == [7, 8]
        with pytest.raises(ValueError, match=r": expected one number, got shape \(2,\)"):
            call(plain, row)
    with pytest.raises(ValueError, match=r": shape \(3,\) does not broadcast to a row of shape \(2,\)"):
        call(wide, [1, 2, 3])


@pytest.mark.parametrize("verb", ROWS)
def test_a_row_that_autograd_follows_gets_its_gradient(verb):
    row = torch.tensor([7.0, 8.0], requires_grad=True)
    r = vl.Ragged(torch.ones(3, 2), [2, 0, 1])
    found = ROWS[verb](r, row)
    assert found.tolist() == [7, 8]
    (d,) = torch.autograd.grad(found @ torch.tensor([3.0, 5.0]), row)
    assert d.tolist() == [3, 5]


@pytest.mark.parametrize("fill", [[7.0, 0.1], [7], np.array([7.0, 8.0]), torch.tensor([[7.0]]), None, 2])
def test_rows_fill_inside_graphs_as_outside(fill):
    for call in (
        lambda x: vl.Ragged(x, LEVEL).shift(1, fill=fill).values,
        lambda x: vl.Ragged(x, LEVEL).to_dense(fill=fill),
    ):
        x = torch.ones(3, 2, dtype=torch.float64)
        compiled = torch.compile(call, fullgraph=True, backend="aot_eager")
        assert torch.equal(compiled(x), call(x))


LOST = {
    "to_dense": lambda w: vl.Ragged(np.ones(3), LEVEL).to_dense(fill=w),
    "shift": lambda w: vl.Ragged(np.ones(3), LEVEL).shift(1, fill=w),
    "max": lambda w: vl.Ragged(np.ones(3), LEVEL).max(empty=w),
    "first": lambda w: vl.Ragged(np.ones(3), LEVEL).first(empty=w),
    "fill_empty_rows": lambda w: vl.Ragged(np.ones(3), LEVEL).fill_empty_rows(w),
    "var": lambda w: vl.Ragged(torch.ones(3), LEVEL).var(ddof=w),
    "std": lambda w: vl.Ragged(torch.ones(3, requires_grad=True), LEVEL).std(ddof=w),
    "var of arrays": lambda w: vl.Ragged(np.ones(3), LEVEL).var(ddof=w),
    "softmax of arrays": lambda w: vl.Ragged(np.ones(3), LEVEL).softmax(temperature=w),
    "Collate": lambda w: vl.data.Collate(fill=w),
    "Collate of a key": lambda w: vl.data.Collate(fill={"t": w}),
    "batch": lambda w: vl.Dataset(joint(np.ones(3))).batch([0], fill=w),
    "nan": lambda w: vl.Dataset(joint(np.ones(3))).batch([0], nan=w),
    "joint to_dense": lambda w: joint(np.ones(3)).to_dense(fill=w),
}
ARGUMENTS = {"max": "empty", "first": "empty", "fill_empty_rows": "default", "nan": "nan"}


@pytest.mark.parametrize("verb", LOST)
def test_a_gradient_that_would_be_lost_is_refused(verb):
    w = torch.tensor(1.0, requires_grad=True)
    argument = "ddof" if "ddof" in verb or verb[:3] in ("var", "std") else ARGUMENTS.get(verb, "fill")
    argument = "temperature" if verb.startswith("softmax") else argument
    with pytest.raises(
        ValueError,
        match=rf"^{argument}( of 't')?: a tensor that requires gradients, which would be lost here",
    ):
        LOST[verb](w)
    LOST[verb](w.detach())


def test_a_number_that_autograd_follows_needs_no_gradient_without_a_graph():
    w = torch.tensor(2.0, requires_grad=True)
    r = vl.Ragged(torch.tensor([1.0, 3.0, 5.0]), LEVEL)
    with torch.no_grad():
        for call in (
            lambda w: r.softmax(temperature=w).values,
            lambda w: r.var(ddof=w),
            lambda w: r.to_dense(fill=w),
        ):
            torch.testing.assert_close(call(w), call(2.0), equal_nan=True)


def test_masked_arrays_are_no_fills():
    for r in (vl.Ragged(np.ones(3), LEVEL), vl.Ragged(torch.ones(3), LEVEL)):
        for call in (
            lambda fill, r=r: r.to_dense(fill=fill),
            lambda fill, r=r: r.shift(1, fill=fill),
            lambda fill, r=r: r.max(empty=fill),
        ):
            with pytest.raises(TypeError, match=r"^(fill|empty): expected an array without a mask"):
                call(np.ma.array([1.0], mask=[True]))


def test_a_shape_alone_is_no_fill():
    for values in (np.ones(3), torch.ones(3)):
        for call in (lambda r, fill: r.to_dense(fill=fill), lambda r, fill: r.shift(1, fill=fill)):
            with pytest.raises(
                (TypeError, ValueError), match=r"^fill: .*meta|^fill: a tensor that is a shape alone"
            ):
                call(vl.Ragged(values, LEVEL), torch.ones((), device="meta"))


def test_ends_and_moves_inside_graphs_are_refused_as_outside():
    def first(x):
        return vl.Ragged(x, LEVEL).first()

    for each in (first, torch.compile(first, fullgraph=True, backend="aot_eager")):
        with pytest.raises(ValueError, match="lengths: sequence 1 is empty; pass empty= for its result"):
            each(torch.ones(3))
