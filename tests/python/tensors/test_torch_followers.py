"""Whoever follows tensors sees every verb: modes, tracers, subclasses, transforms, forward mode, batches."""

from __future__ import annotations

import numpy as np
import pytest
import varlen as vl
from kernels import of_cpu
from varlen import _core

torch = pytest.importorskip("torch")

from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: E402
from torch.autograd import forward_ad  # noqa: E402
from torch.fx.experimental.proxy_tensor import make_fx  # noqa: E402
from torch.overrides import TorchFunctionMode  # noqa: E402
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402
from torch.utils._pytree import tree_map  # noqa: E402

# torch scripts what it differentiates ahead; its tracer warns of every size that becomes a number of Python.
pytestmark = [
    pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::torch.jit.TracerWarning"),
]

LEVEL, OUTER = vl.Level([3, 0, 4]), vl.Level([2, 1])


def ragged(x):
    return vl.Ragged(x, levels=[LEVEL])


def nested(x):
    return vl.Ragged(x, levels=[OUTER, LEVEL])


VERBS = {
    "sum": lambda x: ragged(x).sum(),
    "mean": lambda x: ragged(x).mean(),
    "prod": lambda x: ragged(x).prod(),
    "norm": lambda x: ragged(x).norm(),
    "max": lambda x: vl.ops.reduce_max(x, LEVEL, empty=0),
    "max, which": lambda x: vl.ops.reduce_max(x, LEVEL, empty=0, which=True)[0],
    "first": lambda x: ragged(x).first(empty=3.0),
    "logsumexp": lambda x: vl.ops.reduce_logsumexp(x, LEVEL, empty=0),
    "softmax": lambda x: ragged(x).softmax().values,
    "cumsum": lambda x: ragged(x).cumsum().values,
    "cumprod": lambda x: ragged(x).cumprod().values,
    "cummax": lambda x: ragged(x).cummax().values,
    "reverse": lambda x: ragged(x).reverse().values,
    "shift": lambda x: ragged(x).shift(1, fill=2.0).values,
    "sort": lambda x: ragged(x).sort().values,
    "to_dense": lambda x: ragged(x).to_dense(),
    "to_dense, left": lambda x: ragged(x).to_dense(padding_side="left", fill=2, max_len=2),
    "to_dense, mask": lambda x: ragged(x).to_dense(fill=np.array([5.0, 6.0]), mask=True)[0],
    "from_dense": lambda x: vl.Ragged.from_dense(x[:6].reshape(2, 3, 2), lengths=[2, 3]).values,
    "to_padded": lambda x: ragged(x).to_padded().data,
    "pack": lambda x: ragged(x).pack().values,
    "r[i]": lambda x: ragged(x)[2],
    "r[-1]": lambda x: ragged(x)[-1],
    "nested[i]": lambda x: nested(x)[0].values,
    "r[a:]": lambda x: ragged(x)[1:].values,
    "nested[a:]": lambda x: nested(x)[1:].values,
    "r[::-1]": lambda x: ragged(x)[::-1].values,
    "r[[1, 0]]": lambda x: ragged(x)[[1, 0]].values,
    "r[:, :1]": lambda x: ragged(x)[:, :1].values,
    "reversed": lambda x: next(reversed(ragged(x))),
    "row": lambda x: ragged(x).row(0),
    "diff": lambda x: ragged(x).diff().values,
    "concatenate": lambda x: vl.concatenate([ragged(x), ragged(x)], axis=1).values,
    "list2padded": lambda x: vl.ops.list2padded([x, x[:3]]).data,
    "gather_add": lambda x: vl.ops.gather_add(x, np.array([[0, 1], [3, 4]])),
    "seq2col": lambda x: vl.ops.seq2col(x, 1, lengths=LEVEL),
    "broadcast_rows": lambda x: ragged(x[:7]).broadcast_rows(x[:3]).values,
    "r - mean": lambda x: (ragged(x) - ragged(x).mean()).values,
}
VIEWS = {"r[i]", "r[-1]", "nested[i]", "r[a:]", "nested[a:]", "reversed", "row"}
NOT_AHEAD = {"cumprod"}  # the gradient has no gradient

each_verb = pytest.mark.parametrize("verb", VERBS)


def numbers():
    return torch.randn(7, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(3)) + 3


