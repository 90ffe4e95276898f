"""Layers of torch on a Ragged, beside the flat values; attention beside loops and padding."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ..harness import Case, row

LENGTHS = (5, 3, 4)
WIDTH = 16
HEADS, HEAD = 4, 32


def _layers() -> dict[str, Callable[[Any], Any]]:
    """Functions of torch by name, on rows of 16 numbers."""
    import torch
    from torch.nn import functional

    draw = torch.Generator().manual_seed(0)
    weight = torch.randn(WIDTH, WIDTH, generator=draw)
    return {
        "linear": lambda x: functional.linear(x, weight),
        "relu": torch.relu,
        "layer_norm": lambda x: functional.layer_norm(x, (WIDTH,)),
    }


def _rows() -> Any:
    import torch

    return torch.from_numpy(
        np.random.default_rng(0).standard_normal((sum(LENGTHS), WIDTH)).astype(np.float32)
    )


for _name in ("linear", "relu", "layer_norm"):

    @row(f"layer.{_name}", f"torch's {_name} of a Ragged of 12 x 16 numbers in 3 sequences")
    def _(case: Case, name: str = _name) -> None:
        case.over("on the values", 1.0, 3.0)
        case.rivals.append("torch.nested")

        @case.contender("varlen", needs="torch", show=lambda r: r.values.numpy())
        def _() -> Any:
            import torch
            from varlen import Ragged

            torch.set_num_threads(1)
            function, rows = _layers()[name], _rows()
            case.reference = function(rows).numpy()
            case.yardstick("on the values", function, rows)
            return function, Ragged(rows, LENGTHS)

        @case.contender("torch.nested", needs="torch", show=lambda x: x.values().numpy())
        def _() -> Any:
            import torch

            offsets = torch.tensor([0, *np.cumsum(LENGTHS)])
            return _layers()[name], torch.nested.nested_tensor_from_jagged(_rows(), offsets)


@row("layer.cross_entropy", "torch's cross_entropy of 12 x 16 numbers and 12 classes in 3 sequences")
def _(case: Case) -> None:
    case.over("on the values", 1.0, 3.0)

    @case.contender("varlen", needs="torch", show=lambda loss: loss.numpy())
    def _() -> Any:
        import torch
        from torch.nn import functional
        from varlen import Ragged

        torch.set_num_threads(1)
        rows, classes = _rows(), torch.arange(sum(LENGTHS)) % WIDTH
        case.reference = functional.cross_entropy(rows, classes).numpy()
        case.yardstick("on the values", functional.cross_entropy, rows, classes)
        r = Ragged(rows, LENGTHS)
        return functional.cross_entropy, r, Ragged(classes, levels=r.levels)


def _attend(case: Case, lengths: np.ndarray, causal: bool) -> None:
    """Attention forward and backward, from rows end to end to the gradients of such."""
    total, sizes, peers = int(lengths.sum()), lengths.tolist(), ("torch, one by one", "torch, padded")
    case.unit = ("ns a row", total)
    case.goal(f"<= 1.1 {peers[0]}", 1.1, lambda times: times.ratio("varlen", peers[0]), f"x {peers[0]}")
    case.goal(f"<= {peers[1]}", 1.0, lambda times: times.ratio("varlen", peers[1]), f"x {peers[1]}")
    case.rivals += peers if causal else (*peers, "torch.nested")

    def parts() -> tuple[list[Any], Any]:
        import torch

        torch.set_num_threads(1)
        draw = np.random.default_rng(1)
        numbers = [draw.standard_normal((total, HEADS, HEAD)).astype(np.float32) for _ in range(4)]
        tensors = [torch.from_numpy(x) for x in numbers]
        return [x.requires_grad_() for x in tensors[:3]], tensors[3]

    def there_and_back(call: Callable[..., Any], rows: list[Any], d: Any) -> Any:
        import torch

        return torch.autograd.grad(call(*rows), rows, d)

    expected: list[np.ndarray] = []
    case.reference = True

    def show(gradients: Any) -> bool:
        found = [x.numpy() for x in gradients]
        expected[:] = expected or found
        return all(np.allclose(x, y, rtol=1e-4, atol=1e-4) for x, y in zip(found, expected, strict=True))

    @case.contender("varlen", needs="torch", show=show)
    def _() -> Any:
        from varlen import Level, Ragged
        from varlen.ops import attend

        level = Level(lengths)

        def call(*rows: Any) -> Any:
            return attend(*[Ragged(x, levels=[level]) for x in rows], causal=causal).values

        return there_and_back, call, *parts()

    @case.contender("torch, one by one", needs="torch", show=show)
    def _() -> Any:
        import torch
        from torch.nn.functional import scaled_dot_product_attention

        def call(*rows: Any) -> Any:
            split = [x.transpose(0, 1).split(sizes, 1) for x in rows]
            results = [
                scaled_dot_product_attention(*[x[None] for x in one], is_causal=causal)[0]
                for one in zip(*split, strict=True)
            ]
            return torch.cat(results, 1).transpose(0, 1)

        return there_and_back, call, *parts()

    @case.contender("torch, padded", needs="torch", show=show)
    def _() -> Any:
        import torch
        from torch.nn.functional import scaled_dot_product_attention

        longest = int(lengths.max())
        is_there = torch.from_numpy(np.arange(longest) < lengths[:, None])

        def call(*rows: Any) -> Any:
            blocks = [x.new_zeros((*is_there.shape, HEADS, HEAD)) for x in rows]
            for block, x in zip(blocks, rows, strict=True):
                block[is_there] = x
            mask = None if causal else is_there[:, None, None]
            inputs = [block.transpose(1, 2) for block in blocks]
            return scaled_dot_product_attention(*inputs, attn_mask=mask, is_causal=causal).transpose(1, 2)[
                is_there
            ]

        return there_and_back, call, *parts()

    if causal:  # which nested tensors have no kernel for on the CPU
        return

    @case.contender("torch.nested", needs="torch", show=show)
    def _() -> Any:
        import torch
        from torch.nn.functional import scaled_dot_product_attention

        offsets = torch.tensor([0, *np.cumsum(lengths)])

        def call(*rows: Any) -> Any:
            inputs = [torch.nested.nested_tensor_from_jagged(x, offsets).transpose(1, 2) for x in rows]
            return scaled_dot_product_attention(*inputs).transpose(1, 2).values()

        rows, d = parts()
        with warnings.catch_warnings():  # torch says once that nested tensors are young
            warnings.simplefilter("ignore")
            call(*rows)
        return there_and_back, call, rows, d


def _random(draw: np.random.Generator, count: int, least: int, most: int) -> np.ndarray:
    """Lengths of which each is as frequent."""
    return draw.integers(least, most + 1, count)


def _share(draw: np.random.Generator, count: int, fill: float, longest: int) -> np.ndarray:
    """Lengths of which padding leaves such a share, one of them the longest."""
    width = longest * min(fill, 1 - fill) / 2
    lengths = draw.normal(fill * longest, width, count).round().astype(np.int64).clip(1, longest)
    lengths[0] = longest
    return lengths


def _long_one(draw: np.random.Generator, count: int, length: int, longest: int) -> np.ndarray:
    """One long sequence among short ones."""
    return np.array([longest, *[length] * (count - 1)])


_SIZES: dict[str, tuple[str, int, Callable[..., np.ndarray], Any, int]] = {
    "short": ("512 sequences of 1 to 32 rows", 512, _random, 1, 32),
    "middle": ("32 sequences of 1 to 128 rows", 32, _random, 1, 128),
    "even": ("32 sequences of 64 to 128 rows", 32, _random, 64, 128),
    "long": ("4 sequences of 300 to 1000 rows", 4, _random, 300, 1000),
    "one_long": ("200 sequences of 10 rows and one of 1000", 201, _long_one, 10, 1000),
    **{f"fill{fill}": (f"32 sequences that fill {fill} % of 128 rows", 32, _share, fill / 100, 128)
       for fill in (30, 50, 70)},
}  # fmt: skip
for _name in _SIZES:
    for _causal in (False, True):
        _title = f"{'causal ' if _causal else ''}attention of {_SIZES[_name][0]}"

        @row(f"attend.{_name}{'.causal' if _causal else ''}", f"{_title}, forward and backward")
        def _(case: Case, name: str = _name, causal: bool = _causal) -> None:
            _, count, lengths, a, b = _SIZES[name]
            _attend(case, lengths(np.random.default_rng(0), case.size(count, 3), a, b), causal)
