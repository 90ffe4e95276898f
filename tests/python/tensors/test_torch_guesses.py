"""First guesses of people who know torch: each line works, or its error names what does."""

import pytest
import varlen as vl

torch = pytest.importorskip("torch")

from torch.nn import functional  # noqa: E402

LENGTHS = [3, 0, 2]

#: Lines that work, and what they give: a shape of a container or a tensor, or a plain value.
WORK = {
    "r.shape": (3, None, 4),
    "r.size()": (3, None, 4),
    "r.size(0)": 3,
    "r.size(-1)": 4,
    "r.dim()": 3,
    "r.ndim": 3,
    "r.transpose(1, 2).transpose(1, 2)": (3, None, 4),
    "r.numel()": 20,
    "r.dtype": torch.float32,
    "r.device": "cpu",
    "r.is_floating_point()": True,
    "r.requires_grad": True,
    "r.is_cuda": False,
    "r.detach().requires_grad": False,
    "r.clone()": (3, None, 4),
    "r.double().dtype": torch.float64,
    "r.half().dtype": torch.float16,
    "r.to(torch.bfloat16).dtype": torch.bfloat16,
    "r.to('cpu', torch.float64).dtype": torch.float64,
    "r.to(device='cpu') is r": True,
    "r.cpu() is r": True,
    "r.detach().numpy()": (3, None, 4),
    "ids.tolist()": [[1, 2, 3], [], [4, 5]],
    "ids.long() is ids": True,
    "(ids == 2).tolist()": [[False, True, False], [], [False, False]],
    "r + r": (3, None, 4),
    "r * torch.ones(4)": (3, None, 4),
    "torch.ones(4) * r": (3, None, 4),
    "-r": (3, None, 4),
    "r @ torch.ones(4, 2)": (3, None, 2),
    "torch.matmul(r, torch.ones(4, 2))": (3, None, 2),
    "torch.exp(r)": (3, None, 4),
    "torch.relu(r)": (3, None, 4),
    "torch.clamp(r, min=0)": (3, None, 4),
    "torch.where(r > 0, r, 0.0)": (3, None, 4),
    "torch.zeros_like(r)": (3, None, 4),
    "torch.rand_like(r)": (3, None, 4),
    "torch.sum(r, dim=1)": (3, 4),
    "r.sum(1)": (3, 4),
    "torch.mean(r, dim=1)": (3, 4),
    "torch.sum(r)": (),
    "torch.softmax(r, dim=-1)": (3, None, 4),
    "torch.softmax(r, dim=1)": (3, None, 4),
    "torch.cumsum(r, dim=1)": (3, None, 4),
    "torch.argmax(r, dim=-1)": (3, None),
    "torch.sort(r)[0]": (3, None, 4),
    "torch.topk(r, 2, dim=1).indices": (3, None, 4),
    "torch.max(r, -1).values": (3, None),
    "torch.median(r, -1).values": (3, None),
    "torch.norm(r, dim=-1)": (3, None),
    "torch.flip(r, [1])": (3, None, 4),
    "torch.roll(r, 1, 1)": (3, None, 4),
    "torch.unbind(ids)[0].tolist()": [1, 2, 3],
    "torch.chunk(r, 2, dim=-1)[0]": (3, None, 2),
    "torch.einsum('btd,de->bte', r, torch.ones(4, 2))": (3, None, 2),
    "torch.equal(r, r)": True,
    "torch.reshape(r, (-1, 4))": (5, 4),
    "r.view(-1, 4)": (5, 4),
    "r.view(3, None, 2, 2)": (3, None, 2, 2),
    "r.sum(dim=1)": (3, 4),
    "r.mean(dim=-1, keepdim=True)": (3, None, 1),
    "r.softmax(dim=-1)": (3, None, 4),
    "r.exp().log().clamp(max=1)": (3, None, 4),
    "r.masked_fill(r > 0, 0.0)": (3, None, 4),
    "r.unsqueeze(-1)": (3, None, 4, 1),
    "torch.cat([r, r])": (6, None, 4),
    "torch.cat([r, r], dim=1)": (3, None, 4),
    "torch.stack([r, r])": (2, None, None, 4),
    "torch.flatten(r, 2)": (3, None, 4),
    "r.unflatten(-1, (2, 2))": (3, None, 2, 2),
    "r.unflatten(-1, (2, 2)).transpose(-1, -2)": (3, None, 2, 2),
    "nn.Linear(4, 2)(r)": (3, None, 2),
    "nn.Embedding(9, 4)(ids)": (3, None, 4),
    "nn.LayerNorm(4)(r)": (3, None, 4),
    "nn.BatchNorm1d(4)(r)": (3, None, 4),
    "nn.Dropout(0.5)(r)": (3, None, 4),
    "nn.GELU()(r)": (3, None, 4),
    "nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))(r)": (3, None, 2),
    "nn.GRU(4, 5, batch_first=True)(r)[0]": (3, None, 5),
    "nn.LSTM(4, 5, batch_first=True)(r)[1][0]": (1, 3, 5),
    "nn.Conv1d(4, 2, 3, padding=1)(r)": (3, None, 2),
    "nn.MaxPool1d(2)(r)": (3, None, 4),
    "nn.GroupNorm(2, 4)(r)": (3, None, 4),
    "nn.GRU(4, 5)(r)[0]": (3, None, 5),
    "nn.InstanceNorm1d(4)(r)": (3, None, 4),
    "nn.ConvTranspose1d(4, 5, 3)(r)": (3, None, 5),
    "nn.Conv1d(4, 5, 3, padding=1, padding_mode='replicate')(r)": (3, None, 5),
    "nn.MultiheadAttention(4, 2, batch_first=True)(r, r, r)[0]": (3, None, 4),
    "nn.TransformerEncoderLayer(4, 2, 8, batch_first=True)(r)": (3, None, 4),
    "F.scaled_dot_product_attention(r, r, r, is_causal=True)": (3, None, 4),
    "F.cross_entropy(r, ids % 4)": (),
    "F.cross_entropy(r, ids % 4, reduction='none')": (3, None),
    "F.mse_loss(r, r * 2)": (),
    "F.one_hot(ids)": (3, None, 6),
    "F.normalize(r, dim=-1)": (3, None, 4),
    "tree_map(lambda x: x * 2, {'x': r})['x']": (3, None, 4),
    "torch.func.grad(lambda r: (r * r).sum().sum())(r.detach())": (3, None, 4),
    "checkpoint(lambda r: r * 2, r, use_reentrant=False)": (3, None, 4),
}