class Seen(TorchDispatchMode):
    """A mode that notes the ops below autograd."""

    def __init__(self):
        super().__init__()
        self.ops = []

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        self.ops.append(function)
        return function(*args, **(kwargs or {}))


class SeenFunctions(TorchFunctionMode):
    """A mode that notes the functions of torch."""

    def __init__(self):
        super().__init__()
        self.ops = []

    def __torch_function__(self, function, types, args=(), kwargs=None):
        self.ops.append(function)
        return function(*args, **(kwargs or {}))


class Named(torch.Tensor):
    """A subclass with the memory of a tensor."""


class Wrapped(torch.Tensor):
    """A subclass around a tensor, without memory of its own."""

    @staticmethod
    def __new__(cls, inner):
        return torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)

    def __init__(self, inner):
        self.inner = inner

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        given = tree_map(lambda x: x.inner if isinstance(x, cls) else x, (args, kwargs or {}))
        return tree_map(
            lambda x: cls(x) if isinstance(x, torch.Tensor) else x, function(*given[0], **given[1])
        )


@each_verb
@pytest.mark.parametrize("mode", [Seen, SeenFunctions])
@pytest.mark.parametrize("needs", [False, True])
def test_mode_sees_every_verb(verb, mode, needs):
    x = numbers().requires_grad_(needs)
    expected = VERBS[verb](x)
    with mode() as seen:
        result = VERBS[verb](x)
    assert torch.equal(result, expected)
    assert result.requires_grad == needs
    assert seen.ops


@each_verb
@pytest.mark.parametrize("kind", ["real", "fake"])
def test_graph_of_make_fx_computes_anew(verb, kind):
    x = numbers()
    graph = make_fx(VERBS[verb], tracing_mode=kind)(torch.full_like(x, 7))
    assert torch.equal(graph(x), VERBS[verb](x))


@each_verb
def test_graph_of_jit_trace_computes_anew(verb):
    x = numbers()
    graph = torch.jit.trace(VERBS[verb], (torch.full_like(x, 7),), check_trace=False)
    assert torch.equal(graph(x), VERBS[verb](x))


@each_verb
def test_subclass_of_tensors_stays_what_it_is(verb):
    x = numbers()
    expected = VERBS[verb](x)
    named = VERBS[verb](x.as_subclass(Named))
    assert type(named) is Named
    assert torch.equal(named.as_subclass(torch.Tensor), expected)
    wrapped = VERBS[verb](Wrapped(x))
    assert type(wrapped) is Wrapped
    assert torch.equal(wrapped.inner, expected)


@each_verb
@pytest.mark.parametrize("inside", [False, True])
def test_shape_alone_gives_a_shape(verb, inside):
    x = numbers()
    expected = VERBS[verb](x)
    mode = FakeTensorMode()
    fake = mode.from_tensor(x)
    if inside:
        with mode:
            result = VERBS[verb](fake)
    else:
        result = VERBS[verb](fake)
    assert (result.shape, result.dtype, result.fake_mode) == (expected.shape, expected.dtype, mode)


def test_level_that_a_mode_saw_first_is_as_good_elsewhere():
    x = numbers()
    for mode in (FakeTensorMode(), torch.inference_mode(), torch.device("meta")):
        level = vl.Level([3, 0, 4])
        with mode:
            given = mode.from_tensor(x) if isinstance(mode, FakeTensorMode) else x
            vl.Ragged(given, levels=[level]).softmax()
        result = torch.func.grad(lambda x, level=level: vl.Ragged(x, levels=[level]).softmax().values.sum())(
            x
        )
        assert torch.allclose(result, torch.zeros_like(x))


@each_verb
def test_derivative_ahead_agrees_with_differences(verb):
    x = numbers()
    along = torch.randn(x.shape, dtype=x.dtype, generator=torch.Generator().manual_seed(4))
    call, step = VERBS[verb], 1e-6
    if verb in NOT_AHEAD:
        with (
            forward_ad.dual_level(),
            pytest.raises(NotImplementedError, match=f"{verb}: a derivative in forw"),
        ):
            call(forward_ad.make_dual(x, along))
        with pytest.raises(NotImplementedError, match=f"{verb}: a derivative in forward mode"):
            torch.func.jvp(call, (x,), (along,))
        return
    expected = (call(x + step * along) - call(x - step * along)) / (2 * step)
    for needs in (False, True):
        primal = x.clone().requires_grad_(needs)
        with forward_ad.dual_level():
            result = forward_ad.unpack_dual(call(forward_ad.make_dual(primal, along)))
            assert torch.allclose(result.tangent, expected, atol=1e-5)
            assert torch.equal(result.primal, call(x))
            assert result.primal.requires_grad == needs
    result, tangent = torch.func.jvp(call, (x,), (along,))
    assert torch.equal(result, call(x))
    assert torch.allclose(tangent, expected, atol=1e-5)


def test_verbs_without_derivatives_have_none_ahead():
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(numbers(), torch.ones(7, 2, dtype=torch.float64))
        for result in (vl.ops.reduce_any(dual, LEVEL), ragged(dual[:, 0]).rank().values):
            assert forward_ad.unpack_dual(result).tangent is None


@pytest.mark.parametrize(
    "verb", ["mean", "max", "softmax", "cumsum", "sort", "to_dense", "r[[1, 0]]", "pack"]
)
def test_second_derivatives_agree_whatever_the_mode(verb):
    def loss(x):
        return (VERBS[verb](x) ** 3).sum()

    x = numbers()
    expected = torch.autograd.functional.hessian(loss, x)
    assert torch.allclose(torch.func.jacfwd(torch.func.grad(loss))(x), expected)
    assert torch.allclose(torch.func.jacrev(torch.func.grad(loss))(x), expected)
    assert torch.allclose(torch.func.jacfwd(torch.func.jacfwd(loss))(x), expected)


@each_verb
def test_transforms_agree_with_calls_one_by_one(verb):
    call = VERBS[verb]
    batch = torch.stack([numbers(), numbers().flip(0)])
    assert torch.allclose(torch.func.vmap(call)(batch), torch.stack([call(x) for x in batch]))

    def gradient(x):
        leaf = x.clone().requires_grad_()
        call(leaf).sin().sum().backward()
        return leaf.grad

    expected = torch.stack([gradient(x) for x in batch])
    one_by_one = torch.func.grad(lambda x: call(x).sin().sum())
    assert torch.allclose(torch.stack([one_by_one(x) for x in batch]), expected)
    assert torch.allclose(torch.func.vmap(one_by_one)(batch), expected)


@each_verb
def test_gradients_of_a_batch_agree_with_those_one_by_one(verb):
    x = numbers().requires_grad_()
    result = VERBS[verb](x)
    d = torch.randn(3, *result.shape, dtype=x.dtype, generator=torch.Generator().manual_seed(5))
    (found,) = torch.autograd.grad(result, x, d, is_grads_batched=True, retain_graph=True)
    expected = [torch.autograd.grad(result, x, each, retain_graph=True)[0] for each in d]
    assert torch.allclose(found, torch.stack(expected))


@pytest.mark.parametrize(
    "verb", ["max", "softmax", "to_dense", "from_dense", "seq2col", "r[[1, 0]]", "logsumexp"]
)
def test_jacobians_are_one_whatever_asks_for_them(verb):
    x = numbers()
    expected = torch.autograd.functional.jacobian(VERBS[verb], x)
    for strategy in ("reverse-mode", "forward-mode"):
        found = torch.autograd.functional.jacobian(VERBS[verb], x, vectorize=True, strategy=strategy)
        assert torch.allclose(found, expected)
    options = {"check_batched_grad": True, "check_forward_ad": True, "check_batched_forward_grad": True}
    assert torch.autograd.gradcheck(VERBS[verb], x.requires_grad_(), **options)


@each_verb
@pytest.mark.parametrize("needs", [False, True])
def test_default_device_is_no_matter_of_tensors_that_are_there(verb, needs):
    x = numbers().requires_grad_(needs)
    expected = VERBS[verb](x)
    with torch.device("meta"):
        result = VERBS[verb](x)
        if needs:
            result.sum().backward()
    assert torch.equal(result, expected)