#: Lines that have no meaning, and the word of the error that leads on.
LEAD_ON = {
    "r.size(1)": r"r\.lengths",
    "r.unflatten(-1, (1, -1)).transpose(1, 2)": "take the Ragged as it is",
    "r.backward()": "reduce it first",
    "r.copy_(r[:2])": "^source: has shape",
    "r.detach().numpy().requires_grad_()": r"x\.torch\(\)",
    "torch.max(r, 1)": r"sequence 1 is empty; pass empty=",
    "torch.outer(r, r)": r"r\.values",
    "torch.mode(r)": r"r\.mode\(\)",
    "torch.chunk(r, 2, dim=1)": r"r\[:, a:b\]",
    "r.view(3, 4)": r"begin with \(3, None\)",
    "r.data_ptr()": r"\.values\.data_ptr",
    "ids.exp_()": "has no attribute",
    "torch.add(r, r, out=r.values)": "the result",
    "nn.AdaptiveAvgPool1d(1)(r)": r"r\.mean\(\)",
    "nn.AdaptiveMaxPool1d(1)(r)": r"r\.max\(\)",
    "nn.MultiheadAttention(4, 2)(r, r, r, key_padding_mask=torch.zeros(3, 3))": "nothing is padded",
    "F.mse_loss(r, r.values)": r"vl\.Ragged\(target",
    "F.pad(r, (0, 1))": r"pad=\(0, 0, 0, 1\)",
    "if_(r)": "ambiguous",
}


@pytest.fixture
def names():
    torch.manual_seed(0)
    from torch.utils._pytree import tree_map
    from torch.utils.checkpoint import checkpoint

    return {
        "r": vl.Ragged(torch.randn(5, 4, requires_grad=True), LENGTHS),
        "ids": vl.Ragged(torch.tensor([1, 2, 3, 4, 5]), LENGTHS),
        "torch": torch, "nn": torch.nn, "F": functional, "tree_map": tree_map, "checkpoint": checkpoint,
        "if_": bool,
    }  # fmt: skip


@pytest.mark.parametrize("line", WORK)
def test_a_line_works(line, names):
    wanted = WORK[line]
    result = eval(line, names)
    if isinstance(wanted, tuple) and not isinstance(result, tuple):
        result = tuple(result.shape)
    assert result == wanted


@pytest.mark.parametrize("line", LEAD_ON)
def test_a_line_without_a_meaning_leads_on(line, names):
    with pytest.raises((AttributeError, TypeError, ValueError), match=LEAD_ON[line]):
        eval(line, names)


def test_padding_by_torch_is_that_of_the_sequences(names):
    r = names["r"]
    assert torch.equal(torch.nn.utils.rnn.pad_sequence(list(r), batch_first=True), r.to_dense())