def test_rows_are_added_in_place_where_all_see_it():
    places, x = np.array([0, 2, 0]), numbers()
    expected = torch.zeros(3, 2, dtype=x.dtype)
    vl.ops.scatter_add(expected, places, x[:3])

    def added(x):
        table = x.new_zeros(3, 2)
        vl.ops.scatter_add(table, places, x[:3])
        return table

    with Seen() as seen:
        assert torch.equal(added(x), expected)
    assert any("index_add_" in str(op) for op in seen.ops)
    assert torch.equal(make_fx(added)(torch.zeros_like(x))(x), expected)
    assert torch.equal(torch.func.vmap(added)(x[None])[0], expected)
    assert torch.equal(torch.func.jvp(added, (x,), (x,))[1], expected)
    with Seen(), pytest.raises(IndexError, match="position 0 holds 3"):
        vl.ops.scatter_add(expected, np.array([3]), x[:1])
    with Seen(), pytest.raises(ValueError, match="values: expected shape"):
        vl.ops.scatter_add(expected, places, x[:2])


FILLED = {
    "to_dense": lambda x, fill: ragged(x).to_dense(fill=fill),
    "to_dense, left": lambda x, fill: ragged(x).to_dense(padding_side="left", fill=fill, max_len=2),
    "to_padded": lambda x, fill: ragged(x).to_padded(fill=fill).data,
    "pad": lambda x, fill: vl.ops.pad([x, x[:3]], fill=fill),
    "shift": lambda x, fill: ragged(x).shift(1, fill=fill).values,
    "sum": lambda x, fill: ragged(x).sum(empty=fill),
    "max": lambda x, fill: vl.ops.reduce_max(x, LEVEL, empty=fill),
    "max, which": lambda x, fill: vl.ops.reduce_max(x, LEVEL, empty=fill, which=True)[0],
    "logsumexp": lambda x, fill: ragged(x).logsumexp(empty=fill),
    "var": lambda x, fill: ragged(x).var(empty=fill),
    "first": lambda x, fill: ragged(x).first(empty=fill),
    "fill_empty_rows": lambda x, fill: ragged(x).fill_empty_rows(fill)[0].values,
    "sequence_pad": lambda x, fill: vl.sequence_pad(ragged(x), fill)[0],
}


@pytest.mark.parametrize("verb", FILLED)
@pytest.mark.parametrize("needs", [False, True])
def test_fill_that_needs_a_gradient_has_one(verb, needs):
    x = numbers().requires_grad_(needs)
    fill = torch.tensor(2.5, dtype=torch.float64, requires_grad=True)
    assert torch.equal(FILLED[verb](x, fill).detach(), FILLED[verb](x, 2.5).detach())
    assert torch.autograd.gradcheck(FILLED[verb], (x, fill))


@pytest.mark.parametrize(
    "verb", ["max", "mean", "var", "first", "shift", "to_dense", "to_dense, left", "sequence_pad"]
)
def test_fill_that_needs_a_gradient_has_one_in_a_graph(verb):
    call = {**FILLED, "mean": lambda x, fill: ragged(x).mean(empty=fill)}[verb]
    compiled = torch.compile(call, fullgraph=True, backend="aot_eager")
    results = []
    for run in (call, compiled):
        x = numbers().requires_grad_()
        fill = torch.tensor(2.5, dtype=torch.float64, requires_grad=True)
        result = run(x, fill)
        results.append((result.detach(), *torch.autograd.grad((result * result).sum(), (x, fill))))
    for wanted, found in zip(*results, strict=True):
        assert torch.equal(wanted, found)


ROW_FILLED = {name: FILLED[name] for name in ("to_dense", "to_padded", "pad", "sequence_pad")}


@pytest.mark.parametrize("verb", ROW_FILLED)
@pytest.mark.parametrize("shape", [(3,), (4, 1), (3, 4, 1)])
@pytest.mark.parametrize("needs", [False, True])
def test_fill_is_a_row_and_never_runs_along_sequences(verb, shape, needs):
    x = numbers().requires_grad_(needs)
    for fill in (
        torch.ones(shape, dtype=torch.float64),
        torch.ones(shape, dtype=torch.float64, requires_grad=True),
    ):
        with pytest.raises((TypeError, ValueError), match=r"fill|pad_value"):
            ROW_FILLED[verb](x, fill)
    with pytest.raises(Exception, match="does not broadcast to a row"):
        torch.compile(lambda x, fill: ragged(x).to_dense(fill=fill), fullgraph=True, backend="aot_eager")(
            x, torch.ones(shape, dtype=torch.float64)
        )


def test_temperature_that_needs_a_gradient_has_one():
    x, t = numbers(), torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
    for call in (
        lambda x, t: ragged(x).softmax(temperature=t).values,
        lambda x, t: ragged(x).log_softmax(temperature=t).values,
    ):
        assert torch.equal(call(x, t).detach(), call(x, 2.0))
        assert torch.autograd.gradcheck(call, (x.clone().requires_grad_(), t))
        wanted = torch.autograd.grad(call(x, t)[0, 0], t)[0]
        assert torch.allclose(torch.func.grad(lambda t: call(x, t)[0, 0])(t.detach()), wanted)  # noqa: B023
        compiled = torch.compile(call, fullgraph=True, backend="aot_eager")
        assert torch.allclose(torch.autograd.grad(compiled(x, t)[0, 0], t)[0], wanted)
    for wrong in (0.0, float("nan")):
        with pytest.raises(ValueError, match="temperature"):
            ragged(x).softmax(temperature=torch.tensor(wrong, requires_grad=True))
    with pytest.raises(ValueError, match="temperature: expected one number"):
        ragged(x).softmax(temperature=torch.ones(2, requires_grad=True))


def test_numbers_beside_a_transform_are_read():
    x, n = numbers()[:, 0], torch.tensor([3, 0, 4])
    picked, mask = torch.tensor([0, 2]), torch.tensor([True, False, True])
    for call in (
        lambda x: vl.Ragged(x, lengths=n).sum(),
        lambda x: vl.ops.softmax(x, n),
        lambda x: ragged(x)[picked].values,
        lambda x: ragged(x)[mask].values,
        lambda x: ragged(x).roll(n).values,
        lambda x: vl.stack([ragged(x), ragged(x)], axis=1).values,
    ):
        weights = torch.arange(1.0, call(x).numel() + 1, dtype=x.dtype)
        wanted = torch.autograd.functional.jacobian(lambda x: (call(x).reshape(-1) * weights).sum(), x)  # noqa: B023
        assert torch.allclose(torch.func.grad(lambda x: (call(x).reshape(-1) * weights).sum())(x), wanted)  # noqa: B023
        assert torch.equal(torch.func.vmap(call)(x[None])[0], call(x))
    assert torch.equal(
        torch.func.grad(lambda x: vl.where(ragged(x) > 0, ragged(x), 0.0).values.sum())(x),
        (x > 0).to(x.dtype),
    )


def test_lengths_that_a_graph_would_keep_are_refused():
    x, n = numbers(), torch.tensor([3, 0, 4])
    with pytest.raises(NotImplementedError, match="have to show their numbers"):
        make_fx(lambda x, n: vl.ops.softmax(x, n))(x, n)
    with pytest.raises(NotImplementedError, match="have to show their numbers"):
        torch.func.vmap(lambda n: vl.ops.softmax(x, n))(n[None])
    assert torch.equal(make_fx(lambda x: vl.ops.softmax(x, n))(x)(x), vl.ops.softmax(x, n))


OF_LENGTHS = {
    "Ragged": lambda x, n: vl.Ragged(x, n).sum(),
    "Level": lambda x, n: vl.Ragged(x, levels=[vl.Level(n)]).sum(),
    "from_offsets": lambda x, n: vl.ops.softmax(
        x, vl.Level.from_offsets(torch.cat((n[:1] * 0, n.cumsum(0))))
    ),
    "offsets": lambda x, n: vl.Ragged(x, offsets=torch.cat((n[:1] * 0, n.cumsum(0)))).to_dense(),
    "softmax": lambda x, n: vl.ops.softmax(x, n),
    "mask": lambda x, n: vl.ops.mask(n),
    "positions": lambda x, n: vl.ops.positions(n),
    "sequence_mask": lambda x, n: vl.sequence_mask(n),
    "from_dense": lambda x, n: (
        vl.Ragged.from_dense(x[:6].reshape(3, 2, 2), mask=n[:, None] > torch.tensor([-1, -1])).values
    ),
    "integers": lambda x, n: ragged(x)[n[:1] - n[:1]].values,
    "an integer": lambda x, n: ragged(x)[n[0] - 3],
    "bools": lambda x, n: ragged(x)[n > 1].values,
    "gather": lambda x, n: ragged(x).gather(n * 0).values,
    "boolean_mask": lambda x, n: ragged(x).boolean_mask(n > 1).values,
    "roll": lambda x, n: ragged(x).roll(n).values,
    "max_len": lambda x, n: ragged(x).to_dense(max_len=n[0]),
    "topk": lambda x, n: ragged(x).topk(n[0])[0].values,
}


@pytest.mark.parametrize("name", OF_LENGTHS)
def test_lengths_that_jit_trace_would_keep_are_refused(name):
    x, n = numbers(), torch.tensor([3, 0, 4])
    with pytest.raises(NotImplementedError, match=r"use torch.export or torch.compile"):
        torch.jit.trace(OF_LENGTHS[name], (x, n), check_trace=False)


@pytest.mark.parametrize("name", sorted({*OF_LENGTHS} - {"from_dense"}))
def test_lengths_from_outside_are_constants_of_jit_trace(name):
    x, n = numbers(), torch.tensor([3, 0, 4])
    graph = torch.jit.trace(lambda x: OF_LENGTHS[name](x, n), (torch.full_like(x, 7),), check_trace=False)
    assert torch.equal(torch.as_tensor(graph(x)), torch.as_tensor(OF_LENGTHS[name](x, n)))


def test_updates_at_constant_places_are_traced():
    index = vl.Ragged(torch.tensor([0, 1, 1]), [2, 1])

    def step(x, u):
        return vl.sequence_scatter(x[:2], index, vl.Ragged(u, levels=index.levels))

    x, u = numbers(), torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)
    graph = torch.jit.trace(step, (torch.zeros_like(x), torch.zeros_like(u)), check_trace=False)
    assert torch.equal(graph(x, u), step(x, u))
    with pytest.raises(NotImplementedError, match=r"use torch.export or torch.compile"):
        torch.jit.trace(
            lambda x, places: vl.sequence_scatter(x[:2], vl.Ragged(places, [2, 1]), u),
            (x, index.values),
            check_trace=False,
        )


CHOSEN = {
    "values": lambda x: vl.where(ragged(x) > 3, ragged(x), -ragged(x)).values,
    "a number": lambda x: vl.where(ragged(x) > 3, ragged(x), 0.0).values,
    "another number": lambda x: vl.where(ragged(x) > 3, 0.0, ragged(x)).values,
    "numbers": lambda x: vl.where(ragged(x) > 3, 1, 2.5).values,
    "sequences": lambda x: vl.where(x[:3, 0] > 3, ragged(x), 0.0).values,
}


@pytest.mark.parametrize("name", CHOSEN)
def test_condition_need_not_show_its_numbers(name):
    call, x = CHOSEN[name], numbers()
    expected = call(x)
    batch = torch.stack([x, x.flip(0)])
    assert torch.equal(torch.func.vmap(call)(batch), torch.stack([call(each) for each in batch]))
    mode = FakeTensorMode()
    fake = mode.from_tensor(x)
    with mode:
        assert call(fake).shape == expected.shape
    assert (call(fake).shape, call(fake).dtype) == (expected.shape, expected.dtype)
    for kind in ("real", "fake", "symbolic"):
        assert torch.equal(make_fx(call, tracing_mode=kind)(torch.zeros_like(x))(x), expected)
    assert torch.equal(torch.jit.trace(call, (torch.zeros_like(x),), check_trace=False)(x), expected)
    assert torch.equal(torch.func.jvp(call, (x,), (x,))[0], expected)


def test_condition_that_picks_whole_sequences_has_to_show_its_numbers():
    x, other = numbers(), vl.Ragged(torch.zeros(1, 2, dtype=torch.float64), [1, 0, 0])
    assert vl.where(torch.tensor([False, True, True]), ragged(x), other).lengths.tolist() == [1, 0, 4]
    with pytest.raises(NotImplementedError, match="have to show their numbers"):
        torch.func.vmap(lambda there: vl.where(there, ragged(x), other).values)(torch.ones(2, 3) > 0)


def test_lengths_without_numbers_are_refused():
    n = FakeTensorMode().from_tensor(torch.tensor([3, 0, 4]))
    for call in (lambda: vl.Level(n), lambda: vl.Ragged(numbers(), n), lambda: vl.ops.softmax(numbers(), n)):
        with pytest.raises(NotImplementedError, match="have to show their numbers"):
            call()


def test_fill_that_needs_a_gradient_is_a_row_but_where_numbers_are():
    fill = torch.ones(2, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda fill: ragged(numbers()).to_dense(fill=fill), fill)
    assert torch.autograd.gradcheck(lambda fill: ragged(numbers()).shift(1, fill=fill).values, fill)
    with pytest.raises(ValueError, match="empty: expected one number"):
        ragged(numbers()).sum(empty=fill)


def test_unique_says_so_where_its_rows_are_not_known():
    x = numbers()[:, 0]
    expected = ragged(x).unique()

    def distinct(x):
        return ragged(x).unique().values

    for call in (
        lambda: torch.func.vmap(distinct)(x[None]),
        lambda: make_fx(distinct)(x),
        lambda: torch.jit.trace(distinct, (x,)),
        lambda: distinct(FakeTensorMode().from_tensor(x)),
    ):
        with pytest.raises(NotImplementedError, match="unique: how many rows"):
            call()
    with Seen():
        assert torch.equal(distinct(x), expected.values)
    gradient = torch.func.grad(lambda x: distinct(x).sum() + x.sum())(x)
    assert torch.equal(gradient, torch.ones_like(x))


@pytest.mark.parametrize("key", [0, slice(1, None), slice(0, 0), [1, 0], slice(None, None, -1)])
@pytest.mark.parametrize("shape", [(0, 2), (7, 0), (0,)])
def test_graph_goes_through_tensors_without_numbers(key, shape):
    x = torch.zeros(shape, requires_grad=True)
    lengths = [3, 0, 4] if shape[0] else [0, 0, 0]
    result = vl.Ragged(x, lengths)[key]
    result = result.values if isinstance(result, vl.Ragged) else result
    assert result.requires_grad
    result.sum().backward()
    assert x.grad.shape == shape


@pytest.mark.parametrize(
    "call",
    [
        lambda r: r.to_padded().data,
        lambda r: r.to_dense(max_len=2, pad_to_multiple_of=4),
        lambda r: r.to_dense(pad_to_multiple_of=4),
        lambda r: vl.ops.list2padded([r.values]).data,
    ],
)
@pytest.mark.parametrize("lengths", [[], [0], [0, 0]])
def test_graph_goes_through_rectangles_without_rows(call, lengths):
    x = torch.zeros(0, 2, requires_grad=True)
    result = call(vl.Ragged(x, lengths))
    assert result.requires_grad
    result.sum().backward()
    assert x.grad.shape == (0, 2)


@each_verb
def test_views_of_tensors_share_their_memory_and_others_do_not(verb):
    for x in (numbers(), numbers().requires_grad_()):
        shares = VERBS[verb](x).untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
        assert shares == (verb in VIEWS)


def test_plain_tensor_is_one_that_nobody_follows():
    x = torch.ones(2)
    assert _core.is_plain_tensor(x)
    assert _core.is_plain_tensor(torch.nn.Parameter(x, requires_grad=False))
    assert not _core.is_plain_tensor(x.numpy())
    assert not _core.is_plain_tensor(x.as_subclass(Named))
    leaf = x.clone().requires_grad_()
    assert not _core.is_plain_tensor(leaf)
    with torch.no_grad():
        assert _core.is_plain_tensor(leaf)
    for mode in (Seen(), SeenFunctions(), forward_ad.dual_level()):
        with mode:
            assert not _core.is_plain_tensor(x)
    assert _core.is_plain_tensor(x)
    seen = []
    torch.func.vmap(lambda y: seen.append((_core.is_plain_tensor(y), _core.is_plain_tensor(x))) or y)(x)
    torch.jit.trace(lambda y: seen.append((_core.is_plain_tensor(y), False)) or y, (x,), check_trace=False)
    assert seen == [(False, False)] * 2


@of_cpu("tensors come as arrays of a device, which hide their numbers")
def test_call_on_plain_tensors_says_who_follows():
    x = torch.ones(2)
    leaf = x.clone().requires_grad_()
    assert torch.equal(_core.on_plain_tensors(lambda a, b: a + b, x, 1), x + 1)
    assert _core.on_plain_tensors(print, x, leaf) is None
    assert _core.on_plain_tensors(print, leaf, x.as_subclass(Named)) is NotImplemented
    assert _core.on_tensors(print, x.as_subclass(Named)) is NotImplemented
    assert _core.on_plain_tensors(print, x.to("meta")) is NotImplemented
    with Seen():
        assert _core.on_plain_tensors(print, leaf) is NotImplemented
    with pytest.raises(ZeroDivisionError):
        _core.on_plain_tensors(lambda x: 1 // 0, x)
